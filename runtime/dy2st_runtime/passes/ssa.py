"""Gives every update of a persistable variable a name of its own."""

from __future__ import annotations

from ..errors import VerifyError
from ..ir.program import Block, Operator, Program
from ..ir.visit import declare_like
from .rewrite import RNG


def ssa(program: Program, keep: frozenset[str] = frozenset()) -> bool:
    """Renames what is written to persistables; `program.updates` tells what each holds after the run.

    An update inside a branch or a loop becomes a result of the `cond`, a loop variable of the `while_loop`. The random
    state "@RNG@" is exempt: draws stay ordered effects. Reads before an update see the value before the run.

    >>> from dy2st_runtime.ir import IRBuilder, Program
    >>> from dy2st_runtime.ops import registry
    >>> program = Program()
    >>> block = program.global_block()
    >>> w = block.create_var("w", "float32", [2], persistable=True)
    >>> _ = IRBuilder(block).apply(registry.get("relu"), (w,), {}, {"Out": ["w"]})
    >>> print(program)
    program {
      state w: float32[2]
      w: float32[2] = relu(X=w)
    }
    <BLANKLINE>
    >>> ssa(program)
    True
    >>> print(program, program.updates)
    program {
      state w: float32[2]
      w@NEXT_0: float32[2] = relu(X=w)
    }
     {'w': 'w@NEXT_0'}
    """
    names: dict[str, str] = {}
    _rename(program.global_block(), names)
    for f in program.functions.values():
        if _updated(f.block):
            raise VerifyError(f"function {f.name!r} updates a persistable variable")
    final = {old: names.get(new, new) for old, new in program.updates.items()}
    program.updates = {**final, **names}
    if names:
        program.version += 1
    return bool(names)


def _rename(block: Block, names: dict[str, str]) -> None:
    """Renames in one block; `names` maps a persistable to its present value, before and after."""
    for op in block.ops:
        for slot, inputs in op.inputs.items():
            op.inputs[slot] = [names.get(n, n) for n in inputs]
        if op.type == "cond":
            _branches(op, block, names)
        elif op.type == "while_loop":
            _loop(op, block, names)
        for slot, outputs in op.outputs.items():
            op.outputs[slot] = [_define(n, block, names) for n in outputs]
    block.results = [names.get(n, n) for n in block.results]


def _define(name: str, block: Block, names: dict[str, str]) -> str:
    v = block.var(name)
    if not v.persistable or name == RNG:
        return name
    names[name] = _fresh(block, name)
    return names[name]


def _fresh(block: Block, name: str) -> str:
    """A variable of this block for a value of a persistable."""
    old = block.var(name)
    fresh = declare_like(block, old, block.program.fresh_name(f"{name}@NEXT"))
    fresh.persistable = fresh.is_parameter = False
    return fresh.name


def _branches(op: Operator, block: Block, names: dict[str, str]) -> None:
    inner = []
    for branch in op.blocks:
        inside = dict(names)
        _rename(branch, inside)
        inner.append(inside)
    changed = [name for name in dict.fromkeys(n for inside in inner for n in inside)
               if any(inside.get(name) != names.get(name) for inside in inner)]  # fmt: skip
    for name in changed:
        for branch, inside in zip(op.blocks, inner, strict=True):
            branch.results.append(inside.get(name, name))
        names[name] = _fresh(block, name)
        op.outputs.setdefault("Out", []).append(names[name])


def _loop(op: Operator, block: Block, names: dict[str, str]) -> None:
    test, body = op.attrs["cond_block"], op.attrs["body_block"]
    if _updated(test):
        raise VerifyError("the condition of a loop updates persistable variables", location=op.location)
    changed = _updated(body)
    inside: dict[Block, dict[str, str]] = {test: dict(names), body: dict(names)}
    for name in changed:
        op.inputs.setdefault("X", []).append(names.get(name, name))
        for part in (test, body):
            inside[part][name] = _fresh(part, name)
            part.params.append(inside[part][name])
    for part in (test, body):
        _rename(part, inside[part])
    for name in changed:
        body.results.append(inside[body][name])
        names[name] = _fresh(block, name)
        op.outputs.setdefault("Out", []).append(names[name])


def _updated(block: Block) -> list[str]:
    """The persistables, but for the random state, that a block or one below it assigns."""
    found: dict[str, None] = {}
    for op in block.ops:
        for name in op.output_names:
            if block.var(name).persistable and name != RNG:
                found[name] = None
        for sub in op.blocks:
            found.update(dict.fromkeys(_updated(sub)))
    return list(found)
