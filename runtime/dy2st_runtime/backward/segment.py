"""The gradient of a part of the Program that is computed again: its copy, and the reverse walk over that."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import GradientError
from ..ir.program import Operator
from ..ir.prune import RNG
from ..ir.visit import all_ops, called, clone_ops, reads
from . import remat
from .loop import inner_pairs
from .past import restore
from .sweep import Sweep, rule

_SHOWN = ("print", "log_message", "warn")


@rule("segment")
def differentiate_segment(sweep: Sweep, ops: Sequence[Operator]) -> None:
    """Appends a copy of the ops and its gradient. So of what the ops compute only what others read has to be kept.

    What is printed and checked is so once. A condition on floats that a branch was chosen by is not computed again, as it might be another
    one: other kernels round otherwise.
    """
    douts = sweep.gradients_of(name for op in ops for name in op.output_names)
    if all(d is None for d in douts.values()):
        return
    if printing := next((op for f in called(ops) for op in all_ops(f.block) if op.type in _SHOWN), None):
        raise GradientError(
            "jit.recompute of a recursive function that prints, logs or warns: it would do so twice", location=printing.location,
            hint="print outside of it, or call it without jit.recompute",
        )  # fmt: skip
    program, block, b, state = sweep.forward.program, sweep.b.block, sweep.b, sweep.state
    drawn = ops[0].type == "rng_snapshot"
    repeated = [op for op in ops[drawn:] if not _happens_once(sweep, op)]
    b.op("fence")
    if drawn:
        generator = sweep.var(RNG)
        now = b.op("rng_snapshot", State=generator)
        restore(b, generator, sweep.var(ops[0].output_names[0]))
    count = len(block.ops)
    mapping = clone_ops(repeated, sweep.forward, block, {}, fresh=True)
    copies = block.ops[count:]
    pairs = [*mapping.items(), *(pair for old, new in zip(repeated, copies, strict=True) for pair in inner_pairs(old, new))]
    for names in (state.active, state.absent):
        names.update(new for old, new in pairs if old in names)
    remat.silence(copies)
    program.segment_count += 1
    for op in copies:
        _mark(op, sweep.depth, program.segment_count)
    if drawn:
        restore(b, generator, now)
    walk = Sweep(block, b, state, sweep, sweep.depth + 1)
    for name, d in douts.items():
        if d is not None and walk.active(mapping.get(name, name)):
            walk.add(mapping.get(name, name), d)
    walk.run(copies)
    defined = {name for op in repeated for name in op.output_names}
    for name in dict.fromkeys(n for op in repeated for n in reads(op)):
        if name not in defined and sweep.active(name) and (gradient := walk.total(name)) is not None:
            sweep.add(name, gradient)


def _happens_once(sweep: Sweep, op: Operator) -> bool:
    if op.record.effect and not op.output_names:
        return True
    if any(map(sweep.active, op.output_names)):
        return False  # a remainder jumps too, and has a gradient
    single = all(sweep.var(name).shape == () for name in op.output_names)
    return single and not op.blocks and op.function is None and remat.jumps(op, sweep.forward, sweep)


def _mark(op: Operator, depth: int, number: int) -> None:
    """The op is in another segment, with all in its blocks."""
    op.segments = (*op.segments[:depth], number, *op.segments[depth + 1 :])
    for block in op.blocks:
        for inner in block.ops:
            _mark(inner, depth, number)
