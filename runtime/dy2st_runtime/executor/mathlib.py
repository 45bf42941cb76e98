"""Math functions for generated CPU code.

Without a vector library LLVM calls libm once per element. The float32 functions here are branch-free polynomials
with the classic argument reductions (Cody and Waite; minimax coefficients from Cephes, S. Moshier, public
domain), which LLVM vectorizes; they are accurate to a few ulp (tests/runtime/executor/test_mathlib.py). Everything else goes through libm.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numpy import float32, float64, int32, int64

from .. import dtype as dt
from .scalars import computing
from .values import TYPES, Arithmetic, Instruction, Value, constant, declared, of_llvm

f32 = np.float32
# no reassociation: it would undo the two-step reductions
_inline = computing(floats=("nsz", "contract", "afn"), wraps=True)
_wrapping = computing(wraps=True)


_bits_to_float = Instruction(lambda builder, bits: builder.bitcast(bits, ir.FloatType()), ("int32",), "float32")
_float_to_bits = Instruction(lambda builder, value: builder.bitcast(value, ir.IntType(32)), ("float32",), "int32")


def _of_llvm(name: str, dtype: str, operands: int = 1) -> Instruction:
    return Instruction(lambda builder, *values: of_llvm(builder, name, *values), (dtype,) * operands, dtype)


def _of_libm(name: str, dtype: str) -> Instruction:
    """A function of the C library."""
    symbol, kind = name + ("f" if dtype == "float32" else ""), TYPES[dtype]

    def emit(builder: Any, value: Any) -> Any:
        return builder.call(declared(builder.module, ir.FunctionType(kind, [kind]), symbol), [value])

    return Instruction(emit, (dtype,), dtype)


_half = Instruction(lambda builder, value: builder.fpext(builder.fptrunc(value, ir.HalfType()), ir.FloatType()), ("float32",), "float32")
_nearest = _of_llvm("nearbyint", "float32")  # round half to even, as one vector instruction


@_inline
def exp_float32(x: float32) -> float32:
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
    half = int32(n) >> int32(1)
    rest = int32(n) - half
    low = _bits_to_float(int32((half + int32(127)) << int32(23)))
    high = _bits_to_float(int32((rest + int32(127)) << int32(23)))
    y = y * low * high
    return y if x == x else x


@_inline
def log_float32(x: float32) -> float32:
    # denormals are scaled into the normal range first
    tiny = x < f32(1.17549435e-38)
    scaled = x * f32(8388608.0) if tiny else x
    bits = _float_to_bits(scaled)
    e = f32(int32((bits >> int32(23)) & int32(0xFF)) - int32(126)) - (f32(23.0) if tiny else f32(0.0))
    m = _bits_to_float(int32((bits & int32(0x007FFFFF)) | int32(0x3F000000)))
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


@_inline
def sigmoid_float32(x: float32) -> float32:
    return f32(1.0) / (f32(1.0) + exp_float32(-x))


@_inline
def tanh_float32(x: float32) -> float32:
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
    return y if x < f32(0.0) or x > f32(0.0) else x  # -0.0 and NaN stay what they are


@_inline
def erf_float32(x: float32) -> float32:
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


@_inline
def sigmoid_float64(x: float64) -> float64:
    return float64(1.0) / (float64(1.0) + _exp(-x))


@_inline
def rsqrt_float32(x: float32) -> float32:
    return f32(1.0) / _root32(x)


@_inline
def rsqrt_float64(x: float64) -> float64:
    return 1.0 / _root64(x)


@_wrapping
def pow_int64(x: int64, y: int64) -> int64:
    result, base, e = int64(1), x, y
    while e > 0:
        if e & 1:
            result *= base
        base *= base
        e >>= 1
    return result


@_wrapping
def pow_int32(x: int32, y: int32) -> int32:
    return int32(pow_int64(int64(x), int64(y)))


_exp, _root32, _root64 = _of_llvm("exp", "float64"), _of_llvm("sqrt", "float32"), _of_llvm("sqrt", "float64")
_OF_LLVM = ("exp", "log", "log2", "log10", "sqrt", "sin", "cos", "floor", "ceil", "trunc")
_OF_LIBM = ("log1p", "expm1", "tan", "tanh", "erf", "atan", "asin", "acos", "sinh", "cosh", "asinh", "acosh", "atanh")


def _on(dtype: str, code: Callable[[Arithmetic, Value], Value], gives: str = "bool") -> Instruction:
    """A function of one value, by the operators."""
    return Instruction(lambda builder, x: code(Arithmetic(builder), Value(dtype, x)).of, (dtype,), gives)


def _real(dtype: str) -> dict[str, Any]:
    infinity = constant(np.inf, dtype)
    return {
        **{name: _of_llvm(name, dtype) for name in _OF_LLVM},
        **{name: _of_libm(name, dtype) for name in _OF_LIBM},
        "round": _of_llvm("rint", dtype),
        "abs": _on(dtype, Arithmetic.absolute, dtype),
        "pow": _of_llvm("pow", dtype, 2),
        # NaN if an operand is NaN, and LLVM folds many of them in vectors, as it does not with a comparison and a choice
        **{name: _of_llvm(name, dtype, 2) for name in ("maximum", "minimum")},
        "isnan": _on(dtype, lambda math, x: math.compare("!=", x, x)),
        "isinf": _on(dtype, lambda math, x: math.compare("==", math.absolute(x), infinity)),
        "isfinite": _on(dtype, lambda math, x: math.compare("<", math.absolute(x), infinity)),
    }


FUNCTIONS: dict[str, Any] = {
    **{f"{name}_{dtype}": function for dtype in ("float32", "float64") for name, function in _real(dtype).items()},
    **{f"abs_{dtype}": _on(dtype, Arithmetic.absolute, dtype) for dtype in dt.INTS},
    "half_float32": _half,
    **{function.__name__: function for function in (exp_float32, log_float32, sigmoid_float32, sigmoid_float64, tanh_float32, erf_float32,
                                                    rsqrt_float32, rsqrt_float64, pow_int64, pow_int32)},
}  # fmt: skip
