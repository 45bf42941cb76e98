"""The native driver: a small machine whose instructions launch kernels and jump.

Between feed and fetch only this runs. It is generated text like any kernel, compiled and cached the same way; an instruction costs
some nanoseconds. Calls of functions are instructions too (`calls`). Every `BUDGET` backward jumps and calls it returns, so that
Python can handle Ctrl-C.
"""

from __future__ import annotations

from .. import threads
from ..codegen import layout as at

BUDGET = 1 << 22
WORD = 8
INSTRUCTION = at.INSTRUCTION_WORDS * WORD


def source(before: str = "", after: str = "") -> str:
    """The driver. `before` and `after`: what it does around each launch."""
    return f"""\
def kernel(args):
    # the driver
    code = ld_int64(args, {at.CODE})
    pc = ld_int64(args, {at.START})
    budget = ld_int64(args, {at.BUDGET_LEFT})
    pool = ld_int64(args, {at.POOL})
    while True:
        i = code + pc * {INSTRUCTION}
        op = ld_int64(i, 0)
        a = ld_int64(i, 1)
        if op == {at.CALL}:
            record = ld_int64(i, 2)
            {before}
            status = call_kernel(a, record, 0, -ld_int64(pool, {threads.MUCH_WORK}))
            if status == {at.DIVIDE}:
                if ld_int64(pool, {threads.THREADS}) == 0:
                    return pc * 256 + {at.THREADS}
                status = share(pool, a, record)
            {after}
            if ld_int64(record, {at.VERDICT}) != 0:
                st_int64(record, {at.VERDICT}, 0)
                return pc * 256 + {at.OUT_OF_BOUNDS}
            if status != 0:
                return pc * 256 + status
            pc += 1
        elif op == {at.JUMP}:
            if a <= pc:
                budget -= 1
                if budget <= 0:
                    return a * 256 + {at.BUDGET}
            pc = a
        elif op == {at.JUMP_IF_FALSE}:
            count = 1
            for axis in range(ld_int64(i, 3)):
                count *= ld_int64(a, {at.DIMS} + axis)
            if count != 1 or ld_int64(a, {at.STATE}) == 0:
                return pc * 256 + {at.FAILED}
            pc = pc + 1 if ld_bool(ld_int64(a, {at.DATA}), 0) else ld_int64(i, 2)
        elif op == {at.SHARE}:
            b = ld_int64(i, 2)
            for word in range({at.DESCRIPTOR_WORDS}):
                if word != {at.BUFFER} and word != {at.TABLE}:
                    st_int64(a, word, ld_int64(b, word))
            pc += 1
        elif op == {at.MOVE}:
            status = move_value(a, ld_int64(i, 2), ld_int64(i, 3), ld_int64(i, 4))
            if status != 0:
                return pc * 256 + status
            pc += 1
        elif op == {at.ENTER}:
            budget -= 1
            if budget <= 0:
                return pc * 256 + {at.BUDGET}
            status = enter_function(args, a, pc + 1)
            if status != 0:
                return pc * 256 + status
            pc = ld_int64(i, 2)
        elif op == {at.LEAVE}:
            back = leave_function(args)
            if back < 0:
                return pc * 256 + {at.NO_MEMORY}
            pc = back
        elif op == {at.MARK_ABSENT}:
            st_int64(a, {at.STATE}, 0)
            pc += 1
        elif op == {at.JUMP_IF_ABSENT}:
            pc = pc + 1 if ld_int64(a, {at.STATE}) != 0 else ld_int64(i, 2)
        elif op == {at.FAIL_IF_ABSENT}:
            if ld_int64(a, {at.STATE}) == 0:
                return pc * 256 + {at.FAILED}
            pc += 1
        elif op == {at.CALL_HOST}:
            return pc * 256 + {at.HOST}
        elif op == {at.SUSPEND}:
            return pc * 256 + {at.SUSPENDED}
        else:
            return pc * 256
"""


SOURCE = source()
PROFILING_SOURCE = source("begun = now()", "note_launch(args, pc, begun, now())")
