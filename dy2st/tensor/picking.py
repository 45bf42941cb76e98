"""Elements by their places: taken, filled, in windows."""

from __future__ import annotations

from typing import Any

from dy2st_runtime import dims

from ..errors import AttributeValueError, ShapeError
from . import arranging, creation, logic, manipulation
from .attribute import count, size_of
from .inplace import rebind
from .promotion import as_tensor, cast
from .scaling import clip
from .tensor import Tensor


def take(x: Any, index: Any, mode: str = "raise", name: str | None = None) -> Tensor:
    """Elements of the flattened tensor, in the shape of the index.

    In PaddlePaddle: `paddle.take`.

    Args:
        x: Tensor of any shape, of n elements.
        index: integers of any shape.
        mode: for a place out of -n ... n - 1: "raise" an OutOfRangeError; "wrap": begin anew; "clip": take the last one, and of all
            negative places the first.

    Raises:
        AttributeValueError: the mode is another one.

    >>> take(Tensor([[1, 2], [3, 4]]), Tensor([0, -1])).numpy()
    array([1, 4])
    """
    if mode not in ("raise", "wrap", "clip"):
        raise AttributeValueError(f"take: mode must be raise, wrap or clip, got {mode}")
    x, index = as_tensor(x), cast(as_tensor(index), "int64")
    n = count(x)
    place = index % n if mode == "wrap" else clip(index, 0, n - 1) if mode == "clip" else logic.where(index < 0, index + n, index)
    flat = manipulation.gather(manipulation.reshape(x, [-1]), manipulation.reshape(place, [-1]))
    return manipulation.reshape(flat, index.shape)


def heaviside(x: Any, y: Any, name: str | None = None) -> Tensor:
    """0 where x is negative, y where it is 0, and 1 where it is positive. In PaddlePaddle: `paddle.heaviside`.

    >>> heaviside(Tensor([-1.0, 0.0, 2.0]), Tensor([0.5])).numpy()
    array([0. , 0.5, 1. ], dtype=float32)
    """
    x, y = as_tensor(x), as_tensor(y)
    return logic.where(x == 0, y, cast(x > 0, y.dtype))


def index_fill(x: Any, index: Any, axis: int, value: Any, name: str | None = None) -> Tensor:
    """x with all elements of its slices `index` along an axis replaced by a number. In PaddlePaddle: `paddle.index_fill`.

    Args:
        x: Tensor of any shape.
        index: integers [n]; negative ones count from the end. What is out of range names no slice.
        axis: along which.
        value: a number or a 0-d Tensor.

    >>> index_fill(Tensor([[1, 2], [3, 4]]), Tensor([0]), 1, 9).numpy()
    array([[9, 2],
           [9, 4]])
    """
    x, index = as_tensor(x), as_tensor(index)
    axis = dims.normalize_axis(axis, x.ndim)
    n = size_of(x, axis)
    chosen = arranging.isin(creation.arange(n, dtype="int64"), logic.where(index < 0, index + n, index))
    mask = manipulation.reshape(chosen, [-1 if a == axis else 1 for a in range(x.ndim)])
    return logic.where(mask, cast(as_tensor(value), x.dtype), x)


def unfold(x: Any, axis: int, size: int, step: int, name: str | None = None) -> Tensor:
    """All windows of `size` elements along an axis, `step` apart; what is in them is a new last axis.

    In PaddlePaddle: `paddle.unfold`, of which the result is a view. Here it is a new tensor.

    Raises:
        AttributeValueError: the size or the step is not positive.
        ShapeError: the axis is shorter than a window.

    >>> unfold(Tensor([1, 2, 3, 4]), 0, 2, 2).numpy()
    array([[1, 2],
           [3, 4]])
    """
    x = as_tensor(x)
    axis = dims.normalize_axis(axis, x.ndim)
    if size < 1 or step < 1:
        raise AttributeValueError(f"unfold: size and step must be positive, got {size} and {step}")
    n = x._form.shape[axis]
    if n != -1 and n < size:
        raise ShapeError(f"unfold: there are no windows of {size} along an axis of {n}")
    starts = creation.arange(0, size_of(x, axis) - size + 1, step, "int64")
    places = manipulation.unsqueeze(starts, 1) + creation.arange(size, dtype="int64")
    flat = manipulation.index_select(x, manipulation.reshape(places, [-1]), axis)
    return manipulation.moveaxis(manipulation.unflatten(flat, axis, [-1, size]), axis + 1, -1)


def fill_diagonal_(x: Tensor, value: Any, offset: int = 0, wrap: bool = False, name: str | None = None) -> Tensor:
    """Sets a diagonal of a matrix to a number, in place. In PaddlePaddle: `paddle.Tensor.fill_diagonal_`.

    Args:
        value: a number.
        offset: how far right of the main diagonal; negative: below it.
        wrap: whether a high matrix has another diagonal below the first, a row further down.

    Raises:
        ShapeError: it is no matrix.

    >>> fill_diagonal_(Tensor([[1, 1], [1, 1]]), 0).numpy()
    array([[0, 1],
           [1, 0]])
    """
    if x.ndim != 2:
        raise ShapeError(f"fill_diagonal_ takes a matrix, got shape {dims.show(x._form.shape)}", hint="use where() with a mask")
    rows, cols = (creation.arange(size_of(x, a), dtype="int64") for a in (0, 1))
    rows = manipulation.unsqueeze(rows, 1)
    if wrap:
        rows = rows % (size_of(x, 1) + 1)
    return rebind(x, logic.where(cols == rows + offset, cast(as_tensor(value), x.dtype), x), differentiable=True)
