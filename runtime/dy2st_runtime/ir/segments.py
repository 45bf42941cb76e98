"""Parts of a Program whose values are computed again for the gradient, rather than kept until then."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from itertools import chain

from ..errors import Location
from .builder import IRBuilder
from .program import Block, Operator, Program
from .prune import RNG
from .visit import all_ops, called


@contextlib.contextmanager
def computed_again(block: Block, location: Location | None = None) -> Iterator[None]:
    """What is added to the block, and to blocks in it, within this `with` is such a part.

    One that draws random numbers begins with an `rng_snapshot`, so that they can be drawn again.
    """
    program = block.program
    before, last = program.segments, block.ops[-1] if block.ops else None
    program.segment_count += 1
    program.segments = (*before, program.segment_count)
    try:
        yield
    finally:
        start = next((i + 1 for i, op in enumerate(block.ops) if op is last), 0)
        if draws(block.ops[start:]):
            IRBuilder(block, location, start).op("rng_snapshot", State=block.var(RNG))
        program.segments = before


@contextlib.contextmanager
def computed_apart(program: Program) -> Iterator[None]:
    """What is added within this `with` is in no such part, as the body of a function: only its calls are."""
    before, program.segments = program.segments, ()
    try:
        yield
    finally:
        program.segments = before


def draws(ops: Sequence[Operator]) -> bool:
    """Whether one of the ops, or one in their blocks or in functions that they call, draws random numbers."""
    blocks = [*(sub for op in ops for sub in op.blocks), *(f.block for f in called(ops))]
    return any(RNG in op.output_names for op in chain(ops, *map(all_ops, blocks)))
