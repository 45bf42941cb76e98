"""The functions of Python's `math` module on numbers that depend on tensors."""

from __future__ import annotations

import functools
import inspect
import math
import operator
from collections.abc import Callable
from typing import Any

from ...tensor import Tensor, dispatch
from ...tensor.dispatch import ops
from ...tensor.failures import message_of, raise_if
from ...tensor.kinds import as_number
from .. import hub, roles
from ..control.number_kinds import by_kind
from ..hub import is_staged, renamed

ROLE = roles.ACTING

_Test = Callable[[Any], Any]


def _float(x: Any) -> Tensor:
    return hub.BUILTINS[float](x)  # type: ignore[no-any-return]


def _is_int(x: Any) -> bool:
    return isinstance(x, Tensor) and x._weak and not x.dtype.startswith("float")


def _function(plain: Callable[[float], Any], op_type: str, outside: _Test | None = None, bad: float = -2.0,
              large: float | None = None) -> Callable[[Any], Any]:  # fmt: skip
    """One function.

    Args:
        op_type: the op that computes it.
        outside: whether an argument has no result, as `bad`, an example, has none.
        large: an argument with a result beyond all floats.
    """
    # since Python 3.14 the text ends in the float that it is about; `math.log` says nothing of an int
    examples = [bad] if math.isinf(bad) else [bad, int(bad)]
    domain = [message_of(ValueError, plain, v).rsplit(repr(bad), 1) for v in examples] if outside is not None else []
    range_ = message_of(OverflowError, plain, large) if large is not None else ""

    def function(x: Any) -> Any:
        if not is_staged(x):
            return plain(x)
        value = _float(x)
        if outside is not None:
            text = domain[-1 if _is_int(x) else 0]
            raise_if(outside(value), ValueError, *text, data=(value,) if len(text) > 1 else ())
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


def _truncated(x: Any) -> Any:
    return _whole(math.trunc, "trunc")(x) if is_staged(x) and x._weak else math.trunc(x)  # which tensors do not have, and say so


def _test(plain: Callable[[float], bool], op_type: str) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        return as_number(ops.op(op_type, X=_float(x))) if is_staged(x) else plain(x)

    return function


def _infinite(x: Tensor) -> Tensor:
    return ops.op("isinf_v2", X=x)


def _beyond_one(x: Tensor) -> Tensor:
    return ops.op("abs", X=x) > 1.0


MATH: dict[Any, Callable[..., Any]] = {
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
    math.trunc: by_kind(_truncated),
    math.isnan: _test(math.isnan, "isnan_v2"),
    math.isinf: _test(math.isinf, "isinf_v2"),
    math.isfinite: _test(math.isfinite, "isfinite_v2"),
}

_NO_POWER, _LARGE_POWER = message_of(ValueError, math.pow, 0.0, -1.0), message_of(OverflowError, math.pow, 10.0, 400.0)
_log = _function(math.log, "log", lambda x: x <= 0.0)


def log(x: Any, *base: Any) -> Any:
    """`math.log(x)` or `math.log(x, base)`."""
    if not any(map(is_staged, (x, *base))):
        return math.log(x, *base)
    return _log(x) / _log(base[0]) if base else _log(x)


def power(x: Any, y: Any) -> Any:
    """`math.pow(x, y)`, which raises other exceptions than `x ** y`."""
    if not is_staged(x) and not is_staged(y):
        return math.pow(x, y)
    x, y = _tensor(x), _tensor(y)
    out = ops.op("elementwise_pow", X=x, Y=y)
    finite = ops.op("logical_and", X=ops.op("isfinite_v2", X=x), Y=ops.op("isfinite_v2", X=y))
    raise_if(finite & ~ops.op("isfinite_v2", X=out) & ((x == 0.0) | ops.op("isnan_v2", X=out)), ValueError, _NO_POWER)
    raise_if(finite & ops.op("isinf_v2", X=out), OverflowError, _LARGE_POWER)
    return as_number(out)


def _scaled(plain: Callable[[float], float], factor: float) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        return as_number(ops.op("scale", X=_float(x), scale=factor)) if is_staged(x) else plain(x)

    return function


def _of_numbers(plain: Callable[..., Any], compute: Callable[..., Tensor]) -> Callable[..., Any]:
    """A function of several numbers; `compute` gets tensors of float64, and divides without a look at the divisor."""

    def function(*args: Any, **kwargs: Any) -> Any:
        if not any(map(is_staged, (*args, *kwargs.values()))):
            return plain(*args, **kwargs)
        given = inspect.signature(compute).bind(*args, **kwargs)
        given.apply_defaults()
        return as_number(compute(*map(_tensor, given.args), **{k: _tensor(v) for k, v in given.kwargs.items()}))

    return function


def _tensor(x: Any) -> Tensor:
    """A number as a tensor that is none."""
    return renamed(_float(x)) if is_staged(x) else dispatch.constant(float(x), "float64")


def _where(condition: Tensor, x: Any, y: Any) -> Tensor:
    x, y = (v if isinstance(v, Tensor) else dispatch.constant(v, "float64") for v in (x, y))
    return ops.op("where", Condition=condition, X=x, Y=y)


def _is_negative(x: Tensor) -> Tensor:
    """Whether the sign of a float is minus, also that of a zero."""
    return _where(x == 0.0, 1.0 / x, x) < 0.0


def _copysign(x: Tensor, y: Tensor) -> Tensor:
    size = ops.op("abs", X=x)
    return _where(_is_negative(y), -size, size)


def _atan2(y: Tensor, x: Tensor) -> Tensor:
    high, wide = ops.op("abs", X=y), ops.op("abs", X=x)
    steep = high > wide
    slope = _where(steep, wide, high) / _where(steep, high, wide)
    slope = _where(high == wide, 1.0, slope)  # infinite both
    angle = ops.op("atan", X=_where((high == 0.0) & (wide == 0.0), 0.0, slope))
    angle = _where(steep, math.pi / 2 - angle, angle)
    return _copysign(_where(_is_negative(x), math.pi - angle, angle), y)


def _fmod(x: Tensor, y: Tensor) -> Tensor:
    known = ~(ops.op("isnan_v2", X=x) | ops.op("isnan_v2", X=y))
    raise_if(known & (_infinite(x) | (y == 0.0)), ValueError, message_of(ValueError, math.fmod, 1.0, 0.0))
    size = ops.op("abs", X=x)
    rest = _where(_infinite(y), size, ops.op("elementwise_mod", X=size, Y=ops.op("abs", X=y)))
    return _copysign(rest, x)


def _hypot(*sides: Tensor) -> Tensor:
    sizes = [ops.op("abs", X=s) for s in sides]
    largest = functools.reduce(lambda a, b: _where(a > b, a, b), sizes)
    total = functools.reduce(operator.add, [(s / largest) * (s / largest) for s in sizes])
    infinite = functools.reduce(operator.or_, [_infinite(s) for s in sizes])
    length = _where(functools.reduce(operator.and_, [s == 0.0 for s in sizes]), 0.0, largest * ops.op("sqrt", X=total))
    return _where(infinite, math.inf, length)


def _isclose(a: Tensor, b: Tensor, *, rel_tol: Any = 1e-9, abs_tol: Any = 0.0) -> Tensor:
    sizes = ops.op("abs", X=a), ops.op("abs", X=b)
    allowed = rel_tol * _where(sizes[0] > sizes[1], *sizes)
    near = ops.op("abs", X=a - b) <= _where(allowed > abs_tol, allowed, abs_tol)
    return (a == b) | (near & ~_infinite(a) & ~_infinite(b))


MATH[math.log], MATH[math.pow] = log, power
MATH[math.degrees] = _scaled(math.degrees, 180.0 / math.pi)
MATH[math.radians] = _scaled(math.radians, math.pi / 180.0)
MATH[math.atan2] = _of_numbers(math.atan2, _atan2)
MATH[math.fmod] = _of_numbers(math.fmod, _fmod)
MATH[math.hypot] = _of_numbers(math.hypot, _hypot)
MATH[math.copysign] = _of_numbers(math.copysign, _copysign)
MATH[math.isclose] = _of_numbers(math.isclose, _isclose)
