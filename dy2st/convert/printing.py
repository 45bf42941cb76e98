"""`print`, `logging`, `warnings.warn`, `assert` and texts with tensors in them."""

from __future__ import annotations

import builtins
import functools
import logging
import pprint
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import StagedValueError
from ..tensor import Tensor, dispatch
from ..tensor.kinds import resolved, with_number
from ..tensor.location import user_location, user_path
from .followed import require_followed
from .if_stmt import stage_cond, truth
from .lists import StagedList
from .optional import MaybeNone
from .structure import flatten
from .texts import MARK, percent
from .tracer import Tracer, current_tracer, is_staged, need_tracer


def print_(*values: Any, sep: str | None = " ", end: str | None = "\n", file: Any = None, flush: bool = False) -> None:
    """`print`; of staged tensors at run time, in order."""
    tracer = current_tracer()
    if tracer is None:
        print(*values, sep=sep, end=end, file=file, flush=flush)
        return
    if file is None and sys.stdout is not tracer.stdout:
        file = sys.stdout  # within `redirect_stdout` of the function's own
    if file not in (None, tracer.stdout, tracer.stderr):
        if any(map(is_staged, values)):
            raise StagedValueError(
                "print() of a tensor to a file, or where the output is redirected, is not supported while tracing",
                location=user_location(2), hint="print it outside of the function, or to the standard output",
            )  # fmt: skip
        require_followed(file, "write")
        print(*values, sep=sep, end=end, file=file, flush=flush)
        return
    for name, given in (("sep", sep), ("end", end)):
        if given is not None and not isinstance(given, str):
            raise TypeError(f"{name} must be None or a string, not {type(given).__name__}")
    # also a text without tensors: it is printed at each call
    parts, specs, tensors = texts(values, " " if sep is None else sep)
    tracer.effect("print", In=tensors, parts=parts, specs=specs, end="\n" if end is None else end,
                  stderr=file is not None and file is tracer.stderr, flush=bool(flush))  # fmt: skip


def _pretty(x: Any, stream: Any = None, *args: Any, **kwargs: Any) -> None:
    """`pprint.pprint`, which writes by itself.

    Raises:
        StagedValueError: where it breaks lines depends on the texts of tensors.
    """
    if stream is not None or current_tracer() is None:
        pprint.pprint(x, stream, *args, **kwargs)
        return
    if any(is_staged(v) or isinstance(v, StagedList) for v in flatten(x)[0]):
        raise StagedValueError("pprint() of what holds a tensor is not supported while tracing", location=user_location(2),
                               hint="use print(), or return it and print it outside")  # fmt: skip
    print_(pprint.pformat(x, *args, **kwargs))


def _pretty_in_order(x: Any, *args: Any, sort_dicts: bool = False, **kwargs: Any) -> None:
    """`pprint.pp`."""
    _pretty(x, *args, sort_dicts=sort_dicts, **kwargs)


PRETTY: dict[Any, Callable] = {pprint.pprint: _pretty, pprint.pp: _pretty_in_order}


def _log(original: Callable, level: int | None, logger: logging.Logger, /, *args: Any, **kwargs: Any) -> None:
    """What a method of a logger does, at run time, each time and in order; `level` is None where that is the first argument.

    Raises:
        StagedValueError: it has options: the frames and the exception of the call are not there when the Program runs.
    """
    tracer = current_tracer()
    if tracer is None:
        original(logger, *args, **kwargs)
        return
    if kwargs:
        raise StagedValueError(
            f"{original.__name__}() of a logger with {', '.join(kwargs)} is not supported while tracing", location=user_location(2),
            hint="put what it is to say into the message",
        )  # fmt: skip
    if level is None:
        level, *args = args  # type: ignore[assignment]
    message, *values = args
    if values:  # as LogRecord does: one dict stands for all
        message = percent(str(message), values[0] if len(values) == 1 and isinstance(values[0], dict) and values[0] else tuple(values))
    parts, specs, tensors = texts([message])
    name = "" if isinstance(logger, logging.RootLogger) else logger.name
    tracer.effect("log_message", In=tensors, parts=parts, specs=specs, logger=name, level=level)


def _log_to_root(original: Callable, level: int | None, /, *args: Any, **kwargs: Any) -> None:
    if current_tracer() is None:
        original(*args, **kwargs)
        return
    _log(original, level, logging.getLogger(), *args, **kwargs)


_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "warn": logging.WARNING, "error": logging.ERROR,
           "critical": logging.CRITICAL, "fatal": logging.CRITICAL, "log": None}  # fmt: skip
LOGGING: dict[Any, Callable] = {
    **{f: functools.partial(_log, f, level) for name, level in _LEVELS.items() if (f := getattr(logging.Logger, name, None))},
    **{f: functools.partial(_log_to_root, f, level) for name, level in _LEVELS.items() if (f := getattr(logging, name, None))},
}


def _warn(message: Any, category: Any = None, stacklevel: int = 1, *args: Any, **kwargs: Any) -> None:
    """`warnings.warn`, at run time, each time and in order.

    Raises:
        StagedValueError: a Program cannot say what it is to be: of which class, or of which of the callers.
    """
    tracer = current_tracer()
    # within `catch_warnings` of the function's own they are a matter of that
    if tracer is None or warnings.filters is not tracer.filters:
        warnings.warn(message, category, stacklevel + 1, *args, **kwargs)
        return
    if args or kwargs:
        raise _unknown_warning("warn() with more than a message, a category and stacklevel is")
    if isinstance(message, Warning):
        category, message = type(message), str(message)
    if category is None:
        category = UserWarning
    name = getattr(category, "__name__", repr(category))
    if getattr(builtins, name, None) is not category:
        raise _unknown_warning(f"a warning of the class {name!r} is")
    place = user_path()
    for _ in range(stacklevel - 1):
        place = None if place is None else place.caller
    if place is None:
        raise _unknown_warning(f"stacklevel={stacklevel}, of who calls the static function, is")
    parts, specs, tensors = texts([message])
    tracer.effect("warn", In=tensors, parts=parts, specs=specs, category=name, file=place.file, line=place.line)


def _unknown_warning(what: str) -> StagedValueError:
    return StagedValueError(
        f"{what} not supported while tracing", location=user_location(3),
        hint="use a class of Python's (UserWarning, RuntimeWarning) and a stacklevel within the static function, or warn outside",
    )  # fmt: skip


WARNINGS: dict[Any, Callable] = {warnings.warn: _warn}


def texts(values: Any, sep: str = "") -> tuple[list[str], list[str], list[Tensor]]:
    """Literal parts, specs and tensors of values shown one after the other; see the runtime's `ops.message`."""
    tracer = need_tracer("a text")
    parts: list[str] = [""]
    specs: list[str] = []
    tensors: list[Tensor] = []
    for i, value in enumerate(values):
        if i:
            parts[-1] += sep
        if any(isinstance(x, StagedList) for x in flatten(value)[0]):
            raise StagedValueError(
                "a list of dynamic length cannot be printed while tracing", location=user_location(3),
                hint="print its entries one by one in a loop, or return it and print it outside",
            )  # fmt: skip
        pieces = MARK.split(format(value) if is_staged(value) else str(value))
        parts[-1] += pieces[0]
        for number, piece in zip(pieces[1::2], pieces[2::2], strict=True):
            tensor, shown = tracer.marked[int(number)]
            beside: list[tuple[str, Tensor]] = []
            if isinstance(tensor, MaybeNone):
                beside, tensor = [("?", tensor.is_none)], _filled(tensor)
            if tensor._kinds is not None and tensor._kinds.number is not None:
                beside.append((f"#{tensor._kinds.class_name}", tensor._kinds.number))
                tensor = resolved(tensor)
            for spec, flag in beside:
                specs.append(spec)
                tensors.append(flag)
                parts.append("")
            specs.append(("=" if tensor._weak else "" if tensor._stops else "^") + shown)
            tensors.append(tensor)
            parts.append(piece)
    return parts, specs, tensors


def _filled(value: MaybeNone) -> Tensor:
    """The value, or zeros where it is None, so that what shows it runs."""
    bare, tracer = value.bare(), need_tracer("a text")
    zeros = dispatch.constant(np.zeros([0] * bare.ndim, bare.dtype))
    filled = bare.alike(tracer.lift(dispatch.ops.op("fill_absent", X=resolved(bare), Like=zeros)))
    if filled._kinds is None or filled._kinds.number is None:
        return filled
    return with_number(filled, dispatch.ops.op("fill_absent", X=filled._kinds.number, Like=value.is_none))


def assert_stmt(test: Any, message: Callable[[], Any] | None) -> None:
    """`assert test, message()`; a staged test is checked at run time. The message is made only where it fails."""
    decided = truth(test)
    if isinstance(decided, Tensor):
        tracer = need_tracer("an assertion")
        if message is None or _is_only_text(tracer, message):
            _stage_assertion(tracer, decided, message)
        else:
            stage_cond(tracer, decided, lambda: (), lambda: _stage_assertion(tracer, decided, message), ())
    elif not decided:
        if message is None:
            raise AssertionError
        raise AssertionError(message())


def _stage_assertion(tracer: Tracer, test: Tensor, message: Callable[[], Any] | None) -> tuple:
    parts, specs, tensors = ([], [], []) if message is None else texts([message()])
    tracer.effect("assert", Cond=test, Data=tensors, parts=parts, specs=specs)
    return ()


def _is_only_text(tracer: Tracer, message: Callable[[], Any]) -> bool:
    """Whether making a message neither computes nor raises nor changes anything."""
    tracer.watch_locals()
    block = tracer.sub_block()
    try:
        outcome = tracer.run_in(block, message)
    except Exception:
        return False  # it is raised where the assertion fails
    return not block.ops and not outcome.changes
