"""Rows of constants, sums with absent terms, random draws and checks."""

from __future__ import annotations

from typing import Any

import numpy as np
from dy2st_runtime.errors import AttributeValueError, DTypeError, ShapeError
from dy2st_runtime.ops import philox
from dy2st_runtime.ops.check import RaisedError
from dy2st_runtime.ops.control import ABSENT
from dy2st_runtime.ops.fill import assign_value_attrs
from op_cases import Case, Missing, TensorArray

rng = np.random.default_rng(7)


def f32(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)


def arr(values: Any, dtype: str = "int64") -> np.ndarray:
    return np.array(values, dtype)


X = f32(2, 3)
STATE = arr([1234567890123, 2**33 + 5])


def like_range(*bounds: Any, dtype: str = "int64") -> Case:
    start, end, step = (np.array(b, dtype) for b in bounds)
    return Case("range", {"Start": start, "End": end, "Step": step},
         expect=lambda *b: np.arange(*(v.reshape(()).item() for v in b)).astype(dtype))


def unit(seed: int, position: int, count: int, bits: int = 24) -> np.ndarray:
    """Uniform float32 numbers, element by element and in Python's integers."""
    return np.array([int(philox.words(seed, position + i, 1)[0][0]) >> (32 - bits) for i in range(count)]) * 2.0**-bits


CASES: list[Case] = [
    Case("fill_constant", {}, {"shape": [2, 3], "value": 1.5}, expect=lambda: np.full((2, 3), 1.5, np.float32)),
    Case("fill_constant", {}, {"shape": [], "value": 3.0, "dtype": "int64"}, expect=lambda: arr(3)),
    Case("fill_constant", {}, {"shape": [1, 2], "value": 1.0, "dtype": "bool"}, expect=lambda: arr([[True, True]], "bool")),
    Case("fill_constant", {}, {"shape": [2], "str_value": "9007199254740993", "dtype": "int64"},
         expect=lambda: arr([9007199254740993] * 2)),
    Case("fill_constant", {}, {"shape": [2], "str_value": "-inf", "dtype": "float32"}, expect=lambda: np.full(2, -np.inf, np.float32)),
    Case("fill_constant", {"ShapeTensor": arr([2, 4], "int32")}, {"value": 0.5}, expect=lambda s: np.full((2, 4), 0.5, np.float32)),
    Case("fill_constant", {"ShapeTensorList": [arr([3]), arr(2)]}, {"shape": [-1, -1]}, expect=lambda s: np.zeros((3, 2), np.float32)),
    Case("fill_constant", {"ValueTensor": arr([2.5], "float32")}, {"shape": [3]}, expect=lambda v: np.full(3, 2.5, np.float32)),
    Case("fill_constant", {}, {"shape": [-2]}, raises=AttributeValueError, match="negative size -2", static=True),
    Case("fill_constant", {"ShapeTensor": arr([2, -4])}, raises=AttributeValueError, match="negative size -4"),
    Case("fill_any_like", {"X": X}, {"value": 2.0}, expect=lambda x: np.full_like(x, 2)),
    Case("fill_any_like", {"X": X}, {"value": 1.0, "dtype": "bool"}, expect=lambda x: np.ones((2, 3), bool)),
    Case("fill_zeros_like", {"X": arr([[1, 2]])}, expect=np.zeros_like),
    *[Case("assign_value", {}, assign_value_attrs(a), expect=lambda a=a: a)
      for a in (X, X.astype(np.float64), X.astype(np.float16), arr([[1], [2]]), arr([True, False], "bool"), arr([2**62, -1]),
                arr([1, 2], "uint8"), f32(75), arr(7, "int32"), f32(0, 3))],
    Case("assign_value", {}, {"shape": [3], "fp32_values": [1.0]}, raises=ShapeError, match="1 values", static=True),
    Case("assign", {"X": X}, expect=lambda x: x), Case("assign", {"X": arr([1, 2])}, expect=lambda x: x),
    Case("assign", {"X": TensorArray([X, f32(1, 3)])}, grad=()),
    like_range(0, 5, 1), like_range([2], [11], [3]), like_range(5, 0, -2), like_range(5, 0, 1), like_range(0, 4, 2),
    like_range(0, 1, 0.25, dtype="float32"), like_range(1.0, 0.0, -0.3, dtype="float64"), like_range(0, 5, 1, dtype="int32"),
    Case("range", {"Start": arr(0), "End": arr(5), "Step": arr(0)}, raises=ValueError, match="must not be zero"),
    Case("range", {"Start": arr(0.0, "float32"), "End": arr(np.inf, "float32"), "Step": arr(1.0, "float32")},
         raises=ValueError, match="finite"),
    Case("range", {"Start": arr([0, 1]), "End": arr(5), "Step": arr(1)}, raises=ShapeError, match="one element"),
    *[Case("linspace", {"Start": arr(a, "float32"), "Stop": arr(b, "float32"), "Num": arr([m], "int32")}, {"dtype": d},
           expect=lambda a, b, m, d=d: np.linspace(a, b, int(m[0])).astype(d))
      for a, b, m, d in ((0.0, 1.0, 5, "float32"), (3.0, -1.0, 4, "float64"), (2.0, 9.0, 1, "float32"), (0.0, 10.0, 6, "int64"))],
    Case("linspace", {"Start": arr(0.0, "float32"), "Stop": arr(1.0, "float32"), "Num": arr(0)},
         raises=AttributeValueError, match="at least one"),
    Case("eye", {}, {"num_rows": 3}, expect=lambda: np.eye(3, dtype=np.float32)),
    Case("eye", {}, {"num_rows": 2, "num_columns": 4, "dtype": "int32"}, expect=lambda: np.eye(2, 4, dtype=np.int32)),
    Case("eye", {}, {"num_rows": -1}, raises=AttributeValueError, match="negative", static=True),
    Case("shape", {"Input": f32(2, 1, 4)}, expect=lambda x: arr([2, 1, 4], "int32")), Case("shape", {"Input": f32()},
         expect=lambda x: arr([], "int32")),
    Case("size", {"Input": f32(2, 1, 4)}, expect=lambda x: arr(8)), Case("size", {"Input": f32()}, expect=lambda x: arr(1)),
    # sums
    Case("sum", {"X": [X]}, expect=lambda xs: xs[0]), Case("sum", {"X": [X, f32(2, 3), f32(2, 3)]}, expect=sum),
    Case("sum", {"X": [arr([1, 2]), arr([3, 4])]}, expect=sum), Case("sum", {"X": [X.astype(np.float16), X.astype(np.float16)]},
         expect=sum),
    *[Case("sum", {"X": xs}, expect=lambda xs: sum(x for x in xs if not isinstance(x, Missing)), grad=())
      for xs in ([X, Missing("float32", (2, 3))], [Missing("float32", (2, 3)), X], [X, Missing("float32", (2, 3)), X],
                 [Missing("float32", (2, 3)), Missing("float32", (2, 3)), X])],
    Case("sum", {"X": [Missing("float32", (2, 3)), Missing("float32", (2, 3))]}, expect=lambda xs: ABSENT, grad=()),
    Case("sum", {"X": [TensorArray([X, f32(1, 3)]), TensorArray([X, f32(1, 3)])]},
         expect=lambda xs: [a + b for a, b in zip(*xs, strict=True)], grad=()),
    Case("sum", {"X": [f32(2, 3), f32(2, 1)]}, raises=ShapeError, match="one shape"),
    Case("sum", {"X": [f32(2), f32(2).astype(np.float64)]}, raises=TypeError, match="float64", static=True),
    Case("sum", {"X": [TensorArray([X]), TensorArray([X, X])]}, raises=ShapeError, match="lengths 1 and 2"),
    *[Case("sum_like", {"X": f32(*x), "Y": f32(*y)}, expect=lambda x, y, a=axes: x.sum(a, keepdims=True).reshape(y.shape), grad=("X",))
      for x, y, axes in (((2, 3), (3,), 0), ((2, 3), (2, 1), 1), ((2, 3), (), (0, 1)), ((4, 2, 3), (2, 1), (0, 2)),
                         ((2, 3), (1, 1), (0, 1)), ((2, 3), (2, 3), ()), ((2, 3, 4), (2, 1, 4), 1),
                         ((1, 3), (1, 3), ()), ((5, 70), (70,), 0))],
    Case("sum_like", {"X": f32(2, 3), "Y": f32(2)}, raises=ShapeError, match=r"\[2\] does not broadcast to \[2, 3\]"),
    *[Case("expand_as_v2", {"X": f32(*x), "Y": f32(*y)}, expect=lambda x, y: np.broadcast_to(x, y.shape), grad=("X",))
      for x, y in (((3,), (2, 3)), ((2, 1), (2, 3)), ((), (2, 3)), ((2, 3), (2, 3)), ((1, 3, 1), (4, 3, 5)), ((), ()))],
    Case("expand_as_v2", {"X": f32(2, 2), "Y": f32(2, 3)}, raises=ShapeError, match="broadcast"),
    Case("fill_absent", {"X": X, "Like": f32(2, 3)}, expect=lambda x, like: x, grad=("X",)),
    Case("fill_absent", {"X": Missing("float32", (2, 3)), "Like": X}, expect=lambda x, like: np.zeros_like(like), grad=()),
    Case("fill_absent", {"X": X, "Like": Missing("float32", (2, 3))}, expect=lambda x, like: x, grad=()),
    # random draws: the state is Paddle's generator, [seed, position]
    Case("uniform_random", {"State": STATE}, {"shape": [5, 3], "min": -2.0, "max": 3.0},
         expect=lambda s: ((unit(int(s[0]), int(s[1]), 15) * 5.0 - 2.0).reshape(5, 3).astype(np.float32), s + arr([0, 15]))),
    Case("uniform_random", {"State": STATE}, {"shape": [4], "min": 0.0, "max": 1.0, "seed": 9},
         expect=lambda s: (unit(9, 0, 4).astype(np.float32), s)),
    Case("uniform_random", {"State": STATE, "ShapeTensor": arr([2, 3])}, {"dtype": "float64"}),
    Case("uniform_random", {"State": STATE}, {"shape": [0]}, expect=lambda s: (np.zeros(0, np.float32), s)),
    Case("uniform_random", {"State": STATE}, {"shape": [9], "dtype": "float16", "min": 0.0}),
    Case("gaussian_random", {"State": STATE}, {"shape": [7, 5], "mean": 2.0, "std": 0.5}, rtol=1e-6),
    Case("gaussian_random", {"State": STATE}, {"shape": [40], "dtype": "float64"}, rtol=1e-12),
    Case("truncated_gaussian_random", {"State": STATE}, {"shape": [100], "std": 3.0, "dtype": "float64"}, rtol=1e-9),
    Case("randint", {"State": STATE}, {"shape": [50], "low": -3, "high": 4}),
    Case("randint", {"State": STATE}, {"shape": [3], "high": 2**62}),
    Case("randint", {"State": STATE}, {"shape": [3], "high": 9, "dtype": "int32", "seed": 4}),
    Case("randint", {"State": STATE}, {"shape": [3], "low": 5, "high": 5},
         raises=AttributeValueError, match=r"\[5, 5\) is empty", static=True),
    Case("randint", {"State": STATE}, {"shape": [3], "high": 5, "dtype": "float32"}, raises=DTypeError, match="float32", static=True),
    Case("bernoulli", {"X": np.linspace(0, 1, 12, dtype=np.float32).reshape(3, 4), "State": STATE},
         expect=lambda x, s: ((unit(int(s[0]), int(s[1]), 12).reshape(3, 4) < x).astype(np.float32), s + arr([0, 12]))),
    Case("bernoulli", {"X": arr([1]), "State": STATE}, raises=DTypeError, match="int64", static=True),
    Case("randperm", {"State": STATE}, {"n": 20}), Case("randperm", {"State": STATE}, {"n": 1, "dtype": "int32"}),
    Case("randperm", {"State": STATE, "N": np.array(7)}, {}), Case("randperm", {"State": STATE, "N": np.array(0, "int32")}, {"n": 3}),
    Case("randperm", {"State": STATE}, {"n": 0}), Case("randperm", {"State": STATE}, {"n": 6, "seed": 3}),
    Case("rng_snapshot", {"State": STATE}, expect=lambda s: s),
    Case("rng_restore", {"State": STATE, "X": arr([3, 4])}, expect=lambda s, x: x),
    # checks
    Case("as_condition", {"X": arr(True, "bool")}), Case("as_condition", {"X": arr([[False]], "bool")}),
    Case("as_condition", {"X": arr([True, True], "bool")}, raises=ShapeError, match="2 elements is ambiguous"),
    Case("as_condition", {"X": arr([], "bool")}, raises=ShapeError, match="0 elements is ambiguous"),
    Case("as_condition", {"X": arr([1])}, raises=DTypeError, match="bool", static=True),
    Case("assert", {"Cond": arr(True, "bool")}), Case("assert", {"Cond": arr([True], "bool"), "Data": [X]}, {"parts": ["x is ", "!"]}),
    Case("assert", {"Cond": arr(False, "bool")}, raises=AssertionError, match="^$"),
    Case("assert", {"Cond": arr([False], "bool"), "Data": [arr(3), arr(0.25, "float32")]},
         {"parts": ["n = ", ", loss = ", ""], "specs": ["=", ":.1f"]},
         raises=AssertionError, match="^n = 3, loss = 0.2$"),
    Case("assert", {"Cond": arr([True, True], "bool")}, raises=ShapeError, match="is ambiguous"),
    Case("assert", {"Cond": arr(1)}, raises=DTypeError, match="bool", static=True),
    Case("assert", {"Cond": arr(True, "bool"), "Data": [X]}, {"parts": ["one"]}, raises=AttributeValueError, match="2 parts", static=True),
    Case("raise_if", {"Cond": arr(False, "bool")}), Case("raise_if", {"Cond": arr(True, "bool")}, raises=RuntimeError, match="^$"),
    Case("raise_if", {"Cond": arr(True, "bool"), "Data": [arr(7)]}, {"exception": "KeyError", "parts": ["no ", ""], "specs": ["="]},
         raises=KeyError, match="no 7"),
    Case("raise_if", {"Cond": arr(True, "bool")}, {"exception": "os.system"}, raises=AttributeValueError, match="is no", static=True),
    Case("raise_object", {"Cond": arr(False, "bool"), "Values": [X]}),
    Case("raise_object", {"Cond": arr(True, "bool"), "Data": [arr(7)], "Values": [X]},
         {"number": 2, "parts": ["MyError: no ", ""], "specs": ["="]}, raises=RaisedError, match="^MyError: no 7$"),
    Case("print", {"In": [arr(3)]}, {"parts": ["n = ", ""], "specs": ["="]}),
    Case("log_message", {"In": [arr(3)]}, {"parts": ["n = ", ""], "specs": ["="], "logger": "tests"}),
    Case("warn", {"In": [arr(3)]}, {"parts": ["n = ", ""], "specs": ["="], "category": "FutureWarning", "file": "a.py", "line": 1},
         raises=FutureWarning, match="^n = 3$"),
    Case("warn", {"In": []}, {"parts": ["a"], "category": "print"}, raises=AttributeValueError, match="no class of Python's warnings",
         static=True),
]  # fmt: skip
