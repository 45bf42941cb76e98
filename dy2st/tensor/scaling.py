"""`scale`, `increment` and `clip`: ops with numbers as attributes, and what stands for them where only the run knows a number."""

from __future__ import annotations

from typing import Any

from dy2st_runtime import dtype as _dtype
from dy2st_runtime.ops.arithmetic import number_for

from ..errors import AttributeValueError
from .arguments import number, scalar, staged
from .attribute import count
from .dispatch import ops
from .failures import raise_if
from .inplace import rebind
from .kinds import as_number
from .math import add, equal_zero, maximum, minimum, multiply, unary
from .promotion import NUMBERS, as_tensor, cast
from .tensor import Tensor


def scale(x: Any, scale: float | Tensor = 1.0, bias: float = 0.0, bias_after_scale: bool = True, act: str | None = None,
          name: str | None = None) -> Tensor:  # fmt: skip
    """scale * x + bias, or scale * (x + bias) without `bias_after_scale`, in the dtype of x.

    >>> scale(Tensor([1.0, 2.0]), 2.0, 1.0).numpy()
    array([3., 5.], dtype=float32)
    """
    x = as_tensor(x)
    if isinstance(scale, Tensor) and not (scale._weak and staged(scale)):
        shifted = x if bias_after_scale else add(x, bias)
        out = multiply(shifted, cast(scale, x.dtype))
        out = add(out, bias) if bias_after_scale else out
    elif staged(scale) or staged(bias):
        if x._weak or x.dtype == "bool":
            x = ops.op("scale", X=x)  # a tensor; of bools there is none
        wide = cast(x, "float32") if x.dtype == "float16" else x  # in which the op computes
        factor, offset = option_of(wide, scale, "scale", "scale"), option_of(wide, bias, "scale", "bias")
        out = cast(_scaled_in_the_run(wide, factor, offset, bias_after_scale), x.dtype)
    else:
        out = ops.op("scale", X=x, scale=scale, bias=bias, bias_after_scale=bias_after_scale)
    return out if act is None else unary(act, out)


def _scaled_in_the_run(x: Tensor, scale: Any, bias: Any, bias_after_scale: bool) -> Tensor:
    """What the op `scale` makes of numbers of which only the run knows one."""
    plain = multiply(x, scale)
    if not isinstance(bias, Tensor) and bias == 0:
        return plain
    shifted = add(plain, bias) if bias_after_scale else multiply(add(x, bias), scale)
    if not isinstance(bias, Tensor) or not _dtype.is_float(x.dtype):
        return shifted
    return ops.op("where", Condition=equal_zero(bias), X=plain, Y=shifted)  # -0.0 stays what it is


def option_of(x: Tensor, value: Any, op: str, name: str) -> Any:
    """A number as an op takes it that is given one as a float, and uses it in the dtype of x.

    Raises:
        AttributeValueError: x has an integer dtype, and the number is not whole. Where only the run knows it, in the run.
    """
    if not staged(value):
        return number_for(op, name, number(value, name), x.dtype)
    value = cast(scalar(value), "float64")
    if not _dtype.is_float(x.dtype):
        whole = ops.op("logical_and", X=ops.op("equal", X=ops.op("trunc", X=value), Y=value), Y=ops.op("isfinite_v2", X=value))
        raise_if(ops.op("logical_not", X=whole), AttributeValueError, f"{op}: {name}=", f" is not a whole number, but X is {x.dtype}",
                 data=(as_number(value),))  # fmt: skip
    return as_tensor(as_number(value), x.dtype)


def increment(x: Tensor, value: float = 1.0, name: str | None = None) -> Tensor:
    """Adds `value` to x in place; x has one element. Returns x."""
    if staged(value):
        # an increment by 0 looks at x
        new = add(ops.op("increment", X=as_tensor(x), step=0.0), option_of(x, value, "increment", "step"))
    else:
        new = ops.op("increment", X=as_tensor(x), step=value)
    return rebind(x, new, differentiable=True)


def clip(x: Any, min: Any = None, max: Any = None, name: str | None = None) -> Tensor:
    """x limited to min ... max, in the dtype of x.

    Args:
        x: Tensor of any numeric dtype.
        min, max: numbers or 0-d (or one-element) Tensors; None: no limit.

    >>> clip(Tensor([-1.0, 0.5, 2.0]), 0.0, 1.0).numpy()
    array([0. , 0.5, 1. ], dtype=float32)
    """
    x = as_tensor(x)
    if isinstance(min, Tensor) or isinstance(max, Tensor) or not _dtype.is_float(x.dtype):
        x = x if min is None else maximum(x, _limit(x, min, "min"))
        return x if max is None else minimum(x, _limit(x, max, "max"))
    low = -float("inf") if min is None else number(min, "min")
    high = float("inf") if max is None else number(max, "max")
    return unary("clip", x, min=low, max=high)


def _limit(x: Tensor, value: Any, what: str) -> Any:
    """A bound of `clip` as an operand beside x: one number has its dtype, an integer dtype takes what is before the point."""
    if isinstance(value, Tensor):
        if count(value) != 1:
            return value
    elif not isinstance(value, NUMBERS):
        value = number(value, what)
    return as_tensor(value, "int64" if x.dtype == "bool" else x.dtype)
