"""Tensors that are one object in eager mode, or are not, as only a run could tell: while Python goes on with them, none is modified.

A piece of a function that is static in part only gives a variable a new tensor where Python would have given it one of several that exist.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Iterator, Sequence

from ..errors import StructureError
from .location import user_location
from .tensor import Tensor

Group = list[weakref.ref[Tensor]]


class _State(threading.local):
    def __init__(self) -> None:
        self.groups: list[Group] | None = None


_state = _State()


@contextlib.contextmanager
def watched() -> Iterator[None]:
    """Within this `with` an in-place change of a tensor that may be another one is an error."""
    before = _state.groups
    if before is None:
        _state.groups = []
    try:
        yield
    finally:
        _state.groups = before


def note(tensors: Sequence[Tensor]) -> None:
    """The first tensor may be one of the others."""
    if _state.groups is not None:
        alive = [g for g in _state.groups if sum(r() is not None for r in g) > 1]
        _state.groups = [*alive, [weakref.ref(t) for t in tensors]]


def require_alone(tensor: Tensor) -> None:
    """StructureError if the tensor may be another one that is still there."""
    for group in _state.groups or ():
        members = [r() for r in group]
        if any(t is tensor for t in members) and any(t is not None and t is not tensor for t in members):
            raise StructureError(
                "what is modified in place here may be the same object as another tensor, or not; a part of the function that ran "
                "as a Program before does not tell",
                location=user_location(2), hint="modify a copy (y = y.clone() before), or compute a new tensor",
            )  # fmt: skip
