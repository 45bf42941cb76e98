"""`FLAGS_check_nan_inf` in eager mode: each op is looked at, with the line that it stands on."""

from __future__ import annotations

import threading
from typing import Any

from dy2st_runtime import nonfinite
from dy2st_runtime.ops.registry import OpDef

from ..errors import Location
from . import dispatch, tape
from .location import user_location
from .tensor import Tensor

_places: dict[int, Location | None] = {}
"""The lines of the ops on the tape, by their numbers there, as long as ops are looked at."""
_MOST = 1_000_000


class _Running(threading.local):
    """The lines of the ops whose gradients are being computed in this thread, the innermost last."""

    def __init__(self) -> None:
        self.places: list[Location | None] = []


_running = _Running()


class WatchingDispatcher(dispatch.Dispatcher):
    """Looks at what each op makes. A gradient is of the line of the op that it belongs to."""

    replays = False

    def apply(self, op: type[OpDef], ins: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[Any, ...]:
        if dispatch.current_recorder() is not None:
            return super().apply(op, ins, attrs)
        given = [_value(x) for x in ins]
        outs = super().apply(op, ins, attrs)
        place = _running.places[-1] if _running.places else user_location(2)
        nonfinite.check(op, given, [_value(x) for x in outs], place)
        for t in outs:
            node = getattr(t, "_node", None)
            if type(node) is tape.OpNode:
                node.__class__ = _PlacedNode
                if len(_places) >= _MOST:
                    _places.clear()
                _places[node.seq] = place
        return outs


class _PlacedNode(tape.OpNode):
    """A node of an op whose line is known."""

    __slots__ = ()

    def gradients(self, grads: list[Tensor | None], needed: list[bool], create_graph: bool) -> list[Tensor | None]:
        place = _places.get(self.seq)
        _running.places.append(user_location(2) if place is None else place)
        try:
            return super().gradients(grads, needed, create_graph)
        finally:
            _running.places.pop()

    def release(self) -> None:
        super().release()
        _places.pop(self.seq, None)


def _value(x: Any) -> Any:
    return [_value(t) for t in x] if isinstance(x, list) else getattr(x, "_value", None)


def watch(on: bool) -> None:
    """Looks at all ops from now on, or at none: then nothing is asked for any more."""
    nonfinite.watch(on)
    dispatch.ops.__class__ = WatchingDispatcher if on else dispatch.Dispatcher
    if not on:
        _places.clear()
