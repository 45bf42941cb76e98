"""What a trace knows outside of its arguments, looked at before each call: its guards, and the tensors that it reads.

Most of it is in dicts: attributes, globals, parameters; or it is the class of an object. As long as none of them has changed
(`executor.versions`) all of that is as it was when it was looked at, and only the rest is: cells, items of lists, the code of functions,
what a guard looks into.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from dy2st_runtime.executor import has_versions, versions, versions_of

from ..convert.effects.cells import OuterVariable
from ..convert.guards.places import CLASS, LENGTH, NAMES, ORDER, SPECIAL, AttributeVariable, Inside, Place
from ..convert.pyfacts.attribute_lookup import may_change_class
from ..tensor import Tensor
from .captures import View
from .guards import Guard, Guards, Kind
from .reasons import Reason

if TYPE_CHECKING:
    from .concrete import ConcreteProgram

SETTLED = 3
"""The looks before this one look at everything: functions that are called a few times need no versions."""
BUSY = 3
"""A dict that has changed before so many looks in a row, without a guard that fails, is one that the program works with: looking at what is
in it is quicker than finding out each time that it has changed."""
FEW = 40
"""The guards of so many dicts at most are checked one by one; of more all guards are, some at a time."""


def holder_of(place: Place) -> dict | weakref.ref | None:
    """The dict without whose change nothing else can be in a place; for the class of an object what refers to it; None if there is none."""
    holder, entry = place.holder, place.entry
    if entry is NAMES or entry is SPECIAL:
        return versions.namespace(holder)
    if isinstance(holder, AttributeVariable):
        return versions.namespace(holder.holder) if isinstance(holder.holder, type) else None
    if isinstance(holder, OuterVariable):
        return holder.holder if type(holder.holder) is dict else None
    if isinstance(holder, Inside):
        return holder_of(holder.place) if type(holder.place.now()) is tuple else None
    if entry is CLASS:
        return holder if type(holder) is weakref.ref else None
    if entry is LENGTH or entry is ORDER or type(entry) in (str, int):
        return holder if type(holder) in (dict, OrderedDict) else None
    return None


def is_fixed(guard: Guard) -> bool:
    """Whether a guard that asks for the class of an object holds as long as that object is there."""
    return isinstance(guard.value, Kind) and not may_change_class(guard.value.cls)


class _Holder:
    """A dict, or what refers to an object, with the guards of what is in it, or of its class.

    Attributes:
        has_tensors: whether a tensor that the trace reads, or tells from others, is in it.
    """

    def __init__(self, holder: dict | weakref.ref):
        self.holder = holder
        self.guards: list[Guard] = []
        self.has_tensors = False


class _Known:
    """What was found at a look.

    Attributes:
        dicts, versions: what is as it was then as long as these have not changed.
        others: the guards of all else.
        tensors: those that the trace reads; None: they may be others although no dict has changed.
        changing: of the dicts that had changed when this was found, before how many looks in a row they had, by their positions.
    """

    def __init__(self, dicts: list[_Holder], versions: versions.Versions, others: Guards, tensors: Sequence[Tensor] | None,
                 changing: dict[int, int]):  # fmt: skip
        self.dicts, self.versions, self.others, self.tensors, self.changing = dicts, versions, others, tensors, changing

    def without(self, busy: Collection[int]) -> _Known:
        """The same, with what is in these dicts as something that may have changed at each look."""
        kept = [i for i in range(len(self.dicts)) if i not in busy]
        # a guard that compares what is in two dicts is one of both
        others = Guards({id(g): g for g in (*self.others, *(g for i in busy for g in self.dicts[i].guards))}.values())
        tensors = None if any(self.dicts[i].has_tensors for i in busy) else self.tensors
        return _Known([self.dicts[i] for i in kept], self.versions.only(kept), others, tensors, {})


class Outside:
    """What is outside of a trace; each look is told of which. Threads may look at once: what one has found is put in place as a whole."""

    def __init__(self) -> None:
        self._looks = 0
        self._known: _Known | None = None

    def look(self, trace: ConcreteProgram) -> View | Reason:
        """What the trace reads now; or why it does not serve a call."""
        known = self._known
        if known is None:
            return self._first_look(trace)
        if known.versions.changed():
            return self._look_again(trace, known)
        if known.changing:
            known.changing = {}
        return _view(trace, known.tensors, known.others.failed)

    def _first_look(self, trace: ConcreteProgram) -> View | Reason:
        self._looks += 1
        found = None
        if self._looks >= SETTLED and has_versions():
            dicts, others, all_in_dicts = _by_dict(trace)
            # before anything is looked at: what changes meanwhile has changed at the next look
            found = versions_of([d.holder for d in dicts])
        view = _view(trace, None, trace.guards.failed)
        if found is not None and not isinstance(view, Reason):
            self._known = _Known(dicts, found, Guards(others), view.tensors if all_in_dicts else None, {})
        return view

    def _look_again(self, trace: ConcreteProgram, known: _Known) -> View | Reason:
        now = known.versions.again()
        changed = now.differing(known.versions)

        def failed() -> Guard | None:
            if len(changed) > FEW:
                return trace.guards.failed()
            return next((g for i in changed for g in known.dicts[i].guards if not g.holds()), None) or known.others.failed()

        same_tensors = known.tensors is not None and not any(known.dicts[i].has_tensors for i in changed)
        view = _view(trace, known.tensors if same_tensors else None, failed)
        if not isinstance(view, Reason):
            changing = {i: known.changing.get(i, 0) + 1 for i in changed}
            new = _Known(known.dicts, now, known.others, None if known.tensors is None else view.tensors, changing)
            busy = [i for i, times in changing.items() if times >= BUSY]
            self._known = new.without(busy) if busy else new
        return view


def _view(trace: ConcreteProgram, tensors: Sequence[Tensor] | None, failed: Callable[[], Guard | None]) -> View | Reason:
    """What the trace reads now; or why it does not serve a call.

    Args:
        tensors: those that it reads, if they are known; `failed`: gives a guard that does not hold.
    """
    now = trace.captured.now() if tensors is None else tensors
    view = trace.captured.view(now)
    if isinstance(view, str):
        return Reason(view)
    if tensors is None and trace.are_one(now):
        return Reason("two tensors outside are one now")
    for number in trace.numbers:
        if not number.fits():
            return Reason(f"attribute {number.entry!r} is no {number.variable.dtype} any more")
    guard = failed()
    return view if guard is None else Reason(str(guard), guard.place.name, guard.value)


def _by_dict(trace: ConcreteProgram) -> tuple[list[_Holder], list[Guard], bool]:
    """The dicts outside, the guards that are not of what is in one of them, and whether all tensors are in them."""
    dicts: dict[int, _Holder] = {}

    def of(place: Place) -> _Holder | None:
        holder = holder_of(place)
        return None if holder is None else dicts.setdefault(id(holder), _Holder(holder))

    others = []
    for guard in trace.guards:
        found = [] if guard.looks_into() and not is_fixed(guard) else [of(place) for place in guard.places()]
        in_dicts = [d for d in found if d is not None]
        if not found or len(in_dicts) < len(found):
            others.append(guard)
        else:
            for d in in_dicts:
                d.guards.append(guard)
    all_in_dicts = True
    for place in [*(c.place for c in trace.captured if c.place is not None), *trace.distinguished]:
        holder = of(place)
        if holder is None:
            all_in_dicts = False
        else:
            holder.has_tensors = True
    return [*dicts.values()], others, all_in_dicts
