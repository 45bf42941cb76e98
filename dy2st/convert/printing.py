"""`print`, `assert` and texts with tensors in them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ..errors import StagedValueError
from ..tensor import Tensor
from ..tensor.location import user_location
from .if_stmt import truth
from .lists import StagedList
from .tracer import current_tracer, is_staged


def print_(*values: Any, sep: str | None = " ", end: str | None = "\n", file: Any = None, flush: bool = False) -> None:
    """`print`; of staged tensors at run time, in order."""
    tracer = current_tracer()
    if tracer is None:
        print(*values, sep=sep, end=end, file=file, flush=flush)
        return
    if file not in (None, sys.stdout, sys.stderr):
        if any(map(is_staged, values)):
            raise StagedValueError(
                "print() of a tensor to a file is not supported while tracing", location=user_location(2)
            )
        print(*values, sep=sep, end=end, file=file, flush=flush)
        return
    # also a text without tensors: it is printed at each call
    parts, specs, tensors = texts(values, " " if sep is None else sep)
    tracer.effect("print", In=tensors, parts=parts, specs=specs, end="\n" if end is None else end,
                  stderr=file is sys.stderr, flush=bool(flush))  # fmt: skip


def texts(values: Any, sep: str = "") -> tuple[list[str], list[str], list[Tensor]]:
    """Literal parts, specs and tensors of values shown one after the other; see the runtime's `ops.message`."""
    parts, specs, tensors = [""], [], []
    for i, value in enumerate(values):
        if i:
            parts[-1] += sep
        if is_staged(value):
            specs.append("=" if value._weak else "" if value.stop_gradient else "^")
            tensors.append(value)
            parts.append("")
        elif isinstance(value, StagedList):
            raise StagedValueError(
                "a list of dynamic length cannot be printed while tracing", location=user_location(3),
                hint="print paddle.stack(xs), or return it and print it outside",
            )  # fmt: skip
        else:
            parts[-1] += str(value)
    return parts, specs, tensors


def assert_stmt(test: Any, message: Callable[[], Any] | None) -> None:
    """`assert test, message()`; a staged test is checked at run time."""
    decided = truth(test)
    if isinstance(decided, Tensor):
        tracer = current_tracer()
        assert tracer is not None
        parts, specs, tensors = ([], [], []) if message is None else texts([message()])
        tracer.effect("assert", Cond=decided, Data=tensors, parts=parts, specs=specs)
    elif not decided:
        if message is None:
            raise AssertionError
        raise AssertionError(message())
