"""Python's rules for indices and slices of lists whose length only the run knows, as ops on integers."""

from __future__ import annotations

from typing import Any

import numpy as np
from dy2st_runtime import dims
from dy2st_runtime.ir import Variable

from ...errors import DTypeError, StagedValueError
from ...tensor import Tensor, dispatch
from ...tensor.dispatch import ops
from ...tensor.kinds import require_whole, resolved
from ...tensor.location import user_location
from .. import hub
from .maybe_none import MaybeNone


def integer(i: Any) -> Tensor:
    """An index as an int64 without dims.

    Raises:
        TypeError, DTypeError: it is no integer.
    """
    if not isinstance(i, Tensor):
        if not hasattr(i, "__index__"):
            raise TypeError(f"list indices must be integers or slices, not {type(i).__name__}")
        return dispatch.constant(np.asarray(i.__index__(), np.int64))
    if isinstance(i, MaybeNone):
        i = i.require("list indices must be integers or slices, not NoneType")
    require_whole(i)
    if not i.dtype.startswith(("int", "uint", "bool")) and i._weak:
        raise TypeError("list indices must be integers or slices, not float")
    if not i.dtype.startswith(("int", "uint", "bool")) or any(d not in (1, -1) for d in i._value.shape):
        raise DTypeError(
            f"only an integer tensor with one element can be an index, got {i.dtype}{dims.show(i._value.shape)}", location=user_location(2)
        )
    i = resolved(i)  # an int or a tensor: it indexes alike
    if i.ndim:
        i = ops.op("reshape2", X=i, shape=[])
    return i if i.dtype == "int64" else ops.op("cast", X=i, in_dtype=i.dtype, out_dtype="int64")


# ops on numbers of which two with the same inputs give the same
_PLAIN = {"fill_constant", "elementwise_add", "elementwise_sub", "elementwise_mul", "cast", "scale", "reshape2"}


def key_of(i: Any) -> Any:
    """What two indices have in common that are surely equal."""
    return _computed(i._value, 4) if isinstance(i, Tensor) and isinstance(i._value, Variable) else i


def _computed(v: Variable, depth: int) -> Any:
    maker = next((op for op in reversed(v.block.ops) if v.name in op.output_names), None)
    if maker is None or maker.type not in _PLAIN or not depth:
        return v.name
    return maker.type, repr(sorted(maker.attrs.items())), tuple(_computed(v.block.var(name), depth - 1) for name in maker.input_names)


def position(i: Any, length: Tensor) -> Tensor:
    """Where `insert(i, ...)` puts an entry: never outside."""
    return _clamped(i, length, integer(0), length)


def bounds(key: slice, length: Tensor) -> tuple[Tensor, Tensor]:
    """The start and the stop of a slice with step 1: 0 <= start <= stop <= length."""
    zero = integer(0)
    start = _bound(key.start, zero, length, zero, length)
    stop = _bound(key.stop, length, length, zero, length)
    return start, ops.op("elementwise_max", X=start, Y=stop)


def chosen(key: slice, length: Tensor) -> Tensor:
    """The indices of the entries that a slice takes, in its order."""
    step = 1 if key.step is None else key.step
    if isinstance(step, Tensor):
        raise StagedValueError(
            "the step of a slice of a list of dynamic length depends on a tensor", location=user_location(2),
            hint="use a Python int, or loop over range(start, stop, step) and append",
        )  # fmt: skip
    if step == 0:
        raise ValueError("slice step cannot be zero")
    if step > 0:
        low, high, first, last = integer(0), length, integer(0), length
    else:
        low, high = integer(-1), plus(length, -1)
        first, last = high, low
    start = _bound(key.start, first, length, low, high)
    stop = _bound(key.stop, last, length, low, high)
    return counted(start, stop, step)


def counted(start: Tensor, stop: Tensor, step: int = 1) -> Tensor:
    """start, start + step, ... before stop."""
    return ops.op("range", Start=start, End=stop, Step=integer(step))


def repeated(times: Any, length: Tensor) -> Tensor:
    """The indices of all entries, `times` times over.

    Raises:
        TypeError, DTypeError: it is no integer.
    """
    if isinstance(times, MaybeNone):
        times = times.require("can't multiply sequence by non-int of type 'NoneType'")
    if isinstance(times, Tensor) and times._kinds is None and times._weak and times.dtype == "float64":
        raise TypeError("can't multiply sequence by non-int of type 'float'")
    total = ops.op("elementwise_mul", X=length, Y=ops.op("elementwise_max", X=integer(times), Y=integer(0)))
    # an empty list has no entry to count round
    around = ops.op("elementwise_max", X=length, Y=integer(1))
    return ops.op("elementwise_mod", X=counted(integer(0), total), Y=around)


def plus(a: Tensor, b: int | Tensor) -> Tensor:
    return ops.op("elementwise_add", X=a, Y=b if isinstance(b, Tensor) else integer(b))


def _bound(i: Any, default: Tensor, length: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """`_clamped`; the default where there is no index."""
    if i is None:
        return default
    if isinstance(i, MaybeNone):
        return hub.if_expr(i.is_none, lambda: plus(default, 0), lambda: _clamped(i.bare(), length, low, high))
    return _clamped(i, length, low, high)


def _clamped(i: Any, length: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """An index that may count from the end, brought into low ... high."""
    at = integer(i)
    if isinstance(i, Tensor):
        negative = ops.op("cast", X=ops.op("less_than", X=at, Y=integer(0)), in_dtype="bool", out_dtype="int64")
        at = plus(at, ops.op("elementwise_mul", X=negative, Y=length))
    elif i.__index__() < 0:
        at = plus(at, length)
    return ops.op("elementwise_min", X=ops.op("elementwise_max", X=at, Y=low), Y=high)
