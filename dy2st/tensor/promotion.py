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
from . import dispatch
from .dispatch import ops
from .kinds import Kinds, combine, meet, require_exact, resolved
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


def as_tensor(x: Any, dtype: str | None = None) -> Tensor:
    """Any operand as a Tensor; a number without `dtype` becomes a weak one.

    Raises:
        DTypeError: it is nothing that a tensor can be made of.
    """
    if isinstance(x, Tensor):
        return x if dtype is None else cast(x, dtype)
    if isinstance(x, Variable):
        return as_tensor(Tensor.wrap(x, x.stop_gradient), dtype)
    if isinstance(x, NUMBERS):
        return dispatch.constant(x, dtype or weak_dtype(x), weak=dtype is None)
    if isinstance(x, (np.ndarray, list, tuple)):
        return dispatch.constant(to_array(x, dtype))
    raise DTypeError(f"expected a Tensor, got {type(x).__name__}")


def cast(x: Tensor, dtype: str) -> Tensor:
    """x in another dtype, as an op; x itself if it has it already."""
    if x._kinds is not None:  # whatever it is, it becomes this
        require_exact(x, dtype)
        x = resolved(x)
    if x.dtype == dtype:
        return x
    return ops.op("cast", X=x, in_dtype=x.dtype, out_dtype=dtype)


def operands(x: Any, y: Any) -> tuple[Tensor, Tensor, bool | Kinds]:
    """Two operands as Tensors, weak ones in the dtype of the other; and the kind of the result, for `mark`.

    Raises:
        DTypeError: an operand is of several kinds, and it depends on them what dtype the result has.
    """
    if isinstance(x, Tensor) and isinstance(y, Tensor) and not (x._weak or y._weak):
        return x, y, False
    weak_x, weak_y = is_weak(x), is_weak(y)
    if (weak_x and isinstance(x, Tensor) and x._kinds) or (weak_y and isinstance(y, Tensor) and y._kinds):
        x, y = as_tensor(x), as_tensor(y)
        dtype, weak, kinds = combine(x, y)
        return cast(x, dtype), cast(y, dtype), kinds or weak
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


def mark(out: Tensor, kind: bool | Kinds) -> Tensor:
    """The result of an op, of the kind that `operands` has found: True for a number, or several kinds."""
    if isinstance(kind, Kinds):
        if out.dtype == "bool":  # a comparison gives a bool whatever it compares
            out._weak = all(k.weak for k in kind.all)
        else:
            out._weak, out._kinds = any(k.weak for k in kind.all), kind
    elif kind:
        out._weak = True
    return out
