"""Comparisons, logical and bitwise operations, tests of whole tensors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import DTypeError
from .attribute import numel
from .dispatch import constant, ops
from .kinds import Kinds, resolved
from .manipulation import split
from .math import abs as _abs
from .math import add, binary, isnan, multiply, subtract, unary
from .promotion import as_tensor, cast, mark, operands, weak_dtype
from .tensor import Tensor


def equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x == y element by element, broadcast, as bool; a number takes the dtype of the tensor beside it.

    >>> equal(Tensor([1, 2]), 2).numpy()
    array([False,  True])
    """
    return _compared("equal", x, y)


def not_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x != y; operands as in `equal`."""
    return _compared("not_equal", x, y)


def less_than(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x < y; operands as in `equal`."""
    return _compared("less_than", x, y)


def less_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x <= y; operands as in `equal`."""
    return _compared("less_equal", x, y)


def greater_than(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x > y; operands as in `equal`."""
    return _compared("greater_than", x, y)


def greater_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x >= y; operands as in `equal`."""
    return _compared("greater_equal", x, y)


def _compared(op_type: str, x: Any, y: Any) -> Tensor:
    """A comparison; of an int of Python with a float of Python it is exact, also beyond 2**53, where floats do not hold every int."""
    swapped = _is_kind(x, "float64") and _is_kind(y, "int64")
    i, f = (y, x) if swapped else (x, y)
    if not (_is_kind(i, "int64") and _is_kind(f, "float64")) or _is_held(i) or _is_held(f):
        return binary(op_type, x, y)
    whole, number = as_tensor(i), as_tensor(f)
    rounded = cast(whole, "float64")
    operands = (number, rounded) if swapped else (rounded, number)
    # rounding keeps the order, so that only what is equal then needs another look; a float of 2**63 is above all ints of 64 bits
    tie = ops.op("equal", X=rounded, Y=number)
    inside = ops.op("logical_and", X=tie, Y=ops.op("less_than", X=number, Y=constant(2.0**63, "float64")))
    exact = cast(ops.op("where", Condition=inside, X=number, Y=constant(0.0, "float64")), "int64")
    above = ops.op("where", Condition=inside, X=ops.op("elementwise_sub", X=whole, Y=exact), Y=constant(-1, "int64"))
    zero = constant(0, "int64")
    apart = ops.op(op_type, X=zero, Y=above) if swapped else ops.op(op_type, X=above, Y=zero)
    return mark(ops.op("where", Condition=tie, X=apart, Y=ops.op(op_type, X=operands[0], Y=operands[1])), True)


def _is_kind(x: Any, dtype: str) -> bool:
    """Whether an operand is a number of Python of this dtype, and of no other on any path."""
    if isinstance(x, Tensor):
        return x._weak and x._kinds is None and x.dtype == dtype
    return isinstance(x, (int, float, np.integer)) and weak_dtype(x) == dtype


def _is_held(x: Any) -> bool:
    """Whether an operand is a known number with which rounded ints compare as they themselves do."""
    return not isinstance(x, Tensor) and not 2**53 <= abs(x) < math.inf


def logical_and(x: Any, y: Any, out: Tensor | None = None, name: str | None = None) -> Tensor:
    """x and y element by element, broadcast; what is not 0 is true.

    >>> logical_and(Tensor([True, True]), Tensor([True, False])).numpy()
    array([ True, False])
    """
    return binary("logical_and", _truth(x), _truth(y))


def logical_or(x: Any, y: Any, out: Tensor | None = None, name: str | None = None) -> Tensor:
    """x or y; operands as in `logical_and`."""
    return binary("logical_or", _truth(x), _truth(y))


def logical_xor(x: Any, y: Any, out: Tensor | None = None, name: str | None = None) -> Tensor:
    """Whether exactly one of x and y is true; operands as in `logical_and`."""
    return binary("logical_xor", _truth(x), _truth(y))


def logical_not(x: Any, out: Tensor | None = None, name: str | None = None) -> Tensor:
    """not x, element by element."""
    return unary("logical_not", _truth(x))


def _truth(x: Any) -> Tensor:
    x = as_tensor(x)
    if x.dtype == "bool":
        return x
    weak = x._weak
    x = binary("not_equal", x, 0)
    x._weak = weak
    return x


def bitwise_and(x: Any, y: Any, out: Tensor | None = None, name: str | None = None) -> Tensor:
    """x & y of integers or bools, broadcast.

    >>> bitwise_and(Tensor([6]), 3).numpy()
    array([2])
    """
    return binary("bitwise_and", x, y)


def bitwise_or(x: Any, y: Any, out: Tensor | None = None, name: str | None = None) -> Tensor:
    """x | y of integers or bools, broadcast."""
    return binary("bitwise_or", x, y)


def bitwise_xor(x: Any, y: Any, out: Tensor | None = None, name: str | None = None) -> Tensor:
    """x ^ y of integers or bools, broadcast."""
    return binary("bitwise_xor", x, y)


def bitwise_not(x: Any, out: Tensor | None = None, name: str | None = None) -> Tensor:
    """~x of integers; not x of bools."""
    return unary("bitwise_not", x)


def bitwise_left_shift(x: Any, y: Any, is_arithmetic: bool = True, out: Tensor | None = None,
                       name: str | None = None) -> Tensor:  # fmt: skip
    """x << y of integers, broadcast.

    >>> bitwise_left_shift(Tensor([1, 3]), 2).numpy()
    array([ 4, 12])
    """
    return binary("bitwise_left_shift", x, y)


def bitwise_right_shift(x: Any, y: Any, is_arithmetic: bool = True, out: Tensor | None = None,
                        name: str | None = None) -> Tensor:  # fmt: skip
    """x >> y of integers, broadcast; the sign stays."""
    return binary("bitwise_right_shift", x, y)


def isclose(x: Tensor, y: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False,
            name: str | None = None) -> Tensor:  # fmt: skip
    """`|x - y| <= atol + rtol * |y|`, element by element; equal infinities are close.

    >>> isclose(Tensor([1.0, 2.0]), Tensor([1.0, 2.1])).numpy()
    array([ True, False])
    """
    x, y = as_tensor(x), as_tensor(y)
    close = less_equal(_abs(subtract(x, y)), add(multiply(_abs(y), rtol), atol))
    # the bound of an infinite y is infinite: only equality counts there
    finite = unary("isfinite_v2", y)
    close = logical_or(logical_and(close, finite), equal(x, y))
    return logical_or(close, logical_and(isnan(x), isnan(y))) if equal_nan else close


def allclose(x: Tensor, y: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False,
             name: str | None = None) -> Tensor:  # fmt: skip
    """Whether all elements are close (`isclose`), as a 0-d bool Tensor."""
    return ops.op("reduce_all", X=isclose(x, y, rtol, atol, equal_nan), reduce_all=True)


def equal_all(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Whether two tensors have the same shape and elements, as a 0-d bool Tensor."""
    x, y = as_tensor(x), as_tensor(y)
    if x.ndim != y.ndim or any(isinstance(a, int) and isinstance(b, int) and a != b
                               for a, b in zip(x.shape, y.shape, strict=True)):  # fmt: skip
        return as_tensor(False, "bool")
    return ops.op("reduce_all", X=equal(x, y), reduce_all=True)


def is_tensor(x: Any) -> bool:
    """Whether x is a Tensor."""
    return isinstance(x, Tensor)


def is_empty(x: Tensor, name: str | None = None) -> Tensor:
    """Whether x has no elements, as a 0-d bool Tensor."""
    return equal(numel(as_tensor(x)), 0)


def nonzero(x: Any, as_tuple: bool = False) -> Any:
    """The index tuples of what is not 0, as the rows of an int64 Tensor [n, rank]; or a tuple with a column [n, 1] of
    it for each axis.

    >>> nonzero(Tensor([0, 3, 4])).numpy()
    array([[1],
           [2]])
    """
    x = as_tensor(x)
    found = ops.op("where_index", Condition=x)
    return tuple(split(found, x.ndim, axis=1)) if as_tuple else found


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """x where the condition holds, else y, broadcast; with the condition alone, the indices of what is true, one Tensor
    [n, 1] for each axis.

    Args:
        condition: bool Tensor.
        x, y: Tensors or numbers of one dtype.

    Raises:
        DTypeError: the condition is not bool.

    >>> where(Tensor([True, False]), Tensor([1, 2]), Tensor([3, 4])).numpy()
    array([1, 4])
    """
    condition = as_tensor(condition)
    if condition.dtype != "bool":
        raise DTypeError(f"the condition of where must be bool, got {condition.dtype}", hint="compare it: x != 0")
    if x is None and y is None:
        return nonzero(condition, as_tuple=True)
    if x is None or y is None:
        raise DTypeError("where() takes both x and y, or neither of them")
    x, y, kind = operands(x, y)
    if x.dtype != y.dtype:
        from dy2st_runtime.dtype import promote

        common = promote(x.dtype, y.dtype)
        x, y = cast(x, common), cast(y, common)
    if condition.ndim > 0 and isinstance(kind, Kinds) and len({k.dtype for k in kind.all}) > 1:
        raise kind.fail("the dtype of where() depends on that")
    # a number decides as a tensor with one element does
    return mark(ops.op("where", Condition=resolved(condition), X=x, Y=y), kind if condition.ndim == 0 else False)
