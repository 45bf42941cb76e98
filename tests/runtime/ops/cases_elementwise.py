"""Rows of the elementwise ops."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from dy2st_runtime.errors import AttributeValueError, DivisionError, DTypeError, IntegerRangeError, ShapeError
from op_cases import Case
from scipy import special

rng = np.random.default_rng(5)
NAN, INF = math.nan, math.inf


def f32(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)


def ints(*shape: int, low: int = -9, high: int = 10, dtype: Any = np.int64) -> np.ndarray:
    return rng.integers(low, high, shape).astype(dtype)


def arr(values: Any, dtype: str = "float32") -> np.ndarray:
    return np.array(values, dtype)


A, B, ROW, COLUMN = f32(2, 3), f32(2, 3), f32(3), f32(2, 1)
AWAY = np.where(np.abs(A) < 0.1, 0.5, A).astype(np.float32)  # away from the kinks at 0
POSITIVE = (np.abs(f32(2, 3)) + 0.5).astype(np.float32)
UNIT = np.array([[-0.9, -0.4, 0.1], [0.3, 0.6, 0.95]], np.float32)
EDGES = np.tile(arr([0.0, -0.0, INF, -INF, NAN, 1.0, -1.0]), 5)  # long enough for the vector loop and the rest after it
OTHER_EDGES = np.tile(arr([NAN, 2.0, INF, 3.0, 1.0, NAN, 0.0]), 5)
I, J = ints(2, 3), np.array([[1, -2, 3], [-4, 5, 6]])  # noqa: E741
TOP = 2**63 - 1
CHECKED = [
    ("elementwise_add", operator.add, [(TOP - 1, 1), (-TOP, -1), (5, -7)]),
    ("elementwise_sub", operator.sub, [(-TOP, 1), (TOP, 1), (-1, TOP), (5, 7)]),
    ("elementwise_mul", operator.mul, [(2**31, 2**31), (-(2**31), 2**31), (0, TOP), (-3, 4)]),
    ("elementwise_pow", operator.pow, [(3, 39), (-3, 39), (0, 0), (2, 62), (1, TOP)]),
    ("bitwise_left_shift", operator.lshift, [(1, 62), (-1, 63), (0, 500), (-5, 3)]),
]
OUT_OF_RANGE = [
    ("elementwise_add", TOP, 1), ("elementwise_add", -TOP, -2), ("elementwise_sub", -TOP, 2), ("elementwise_sub", 0, -TOP - 1),
    ("elementwise_mul", 2**32, 2**31), ("elementwise_mul", -(2**40), 2**40), ("elementwise_pow", 3, 40),
    ("elementwise_pow", 2, 2000), ("bitwise_left_shift", 1, 63), ("bitwise_left_shift", 3, 62), ("bitwise_left_shift", 1, 200),
]  # fmt: skip
BAD_POWERS = [
    (2, -1, DTypeError, "is a float"),
    (-3.0, 0.5, DTypeError, "complex"),
    (0.0, -1.0, ZeroDivisionError, "zero|0.0"),
    (10.0, 400.0, OverflowError, "out of range"),
]
T, F = arr([True, True, False, False], "bool"), arr([True, False, True, False], "bool")


def binary(op: str, f: Any, *pairs: tuple[np.ndarray, np.ndarray], **options: Any) -> list[Case]:
    return [Case(op, {"X": x, "Y": y}, expect=f, **options) for x, y in pairs]


def unary(op: str, f: Any, *xs: np.ndarray, attrs: dict[str, Any] | None = None, **options: Any) -> list[Case]:
    return [Case(op, {"X": x}, attrs or {}, expect=f, **options) for x in xs]


def edges(op: str, f: Any, attrs: dict[str, Any] | None = None) -> Case:
    """Infinities, NaN and both zeros; no finite differences there."""
    return Case(op, {"X": EDGES}, attrs or {}, expect=f, grad=())


FLOAT_PAIRS = [(A, B), (A, ROW), (COLUMN, A), (COLUMN, ROW), (A, arr(2.5)), (f32(), f32()), (f32(0, 3), ROW)]
INT_PAIRS = [(I, J), (I, J[:1]), (ints(3, dtype=np.int32), ints(3, low=1, dtype=np.int32)),
             (arr([200, 7], "uint8"), arr([100, 3], "uint8")), (arr([100, -7], "int8"), arr([100, 3], "int8"))]  # fmt: skip
MIXED = [(I, A), (A, A.astype(np.float64)), (A.astype(np.float16), B.astype(np.float16)),
         (arr([True, False], "bool"), arr([2, 3], "int64"))]  # fmt: skip


def wrapped(f: Any) -> Any:
    """The expression computed in the promoted dtype."""

    def g(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        from dy2st_runtime import dtype

        name = dtype.promote(x.dtype.name, y.dtype.name)
        return f(x.astype(name), y.astype(name))

    return g


CASES: list[Case] = [
    *binary("elementwise_add", wrapped(np.add), *FLOAT_PAIRS, *INT_PAIRS, *MIXED, (T, F)),
    *binary("elementwise_sub", wrapped(np.subtract), *FLOAT_PAIRS, *INT_PAIRS, *MIXED),
    *binary("elementwise_mul", wrapped(np.multiply), *FLOAT_PAIRS, *INT_PAIRS, *MIXED, (T, F)),
    *binary("elementwise_div", lambda x, y: x / y, (A, AWAY), (COLUMN, AWAY), (AWAY[0], AWAY)),
    *binary("elementwise_div", lambda x, y: x.astype(np.float32) / y.astype(np.float32), (I, J), (T, T[::-1])),
    Case("elementwise_div", {"X": I, "Y": I.astype(np.float64)}, expect=lambda x, y: x / y, grad=()),
    # not the derivative, but what passes: tests/convert/training/test_detached_state.py
    *[Case("replaced_value", {"X": x, "Value": y}, expect=lambda x, y: y, grad=())
      for x, y in ((A, B), (I, J), (T, F), (f32(), f32()), (EDGES, OTHER_EDGES))],
    *binary("elementwise_max", np.maximum, *FLOAT_PAIRS[:4], (I, J), (T, F)),
    *binary("elementwise_min", np.minimum, *FLOAT_PAIRS[:4], (I, J), (T, F)),
    *[Case(op, {"X": EDGES, "Y": OTHER_EDGES}, expect=f, grad=())
      for op, f in (("elementwise_add", np.add), ("elementwise_div", np.divide), ("elementwise_max", np.maximum),
                    ("elementwise_min", np.minimum), ("elementwise_floordiv", np.floor_divide), ("elementwise_mod", np.mod))],
    *binary("elementwise_mod", wrapped(np.mod), (B, AWAY), (I, J), (-I, J), (arr([200, 7], "uint8"), arr([101, 3], "uint8"))),
    *binary("elementwise_floordiv", np.floor_divide, (B, AWAY), (I, J), (arr([-7, 7], "int32"), arr([2, -2], "int32"))),
    *binary("elementwise_pow", np.power, (POSITIVE, A), (POSITIVE, ROW), (I, np.abs(J))),
    Case("elementwise_pow", {"X": arr([1, -1, -1, 2, -3], "int64"), "Y": arr([-3, -3, -2, -1, -2], "int64")},
         expect=lambda x, y: arr([1, -1, 1, 0, 0], "int64")),
    Case("elementwise_pow", {"X": arr([1, -1, 2, -1, -3], "int8"), "Y": arr([-128, -128, -128, -127, -1], "int8")},
         expect=lambda x, y: arr([1, 1, 0, -1, 0], "int8"), grad=()),
    Case("elementwise_pow", {"X": EDGES, "Y": OTHER_EDGES}, expect=np.power, grad=()),
    Case("elementwise_mod", {"X": I, "Y": arr([1, 0, 2], "int64")}, raises=DivisionError, match="modulo by zero"),
    Case("elementwise_floordiv", {"X": arr([], "int64"), "Y": arr(0, "int64")}, expect=lambda x, y: x),
    Case("elementwise_mod", {"X": arr([], "int64"), "Y": arr([0], "int64")}, expect=lambda x, y: x),
    Case("elementwise_floordiv", {"X": I, "Y": arr(0, "int64")}, raises=ZeroDivisionError, match="division by zero"),
    Case("elementwise_pow", {"X": arr([0], "int64"), "Y": arr([-1], "int64")}, raises=DivisionError, match="negative"),
    *[Case(op, {"X": arr(x, "int64"), "Y": arr(y, "int64")}, {"checked": True}, expect=lambda x, y, f=f: np.asarray(f(int(x), int(y))))
      for op, f, pairs in CHECKED for x, y in pairs],
    *[Case(op, {"X": arr(x, "int64"), "Y": arr(y, "int64")}, {"checked": True}, raises=IntegerRangeError, match="64 bits")
      for op, x, y in OUT_OF_RANGE],
    *[Case("elementwise_pow", {"X": np.asarray(x), "Y": np.asarray(y)}, {"checked": True}, raises=error, match=match)
      for x, y, error, match in BAD_POWERS],
    *[Case("elementwise_pow", {"X": np.asarray(x), "Y": np.asarray(y)}, {"checked": True}, grad=(),
           expect=lambda x, y: np.asarray(float(x) ** float(y)))
      for x, y in ((-3.0, 3.0), (2.5, -0.5), (INF, 2.0), (0.0, 0.0), (NAN, 2.0), (-INF, 0.5), (-INF, -0.5), (-INF, 3.0), (-2.0, NAN),
                   (0.0, -INF), (-2.0, INF), (-0.0, 0.5))],
    *unary("python_int", lambda x: np.asarray(int(x)), arr(2.75), arr(-2.75), arr(0.0), arr(1e15, "float64"), arr(-0.5, "float16")),
    *[Case("python_int", {"X": arr(x)}, raises=error, match=match)
      for x, error, match in ((NAN, ValueError, "NaN"), (INF, OverflowError, "infinity"), (-1e30, IntegerRangeError, "64 bits"))],
    *[Case("fitted_int", {"X": arr(x, "int64")}, {"out_dtype": name}, expect=lambda x, name=name: x.astype(name))
      for x, name in ((255, "uint8"), (0, "uint8"), (-128, "int8"), (2**31 - 1, "int32"), (-(2**31), "int32"))],
    *[Case("fitted_int", {"X": arr(x, "int64")}, {"out_dtype": name}, raises=IntegerRangeError, match=f"{x} is out of range for {name}")
      for x, name in ((256, "uint8"), (-1, "uint8"), (-129, "int8"), (2**31, "int32"), (-TOP, "int32"))],
    *[Case("fitted_int", {"X": arr(x, "float64")}, {"out_dtype": name}, expect=lambda x, name=name: x.astype(name))
      for x, name in ((2.75, "int64"), (-2.75, "int64"), (255.9, "uint8"), (-0.9, "uint8"), (-128.9, "int8"), (-(2.0**63), "int64"),
                      (2.0**63 - 2.0**10, "int64"), (2.0**31 - 0.5, "int32"))],
    *[Case("fitted_int", {"X": arr(x, "float64")}, {"out_dtype": name}, raises=DTypeError, match=f"{x} cannot be an {name}")
      for x, name in ((NAN, "int64"), (-INF, "uint8"))],
    *[Case("fitted_int", {"X": arr(x, "float64")}, {"out_dtype": name}, raises=IntegerRangeError, match=f"out of range for {name}")
      for x, name in ((2.0**63, "int64"), (1e300, "int8"), (256.0, "uint8"), (-1.0, "uint8"), (-129.0, "int8"), (2.0**31, "int32"))],
    *binary("elementwise_floordiv", np.floor_divide, (arr([-TOP - 1, 7], "int64"), arr([-1, -1], "int64"))),
    *binary("elementwise_mod", np.mod, (arr([-TOP - 1, 7], "int64"), arr([-1, -1], "int64"))),
    Case("elementwise_add", {"X": f32(2, 3), "Y": f32(2)}, raises=ShapeError, match=r"\[2, 3\] and \[2\]"),
    Case("elementwise_sub", {"X": T, "Y": F}, raises=DTypeError, match="bool", static=True),
    # Paddle's 1.x alignment
    *[Case(op, {"X": f32(2, 3, 4), "Y": y}, {"axis": axis}, expect=lambda x, y, f=f, s=s: f(x, y.reshape(s)))
      for op, f in (("elementwise_add", np.add), ("elementwise_mul", np.multiply))
      for y, axis, s in ((f32(3), 1, (3, 1)), (f32(2, 3), 0, (2, 3, 1)), (f32(3, 4), 1, (3, 4)))],
    *[Case("elementwise_add", {"X": f32(2, 3), "Y": f32(3)}, {"axis": axis}, raises=AttributeValueError, match="from 0 to 1",
           static=True) for axis in (2, -2, -(2**31))],
    # scale, increment
    *unary("scale", lambda x: x * np.float32(2.5) + np.float32(0.5), A, f32(), attrs={"scale": 2.5, "bias": 0.5}),
    *unary("scale", lambda x: (x + np.float32(0.5)) * np.float32(-2), A, attrs={"scale": -2.0, "bias": 0.5, "bias_after_scale": False}),
    *unary("scale", lambda x: 3 * x - 1, I, ints(4, dtype=np.int32), attrs={"scale": 3.0, "bias": -1.0}),
    Case("scale", {"X": I}, {"scale": 0.5}, raises=AttributeValueError, match="whole number", static=True),
    *unary("increment", lambda x: x + 2, arr([1.5]), arr([3], "int64"), attrs={"step": 2.0}),
    # functions
    *unary("exp", np.exp, A, f32(2, 3, 4)), edges("exp", np.exp),
    *unary("exp", lambda x: np.exp(x.astype(np.float32)), I), *unary("exp", np.exp, A.astype(np.float16), A.astype(np.float64)),
    *unary("expm1", np.expm1, A, arr([1e-6, -1e-6])),
    *[c for op, f in (("log", np.log), ("log2", np.log2), ("log10", np.log10), ("log1p", np.log1p), ("sqrt", np.sqrt))
      for c in (*unary(op, f, POSITIVE), edges(op, f))],
    *unary("rsqrt", lambda x: 1 / np.sqrt(x), POSITIVE), edges("rsqrt", lambda x: 1 / np.sqrt(x)),
    *unary("reciprocal", lambda x: 1 / x, AWAY), edges("reciprocal", lambda x: 1 / x),
    *unary("square", np.square, A, I, ints(3, dtype=np.int32)),
    *unary("abs", np.abs, AWAY, I, arr([-7, 3], "int8"), arr([7, 3], "uint8")), edges("abs", np.abs),
    *[c for op, f in (("sign", np.sign), ("floor", np.floor), ("ceil", np.ceil), ("round", np.round), ("trunc", np.trunc))
      for c in (*unary(op, f, AWAY, I), edges(op, f))],
    *unary("round", np.round, arr([0.5, 1.5, 2.5, -0.5, -1.5]), grad=()), *unary("sign", np.sign, arr([7, 0], "uint8")),
    *[c for op, f in (("sin", np.sin), ("cos", np.cos), ("sinh", np.sinh), ("cosh", np.cosh), ("tanh", np.tanh), ("atan", np.arctan),
                      ("erf", special.erf), ("sigmoid", special.expit))
      for c in (*unary(op, f, A), edges(op, f))],
    *unary("tan", np.tan, UNIT), *unary("asin", np.arcsin, UNIT), *unary("acos", np.arccos, UNIT),
    *unary("asinh", np.arcsinh, A), edges("asinh", np.arcsinh), *unary("acosh", np.arccosh, POSITIVE + 1),
    edges("acosh", np.arccosh), *unary("atanh", np.arctanh, UNIT), edges("atanh", np.arctanh),
    *[c for op, f in (("isnan_v2", np.isnan), ("isinf_v2", np.isinf), ("isfinite_v2", np.isfinite)) for c in unary(op, f, EDGES, I)],
    *[Case("cast", {"X": x}, {"in_dtype": x.dtype, "out_dtype": out}, expect=lambda x, out=out: x.astype(out), grad=())
      for x, out in ((A * 3, "int64"), (A * 3, "int32"), (A, "float16"), (I, "float32"), (EDGES, "bool"), (T, "float32"), (T, "int8"),
                     (I, "uint8"), (I, "int16"), (A.astype(np.float64), "float32"))],
    Case("cast", {"X": A}, {"out_dtype": "float64"}, expect=lambda x: x.astype(np.float64)),
    *unary("clip", lambda x: np.clip(x, -0.5, 0.7), AWAY, attrs={"min": -0.5, "max": 0.7}), edges("clip", lambda x: np.clip(x, -1, 1),
                                                                                              {"min": -1.0, "max": 1.0}),
    *unary("clip", lambda x: np.clip(x, -2, 3), I, attrs={"min": -2.0, "max": 3.9}),
    *[Case("clip", {"X": EDGES}, {"min": low, "max": high}, grad=(),
           expect=lambda x, low=low, high=high: np.minimum(np.maximum(x, low), high))
      for low, high in ((NAN, 1.0), (-1.0, NAN), (-INF, INF))],
    *unary("clip", lambda x: np.clip(x, 0, None), AWAY, I, attrs={"min": 0.0}),
    *[Case("pow", {"X": POSITIVE}, {"factor": p}, expect=lambda x, p=p: x ** np.float32(p))
      for p in (2.0, 3.0, 0.5, -0.5, -1.0, -1.5, 1.0, 0.0)],
    *[Case("pow", {"X": EDGES}, {"factor": p}, expect=lambda x, p=p: np.power(x, np.float32(p)), grad=()) for p in (2.0, -0.5, -1.0)],
    *[Case("pow", {"X": J}, {"factor": p}, expect=lambda x, p=p: x ** int(p)) for p in (0.0, 2.0, 5.0)],
    Case("pow", {"X": J}, {"factor": 0.5}, expect=lambda x: x.astype(np.float32) ** np.float32(0.5)),
    Case("pow", {"X": arr([0, 1], "int64")}, {"factor": -1.0}, raises=DivisionError, match="negative"),
    # activations
    *unary("relu", lambda x: np.maximum(x, 0), AWAY, I), edges("relu", lambda x: np.maximum(x, 0)),
    *unary("relu6", lambda x: np.clip(x, 0, 6), AWAY * 8), edges("relu6", lambda x: np.clip(x, 0, 6)),
    *unary("logsigmoid", lambda x: np.log(special.expit(x.astype(np.float64))), A, arr([-100.0, 100.0])),
    *unary("softplus", lambda x: np.log1p(np.exp(x)), A), *unary("softplus", lambda x: x, arr([30.0, 1e4])),
    *unary("softplus", lambda x: np.log1p(np.exp(2 * x)) / 2, A, attrs={"beta": 2.0, "threshold": 15.0}),
    *unary("softsign", lambda x: x / (1 + np.abs(x)), AWAY),
    *unary("gelu", lambda x: x * (1 + special.erf(x / math.sqrt(2))) / 2, A, f32(5)),
    *unary("gelu", lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))), A, attrs={"approximate": True}),
    *unary("hard_sigmoid", lambda x: np.clip(0.2 * x + 0.5, 0, 1), A * 3),
    *unary("hard_swish", lambda x: x * np.clip(x + 3, 0, 6) / 6, A * 3),
    *unary("swish", lambda x: x * special.expit(1.5 * x), A, attrs={"beta": 1.5}), *unary("silu", lambda x: x * special.expit(x), A),
    *unary("leaky_relu", lambda x: np.where(x > 0, x, 0.1 * x), AWAY, attrs={"alpha": 0.1}),
    *unary("elu", lambda x: np.where(x > 0, x, 0.7 * np.expm1(x)), AWAY, attrs={"alpha": 0.7}),
    *unary("mish", lambda x: x * np.tanh(np.log1p(np.exp(x))), A),
    # comparisons and logic
    *[c for op, f in (("equal", np.equal), ("not_equal", np.not_equal), ("less_than", np.less), ("less_equal", np.less_equal),
                      ("greater_than", np.greater), ("greater_equal", np.greater_equal))
      for c in binary(op, f, (I % 3, J % 3), (I % 3, arr(1, "int64")), (EDGES, OTHER_EDGES), (T, F), (ROW, COLUMN))],
    Case("less_than", {"X": I, "Y": arr(0.5)}, expect=lambda x, y: x < y),
    *[c for op, f in (("logical_and", np.logical_and), ("logical_or", np.logical_or), ("logical_xor", np.logical_xor))
      for c in binary(op, f, (T, F), (EDGES, OTHER_EDGES), (T[:, None], F))],
    *unary("logical_not", np.logical_not, T, EDGES, I % 2),
    *[c for op, f in (("bitwise_and", np.bitwise_and), ("bitwise_or", np.bitwise_or), ("bitwise_xor", np.bitwise_xor))
      for c in binary(op, f, (T, F), (I, J), (ints(3, dtype=np.int32), ints(1, dtype=np.int32)))],
    *unary("bitwise_not", np.invert, T, I, arr([7, 200], "uint8")),
    Case("bitwise_and", {"X": A, "Y": B}, raises=DTypeError, match="float32", static=True),
    *binary("bitwise_left_shift", np.left_shift, (I, np.abs(J)), (arr([1, 3], "int32"), arr([31, 40], "int32"))),
    *binary("bitwise_right_shift", np.right_shift, (I, np.abs(J)), (arr([-8, 8], "int32"), arr([1, 40], "int32")),
            (arr([200, 255], "uint8"), arr([3, 9], "uint8"))),
    Case("bitwise_left_shift", {"X": I, "Y": arr(-1, "int64")}, raises=ValueError, match="negative shift count"),
    *[Case("where", {"Condition": c, "X": x, "Y": y}, expect=np.where)
      for c, x, y in ((A > 0, A, B), (A > 0, ROW, COLUMN), (COLUMN > 0, A, arr(0.5)), (arr(True, "bool"), A, B), (A > 0, I, J), (T, T, F))],
    Case("where", {"Condition": A, "X": A, "Y": B}, raises=DTypeError, match="bool condition", static=True),
]  # fmt: skip
