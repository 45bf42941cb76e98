"""With which sizes a function is traced: open where that works, as one trace then serves them all; else fixed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from dy2st_runtime import dims

from ..convert.regions.recording import TooLongError
from ..errors import Dy2stError, LeakError, Location
from ..tensor import Tensor
from ..transpiler import ConversionError
from .concrete import ConcreteProgram
from .signature import first_shape, widen

_T = TypeVar("_T")
_FEW = 4
"""Tensors with open dims up to which it is tried to fix the sizes of one of them only."""
_MANY_OPS = 20_000
"""Ops of a trace with fixed sizes, whose loops are unrolled, beyond which the error of the trace with open ones is of more use."""


@dataclass(frozen=True)
class Sizes:
    """The shapes to trace the fed tensors with (-1 = open).

    Attributes:
        outside: whether tensors of the outside whose sizes have changed are open too.
        limit: of the number of ops; None: any.
    """

    shapes: list[tuple[int, ...]]
    outside: bool = True
    limit: int | None = None


def choices(tensors: Sequence[Tensor], group: Sequence[ConcreteProgram]) -> list[Sizes]:
    """What to try, in this order: all dims open in which calls have differed; the first ones only; those of all tensors
    but one; none.

    Args:
        group: the traces that there are of the same function for arguments of the same kind.
    """
    first = [first_shape(t) for t in tensors]
    wide = first
    for concrete in group:
        wide = [widen(w, t) for w, t in zip(wide, tensors, strict=True)]
        wide = [tuple(d if d == e else -1 for d, e in zip(w, s, strict=True))
                for w, s in zip(wide, concrete.shapes, strict=True)]  # fmt: skip
    fixed = [tuple(t._value.shape) for t in tensors]
    tried = [wide, first]
    opened = [i for i, shape in enumerate(wide) if -1 in shape]
    if 1 < len(opened) <= _FEW:
        tried += [[fixed[j] if i == j else shape for i, shape in enumerate(wide)] for j in opened]
    tried.append(fixed)
    found = [Sizes(wide)]
    for shapes in tried:
        if all(shapes != s.shapes for s in found):
            found.append(Sizes(shapes, outside=False, limit=_MANY_OPS))
    return found


def first_that_works(trace: Callable[[Sizes], _T], found: Sequence[Sizes]) -> tuple[_T, Dy2stError | None]:
    """The result of the first of these that can be traced, and the error of the one before it.

    Raises:
        the error of the last one: it is about the code and not about sizes.
    """
    previous: Dy2stError | None = None
    for sizes in found:
        try:
            made = trace(sizes)
        except (LeakError, ConversionError) as error:  # no matter of sizes; or of what an earlier trace has left where nobody looks
            raise previous or error from None
        except TooLongError:
            continue
        except Dy2stError as error:
            previous = error
        else:
            if previous is not None:  # it is kept for its words: not with the frames of a trace that was thrown away
                previous.__traceback__ = previous.__context__ = None
            return made, previous
    assert previous is not None
    raise previous


def squeezes_decided(concrete: ConcreteProgram, trace: Callable[[Sizes], ConcreteProgram], fixed: Sizes) -> set[Location | None]:
    """Where a trace with open sizes drops an axis that stays with the sizes of the call, as these are not 1: a matter of how many dims
    there are, so that one trace cannot serve all sizes. Where only the run knows the size of such an axis, this does not tell."""
    if not concrete.squeezes.open or concrete.shapes == fixed.shapes:
        return set()
    try:
        return concrete.squeezes.open & trace(fixed).squeezes.kept
    except Exception:  # what the user's code raises for these sizes, the run raises, behind all that it does before
        return set()


def shown(concrete: ConcreteProgram) -> str:
    """The inputs of a trace with their shapes, as text."""
    return ", ".join(f"{v.name}: {dims.show(v.shape)}" for v in concrete.inputs)
