"""What the gradient of a loop needs of the forward iterations: saved by the forward loop, or computed again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ..dtype import is_float
from ..ir.program import Block, Operator, Variable
from ..ir.visit import has_effect, reads
from ..ops import registry
from ..ops.elementwise import Elementwise
from .past import RNG, PastLists, draws, present, reads_entries, replay, save_value
from .sweep import Builder, Sweep

CHEAP = frozenset({
    "absent", "assign", "cast", "concat", "expand_as_v2", "expand_v2", "fill_any_like", "fill_constant",
    "lod_array_length", "one_hot_v2", "read_from_array", "shape", "slice", "split", "stack", "strided_slice",
    "transpose2", "tril_triu", "unbind", "unstack",
})  # fmt: skip
"""Ops that cost no more than writing and reading back their result; elementwise ops and views are such too."""
_ROUNDING = frozenset({"ceil", "elementwise_floordiv", "elementwise_mod", "floor", "round", "sign", "trunc"})


def is_cheap(op: Operator) -> bool:
    """The policy: whether an op's result is computed again rather than saved, where its inputs are at hand."""
    record = op.record
    if has_effect(op) or op.blocks:
        return False
    return issubclass(record, Elementwise) or bool(record.view) or op.type in CHEAP


def jumps(op: Operator, block: Block, sweep: Sweep) -> bool:
    """Whether the result depends on the last digit of a float: a comparison, a rounding. Computed again, in another kernel that rounds
    otherwise, it could be another one. What a loop or a branch around has computed is still known by its name there."""

    def floats(names: Iterable[str]) -> list[bool]:
        return [is_float((block.find_var(name) or sweep.var(name)).dtype) for name in names]

    return any(floats(op.input_names)) and (op.type in _ROUNDING or not all(floats(op.output_names)))


def choose(
    copies: Sequence[Operator],
    needed: Iterable[str],
    can_save: Callable[[str], bool],
    cheap: Callable[[Operator], bool],
) -> tuple[set[int], list[str]]:
    """Splits what is needed of an iteration.

    Args:
        copies: the ops of the iteration, in order.
        needed: the names that are needed in the end; those that no op defines are params, or come from outside.
        can_save: whether a name may be saved; True for params, False for names from outside.
        cheap: whether to compute an op again rather than to save its results, if its inputs are at hand.

    Returns:
        the ids of the ops to compute again, and the names to save. An op whose result cannot be saved (an array, an
        output that only the gradient of a nested op uses) is computed again, with all that it needs; so is a cheap
        op whose inputs are at hand.
    """
    # the random state is no value that flows from one op to the next: what draws again gets that of its time (`_again`)
    defined = {name: op for op in copies for name in op.output_names if name != RNG}
    again: set[int] = set()
    save: dict[str, None] = {}
    queue = list(needed)
    while queue:
        name = queue.pop()
        op = defined.get(name)
        if op is not None and id(op) in again:
            continue
        if can_save(name):
            save[name] = None
        elif op is not None:
            again.add(id(op))
            queue.extend(reads(op))
    save = {name: None for name in save if name not in defined or id(defined[name]) not in again}
    at_hand: set[str] = set()
    lazily: set[int] = set()
    for op in copies:
        available = all(n in save or n in at_hand or not (n in defined or can_save(n)) for n in reads(op))
        if id(op) in again or (cheap(op) and available):
            at_hand.update(op.output_names)
            lazily.add(id(op))
            for name in op.output_names:
                save.pop(name, None)
    # of the cheap ops keep those that lead to something needed
    wanted = set(needed)
    kept: set[int] = set()
    for op in reversed(copies):
        if id(op) in lazily and any(n in wanted and n not in save for n in op.output_names):
            kept.add(id(op))
            wanted.update(reads(op))
    return kept, [name for name in save if name in wanted]


def materialize(sweep: Sweep, op: Operator, block: Block, copies: Sequence[Operator], forward: dict[str, str],
                step: Variable, results: Sequence[Variable]) -> PastLists:  # fmt: skip
    """Puts at the head of a backward body what it needs of the forward iteration, and drops the other copies.

    Args:
        sweep: the sweep that the loop is part of.
        op: the forward `while_loop`; gets `saved` names and Saved outputs.
        block: the backward body: copies of the forward ops, then the reverse walk.
        copies: the copies of the ops of the forward body.
        forward: name in the forward body → name in the copy.
        step: the iteration.
        results: gradients that the body yields.

    Returns:
        the lists that the backward loop has to carry.
    """
    source: Block = op.attrs["body_block"]
    end = next((i + 1 for i, other in enumerate(block.ops) if copies and other is copies[-1]), 0)
    head, walk = block.ops[:end], block.ops[end:]
    original = {copy: name for name, copy in forward.items() if copy in block.vars}
    defined = {name for other in head for name in other.output_names}
    hidden = {*defined, *original}
    needed = [n for n in dict.fromkeys([*_values_read(walk), *(v.name for v in results)]) if n in hidden]
    shapes_only = [
        n for n in dict.fromkeys(n for other in walk for n in reads(other)) if n in hidden and n not in needed
    ]
    past = PastLists(sweep, op, block, step)

    def can_save(name: str) -> bool:
        return name in original and block.vars[name].kind == "dense"

    # a maximum finds its elements by comparing: computed again, in another kernel, they may be rounded otherwise
    compared = {n for other in walk if other.type == "equal" for n in reads(other) if can_save(n)}

    def cheap(other: Operator) -> bool:
        if not is_cheap(other) or not (past.exact or not reads_entries(other)) or jumps(other, block, sweep):
            return False
        return compared.isdisjoint(other.output_names)

    needed += [name for name in shapes_only if not can_save(name)]
    again, save = choose(head, needed, can_save, cheap)
    kept = [other for other in head if id(other) in again]
    # what is there for its shape alone is no reason to compute something else from it: the passes will often find
    # the shape elsewhere, and then drop it
    made = {name for other in kept for name in other.output_names}
    save += [name for name in shapes_only if name not in made and name not in save and can_save(name)]
    used = {*needed, *(name for other in kept for name in reads(other))}
    lists = [name for name in original if name in used and name not in defined and not can_save(name)]
    at_hand = {*save, *lists, *(name for other in kept for name in other.output_names)}
    for name in [*original, *defined]:
        if name not in at_hand:
            block.vars.pop(name, None)
    twins = {id(copy): source.ops[i] for i, copy in enumerate(copies)}
    block.ops[:] = [o for other in kept for o in _again(sweep, op, block, other, twins.get(id(other)), step)] + walk

    def saved_of(op_type: str, items: Variable) -> Variable:
        b = Builder(source, sweep.state, op.location, index=0)
        return save_value(sweep, op, b.op(op_type, X=present(b, items)).name)

    logged = {name for name in lists if past.needs_log(original[name], kept)}
    for name in lists:
        past.recover(original[name], block.vars[name], saved_of, name in logged)
    b = Builder(block, sweep.state, op.location, index=0)
    for name in save:
        array = save_value(sweep, op, original[name])
        b.apply(registry.get("read_from_array"), (array, step), {}, {"Out": [name]})
    return past


def _values_read(ops: Iterable[Operator]) -> Iterator[str]:
    """The names that ops read for more than their shapes."""
    for op in ops:
        weak = {n for slot in op.record.shape_only for n in op.input(slot)}
        strong = {n for slot, names in op.inputs.items() if slot not in op.record.shape_only for n in names}
        yield from (n for n in reads(op) if n in strong or n not in weak)


def _again(
    sweep: Sweep, op: Operator, block: Block, copy: Operator, twin: Operator | None, step: Variable
) -> list[Operator]:
    """What runs a kept copy; with the random state of the forward iteration if it draws. `twin` is the op it copies."""
    if not draws(copy):
        return [copy]
    source: Block = op.attrs["body_block"]
    state = _insert(sweep, source, twin, "rng_snapshot", State=source.var(RNG))
    return replay(sweep, block, copy, save_value(sweep, op, state.name), step)


def _insert(sweep: Sweep, block: Block, before: Operator | None, op_type: str, **slots: Variable) -> Variable:
    """A new op of the forward body, before another or at its begin."""
    at = next((i for i, other in enumerate(block.ops) if other is before), 0)
    return Builder(block, sweep.state, before.location if before else None, index=at).op(op_type, **slots)


def silence(copies: Iterable[Operator]) -> None:
    """Removes the checks and prints inside the blocks of copied ops: they have happened in the forward loop."""
    for op in copies:
        for block in op.blocks:
            silence(block.ops)
            block.ops[:] = [inner for inner in block.ops if not (inner.record.effect and not inner.output_names)]
