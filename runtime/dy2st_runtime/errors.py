"""The errors of the runtime and the one formatter that prints them.

Every error carries a code, what was wrong in the user's terms, the user's
location where one is known, and what to change. Each concrete class also derives from the
built-in exception that eager Python would raise, so ``except ValueError`` keeps
working after a model is decorated.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator, Sequence
from typing import NamedTuple


class Location(NamedTuple):
    """A place in the user's source. Lines count from 1, columns from 0. `caller`: the place of the call that led there."""

    file: str
    line: int
    col: int = 0
    end_col: int | None = None
    function: str = ""
    text: str = ""
    caller: Location | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.col + 1}"

    def excerpt(self) -> str:
        """The header, the source line and a caret under the column (empty text: header only)."""
        where = f"  {self} in {self.function}" if self.function else f"  {self}"
        text = self.text.rstrip("\n")
        if not text.strip():
            return where
        stripped = text.lstrip()
        start = max(self.col - (len(text) - len(stripped)), 0)
        stop = self.end_col if self.end_col is not None and self.end_col > self.col else self.col + 1
        width = max(min(stop - self.col, len(stripped) - start), 1)
        return f"{where}\n    {stripped}\n    {' ' * start}{'^' * width}"


def here(depth: int = 1) -> Location | None:
    """Where the user's program is; the front end, which knows what is the user's, puts its own function in this place."""
    return None


class _Recorded(threading.local):
    errors: list[Dy2stError] | None = None


_recorded = _Recorded()


@contextlib.contextmanager
def recorded_errors() -> Iterator[list[Dy2stError]]:
    """Within this `with`, the list gets all errors of dy2st that this thread makes, also those that somebody catches."""
    before, _recorded.errors = _recorded.errors, []
    try:
        yield _recorded.errors
    finally:
        if before is not None:
            before += _recorded.errors
        _recorded.errors = before


class Dy2stError(Exception):
    """Base of all errors of dy2st.

    Args:
        message: what was wrong, in the user's terms, one sentence.
        location: the user's source line, if known. Else it is where the user's program is now, until `at` says better.
        hint: what to change, one sentence.

    Attributes:
        is_located: the location is that of the cause, not only of where the program was when the error arose.
        operands: the inputs of the op that does not take them, as text.
    """

    code = "D2S000"

    def __init__(self, message: str, *, location: Location | None = None, hint: str | None = None):
        super().__init__(message)
        self.message = message
        self.is_located = location is not None
        self.location = here(2) if location is None else location
        self.hint = hint
        self.operands: str | None = None
        if _recorded.errors is not None:
            _recorded.errors.append(self)

    def __str__(self) -> str:
        parts = [f"[{self.code}] {self.message}"]
        if self.location is not None:
            parts.append(self.location.excerpt())
        if self.operands:
            parts.append(f"  operands: {self.operands}")
        if self.hint:
            parts.append(f"  hint: {self.hint}")
        return "\n".join(parts)

    def at(self, location: Location | None) -> Dy2stError:
        """Says where the cause is, unless that is already known; returns self."""
        if not self.is_located and location is not None:
            self.location, self.is_located = location, True
        return self

    def of(self, operands: Sequence[tuple[str, str, str]]) -> Dy2stError:
        """Says what an op was given, as name, dtype and shape, unless the message or an inner op has said it; returns self."""
        if self.operands is None and not all(shape in self.message for _, _, shape in operands):
            self.operands = ", ".join(f"{name} {dtype}{shape}" for name, dtype, shape in operands)
        return self


class ShapeError(Dy2stError, ValueError):
    """Shapes of operands do not fit an operation."""

    code = "D2S001"


class DTypeError(Dy2stError, TypeError):
    """Dtypes of operands do not fit an operation."""

    code = "D2S002"


class AttributeValueError(Dy2stError, ValueError):
    """An attribute of an operation (an axis, a padding, ...) has a value it cannot have."""

    code = "D2S003"


class OutOfRangeError(Dy2stError, IndexError):
    """An index lies outside the tensor at run time."""

    code = "D2S004"


class FeedError(Dy2stError, ValueError):
    """A feed is missing, unknown, or has a wrong dtype or shape."""

    code = "D2S005"


class FetchError(Dy2stError, ValueError):
    """A fetch names a variable that the program does not have, or that has no value."""

    code = "D2S006"


class ScopeError(Dy2stError, KeyError):
    """A variable has no value in the scope (the startup program was not run, say)."""

    code = "D2S007"

    __str__ = Dy2stError.__str__


class UnknownOpError(Dy2stError, NotImplementedError):
    """No op of this name is registered."""

    code = "D2S008"


class GradientError(Dy2stError, RuntimeError):
    """A gradient was asked for where there is none."""

    code = "D2S009"


class VerifyError(Dy2stError, AssertionError):
    """A Program breaks a rule of the IR: a bug in a pass, or a malformed model file."""

    code = "D2S010"


class FormatError(Dy2stError, ValueError):
    """A model file is truncated, malformed, or of an unsupported version."""

    code = "D2S011"


class DeviceError(Dy2stError, RuntimeError):
    """The place asked for is not available on this machine."""

    code = "D2S012"


class DivisionError(Dy2stError, ZeroDivisionError):
    """An integer was divided by zero at run time."""

    code = "D2S013"


class UndefinedError(Dy2stError, UnboundLocalError):
    """A variable is read on a path that did not set it."""

    code = "D2S014"


class IntegerRangeError(Dy2stError, OverflowError):
    """An integer does not fit into the dtype that it gets; a Python int that depends on tensors, into 64 bits."""

    code = "D2S016"


class RecursionLimitError(Dy2stError, RecursionError):
    """A function calls itself more often than the limit allows."""

    code = "D2S017"


class NonFiniteError(Dy2stError, FloatingPointError):
    """An op makes a NaN or an infinity, and `FLAGS_check_nan_inf` asks for that."""

    code = "D2S018"


class CompileError(Dy2stError, RuntimeError):
    """A kernel could not be compiled: a bug in dy2st, with the generated source at hand."""

    code = "D2S015"


class CustomOpError(CompileError):
    """The kernel of a custom op could not be compiled, or gives something else than `infer` says."""

    code = "D2S019"


def with_location(error: BaseException, location: Location | None) -> BaseException:
    """Attaches the user's location to any exception; the type and the message stay as they are.

    Python 3.11 prints notes below the message. Python 3.10 does not know notes, so there they are
    only kept in ``__notes__``.
    """
    if location is None:
        return error
    if isinstance(error, Dy2stError):
        return error.at(location)
    return with_note(error, _Place(location))


def with_note(error: BaseException, note: str) -> BaseException:
    """Attaches a note to an exception, once."""
    notes = list(getattr(error, "__notes__", ()))
    if note not in notes:
        error.__notes__ = [*notes, note]  # type: ignore[attr-defined]
    return error


def location_of(error: BaseException) -> Location | None:
    """The location that `with_location` gave an exception."""
    if isinstance(error, Dy2stError):
        return error.location
    return next((note.location for note in getattr(error, "__notes__", ()) if isinstance(note, _Place)), None)


class _Place(str):
    """The note that shows a location, and knows it."""

    location: Location

    def __new__(cls, location: Location) -> _Place:
        note = super().__new__(cls, location.excerpt())
        note.location = location
        return note


def shorten_path(path: str) -> str:
    """The path relative to the working folder if it lies below it, else as it is."""
    relative = os.path.relpath(path) if os.path.isabs(path) else path
    return path if relative.startswith("..") else relative
