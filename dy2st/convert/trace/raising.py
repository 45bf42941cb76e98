"""Exceptions that the user's code raises while it is traced, as what the Program raises."""

from __future__ import annotations

import dis
import re
from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

from dy2st_runtime.errors import Location
from dy2st_runtime.ir import Block, IRBuilder
from dy2st_runtime.ir.visit import has_effect, may_raise
from dy2st_runtime.ops.check import EXCEPTIONS
from dy2st_runtime.passes.shapes import may_differ

from ...errors import (
    CompileError,
    DivisionError,
    Dy2stError,
    GradientError,
    LeakError,
    ModeError,
    OutOfRangeError,
    StagedValueError,
    StructureError,
    UndefinedError,
    VerifyError,
)
from ...tensor import Tensor
from ...tensor.location import path_of, user_location
from ...tensor.promotion import no_number
from ...transpiler import ConversionError, locate
from .. import hub, roles
from ..hub import current_tracer, need_tracer
from ..pyfacts.breakpoints import is_quit
from ..pyfacts.python_frames import is_statement
from ..regions.recording import TooLongError
from ..values.maybe_value import MaybeObject, MaybeValue
from ..values.one_of import OneOf, choose
from ..values.symbolic_texts import ESCAPED, texts
from .exception_objects import Again, again, holds_staged

if TYPE_CHECKING:
    from .tracer import Tracer

if TYPE_CHECKING:
    from .tracer import Tracer

# what a function of Python raises in its converted form too, and an error of this package would not be
_OF_FUNCTIONS = (AssertionError, IndexError, KeyError, ValueError, ZeroDivisionError, OverflowError, StopIteration)
# what Python says there of a value that can never do what is asked of it
_OF_VALUES = re.compile(
    r"'\w+' object (is not (iterable|an iterator|reversible|callable|subscriptable)|does not support item assignment)"
    r"|object of type '\w+' has no len\(\)"
    r"|'[<>]=?' not supported between instances of '\w+' and '\w+'"
)

# classes of values while a function is traced, and what they are to the user
_STANDS_FOR = {
    "OneOf": "one of several objects, as only the run knows",
    "StagedList": "a list whose length only the run knows",
    "RecordList": "a list whose length only the run knows",
    "StagedDict": "a dict of which only the run knows the keys",
    "StagedView": "a view of a dict of which only the run knows the keys",
    "StagedRange": "a range() with an end that only the run knows",
    "Staged": "something whose length only the run knows",
    "Generator": "a generator expression over something whose length only the run knows",
    "MaybeNone": "a value that is None in some runs, as only the run knows",
    "MaybeValue": "a value that is None in some runs, as only the run knows",
    "MaybeObject": "an object that a variable holds in some runs only",
    "MaybeAttribute": "an attribute that an object has in some runs only",
}
_AS_A_NUMBER = re.compile(r"(__(?:index|int|float)__) returned non-(?:int|float) \(type Tensor\)")
_NAMED = re.compile(rf"\b({'|'.join(_STANDS_FOR)})\b")


def refusal(error: BaseException) -> StagedValueError | None:
    """What stands for an exception of Python's that names the class which a value has while it is traced; None for others."""
    if type(error) not in (TypeError, AttributeError):
        return None
    number = getattr(error, "obj", None)
    if isinstance(number, Tensor) and number._weak and type(error) is AttributeError and _of_numbers(error.name):
        return StagedValueError(
            f"a number that only the run knows has no attribute {error.name!r} here", location=path_of(error),
            hint="compute it with operators, or with the functions of math or of tensors",
        )  # fmt: skip
    if asked := _AS_A_NUMBER.search(str(error)):
        return StagedValueError(
            f"{asked[1]}() of an object gives a number that only the run knows, where Python asks for it", location=path_of(error),
            hint="index a list, or call range(), int() and the like, with the number itself",
        )  # fmt: skip
    named = _NAMED.search(str(error))
    if named is None:
        return None
    return StagedValueError(
        f"{_STANDS_FOR[named[1]]}, cannot be used so; Python says: {error}", location=path_of(error),
        hint="do it in the branches that make the value, where Python knows it, or with tensors",
    )  # fmt: skip


def _of_numbers(name: str | None) -> bool:
    return name is not None and (hasattr(int, name) or hasattr(float, name))


def stage_raise(tracer: Tracer, block: Block, error: Exception) -> None:
    """Ends a branch with the exception that its code raised while it was traced: the run that takes it raises the same.

    Raises:
        the exception itself, if it is not one that the user's code raised: what cannot be staged is an error at once.
    """
    location = tracer.tries.place(error)
    if location is None:
        raise error
    tracer.tries.require_unobserved(location, type(error))
    append_raise(tracer, block, error, location)


def require_exception(error: BaseException) -> None:
    """StagedValueError for what users raise that is no Exception, as SystemExit: a run cannot end by it, and the trace is not to."""
    if isinstance(error, (Exception, KeyboardInterrupt, GeneratorExit)) or type(error).__module__.partition(".")[0] == "dy2st":
        return
    raise no_exception(type(error), path_of(error)) from error


def no_exception(kind: type, location: Location | None) -> StagedValueError:
    """The error of a `raise` of what is no Exception."""
    return StagedValueError(
        f"{kind.__name__} is raised under a condition on tensors, and is no Exception", location=location,
        hint="raise an Exception, or return what says that the program is to end, and end it outside",
    )  # fmt: skip


def stage_last_raise(tracer: Tracer, error: Exception) -> bool:
    """Ends the whole trace with the exception that the user's code raised; False if the caller can as well raise it at once.

    What the function prints and checks before comes before it, and its message may be one that only the run knows.
    """
    location = tracer.tries.place(error)
    if location is None:
        return False
    block = tracer.block
    if not holds_staged(error) and not any(has_effect(op) or may_raise(op, block) for op in block.ops) and not _may_differ(tracer):
        return False
    append_raise(tracer, block, error, location)
    return True


def _may_differ(tracer: Tracer) -> bool:
    """Whether an op may fail because of sizes before."""
    found = may_differ(tracer.program)
    return any(id(op) in found for op in tracer.block.ops)


def exception(x: Any) -> Any:
    """What `raise x` raises; one of several exceptions is raised here, in a branch for each.

    Raises:
        StagedValueError: only the run knows whether there is one.
    """
    if isinstance(x, OneOf):
        location = user_location()
        choose(x, lambda one: _raise(exception(one), location))
    if isinstance(x, (MaybeValue, MaybeObject)):
        raise StagedValueError(
            "which exception is raised here, or whether there is one, is only known when the program runs", location=user_location(),
            hint="raise it in the branch or the handler where it is made, or keep a flag and make it here",
        )  # fmt: skip
    kind = x if isinstance(x, type) else type(x)
    tracer = current_tracer()
    # which Python itself raises where it likes, and then they go through
    if tracer is not None and tracer.frames and issubclass(kind, (KeyboardInterrupt, GeneratorExit)):
        raise no_exception(kind, user_location())
    return x


def _raise(x: Any, location: Location | None) -> NoReturn:
    """Raises an exception for the user's code, which is at this place."""
    error = x() if isinstance(x, type) and issubclass(x, BaseException) else x
    if not isinstance(error, BaseException):
        error = TypeError("exceptions must derive from BaseException")
    if isinstance(error, Exception):
        need_tracer("an exception").tries.know_place(error, location)
    raise error


def caused(x: Any, cause: Any, is_new: bool) -> Any:
    """What `raise x from cause` raises, with its cause.

    Args:
        is_new: x is a call, which makes an exception.

    Raises:
        StagedValueError: only the run knows whether the cause is there.
    """
    location = user_location()
    if isinstance(x, OneOf):
        choose(x, lambda one: _raise(caused(one, cause, is_new), location))
    if isinstance(cause, OneOf):
        choose(cause, lambda one: _raise(caused(again(x) if isinstance(x, Exception) else x, one, True), location))
    if isinstance(cause, (MaybeValue, MaybeObject)):
        raise StagedValueError(
            "whether there is an exception that this one is raised from is only known when the program runs",
            location=location, hint="raise it in the handler of the other one, or say in its message what the other one was",
        )  # fmt: skip
    is_new = is_new or isinstance(x, type)
    x, cause = (one() if isinstance(one, type) and issubclass(one, BaseException) else one for one in (x, cause))
    if isinstance(x, BaseException):
        if not isinstance(cause, BaseException | None):
            raise TypeError("exception causes must derive from BaseException")
        tracer = current_tracer()
        if tracer is not None and not is_new:
            tracer.tries.causes.note(x, tracer.block)
        x.__cause__ = cause
    return exception(x)


@hub.primitive
def raise_where(test: Tensor, error: Exception) -> None:
    """Where a bool tensor with one element is true, the run raises an exception, as the line would at which the user's program is."""
    tracer, location = need_tracer("an exception"), user_location(2)
    assert location is not None
    if not tracer.tries.caught(test, error, location):
        append_raise(tracer, tracer.block, error, location, test)


def append_raise(tracer: Tracer, block: Block, error: Exception, location: Location, test: Tensor | None = None) -> None:
    """Appends the op that raises an exception to a block, if that does not end with it yet; with `test`, where this is true."""
    if tracer.ended.get(id(error), (None, None))[1] is block:
        return
    tracer.tries.causes.require(error, block)
    with tracer.inside(block):
        path = path_of(error)
        builder = IRBuilder(block, path if path is not None and path[:2] == location[:2] else location)
        cond = builder.op("fill_constant", shape=[], dtype="bool", value=1.0) if test is None else tracer.lift(test)
        if EXCEPTIONS.get(type(error).__name__) is type(error) and _is_message(error):
            parts, specs, tensors = texts([str(error.args[0])]) if error.args else ([], [], [])
            data = [tracer.lift(t) for t in tensors]
            builder.op("raise_if", Cond=cond, Data=data, exception=type(error).__name__, parts=parts, specs=specs)
            return
        again = Again(tracer, error, location)
        parts, specs, tensors = texts([again.text])
        tracer.raised.append(again)
        builder.op("raise_object", Cond=cond, Data=[tracer.lift(t) for t in tensors], Values=[tracer.lift(t) for t in again.tensors],
                   number=len(tracer.raised) - 1, parts=parts, specs=specs)  # fmt: skip


def _is_message(error: Exception) -> bool:
    """Whether all that there is of an exception is its message."""
    plain = (not vars(error) or isinstance(error, UndefinedError)) and error.__cause__ is None
    return plain and (not error.args or (len(error.args) == 1 and isinstance(error.args[0], str)))


def raised_at(error: Exception) -> Location | None:
    """Where the user's code raises an exception, itself or in a function that it calls; None if something else does."""
    if isinstance(error, Dy2stError):
        # what the values are to blame for, whoever computes with them; all others say what cannot be traced
        return error.location if isinstance(error, (OutOfRangeError, DivisionError)) else None
    if refusal(error) is not None:
        return None
    location = place = None
    stands = False
    frames = list(_frames(error.__traceback__))
    last = frames[-1] if frames else None
    if last is not None and (_fails(last) or (type(error) is AssertionError and _is_own_assertion(last))):
        return None
    acts = last is not None and _acts_for_the_user(last)
    of_function = (
        type(error) in _OF_FUNCTIONS
        or (type(error) is TypeError and _OF_VALUES.match(str(error)))
        or acts
        or (type(error) is AttributeError and last is not None and last.tb_frame.f_code.co_name == "__getattr__")  # of a layer
    )
    for tb in frames:
        at, stands = locate(tb), is_statement(tb.tb_frame.f_code)
        place = at or place
        if at is not None or not of_function:
            location = at
    if stands or (acts and place is None):  # `a < b <= c` goes on where no code of the user's runs
        return place or user_location(2)
    return location


@hub.primitive
def is_of_python(error: Exception) -> bool:
    """Whether an exception is what Python says of an operation or a call on the line that runs, and not raised by code of the user's."""
    frames = list(_frames(error.__traceback__))
    if isinstance(error, Dy2stError) or refusal(error) is not None or any(locate(tb) is not None for tb in frames):
        return False
    return is_statement(frames[-1].tb_frame.f_code) or _acts_for_the_user(frames[-1])


def _frames(tb: TracebackType | None) -> Iterator[TracebackType]:
    """The frames of a traceback, from the outside in."""
    while tb is not None:
        yield tb
        tb = tb.tb_next


_PACKAGES = ("dy2st", "dy2st_runtime")


def _is_own_assertion(tb: TracebackType) -> bool:
    """Whether it is code of this package that asserts something, other than what runs the user's `assert`."""
    frame = tb.tb_frame
    return str(frame.f_globals.get("__name__")).partition(".")[0] in _PACKAGES and frame.f_code.co_name != "assert_stmt"


def _acts_for_the_user(tb: TracebackType) -> bool:
    """Whether an exception comes from what does what the user's line asks for: a function of a library, or what stands for one."""
    names, code = tb.tb_frame.f_globals, tb.tb_frame.f_code
    package = (names.get("__name__") or "").partition(".")[0]
    return package not in _PACKAGES or names.get("ROLE") == roles.ACTING or code in roles.calling or code is no_number.__code__


def _fails(tb: TracebackType) -> bool:
    """Whether an exception comes from bookkeeping that does not raise it itself."""
    names, code = tb.tb_frame.f_globals, tb.tb_frame.f_code
    package = (names.get("__name__") or "").partition(".")[0]
    is_ours = package in _PACKAGES and names.get("ROLE") == roles.BOOKKEEPING and code not in roles.calling
    return is_ours and dis.opname[code.co_code[tb.tb_lasti]] != "RAISE_VARARGS"


# what cannot be traced; all else is raised eagerly too
_OF_TRACING = (
    CompileError, ConversionError, GradientError, LeakError, ModeError, StagedValueError, StructureError, TooLongError, VerifyError,
)  # fmt: skip


def is_of_tracing(error: BaseException) -> bool:
    """Whether eager mode knows nothing of an exception, so that no handler of the user's is meant."""
    own = is_quit(error) or (not isinstance(error, Exception) and type(error).__module__.startswith("dy2st."))
    if isinstance(error, Dy2stError) and ESCAPED.search(error.message):
        return True  # which says of a text that only the run knows that it is no dtype, say
    return own or isinstance(error, _OF_TRACING) or "of_tracing" in vars(error) or refusal(error) is not None
