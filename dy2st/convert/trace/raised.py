"""`Raised`: an exception that only the run knows to be raised, as code behind it knows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from dy2st_runtime.errors import Location
from dy2st_runtime.ir import Block, Variable
from dy2st_runtime.ir.visit import may_raise
from dy2st_runtime.ops.check import EXCEPTIONS, UNKNOWN, RaisedError

from ...errors import DTypeError, IntegerRangeError, StructureError
from ...tensor import Tensor, dispatch
from ...tensor.dispatch import ops
from ..effects.cells import Cell, TensorCell
from ..effects.may_alias import is_inside
from ..effects.region_frames import Frame
from ..hub import renamed
from ..regions.region_objects import RegionObjects
from .exception_objects import Parts

if TYPE_CHECKING:
    from .tracer import Tracer

# what ops raise because of values, unless they say it themselves
_BY_VALUE = (IndexError, ZeroDivisionError, ValueError, OverflowError)


class Raised:
    """An exception that the run may raise, as code behind it knows it.

    Attributes:
        flag: whether it is raised: True, or a bool tensor that the current block can read.
        parts: what the exception held there.
        state: what the variables of the `try` were there.
        cells: what else had changed there or changes later, with the values that it had.
        copied: the contents of the objects of which these have copies: what becomes of the objects is nothing to handlers.
        lent: copies of objects that lists of dynamic length have as entries, by value: they must stay as they are, too.
    """

    def __init__(self, tracer: Tracer, error: Exception, flag: Any):
        tracer.tries.causes.require(error, tracer.block)
        self.tracer, self.error, self.flag = tracer, error, flag
        self.parts = Parts(tracer, error)
        self.state: tuple | None = None
        self.cells: dict[tuple, tuple[Cell, Any]] = {}
        self.copied: list[Any] = []
        self.lent: list[Any] = []
        tracer.to_handle.append(self)

    def held(self) -> list[Any]:
        """All values that handlers may ask for."""
        return [*self.parts.marked, *self.parts.values, *(self.state or ()), *(value for _, value in self.cells.values())]

    def hold(self, values: Sequence[Any]) -> None:
        """Other values in the place of these, as a block around knows them."""
        rest = iter(values)
        self.parts.hold(rest)
        self.state = tuple(next(rest) for _ in self.state or ())
        self.cells = {key: (cell, next(rest)) for key, (cell, _) in self.cells.items()}

    def note(self, key: tuple, cell: Cell) -> None:
        """A cell is about to change behind this."""
        if not self.has_copy(cell):
            self.cells.setdefault(key, (cell, cell.read()))

    def has_copy(self, cell: Cell) -> bool:
        """Whether handlers see a copy of the object that the cell is part of."""
        return any(cell.target is contents for contents in self.copied)

    def forget(self, frame: Frame) -> None:
        """What was made in a frame ends with it; the variables have copies of it."""
        made = RegionObjects(self.tracer, frame)

        def lasts(cell: Cell) -> bool:
            return not made.holds(cell.target) if isinstance(cell, TensorCell) else cell.target in frame.containers

        self.cells = {key: found for key, found in self.cells.items() if lasts(found[0])}

    def leave(self, blocks: Sequence[Block]) -> None:
        """The blocks of a branch have come to their end, and with them the tensors that were made in them."""

        def lasts(cell: Cell) -> bool:
            v = cell.target._value if isinstance(cell, TensorCell) else None
            return not isinstance(v, Variable) or not any(is_inside(v.block, b) for b in blocks)

        self.cells = {key: found for key, found in self.cells.items() if lasts(found[0])}


class NoWayOn(BaseException):
    """All paths raise: there is nothing behind. Whoever collects what is raised catches it."""

    def __init__(self, raised: list[Raised]):
        self.raised = raised


class MayRaise(Exception):
    """What was tried out may raise when it runs."""


def refused(what: str, location: Location | None) -> StructureError:
    return StructureError(
        f"a try statement cannot catch what only the run knows to be raised {what}", location=location,
        hint="test for it with if, and compute the other value there",
    )  # fmt: skip


def scalar(flag: Any) -> Any:
    """A flag as a 0-d tensor, also if it is a bool of Python."""
    if not isinstance(flag, Tensor):
        return dispatch.constant(np.asarray(flag))
    return renamed(flag if flag.ndim == 0 else ops.op("reshape2", X=flag, shape=[]))


def any_of(raised: Sequence[Raised]) -> Tensor:
    """Whether one of these is raised."""
    return reduce(lambda a, b: ops.op("logical_or", X=a, Y=b), [scalar(r.flag) for r in raised])


def exceptions_of(op_type: str, exception: str | None) -> Sequence[type[Exception]]:
    """What an op may raise: `exception` is the name that a `raise_if` has."""
    if op_type == "assert":
        return (AssertionError,)
    if op_type == "fitted_int":
        return (DTypeError, IntegerRangeError)
    return _BY_VALUE if exception is None else (EXCEPTIONS[exception],)


def raised_in(tracer: Tracer, block: Block, around: Sequence[Block] = ()) -> Iterator[type[BaseException]]:
    """The classes of what the run may raise in a block, in those inside it, or in functions of the Program that it calls."""
    around = (*around, block)
    for op in block.ops:
        called = [] if op.function is None or op.function.block is None else [op.function.block]
        for inner in (*op.blocks, *called):
            if all(inner is not b for b in around):
                yield from raised_in(tracer, inner, around)
        if op.function is not None:
            continue
        if op.type == "raise_object":
            number = op.attrs["number"]
            yield RaisedError if number == UNKNOWN else type(tracer.raised[number].error)
        elif op.record.may_raise and may_raise(op, block):
            yield from exceptions_of(op.type, op.attrs.get("exception"))
