"""`print`, `logging`, `warnings.warn`, `assert` and texts with tensors in them."""

from __future__ import annotations

import builtins
import functools
import logging
import pprint
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...errors import StagedValueError
from ...tensor import Tensor, dispatch
from ...tensor.location import user_location, user_path
from .. import hub, roles
from ..control.if_stmt import stage_cond, truth
from ..hub import current_tracer, is_staged, need_tracer
from ..purity.untraceable import done_once, require_traceable_method
from ..values.one_of import OneOf, choose, is_text, marked
from ..values.staged_list import StagedList
from ..values.symbolic_texts import MARK, percent, texts
from ..values.trees import flatten

if TYPE_CHECKING:
    from ..trace.tracer import Tracer

ROLE = roles.ACTING


def print_(*values: Any, sep: str | None = " ", end: str | None = "\n", file: Any = None, flush: bool = False) -> None:
    """`print`; of staged tensors at run time, in order."""
    tracer = current_tracer()
    if tracer is None:
        print(*values, sep=sep, end=end, file=file, flush=flush)
        return
    sep, end = marked(sep), marked(end)
    for name, given in (("sep", sep), ("end", end)):
        if given is not None and not isinstance(given, str):
            raise TypeError(f"{name} must be None or a string, not {type(given).__name__}")
    if file is None and sys.stdout is not tracer.stdout:
        file = sys.stdout  # within `redirect_stdout` of the function's own
    if file not in (None, tracer.stdout, tracer.stderr):
        shown = [format(v) if is_staged(v) else str(v) for v in values]
        if any(MARK.search(said) for said in (*shown, sep, end) if said is not None):
            raise StagedValueError(
                "print() of a tensor to a file, or where the output is redirected, is not supported while tracing",
                location=user_location(2), hint="print it outside of the function, or to the standard output",
            )  # fmt: skip
        require_traceable_method(file, "write")
        print(*shown, sep=sep, end=end, file=file, flush=flush)
        return
    # also a text without tensors: it is printed at each call
    said = [part for value in values for part in (" " if sep is None else sep, value)][1:]
    if end is not None and MARK.search(end):
        said, end = [*said, end], ""
    parts, specs, tensors = texts(said)
    tracer.effect("print", In=tensors, parts=parts, specs=specs, end="\n" if end is None else end,
                  stderr=file is not None and file is tracer.stderr, flush=bool(flush))  # fmt: skip


def written(f: Any) -> Callable | None:
    """What stands for a method of the standard output, or that of errors, which writes; None for all else."""
    file = getattr(f, "__self__", None)
    known = _WRITING.get(f.__name__) if file is not None and (file is sys.stdout or file is sys.stderr) else None
    return None if known is None else functools.partial(known, file)


def _write(file: Any, said: Any, /) -> Any:
    if not is_text(said):
        return file.write(said)  # type: ignore[no-any-return]  # which says so
    print_(said, sep="", end="", file=file)
    return choose(said, len) if isinstance(said, OneOf) else len(said) if type(said) is str else None


def _write_lines(file: Any, lines: Any, /) -> None:
    for line in lines:
        _write(file, line)


def _flush(file: Any, /) -> None:
    print_(sep="", end="", file=file, flush=True)


_WRITING: dict[str, Callable] = {"write": _write, "writelines": _write_lines, "flush": _flush}


def _pretty(x: Any, stream: Any = None, *args: Any, **kwargs: Any) -> None:
    """`pprint.pprint`, which writes by itself.

    Raises:
        StagedValueError: where it breaks lines depends on the texts of tensors.
    """
    if stream is not None or current_tracer() is None:
        pprint.pprint(x, stream, *args, **kwargs)
        return
    _require_plain(x)
    print_(pprint.pformat(x, *args, **kwargs))


def _pretty_in_order(x: Any, *args: Any, sort_dicts: bool = False, **kwargs: Any) -> None:
    """`pprint.pp`."""
    _pretty(x, *args, sort_dicts=sort_dicts, **kwargs)


def _pretty_by(printer: pprint.PrettyPrinter, x: Any) -> None:
    """The method `pprint` of a printer that is there already."""
    if current_tracer() is None:
        printer.pprint(x)
    elif printer._stream not in (sys.stdout, sys.stderr):  # type: ignore[attr-defined]
        raise done_once("pprint() of a PrettyPrinter to a file", "use its pformat(), and write() outside of the static function")
    else:
        _require_plain(x)
        print_(printer.pformat(x), file=printer._stream)  # type: ignore[attr-defined]


def _require_plain(x: Any) -> None:
    if any(is_staged(v) or isinstance(v, StagedList) for v in flatten(x)[0]):
        raise StagedValueError("pprint() of what holds a tensor is not supported while tracing", location=user_location(3),
                               hint="use print(), or return it and print it outside")  # fmt: skip


PRETTY: dict[Any, Callable] = {pprint.pprint: _pretty, pprint.pp: _pretty_in_order, pprint.PrettyPrinter.pprint: _pretty_by}


def _log(original: Callable, level: int | None, logger: logging.Logger, /, *args: Any, **kwargs: Any) -> None:
    """What a method of a logger does, at run time, each time and in order; `level` is None where that is the first argument.

    Raises:
        StagedValueError: it has options: the frames and the exception of the call are not there when the Program runs.
    """
    tracer = current_tracer()
    if tracer is None:
        original(logger, *args, **kwargs)
        return
    if "extra" in kwargs and not kwargs["extra"]:
        del kwargs["extra"]
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


def _log_by_adapter(original: Callable, level: int | None, adapter: logging.LoggerAdapter, /, *args: Any, **kwargs: Any) -> None:
    """What a method of an adapter does: its `process()` says what is logged, and with which options."""
    if current_tracer() is None:
        original(adapter, *args, **kwargs)
        return
    if level is None:
        level, *args = args  # type: ignore[assignment]
    message, *values = args
    message, kwargs = hub.call(adapter.process)(message, kwargs)
    if type(adapter.logger).log is logging.Logger.log:
        _log(original, level, adapter.logger, message, *values, **kwargs)
    else:
        hub.call(adapter.logger.log)(level, message, *values, **kwargs)


def _not_logged(original: Callable, /, *args: Any, **kwargs: Any) -> Any:
    """What has more than a message to say.

    Raises:
        StagedValueError: a function is traced.
    """
    if current_tracer() is None:
        return original(*args, **kwargs)
    raise StagedValueError(
        f"{original.__name__}() of a logger is not supported while tracing", location=user_location(2),
        hint="use debug(), info(), warning(), error() or critical(), and put what it is to say into the message",
    )  # fmt: skip


_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "warn": logging.WARNING, "error": logging.ERROR,
           "critical": logging.CRITICAL, "fatal": logging.CRITICAL, "log": None}  # fmt: skip
_ADAPTER = logging.LoggerAdapter
LOGGING: dict[Any, Callable] = {
    **{f: functools.partial(_log, f, level) for name, level in _LEVELS.items() if (f := getattr(logging.Logger, name, None))},
    **{f: functools.partial(_log_to_root, f, level) for name, level in _LEVELS.items() if (f := getattr(logging, name, None))},
    **{f: functools.partial(_log_by_adapter, f, level) for name, level in _LEVELS.items() if (f := getattr(_ADAPTER, name, None))},
    **{f: functools.partial(_not_logged, f) for f in (
        logging.exception, logging.Logger.exception, _ADAPTER.exception, logging.Logger.handle, logging.Logger.callHandlers,
        logging.Handler.handle, logging.StreamHandler.emit)},
}  # fmt: skip


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


def _shown_once(f: Callable, /, *args: Any, **kwargs: Any) -> Any:
    """What writes to the standard output or that of errors by itself, or tells which lines run.

    Raises:
        StagedValueError: a function is traced.
    """
    if current_tracer() is None or (f in _TRACEBACKS and kwargs.get("limit") == 0):
        return f(*args, **kwargs)
    hint = "use print() or warnings.warn() for what it is to say"
    if f in _TRACEBACKS:
        raise StagedValueError(
            f"traceback.{f.__name__}() shows the lines of the program, which are not those that run", location=user_location(2),
            hint="use the exception itself (str, type, traceback.format_exception_only), or limit=0 for no lines",
        )  # fmt: skip
    raise done_once(f"{f.__module__.lstrip('_')}.{f.__name__}()", hint)


_TRACEBACKS: set[Any] = {
    traceback.print_exc, traceback.print_exception, traceback.print_last, traceback.print_stack, traceback.print_tb, traceback.print_list,
    traceback.format_exc, traceback.format_exception, traceback.format_stack, traceback.format_tb, traceback.extract_stack,
    traceback.extract_tb,
}  # fmt: skip
SHOWING: dict[Any, Callable] = {
    f: functools.partial(_shown_once, f) for f in (*_TRACEBACKS, warnings.warn_explicit, warnings.showwarning, sys.displayhook)
}


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
    said = [] if message is None else [message()]
    if said and not isinstance(said[0], str):  # the exception holds it as it is
        hub.raise_where(dispatch.ops.op("logical_not", X=test), AssertionError(*said))
        return ()
    parts, specs, tensors = texts(said) if said else ([], [], [])
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
