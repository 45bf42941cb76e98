"""What is a condition; ops with effects that users see: `assert`, `raise_if`, `print`, `log_message`, `warn`. Their texts: `message`."""

from __future__ import annotations

import builtins
import logging
import sys
import warnings
from typing import Any

import numpy as np

from .. import dims
from ..errors import AttributeValueError, DTypeError, GradientError, ShapeError, UndefinedError
from . import message
from .control import check_condition, scalar_bool
from .registry import Bool, Int, OpDef, Str, Strs, TensorType, register
from .sizes import one_element

EXCEPTIONS: dict[str, type[Exception]] = {
    e.__name__: e
    for e in (
        ArithmeticError, AssertionError, AttributeError, BufferError, EOFError, Exception, FileExistsError, FileNotFoundError,
        FloatingPointError, ImportError, IndexError, IsADirectoryError, KeyError, LookupError, MemoryError, ModuleNotFoundError, NameError,
        NotADirectoryError, NotImplementedError, OSError, OverflowError, PermissionError, RecursionError, ReferenceError, RuntimeError,
        StopAsyncIteration, StopIteration, SyntaxError, SystemError, TimeoutError, TypeError, UnboundLocalError, ValueError,
        ZeroDivisionError, AttributeValueError, DTypeError, GradientError, ShapeError, UndefinedError,
    )
}  # fmt: skip
"""What `raise_if` can raise: Python's own, and what functions and layers raise that look at sizes, or at what they are given, themselves.

A Program names an exception; the name chooses from this table and is never evaluated."""


@register
class AsCondition(OpDef):
    """A bool tensor as one without dims, which conditions are.

    Raises:
        ShapeError: it has not just one element.
    """

    type = "as_condition"
    inputs = ("X",)
    differentiable = False

    @staticmethod
    def infer(x: TensorType) -> TensorType:
        check_condition(x, "a branch or loop")
        for d in x.shape:
            dims.require_equal(d, 1, "the truth value of a tensor is ambiguous, which has a dim of another size than 1")
        return TensorType("bool", ())

    @staticmethod
    def reference(x: np.ndarray) -> np.ndarray:
        if x.dtype != np.bool_:
            AsCondition.infer(TensorType.of(x))
        return np.asarray(scalar_bool(x, "a tensor"))

    @staticmethod
    def lower(cx: Any, x: Any, out: Any) -> None:
        with cx.kernel([x], [out]) as (_, (x_ref,), (o,)):
            o[0] = x_ref[0]


@register
class Assert(OpDef):
    """Raises AssertionError, with the message that `parts` and the Data make (none without parts), unless Cond is true.

    Raises:
        AssertionError: Cond is false.
    """

    type = "assert"
    inputs = ("Cond", "Data*")
    outputs = ()
    attrs = {"parts": Strs(), "specs": Strs(), "summarize": Int(-1)}
    effect = True
    may_raise = True
    differentiable = False

    @staticmethod
    def infer(cond: TensorType, data: list, *, parts: list[str], specs: list[str], summarize: int) -> tuple:
        check_condition(cond, "assert")
        message.check("assert", parts, specs, len(data))
        return ()

    @staticmethod
    def reference(cond: np.ndarray, data: list[np.ndarray], *, parts: list[str], specs: list[str], summarize: int) -> tuple:
        Assert.infer(TensorType.of(cond), [None] * len(data), parts=parts, specs=specs, summarize=summarize)
        if not scalar_bool(cond, "an asserted condition"):
            raise AssertionError(*([message.compose(parts, specs, data)] if parts else []))
        return ()

    @staticmethod
    def lower(cx: Any, cond: Any, data: list, **_: Any) -> None:
        _fail_where(cx, cond, False)


@register
class RaiseIf(OpDef):
    """Raises the exception named `exception` (see `EXCEPTIONS`) if Cond is true."""

    type = "raise_if"
    inputs = ("Cond", "Data*")
    outputs = ()
    attrs = {"exception": Str("RuntimeError"), "parts": Strs(), "specs": Strs()}
    effect = True
    may_raise = True
    differentiable = False

    @staticmethod
    def infer(cond: TensorType, data: list, *, exception: str, parts: list[str], specs: list[str]) -> tuple:
        check_condition(cond, "raise_if")
        if exception not in EXCEPTIONS:
            raise AttributeValueError(f"raise_if: {exception!r} is no exception that a Program can raise")
        message.check("raise_if", parts, specs, len(data))
        return ()

    @staticmethod
    def reference(cond: np.ndarray, data: list[np.ndarray], *, exception: str, parts: list[str], specs: list[str]) -> tuple:
        RaiseIf.infer(TensorType.of(cond), [None] * len(data), exception=exception, parts=parts, specs=specs)
        if scalar_bool(cond, "a tensor"):
            raise EXCEPTIONS[exception](*([message.compose(parts, specs, data)] if parts else []))
        return ()

    @staticmethod
    def lower(cx: Any, cond: Any, data: list, **_: Any) -> None:
        _fail_where(cx, cond, True)


UNKNOWN = -1
"""The number of an exception of which nobody knows more than its text: that of a Program which was read from a file."""


class RaisedError(RuntimeError):
    """What a Program raises for an exception of a class that it does not know: a front end that does makes that of it.

    Attributes:
        number: which exception of the Program it is, or `UNKNOWN`.
        values: the values that the exception holds.
    """

    def __init__(self, text: str, number: int, values: list[np.ndarray]):
        super().__init__(text)
        self.number, self.values = number, values


@register
class RaiseObject(OpDef):
    """Raises RaisedError if Cond is true, with the values of Values, and the message that `parts` and the Data make."""

    type = "raise_object"
    inputs = ("Cond", "Data*", "Values*")
    outputs = ()
    attrs = {"number": Int(0), "parts": Strs(), "specs": Strs()}
    effect = True
    may_raise = True
    differentiable = False

    @staticmethod
    def infer(cond: TensorType, data: list, values: list, *, number: int, parts: list[str], specs: list[str]) -> tuple:
        check_condition(cond, "raise_object")
        message.check("raise_object", parts, specs, len(data))
        return ()

    @staticmethod
    def reference(cond: np.ndarray, data: list[np.ndarray], values: list[np.ndarray], *, number: int, parts: list[str],
                  specs: list[str]) -> tuple:  # fmt: skip
        RaiseObject.infer(TensorType.of(cond), [None] * len(data), [], number=number, parts=parts, specs=specs)
        if scalar_bool(cond, "a tensor"):
            raise RaisedError(message.compose(parts or [""], specs, data), number, values)
        return ()

    @staticmethod
    def lower(cx: Any, cond: Any, data: list, values: list, **_: Any) -> None:
        _fail_where(cx, cond, True)


def _fail_where(cx: Any, cond: Any, value: bool) -> None:
    with cx.kernel([cond], [], shapes=False) as (k, (c,), _):
        truth = one_element(k, c)
        k.fail_if(truth if value else ~truth)


@register
class Print(OpDef):
    """Prints the text that `parts` and the values of In make, then `end`; on standard output or standard error."""

    type = "print"
    inputs = ("In*",)
    outputs = ()
    attrs = {"parts": Strs([""]), "specs": Strs(), "end": Str("\n"), "stderr": Bool(False), "flush": Bool(False)}
    effect = True
    host = True
    differentiable = False

    @staticmethod
    def infer(values: list[TensorType], *, parts: list[str], specs: list[str], **_: Any) -> tuple:
        message.check("print", parts, specs, len(values))
        return ()

    @staticmethod
    def reference(values: list[np.ndarray], *, parts: list[str], specs: list[str], end: str, stderr: bool, flush: bool) -> tuple:
        message.check("print", parts, specs, len(values))
        if message.silence.on:
            return ()
        text = message.compose(parts, specs, values)
        message.say(lambda: print(text, end=end, file=sys.stderr if stderr else sys.stdout, flush=flush))
        return ()

    @staticmethod
    def lower(cx: Any, values: list, **_: Any) -> None:
        cx.host()


@register
class LogMessage(OpDef):
    """Logs the text that `parts` and the values of In make, with Python's `logging`: to a logger (the root for ""), at a level."""

    type = "log_message"
    inputs = ("In*",)
    outputs = ()
    attrs = {"parts": Strs([""]), "specs": Strs(), "logger": Str(), "level": Int(logging.INFO)}
    effect = True
    host = True
    differentiable = False

    @staticmethod
    def infer(values: list[TensorType], *, parts: list[str], specs: list[str], **_: Any) -> tuple:
        message.check("log_message", parts, specs, len(values))
        return ()

    @staticmethod
    def reference(values: list[np.ndarray], *, parts: list[str], specs: list[str], logger: str, level: int) -> tuple:
        message.check("log_message", parts, specs, len(values))
        if message.silence.on:
            return ()
        target = logging.getLogger(logger or None)
        if target.isEnabledFor(level):
            text = message.compose(parts, specs, values)
            message.say(lambda: target.log(level, "%s", text))
        return ()

    @staticmethod
    def lower(cx: Any, values: list, **_: Any) -> None:
        cx.host()


@register
class Warn(OpDef):
    """Warns, with Python's `warnings`, with the text that `parts` and the values of In make.

    `category`: the name of one of Python's classes of warnings. `file`, `line`: the place that is warned of; a filter that shows each place
    once shows it once in a process.
    """

    type = "warn"
    inputs = ("In*",)
    outputs = ()
    attrs = {"parts": Strs([""]), "specs": Strs(), "category": Str("UserWarning"), "file": Str(), "line": Int(0)}
    effect = True
    host = True
    differentiable = False

    @staticmethod
    def infer(values: list[TensorType], *, parts: list[str], specs: list[str], category: str, **_: Any) -> tuple:
        message.check("warn", parts, specs, len(values))
        _category(category)
        return ()

    @staticmethod
    def reference(values: list[np.ndarray], *, parts: list[str], specs: list[str], category: str, file: str, line: int) -> tuple:
        message.check("warn", parts, specs, len(values))
        if message.silence.on:
            return ()
        shown = _shown.setdefault(file, {})
        text = message.compose(parts, specs, values)
        message.say(lambda: warnings.warn_explicit(text, _category(category), file, line, registry=shown))
        return ()

    @staticmethod
    def lower(cx: Any, values: list, **_: Any) -> None:
        cx.host()


_shown: dict[str, dict] = {}
"""What `warnings` remembers for each file, as it does for a module."""


def _category(name: str) -> type[Warning]:
    found = getattr(builtins, name, None)
    if not (isinstance(found, type) and issubclass(found, Warning)):
        raise AttributeValueError(f"warn: {name!r} is no class of Python's warnings", hint="use UserWarning")
    return found
