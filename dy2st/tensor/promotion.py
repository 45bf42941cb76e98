"""Python numbers as operands: they are weak, they take the dtype of the tensor they meet.

A weak operand is a Python number, a NumPy scalar, or a 0-d Tensor that stands for one (`Tensor._weak`): what `int(x)`
or `x.shape[0]` is while a function is traced.

| other operand | weak bool   | weak int    | weak float      |
|---------------|-------------|-------------|-----------------|
| bool tensor   | bool        | int64       | default dtype   |
| int tensor    | its dtype   | its dtype   | default dtype   |
| float tensor  | its dtype   | its dtype   | its dtype       |
| weak          | as Python: bool, int64, float64                |

Of two tensors the dtypes are promoted. In arithmetic and comparisons a 0-d one takes the dtype of one with dims, as in PaddlePaddle 3, if
both are ints or both floats: float32[2] + float64[] is float32[2].
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from dy2st_runtime import dtype as _dtype
from dy2st_runtime.ir import Variable
from dy2st_runtime.ops.python_int import require_room

from ..errors import DTypeError, IntegerRangeError, of_tracing, with_location
from . import dispatch
from .conversion import cast as cast
from .conversion import converted as converted
from .dispatch import ops
from .failures import raise_if
from .kinds import Kind, Kinds, beside_scalar, class_of_numbers, combine, is_number, meet, resolved
from .location import user_location
from .nested import any_staged, stacked
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
        DTypeError: it is nothing that a tensor can be made of, or an infinite number or NaN, of which there is none in an integer `dtype`.
        IntegerRangeError: it is a number for which an integer `dtype` has no room. Where only the run knows the number, both are raised in
            the run.
    """
    if isinstance(x, Tensor):
        if dtype is None:
            return x
        return _fitted(x, dtype) if x._weak and x.dtype != dtype and _dtype.is_int(dtype) else cast(x, dtype)
    if isinstance(x, Variable):
        return as_tensor(Tensor.wrap(x, x.stop_gradient), dtype)
    if isinstance(x, NUMBERS):
        if dtype is not None and isinstance(x, (float, np.floating)) and _dtype.is_int(dtype):
            require_in_range(x, dtype)
        return dispatch.constant(x, dtype or weak_dtype(x), weak=dtype is None)
    if isinstance(x, (np.ndarray, list, tuple)) or hasattr(type(x), "as_tensor"):  # a list of dynamic length
        return stacked(x, dtype) if any_staged(x) else dispatch.constant(to_array(x, dtype))
    raise DTypeError(f"expected a Tensor, got {type(x).__name__}", hint="give a Tensor, an array, a list of numbers or a number")


def require_in_range(x: Any, dtype: str) -> None:
    """DTypeError or IntegerRangeError if an integer dtype does not hold a number, without its fraction."""
    try:
        require_room(x, dtype)
    except (DTypeError, IntegerRangeError) as error:
        raise with_location(error, user_location(3)) from None


def _fitted(x: Tensor, dtype: str) -> Tensor:
    """What is a number, at least on some path, in an integer dtype, which must have room for it."""
    if x._kinds is None or not x._kinds.mixed:
        return ops.op("fitted_int", X=resolved(x), out_dtype=dtype) if x.dtype in _WIDEST else cast(x, dtype)
    number, plain = x._kinds.number, cast(x, dtype)
    if not _dtype.is_float(x.dtype) and x.dtype != "int64":
        return plain
    if number is None:
        raise x._kinds.fail(f"not all numbers can be an {dtype}")
    held = cast(resolved(x), "float64" if _dtype.is_float(x.dtype) else "int64")
    held = ops.op("where", Condition=number, X=held, Y=dispatch.constant(0, held.dtype))
    return ops.op("where", Condition=number, X=ops.op("fitted_int", X=held, out_dtype=dtype), Y=plain)


_WIDEST = ("int64", "float64")  # which Python's numbers are held in


def scalar_cast(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Two tensors, of which a 0-d one gets the dtype of one with dims; see `beside_scalar`."""
    a, b = x._form, y._form
    if a.dtype != b.dtype and (x.ndim == 0) != (y.ndim == 0):
        if x.ndim == 0 and beside_scalar(x.dtype, y.dtype) == y.dtype:
            return cast(x, y.dtype), y
        if y.ndim == 0 and beside_scalar(y.dtype, x.dtype) == x.dtype:
            return x, cast(y, x.dtype)
    return x, y


def operands(x: Any, y: Any, by_rank: bool = False) -> tuple[Tensor, Tensor, bool | Kinds]:
    """Two operands as Tensors, weak ones in the dtype of the other; and the kind of the result, for `mark`.

    Args:
        by_rank: whether a 0-d tensor takes the dtype of one with dims; see `scalar_cast`.

    Raises:
        DTypeError: an operand is of several kinds, and it depends on them what dtype the result has; or it is a number that only the run
            knows, beside a narrow float of NumPy.
    """
    if isinstance(x, Tensor) and isinstance(y, Tensor) and not (x._weak or y._weak):
        return (*scalar_cast(x, y), False) if by_rank else (x, y, False)
    weak_x, weak_y = is_weak(x), is_weak(y)
    if (weak_x and isinstance(x, Tensor) and x._kinds) or (weak_y and isinstance(y, Tensor) and y._kinds):
        x, y = as_tensor(x), as_tensor(y)
        dtype, weak, kinds = combine(x, y, by_rank)
        number = _number(x, y)
        return as_tensor(x, dtype), as_tensor(y, dtype), replace(kinds, number=number) if kinds is not None else weak
    if weak_x and weak_y:
        _require_float64(x, y)
        common = _dtype.promote(weak_dtype(x), weak_dtype(y))
        return as_tensor(x, common), as_tensor(y, common), True
    if weak_x:
        y = as_tensor(y)
        return as_tensor(x, meet(weak_dtype(x), y.dtype)), y, False
    if weak_y:
        x = as_tensor(x)
        return x, as_tensor(y, meet(weak_dtype(y), x.dtype)), False
    x, y = as_tensor(x), as_tensor(y)
    return (*scalar_cast(x, y), False) if by_rank else (x, y, False)


def _require_float64(x: Any, y: Any) -> None:
    """DTypeError if a Python number that only the run knows meets a narrower float of NumPy, which would make the result one too."""
    narrow = next((v for v in (x, y) if isinstance(v, (np.float16, np.float32))), None)
    if narrow is not None and (isinstance(x, Tensor) or isinstance(y, Tensor)):
        raise of_tracing(DTypeError(
            f"a Python number that only the run knows beside a {type(narrow).__name__} of NumPy, in whose precision NumPy computes",
            location=user_location(3), hint="make it a number of Python's: float(...)",
        ))  # fmt: skip


def _number(x: Tensor, y: Tensor) -> Tensor | None:
    """Whether both operands are Python numbers, of which one may be a tensor; None if only Python would know.

    A number that may be a tensor is held in the rank of that tensor. Beside one of fewer dims the result has as few where it is a number:
    that is an error in the runs in which it is.
    """
    flags = [is_number(x), is_number(y)]
    if any(flag is None for flag in flags):
        return None
    few, many = sorted(zip((x, y), flags, strict=True), key=lambda pair: pair[0].ndim)
    if few[0].ndim < many[0].ndim and isinstance(many[1], Tensor) and few[1] is not True:
        assert many[0]._kinds is not None
        lower = many[1] if few[1] is False else logical("and", many[1], ops.op("logical_not", X=few[1]))
        raise_if(lower, RuntimeError, f"{many[0]._kinds.why}; beside a tensor of {few[0].ndim} dims the number would make a result "
                 f"of {few[0].ndim} dims, and a Program has one rank for each value: start with a tensor")  # fmt: skip
    known = [flag for flag in flags if isinstance(flag, Tensor)]
    if not known or any(flag is False for flag in flags):
        return None
    return known[0] if len(known) == 1 else logical("and", *known)


def logical(which: str, x: Tensor, y: Tensor) -> Tensor:
    """The `and` or `or` of two flags."""
    return ops.op(f"logical_{which}", X=x, Y=y)


def as_plain_tensor(x: Tensor, exception: type[Exception] = TypeError, message: str = "") -> Tensor:
    """A value that may be a number, where only a tensor will do: raises in the runs in which it is a number.

    What modifies the tensor in place modifies the value too.
    """
    kinds = x._kinds
    if kinds is None or kinds.number is None:
        return x
    raise_if(kinds.number, exception, message or f"{kinds.why}; here it is a number, and what is done with it needs a tensor")
    plain = resolved(x)
    plain._whole = x
    return plain


def no_number(x: Tensor, text: str, exception: type[Exception] = TypeError) -> Tensor:
    """An exception, in Python's words, if what may be a number of Python is one; where only the run knows, then.

    Args:
        text: what Python says, with the class of the number as `{}`: "'{}' object is not iterable".
    """
    text = text.format(class_of_numbers(x.dtype) if x._kinds is None else x._kinds.class_name)
    if is_number(x) is True:
        raise exception(text)
    return as_plain_tensor(x, exception, text)


def mark(out: Tensor, kind: bool | Kinds) -> Tensor:
    """The result of an op, of the kind that `operands` has found: True for a number, or several kinds."""
    if isinstance(kind, Kinds):
        if out.dtype == "bool":  # a comparison gives a bool whatever it compares
            out._weak = all(k.weak for k in kind.all)
            if kind.number is not None:
                out._weak, out._kinds = True, replace(kind, all=frozenset((Kind("bool", True), Kind("bool", False))))
        else:
            out._weak, out._kinds = any(k.weak for k in kind.all), kind
    elif kind:
        out._weak = True
    return out
