"""Which variables can be absent at run time: only for these the schedule tests anything."""

from __future__ import annotations

from ..ir.program import Block, Program


def maybe_absent(program: Program, fed: frozenset[str] = frozenset()) -> set[str]:
    """The names that some path leaves without a value; `fed` are inputs that may be fed as absent. `name[]` in the result means that
    entries of the TensorArray `name` can be absent."""
    found: set[str] = set(fed)
    _block(program.global_block(), found)
    return found


def _block(block: Block, found: set[str]) -> None:
    for op in block.ops:
        if op.type == "absent":
            found.update(op.output_names)
        elif op.type == "cond":
            branches = (op.attrs["true_block"], op.attrs["false_block"])
            for b in branches:
                _block(b, found)
            for i, out in enumerate(op.output("Out")):
                if any(b.results[i] in found for b in branches) or op.input("Cond")[0] in found:
                    found.add(out)
        elif op.type == "while_loop":
            _loop(op, found)
        elif op.type == "fused_elementwise":
            body = op.attrs["sub_block"]
            found.update(p for p, x in zip(body.params, op.input("X"), strict=True) if x in found)
            _block(body, found)
            found.update(o for o, r in zip(op.output("Out"), body.results, strict=True) if r in found)
        elif op.type == "read_from_array" and f"{op.input('X')[0]}[]" in found:
            found.update(op.output_names)
        elif op.record.never_absent:
            continue
        elif op.record.handles_absent:
            if op.input_names and all(name in found for name in op.input_names):
                found.update(op.output_names)
        elif any(name in found for name in op.input_names):
            kept = {name for slot in op.record.inplace for name in op.output(slot)}
            found.update(name for name in op.output_names if name not in kept)


def _loop(op, found: set[str]) -> None:  # type: ignore[no-untyped-def]
    test, body = op.attrs["cond_block"], op.attrs["body_block"]
    before = -1
    while before != len(found):
        before = len(found)
        for x, p, c, r, out in zip(
            op.input("X"), body.params, test.params, body.results, op.output("Out"), strict=True
        ):
            if x in found or r in found:
                found.update((p, c, out))
        _block(test, found)
        _block(body, found)
        found.update(
            f"{array}[]" for array, name in zip(op.output("Saved"), op.attrs["saved"], strict=True) if name in found
        )
