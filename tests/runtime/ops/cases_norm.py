"""Rows of normalizations."""

from __future__ import annotations

from typing import Any

import numpy as np
from dy2st_runtime.errors import AttributeValueError, DTypeError, ShapeError
from op_cases import Case

rng = np.random.default_rng(13)


def f32(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)


def positive(*shape: int) -> np.ndarray:
    return rng.uniform(0.5, 2.0, shape).astype(np.float32)


def with_infinity(*shape: int) -> np.ndarray:
    x = f32(*shape)
    x[1, 2] = np.inf
    return x


def standardized(x: np.ndarray, axes: tuple[int, ...], epsilon: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return (x - mean) / np.sqrt(variance + epsilon), mean, variance


def layer(x: np.ndarray, scale: Any = 1.0, bias: Any = 0.0, epsilon: float = 1e-5, begin: int = 1) -> tuple:
    y, mean, variance = standardized(x, tuple(range(begin, x.ndim)), epsilon)
    shape = x.shape[begin:]
    return (
        y * np.broadcast_to(scale, np.prod(shape)).reshape(shape)
        + np.broadcast_to(bias, np.prod(shape)).reshape(shape),
        mean.reshape(-1),
        variance.reshape(-1),
    )


def column(v: np.ndarray, rank: int) -> np.ndarray:
    return v.reshape(-1, *[1] * (rank - 2))


def group(x: np.ndarray, scale: np.ndarray, bias: np.ndarray, groups: int, last: bool = False) -> np.ndarray:
    if last:
        return np.moveaxis(group(np.moveaxis(x, -1, 1), scale, bias, groups), 1, -1)
    y = standardized(x.reshape(len(x), groups, -1), (2,), 1e-5)[0].reshape(x.shape)
    return y * column(scale, x.ndim) + column(bias, x.ndim)


def batch(
    x: np.ndarray,
    scale: np.ndarray,
    bias: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    *,
    keep: float = 0.9,
    epsilon: float = 1e-5,
    running: bool = False,
    last: bool = False,
) -> tuple:
    rows = x if last else np.moveaxis(x, 1, -1)
    axes = tuple(range(x.ndim - 1))
    m, v = (mean, variance) if running else (rows.mean(axes), rows.var(axes))
    y = (rows - m) / np.sqrt(v + epsilon) * scale + bias
    out = (mean, variance) if running else (mean * keep + m * (1 - keep), variance * keep + v * (1 - keep))
    return y if last else np.moveaxis(y, -1, 1), *out, m, 1 / np.sqrt(v + epsilon)


def row_norm(op: str, inputs: dict[str, np.ndarray], attrs: dict[str, Any], expect: Any) -> list[Case]:
    """The op, and its gradient op on statistics that fit; those are functions of X, so X itself is left to the op's
    second gradient."""
    forward = Case(op, inputs, attrs, expect=expect)
    _, mean, variance = forward.run()
    backward = {**inputs, "Mean": mean, "Variance": variance, "Y@GRAD": f32(*inputs["X"].shape)}
    linear = tuple(s for s in ("Scale", "Y@GRAD") if s in backward)
    return [forward, Case(op + "_grad", backward, attrs, grad=linear)]


def batch_norm(x: np.ndarray, attrs: dict[str, Any], **expected: Any) -> list[Case]:
    channels = x.shape[-1] if attrs.get("data_layout") == "NHWC" else x.shape[1]
    inputs = {
        "X": x,
        "Scale": f32(channels),
        "Bias": f32(channels),
        "Mean": f32(channels),
        "Variance": positive(channels),
    }
    forward = Case("batch_norm", inputs, attrs, expect=lambda *v: batch(*v, **expected), grad=("X", "Scale", "Bias"))
    outs = forward.run()
    backward = {
        "X": x,
        "Scale": inputs["Scale"],
        "SavedMean": outs[3],
        "SavedVariance": outs[4],
        "Y@GRAD": f32(*x.shape),
    }
    return [forward, Case("batch_norm_grad", backward, attrs, grad=("Scale", "Y@GRAD"))]


X3, X4 = f32(4, 5, 3), f32(2, 6, 3, 4)
LAST = np.ascontiguousarray(np.moveaxis(X4, 1, -1))
S6, B6 = f32(6), f32(6)
BATCH = {"X": X4, "Scale": S6, "Bias": B6, "Mean": f32(6), "Variance": positive(6)}
HALF = {"X": X4.astype(np.float16), "Scale": S6, "Bias": B6}

CASES: list[Case] = [
    *row_norm("layer_norm", {"X": X3, "Scale": f32(15), "Bias": f32(15)}, {}, layer),
    *row_norm("layer_norm", {"X": X3, "Scale": f32(3)}, {"begin_norm_axis": 2, "epsilon": 0.1},
              lambda x, s: layer(x, s, epsilon=0.1, begin=2)),
    *row_norm("layer_norm", {"X": f32(4, 5), "Bias": f32(5)}, {}, lambda x, b: layer(x, 1.0, b)),
    *row_norm("layer_norm", {"X": f32(4, 5)}, {}, layer),
    Case("layer_norm", {"X": X3.astype(np.float16), "Scale": f32(15)}, grad=(), expect=lambda x, s: layer(x.astype(np.float32), s)),
    *row_norm("group_norm", {"X": X4, "Scale": S6, "Bias": B6}, {"groups": 2}, lambda x, s, b: group(x, s, b, 2)),
    *row_norm("group_norm", {"X": LAST, "Scale": S6, "Bias": B6}, {"groups": 3, "data_layout": "NHWC"},
              lambda x, s, b: group(x, s, b, 3, last=True)),
    # one element of a sample for each channel, so that those of a group are neighbours in memory; and one for each group
    *(case for shape, groups in (((3, 6), 2), ((3, 6), 6), ((2, 6, 1), 3))
      for case in row_norm("group_norm", {"X": f32(*shape), "Scale": S6, "Bias": B6}, {"groups": groups},
                           lambda x, s, b, groups=groups: group(x, s, b, groups))),
    *row_norm("instance_norm", {"X": X4, "Scale": S6, "Bias": B6}, {}, lambda x, s, b: group(x, s, b, 6)),
    *row_norm("instance_norm", {"X": f32(2, 6, 1), "Scale": S6, "Bias": B6}, {}, lambda x, s, b: group(x, s, b, 6)),
    *batch_norm(X4, {}),
    *[Case("batch_norm_statistics", {"X": x, "Mean": f32(6), "Variance": positive(6)}, {"momentum": 0.5}, grad=(),
           expect=lambda x, mean, variance: batch(x, np.ones(6, "f"), np.zeros(6, "f"), mean, variance, keep=0.5)[1:])
      for x in (X4, f32(5, 6), f32(3, 6, 4, 70), with_infinity(3, 6, 4), with_infinity(3, 6))],
    # of no elements the mean is no number
    *[Case("batch_norm_statistics", {"X": f32(*shape), "Mean": f32(6), "Variance": positive(6)}, {"momentum": 0.5}, grad=(),
           expect=lambda x, mean, variance: (np.full(6, np.nan, "f"),) * 4)
      for shape in ((0, 6), (0, 6, 4), (2, 6, 0))],
    *batch_norm(X4, {"momentum": 0.5, "epsilon": 0.01}, keep=0.5, epsilon=0.01),
    *batch_norm(X4, {"is_test": True}, running=True),
    *batch_norm(X4, {"use_global_stats": True}, running=True),
    *batch_norm(X4, {"is_test": True, "trainable_statistics": True}),
    *batch_norm(LAST, {"data_layout": "NHWC"}, last=True),
    *batch_norm(LAST, {"data_layout": "NHWC", "is_test": True}, last=True, running=True),
    *batch_norm(f32(5, 3), {}),
    Case("batch_norm", {**BATCH, "X": np.zeros((0, *BATCH["X"].shape[1:]), np.float32)}, {"is_test": True}, grad=()),
    *batch_norm(f32(5, 3, 4), {}),
    Case("batch_norm", {**BATCH, **HALF}, grad=(), expect=lambda x, *v: batch(x.astype(np.float32), *v)),
    Case("layer_norm", {"X": X3, "Scale": f32(14)}, raises=ShapeError, match="elements of Scale: 14 against 15"),
    Case("layer_norm", {"X": X3}, {"begin_norm_axis": 3}, raises=AttributeValueError, match="begin_norm_axis 3", static=True),
    Case("layer_norm", {"X": np.arange(6).reshape(2, 3)}, raises=DTypeError, match="int64", static=True),
    Case("group_norm", {"X": X4}, {"groups": 4}, raises=ShapeError, match="divisible by groups: 6 by 4"),
    Case("group_norm", {"X": X4}, {"groups": 0}, raises=AttributeValueError, match="groups", static=True),
    Case("instance_norm", {"X": f32(4, 5)}, raises=ShapeError, match="number of dims", static=True),
    Case("layer_norm_grad", {"X": X3, "Mean": f32(4), "Variance": positive(4), "Y@GRAD": f32(4, 5, 2)}, raises=ShapeError,
         match="shape of the output"),
    Case("batch_norm", {**BATCH, "Bias": f32(5)}, raises=ShapeError, match="Bias must have one element for each channel"),
    Case("batch_norm", {**BATCH, "X": f32(6)}, raises=ShapeError, match="number of dims", static=True),
    Case("batch_norm", BATCH, {"data_layout": "CNHW"}, raises=AttributeValueError, match="CNHW", static=True),
]  # fmt: skip
