"""Arrays of tensors, by PaddlePaddle's functions. An array is a list: static functions stage it as they stage any list."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .tensor import Tensor

__all__ = ["array_length", "array_read", "array_write", "create_array"]


def create_array(dtype: str, initialized_list: Sequence[Tensor] | None = None) -> list[Tensor]:
    """A new array: a list, of which all that a list can is at hand, too.

    Args:
        dtype: of the tensors that will be written. It is not looked at: each tensor has a dtype of its own.
        initialized_list: tensors that are in the array from the begin.

    Example:
        >>> import dy2st as paddle
        >>> array = paddle.tensor.create_array("float32")
        >>> array = paddle.tensor.array_write(paddle.ones([2]), 0, array)
        >>> len(array)
        1

    Source: `paddle.tensor.create_array`.
    """
    if initialized_list is None:
        return []
    return list(initialized_list)


def array_write(x: Tensor, i: Tensor | int, array: list[Tensor] | None = None) -> list[Tensor]:
    """Writes a tensor at a position of an array.

    Args:
        x: the tensor, of any shape.
        i: the position: an int, or an integer tensor with one element. It is at most the array's length, at which the array grows.
        array: changed in place; None: a new one.

    Returns:
        the array.

    Raises:
        IndexError: the position is negative, or beyond the array's end.

    Source: `paddle.tensor.array_write`.
    """
    if array is None:
        array = []
    position = int(i)
    if position < 0 or position > len(array):
        raise IndexError("array_write writes at a position of the array, or at its end: the position is negative or too large")
    if position == len(array):
        array.append(x)
    else:
        array[position] = x
    return array


def array_read(array: Sequence[Tensor], i: Tensor | int) -> Tensor:
    """The tensor at a position of an array.

    Args:
        i: the position: an int, or an integer tensor with one element.

    Raises:
        IndexError: there is nothing at the position.

    Source: `paddle.tensor.array_read`.
    """
    position = int(i)
    if position < 0:
        raise IndexError("array_read counts positions from 0: the position is negative")
    return array[position]


def array_length(array: Sequence[Tensor]) -> int:
    """How many tensors are in an array: an int, which in a static function may be one that only the run knows.

    Source: `paddle.tensor.array_length`.
    """
    return len(array)
