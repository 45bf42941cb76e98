"""Rows of the index ops: slices and their writes, gather and scatter, embedding, selection, sorting."""

from __future__ import annotations

from typing import Any

import numpy as np
from dy2st_runtime.errors import AttributeValueError, DTypeError, OutOfRangeError, ShapeError
from op_cases import Case

rng = np.random.default_rng(8)


def f32(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)


def i64(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


X = f32(3, 4, 5)
HUGE = 2**31 - 1


def fails(op: str, inputs: dict[str, Any], error: type[BaseException], match: str, static: bool = False, **attrs: Any) -> Case:
    return Case(op, inputs, attrs, raises=error, match=match, static=static)


def bounds(axes: list[int], starts: list[int], ends: list[int], **more: Any) -> dict[str, Any]:
    return {"axes": axes, "starts": starts, "ends": ends, **more}


# ---- slices ---------------------------------------------------------------------------------------------------------
BACK = bounds([1, 2], [2, -1], [-(2**31), 0], strides=[-1, -2])
SLICES = [
    Case("slice", {"Input": X}, bounds([0, 2], [0, 1], [1, -1]), expect=lambda x: x[0:1, :, 1:-1]),
    Case("slice", {"Input": X}, bounds([1], [-2], [HUGE]), expect=lambda x: x[:, -2:]),
    Case("slice", {"Input": X}, bounds([1], [0], [HUGE]), expect=lambda x: x),
    Case("slice", {"Input": X}, bounds([1], [-9], [9]), expect=lambda x: x),
    Case("slice", {"Input": X}, bounds([-1], [3], [1]), expect=lambda x: x[:, :, 3:1]),
    Case("slice", {"Input": X}, bounds([0, 1], [1, -1], [2, 0], decrease_axis=[0, 1]), expect=lambda x: x[1, -1]),
    Case("slice", {"Input": X}, bounds([0, 1, 2], [1, -1, 2], [2, 0, 3], decrease_axis=[0, 1, 2]), expect=lambda x: x[1, -1, 2]),
    Case("slice", {"Input": X, "StartsTensor": i64(1), "EndsTensor": i64(3)}, {"axes": [1]}, expect=lambda x, s, e: x[:, 1:3]),
    Case("slice", {"Input": X, "StartsTensorList": [i64(2)], "EndsTensorList": [np.array(0, np.int32)]},
         bounds([1], [-1], [-1], decrease_axis=[1]), expect=lambda x, s, e: x[:, 2]),
    Case("slice", {"Input": X, "EndsTensorList": [i64(-1), i64(9)]}, bounds([0, 2], [0, 1], [-1, -1]), expect=lambda x, e: x[:-1, :, 1:9]),
    fails("slice", {"Input": X}, OutOfRangeError, "index 4 is out of range for axis 1 with size 4",
          **bounds([1], [4], [5], decrease_axis=[1])),
    fails("slice", {"Input": X, "StartsTensorList": [i64(-4)]}, IndexError, "index -4 is out of range for axis 0 with size 3",
          **bounds([0], [-1], [-1], decrease_axis=[0])),
    fails("slice", {"Input": X}, AttributeValueError, "as many starts", static=True, **bounds([0, 1], [0], [1])),
    fails("slice", {"Input": X}, AttributeValueError, "axis twice", static=True, **bounds([0, -3], [0, 0], [1, 1])),
    fails("slice", {"Input": X}, AttributeValueError, "not among", static=True, **bounds([0], [0], [1], decrease_axis=[1])),
    fails("slice", {"Input": X, "StartsTensor": f32(1)}, DTypeError, "must be int32 or int64", static=True, **bounds([0], [0], [1])),
    Case("slice_grad", {"Input": X, "Out@GRAD": f32(3, 2, 5)}, bounds([1], [1], [3]), grad=("Out@GRAD",),
         expect=lambda x, d: np.pad(d, ((0, 0), (1, 1), (0, 0)))),
    Case("strided_slice", {"Input": X}, BACK, expect=lambda x: x[:, 2::-1, -1:0:-2]),
    Case("strided_slice", {"Input": X}, bounds([2], [0], [4], strides=[3]), expect=lambda x: x[:, :, 0:4:3]),
    Case("strided_slice", {"Input": X}, bounds([2], [-10], [-11], strides=[-1]), expect=lambda x: x[:, :, -10:-11:-1]),
    Case("strided_slice", {"Input": X}, bounds([0, 2], [1, 0], [2, 9], strides=[1, 2], decrease_axis=[0]), expect=lambda x: x[1, :, ::2]),
    Case("strided_slice", {"Input": X, "StridesTensor": i64(-2), "StartsTensorList": [i64(9)], "EndsTensorList": [i64(-9)]},
         {"axes": [2]}, expect=lambda x, t, s, e: x[:, :, ::-2]),
    fails("strided_slice", {"Input": X, "StridesTensorList": [i64(0)]}, AttributeValueError, "step 0",
          **bounds([2], [0], [3], strides=[-1])),
    fails("strided_slice", {"Input": X}, ValueError, "step 0", static=True, **bounds([2], [0], [3], strides=[0])),
    Case("strided_slice_grad", {"Input": X, "Out@GRAD": f32(3, 4, 2)}, bounds([2], [3], [-9], strides=[-2]), grad=("Out@GRAD",)),
]  # fmt: skip


def written(key: Any) -> Any:
    def expect(x: np.ndarray, value: Any = 2.5, *rest: Any) -> np.ndarray:
        x = x.copy()
        x[key] = value
        return x

    return expect


def put(key: Any, value: np.ndarray, lists: dict[str, Any] | None = None, **attrs: Any) -> Case:
    return Case("set_value", {"Input": X, "ValueTensor": value, **(lists or {})}, attrs, expect=written(key))


INNER = bounds([1, 2], [1, 0], [2, 4], steps=[1, 2], decrease_axes=[1])
WRITES = [
    put(np.s_[:, 1, 0:4:2], f32(3, 2), **INNER),
    put(np.s_[:, 1, 0:4:2], f32(1, 1, 3, 1), **INNER),
    put(np.s_[:, 1, 0:4:2], f32(), **INNER),
    put(np.s_[:, ::-1], f32(3, 4, 5), **bounds([1], [9], [-9], steps=[-1])),
    put(np.s_[:, 2:2], f32(5), **bounds([1], [2], [2])),
    put(np.s_[:, 1:, None], f32(2 + 1, 1, 5)[:, None], **bounds([1], [1], [HUGE]), none_axes=[2]),
    put(np.s_[-1], f32(4, 5), {"StartsTensorList": [i64(-1)]}, **bounds([0], [0], [0], decrease_axes=[0])),
    Case("set_value", {"Input": X}, {**bounds([0], [1], [2], decrease_axes=[0]), "shape": [1], "fp32_values": [2.5]}, expect=written(1)),
    Case("set_value", {"Input": X}, {**bounds([2], [1], [3]), "shape": [2], "dtype": "int64", "int64_values": [1, 2]},
         expect=lambda x: written(np.s_[:, :, 1:3])(x, [1, 2])),
    Case("set_value", {"Input": X, "ValueTensor": i64(7)}, bounds([0], [0], [1]), expect=written(0), grad=("Input",)),
    Case("set_value", {"Input": i64(1, 2, 3), "ValueTensor": f32(1)}, bounds([0], [0], [1]), grad=(),
         expect=lambda x, v: written(0)(x, int(v[0]))),
    fails("set_value", {"Input": X, "ValueTensor": f32(3)}, ShapeError, r"shape \[3\] does not fit a slice of shape \[3, 4, 2\]",
          **bounds([2], [1], [3])),
    fails("set_value", {"Input": X, "ValueTensor": f32(2, 1, 1, 1)}, ShapeError, "does not fit", **bounds([2], [1], [3])),
    fails("set_value", {"Input": X, "ValueTensor": f32()}, OutOfRangeError, "index 3 is out of range for axis 0 with size 3",
          **bounds([0], [3], [4], decrease_axes=[0])),
    fails("set_value", {"Input": X}, AttributeValueError, "needs a ValueTensor", static=True, **bounds([0], [0], [1])),
]  # fmt: skip

# ---- gather and scatter ---------------------------------------------------------------------------------------------
GRID = [np.array([[0], [2]]), np.array([1, 3, 0], np.int32)]
TABLE, IDS = f32(6, 4), np.array([[1, 5], [1, 0]])
PLACES = rng.integers(-4, 4, (3, 2, 5))
UNIQUE = np.argsort(f32(3, 4, 5), 1)[:, :2]
UPDATES = f32(2, 4, 5)


def added(x: np.ndarray, key: Any, value: Any) -> np.ndarray:
    x = x.copy()
    np.add.at(x, key, value)
    return x


def scattered(x: np.ndarray, ids: np.ndarray, updates: np.ndarray) -> np.ndarray:
    x = x.copy()
    x[ids] = 0
    return added(x, ids, updates)


def along(x: np.ndarray, index: np.ndarray, value: np.ndarray) -> np.ndarray:
    x = x.copy()
    np.put_along_axis(x, index, value, 1)
    return x


def nd(index: Any) -> dict[str, Any]:
    return {"X": X, "Index": np.array(index)}


READS = [
    Case("gather", {"X": X, "Index": i64(2, 0, -1)}, expect=lambda x, i: x[i]),
    Case("gather", {"X": X, "Index": np.array([[1], [0]], np.int32)}, {"axis": 1}, expect=lambda x, i: x[:, i[:, 0]]),
    Case("gather", {"X": X, "Index": np.array(2)}, {"axis": -1}, expect=lambda x, i: x[:, :, 2]),
    Case("gather", {"X": X, "Index": np.array([1, 1], np.uint8)}, {"axis": 2}, expect=lambda x, i: x[:, :, i]),
    Case("gather", {"X": TABLE[:, 0], "Index": i64()}, expect=lambda x, i: x[i]),
    fails("gather", {"X": X, "Index": i64(2, 4)}, OutOfRangeError, "index 4 is out of range for axis 1 with size 4", axis=1),
    fails("gather", {"X": X, "Index": f32(2)}, DTypeError, "must be integers", static=True),
    fails("gather", {"X": X, "Index": IDS}, ShapeError, "one dim"),
    Case("index_select", {"X": X, "Index": i64(2, 2)}, {"dim": 1}, expect=lambda x, i: x[:, i]),
    Case("gather_grad", {"X": X, "Index": i64(2, 2), "Out@GRAD": f32(3, 2, 5)}, {"axis": 1}, grad=("Out@GRAD",),
         expect=lambda x, i, d: added(0 * x, np.s_[:, i], d)),
    Case("gather_nd", nd([[0, 1], [2, -1]]), expect=lambda x, i: x[[0, 2], [1, -1]], known=("Index",)),
    Case("gather_nd", nd([[[0, 1, 2], [2, 3, -1]]]), expect=lambda x, i: x[[[0, 2]], [[1, 3]], [[2, -1]]], known=("Index",)),
    Case("gather_nd", nd(np.zeros((2, 0), np.int64)), expect=lambda x, i: np.stack([x, x]), known=("Index",)),
    Case("gather_nd", nd([[0, 4]]), raises=OutOfRangeError, match="index 4 is out of range for axis 1 with size 4", known=("Index",)),
    Case("index_get", {"X": X, "Indices": GRID}, expect=lambda x, i: x[tuple(i)]),
    Case("index_get", {"X": X, "Indices": GRID}, {"axis": 1}, expect=lambda x, i: x[:, i[0], i[1]]),
    Case("index_get", {"X": X, "Indices": [np.array([[0, 1], [2, 2]])]}, {"axis": 1}, expect=lambda x, i: x[:, i[0]]),
    Case("index_get", {"X": X, "Indices": [np.array(1)]}, {"axis": 2}, expect=lambda x, i: x[:, :, 1]),
    fails("index_get", {"X": X, "Indices": [i64(1, 7)]}, IndexError, "index 7 is out of range for axis 2 with size 5", axis=2),
    fails("index_get", {"X": X, "Indices": [i64(1, 2), i64(1, 2, 0)]}, ShapeError, "do not broadcast"),
    fails("index_get", {"X": X, "Indices": [i64(1)]}, AttributeValueError, "1 index tensors from axis 3", static=True, axis=3),
    Case("take_along_axis", {"Input": X, "Index": PLACES}, {"Axis": 1}, expect=lambda x, i: np.take_along_axis(x, i, 1)),
    Case("take_along_axis", {"Input": X, "Index": PLACES[:, :, :1] * 0}, {"Axis": -1},
         raises=ShapeError, match="differ on axis 1"),
    fails("take_along_axis", {"Input": X, "Index": PLACES + 4}, OutOfRangeError, "axis 1 with size 4", Axis=1),
]  # fmt: skip

SCATTERS = [
    Case("scatter", {"X": X, "Ids": i64(2, 0), "Updates": UPDATES}, expect=lambda x, i, u: written(i)(x, u)),
    Case("scatter", {"X": X, "Ids": np.array([[2], [2]]), "Updates": UPDATES}, expect=lambda x, i, u: written(2)(x, u[1]), grad=()),
    Case("scatter", {"X": X, "Ids": i64(-1, 2), "Updates": UPDATES}, {"overwrite": False}, expect=scattered),
    fails("scatter", {"X": X, "Ids": i64(2, 3), "Updates": UPDATES}, OutOfRangeError, "index 3 is out of range for axis 0 with size 3"),
    fails("scatter", {"X": X, "Ids": i64(2, 1, 0), "Updates": UPDATES}, ShapeError, "updates of shape"),
    Case("scatter_nd_add", {"X": X, "Index": np.array([[0, 1], [0, 1]]), "Updates": UPDATES[:, 0]}, known=("Index",),
         expect=lambda x, i, u: added(x, ([0, 0], [1, 1]), u)),
    Case("scatter_nd_add", {"X": X, "Index": np.zeros((2, 0), np.int64), "Updates": np.stack([X, X])}, known=("Index",),
         expect=lambda x, i, u: x + u.sum(0)),
    Case("scatter_nd_add", {"X": X, "Index": np.array([[0, 9]]), "Updates": f32(1, 5)}, known=("Index",),
         raises=OutOfRangeError, match="index 9 is out of range for axis 1"),
    Case("index_put", {"x": X, "indices": GRID, "value": np.array(7, np.float32)}, {"axis": 1},
         expect=lambda x, i, v: written((slice(None), *i))(x, v)),
    Case("index_put", {"x": X, "indices": [i64(0, 2)], "value": f32(4, 5)}, expect=lambda x, i, v: written(i[0])(x, v)),
    Case("index_put", {"x": X, "indices": [i64(0, 2)], "value": f32(3, 2, 5)}, {"axis": 1},
         expect=lambda x, i, v: written(np.s_[:, i[0]])(x, v)),
    Case("index_put", {"x": X, "indices": [i64(2, 2)], "value": f32(3, 2, 1)}, {"axis": 1, "accumulate": True},
         expect=lambda x, i, v: added(x, np.s_[:, i[0]], v)),
    Case("index_put", {"x": X, "indices": [i64(2, 2)], "value": UPDATES}, expect=lambda x, i, v: written(2)(x, v[1]), grad=()),
    fails("index_put", {"x": X, "indices": [i64(2, 2)], "value": f32(3, 4, 5)}, ShapeError, "does not fit places"),
    fails("index_put", {"x": X, "indices": [i64(2, -4)], "value": f32(5)}, OutOfRangeError, "index -4 is out of range for axis 0"),
    fails("index_put", {"x": X, "indices": [i64(2)], "value": i64(1)}, DTypeError, "cannot write int64 into float32", static=True),
    Case("put_along_axis", {"Input": X, "Index": UNIQUE, "Value": f32(3, 2, 5)}, {"Axis": 1}, expect=along),
    Case("put_along_axis", {"Input": X, "Index": PLACES, "Value": f32(3, 2, 5)}, {"Axis": 1, "Reduce": "add"}),
    fails("put_along_axis", {"Input": X, "Index": UNIQUE + 4, "Value": f32(3, 2, 5)}, OutOfRangeError, "axis 1 with size 4", Axis=1),
    fails("put_along_axis", {"Input": X, "Index": UNIQUE, "Value": f32(3, 2, 5)}, AttributeValueError, "'mul' is not supported",
          static=True, Axis=1, Reduce="mul"),
]  # fmt: skip


# ---- embedding, selection, sorting ----------------------------------------------------------------------------------
def padded(w: np.ndarray, ids: np.ndarray) -> np.ndarray:
    return np.where((ids == 1)[..., None], 0, w[ids])


LOOKUPS = [
    Case("lookup_table_v2", {"W": TABLE, "Ids": IDS}, expect=lambda w, i: w[i]),
    Case("lookup_table_v2", {"W": TABLE, "Ids": IDS.astype(np.int32)}, {"padding_idx": 1}, expect=padded),
    fails("lookup_table_v2", {"W": TABLE, "Ids": IDS - 1}, OutOfRangeError, "index -1 is out of range for an embedding table of size 6"),
    fails("lookup_table_v2", {"W": TABLE, "Ids": IDS + 1}, IndexError, "index 6 is out of range for an embedding table of size 6"),
    Case("lookup_table_v2_grad", {"W": TABLE, "Ids": IDS, "Out@GRAD": f32(2, 2, 4)}, {"padding_idx": 0}, grad=("Out@GRAD",),
         expect=lambda w, i, d: added(0 * w, [1, 5, 1], d.reshape(4, 4)[:3])),
    Case("one_hot_v2", {"X": IDS}, {"depth": 6}, expect=lambda x: np.eye(6, dtype=np.float32)[x]),
    Case("one_hot_v2", {"X": IDS}, {"depth": 4, "allow_out_of_range": True, "dtype": "int32"}, expect=lambda x: np.eye(6, 4)[x]),
    fails("one_hot_v2", {"X": IDS}, OutOfRangeError, "index 5 is out of range", depth=5),
    Case("one_hot_v2", {"X": IDS, "depth_tensor": np.array(6)}, expect=lambda x, d: np.eye(6, dtype=np.float32)[x]),
    fails("one_hot_v2", {"X": IDS, "depth_tensor": np.array([5])}, OutOfRangeError, "index 5 is out of range"),
    fails("one_hot_v2", {"X": IDS, "depth_tensor": np.array(0)}, ShapeError, "a depth of at least 1: 0"),
    fails("one_hot_v2", {"X": IDS, "depth_tensor": np.array(-1)}, ShapeError, "a depth of at least 1: -1"),
    fails("one_hot_v2", {"X": IDS}, ShapeError, "a depth of at least 1: 0", static=True, depth=0),
]  # fmt: skip

MASK = X[:, :, 0] > 0
SELECTIONS = [
    Case("where_index", {"Condition": MASK}, expect=np.argwhere),
    Case("where_index", {"Condition": i64(0, 2, 0, 3)}, expect=np.argwhere),
    Case("where_index", {"Condition": 0 * X}, expect=np.argwhere),
    Case("where_index", {"Condition": np.array(True)}, expect=np.argwhere),
    Case("masked_select", {"X": X[:, :, 0].copy(), "Mask": MASK}, expect=lambda x, m: x[m]),
    fails("masked_select", {"X": X[:, :3, 0].copy(), "Mask": MASK}, ShapeError, "must have one shape"),
    fails("masked_select", {"X": X, "Mask": X}, DTypeError, "must be bool", static=True),
    *[Case("tril_triu", {"X": X}, {"diagonal": d, "lower": True}, expect=lambda x, d=d: np.tril(x, d)) for d in (-1, 0, 2)],
    *[Case("tril_triu", {"X": X}, {"diagonal": d, "lower": False}, expect=lambda x, d=d: np.triu(x, d)) for d in (-1, 0, 2)],
    *[Case("diag_v2", {"X": X[0]}, {"offset": d}, expect=lambda x, d=d: np.diagonal(x, d)) for d in (-2, 0, 1, 9)],
    *[Case("diag_v2", {"X": X[0, 0].copy()}, {"offset": d}, expect=lambda x, d=d: np.diag(x, d)) for d in (-2, 0, 1)],
    Case("diag_v2", {"X": i64(1, 2)}, {"padding_value": 5.0}, expect=lambda x: np.array([[1, 5], [5, 2]])),
    fails("diag_v2", {"X": X}, ShapeError, "one or two dims", static=True),
]

NAN = X.copy()
NAN[0, 1, 2] = NAN[2, :, 1] = np.nan
TIES = rng.integers(0, 50, (2, 200))


def descending(x: np.ndarray, axis: int) -> np.ndarray:
    return np.argsort(np.where(np.isnan(x), -np.inf, -x.astype(np.float64)), axis, kind="stable")


def largest(k: int, axis: int) -> Any:
    def expect(x: np.ndarray, *rest: Any) -> tuple[np.ndarray, np.ndarray]:
        index = descending(x, axis).take(range(k), axis)
        return np.take_along_axis(x, index, axis), index

    return expect


SORTS = [
    *[Case("argsort", {"X": X}, {"axis": a}, expect=lambda x, a=a: (np.sort(x, a), np.argsort(x, a, kind="stable"))) for a in (0, 1, -1)],
    Case("argsort", {"X": NAN}, {"axis": 1}, expect=lambda x: (np.sort(x, 1), np.argsort(x, 1, kind="stable")), grad=()),
    *[Case("argsort", {"X": x}, {"axis": 1, "descending": True}, grad=(),
           expect=lambda x: (np.take_along_axis(x, descending(x, 1), 1), descending(x, 1))) for x in (NAN, TIES)],
    Case("argsort", {"X": TIES}, expect=lambda x: (np.sort(x, 1), np.argsort(x, 1, kind="stable"))),
    Case("argsort", {"X": MASK}, {"axis": 0}, expect=lambda x: (np.sort(x, 0), np.argsort(x, 0, kind="stable"))),
    Case("argsort", {"X": f32()}, expect=lambda x: (x, np.array(0))),
    Case("top_k_v2", {"X": X}, {"k": 2}, expect=largest(2, 2)),
    Case("top_k_v2", {"X": NAN}, {"k": 3, "axis": 1}, expect=largest(3, 1), grad=()),
    Case("top_k_v2", {"X": TIES}, {"k": 40}, expect=largest(40, 1)),
    Case("top_k_v2", {"X": TIES, "K": i64(7)}, expect=largest(7, 1)),
    Case("top_k_v2", {"X": X}, {"k": 3, "axis": 0, "largest": False}, expect=lambda x: (np.sort(x, 0), np.argsort(x, 0))),
    fails("top_k_v2", {"X": TIES, "K": i64(300)}, AttributeValueError, "k = 300 is not between 1 and 200"),
    fails("top_k_v2", {"X": X}, AttributeValueError, "k = 6 is not between 1 and 5", k=6),
]  # fmt: skip

CASES = [*SLICES, *WRITES, *READS, *SCATTERS, *LOOKUPS, *SELECTIONS, *SORTS]
