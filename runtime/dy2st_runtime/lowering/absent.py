"""Which variables can be absent at run time: only for these the schedule tests anything."""

from __future__ import annotations

from ..ir.absent import mark_absent
from ..ir.program import Program


def maybe_absent(program: Program, fed: frozenset[str] = frozenset()) -> set[str]:
    """The names that some path leaves without a value; `fed` are inputs that may be fed as absent."""
    found: set[str] = set(fed)
    mark_absent(program.global_block().ops, found)
    return found
