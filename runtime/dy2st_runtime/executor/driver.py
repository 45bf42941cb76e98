"""The native driver: a small machine whose instructions launch kernels and jump.

Between feed and fetch only this runs. It is a function in the language of `scalars`, compiled once and cached like any routine; an
instruction costs some nanoseconds. Calls of functions are instructions too (`calls`). At backward jumps and calls it looks for signals
(`looking`), so that Ctrl-C ends a loop.

Where it has come to and how it ended are in its argument record: also a run whose caller an exception has taken away knows it.
"""

from __future__ import annotations

from collections.abc import Callable

from .. import threads
from ..codegen import layout as at
from .arrays import move_value
from .calls import enter_function, leave_function
from .clock import note_launch, now
from .looking import looked
from .memory import call_kernel, copy_descriptor, int8_at
from .runs import put_words, word
from .sharing import share

WORD = 8
INSTRUCTION = at.INSTRUCTION_WORDS * WORD


def _driver(noting: int) -> Callable[[int], int]:
    """The driver; `noting`: 1 for the one that notes what it launches."""

    def run(args: int) -> int:
        """The status, behind the instruction that it is about."""
        code = word(args, at.CODE)
        pc = word(args, at.START)
        pool = word(args, at.POOL)
        left = 1
        while True:
            i = code + pc * INSTRUCTION
            op = word(i, 0)
            a = word(i, 1)
            if op == at.CALL:
                record = word(i, 2)
                begun = now() if noting else 0
                status = call_kernel(a, record, 0, -word(pool, threads.MUCH_WORK))
                if status == at.DIVIDE:
                    if word(pool, threads.THREADS) == 0:
                        return pc * 256 + at.THREADS
                    status = share(pool, a, record)
                if noting:
                    note_launch(args, pc, begun, now())
                if word(record, at.VERDICT) != 0:
                    put_words(record, at.VERDICT, 0)
                    return pc * 256 + at.OUT_OF_BOUNDS
                if status != 0:
                    return pc * 256 + status
                pc += 1
            elif op == at.JUMP:
                if a <= pc:
                    left -= 1
                    if left == 0:
                        left = looked(args)
                        if left == 0:
                            return a * 256 + at.INTERRUPTED
                pc = a
            elif op == at.JUMP_IF_FALSE:
                count = 1
                for axis in range(word(i, 3)):
                    count *= word(a, at.DIMS + axis)
                if count != 1 or word(a, at.STATE) == 0:
                    return pc * 256 + at.FAILED
                pc = pc + 1 if int8_at(word(a, at.DATA)) else word(i, 2)
            elif op == at.SHARE:
                copy_descriptor(a, word(i, 2))
                pc += 1
            elif op == at.MOVE:
                status = move_value(a, word(i, 2), word(i, 3), word(i, 4))
                if status != 0:
                    return pc * 256 + status
                pc += 1
            elif op == at.ENTER:
                left -= 1
                if left == 0:
                    left = looked(args)
                    if left == 0:
                        return pc * 256 + at.INTERRUPTED
                status = enter_function(args, a, pc + 1)
                if status != 0:
                    return pc * 256 + status
                pc = word(i, 2)
            elif op == at.LEAVE:
                back = leave_function(args)
                if back < 0:
                    return pc * 256 + at.NO_MEMORY
                pc = back
            elif op == at.MARK_ABSENT:
                put_words(a, at.STATE, 0)
                pc += 1
            elif op == at.JUMP_IF_ABSENT:
                pc = pc + 1 if word(a, at.STATE) != 0 else word(i, 2)
            elif op == at.FAIL_IF_ABSENT:
                if word(a, at.STATE) == 0:
                    return pc * 256 + at.FAILED
                pc += 1
            elif op == at.CALL_HOST:
                return pc * 256 + at.HOST
            elif op == at.SUSPEND:
                return pc * 256 + at.SUSPENDED
            else:
                return pc * 256 + at.DONE

    def driver(args: int) -> int:
        end = run(args)
        put_words(args, at.START, end >> 8, end & 255)
        return 0

    return driver


DRIVERS = {"driver": _driver(0), "profiling_driver": _driver(1)}
