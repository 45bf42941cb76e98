"""Rows of the TensorArray ops. Their gradients are checked as programs, in test_array_gradients.py."""

from __future__ import annotations

from typing import Any

import numpy as np
from dy2st_runtime.errors import DTypeError, OutOfRangeError, ShapeError
from op_cases import Case, TensorArray

rng = np.random.default_rng(9)


def f32(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)


def i64(value: int) -> np.ndarray:
    return np.array(value, np.int64)


A, B, C, X = f32(2, 3), f32(2, 3), f32(2, 3), f32(2, 3)
LIST, UNEVEN = TensorArray([A, B, C]), TensorArray([A, f32(2, 1), f32(2, 4)])


def row(op: str, inputs: dict[str, Any], expect: Any, **attrs: Any) -> Case:
    return Case(op, inputs, attrs, expect=expect, grad=())


def fails(op: str, inputs: dict[str, Any], error: type[BaseException], match: str, static: bool = False, **attrs: Any) -> Case:
    return Case(op, inputs, attrs, raises=error, match=match, static=static)


CASES = [
    row("create_array", {}, lambda: ([],), shape=[-1, 3]),
    row("write_to_array", {"X": X, "I": i64(1), "Array": LIST}, lambda x, i, a: ([a[0], x, a[2]],)),
    row("write_to_array", {"X": X, "I": np.array([3], np.int32), "Array": LIST}, lambda x, i, a: ([*a, x],)),
    row("write_to_array", {"X": X, "I": i64(-3), "Array": LIST}, lambda x, i, a: ([x, *a[1:]],)),
    row("write_to_array", {"X": f32(2, 9), "I": i64(0), "Array": LIST}, lambda x, i, a: ([x, *a[1:]],)),
    row("write_to_array", {"X": X, "I": i64(0)}, lambda x, i: ([x],)),
    fails("write_to_array", {"X": X, "I": i64(4), "Array": LIST}, OutOfRangeError, "index 4 is out of range for a list with 3 entries"),
    fails("write_to_array", {"X": X, "I": i64(1)}, IndexError, "index 1"),
    fails("write_to_array", {"X": X.astype(np.float64), "I": i64(0), "Array": LIST}, DTypeError, "float64", static=True),
    row("write_to_array_grad", {"Array": TensorArray([A, B]), "I": i64(2), "Out@GRAD": LIST}, lambda a, i, d: (d[:2],)),
    row("write_to_array_grad", {"Array": LIST, "I": i64(-1), "Out@GRAD": LIST}, lambda a, i, d: ([*d[:2], 0 * A],)),
    row("array_set", {"Array": LIST, "X": X, "I": i64(-1)}, lambda a, x, i: ([*a[:2], x],)),
    fails("array_set", {"Array": LIST, "X": X, "I": i64(3)}, OutOfRangeError, "index 3 is out of range"),
    row("array_append", {"Array": LIST, "X": X}, lambda a, x: ([*a, x],)),
    fails("array_append", {"Array": LIST, "X": f32(3)}, ShapeError, "dims", static=True),
    fails("array_append", {"Array": A, "X": X}, DTypeError, "takes a TensorArray", static=True),
    row("array_extend", {"Array": LIST, "Other": UNEVEN}, lambda a, o: ([*a, *o],)),
    fails("array_extend", {"Array": LIST, "Other": TensorArray([f32(3)])}, ShapeError, "dims", static=True),
    row("array_extend_grad", {"Array": LIST, "Other": TensorArray([A]), "Out@GRAD": TensorArray([A, B, C, X])},
        lambda a, o, d: (d[:3], d[3:])),
    row("array_pop", {"Array": LIST}, lambda a: (a[:2], a[2])),
    row("read_from_array", {"X": LIST, "I": i64(-1)}, lambda a, i: a[-1]),
    row("read_from_array", {"X": UNEVEN, "I": np.array([1], np.int32)}, lambda a, i: a[1]),
    fails("read_from_array", {"X": LIST, "I": i64(3)}, OutOfRangeError, "index 3 is out of range for a list with 3 entries"),
    fails("read_from_array", {"X": LIST, "I": i64(-4)}, IndexError, "index -4"),
    fails("read_from_array", {"X": LIST, "I": f32()}, DTypeError, "must be int32 or int64", static=True),
    row("read_from_array_grad", {"X": UNEVEN, "I": i64(1), "Out@GRAD": f32(2, 1)}, lambda a, i, d: ([0 * a[0], d, 0 * a[2]],)),
    row("array_insert", {"Array": LIST, "X": X, "I": i64(1)}, lambda a, x, i: ([a[0], x, *a[1:]],)),
    row("array_insert", {"Array": UNEVEN, "X": X, "I": np.array([3], np.int32)}, lambda a, x, i: ([*a, x],)),
    row("array_insert", {"Array": LIST, "X": X, "I": i64(-2)}, lambda a, x, i: ([*a[:2], x, a[2]],)),
    fails("array_insert", {"Array": LIST, "X": X, "I": i64(4)}, OutOfRangeError, "index 4 is out of range"),
    row("array_remove", {"Array": UNEVEN, "I": i64(1)}, lambda a, i: ([a[0], a[2]], a[1])),
    row("array_remove", {"Array": LIST, "I": np.array(-3, np.int32)}, lambda a, i: (a[1:], a[0])),
    fails("array_remove", {"Array": LIST, "I": i64(3)}, OutOfRangeError, "index 3 is out of range for a list with 3 entries"),
    row("array_take", {"X": UNEVEN, "Index": np.array([2, 0, -1])}, lambda a, i: ([a[2], a[0], a[2]],)),
    row("array_take", {"X": LIST, "Index": np.zeros(0, np.int64)}, lambda a, i: ([],)),
    fails("array_take", {"X": LIST, "Index": np.array([0, 3])}, OutOfRangeError, "index 3 is out of range"),
    fails("array_take", {"X": LIST, "Index": i64(0)}, DTypeError, "int64 vector", static=True),
    row("array_take_grad", {"X": LIST, "Index": np.array([2, 0, -1]), "Out@GRAD": LIST},
        lambda a, i, d: ([d[1], 0 * A, d[0] + d[2]],)),
    row("array_common", {"X": UNEVEN, "Y": TensorArray([A, f32(2, 1)])}, lambda x, y: np.array(1)),
    row("array_common", {"X": LIST, "Y": TensorArray([A, B, C, X])}, lambda x, y: np.array(3)),
    row("array_common", {"X": LIST, "Y": TensorArray([A + 1])}, lambda x, y: np.array(0)),
    row("lod_array_length", {"X": LIST}, lambda a: np.array(3)),
    row("array_zeros_like", {"X": UNEVEN}, lambda a: ([0 * v for v in a],)),
    row("tensor_array_to_tensor", {"X": LIST}, np.stack, use_stack=True),
    row("tensor_array_to_tensor", {"X": LIST}, lambda a: np.stack(a, -1), use_stack=True, axis=-1),
    row("tensor_array_to_tensor", {"X": UNEVEN}, lambda a: np.concatenate(a, 1), axis=1),
    fails("tensor_array_to_tensor", {"X": UNEVEN}, ShapeError, "have shapes", use_stack=True),
    row("tensor_to_array", {"X": X}, lambda x: ([x[:, 0], x[:, 1], x[:, 2]],), axis=-1),
    row("tensor_to_array", {"X": X}, lambda x: (list(x),)),
    row("tensor_to_array_grad", {"X": f32(2, 3, 3), "Out@GRAD": LIST}, lambda x, d: np.stack(d, 1), axis=1),
    row("split_as_array", {"X": f32(2, 8), "Like": UNEVEN}, lambda x, a: (np.split(x, [3, 4], 1),), axis=1),
]  # fmt: skip
