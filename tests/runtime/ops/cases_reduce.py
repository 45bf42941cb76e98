"""Rows of reductions, scans and matrix products."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from dy2st_runtime.errors import AttributeValueError, DTypeError, ShapeError
from op_cases import Case
from scipy import special

rng = np.random.default_rng(6)
NAN, INF = math.nan, math.inf


def f32(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)


X = f32(2, 3, 4)
V = f32(5)
I = rng.integers(-5, 6, (2, 3, 4))  # noqa: E741
BOOLS = np.array([[True, False, True], [True, True, True]])
WITH_NAN = np.array([[1.0, NAN, 3.0], [2.0, INF, -INF], [-INF, -INF, -INF]], np.float32)

AXES: list[tuple[dict[str, Any], Any]] = [
    ({"dim": [0]}, 0), ({"dim": [1]}, 1), ({"dim": [-1]}, 2), ({"dim": [0, 1]}, (0, 1)), ({"dim": [2, 0]}, (0, 2)),
    ({"dim": [1, 2]}, (1, 2)), ({"dim": []}, None), ({"dim": [0], "reduce_all": True}, None),
]  # fmt: skip


def reduction(op: str, f: Any, x: np.ndarray, **options: Any) -> list[Case]:
    rows = [Case(op, {"X": x}, attrs, expect=lambda x, a=axis: f(x, axis=a), **options) for attrs, axis in AXES]
    keep = [Case(op, {"X": x}, {"dim": d, "keep_dim": True}, expect=lambda x, d=d: f(x, axis=tuple(d), keepdims=True), **options)
            for d in ([1], [0, 2])]  # fmt: skip
    return [*rows, *keep]


def mean64(x: np.ndarray, **k: Any) -> np.ndarray:
    return x.astype(np.float64).mean(**k)


def norm(p: float) -> Any:
    return lambda x: np.linalg.norm(x.astype(np.float64), p, axis=1)


CASES: list[Case] = [
    *reduction("reduce_sum", np.sum, X), *reduction("reduce_mean", mean64, X),
    *reduction("reduce_max", np.max, X), *reduction("reduce_min", np.min, X), *reduction("reduce_prod", np.prod, X),
    *reduction("reduce_amax", np.max, X), *reduction("reduce_amin", np.min, X),
    *reduction("reduce_all", np.all, I > -4), *reduction("reduce_any", np.any, I > 4),
    Case("reduce_sum", {"X": I.astype(np.int32)}, {"dim": [1]}, expect=lambda x: x.sum(1, dtype=np.int64)),
    Case("reduce_sum", {"X": BOOLS}, {"dim": [1]}, expect=lambda x: x.sum(1)),
    Case("reduce_sum", {"X": BOOLS}, {"dim": [0], "out_dtype": "float32"}, expect=lambda x: x.sum(0).astype(np.float32)),
    Case("reduce_sum", {"X": X.astype(np.float16)}, {"dim": [0]}, expect=lambda x: x.astype(np.float32).sum(0)),
    Case("reduce_mean", {"X": X.astype(np.float16)}, {"dim": [2]}, expect=lambda x: x.astype(np.float32).mean(2)),
    Case("reduce_sum", {"X": np.float32(2.5).reshape(())}, {"dim": []}, expect=lambda x: x),
    Case("reduce_sum", {"X": f32(0, 3)}, {"dim": [0]}, expect=lambda x: np.zeros(3)),
    Case("reduce_sum", {"X": f32(1, 3, 1)}, {"dim": [0, 2]}, expect=lambda x: x.sum((0, 2))),
    Case("reduce_sum", {"X": f32(70, 130)}, {"dim": [0]}, expect=lambda x: x.sum(0)),
    Case("reduce_sum", {"X": f32(3, 2500)}, {"dim": [1]}, expect=lambda x: x.astype(np.float64).sum(1), rtol=2e-5),
    # rounding errors do not pile up: a plain float32 sum of these is wrong in the third digit
    Case("reduce_sum", {"X": np.full(3_000_000, 0.1, np.float32)}, {"dim": [0]}, expect=lambda x: np.float32(300_000.0), grad=()),
    Case("reduce_max", {"X": I}, {"dim": [1]}, expect=lambda x: x.max(1)), Case("reduce_min", {"X": I}, {"dim": [0]},
         expect=lambda x: x.min(0)),
    Case("reduce_prod", {"X": I}, {"dim": [1]}, expect=lambda x: x.prod(1)),
    *[Case(op, {"X": WITH_NAN}, {"dim": [d]}, expect=lambda x, f=f, d=d: f(x, axis=d), grad=())
      for op, f in (("reduce_max", np.max), ("reduce_min", np.min), ("reduce_sum", np.sum)) for d in (0, 1)],
    Case("reduce_mean", {"X": I}, {"dim": [0]}, raises=DTypeError, match="int64", static=True),
    Case("reduce_all", {"X": X}, {"dim": [0]}, raises=DTypeError, match="float32", static=True),
    Case("reduce_sum", {"X": X}, {"dim": [3]}, raises=AttributeValueError, match="out of range", static=True),
    Case("reduce_sum", {"X": X}, {"dim": [1, -2]}, raises=AttributeValueError, match="named twice", static=True),
    Case("reduce_max", {"X": f32(0, 3)}, {"dim": [0]}, raises=ShapeError, match="no elements"),
    Case("mean", {"X": X}, expect=lambda x: x.mean(dtype=np.float64)),
    *[Case("logsumexp", {"X": X}, {"axis": a, "keepdim": keep},
         expect=lambda x, a=a, keep=keep: special.logsumexp(x, axis=tuple(a), keepdims=keep))
      for a in ([0], [1], [2], [0, 2]) for keep in (False, True)],
    Case("logsumexp", {"X": X}, {"reduce_all": True}, expect=special.logsumexp),
    Case("logsumexp", {"X": np.array([[1000.0, 1000.0], [-INF, -INF], [INF, 0.0], [NAN, 0.0]], np.float32)}, {"axis": [1]},
         expect=lambda x: special.logsumexp(x.astype(np.float64), axis=1), grad=()),
    *[Case("p_norm", {"X": X}, {"porder": p, "axis": 1}, expect=norm(p)) for p in (2.0, 1.0, 3.0, INF, -INF)],
    Case("p_norm", {"X": np.array([[1.0, 0.0, 2.0]], np.float32)}, {"porder": 0.0, "axis": 1}, expect=lambda x: np.array([2.0]), grad=()),
    Case("p_norm", {"X": X}, {"asvector": True}, expect=lambda x: np.linalg.norm(x.reshape(-1))),
    Case("p_norm", {"X": X}, {"axis": -1, "keepdim": True}, expect=lambda x: np.linalg.norm(x, axis=-1, keepdims=True)),
    *[Case("cumsum", {"X": X}, {"axis": a}, expect=lambda x, a=a: np.cumsum(x, a)) for a in (0, 1, -1)],
    Case("cumsum", {"X": X}, {"flatten": True}, expect=np.cumsum),
    Case("cumsum", {"X": V}, {"axis": 0, "exclusive": True}, expect=lambda x: np.cumsum(x) - x),
    Case("cumsum", {"X": V}, {"axis": 0, "reverse": True}, expect=lambda x: np.cumsum(x[::-1])[::-1]),
    Case("cumsum", {"X": V}, {"axis": 0, "reverse": True, "exclusive": True}, expect=lambda x: np.cumsum(x[::-1])[::-1] - x),
    Case("cumsum", {"X": I.astype(np.int32)}, {"axis": 1}, expect=lambda x: np.cumsum(x, 1, dtype=np.int32)),
    Case("cumsum", {"X": BOOLS}, {"axis": 1}, expect=lambda x: np.cumsum(x, 1)),
    *[Case(op, {"X": x}, attrs, expect=lambda x, f=f, a=axis: f(x, axis=a))
      for op, f in (("arg_max", np.argmax), ("arg_min", np.argmin))
      for x, attrs, axis in ((X, {"axis": 0}, 0), (X, {"axis": 1}, 1), (X, {}, -1), (X, {"flatten": True}, None), (I, {"axis": 1}, 1),
                             (WITH_NAN, {"axis": 1}, 1), (WITH_NAN, {"axis": 0}, 0))],
    Case("arg_max", {"X": X}, {"axis": 1, "keepdims": True, "dtype": "int32"},
         expect=lambda x: x.argmax(1, keepdims=True).astype(np.int32)),
    Case("arg_min", {"X": X}, {"flatten": True, "keepdims": True}, expect=lambda x: x.argmin(keepdims=True)),
    Case("arg_max", {"X": f32(2, 0)}, {"axis": 1}, raises=ShapeError, match="no elements"),
    # matrix products
    *[Case("matmul_v2", {"X": f32(*x), "Y": f32(*y)}, expect=np.matmul)
      for x, y in (((2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4)), ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)), ((6, 1, 2, 3), (5, 3, 4)),
                   ((1, 2, 3), (5, 3, 4)), ((3,), (3,)), ((3,), (3, 4)), ((2, 3), (3,)), ((5, 2, 3), (3,)), ((3,), (5, 3, 4)),
                   ((2, 0), (0, 4)), ((1, 1), (1, 1)))],
    *[Case("matmul_v2", {"X": f32(*x), "Y": f32(*y)}, {"trans_x": tx, "trans_y": ty},
           expect=lambda x, y, tx=tx, ty=ty: np.matmul(np.swapaxes(x, -1, -2) if tx else x, np.swapaxes(y, -1, -2) if ty else y))
      for tx, ty, x, y in ((False, True, (2, 3), (4, 3)), (True, False, (3, 2), (3, 4)), (True, True, (3, 2), (4, 3)),
                           (True, True, (5, 3, 2), (5, 4, 3)), (False, True, (5, 2, 3), (4, 3)), (True, False, (3, 2), (5, 3, 4)),
                           (True, False, (5, 3, 2), (3, 4)), (False, True, (2, 3), (5, 4, 3)))],
    Case("matmul_v2", {"X": f32(3), "Y": f32(3, 4)}, {"trans_x": True}, expect=np.matmul),
    Case("matmul_v2", {"X": f32(4, 3), "Y": f32(3)}, {"trans_y": True}, expect=np.matmul),
    Case("matmul_v2", {"X": f32(2, 3).astype(np.float64), "Y": f32(3, 4).astype(np.float64)}, expect=np.matmul),
    Case("matmul_v2", {"X": f32(2, 3).astype(np.float16), "Y": f32(3, 4).astype(np.float16)},
         expect=lambda x, y: np.matmul(x.astype(np.float32), y.astype(np.float32))),
    Case("matmul_v2", {"X": I, "Y": rng.integers(-5, 6, (4, 2))}, expect=np.matmul),
    Case("matmul_v2", {"X": rng.integers(-5, 6, (5, 3, 2)), "Y": rng.integers(-5, 6, (1, 4, 3))}, {"trans_x": True, "trans_y": True},
         expect=lambda x, y: np.matmul(np.swapaxes(x, 1, 2), np.swapaxes(y, 1, 2))),
    Case("matmul_v2", {"X": f32(2, 3), "Y": f32(4, 5)}, raises=ShapeError, match=r"\[2, 3\] and \[4, 5\].*3 against 4"),
    Case("matmul_v2", {"X": f32(2, 2, 3), "Y": f32(4, 3, 5)}, raises=ShapeError, match="batches"),
    Case("matmul_v2", {"X": f32(2, 3), "Y": f32(3, 5).astype(np.float64)}, raises=DTypeError, match="float32 and float64", static=True),
    Case("matmul_v2", {"X": f32(), "Y": f32(3, 5)}, raises=ShapeError, match="0-d", static=True),
    Case("mul", {"X": f32(2, 3), "Y": f32(3, 4)}, expect=np.matmul),
    Case("mul", {"X": X, "Y": f32(12, 5)}, expect=lambda x, y: x.reshape(2, 12) @ y),
    Case("mul", {"X": X, "Y": f32(2, 2, 5)}, {"x_num_col_dims": 2, "y_num_col_dims": 2}, expect=lambda x, y: x @ y.reshape(4, 5)),
    Case("mul", {"X": f32(2, 3), "Y": f32(4, 5)}, raises=ShapeError, match="inner sizes"),
    Case("mul", {"X": f32(2, 3), "Y": f32(3, 5)}, {"x_num_col_dims": 2}, raises=AttributeValueError, match="between 0 and", static=True),
    Case("bmm", {"X": f32(5, 2, 3), "Y": f32(5, 3, 4)}, expect=np.matmul),
    Case("bmm", {"X": f32(5, 2, 3), "Y": f32(1, 3, 4)}, raises=ShapeError, match="batch sizes"),
    Case("bmm", {"X": f32(2, 3), "Y": f32(3, 4)}, raises=ShapeError, match="3 dims", static=True),
    Case("dot", {"X": f32(5), "Y": f32(5)}, expect=np.dot), Case("dot", {"X": f32(2, 5), "Y": f32(2, 5)},
         expect=lambda x, y: (x * y).sum(1)),
    Case("dot", {"X": I[0], "Y": I[1]}, expect=lambda x, y: (x * y).sum(1)),
    Case("dot", {"X": f32(5), "Y": f32(4)}, raises=ShapeError, match="sizes differ"),
]  # fmt: skip
