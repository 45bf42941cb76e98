"""What the profiling driver calls: the time, and notes of what it launches."""

from __future__ import annotations

import time
from typing import Any

from llvmlite import ir

from ..codegen import layout
from .runs import put_words, word
from .values import I32, I64, Instruction, declared, slot


def nanoseconds() -> int:
    """The clock of `now`, for Python."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def by_clock(clock: int) -> Instruction:
    """Nanoseconds of a clock, by clock_gettime of the C library."""

    def emit(builder: Any) -> Any:
        timespec = slot(builder, ir.LiteralStructType([I64, I64]))
        kind = ir.FunctionType(I32, (I32, timespec.type))
        function = declared(builder.module, kind, "clock_gettime")
        builder.call(function, (ir.Constant(I32, clock), timespec))
        seconds, rest = (builder.load(builder.gep(timespec, [ir.Constant(I32, 0), ir.Constant(I32, i)])) for i in range(2))
        return builder.add(builder.mul(seconds, ir.Constant(I64, 10**9)), rest)

    return Instruction(emit)


now = by_clock(time.CLOCK_MONOTONIC)


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

