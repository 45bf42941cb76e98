"""`x[index]` and `x[index] = value`, with NumPy's rules.

An index is parsed into one item for each axis and each new axis. Numbers and slices become one op (`slice` or
`strided_slice`); index arrays and masks become gathers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from dy2st_runtime import dims
from dy2st_runtime.ops import registry
from dy2st_runtime.ops.bounds import TO_THE_END, TO_THE_START, allowed
from dy2st_runtime.ops.registry import OpDef

from ..errors import AttributeValueError, DTypeError, OutOfRangeError
from . import dispatch
from .attribute import count, sizes
from .dispatch import ops
from .inplace import rebind
from .kinds import require_whole
from .location import user_location
from .promotion import as_tensor, no_number
from .tensor import Tensor

FULL = slice(None)
ndarray, current_recorder = np.ndarray, dispatch.current_recorder


def getitem(x: Tensor, index: Any) -> Tensor:
    """`x[index]`: ints, slices, None, Ellipsis, integer arrays or Tensors, bool masks, in any combination NumPy takes.

    Raises:
        OutOfRangeError: an int or an entry of an index array is out of range.
        DTypeError: an index of another kind.
    """
    if x._weak or x._kinds is not None:
        x = no_number(x, "'{}' object is not subscriptable")
    value = x._value
    key = _key(index) if type(value) is ndarray and current_recorder() is None else None
    if key is None:
        return _read(x, *parse(x, index))
    key = value.shape, key
    plan = _plans.get(key)
    if plan is None:
        plan = _plan(x, index)
        if len(_plans) >= PLANS:
            _plans.clear()
        _plans[key] = plan
    for op, absent, attrs in plan:
        x = ops.apply(op, (x, *absent), attrs)[0]
    return x


def _key(index: Any) -> tuple[Any, ...] | None:
    """An index as something that can be looked up, if it consists of ints, slices of ints, None and Ellipsis; else None. `x[True]` is
    another thing than `x[1]`, so nothing may stand for an int."""
    if type(index) is int:
        return (index,)
    found: list[Any] = []
    for i in index if type(index) is tuple else (index,):
        if type(i) is slice:
            first, last, step = i.start, i.stop, i.step
            if not ((first is None or type(first) is int) and (last is None or type(last) is int) and (step is None or type(step) is int)):
                return None
            i = first, last, step
        elif type(i) is not int and i is not None and i is not Ellipsis:
            return None
        found.append(i)
    return tuple(found)


PLANS = 4096
"""So many plans are remembered."""
_plans: dict[Any, list[tuple[type[OpDef], tuple[Any, ...], dict[str, Any]]]] = {}
"""What is done to read at an index of numbers and slices, by the shape of the tensor and the key of the index: ops, each with what is in
the slots behind the first, and with its attributes."""


def _plan(x: Tensor, index: Any) -> list[tuple[type[OpDef], tuple[Any, ...], dict[str, Any]]]:
    items, _ = parse(x, index)
    calls = [call for call in (_slicing(x, items), _adding_axes(items)) if call is not None]
    plan: list[tuple[type[OpDef], tuple[Any, ...], dict[str, Any]]] = []
    for op_type, given in calls:
        op = registry.get(op_type)
        attrs = {name: tuple(v) if type(v) is list else v for name, v in op.complete_attrs(given).items()}  # keys of what is remembered
        plan.append((op, tuple([[] if slot.many else None for slot in op.input_slots[1:]]), attrs))
    return plan


def _read(x: Tensor, items: Sequence[Any], apart: bool) -> Tensor:
    if not _is_advanced(items):
        return _newaxes(_basic(x, items), items)
    # NumPy takes numbers beside index arrays as index arrays too
    x = _basic(x, [i if isinstance(i, slice) else FULL for i in items if i is not None])
    x = _newaxes(x, [None if i is None else FULL for i in items])
    arrays = {a: i for a, i in enumerate(items) if i is not None and not isinstance(i, slice)}
    return _gather(x, arrays, apart)


def setitem(x: Tensor, index: Any, value: Any) -> None:
    """`x[index] = value`, in place: all names of `x` see it. `value` is broadcast and cast to the dtype of `x`.

    Raises:
        InplaceError: x is a leaf that needs a gradient.
        OutOfRangeError, DTypeError: as for reading.
        ShapeError: the value does not broadcast to the shape of `x[index]`.
    """
    if x._weak or x._kinds is not None:
        no_number(x, "'{}' object does not support item assignment")
    value = as_tensor(value, x.dtype)
    mask = index[0] if isinstance(index, tuple) and len(index) == 1 else index
    mask = mask if isinstance(mask, tuple) else _item(mask)
    if isinstance(mask, Tensor) and mask.dtype == "bool" and 0 < mask.ndim <= x.ndim and value.ndim == 0:
        # one value under one mask: nothing depends on how many elements are true
        mask = _checked_mask(mask, x, 0)
        inner = list(range(mask.ndim, x.ndim))
        mask = ops.op("unsqueeze2", X=mask, axes=inner) if inner else mask
        new = ops.op("where", Condition=mask, X=value, Y=x)
    else:
        new = _written(x, *parse(x, index), value)
    rebind(x, new, differentiable=True)


def _written(x: Tensor, items: Sequence[Any], apart: bool, value: Tensor) -> Tensor:
    """A copy of `x` with `value` at the index."""
    if not _is_advanced(items):
        bounds, slots, decrease = _bounds(x, items)
        kept = [i for i in items if i is None or isinstance(i, slice)]
        return ops.op("set_value", Input=x, ValueTensor=value, decrease_axes=decrease,
                      none_axes=[a for a, i in enumerate(kept) if i is None], **bounds, **slots)  # fmt: skip
    arrays = {a: i for a, i in enumerate(items) if not isinstance(i, slice)}
    axes = sorted(arrays)
    whole = all(i is not None and (not isinstance(i, slice) or i == FULL) for i in items)
    if whole and not apart and _side_by_side(axes):
        return ops.op("index_put", x=x, indices=[_int64(arrays[a]) for a in axes], value=value, axis=axes[0])
    # any other mixture: the flat positions of what is written are found by reading them at the same index
    positions = ops.op("range", Start=_int64(0), End=_int64(count(x)), Step=_int64(1))
    places = _read(ops.op("reshape_as", X=positions, Y=x), items, apart)
    flat = ops.op("reshape2", X=x, shape=[-1])
    return ops.op("reshape_as", X=ops.op("index_put", x=flat, indices=[places], value=value), Y=x)


def _int64(v: Any) -> Tensor:
    return as_tensor(v, "int64")


def _is_advanced(items: Sequence[Any]) -> bool:
    return any(isinstance(i, Tensor) and i.ndim > 0 for i in items)


# ---- parsing ----
def parse(x: Tensor, index: Any) -> tuple[list[Any], bool]:
    """The index as one item for each axis of `x` and each new axis; and whether index arrays are apart that look as if they
    stood side by side: for NumPy an ellipsis between them separates them, also one that stands for no axis."""
    given = list(index) if isinstance(index, tuple) else [index]
    given = [_item(i) for i in given]
    used = sum(_consumed(i) for i in given)
    if used > x.ndim:
        raise OutOfRangeError(
            f"too many indices: the tensor has {x.ndim} dims, {used} were indexed", location=user_location(3),
            hint="None adds an axis: x[None]",
        )  # fmt: skip
    ellipses = [n for n, i in enumerate(given) if i is Ellipsis]
    if len(ellipses) > 1:
        raise OutOfRangeError("an index can have only one ellipsis (...)", location=user_location(3))
    at = ellipses[0] if ellipses else len(given)
    fill = [FULL] * (x.ndim - used)
    apart = bool(ellipses) and all(any(_consumed(i) and not isinstance(i, slice) for i in side)
                                   for side in (given[:at], given[at + 1 :]))  # fmt: skip
    given = given[:at] + fill + given[at + 1 :]
    shape = sizes(x)
    items: list[Any] = []
    axis = 0
    for i in given:
        if i is None:
            items.append(None)
        elif isinstance(i, Tensor) and i.dtype == "bool":
            items += _mask(i, x, axis)
            axis += i.ndim
        else:
            items.append(_known(i, shape[axis], axis))
            axis += 1
    return items, apart


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
    if hasattr(type(i), "as_tensor"):  # a list of dynamic length
        i = i.as_tensor()
    if isinstance(i, (list, tuple, np.ndarray)):
        i = as_tensor(np.asarray(i, np.int64) if isinstance(i, (list, tuple)) and not len(i) else i)
    if isinstance(i, Tensor):
        require_whole(i)
        if i._kinds is not None and len({k.dtype == "bool" for k in i._kinds.all}) > 1:
            raise i._kinds.fail("a bool is a mask, which adds an axis")
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
        return _scalar(b)
    if not hasattr(b, "__index__"):
        raise TypeError(_NO_BOUND)
    return b.__index__()


_NO_BOUND = "slice indices must be integers or None or have an __index__ method"


def _scalar(b: Tensor) -> Tensor:
    """A bound of a slice that only the run knows, without dims, as Python would ask it for an int."""
    number = count(b)
    require_whole(b)
    if not b.dtype.startswith(("int", "uint", "bool")) or (isinstance(number, int) and number != 1):
        if b._weak:
            raise TypeError(_NO_BOUND)
        raise DTypeError(
            f"only an integer tensor with one element can be an index, got {b.dtype}{dims.show(b._form.shape)}", location=user_location(4)
        )
    return ops.op("reshape2", X=b, shape=[]) if b.ndim else b


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
                f"index {i} is out of range for axis {axis} with size {size}", location=user_location(4), hint=allowed(size)
            )
        return i + size if i < 0 else i
    if isinstance(i, slice) and isinstance(i.step, int) and i.step == 0:
        raise AttributeValueError("a slice step cannot be zero", location=user_location(4))
    return i


def _checked_mask(mask: Tensor, x: Tensor, first: int) -> Tensor:
    """The mask, if it has the sizes of x from an axis on; where only the run knows them, it looks."""
    open_sizes = False
    for axis, (m, s) in enumerate(zip(mask._form.shape, x._form.shape[first:], strict=False)):
        open_sizes = open_sizes or -1 in (m, s)
        if -1 not in (m, s) and m != s:
            raise OutOfRangeError(
                f"the mask has size {m} on its axis {axis}, the tensor has {s} there", location=user_location(4),
                hint="compute the mask from the tensor that it indexes",
            )  # fmt: skip
    return ops.op("mask_of", Mask=mask, X=x, axis=first) if open_sizes else mask


def _mask(mask: Tensor, x: Tensor, axis: int) -> list[Tensor]:
    """A bool mask as the index arrays of its true elements, one for each of its axes."""
    mask = _checked_mask(mask, x, axis)
    found = ops.op("where_index", Condition=mask)
    return [
        ops.op("slice", Input=found, axes=[1], starts=[axis], ends=[axis + 1], decrease_axis=[1])
        for axis in range(mask.ndim)
    ]


# ---- reading ----
def _basic(x: Tensor, items: Sequence[Any]) -> Tensor:
    """Applies slices and numbers; None is skipped."""
    call = _slicing(x, items)
    return x if call is None else ops.op(call[0], Input=x, **call[1])


def _slicing(x: Tensor, items: Sequence[Any]) -> tuple[str, dict[str, Any]] | None:
    """The op for slices and numbers, with its attributes and the slots of bounds; None if they take all there is."""
    bounds, slots, decrease = _bounds(x, items)
    if not bounds["axes"]:
        return None
    steps = bounds.pop("steps")
    if all(s == 1 for s in steps):
        return "slice", {"decrease_axis": decrease, **bounds, **slots}
    return "strided_slice", {"decrease_axis": decrease, "strides": steps, **bounds, **slots}


def _in_64_bits(bound: Any) -> Any:
    """A bound of Python, which may be any int: no tensor has as many elements as where it is cut off here."""
    return max(TO_THE_START, min(bound, TO_THE_END)) if isinstance(bound, int) else bound


def _bounds(x: Tensor, items: Sequence[Any]) -> tuple[dict[str, list[int]], dict[str, list[Tensor]], list[int]]:
    """Slices and numbers as the attributes axes, starts, ends, steps; the slots with the bounds that are only known at
    run time; and the axes that fall away."""
    axes, starts, ends, steps, decrease = [], [], [], [], []
    for axis, item in enumerate(i for i in items if i is not None):
        if isinstance(item, slice):
            if item == FULL:
                continue
            step = 1 if item.step is None else item.step
            if isinstance(step, Tensor):
                raise dispatch.staged_value_error(step, "a slice step")
            first, last = (0, TO_THE_END) if step > 0 else (TO_THE_END, TO_THE_START)
            starts.append(first if item.start is None else _in_64_bits(item.start))
            ends.append(last if item.stop is None else _in_64_bits(item.stop))
            steps.append(_in_64_bits(step))
        else:
            decrease.append(axis)
            starts.append(_in_64_bits(item))
            # the end of an axis that falls away is not looked at; -1 has no end that is an int
            ends.append(TO_THE_END if isinstance(item, Tensor) or item == -1 else _in_64_bits(item + 1))
            steps.append(1)
        axes.append(axis)
    attrs: dict[str, list[int]] = {"axes": axes, "steps": steps}
    slots: dict[str, list[Tensor]] = {}
    for name, slot, bounds in (("starts", "StartsTensorList", starts), ("ends", "EndsTensorList", ends)):
        attrs[name] = [-1 if isinstance(b, Tensor) else b for b in bounds]
        if any(isinstance(b, Tensor) for b in bounds):
            slots[slot] = [_int64(b) for b in bounds]
    return attrs, slots, decrease


def slice_axes(x: Tensor, axes: Sequence[int], starts: Sequence[Any], ends: Sequence[Any]) -> Tensor:
    """The op `slice`; bounds may be ints or one-element Tensors."""
    items: list[Any] = [FULL] * x.ndim
    for axis, start, stop in zip(axes, starts, ends, strict=True):
        items[axis] = slice(_bound(start), _bound(stop))
    return _basic(x, items)


def _newaxes(x: Tensor, items: Sequence[Any]) -> Tensor:
    """Inserts the new axes; `x` has the axes of the other items that keep theirs."""
    call = _adding_axes(items)
    return x if call is None else ops.op(call[0], X=x, **call[1])


def _adding_axes(items: Sequence[Any]) -> tuple[str, dict[str, Any]] | None:
    kept = [i for i in items if i is None or isinstance(i, slice)]
    axes = [a for a, i in enumerate(kept) if i is None]
    return ("unsqueeze2", {"axes": axes}) if axes else None


def _gather(x: Tensor, arrays: dict[int, Any], apart: bool) -> Tensor:
    """Index arrays on some axes, broadcast against each other. If they stand side by side and not `apart`, the result has
    their axes there, else in front."""
    axes = sorted(arrays)
    indices = [_int64(arrays[a]) for a in axes]
    if not apart and _side_by_side(axes):
        return ops.op("index_get", X=x, Indices=indices, axis=axes[0])
    front = ops.op("transpose2", X=x, axis=axes + [a for a in range(x.ndim) if a not in axes])
    return ops.op("index_get", X=front, Indices=indices, axis=0)


def _side_by_side(axes: list[int]) -> bool:
    return axes == list(range(axes[0], axes[0] + len(axes)))
