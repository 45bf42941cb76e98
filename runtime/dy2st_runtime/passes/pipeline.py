"""The pipeline of passes that the executor runs: one list."""

from __future__ import annotations

from collections.abc import Sequence

from ..garbage import no_search_for_garbage
from ..ir.program import Program
from .attention import attention
from .cse import cse
from .dce import dce
from .epilogue import epilogue
from .fission import fission
from .fold import fold
from .fuse import fuse
from .hoist import hoist
from .layout import layout
from .manager import Pass, PassManager
from .one_shape import one_shape
from .prologue import prologue
from .retarget import retarget
from .rows import rows
from .shapes import Shapes, shapes_kept, symbolic_shapes
from .simplify import simplify
from .split_norm import split_norm
from .ssa import ssa
from .sums import sums

PASSES: list[tuple[str, Pass]] = [
    ("ssa", ssa),  # first: the others rely on names that are assigned once
    ("dce", dce),  # early: what nobody needs costs the others time
    ("fold", fold),
    ("simplify", simplify),
    ("layout", layout),  # before simplify, cse and dce, which leave of its transposes what is needed
    ("retarget", retarget),
    ("hoist", hoist),  # before cse: constants of several loops become one
    ("cse", cse),
    ("simplify", simplify),  # again: equal operands and merged constants have come to light
    ("dce", dce),
    ("one_shape", one_shape),  # before fuse, which makes kernels that broadcast
    ("fission", fission),  # after cse and dce: equal counts have one name, and who else reads a row is known
    ("split_norm", split_norm),
    ("attention", attention),  # before fuse, as its own elementwise ops are part of it
    ("sums", sums),  # behind what looks for sums, before fuse
    ("fuse", fuse),  # behind these the others are of no use: they know nothing of groups
    ("epilogue", epilogue),
    ("rows", rows),
    ("prologue", prologue),  # what all these have not taken
]

STANDARD = PASSES
"""The same list, also where others have taken its place for a while."""


def optimize(
    program: Program, feed_names: Sequence[str], fetch_names: Sequence[str], absent_feeds: Sequence[str] = ()
) -> tuple[Program, dict[str, str], Shapes]:
    """Runs the pipeline on a Program, in place.

    Args:
        program: a verified Program, changed.
        feed_names: data variables that a run is given.
        fetch_names: variables that a run returns.
        absent_feeds: feeds that may be absent.

    Returns:
        the Program; for each persistable that it updates the variable with its value after the run; the symbolic
        shapes of its variables.
    """
    program.absent_feeds.update(absent_feeds)
    with no_search_for_garbage(), shapes_kept(program):
        PassManager(PASSES).run(program, [*feed_names, *fetch_names])
        return program, dict(program.updates), symbolic_shapes(program)
