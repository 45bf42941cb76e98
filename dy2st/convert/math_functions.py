"""The functions of Python's `math` module on numbers that depend on tensors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..tensor import Tensor
from ..tensor.dispatch import ops
from ..tensor.failures import message_of, raise_if
from ..tensor.kinds import as_number
from .tracer import is_staged

_Test = Callable[[Any], Any]


def _float(x: Any) -> Tensor:
    from .builtin_functions import float_

    return float_(x)


def _function(plain: Callable[[float], Any], op_type: str, outside: _Test | None = None, bad: float = -2.0,
              large: float | None = None) -> Callable[[Any], Any]:  # fmt: skip
    """One function.

    Args:
        op_type: the op that computes it.
        outside: whether an argument has no result, as `bad`, an example, has none.
        large: an argument with a result beyond all floats.
    """
    domain = message_of(ValueError, plain, bad) if outside is not None else ""
    range_ = message_of(OverflowError, plain, large) if large is not None else ""

    def function(x: Any) -> Any:
        if not is_staged(x):
            return plain(x)
        value = _float(x)
        if outside is not None:
            raise_if(outside(value), ValueError, domain)
        out = as_number(ops.op(op_type, X=value))
        if large is not None:
            beyond = ops.op("logical_and", X=ops.op("isinf_v2", X=out), Y=ops.op("isfinite_v2", X=value))
            raise_if(beyond, OverflowError, range_)
        return out

    return function


def _whole(plain: Callable[[float], int], op_type: str) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        return as_number(ops.op("python_int", X=ops.op(op_type, X=_float(x)))) if is_staged(x) else plain(x)

    return function


def _test(plain: Callable[[float], bool], op_type: str) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        return as_number(ops.op(op_type, X=_float(x))) if is_staged(x) else plain(x)

    return function


def _infinite(x: Tensor) -> Tensor:
    return ops.op("isinf_v2", X=x)


def _beyond_one(x: Tensor) -> Tensor:
    return ops.op("abs", X=x) > 1.0


MATH: dict[Any, Callable] = {
    math.sqrt: _function(math.sqrt, "sqrt", lambda x: x < 0.0),
    math.exp: _function(math.exp, "exp", large=1e4),
    math.expm1: _function(math.expm1, "expm1", large=1e4),
    math.log2: _function(math.log2, "log2", lambda x: x <= 0.0),
    math.log10: _function(math.log10, "log10", lambda x: x <= 0.0),
    math.log1p: _function(math.log1p, "log1p", lambda x: x <= -1.0),
    math.sin: _function(math.sin, "sin", _infinite, math.inf),
    math.cos: _function(math.cos, "cos", _infinite, math.inf),
    math.tan: _function(math.tan, "tan", _infinite, math.inf),
    math.asin: _function(math.asin, "asin", _beyond_one),
    math.acos: _function(math.acos, "acos", _beyond_one),
    math.atan: _function(math.atan, "atan"),
    math.sinh: _function(math.sinh, "sinh", large=1e4),
    math.cosh: _function(math.cosh, "cosh", large=1e4),
    math.tanh: _function(math.tanh, "tanh"),
    math.erf: _function(math.erf, "erf"),
    math.fabs: _function(math.fabs, "abs"),
    math.floor: _whole(math.floor, "floor"),
    math.ceil: _whole(math.ceil, "ceil"),
    math.trunc: _whole(math.trunc, "trunc"),
    math.isnan: _test(math.isnan, "isnan_v2"),
    math.isinf: _test(math.isinf, "isinf_v2"),
    math.isfinite: _test(math.isfinite, "isfinite_v2"),
}

_log = _function(math.log, "log", lambda x: x <= 0.0)


def log(x: Any, *base: Any) -> Any:
    """`math.log(x)` or `math.log(x, base)`."""
    if not any(map(is_staged, (x, *base))):
        return math.log(x, *base)
    return _log(x) / _log(base[0]) if base else _log(x)


def power(x: Any, y: Any) -> Any:
    """`math.pow(x, y)`."""
    return _float(x) ** _float(y) if is_staged(x) or is_staged(y) else math.pow(x, y)


MATH.update({math.log: log, math.pow: power})
