"""The types of leaves, tensors, numbers and staged lists, and their join where paths meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from dy2st_runtime import dims
from dy2st_runtime import dtype as _dtype
from dy2st_runtime.ops.registry import TensorType

from ...errors import DTypeError, ShapeError, StructureError, of_tracing
from ...tensor import Tensor
from ...tensor.kinds import Kind, Kinds, joined, storage
from ...tensor.location import user_location
from ...tensor.promotion import weak_dtype
from .staged_list import StagedList, class_of_entry, common_dtype

# Python's, and NumPy's that are as these; what is computed from others (float32, int8) is rounded, or wraps around, in their way
_NUMBERS = (bool, int, float, np.bool_, np.int64, np.float64)


@dataclass(frozen=True)
class LeafType:
    """A dtype and a shape (-1 = open).

    Attributes:
        weak: it stands for a Python number, at least on some path.
        kind: "array": a list of such tensors.
        kinds: all that it may be, if that is not one kind.
    """

    dtype: str
    shape: tuple[int, ...]
    weak: bool = False
    kind: str = "dense"
    kinds: Kinds | None = None

    @property
    def all_kinds(self) -> frozenset[Kind]:
        return self.kinds.all if self.kinds is not None else frozenset((Kind(self.dtype, self.weak),))

    @property
    def is_number(self) -> bool:
        """Whether it is a Python number on all paths."""
        return all(k.weak for k in self.all_kinds)

    @property
    def mixed(self) -> bool:
        """Whether it may be a number, and may be a tensor."""
        return self.kind == "dense" and self.kinds is not None and self.kinds.mixed

    def __str__(self) -> str:
        if self.kinds is not None and self.kind == "dense":
            return " or ".join(map(str, sorted(self.kinds.all)))
        if self.weak and not self.shape:
            return str(Kind(self.dtype, True))
        return str(TensorType(self.dtype, dims.from_static(self.shape), self.kind))


def type_of(x: Any) -> LeafType | None:
    """The type of a tensor, a number or a staged list; None for anything else."""
    if isinstance(x, Tensor):
        kinds = None if x._kinds is None else replace(x._kinds, number=None, code=None)
        return LeafType(x.dtype, tuple(x._value.shape), x._weak, kinds=kinds)
    if isinstance(x, StagedList):
        return array_of(LeafType(x.dtype, x.element_shape), x.kinds)
    if type(x) in _NUMBERS:  # not one of a subclass, an `IntEnum` say, which is more than its value
        return LeafType(weak_dtype(x), (), True)
    return None


def array_of(entry: LeafType, kinds: frozenset[Kind] | None = None) -> LeafType:
    """The type of a list of such entries, which are of these kinds."""
    found = entry.all_kinds if kinds is None else kinds
    # also of one kind, or none: a list without entries is of the kinds that it gets
    return LeafType(entry.dtype, entry.shape, any(k.weak for k in found), "array", Kinds(found, "the entries of a list differ"))


def join(a: LeafType, b: LeafType, what: str, where: str = "", *, ranked: bool = False) -> LeafType:
    """The type of a value that is `a` on one path and `b` on the other; sizes that differ are open. `where` (" at ...") says
    which paths these are. `ranked`: a number may be held in the rank of the tensor that is on the other path.

    Raises:
        DTypeError, ShapeError, StructureError: there is none.
    """
    if a.kind != b.kind:
        raise StructureError(f"{what} is {a} on one path and {b} on the other")
    if a.kind == "array":
        dtype = a.dtype if a.dtype == b.dtype else common_dtype(a.all_kinds, b.all_kinds)
        if dtype is None:
            raise of_tracing(DTypeError(
                f"{what} has entries of dtype {a.dtype} on one path and {b.dtype} on the other ({a} and {b})",
                hint=f"make all of one dtype, with astype({_dtype.promote(a.dtype, b.dtype)!r}) say",
            ))  # fmt: skip
        entry = LeafType(dtype, _joined_shape(a, b, f"an entry of {what}"))
        return array_of(entry, a.all_kinds | b.all_kinds)
    kinds = joined(a.all_kinds, b.all_kinds, f"{what} is {a} on one path and {b} on the other{where}", a.kinds, b.kinds)
    dtype = storage(kinds.all) if kinds is not None else a.dtype
    if dtype is None:
        both = f"has dtype {a.dtype} on one path and {b.dtype} on the other ({a} and {b})"
        raise of_tracing(DTypeError(
            f"{what} " + (both if not (a.weak or b.weak) else f"is {a} on one path and {b} on the other"),
            hint=f"make both of one dtype, with astype({_dtype.promote(a.dtype, b.dtype)!r}) say",
        ))  # fmt: skip
    if ranked and len(a.shape) != len(b.shape) and (a.is_number or b.is_number):
        sizes = b.shape if a.is_number else a.shape
        shape = tuple(1 if d == 1 else -1 for d in sizes)
    else:
        shape = _joined_shape(a, b, what)
    return LeafType(dtype, shape, a.weak or b.weak, a.kind, kinds)


def _joined_shape(a: LeafType, b: LeafType, what: str) -> tuple[int, ...]:
    if len(a.shape) != len(b.shape):
        raise of_tracing(ShapeError(f"{what} has {len(a.shape)} dims on one path and {len(b.shape)} on the other ({a} and {b})",
                                    hint="reshape one side, or start with a tensor of the final shape"))  # fmt: skip
    return tuple(p if p == q else -1 for p, q in zip(a.shape, b.shape, strict=True))


def stackable(x: Any) -> bool:
    """Whether a value can be an entry of a tensor or of a list of dynamic length."""
    from .leaf_types import type_of

    found = type_of(x)
    return found is not None and found.kind == "dense"


def element_type(items: Sequence[Any], what: str) -> LeafType:
    """The type that all these tensors and numbers have in common."""
    from .leaf_types import join, type_of

    found: LeafType | None = None
    for item in items:
        t = type_of(item)
        if t is None or t.kind != "dense":
            raise StructureError(
                f"{what} changes its length in a staged loop or branch, so it can hold tensors and numbers only, "
                f"not {class_of_entry(item)}",
                location=user_location(2), hint="keep the parts of an entry in lists of their own",
            )
        if t.mixed and t.shape:  # in the list it has to be a tensor
            t = replace(t, weak=False, kinds=None)
        found = t if found is None else join(found, t, f"an element of {what}")
    assert found is not None
    return found
