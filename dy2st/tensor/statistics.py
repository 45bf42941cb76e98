"""How values are distributed: counts, quantiles, the most frequent ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dy2st_runtime import dims

from ..errors import AttributeValueError, DTypeError, ShapeError
from . import arranging, creation, logic, manipulation, math, reduction, scaling, search
from .arguments import require_integers
from .attribute import size_of
from .failures import raise_if
from .promotion import as_tensor, cast
from .tensor import Tensor


def histogram(input: Any, bins: int = 100, min: float = 0, max: float = 0, name: str | None = None) -> Tensor:
    """How many elements are in each of `bins` parts of equal width between min and max. Others are not counted.

    In PaddlePaddle: `paddle.histogram`.

    Args:
        input: Tensor of any shape.
        bins: the number of parts.
        min, max: the range, of which both ends count; both 0: that of the elements. A range of no width is made wider by 1 on both sides.

    Returns:
        int64 Tensor [bins].

    Raises:
        AttributeValueError: there are no parts, or max is below min.

    >>> histogram(Tensor([1.0, 2.0, 1.0, 9.0]), bins=4, min=0, max=3).numpy()
    array([0, 2, 1, 0])
    """
    if bins < 1 or max < min:
        raise AttributeValueError(f"histogram: there are no {bins} parts between {min} and {max}")
    x = manipulation.flatten(as_tensor(input))
    whole = not x.dtype.startswith("float")
    low: Any
    high: Any
    low, high = ((int(end) if whole else float(end)) for end in (min, max))
    if whole:
        x = cast(x, "float64")
    if min == max == 0:
        low, high = reduction.min(x), reduction.max(x)
    low, high = cast(as_tensor(low), x.dtype), cast(as_tensor(high), x.dtype)
    flat = cast(logic.equal(low, high), x.dtype)
    low, high = low - flat, high + flat
    inside = logic.logical_and(x >= low, x <= high)
    part = math.floor(logic.where(inside, x - low, 0.0) * bins / (high - low))
    part = logic.where(inside, scaling.clip(cast(part, "int64"), 0, bins - 1), bins)  # the last place is for those that do not count
    return arranging.index_add(creation.zeros([bins + 1], "int64"), part, 0, creation.ones_like(part))[:bins]


def bincount(x: Any, weights: Any = None, minlength: int = 0, name: str | None = None) -> Tensor:
    """How often each of the numbers 0, 1, ... is in x; with weights, the sum of those.

    In PaddlePaddle: `paddle.bincount`.

    Args:
        x: integers [n], not negative.
        weights: float32 or float64 Tensor [n], or None.
        minlength: the least size of the result, which else is the largest number plus 1.

    Returns:
        int64 Tensor, or of the dtype of the weights, with 1 dim.

    Raises:
        AttributeValueError: a number is negative.
        DTypeError: x holds no integers, or the weights no floats.
        ShapeError: x has not 1 dim.

    >>> bincount(Tensor([1, 2, 1]), minlength=4).numpy()
    array([0, 2, 1, 0])
    """
    x = as_tensor(x)
    if x.ndim != 1:
        raise ShapeError(f"bincount takes integers [n], got shape {dims.show(x._form.shape)}")
    require_integers(x, "numbers to count")
    x = cast(x, "int64")
    raise_if(reduction.any(logic.less_than(x, 0)), AttributeValueError, "bincount: the numbers must not be negative")
    added = creation.ones_like(x) if weights is None else as_tensor(weights)
    if weights is not None and added.dtype not in ("float32", "float64"):
        raise DTypeError(f"bincount: weights must be float32 or float64, got {added.dtype}")
    size = reduction.max(manipulation.concat([x, as_tensor([minlength - 1])])) + 1
    return arranging.index_add(creation.zeros([size], added.dtype), x, 0, added)


def quantile(x: Any, q: float | Sequence[float], axis: int | Sequence[int] | None = None, keepdim: bool = False,
             interpolation: str = "linear", name: str | None = None) -> Tensor:  # fmt: skip
    """The value below which a part `q` of the elements is. Where x has a NaN, it is NaN.

    In PaddlePaddle: `paddle.quantile`.

    Args:
        x: Tensor of any shape.
        q: a number from 0 to 1, or a list of such numbers, which become a new first axis.
        axis: along which; several: over all of them; None: over all axes.
        keepdim: whether the axes stay, with size 1.
        interpolation: between two elements: "linear", "lower", "higher" or "midpoint". "nearest" is not supported.

    Raises:
        AttributeValueError: q is not from 0 to 1, or the interpolation is another one.

    >>> quantile(Tensor([1.0, 2.0, 4.0]), [0.25, 0.5]).numpy()
    array([1.5, 2. ], dtype=float32)
    """
    parts = [float(part) for part in q] if isinstance(q, list | tuple) else [float(q)]  # type: ignore[arg-type]
    if not parts or not all(0 <= part <= 1 for part in parts):
        raise AttributeValueError(f"quantile: q must be from 0 to 1, got {q}")
    if interpolation not in ("linear", "lower", "higher", "midpoint"):
        raise AttributeValueError(f"quantile: interpolation must be linear, lower, higher or midpoint, got {interpolation}")
    x = as_tensor(x)
    x = x if x.dtype == "float64" else cast(x, "float32")
    axes = list(range(x.ndim)) if axis is None else [axis] if isinstance(axis, int) else list(axis)
    axes = [dims.normalize_axis(a, x.ndim) for a in axes]
    others = [a for a in range(x.ndim) if a not in axes]
    kept = [1 if a in axes else n for a, n in enumerate(x.shape)]
    rows = manipulation.reshape(manipulation.transpose(x, [*others, *axes]), [*(x.shape[a] for a in others), -1])
    ordered, last = search.sort(rows, -1), size_of(rows, rows.ndim - 1) - 1
    holes = reduction.any(math.isnan(rows), -1)
    found = []
    for part in parts:
        place = as_tensor(last * part, "float64")
        low, high = (cast(side(place), "int64") for side in (math.floor, math.ceil))
        below, above = (manipulation.squeeze(manipulation.index_select(ordered, manipulation.reshape(at, [1]), rows.ndim - 1), -1)
                        for at in (low, high))  # fmt: skip
        between = cast(place - cast(low, "float64"), x.dtype)
        weight = {"linear": between, "lower": 0.0, "higher": 1.0, "midpoint": 0.5}[interpolation]
        value = logic.where(holes, float("nan"), below + (above - below) * weight)
        found.append(manipulation.reshape(value, kept) if keepdim else value)
    return manipulation.stack(found) if isinstance(q, list | tuple) else found[0]


def mode(x: Any, axis: int = -1, keepdim: bool = False, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The most frequent elements along an axis, of several the smallest, and the last positions that they are at.

    It compares each element with each: the cost grows with the square of the size of the axis. In PaddlePaddle: `paddle.mode`.

    >>> [t.numpy().tolist() for t in mode(Tensor([3, 1, 3, 1]))]
    [1, 3]
    """
    x = as_tensor(x)
    axis = dims.normalize_axis(axis, x.ndim)
    rows = manipulation.moveaxis(x, axis, -1).detach()
    ordered = search.sort(rows, -1)
    often = reduction.sum(cast(manipulation.unsqueeze(ordered, -1) == manipulation.unsqueeze(ordered, -2), "int64"), -1)
    best = manipulation.take_along_axis(ordered, search.argmax(often, -1, keepdim=True), -1)
    places = creation.arange(size_of(rows, rows.ndim - 1), dtype="int64")
    place = manipulation.moveaxis(reduction.max(logic.where(rows == best, places, -1), -1, keepdim=True), -1, axis)
    value = manipulation.take_along_axis(x, place, axis)
    return (value, place) if keepdim else (manipulation.squeeze(value, axis), manipulation.squeeze(place, axis))
