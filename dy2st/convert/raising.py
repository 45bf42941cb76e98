"""Exceptions that the user's code raises while it is traced, as what the Program raises."""

from __future__ import annotations

from dy2st_runtime.errors import Location
from dy2st_runtime.ir import Block, IRBuilder
from dy2st_runtime.ir.visit import has_effect, may_raise
from dy2st_runtime.ops.check import EXCEPTIONS

from ..errors import Dy2stError, StructureError
from ..transpiler import locate
from .printing import texts
from .texts import MARK
from .tracer import Tracer
from .tries import require_uncaught

# what a function of Python raises in its converted form too, and an error of this package would not be
_OF_FUNCTIONS = (AssertionError, IndexError, ValueError, ZeroDivisionError, OverflowError)


def stage_raise(tracer: Tracer, block: Block, error: Exception) -> None:
    """Ends a branch with the exception that its code raised while it was traced: the run that takes it raises the same.

    Raises:
        the exception itself, if it is not one that the user's code raised: what cannot be staged is an error at once.
    """
    location = _raised_at(error)
    if location is None:
        raise error
    obstacle = _obstacle(error)
    if obstacle is not None:
        what, hint = obstacle
        raise StructureError(
            f"{what} cannot be raised under a condition that depends on a tensor", location=location, hint=hint
        ) from error
    require_uncaught((type(error),), location)
    _append(tracer, block, error, location)


def stage_last_raise(tracer: Tracer, error: Exception) -> bool:
    """Ends the whole trace with the exception that the user's code raised; False if the caller can as well raise it at once.

    What the function prints and checks before comes before it, and its message may be one that only the run knows.

    Raises:
        StructureError: such a message is of an exception that a Program cannot raise.
    """
    location = _raised_at(error)
    if location is None:
        return False
    marked = any(isinstance(a, str) and MARK.search(a) for a in error.args)
    obstacle = _obstacle(error)
    if obstacle is not None:
        if not marked:
            return False
        what, hint = obstacle
        raise StructureError(
            f"the message of what is raised has values of tensors in it, and {what} cannot be raised at run time",
            location=location, hint=hint,
        ) from error  # fmt: skip
    block = tracer.block
    if not marked and not any(has_effect(op) or may_raise(op, block) for op in block.ops):
        return False
    _append(tracer, block, error, location)
    return True


def _obstacle(error: Exception) -> tuple[str, str] | None:
    """What a Program cannot raise of an exception, and a hint; None if it can."""
    name = type(error).__name__
    if EXCEPTIONS.get(name) is not type(error):
        return name, "only Python's built-in exceptions can: raise ValueError or RuntimeError, say"
    if len(error.args) > 1:
        return f"{name} with several arguments", "make one message of them"
    return None


def _append(tracer: Tracer, block: Block, error: Exception, location: Location) -> None:
    with tracer.inside(block):
        text = error.args[0] if error.args and isinstance(error.args[0], str) else str(error)
        parts, specs, tensors = texts([text]) if error.args else ([], [], [])
        builder = IRBuilder(block, location)
        always = builder.op("fill_constant", shape=[], dtype="bool", value=1.0)
        data = [tracer.lift(t) for t in tensors]
        builder.op("raise_if", Cond=always, Data=data, exception=type(error).__name__, parts=parts, specs=specs)


def _raised_at(error: Exception) -> Location | None:
    """Where the user's code raises an exception, itself or in a function of Python that it calls; None if something else does."""
    if isinstance(error, Dy2stError):
        return None
    location, tb = None, error.__traceback__
    while tb is not None:
        at = locate(tb)
        if at is not None or type(error) not in _OF_FUNCTIONS:
            location = at
        tb = tb.tb_next
    return location
