"""Python numbers as operands: they are weak, they take the dtype of the tensor they meet.

A weak operand is a Python number, a NumPy scalar, or a 0-d Tensor that stands for one (`Tensor._weak`): what `int(x)`
or `x.shape[0]` is while a function is traced.

| other operand | weak bool   | weak int    | weak float      |
|---------------|-------------|-------------|-----------------|
| bool tensor   | bool        | int64       | default dtype   |
| int tensor    | its dtype   | its dtype   | default dtype   |
| float tensor  | its dtype   | its dtype   | its dtype       |
| weak          | as Python: bool, int64, float64                |
"""

from __future__ import annotations

from typing import Any

import numpy as np
from dy2st_runtime import dtype as _dtype
from dy2st_runtime.ir import Variable

from ..errors import DTypeError
from ..framework.dtype import get_default_dtype
from . import dispatch
from .dispatch import ops
from .tensor import Tensor, to_array

NUMBERS = (bool, int, float, np.generic)


def is_weak(x: Any) -> bool:
    """Whether an operand takes the dtype of the other one."""
    return x._weak if isinstance(x, Tensor) else isinstance(x, NUMBERS)


def weak_dtype(x: Any) -> str:
    """bool, int64 or float64: the dtype of a weak operand on its own."""
    if isinstance(x, Tensor):
        return x.dtype
    if isinstance(x, (bool, np.bool_)):
        return "bool"
    return "int64" if isinstance(x, (int, np.integer)) else "float64"


def meet(weak: str, other: str) -> str:
    """The dtype that a weak operand gets beside a tensor of dtype `other`: see the table above.

    >>> meet("float64", "int32"), meet("int64", "float64"), meet("int64", "bool")
    ('float32', 'float64', 'int64')
    """
    if weak == "float64":
        return other if _dtype.is_float(other) else get_default_dtype()
    if weak == "int64":
        return "int64" if other == "bool" else other
    return other


def as_tensor(x: Any, dtype: str | None = None) -> Tensor:
    """Any operand as a Tensor; a number without `dtype` becomes a weak one.

    Raises:
        DTypeError: it is nothing that a tensor can be made of.
    """
    if isinstance(x, Tensor):
        return cast(x, dtype) if dtype is not None and x.dtype != dtype else x
    if isinstance(x, Variable):
        return as_tensor(Tensor.wrap(x, x.stop_gradient), dtype)
    if isinstance(x, NUMBERS):
        return dispatch.constant(x, dtype or weak_dtype(x), weak=dtype is None)
    if isinstance(x, (np.ndarray, list, tuple)):
        return dispatch.constant(to_array(x, dtype))
    raise DTypeError(f"expected a Tensor, got {type(x).__name__}")


def cast(x: Tensor, dtype: str) -> Tensor:
    """x in another dtype, as an op; x itself if it has it already."""
    if x.dtype == dtype:
        return x
    return ops.op("cast", X=x, in_dtype=x.dtype, out_dtype=dtype)


def operands(x: Any, y: Any) -> tuple[Tensor, Tensor, bool]:
    """Two operands as Tensors, weak ones in the dtype of the other; and whether the result is weak."""
    if isinstance(x, Tensor) and isinstance(y, Tensor) and not (x._weak or y._weak):
        return x, y, False
    weak_x, weak_y = is_weak(x), is_weak(y)
    if weak_x and weak_y:
        common = _dtype.promote(weak_dtype(x), weak_dtype(y))
        return as_tensor(x, common), as_tensor(y, common), True
    if weak_x:
        y = as_tensor(y)
        return as_tensor(x, meet(weak_dtype(x), y.dtype)), y, False
    if weak_y:
        x = as_tensor(x)
        return x, as_tensor(y, meet(weak_dtype(y), x.dtype)), False
    return as_tensor(x), as_tensor(y), False
