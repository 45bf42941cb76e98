"""`x[index]` and `x[index] = value`, with NumPy's rules.

An index is parsed into one item for each axis; items become ops in three steps: slices and numbers, new axes, then index
arrays and masks (which need gathers).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import AttributeValueError, DTypeError, OutOfRangeError
from . import dispatch
from .attribute import sizes
from .dispatch import ops
from .location import user_location
from .promotion import as_tensor, cast
from .tensor import Tensor

_MAX = (1 << 31) - 1
FULL = slice(None)


@dataclass
class Plan:
    """A parsed index. Axes are those of the indexed tensor; each axis has one item, in the order of the axes.

    Attributes:
        items: one for each result axis or consumed axis: None (a new axis), a slice, an int, a 0-d Tensor, an index array.
    """

    items: list[Any] = field(default_factory=list)

    @property
    def advanced(self) -> bool:
        return any(isinstance(i, Tensor) and i.ndim > 0 for i in self.items)


def getitem(x: Tensor, index: Any) -> Tensor:
    """`x[index]`: ints, slices, None, Ellipsis, integer arrays or Tensors, bool masks, in any combination NumPy takes.

    Raises:
        OutOfRangeError: an int or an entry of an index array is out of range.
        DTypeError: an index of another kind.
    """
    plan = parse(x, index)
    if not plan.advanced:
        return _newaxes(_basic(x, plan.items), plan.items)
    slices = [i for i in plan.items if i is not None]
    x = _basic(x, [i if isinstance(i, slice) else FULL for i in slices])
    x = _newaxes(x, [None if i is None else FULL for i in plan.items])
    arrays = {a: i for a, i in enumerate(plan.items) if i is not None and not isinstance(i, slice)}
    return _gather(x, arrays)


def setitem(x: Tensor, index: Any, value: Any) -> None:
    """`x[index] = value`, in place: all names of `x` see it. `value` is broadcast and cast to the dtype of `x`.

    Raises:
        InplaceError: x is a leaf that needs a gradient.
        ShapeError: the value does not broadcast to the shape of `x[index]`.
    """
    plan = parse(x, index)
    value = cast(as_tensor(value, None if isinstance(value, Tensor) else x.dtype), x.dtype)
    dispatch.rebind(x, written(x, plan, value), differentiable=True)


def written(x: Tensor, plan: Plan, value: Tensor) -> Tensor:
    """A copy of `x` with `value` at the index."""

    if plan.advanced:
        raise NotImplementedError

    axes, starts, ends, steps, decrease, none_axes = [], [], [], [], [], []
    axis = 0
    result_axis = 0
    for item in plan.items:
        if item is None:
            none_axes.append(result_axis)
            result_axis += 1
            continue
        if isinstance(item, slice):
            result_axis += 1
            if item != FULL:
                axes.append(axis)
                starts.append(item.start)
                ends.append(item.stop)
                steps.append(item.step)
        else:
            axes.append(axis)
            starts.append(item)
            ends.append(item + 1)
            steps.append(1)
            decrease.append(axis)
        axis += 1
    return ops.op("set_value", Input=x, ValueTensor=value, axes=axes, starts=starts, ends=ends, steps=steps,
                  decrease_axes=decrease, none_axes=none_axes)  # fmt: skip


# ---- parsing ----
def parse(x: Tensor, index: Any) -> Plan:
    """The index as one item for each axis of `x` and each new axis."""
    given = list(index) if isinstance(index, tuple) else [index]
    given = [_item(i) for i in given]
    used = sum(_consumed(i) for i in given)
    if used > x.ndim:
        raise OutOfRangeError(
            f"too many indices: the tensor has {x.ndim} dims, {used} were indexed", location=user_location(3)
        )
    ellipses = [n for n, i in enumerate(given) if i is Ellipsis]
    if len(ellipses) > 1:
        raise OutOfRangeError("an index can have only one ellipsis (...)", location=user_location(3))
    at = ellipses[0] if ellipses else len(given)
    fill = [FULL] * (x.ndim - used)
    given = given[:at] + fill + given[at + 1 :]
    shape = sizes(x)
    items: list[Any] = []
    axis = 0
    for i in given:
        if i is None:
            items.append(None)
        elif isinstance(i, Tensor) and i.dtype == "bool":
            items += _mask(i, shape[axis : axis + i.ndim])
            axis += i.ndim
        else:
            items.append(_known(i, shape[axis], axis))
            axis += 1
    return Plan(items)


def _item(i: Any) -> Any:
    """One entry of an index in canonical form: None, Ellipsis, a slice, an int, or a Tensor."""
    if i is None or i is Ellipsis:
        return i
    if isinstance(i, slice):
        return slice(*(_bound(b) for b in (i.start, i.stop, i.step)))
    if isinstance(i, (bool, np.bool_)):
        return as_tensor(np.asarray(i))
    if isinstance(i, (int, np.integer)):
        return int(i)
    if isinstance(i, (list, tuple, np.ndarray)):
        i = as_tensor(np.asarray(i, np.int64) if isinstance(i, (list, tuple)) and not len(i) else i)
    if not isinstance(i, Tensor) or i.dtype.startswith("float"):
        kind = f"a {i.dtype} tensor" if isinstance(i, Tensor) else type(i).__name__
        raise DTypeError(
            f"{kind} cannot be an index", location=user_location(4),
            hint="use ints, slices, None, ..., integer arrays or bool masks",
        )  # fmt: skip
    if i.ndim == 0 and i.dtype != "bool" and not i.is_symbolic and dispatch.in_dynamic_mode():
        return int(i)
    return i


def _bound(b: Any) -> Any:
    if b is None or isinstance(b, int):
        return b
    if isinstance(b, Tensor) and (b.is_symbolic or not dispatch.in_dynamic_mode()):
        return b
    return b.__index__()


def _consumed(i: Any) -> int:
    """How many axes of the tensor an entry indexes."""
    if i is None or i is Ellipsis:
        return 0
    return i.ndim if isinstance(i, Tensor) and i.dtype == "bool" else 1


def _known(i: Any, size: Any, axis: int) -> Any:
    """An int or a slice with what is known of the size worked in; an int out of range is an error."""
    if isinstance(i, int) and isinstance(size, int) and size != -1:
        if not -size <= i < size:
            raise OutOfRangeError(
                f"index {i} is out of range for axis {axis} with size {size}", location=user_location(4)
            )
        return i + size if i < 0 else i
    if isinstance(i, slice) and isinstance(i.step, int) and i.step == 0:
        raise AttributeValueError("a slice step cannot be zero", location=user_location(4))
    return i


def _mask(mask: Tensor, shape: Sequence[Any]) -> list[Tensor]:
    """A bool mask as the index arrays of its true elements, one for each of its axes."""
    for axis, (m, s) in enumerate(zip(sizes(mask), shape, strict=True)):
        if isinstance(m, int) and isinstance(s, int) and -1 not in (m, s) and m != s:
            raise OutOfRangeError(
                f"the mask has size {m} on its axis {axis}, the tensor has {s} there", location=user_location(4)
            )
    found = ops.op("where_index", Condition=mask)
    return [
        ops.op("slice", Input=found, axes=[1], starts=[axis], ends=[axis + 1], decrease_axis=[1])
        for axis in range(mask.ndim)
    ]


# ---- reading ----
def _basic(x: Tensor, items: Sequence[Any]) -> Tensor:
    """Applies slices and numbers; None is skipped."""
    shape = sizes(x)
    axes: list[int] = []
    starts: list[Any] = []
    ends: list[Any] = []
    decrease: list[int] = []
    late: list[tuple[int, Tensor]] = []
    axis = 0
    for item in items:
        if item is None:
            continue
        size = shape[axis]
        if isinstance(item, slice):
            x = _slice_step(x, axis, item, size, axes, starts, ends)
        elif isinstance(item, int) and isinstance(size, int) and size != -1:
            axes.append(axis)
            starts.append(item)
            ends.append(item + 1)
            decrease.append(axis)
        else:
            # the size, or the index, is only known at run time: gather checks the range there
            late.append((axis, as_tensor(item, "int64")))
        axis += 1
    if axes:
        x = slice_axes(x, axes, starts, ends, decrease)
    for axis, i in reversed(late):
        x = ops.op("gather", X=x, Index=i, axis=axis - sum(d < axis for d in decrease))
    return x


def _slice_step(x: Tensor, axis: int, item: slice, size: Any, axes: list[int], starts: list[Any], ends: list[Any]) -> Tensor:
    """Notes a plain slice in `axes`, `starts`, `ends`; one with a step is applied at once."""
    if item == FULL:
        return x
    bounds = (item.start, item.stop, item.step)
    known = isinstance(size, int) and size != -1 and not any(isinstance(b, Tensor) for b in bounds)
    if known:
        picked = range(size)[item]
        if len(picked) == 0:
            start, stop, step = 0, 0, 1
        elif picked.step > 0:
            start, stop, step = picked[0], picked[-1] + 1, picked.step
        else:
            start, stop, step = picked[-1], picked[0] + 1, picked.step
        if step == 1 or len(picked) == 1:
            axes.append(axis)
            starts.append(start)
            ends.append(stop)
            return x
        x = ops.op("strided_slice", Input=x, axes=[axis], starts=[start], ends=[stop], strides=[abs(step)])
        return ops.op("flip", X=x, axis=[axis]) if step < 0 else x
    step = 1 if item.step is None else item.step
    if isinstance(step, Tensor):
        raise dispatch.staged_value_error(step, "a slice step")
    if step == 1:
        axes.append(axis)
        starts.append(0 if item.start is None else item.start)
        ends.append(_MAX if item.stop is None else item.stop)
        return x
    if step < 0 and (item.start is not None or item.stop is not None):
        raise AttributeValueError(
            "a slice with a negative step and bounds needs a size that is known when the program is built",
            location=user_location(5), hint="slice first, then reverse with [::-1]",
        )  # fmt: skip
    if step < 0:
        x = ops.op("flip", X=x, axis=[axis])
    bounds = (0 if item.start is None else item.start, _MAX if item.stop is None else item.stop)
    if any(isinstance(b, Tensor) for b in bounds):
        x = slice_axes(x, [axis], [bounds[0]], [bounds[1]])
        bounds = (0, _MAX)
    return ops.op("strided_slice", Input=x, axes=[axis], starts=[bounds[0]], ends=[bounds[1]], strides=[abs(step)])


def slice_axes(x: Tensor, axes: Sequence[int], starts: Sequence[Any], ends: Sequence[Any], decrease: Sequence[int] = ()) -> Tensor:
    """The op `slice`; bounds may be ints or 0-d Tensors. Axes in `decrease` are dropped."""
    slots: dict[str, Any] = {}
    attrs: dict[str, list[int]] = {}
    for name, slot, bounds in (("starts", "StartsTensorList", starts), ("ends", "EndsTensorList", ends)):
        if any(isinstance(b, Tensor) for b in bounds):
            slots[slot] = [cast(as_tensor(b, "int64" if not isinstance(b, Tensor) else None), "int64") for b in bounds]
        attrs[name] = [-1 if isinstance(b, Tensor) else int(b) for b in bounds]
    return ops.op("slice", Input=x, axes=list(axes), decrease_axis=list(decrease), **attrs, **slots)


def _newaxes(x: Tensor, items: Sequence[Any]) -> Tensor:
    """Inserts the new axes; `x` has the axes of the other items that keep theirs."""
    kept = [i for i in items if i is None or isinstance(i, slice)]
    axes = [a for a, i in enumerate(kept) if i is None]
    return ops.op("unsqueeze2", X=x, axes=axes)[0] if axes else x


def _gather(x: Tensor, arrays: dict[int, Any]) -> Tensor:
    """Index arrays on some axes, broadcast against each other. If they stand side by side, the result has their axes
    there, else in front."""
    axes = sorted(arrays)
    indices = [as_tensor(arrays[a], "int64") for a in axes]
    if len(axes) == 1:
        return take(x, indices[0], axes[0])
    indices = broadcast(indices)
    rank = indices[0].ndim
    rest = [a for a in range(x.ndim) if a not in axes]
    front = ops.op("transpose2", X=x, axis=axes + rest)[0] if axes != list(range(len(axes))) else x
    out = ops.op("gather_nd", X=front, Index=ops.op("stack", X=indices, axis=rank))
    first = axes[0]
    if first == 0 or axes != list(range(first, first + len(axes))):
        return out
    # the index axes are in front; they belong behind the `first` axes before them
    order = [*range(rank, rank + first), *range(rank), *range(rank + first, out.ndim)]
    return ops.op("transpose2", X=out, axis=order)[0]


def take(x: Tensor, index: Tensor, axis: int) -> Tensor:
    """`x[..., index, ...]` on one axis, for an index of any rank."""
    if index.ndim <= 1:
        return ops.op("gather", X=x, Index=index, axis=axis)
    if axis == 0:
        return ops.op("gather_nd", X=x, Index=ops.op("unsqueeze2", X=index, axes=[index.ndim])[0])
    order = [axis, *(a for a in range(x.ndim) if a != axis)]
    front = ops.op("transpose2", X=x, axis=order)[0]
    out = ops.op("gather_nd", X=front, Index=ops.op("unsqueeze2", X=index, axes=[index.ndim])[0])
    rank = index.ndim
    back = [*range(rank, rank + axis), *range(rank), *range(rank + axis, out.ndim)]
    return ops.op("transpose2", X=out, axis=back)[0]


def broadcast(indices: list[Tensor]) -> list[Tensor]:
    """Index arrays in their common shape."""
    if all(list(i._value.shape) == list(indices[0]._value.shape) and -1 not in i._value.shape for i in indices):
        return indices
    total = indices[0]
    for i in indices[1:]:
        total = ops.op("elementwise_add", X=total, Y=i)
    # adding zeros of the common shape broadcasts
    zero = ops.op("elementwise_sub", X=total, Y=total)
    return [ops.op("elementwise_add", X=i, Y=zero) for i in indices]
