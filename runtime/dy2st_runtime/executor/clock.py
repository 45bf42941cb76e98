"""What the profiling driver calls: the time, and notes of what it launches."""

from __future__ import annotations

import time
from typing import Any

from llvmlite import ir
from numba.core import cgutils

from ..codegen import layout
from .integers import I64, instruction
from .runs import put_words, word


def nanoseconds() -> int:
    """The clock of `now`, for Python."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


@instruction
def now(builder: Any) -> Any:
    """Nanoseconds of the monotonic clock, by clock_gettime of the C library."""
    timespec = cgutils.alloca_once(builder, ir.LiteralStructType([I64, I64]))
    kind = ir.FunctionType(ir.IntType(32), (ir.IntType(32), timespec.type))
    function = cgutils.get_or_insert_function(builder.module, kind, "clock_gettime")
    builder.call(function, (ir.Constant(ir.IntType(32), time.CLOCK_MONOTONIC), timespec))
    seconds, rest = (builder.load(cgutils.gep_inbounds(builder, timespec, 0, i)) for i in range(2))
    return builder.add(builder.mul(seconds, ir.Constant(I64, 10**9)), rest)


def note_launch(args: int, instruction: int, begun: int, ended: int) -> None:
    """Adds a launch to the notes of a run; one that there is no room for is in the totals only."""
    notes = word(args, layout.NOTES)
    totals = word(notes, layout.NOTE_TOTALS)
    put_words(totals, 2 * instruction, word(totals, 2 * instruction) + 1)
    put_words(totals, 2 * instruction + 1, word(totals, 2 * instruction + 1) + ended - begun)
    count = word(notes, layout.NOTE_COUNT)
    if count < word(notes, layout.NOTE_ROOM):
        events = word(notes, layout.NOTE_EVENTS)
        put_words(events, 3 * count, instruction)
        put_words(events, 3 * count + 1, begun)
        put_words(events, 3 * count + 2, ended)
        put_words(notes, layout.NOTE_COUNT, count + 1)

