"""A Program as readable text: stable, so that golden tests can hold it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .program import Block, Operator, Program


def show_program(program: Program) -> str:
    """The whole Program; inputs and persistable variables first, sub-blocks indented below the op that owns them."""
    block = program.global_block()
    lines = ["program {"]
    for v in block.vars.values():
        if v.persistable or v.is_data:
            kind = "param" if v.is_parameter else "data" if v.is_data else "state"
            lines.append(f"  {kind} {v.name}: {v.type}")
    lines += _block_lines(block, 1)
    for f in program.functions.values():
        lines.append(f"  {f.name}({', '.join(_typed(p, f.block) for p in f.block.params)}) -> {', '.join(map(str, f.result_types))}:")
        lines += _block_lines(f.block, 2)
    return "\n".join([*lines, "}"]) + "\n"


def show_block(block: Block, indent: int = 0) -> str:
    return "\n".join(_block_lines(block, indent)) + "\n"


def _block_lines(block: Block, indent: int) -> list[str]:
    lines = []
    for op in block.ops:
        lines += _op_lines(op, block, indent)
    if block.results:
        lines.append(f"{'  ' * indent}yield {', '.join(block.results)}")
    return lines


def _op_lines(op: Operator, block: Block, indent: int) -> list[str]:
    pad = "  " * indent
    outs = ", ".join(_typed(name, block) for name in op.output_names)
    ins = ", ".join(
        f"{slot.name}={_names(op.inputs[slot.name], slot.many)}"
        for slot in op.record.input_slots
        if slot.name in op.inputs
    )
    attrs = "".join(
        f", {name}={_value(value)}"
        for name, value in op.attrs.items()
        if name not in op.record.block_attrs and value != op.record.attrs[name].default
    )
    head = f"{pad}{outs}{' = ' if outs else ''}{op.type}({ins}{attrs if ins else attrs[2:]})"
    lines = [head]
    for name, value in op.attrs.items():
        if name in op.record.block_attrs:
            params = f"({', '.join(_typed(p, value) for p in value.params)})" if value.params else ""
            lines.append(f"{pad}  {name}{params}:")
            lines += _block_lines(value, indent + 2)
    return lines


def _typed(name: str, block: Block) -> str:
    v = block.find_var(name)
    return f"{name}: {v.type}" if v is not None else f"{name}: ?"


def _names(names: list[str], many: bool) -> str:
    return f"[{', '.join(names)}]" if many else names[0]


def _value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else repr(value)
