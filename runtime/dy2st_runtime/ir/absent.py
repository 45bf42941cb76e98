"""Which values may be absent at run time: those that some path leaves without a value."""

from __future__ import annotations

from collections.abc import Iterable

from .program import Operator, Program


def maybe_absent(program: Program, fed: Iterable[str] | None = None) -> set[str]:
    """The names, of all blocks, that may be absent; `fed` are inputs that may be, those of the Program if not given."""
    found = set(program.absent_feeds if fed is None else fed)
    before = -1
    while before != len(found):  # what a call passes and yields is known when all functions have been looked at
        before = len(found)
        for root in program.roots:
            mark_absent(root.ops, found)
        if not program.functions:
            break
    return found


def mark_absent(ops: Iterable[Operator], found: set[str]) -> None:
    """Adds to `found` the names that ops, or ops in their blocks, may leave absent, given the outer names that may be."""
    for op in ops:
        if op.type in ("absent", "total_take"):
            found.update(op.output_names)
        elif op.type == "cond":
            _cond(op, found)
        elif op.type == "while_loop":
            _loop(op, found)
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
                mark_absent(block.ops, found)
                found.update(o for o, r in zip(op.output_names, block.results, strict=True) if r in found)
        elif op.record.never_absent:
            continue
        elif op.record.handles_absent:
            if op.input_names and all(name in found for name in op.input_names):
                found.update(op.output_names)
        elif any(name in found for name in op.input_names):
            kept = {name for slot in op.record.inplace for name in op.output(slot)}
            found.update(name for name in op.output_names if name not in kept)


def _cond(op: Operator, found: set[str]) -> None:
    branches = (op.attrs["true_block"], op.attrs["false_block"])
    for branch in branches:
        mark_absent(branch.ops, found)
    for i, out in enumerate(op.output("Out")):
        if op.input("Cond")[0] in found or any(branch.results[i] in found for branch in branches):
            found.add(out)


def _loop(op: Operator, found: set[str]) -> None:
    test, body = op.attrs["cond_block"], op.attrs["body_block"]
    state = list(zip(op.input("X"), body.params, test.params, body.results, op.output("Out"), strict=True))
    before = -1
    while before != len(found):  # the state feeds itself: until nothing changes
        before = len(found)
        for x, param, tested, result, out in state:
            if x in found or result in found:
                found.update((param, tested, out))
        mark_absent(test.ops, found)
        mark_absent(body.ops, found)
        # an entry may be absent: what is read from the array then is
        found.update(out for out, name in zip(op.output("Saved"), op.attrs["saved"], strict=True) if name in found)
