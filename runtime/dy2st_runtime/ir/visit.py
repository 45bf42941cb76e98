"""Walks over Programs: what ops read and write, free names of blocks, copies with other names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from .program import Block, Function, Operator, Program, Variable, all_blocks


def free_names(block: Block) -> list[str]:
    """The names that a block (with its sub-blocks, and the functions that it calls) reads from outside, each once, in order of
    first use."""
    return _free_names(block, reads)


def own_free_names(block: Block) -> list[str]:
    """The same without what the functions that it calls read by themselves."""
    return _free_names(block, own_reads)


def _free_names(block: Block, reads: Callable[[Operator], list[str]]) -> list[str]:
    inside = set(block.params)
    free: dict[str, None] = {}

    def use(name: str) -> None:
        if name not in inside:
            free.setdefault(name)

    for op in block.ops:
        for name in reads(op):
            use(name)
        inside.update(op.output_names)
    for name in block.results:
        use(name)
    return list(free)


def reads(op: Operator) -> list[str]:
    """All names that an op reads: its inputs, the free names of its sub-blocks and of the functions that are called, each once."""
    if not op.record.block_attrs and op.function is None:  # nearly all ops
        return list(dict.fromkeys(op.input_names))
    seen = dict.fromkeys(own_reads(op))
    for function in called([op]):
        seen.update(dict.fromkeys(own_free_names(function.block)))
    return list(seen)


def own_reads(op: Operator) -> list[str]:
    """All names that an op reads, but for what the functions that are called read by themselves."""
    seen = dict.fromkeys(op.input_names)
    for block in op.blocks:
        seen.update(dict.fromkeys(own_free_names(block)))
    if "saved" in op.attrs:  # a loop may also save a value from outside
        seen.update(dict.fromkeys(n for n in op.attrs["saved"] if n not in op.attrs["body_block"].vars))
    return list(seen)


def called(ops: Iterable[Operator]) -> list[Function]:
    """The functions that ops call, and those that these call, each once."""
    found: dict[Function, None] = {}
    queue = list(ops)
    while queue:
        op = queue.pop()
        queue += [inner for sub in op.blocks for inner in sub.ops]
        if op.function is not None and op.function not in found:
            found[op.function] = None
            queue += op.function.block.ops
    return list(found)


def all_ops(block: Block) -> Iterator[Operator]:
    """The ops of a block and of its sub-blocks; an op comes before the ops in its blocks."""
    for op in block.ops:
        yield op
        for sub in op.blocks:
            yield from all_ops(sub)


def has_effect(op: Operator) -> bool:
    """Whether an op must run even if nobody reads its outputs."""
    if op.record.effect or op.record.inplace:
        return True
    return any(has_effect(inner) for block in op.blocks for inner in block.ops)


def may_raise(op: Operator, block: Block | None = None) -> bool:
    """Whether an op can fail because of values. With the block it stands in, the types of its inputs count: a division of floats cannot."""
    raises = op.record.may_raise
    if raises and block is not None:
        raises = op.record.may_raise_for([block.var(name).type for name in op.input_names], op.attrs)
    return raises or any(may_raise(inner, sub) for sub in op.blocks for inner in sub.ops)


def clone_ops(ops: Iterable[Operator], source: Block, target: Block, rename: Mapping[str, str], *,
              fresh: bool = False) -> dict[str, str]:  # fmt: skip
    """Appends copies of ops of `source` to `target` (of the same or another Program), names mapped by `rename`.

    Outputs keep their (mapped) names, or with `fresh` get new ones; their variables are declared in `target`.
    Returns `rename` extended by the outputs.
    """
    mapping = dict(rename)
    for op in ops:
        inputs = {slot: [mapping.get(n, n) for n in names] for slot, names in op.inputs.items()}
        attrs: dict[str, Any] = {}
        for key, value in op.attrs.items():
            if isinstance(value, Block):
                attrs[key], inner = clone_block(value, target, mapping, fresh=fresh)
                if key == "body_block" and "saved" in op.attrs:
                    attrs["saved"] = [inner.get(n, n) for n in op.attrs["saved"]]
            elif isinstance(value, Function):
                attrs[key] = _function(value, target.program, mapping)
            elif key not in attrs:
                attrs[key] = list(value) if isinstance(value, list) else value
        outputs = {
            slot: [_define(n, source, target, mapping, fresh) for n in names] for slot, names in op.outputs.items()
        }
        target.ops.append(Operator(op.type, inputs, outputs, attrs, op.location))
        target.ops[-1].segments = op.segments
    target.program.version += 1
    return mapping


def _function(function: Function, program: Program, mapping: Mapping[str, str]) -> Function:
    """The function of a program that a copied op calls: one from another program is copied with it."""
    if function.program is program:
        return function
    free = free_names(function.block)
    names = {n: mapping.get(n, n) for n in free}
    key = function, tuple(names.values())
    if key not in program.adopted:
        program.adopted[key] = copy = program.add_function(function.name, function.result_types)
        copy.block, _ = clone_block(function.block, program.global_block(), names, fresh=True)
    return program.adopted[key]


def clone_block(source: Block, parent: Block, rename: Mapping[str, str], *, fresh: bool = False
                ) -> tuple[Block, dict[str, str]]:  # fmt: skip
    """A copy of a sub-block below `parent`, and the mapping of its names."""
    block = Block(parent.program, parent)
    mapping = dict(rename)
    block.params = [_define(n, source, block, mapping, fresh) for n in source.params]
    mapping = clone_ops(source.ops, source, block, mapping, fresh=fresh)
    block.results = [mapping.get(n, n) for n in source.results]
    return block, mapping


def _define(name: str, source: Block, target: Block, mapping: dict[str, str], fresh: bool) -> str:
    old = source.var(name)
    if fresh and not old.persistable:
        mapping[name] = target.program.fresh_name(name)
    new = mapping.get(name, name)
    if not target.has_var(new):
        declare_like(target, old, new)
    return new


def rename_reads(block: Block, mapping: Mapping[str, str]) -> None:
    """Renames what a block, with its sub-blocks, reads; what it defines keeps its name."""
    for op in block.ops:
        for slot, names in op.inputs.items():
            op.inputs[slot] = [mapping.get(n, n) for n in names]
        for sub in op.blocks:
            rename_reads(sub, mapping)
        if "saved" in op.attrs:
            op.attrs["saved"] = [mapping.get(n, n) for n in op.attrs["saved"]]
    block.results = [mapping.get(n, n) for n in block.results]


def rename_variables(program: Program, mapping: Mapping[str, str], roots: Sequence[Block] | None = None) -> None:
    """Gives variables other names, where they are defined and everywhere they are read: in the Program, or in the trees of `roots`, among
    which may be blocks that no op owns yet."""
    roots = program.roots if roots is None else roots
    for block in (block for root in roots for block in all_blocks(root)):
        for v in block.vars.values():
            v.name = mapping.get(v.name, v.name)
        block.vars = {v.name: v for v in block.vars.values()}
        block.params = [mapping.get(n, n) for n in block.params]
        for op in block.ops:
            for slot, names in op.outputs.items():
                op.outputs[slot] = [mapping.get(n, n) for n in names]
    for root in roots:
        rename_reads(root, mapping)
    program.updates = {mapping.get(k, k): mapping.get(n, n) for k, n in program.updates.items()}
    for name in mapping.values():
        program.note_name(name)
    program.version += 1


def clone_program(program: Program, into: Program | None = None) -> Program:
    """A deep copy; locations and `info` are shared, not copied. `into` is an empty Program of a subclass."""
    copy = Program() if into is None else into
    copy.random_seed, copy.updates = program.random_seed, dict(program.updates)
    copy.segment_count = program.segment_count
    copy.absent_feeds = set(program.absent_feeds)
    copy._names, copy._counters = set(program._names), dict(program._counters)
    source, target = program.global_block(), copy.global_block()
    for v in source.vars.values():
        declare_like(target, v, v.name)
    for name, f in program.functions.items():
        copy.functions[name] = Function(copy, name, Block(copy, target), f.result_types)
        copy.adopted[f, tuple(free_names(f.block))] = copy.functions[name]
    clone_ops(source.ops, source, target, {})
    target.params, target.results = list(source.params), list(source.results)
    for name, f in program.functions.items():
        copy.functions[name].block = clone_block(f.block, target, {})[0]
    copy.adopted.clear()
    return copy


def declare_like(block: Block, old: Variable, name: str) -> Variable:
    """Declares in `block` a variable with the type and the flags of another."""
    v = block.create_var(name, old.dtype, old.shape, kind=old.kind, persistable=old.persistable,
                         stop_gradient=old.stop_gradient, is_parameter=old.is_parameter, is_data=old.is_data)  # fmt: skip
    v.info = dict(old.info)
    return v
