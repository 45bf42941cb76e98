"""Python's slice arithmetic for slice, strided_slice and set_value: on ints, on open dims, on expressions of a kernel.

A bound below 0 counts from the end; bounds beyond the tensor are cut off, as in Python. An end that is left open is any
number beyond it: `TO_THE_END`, or `TO_THE_START` with a negative step. An axis in `decrease` is indexed by its start
and falls away; its index must lie inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .. import dims
from ..errors import AttributeValueError, OutOfRangeError
from ..loopir import nodes as n
from . import sizes

TO_THE_END = 2**62
TO_THE_START = -(2**62)
"""Beyond any size, and no sum with one leaves 64 bits. A file has 2**31 - 1 and -2**31 in their place, as PaddlePaddle's do."""


def allowed(size: int) -> str | None:
    """A hint at the indices that an axis takes."""
    return f"it takes {-size} to {size - 1}" if size else None


def check_index(index: int, axis: int, size: int) -> int:
    """The index as 0 <= index < size; OutOfRangeError otherwise."""
    if not -size <= index < size:
        raise OutOfRangeError(f"index {index} is out of range for axis {axis} with size {size}",
                              hint=allowed(size))  # fmt: skip
    return index + size if index < 0 else index


@dataclass
class Bounds:
    """Along each of `axes` a start, an end and a step: ints, UNKNOWN, or expressions."""

    axes: list[int]
    starts: list[Any]
    ends: list[Any]
    steps: list[Any]
    decrease: list[int]

    def __post_init__(self) -> None:
        count = len(self.axes)
        if not len(self.starts) == len(self.ends) == len(self.steps) == count:
            raise AttributeValueError(
                f"a slice of {count} axes needs as many starts, ends and steps; "
                f"got {len(self.starts)}, {len(self.ends)} and {len(self.steps)}"
            )
        if len(set(self.axes)) != count:
            raise AttributeValueError(f"a slice names an axis twice: {self.axes}")
        for a in self.decrease:
            if a not in self.axes:
                raise AttributeValueError(f"axis {a} to be dropped is not among the sliced axes {self.axes}")

    @staticmethod
    def of(read: Any, rank: int, tensors: dict[str, tuple[Any, Sequence[Any]]], axes: list[int], starts: list[int],
           ends: list[int], strides: list[int] | None, decrease: list[int]) -> Bounds:  # fmt: skip
        """The bounds as `read` reads them, from the attributes and from `tensors`, which has for "starts", "ends" and
        "strides" one tensor of all values and a list of tensors, one for each axis."""
        given = {"starts": starts, "ends": ends, "strides": [1] * len(axes) if strides is None else strides}
        values = [list(read(what, attr, *tensors.get(what, (None, ())))) for what, attr in given.items()]
        places = [dims.normalize_axis(a, rank) for a in axes]
        return Bounds(places, values[0], values[1], values[2], [dims.normalize_axis(a, rank) for a in decrease])

    def result(self, shape: Sequence[dims.Dim]) -> tuple[dims.Dim, ...]:
        """The sizes of the slice; an index out of range is left for the run."""
        rows = zip(self.axes, self.starts, self.ends, self.steps, strict=True)
        counts = {a: count(shape[a], s, e, t) for a, s, e, t in rows if a not in self.decrease}
        return tuple(counts.get(a, d) for a, d in enumerate(shape) if a not in self.decrease)

    def key(self, shape: Sequence[int]) -> tuple[Any, ...]:
        """What NumPy is indexed with (slices only for the reference, where all is known)."""
        key: list[Any] = [slice(None)] * len(shape)
        for a, s, e, t in zip(self.axes, self.starts, self.ends, self.steps, strict=True):
            if a in self.decrease:
                key[a] = check_index(s, a, shape[a])
                continue
            begin, stop, step = _indices(shape[a], s, e, t)
            # as a key, a stop of -1 would count from the end, and so would the begin of an empty slice
            empty = not range(begin, stop, step)
            key[a] = slice(0, 0) if empty else slice(begin, None if stop < 0 else stop, step)
        return tuple(key)

    def native(self, k: Any, shape: Sequence[Any], strides: Sequence[Any]) -> tuple[list[Any], list[Any], Any]:
        """For a kernel, with the checks: the sizes of the slice, the strides along its axes in the tensor, the offset
        of its first element."""
        counts, steps, at = [], [], n.as_expr(0)
        for a, (d, stride) in enumerate(zip(shape, strides, strict=True)):
            size = n.as_expr(d)
            if a not in self.axes:
                counts.append(d)
                steps.append(stride)
                continue
            i = self.axes.index(a)
            if a in self.decrease:
                begin = k.let(n.select(self.starts[i] < 0, self.starts[i] + size, self.starts[i]))
                k.fail_if((begin < 0) | (begin >= size))
            else:
                begin, number = _native_range(k, size, self.starts[i], self.ends[i], self.steps[i])
                counts.append(number)
                steps.append(n.as_expr(stride) * self.steps[i])
            at = begin * stride + at
        return counts, steps, at


def count(size: dims.Dim, start: Any, end: Any, step: Any) -> dims.Dim:
    """How many elements a slice of an axis has."""
    if dims.known(step) and step == 0:
        raise AttributeValueError("a slice cannot have step 0")
    bounds = (start, end, step)
    if all(map(dims.known, bounds)) and dims.known(size):
        return len(range(*_indices(size, *bounds)))
    if not all(map(dims.known, bounds)):
        return dims.UNKNOWN
    if step == 1 and start == 0 and end >= TO_THE_END:
        return size
    if isinstance(size, dims.Unknown):
        return dims.UNKNOWN
    low, high = (0, size) if step > 0 else (-1, size - 1)
    begin = dims.maximum(dims.minimum(start if start >= 0 else size + start, high), low)
    stop = dims.maximum(dims.minimum(end if end >= 0 else size + end, high), low)
    distance = stop - begin if step > 0 else begin - stop
    distance = dims.maximum(distance, 0)
    return distance if abs(step) == 1 else (distance + (abs(step) - 1)) // abs(step)


def _indices(size: int, start: int, end: int, step: int) -> tuple[int, int, int]:
    if step == 0:
        raise AttributeValueError("a slice cannot have step 0")
    return slice(start, end, step).indices(size)


def _native_range(k: Any, size: n.Expr, start: Any, end: Any, step: Any) -> tuple[n.Expr, n.Expr]:
    """The first index and the number of indices."""
    forward = not isinstance(step, n.Expr)
    low, high = n.as_expr(0), size
    if not forward:
        low, high = k.let(n.select(step > 0, 0, -1)), k.let(n.select(step > 0, size, size - 1))
    clip = lambda b: k.let(n.maximum(n.minimum(n.select(b < 0, b + size, b), high), low))  # noqa: E731
    begin, stop = clip(start), clip(end)
    if forward:
        return begin, k.let(n.maximum(stop - begin, 0))
    k.fail_if(step == 0)
    width = k.let(n.maximum(n.select(step > 0, step, n.as_expr(0) - n.maximum(step, TO_THE_START)), 1))
    distance = k.let(n.select(step > 0, stop - begin, begin - stop))
    return begin, k.let(n.select(distance > 0, (distance - 1) // width + 1, 0))  # no sum of a step: it may be any number


def read_type(op: str) -> Any:
    """How `Bounds.of` reads types."""
    return lambda what, attr, tensor, each: sizes.inferred(op, what, attr, tensor, each)


def read_array(op: str) -> Any:
    """How `Bounds.of` reads arrays."""
    return lambda what, attr, tensor, each: sizes.values(op, what, attr, tensor, each)


def read_kernel(k: Any, count_: int) -> Any:
    """How `Bounds.of` reads the arguments of a kernel. Steps of 1 stay Python's 1: they decide the form of the code."""

    def read(what: str, attr: Sequence[int], tensor: Any, each: Sequence[Any]) -> list[Any]:
        if what == "strides" and tensor is None and not each and all(v == 1 for v in attr):
            return [1] * count_
        return sizes.exprs(k, attr, tensor, each, count_)

    return read
