"""What a tensor is: shape, size, kind of dtype."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from dy2st_runtime import dtype as _dtype
from dy2st_runtime.ir import Variable

from . import dispatch
from .dispatch import ops
from .kinds import as_number
from .promotion import as_plain_tensor, as_tensor, cast, no_number
from .tensor import Tensor


def sizes(x: Tensor) -> list[Any]:
    """The shape as a list: ints; for open dims of a symbolic tensor what the recorder says, weak 0-d tensors or -1."""
    v = x._form
    if type(v) is not Variable:
        return list(v.shape)
    recorder = dispatch.current_recorder()
    if recorder is None or -1 not in v.shape:
        return list(v.shape)
    return [recorder.open_dim(x, axis) if d == -1 else d for axis, d in enumerate(v.shape)]


def dynamic_size(x: Tensor, axis: int) -> Tensor:
    """The size of an axis that is only known at run time, as a weak 0-d int64 tensor."""
    all_sizes = ops.op("shape", Input=x)
    one = ops.op("slice", Input=all_sizes, axes=[0], starts=[axis], ends=[axis + 1], decrease_axis=[0])
    found = as_number(cast(one, "int64"))
    found._size_of = x._value, axis
    return found


def size_of(x: Tensor, axis: int) -> Any:
    """The size of an axis: an int, or a tensor that the run gives a value, also where `shape` says -1."""
    d = x._form.shape[axis]
    return dynamic_size(x, axis) if d == -1 else d


def is_size(n: Any, x: Tensor, axis: int) -> bool:
    """Whether a number is known to be the size of an axis."""
    if not isinstance(n, Tensor):
        return bool(x._form.shape[axis] == n)
    return n._size_of is not None and n._size_of[0] is x._value and n._size_of[1] == axis


def count(x: Tensor) -> Any:
    """The number of elements: an int, or a weak 0-d tensor."""
    return math.prod(sizes(x))


def read_by_name(name: str, read: Callable[[Tensor], Any]) -> property:
    """An attribute that tensors have and numbers do not: where only the run knows which it is, it is an AttributeError then."""

    def attribute(x: Tensor) -> Any:
        if x._kinds is not None:
            x = as_plain_tensor(x, AttributeError, f"{x._kinds.class_name!r} object has no attribute {name!r}")
        return read(x)

    return property(attribute)


def shape(input: Tensor) -> Tensor:
    """The shape as a 1-d int32 Tensor.

    >>> shape(Tensor([[1.0, 2.0]])).numpy()
    array([1, 2], dtype=int32)
    """
    return ops.op("shape", Input=as_tensor(input))


def rank(input: Tensor) -> Tensor:
    """The number of dims as a 0-d int32 Tensor."""
    return as_tensor(as_tensor(input).ndim, "int32")


def numel(x: Tensor, name: str | None = None) -> Tensor:
    """The number of elements as a 0-d int64 Tensor.

    >>> numel(Tensor([[1.0, 2.0]])).numpy()
    array(2)
    """
    n = as_tensor(count(as_tensor(x)), "int64")
    return Tensor.wrap(n._value, True)  # a tensor, where `size` is a number


def is_floating_point(x: Tensor) -> bool:
    """Whether the dtype is a floating-point one."""
    if x._weak:
        no_number(x, "'{}' object has no attribute 'dtype'", AttributeError)
    return _dtype.is_float(x.dtype)


def is_integer(x: Tensor) -> bool | Tensor:
    """Whether the dtype is an integer one. Of a Python float that only the run knows: what its method of this name says, whether the value
    is whole."""
    if x._weak and _dtype.is_float(x.dtype):
        whole = ops.op("equal", X=x, Y=ops.op("floor", X=x))
        return as_number(ops.op("logical_and", X=whole, Y=ops.op("isfinite_v2", X=x)))
    return _dtype.is_int(x.dtype)


def is_complex(x: Tensor) -> bool:
    """Whether the dtype is complex: never, as there are no complex dtypes here."""
    if x._weak:
        no_number(x, "'{}' object has no attribute 'dtype'", AttributeError)
    return False
