"""Looking for signals, in native loops: what the driver does at backward jumps and calls, and a kernel in a loop of its own.

Only the main thread looks, as Python calls handlers in no other, and only after some time, as it has to wait for the interpreter. What a
handler raises is kept in `signals` and ends the run; `signals.raise_kept` raises it.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from llvmlite import ir

from .. import signals
from ..codegen import layout
from .clock import by_clock
from .memory import of_c
from .runs import put_words, word
from .values import I32, I64, Instruction

OFTEN = 32
"""Backward jumps of the driver after which it asks for the time; where these take long, it asks at each."""

# that of Linux, CLOCK_MONOTONIC_COARSE, is some milliseconds old, but read in some nanoseconds
_coarse = by_clock(6 if sys.platform == "linux" else time.CLOCK_MONOTONIC)
_this_thread = of_c("pthread_self", 0)


def _of_python(gives: ir.Type, *takes: ir.Type) -> Instruction:
    """of_python(address, operand, ...): calls a function of Python's own."""

    def emit(builder: Any, address: Any, *operands: Any) -> Any:
        function = builder.inttoptr(address, ir.FunctionType(gives, takes).as_pointer())
        result = builder.call(function, [builder.trunc(x, t) if t != I64 else x for x, t in zip(operands, takes, strict=True)])
        return None if isinstance(gives, ir.VoidType) else builder.sext(result, I64)

    return Instruction(emit)


_ensure, _check = _of_python(I32), _of_python(I32)
_fetch, _release = _of_python(ir.VoidType(), I64, I64, I64), _of_python(ir.VoidType(), I32)


def look(state: int) -> int:
    """Calls the handlers of signals that have come, if it is time to; INTERRUPTED if one has raised something.

    Args:
        state: the address of the words of `signals`.
    """
    return _look_at(state, _coarse())


def _look_at(state: int, moment: int) -> int:
    if moment - word(state, signals.LOOKED) < signals.PERIOD or _this_thread() != word(state, signals.MAIN):
        return layout.OK
    put_words(state, signals.LOOKED, moment)
    held = _ensure(word(state, signals.ENSURE))
    raised = _check(word(state, signals.CHECK))
    if raised != 0:
        kept = state + signals.RAISED * signals.WORD
        _fetch(word(state, signals.FETCH), kept, kept + signals.WORD, kept + 2 * signals.WORD)
    _release(word(state, signals.RELEASE), held)
    return layout.OK if raised == 0 else layout.INTERRUPTED


def looked(args: int) -> int:
    """Looks, if it is time to: how many backward jumps the driver may make before it asks again; 0 if it is to end."""
    moment = _coarse()
    left = OFTEN if moment == word(args, layout.SEEN) else 1
    put_words(args, layout.SEEN, moment)
    return left if _look_at(word(args, layout.SIGNAL_WORDS), moment) == layout.OK else 0


FUNCTIONS: dict[str, Any] = {look.__name__: look}
