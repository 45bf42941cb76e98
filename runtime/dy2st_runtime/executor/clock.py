"""What the profiling driver calls: the time, and notes of what it launches."""

from __future__ import annotations

import time
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ..codegen import layout
from .native import ld_int64, st_int64


def nanoseconds() -> int:
    """The clock of `now`, for Python."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


@intrinsic
def now(typingctx):  # type: ignore[no-untyped-def]
    """Nanoseconds of the monotonic clock, by clock_gettime of the C library."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        i32, i64 = ir.IntType(32), ir.IntType(64)
        timespec = cgutils.alloca_once(builder, ir.LiteralStructType([i64, i64]))
        function_type = ir.FunctionType(i32, (i32, timespec.type))
        function = cgutils.get_or_insert_function(builder.module, function_type, "clock_gettime")
        builder.call(function, (ir.Constant(i32, time.CLOCK_MONOTONIC), timespec))
        seconds, rest = (builder.load(cgutils.gep_inbounds(builder, timespec, 0, i)) for i in range(2))
        return builder.add(builder.mul(seconds, ir.Constant(i64, 10**9)), rest)

    return types.int64(), codegen


@numba.njit
def note_launch(args, instruction, begun, ended):  # type: ignore[no-untyped-def]
    """Adds a launch to the notes of a run; one that there is no room for is in the totals only."""
    notes = ld_int64(args, layout.NOTES)
    totals = ld_int64(notes, layout.NOTE_TOTALS)
    st_int64(totals, 2 * instruction, ld_int64(totals, 2 * instruction) + 1)
    st_int64(totals, 2 * instruction + 1, ld_int64(totals, 2 * instruction + 1) + ended - begun)
    count = ld_int64(notes, layout.NOTE_COUNT)
    if count < ld_int64(notes, layout.NOTE_ROOM):
        events = ld_int64(notes, layout.NOTE_EVENTS)
        st_int64(events, 3 * count, instruction)
        st_int64(events, 3 * count + 1, begun)
        st_int64(events, 3 * count + 2, ended)
        st_int64(notes, layout.NOTE_COUNT, count + 1)


FUNCTIONS: dict[str, Any] = {"now": now, "note_launch": note_launch}
