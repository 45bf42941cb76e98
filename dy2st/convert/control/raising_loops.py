"""Loops in the body of a `try` in whose iterations the run may raise something that is caught outside of them."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import StructureError
from ...tensor import Tensor, dispatch
from ..pyfacts.undefined import Unread
from ..regions.region_objects import RegionObjects, is_changeable
from ..trace.raised import Raised, scalar
from ..values.containers import is_container
from ..values.staged_dict import StagedDict
from .if_stmt import if_expr, truth
from .loop_cache import TRIALS

if TYPE_CHECKING:
    from .while_stmt import Loop


# so many trials of a loop may not know yet what varies
_EARLY = 3


class Raises(BaseException):
    """The run may raise something in an iteration, which ends the loop."""

    def __init__(self, raised: list[Raised]):
        self.raised = raised

    @property
    def shape(self) -> list[tuple]:
        """What is to be known about it behind the loop."""
        return [(isinstance(r.flag, Tensor), len(r.held()), *r.cells) for r in self.raised]

    def positions(self) -> Iterator[tuple[int, int]]:
        """Where the flag of each exception is among the variables of the loop, and how many values follow it."""
        at = 0
        for raised in self.raised:
            yield at, (count := len(raised.held()))
            at += 1 + count


class _Same:
    """An object from before the loop: it goes on as it is, as what an iteration changes of it is known by cells."""

    def __init__(self, value: Any):
        self.value = value


class _Known:
    """Which of the values that an iteration hands on, by position, are not the same object in each.

    Attributes:
        seen: whether an iteration has been traced with the present variables of the loop.
        odd: whether the last one has handed on something else than was thought; `early`: how many have, to begin with.
    """

    def __init__(self) -> None:
        self.varying: set[int] = set()
        self.seen = self.odd = False
        self.early = 0
        self._same: dict[int, _Same] = {}

    def handed(self, values: list[Any], made: RegionObjects) -> list[Any]:
        for i, x in enumerate(values):
            if i not in self.varying and not _is_from_before(x, made):
                self.varying.add(i)
        return [x if i in self.varying else self._same.setdefault(id(x), _Same(x)) for i, x in enumerate(values)]


def _is_from_before(x: Any, made: RegionObjects) -> bool:
    if isinstance(x, StagedDict):
        return x.values_of in made.frame.containers
    return x in made.frame.containers if is_container(x) else is_changeable(x) and not made.holds(x)


def end_by_raising(loop: Loop, found: Raises) -> None:
    """What the run may raise in an iteration becomes variables of the loop, which ends by it; behind the loop it is raised."""
    held: list[Any] = []
    tracer, tries = loop.tracer, loop.tracer.tries
    known = _Known()

    def run() -> tuple:
        loop.body()
        return loop.get_state()

    def body() -> None:
        before = loop.get_state()
        values, raised = tries.collect(run, inner.cells)
        now = Raises(raised)
        known.odd = now.shape != found.shape
        if known.odd:
            # as long as nothing is known of the variables, messages have numbers of Python in them, say: that was tried before
            known.early += 1
            if known.seen or known.early > _EARLY or now.shape not in tried:
                raise now
            loop.set_state(before if values is None else values)
            return
        count = len(known.varying)
        held[:] = known.handed([x for r in raised for x in (scalar(r.flag), *r.held())], RegionObjects(tracer, tracer.frames[-1]))
        if len(known.varying) > count and known.seen:
            raise now
        known.seen = True
        found.raised = raised
        loop.set_state(before if values is None else values)

    def test() -> Any:
        # a branch for each, as the variables have no values behind a raise
        go = loop.test_fn
        for i, _ in found.positions():
            go = functools.partial(if_expr, held[i], lambda: False, go)
        return truth(go())

    def set_state(values: tuple) -> None:
        held[:] = values[: len(held)]
        loop.set_state(values[len(held) :])

    does_not_settle = StructureError("what is raised in the loop does not settle", location=loop.location)
    tried: list[list[tuple]] = []
    for _ in range(TRIALS):
        tried.append(found.shape)
        held[:] = [Unread("what is raised")] * sum(1 + n for _, n in found.positions())
        for i, _ in found.positions():
            held[i] = dispatch.constant(np.asarray(False))
        known.seen, known.early = False, 0
        names = ("what is raised",) * len(held) + tuple(loop.names)
        inner = type(loop)(loop.tracer, test, body, lambda: (*held, *loop.get_state()), set_state, names)
        try:
            inner.ended = True
            inner.stage()
            if known.odd:
                raise does_not_settle
            break
        except Raises as other:
            inner.leave()
            if other.shape != found.shape:
                known = _Known()
            found = other
    else:
        raise does_not_settle
    for raised, (i, n) in zip(found.raised, found.positions(), strict=True):
        raised.flag = held[i]
        raised.hold([x.value if isinstance(x, _Same) else x for x in held[i + 1 : i + 1 + n]])
    tries.open(*found.raised)
