"""Which values may be absent at run time: those that some path leaves without a value."""

from __future__ import annotations

from collections.abc import Iterable

from .program import Block, Operator, Program


def maybe_absent(program: Program, fed: Iterable[str] | None = None, block: Block | None = None) -> set[str]:
    """The names, of all blocks, that may be absent.

    Args:
        fed: the inputs that may be; those of the Program if not given.
        block: one that no op owns yet; its ops are looked at, too, and those of the blocks around it.
    """
    found = set(program.absent_feeds if fed is None else fed)
    before = -1
    while before != len(found):  # what a call passes and yields is known when all functions have been looked at
        before = len(found)
        for root in program.roots:
            mark_absent(root.ops, found)
        if not program.functions:
            break
    building = []
    while block is not None and block.parent is not None:
        building.append(block)
        block = block.parent
    for inner in reversed(building):
        mark_absent(inner.ops, found)
    return found


Conds = dict[str, dict[str, tuple[bool, bool]]]
"""The name of a condition → what was chosen by it, each name with whether it may be absent where that is true, and where it is false."""


def mark_absent(ops: Iterable[Operator], found: set[str], conds: Conds | None = None) -> None:
    """Adds to `found` the names that ops, or ops in their blocks, may leave absent, given the outer names that may be."""
    conds = {} if conds is None else conds
    for op in ops:
        for name in op.output_names:
            conds.pop(name, None)  # an op of a program that is built by hand may write to a condition once more
        if op.type in ("absent", "total_take"):
            found.update(op.output_names)
        elif op.type == "cond":
            _cond(op, found, conds)
        elif op.type == "while_loop":
            _loop(op, found, conds)
        elif op.type in ("tape_push", "tape_extend"):  # what is popped may be absent then
            tape, x = op.input_names
            found.update((tape,) if x in found else ())
        elif op.function is not None:
            inside = op.function.block
            found.update(p for p, x in zip(inside.params, op.input_names, strict=True) if x in found)
            found.update(o for o, r in zip(op.output_names, inside.results, strict=False) if r in found)
        elif op.blocks:  # a group of ops, each of which is skipped by itself
            for block in op.blocks:
                found.update(p for p, x in zip(block.params, op.input_names, strict=True) if x in found)
                mark_absent(block.ops, found, conds)
                found.update(o for o, r in zip(op.output_names, block.results, strict=True) if r in found)
        elif op.record.never_absent:
            continue
        elif op.record.handles_absent:
            if op.input_names and all(name in found for name in op.input_names):
                found.update(op.output_names)
        elif any(name in found for name in op.input_names):
            kept = {name for slot in op.record.inplace for name in op.output(slot)}
            found.update(name for name in op.output_names if name not in kept)


def _cond(op: Operator, found: set[str], conds: Conds) -> None:
    test, absent = op.input("Cond")[0], []
    for at, branch in enumerate((op.attrs["true_block"], op.attrs["false_block"])):
        # what another op has chosen by the same condition, as what the forward part of a branch leaves to its gradient, is there if it
        # is on this path
        there = [name for name, each in conds.get(test, {}).items() if not each[at] and name in found]
        found.difference_update(there)
        mark_absent(branch.ops, found, conds)
        absent.append([name in found for name in branch.results])
        found.update(there)
    outs = op.output("Out")
    found.update(out for out, *each in zip(outs, *absent, strict=True) if test in found or any(each))
    if test not in found:
        conds.setdefault(test, {}).update((out, (t, f)) for out, t, f in zip(outs, *absent, strict=True))


def _loop(op: Operator, found: set[str], conds: Conds) -> None:
    test, body = op.attrs["cond_block"], op.attrs["body_block"]
    state = list(zip(op.input("X"), body.params, test.params, body.results, op.output("Out"), strict=True))
    before = -1
    while before != len(found):  # the state feeds itself: until nothing changes
        before = len(found)
        for x, param, tested, result, out in state:
            if x in found or result in found:
                found.update((param, tested, out))
        mark_absent(test.ops, found, conds)
        mark_absent(body.ops, found, conds)
        # an entry may be absent: what is read from the array then is
        found.update(out for out, name in zip(op.output("Saved"), op.attrs["saved"], strict=True) if name in found)
