"""Rows of the shape ops: views, movement, joining and splitting, padding."""

from __future__ import annotations

from typing import Any

import numpy as np
from dy2st_runtime.errors import AttributeValueError, DTypeError, OutOfRangeError, ShapeError
from op_cases import Case

rng = np.random.default_rng(7)


def f32(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)


def i64(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


X, ROW, COLUMN, IMAGE = f32(2, 3, 4), f32(3), f32(3, 1), f32(2, 3, 4, 5)
INTS, HALF = rng.integers(-9, 9, (2, 3, 4)), f32(2, 3, 4).astype(np.float16)
EMPTY, VOLUME = f32(0, 3, 4), f32(1, 2, 2, 3, 2)
UNEVEN = [f32(2, 3, 4), f32(2, 1, 4), f32(2, 2, 4)]
MANY = [f32(2, i % 3, 4) for i in range(13)]


def one(op: str, expect: Any, x: np.ndarray = X, **attrs: Any) -> Case:
    return Case(op, {"X": x}, attrs, expect=expect)


def fails(op: str, inputs: dict[str, Any], error: type[BaseException], match: str, static: bool = False, **attrs: Any) -> Case:
    return Case(op, inputs, attrs, raises=error, match=match, static=static)


VIEWS = [
    one("reshape2", lambda x: x.reshape(2, 12), shape=[0, -1]),
    one("reshape2", lambda x: x.reshape(4, 6), shape=[4, 6]),
    one("reshape2", lambda x: x.reshape(-1), shape=[-1]),
    one("reshape2", lambda x: x.reshape(2, 1, 3, 4), shape=[0, 1, -1, 4]),
    one("reshape2", lambda x: x.reshape(3, 0, 2), x=EMPTY, shape=[3, -1, 2]),
    one("reshape2", lambda x: x.reshape(0, 12), x=EMPTY, shape=[0, -1]),
    one("reshape2", lambda x: x.reshape(0, 2, 2), x=f32(0, 5), shape=[0, 2, 2]),
    one("reshape2", lambda x: x.reshape(()), x=f32(1), shape=[]),
    Case("reshape2", {"X": X, "Shape": i64(6, -1)}, expect=lambda x, s: x.reshape(6, 4)),
    Case("reshape2", {"X": X, "Shape": i64(0, 12).astype(np.int32)}, expect=lambda x, s: x.reshape(2, 12)),
    Case("reshape2", {"X": X, "ShapeTensor": [i64(6), np.array(4)]}, {"shape": [-1, 4]}, expect=lambda x, s: x.reshape(6, 4)),
    Case("reshape2", {"X": INTS, "ShapeTensor": [i64(-1), np.array(4)]}, expect=lambda x, s: x.reshape(6, 4)),
    fails("reshape2", {"X": X}, ShapeError, r"\[2, 3, 4\] cannot be reshaped to \[5, -1\]", shape=[5, -1]),
    fails("reshape2", {"X": X}, ShapeError, "cannot be reshaped", static=True, shape=[5, -1]),
    fails("reshape2", {"X": X}, ShapeError, "only one dim can be -1", static=True, shape=[-1, -1]),
    fails("reshape2", {"X": X}, ShapeError, "-2 is no size", static=True, shape=[-2, 12]),
    fails("reshape2", {"X": X}, ShapeError, "no dim 3 to keep", static=True, shape=[2, 3, 4, 0]),
    fails("reshape2", {"X": X, "Shape": i64(5, 7)}, ShapeError, "cannot be reshaped"),
    fails("reshape2", {"X": X, "Shape": i64(-1, -1)}, ShapeError, "only one dim"),
    fails("reshape2", {"X": X, "Shape": f32(2)}, DTypeError, "must be int32 or int64", static=True),
    Case("reshape_as", {"X": X, "Y": f32(4, 6)}, grad=("X",), expect=lambda x, y: x.reshape(4, 6)),
    fails("reshape_as", {"X": X, "Y": f32(4, 5)}, ShapeError, "cannot be reshaped"),
    Case("same_shape", {"X": X, "Like": f32(2, 3, 4)}, grad=("X",), expect=lambda x, y: x),
    fails("same_shape", {"X": X, "Like": f32(2, 1, 4)}, ShapeError, "cannot be set to a value of shape"),
    fails("same_shape", {"X": X, "Like": f32(2, 3)}, ShapeError, "cannot be set to a value of shape", static=True),
    Case("mask_of", {"Mask": f32(3) > 0, "X": X}, {"axis": 1}, expect=lambda m, x: m),
    Case("mask_of", {"Mask": f32(2, 3, 4) > 0, "X": X}, expect=lambda m, x: m),
    fails("mask_of", {"Mask": f32(3) > 0, "X": X}, OutOfRangeError, "the mask has size 3 on its axis 0, the tensor has 2 there"),
    fails("mask_of", {"Mask": f32(3, 4) > 0, "X": X}, ShapeError, "does not fit a tensor of shape", static=True, axis=2),
    one("squeeze2", lambda x: x.reshape(2, 3), x=f32(2, 1, 3, 1), axes=[1, -1]),
    Case("squeeze2", {"X": f32(2, 1, 3, 1)}, expect=lambda x: x.reshape(2, 3), known=("X",)),
    one("squeeze2", lambda x: x.reshape(()), x=f32(1, 1), axes=[0, 1]),
    fails("squeeze2", {"X": X}, ShapeError, r"size 1 on axis 1 of \[2, 3, 4\]", axes=[1]),
    one("unsqueeze2", lambda x: x[None, ..., None], axes=[0, -1]),
    one("unsqueeze2", lambda x: x.reshape(1, 2, 3, 1, 4), axes=[0, 3]),
    one("unsqueeze2", lambda x: x, axes=[]),
    fails("unsqueeze2", {"X": X}, AttributeValueError, "axis 4 is out of range", static=True, axes=[4]),
    one("flatten_contiguous_range", lambda x: x.reshape(2, 12), start_axis=1, stop_axis=-1),
    one("flatten_contiguous_range", lambda x: x.reshape(6, 4), start_axis=0, stop_axis=1),
    one("flatten_contiguous_range", lambda x: x.reshape(1), x=f32(), start_axis=0, stop_axis=-1),
    fails("flatten_contiguous_range", {"X": X}, AttributeValueError, "behind stop_axis", static=True, start_axis=2, stop_axis=1),
    one("flatten2", lambda x: x.reshape(6, 4), axis=2),
    one("flatten2", lambda x: x.reshape(1, 24), axis=0),
]

MOVES = [
    *[one("transpose2", lambda x, a=a: x.transpose(a), axis=a) for a in ([0, 2, 1], [2, 0, 1], [1, 0, -1], [2, 1, 0], [0, 1, 2])],
    one("transpose2", lambda x: x.transpose(0, 2, 3, 1), x=IMAGE, axis=[0, 2, 3, 1]),
    one("transpose2", lambda x: x.transpose(0, 2, 1, 3), x=IMAGE, axis=[0, 2, 1, 3]),
    one("transpose2", lambda x: x.transpose(0, 2, 1), x=f32(3, 1, 4), axis=[0, 2, 1]),  # moves nothing
    one("transpose2", lambda x: x.transpose(1, 0, 2), x=HALF, axis=[1, 0, 2]),
    one("transpose2", lambda x: x.T, x=f32(40, 70), axis=[1, 0]),
    # several tiles of the loops, with less than one at the ends
    one("transpose2", lambda x: x.transpose(0, 3, 1, 2), x=f32(2, 5, 7, 19), axis=[0, 3, 1, 2]),
    one("transpose2", lambda x: x.transpose(0, 2, 3, 1), x=f32(2, 33, 4, 5), axis=[0, 2, 3, 1]),
    one("transpose2", lambda x: x.transpose(2, 1, 0), x=f32(17, 3, 18), axis=[2, 1, 0]),
    one("transpose2", lambda x: x.T, x=np.array([[True, False, True]]), axis=[1, 0]),
    fails("transpose2", {"X": X}, AttributeValueError, "no permutation", static=True, axis=[0, 1, 1]),
    one("expand_v2", lambda x: np.broadcast_to(x, (2, 3, 4)), x=COLUMN, shape=[2, -1, 4]),
    one("expand_v2", lambda x: np.broadcast_to(x, (5, 2)), x=f32(), shape=[5, 2]),
    Case("expand_v2", {"X": COLUMN, "Shape": i64(2, 3, 4)}, expect=lambda x, s: np.broadcast_to(x, (2, 3, 4))),
    Case("expand_v2", {"X": COLUMN, "expand_shapes_tensor": [i64(3), np.array(2)]}, {"shape": [3, -1]},
         expect=lambda x, s: np.broadcast_to(x, (3, 2))),
    fails("expand_v2", {"X": ROW}, ShapeError, r"\[3\] cannot be expanded to \[2, 4\]", shape=[2, 4]),
    fails("expand_v2", {"X": X}, ShapeError, "more dims", static=True, shape=[2, 4]),
    *[one("tile", lambda x, t=t: np.tile(x, t), repeat_times=t) for t in ([2, 1, 3], [2], [2, 1, 1, 1], [1, 0, 1])],
    one("tile", lambda x: np.tile(x, (2, 3)), x=ROW, repeat_times=[2, 3]),
    Case("tile", {"X": X, "RepeatTimes": i64(2, 1, 1)}, expect=lambda x, t: np.tile(x, (2, 1, 1))),
    Case("tile", {"X": X, "repeat_times_tensor": [np.array(2), i64(3)]}, {"repeat_times": [2, -1]}, expect=lambda x, t: np.tile(x, (2, 3))),
    fails("tile", {"X": X}, AttributeValueError, "negative", static=True, repeat_times=[-1]),
    fails("tile", {"X": X, "RepeatTimes": i64(-2)}, AttributeValueError, "negative"),
    Case("tile_grad", {"X": X, "Out@GRAD": np.tile(X, (2, 1, 3))}, {"repeat_times": [2, 1, 3]}, grad=("Out@GRAD",),
         expect=lambda x, d: 6 * x),
    one("flip", lambda x: x[::-1, :, ::-1], axis=[0, -1]),
    one("flip", lambda x: x[:, ::-1], x=INTS, axis=[1]),
    fails("flip", {"X": X}, AttributeValueError, "names an axis twice", static=True, axis=[1, -2]),
    one("roll", lambda x: np.roll(x, (1, -2), (0, 2)), shifts=[1, -2], axis=[0, 2]),
    one("roll", lambda x: np.roll(x, 1, 1), shifts=[1], axis=[1]),
    one("roll", lambda x: np.roll(x, -31), shifts=[-31], axis=[]),
    Case("roll", {"X": X, "ShiftsTensor": i64(5)}, {"axis": [-1]}, expect=lambda x, s: np.roll(x, 5, 2)),
    Case("roll", {"X": X, "ShiftsTensor": i64(1, -2)}, {"axis": [0, 2]}, expect=lambda x, s: np.roll(x, (1, -2), (0, 2))),
    fails("roll", {"X": X}, AttributeValueError, "2 shifts for 1 axes", static=True, shifts=[1, 2], axis=[0]),
    fails("roll", {"X": X, "ShiftsTensor": i64(1, 2)}, AttributeValueError, "2 shifts for 1 axes", static=True, axis=[0]),
]

JOINS = [
    Case("concat", {"X": UNEVEN}, {"axis": 1}, expect=lambda xs: np.concatenate(xs, 1)),
    Case("concat", {"X": [X, X]}, {"axis": -1}, expect=lambda xs: np.concatenate(xs, 2)),
    Case("concat", {"X": [X, EMPTY, X]}, expect=lambda xs: np.concatenate(xs, 0)),
    Case("concat", {"X": [X]}, expect=lambda xs: xs[0]),
    Case("concat", {"X": MANY}, {"axis": 1}, expect=lambda xs: np.concatenate(xs, 1), grad=()),
    Case("concat", {"X": [m > 0 for m in MANY]}, {"axis": 1}, expect=lambda xs: np.concatenate(xs, 1)),
    Case("split_as", {"X": np.concatenate(MANY, 1), "Like": MANY}, {"axis": 1}, expect=lambda x, like: (like,), grad=()),
    Case("split", {"X": f32(3, 24)}, {"num": 12, "axis": 1}, expect=lambda x: (np.split(x, 12, 1),), grad=()),
    Case("stack", {"X": [f32(2, 3) for _ in range(9)]}, {"axis": 1}, expect=lambda xs: np.stack(xs, 1), grad=()),
    Case("unbind", {"X": f32(2, 11, 3)}, {"axis": 1}, expect=lambda x: (list(np.moveaxis(x, 1, 0)),), known=("X",), grad=()),
    Case("concat", {"X": [INTS, INTS]}, {"axis": 2}, expect=lambda xs: np.concatenate(xs, 2)),
    fails("concat", {"X": [X, f32(2, 2, 4)]}, ShapeError, "sizes differ on axis 1", axis=0),
    fails("concat", {"X": [X, f32(2, 3)]}, ShapeError, "number of dims", static=True),
    fails("concat", {"X": [X, INTS]}, DTypeError, "float32 and int64", static=True),
    fails("concat", {"X": []}, AttributeValueError, "at least one", static=True),
    Case("split_as", {"X": np.concatenate(UNEVEN, 1), "Like": UNEVEN}, {"axis": 1}, expect=lambda x, like: (like,), grad=("X",)),
    fails("split_as", {"X": X, "Like": UNEVEN}, ShapeError, "axis 1", axis=1),
    one("split", lambda x: (np.split(x, 2, 2),), num=2, axis=-1),
    one("split", lambda x: ([x[:, :1], x[:, 1:]],), sections=[1, -1], axis=1),
    one("split", lambda x: ([x[:, :2], x[:, 2:]],), sections=[2, 1], axis=1),
    Case("split", {"X": X, "SectionsTensorList": [i64(1), i64(-1)]}, {"axis": 1}, expect=lambda x, s: ([x[:, :1], x[:, 1:]],)),
    fails("split", {"X": X}, ShapeError, "equal pieces", num=2, axis=1),
    *[fails(op, {"X": X}, AttributeValueError, "must be from 1 to", static=True, num=num, axis=1)
      for op, num in (("split", 0), ("split", 2**31 - 1), ("unstack", -1), ("unstack", 2**31 - 1))],
    fails("split", {"X": X}, ShapeError, "do not add up", sections=[1, 1], axis=1),
    fails("split", {"X": X}, ShapeError, "what is left", sections=[5, -1], axis=1),
    fails("split", {"X": X}, AttributeValueError, "one of them may be -1", static=True, sections=[-1, -1], axis=1),
    *[Case("stack", {"X": [X, X + 1]}, {"axis": a}, expect=lambda xs, a=a: np.stack(xs, a)) for a in (0, 1, -1)],
    Case("stack", {"X": [f32(), f32()]}, expect=np.stack),
    fails("stack", {"X": [X, f32(2, 3, 1)]}, ShapeError, "sizes differ on axis 2"),
    one("unstack", lambda x: ([x[:, 0], x[:, 1], x[:, 2]],), axis=1, num=3),
    Case("unstack", {"X": X}, {"axis": 0}, expect=lambda x: (list(x),), known=("X",)),
    fails("unstack", {"X": X}, ShapeError, "number of slices", axis=1, num=2),
    Case("unbind", {"X": X}, {"axis": -1}, expect=lambda x: ([x[..., i] for i in range(4)],), known=("X",)),
    Case("meshgrid", {"X": [f32(2), f32(3), f32(4)]}, expect=lambda xs: (list(np.meshgrid(*xs, indexing="ij")),)),
    Case("meshgrid", {"X": [f32(2)]}, expect=lambda xs: (xs,)),
    fails("meshgrid", {"X": [X]}, ShapeError, "one dim", static=True),
]  # fmt: skip

PADS = [
    one("pad", lambda x: np.pad(x, ((0, 0), (1, 2), (0, 3)), constant_values=2.5), paddings=[0, 0, 1, 2, 0, 3], pad_value=2.5),
    one("pad", lambda x: np.pad(x, ((1, 0), (0, 0), (0, 0)), constant_values=-1), x=INTS, paddings=[1, 0, 0, 0, 0, 0], pad_value=-1.0),
    one("pad", lambda x: x, paddings=[0] * 6),
    fails("pad", {"X": X}, AttributeValueError, "6 paddings", static=True, paddings=[1, 1]),
    fails("pad", {"X": X}, AttributeValueError, "at least 0", static=True, paddings=[-1, 0, 0, 0, 0, 0]),
    one("pad2d", lambda x: np.pad(x, ((0, 0), (0, 0), (1, 0), (2, 1))), x=IMAGE, paddings=[1, 0, 2, 1]),
    one("pad2d", lambda x: np.pad(x, ((0, 0), (1, 0), (2, 1), (0, 0))), x=IMAGE, paddings=[1, 0, 2, 1], data_format="NHWC"),
    fails("pad2d", {"X": IMAGE}, AttributeValueError, "mode 'reflect'", static=True, mode="reflect"),
    fails("pad2d", {"X": X}, AttributeValueError, "4 dims", static=True),
    one("pad3d", lambda x: np.pad(x, ((0, 0), (0, 0), (0, 1), (2, 1), (1, 0))), x=VOLUME, paddings=[1, 0, 2, 1, 0, 1]),
]

CASES = [*VIEWS, *MOVES, *JOINS, *PADS]
