"""Python's `round` of numbers that depend on tensors: to the nearest number with so many digits, exactly."""

from __future__ import annotations

from typing import Any

from ...errors import StagedValueError
from ...tensor import Tensor
from ...tensor.dispatch import ops
from ...tensor.kinds import require_one_kind
from ...tensor.location import user_location
from ...tensor.promotion import as_tensor, cast
from ..control.if_stmt import if_expr

# from here on floats are whole, and have no digits to round
_WHOLE = 2.0**53
# splits a float64 into two halves whose products are exact (T. J. Dekker, 1971)
_SPLIT = 2.0**27 + 1
# powers of ten up to this one are float64s; a longer one is no int64
_EXACT_POWER, _LONGEST = 22, 18


def rounded(x: Tensor, digits: int | Tensor) -> Tensor:
    """`round(x, digits)` of a number: an int stays one. `digits` may be what only the run knows too.

    Raises:
        DTypeError: whether x is an int or a float depends on the path.
        StagedValueError: there are more digits than can be rounded exactly.
    """
    require_one_kind(x, "round() with digits gives a number of the same kind")
    if x.dtype != "float64":
        x = x * 1
        return if_expr(digits >= 0, lambda: x, lambda: _int(x, -digits))
    if not isinstance(digits, Tensor) and abs(digits) > _EXACT_POWER:
        raise StagedValueError(f"round() to {digits} digits of a number that only the run knows", location=user_location(2),
                               hint=f"round to at most {_EXACT_POWER} digits")  # fmt: skip
    return if_expr(digits >= 0, lambda: _float(x, 10.0**digits, False), lambda: _float(x, 10.0**-digits, True))


def _int(x: Any, zeros: Any) -> Any:
    if not isinstance(zeros, Tensor) and zeros > _LONGEST:
        return x * 0
    unit = 10**zeros
    count, rest = x // unit, x % unit
    # compared without doubling, which 64 bits may not hold; halves go to the even count
    up = (rest > unit // 2) | ((rest == unit // 2) & (count % 2 == 1))
    return (count + up) * unit


def _float(x: Tensor, power: Any, whole: bool) -> Tensor:
    """To multiples of `power` if `whole`, else of one part in so many. Where x is such a number and a half, the error of its own rounding
    decides."""
    units = x / power if whole else x * power
    # > 0 where x lies above the half, < 0 below
    beyond = -_error(units, power, x) if whole else _error(x, power, units)
    low = _plain("floor", units)
    half = (units - low == 0.5) & (beyond != 0)
    count = number_where(half, low + (beyond > 0), _plain("round", units))
    return number_where(abs(units) < _WHOLE, count * power if whole else count / power, x)


def _error(a: Tensor, b: Any, product: Tensor) -> Tensor:
    """a * b - product, without rounding, where they are nearly equal."""
    high_a, high_b = a * _SPLIT - (a * _SPLIT - a), b * _SPLIT - (b * _SPLIT - b)
    low_a, low_b = a - high_a, b - high_b
    return ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b


def _plain(op_type: str, x: Tensor) -> Tensor:
    out = ops.op(op_type, X=x)
    out._weak = True
    return out


def number_where(condition: Any, x: Any, y: Any) -> Any:
    """One of two floats; no branch, as both are computed."""
    if not isinstance(condition, Tensor):
        return x if condition else y
    out = ops.op("where", Condition=as_tensor(condition), X=cast(as_tensor(x), "float64"), Y=cast(as_tensor(y), "float64"))
    out._weak = True
    return out
