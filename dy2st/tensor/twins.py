"""Tensors that are one object in eager mode, or are not, as only a run could tell: none of them is modified in place.

A Program gives a variable a new tensor where Python would have given it one of several that exist. That matters where Python goes on with
them: where they outlive a call.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence

from ..errors import StructureError
from .location import user_location
from .tensor import Tensor


class _Group:
    """A tensor that may be one of others, as long as others hold them."""

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        self.first, *self.others = [weakref.ref(t) for t in tensors]

    def counts(self, tensor: Tensor | None = None) -> bool:
        """Whether the first may be another one that is there; of a tensor, whether it may be one."""
        first = self.first()
        others = [t for r in self.others if (t := r()) is not None and t is not first]
        return first is not None and bool(others) and (tensor is None or tensor is first or any(t is tensor for t in others))


def tie(tensors: Sequence[Tensor]) -> _Group:
    """The first tensor may be one of the others, for as long as there are any of them."""
    group = _Group(tensors)
    for t in tensors:
        t._ties = (*filter(_Group.counts, t._ties), group)
    return group


def require_alone(tensor: Tensor) -> None:
    """StructureError if the tensor may be another one that is still there."""
    if any(group.counts(tensor) for group in tensor._ties):
        raise StructureError(
            "what is modified in place here may be the same object as another tensor, or not; a function, or a part of it, that ran "
            "as a Program before does not tell",
            location=user_location(2), hint="modify a copy (y = y.clone() before), or compute a new tensor",
        )  # fmt: skip
