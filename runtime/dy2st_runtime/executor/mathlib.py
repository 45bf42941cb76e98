"""Math functions for generated CPU code.

Without SVML Numba calls libm once per element. The float32 functions here are branch-free polynomials
with the classic argument reductions (Cody and Waite; minimax coefficients from Cephes, S. Moshier, public
domain), which LLVM vectorizes; they are accurate to a few ulp (tests/runtime/executor/test_mathlib.py). Everything else goes through libm.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

f32 = np.float32
# no reassociation: it would undo the two-step reductions
_INLINE: dict[str, Any] = {"fastmath": {"nsz", "contract", "afn"}, "error_model": "numpy"}


@intrinsic
def _bits_to_float(typingctx, bits):  # type: ignore[no-untyped-def]
    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.bitcast(args[0], ir.FloatType())

    return types.float32(types.int32), codegen


@intrinsic
def _float_to_bits(typingctx, value):  # type: ignore[no-untyped-def]
    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.bitcast(args[0], ir.IntType(32))

    return types.int32(types.float32), codegen


@intrinsic
def _nearest(typingctx, value):  # type: ignore[no-untyped-def]
    """Round half to even, as one vector instruction."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        function = builder.module.declare_intrinsic("llvm.nearbyint", [ir.FloatType()])
        return builder.call(function, args)

    return types.float32(types.float32), codegen


@numba.njit(**_INLINE)
def exp_float32(x):  # type: ignore[no-untyped-def]
    clamped = min(max(x, f32(-104.0)), f32(89.0))
    n = _nearest(clamped * f32(1.44269504088896341))
    # two-step reduction: 0.693359375 has few bits, so n * it is exact
    r = clamped - n * f32(0.693359375)
    r = r - n * f32(-2.12194440e-4)
    p = f32(1.9875691500e-4)
    p = p * r + f32(1.3981999507e-3)
    p = p * r + f32(8.3334519073e-3)
    p = p * r + f32(4.1665795894e-2)
    p = p * r + f32(1.6666665459e-1)
    p = p * r + f32(5.0000001201e-1)
    y = p * r * r + r + f32(1.0)
    # 2**n in two factors, so that denormal results and overflow to infinity come out right
    half = np.int32(n) >> np.int32(1)
    rest = np.int32(n) - half
    low = _bits_to_float(np.int32((half + np.int32(127)) << np.int32(23)))
    high = _bits_to_float(np.int32((rest + np.int32(127)) << np.int32(23)))
    y = y * low * high
    return y if x == x else x


@numba.njit(**_INLINE)
def log_float32(x):  # type: ignore[no-untyped-def]
    # denormals are scaled into the normal range first
    tiny = x < f32(1.17549435e-38)
    scaled = x * f32(8388608.0) if tiny else x
    bits = _float_to_bits(scaled)
    e = f32(np.int32((bits >> np.int32(23)) & np.int32(0xFF)) - np.int32(126)) - (f32(23.0) if tiny else f32(0.0))
    m = _bits_to_float(np.int32((bits & np.int32(0x007FFFFF)) | np.int32(0x3F000000)))
    small = m < f32(0.707106781186547524)
    e = e - f32(1.0) if small else e
    m = m + m - f32(1.0) if small else m - f32(1.0)
    z = m * m
    p = f32(7.0376836292e-2)
    p = p * m + f32(-1.1514610310e-1)
    p = p * m + f32(1.1676998740e-1)
    p = p * m + f32(-1.2420140846e-1)
    p = p * m + f32(1.4249322787e-1)
    p = p * m + f32(-1.6668057665e-1)
    p = p * m + f32(2.0000714765e-1)
    p = p * m + f32(-2.4999993993e-1)
    p = p * m + f32(3.3333331174e-1)
    y = m * z * p + e * f32(-2.12194440e-4) - f32(0.5) * z
    y = m + y + e * f32(0.693359375)
    y = f32(np.inf) if x == f32(np.inf) else y
    y = f32(-np.inf) if x == f32(0.0) else y
    return y if x >= f32(0.0) else f32(np.nan)


@numba.njit(**_INLINE)
def sigmoid_float32(x):  # type: ignore[no-untyped-def]
    return f32(1.0) / (f32(1.0) + exp_float32(-x))


@numba.njit(**_INLINE)
def tanh_float32(x):  # type: ignore[no-untyped-def]
    a = abs(x)
    z = x * x
    p = f32(-5.70498872745e-3)
    p = p * z + f32(2.06390887954e-2)
    p = p * z + f32(-5.37397155531e-2)
    p = p * z + f32(1.33314422036e-1)
    p = p * z + f32(-3.33332819422e-1)
    small = p * z * x + x
    e = exp_float32(min(a, f32(20.0)) * f32(2.0))
    large = f32(1.0) - f32(2.0) / (e + f32(1.0))
    large = large if x > f32(0.0) else -large
    y = small if a < f32(0.625) else large
    return y if x == x else x


@numba.njit(**_INLINE)
def erf_float32(x):  # type: ignore[no-untyped-def]
    # fitted for the least relative error of erf: erf(x) / x in x², and -log(1 - erf(x)), which is nearly a parabola
    a = abs(x)
    z = x * x
    p = f32(-6.2032510e-4)
    p = p * z + f32(5.0321803e-3)
    p = p * z + f32(-2.6791463e-2)
    p = p * z + f32(1.1282455e-1)
    p = p * z + f32(-3.7612551e-1)
    p = p * z + f32(1.1283791)
    small = p * x
    b = min(a, f32(4.0))
    q = f32(-2.0099840e-4)
    q = q * b + f32(3.0923116e-3)
    q = q * b + f32(-2.2420289e-2)
    q = q * b + f32(1.0432764e-1)
    q = q * b + f32(6.3673711e-1)
    q = q * b + f32(1.1279362)
    q = q * b + f32(1.3355879e-4)
    large = f32(1.0) - exp_float32(-q)
    large = large if x > f32(0.0) else -large
    y = small if a < f32(0.875) else large
    return y if x == x else x


def _libm(name: str, fn: Any, dtype: str) -> Any:
    cast = np.float32 if dtype == "float32" else np.float64

    @numba.njit(**_INLINE)
    def call(x):  # type: ignore[no-untyped-def]
        return cast(fn(x))

    call.__name__ = f"{name}_{dtype}"
    return call


@numba.njit
def _sigmoid(x):  # type: ignore[no-untyped-def]
    return 1.0 / (1.0 + math.exp(-x))


@numba.njit
def _rsqrt(x):  # type: ignore[no-untyped-def]
    return 1.0 / math.sqrt(x)


def _table() -> dict[str, Any]:
    fns = {"exp": np.exp, "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p, "expm1": np.expm1,
           "sqrt": np.sqrt, "rsqrt": _rsqrt, "sin": np.sin, "cos": np.cos, "tan": np.tan, "tanh": np.tanh,
           "sigmoid": _sigmoid, "erf": math.erf, "floor": np.floor, "ceil": np.ceil, "round": np.rint, "trunc": np.trunc,
           "atan": np.arctan, "asin": np.arcsin, "acos": np.arccos, "sinh": np.sinh, "cosh": np.cosh,
           "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "abs": np.abs}  # fmt: skip
    table = {f"{name}_{dtype}": _libm(name, fn, dtype) for name, fn in fns.items() for dtype in ("float32", "float64")}
    for fn in (exp_float32, log_float32, sigmoid_float32, tanh_float32, erf_float32):
        table[fn.__name__] = fn
    return table


@numba.njit(error_model="numpy")
def pow_float32(x, y):  # type: ignore[no-untyped-def]
    return f32(x**y)


@numba.njit(error_model="numpy")
def pow_float64(x, y):  # type: ignore[no-untyped-def]
    return x**y


@numba.njit(error_model="numpy")
def pow_int64(x, y):  # type: ignore[no-untyped-def]
    result = np.int64(1)
    base = x
    e = y
    while e > 0:
        if e & 1:
            result *= base
        base *= base
        e >>= 1
    return result


@numba.njit
def pow_int32(x, y):  # type: ignore[no-untyped-def]
    return np.int32(pow_int64(np.int64(x), np.int64(y)))


def _predicates(dtype: str) -> dict[str, Any]:
    @numba.njit
    def isnan(x):  # type: ignore[no-untyped-def]
        return x != x

    @numba.njit
    def isinf(x):  # type: ignore[no-untyped-def]
        return x == np.inf or x == -np.inf

    @numba.njit
    def isfinite(x):  # type: ignore[no-untyped-def]
        return x - x == 0

    return {f"isnan_{dtype}": isnan, f"isinf_{dtype}": isinf, f"isfinite_{dtype}": isfinite}


def _int_abs(dtype: str) -> Any:
    cast = getattr(np, dtype)

    @numba.njit
    def absolute(x):  # type: ignore[no-untyped-def]
        return cast(x if x >= 0 else -x)

    return absolute


FUNCTIONS: dict[str, Any] = {
    **_table(),
    "pow_float32": pow_float32,
    "pow_float64": pow_float64,
    "pow_int64": pow_int64,
    "pow_int32": pow_int32,
    **_predicates("float32"),
    **_predicates("float64"),
    **{f"abs_{name}": _int_abs(name) for name in ("int8", "int16", "int32", "int64", "uint8")},
}
