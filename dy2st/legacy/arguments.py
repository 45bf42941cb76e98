"""Functions of `fluid.layers` that 2.x has too, with other names or defaults of their arguments: sums along the last axis, not of all
elements; positions along the first; `dim`, `input` and `factor`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..nn import functional as F
from ..tensor import Tensor, creation, manipulation, math, reduction, scaling, search
from ..tensor.api import all_of_numbers
from ..tensor.promotion import as_tensor
from .tensor_functions import sums


def split(input: Any, num_or_sections: Any, dim: Any = -1, name: str | None = None) -> list[Tensor]:
    """A tensor cut along an axis, the last one by default; see `paddle.split`."""
    return manipulation.split(input, num_or_sections, dim)


def argmax(x: Any, axis: int = 0) -> Tensor:
    """The positions of the largest elements along an axis, the first one by default: int64 without that axis."""
    return search.argmax(x, axis)


def argmin(x: Any, axis: int = 0) -> Tensor:
    """The positions of the smallest elements along an axis, the first one by default: int64 without that axis."""
    return search.argmin(x, axis)


def argsort(input: Any, axis: int = -1, descending: bool = False, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The elements in order along an axis, and the positions (int64) that they had.

    >>> found, positions = argsort(Tensor([3.0, 1.0]))
    >>> found.numpy(), positions.numpy()
    (array([1., 3.], dtype=float32), array([1, 0]))
    """
    input = as_tensor(input)
    return search.sort(input, axis, descending), search.argsort(input, axis, descending)


def cumsum(x: Any, axis: int | None = None, exclusive: bool = False, reverse: bool = False) -> Tensor:
    """Sums of the elements up to each one along an axis, the last one by default.

    Args:
        exclusive: each sum is without the element itself.
        reverse: from the end.

    >>> cumsum(Tensor([1.0, 2.0, 4.0]), exclusive=True, reverse=True).numpy()
    array([6., 4., 0.], dtype=float32)
    """
    x, axis = as_tensor(x), -1 if axis is None else axis
    x = manipulation.flip(x, axis) if reverse else x
    found = reduction.cumsum(x, axis)
    found = found - x if exclusive else found
    return manipulation.flip(found, axis) if reverse else found


def flatten(x: Any, axis: int = 1, name: str | None = None) -> Tensor:
    """A matrix: the axes before `axis` are its rows, the others its columns.

    >>> flatten(creation.ones([2, 3, 4]), 2).shape, flatten(creation.ones([2, 3]), 0).shape
    ([6, 4], [1, 6])
    """
    x = as_tensor(x)
    if axis in (0, x.ndim):  # one row, or one column
        return manipulation.unsqueeze(manipulation.flatten(x), 0 if axis == 0 else 1)
    return manipulation.flatten(manipulation.flatten(x, 0, axis - 1), 1)


def sum(x: Any) -> Tensor:
    """The sum of tensors of one shape, element by element; one tensor is itself."""
    return sums(x)


def pow(x: Any, factor: Any = 1.0, name: str | None = None) -> Tensor:
    """x to the power `factor`, a number or a tensor with one element."""
    return math.pow(as_tensor(x), factor)


def gather(input: Any, index: Any, overwrite: bool = True) -> Tensor:
    """The rows of the input that `index` names. `overwrite` says how gradients were added, and changes no result."""
    return manipulation.gather(as_tensor(input), index)


def gather_nd(input: Any, index: Any, name: str | None = None) -> Tensor:
    """The elements or slices of the input at tuples of indices; see `paddle.gather_nd`."""
    return manipulation.gather_nd(as_tensor(input), index)


def scatter(input: Any, index: Any, updates: Any, name: str | None = None, overwrite: bool = True) -> Tensor:
    """The input with other rows where `index` says; see `paddle.scatter`."""
    return manipulation.scatter(as_tensor(input), index, updates, overwrite)


def scatter_nd_add(ref: Any, index: Any, updates: Any, name: str | None = None) -> Tensor:
    """`ref` with the updates added at tuples of indices; see `paddle.scatter_nd_add`."""
    return manipulation.scatter_nd_add(as_tensor(ref), index, updates)


def expand_as(x: Any, target_tensor: Any, name: str | None = None) -> Tensor:
    """x repeated along each axis as often as gives the shape of the target.

    >>> expand_as(Tensor([[1.0, 2.0]]), creation.ones([2, 4])).numpy()
    array([[1., 2., 1., 2.],
           [1., 2., 1., 2.]], dtype=float32)
    """
    x, target = as_tensor(x), as_tensor(target_tensor)
    sizes = list(zip(x.shape, target.shape, strict=True))
    if all(isinstance(size, int) and isinstance(wanted, int) and size in (1, wanted) for size, wanted in sizes):
        return manipulation.expand_as(x, target)
    return manipulation.tile(x, [wanted // size for size, wanted in sizes])


def where(condition: Any) -> Tensor:
    """The indices of what is true, as the rows of an int64 tensor [n, rank]."""
    return search.nonzero(as_tensor(condition))


def eye(num_rows: int, num_columns: int | None = None, batch_shape: Sequence[int] | None = None, dtype: Any = "float32",
        name: str | None = None) -> Tensor:  # fmt: skip
    """A matrix with ones on its diagonal, for each index of a batch if that has a shape."""
    matrix = creation.eye(num_rows, num_columns, dtype)
    return matrix if batch_shape is None else manipulation.expand(matrix, [*batch_shape, *matrix.shape])


def triu(input: Any, diagonal: int = 0, name: str | None = None) -> Tensor:
    """The input with zeros below a diagonal."""
    return creation.triu(input, diagonal)


def strided_slice(input: Any, axes: Sequence[int], starts: Any, ends: Any, strides: Any) -> Tensor:
    """Slices with steps; see `paddle.strided_slice`."""
    return manipulation.strided_slice(as_tensor(input), axes, starts, ends, strides)


# ---- activations ----
def hard_sigmoid(x: Any, slope: float = 0.2, offset: float = 0.5, name: str | None = None) -> Tensor:
    """slope * x + offset, limited to 0 ... 1."""
    return F.hardsigmoid(as_tensor(x), slope, offset)


def hard_swish(x: Any, threshold: float = 6.0, scale: float = 6.0, offset: float = 3.0, name: str | None = None) -> Tensor:
    """x * min(max(x + offset, 0), threshold) / scale."""
    x = as_tensor(x)
    return x * scaling.clip(x + offset, 0.0, threshold) / scale


def swish(x: Any, beta: float = 1.0, name: str | None = None) -> Tensor:
    """x * sigmoid(beta * x)."""
    x = as_tensor(x)
    return F.swish(x) if beta == 1.0 else x * F.sigmoid(x * beta)


def relu6(x: Any, threshold: float = 6.0, name: str | None = None) -> Tensor:
    """x limited to 0 ... threshold."""
    return scaling.clip(as_tensor(x), 0.0, threshold)


def softshrink(x: Any, alpha: float | None = None) -> Tensor:
    """x moved towards 0 by alpha (0.5), and 0 nearer to it."""
    return F.softshrink(as_tensor(x), 0.5 if alpha is None else alpha)


def hard_shrink(x: Any, threshold: float | None = None) -> Tensor:
    """x, and 0 where it is nearer to 0 than the threshold (0.5)."""
    return F.hardshrink(as_tensor(x), 0.5 if threshold is None else threshold)


def thresholded_relu(x: Any, threshold: float | None = None) -> Tensor:
    """x where it is above the threshold (1), else 0."""
    return F.thresholded_relu(as_tensor(x), 1.0 if threshold is None else threshold)


all_of_numbers(globals(), __name__)
