"""Rows of pooling."""

from __future__ import annotations

from typing import Any

import numpy as np
from dy2st_runtime.errors import AttributeValueError, ShapeError
from op_cases import Case

rng = np.random.default_rng(12)


def f32(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)


def pooled(x: np.ndarray, pooling_type: str = "max", ksize: Any = (2, 2), strides: Any = (1, 1), paddings: Any = (0, 0),
           padding_algorithm: str = "EXPLICIT", ceil_mode: bool = False, exclusive: bool = True, adaptive: bool = False,
           global_pooling: bool = False, data_format: str = "NCHW") -> np.ndarray:  # fmt: skip
    """The pool, window by window."""
    if data_format == "NHWC":
        first = pooled(x.transpose(0, 3, 1, 2), pooling_type, ksize, strides, paddings, padding_algorithm, ceil_mode, exclusive,
                       adaptive, global_pooling)  # fmt: skip
        return first.transpose(0, 2, 3, 1)
    windows = [_windows(x.shape[2 + i], i, ksize, strides, paddings, padding_algorithm, ceil_mode, adaptive, global_pooling)
               for i in (0, 1)]  # fmt: skip
    out = np.zeros((*x.shape[:2], len(windows[0]), len(windows[1])), x.dtype)
    for i, (top, bottom, height) in enumerate(windows[0]):
        for j, (left, right, width) in enumerate(windows[1]):
            part = x[:, :, top:bottom, left:right]
            inside = exclusive or adaptive or global_pooling
            area = part.shape[2] * part.shape[3] if inside else height * width
            out[:, :, i, j] = part.max((2, 3)) if pooling_type == "max" else part.sum((2, 3)) / area
    return out


def _windows(size: int, i: int, ksize: Any, strides: Any, paddings: Any, algorithm: str, ceil_mode: bool, adaptive: bool,
             whole: bool) -> list[tuple[int, int, int]]:  # fmt: skip
    """Start, stop, and size with padding, of each window along one axis."""
    if whole:
        return [(0, size, size)]
    if adaptive:
        cells = [(int(np.floor(c * size / ksize[i])), int(np.ceil((c + 1) * size / ksize[i]))) for c in range(ksize[i])]
        return [(a, b, b - a) for a, b in cells]
    before, after = (paddings[i], paddings[i]) if len(paddings) == 2 else paddings[2 * i : 2 * i + 2]
    if algorithm == "SAME":
        total = max((-(-size // strides[i]) - 1) * strides[i] + ksize[i] - size, 0)
        before, after = total // 2, total - total // 2
    steps = (size + before + after - ksize[i]) / strides[i]
    found = []
    for o in range(int(np.ceil(steps) if ceil_mode else np.floor(steps)) + 1):
        start = o * strides[i] - before
        stop = min(start + ksize[i], size + after)
        found.append((max(start, 0), min(stop, size), stop - start))
    return found


def pool(x: np.ndarray, **attrs: Any) -> list[Case]:
    """The pool and its gradient (and of a maximum the op that its gradient's gradient is), for both types."""
    rows = []
    for kind in ("max", "avg"):
        full = {"pooling_type": kind, **attrs}
        y = pooled(x, **full)
        dy = f32(*y.shape)
        rows.append(Case("pool2d", {"X": x}, full, expect=lambda x, full=full: pooled(x, **full)))
        # of a maximum, the gradient's own inputs X and Out only say where it was
        rows.append(Case("pool2d_grad", {"X": x, "Out": y, "Out@GRAD": dy}, full, grad=("Out@GRAD",)))
        if kind == "max":
            rows.append(Case("max_pool2d_pick", {"X": x, "Y": f32(*x.shape)}, full, grad=("Y",)))
    return rows


IMAGE = f32(2, 3, 7, 8)
LAST = np.ascontiguousarray(IMAGE.transpose(0, 2, 3, 1))
TIES = np.array([[1, 1, 0, 2], [1, 1, 2, 2], [np.nan, 5, 0, 0], [7, np.nan, 0, 0]], np.float32).reshape(1, 1, 4, 4)
HALF = {"ksize": [2, 2], "strides": [2, 2]}


def first_of_ties(x: np.ndarray, out: np.ndarray, dout: np.ndarray) -> np.ndarray:
    dx = np.zeros((4, 4), np.float32)
    dx[0, 0], dx[0, 3], dx[2, 0], dx[2, 2] = dout.reshape(-1)
    return dx.reshape(1, 1, 4, 4)


CASES: list[Case] = [
    *pool(IMAGE, **HALF),
    *pool(IMAGE, ksize=[3, 2], strides=[1, 2], paddings=[1, 0]),
    *pool(IMAGE, ksize=[3, 3], strides=[2, 2], paddings=[0, 1, 1, 0]),
    *pool(IMAGE, ksize=[3, 3], strides=[2, 2], ceil_mode=True),
    *pool(IMAGE, ksize=[3, 3], strides=[2, 2], paddings=[1, 1], ceil_mode=True, exclusive=False),
    *pool(IMAGE, ksize=[2, 3], strides=[2, 2], padding_algorithm="SAME"),
    *pool(IMAGE, global_pooling=True),
    *pool(IMAGE[:0], **HALF),
    *pool(IMAGE, adaptive=True, ksize=[3, 2]),
    *pool(IMAGE, adaptive=True, ksize=[1, 1]),
    *pool(LAST, data_format="NHWC", **HALF),
    *pool(LAST, data_format="NHWC", adaptive=True, ksize=[2, 3]),
    Case("pool2d", {"X": TIES}, HALF, expect=lambda x: np.array([[1, 2], [np.nan, 0]], np.float32).reshape(1, 1, 2, 2), grad=()),
    Case("pool2d_grad", {"X": TIES, "Out": pooled(TIES, **HALF), "Out@GRAD": f32(1, 1, 2, 2)}, HALF, expect=first_of_ties, grad=()),
    Case("pool2d", {"X": IMAGE.astype(np.float16)}, {"pooling_type": "avg", **HALF}, grad=(),
         expect=lambda x: pooled(x.astype(np.float32), "avg", **HALF)),
    Case("pool2d", {"X": IMAGE}, {"ksize": [9, 2]}, raises=ShapeError, match="larger than the padded image"),
    Case("pool2d", {"X": IMAGE[0]}, HALF, raises=ShapeError, match="4 dims", static=True),
    Case("pool2d", {"X": IMAGE}, {"pooling_type": "median", **HALF}, raises=AttributeValueError, match="median", static=True),
    Case("pool2d", {"X": IMAGE}, {"ksize": []}, raises=AttributeValueError, match="ksize", static=True),
    Case("pool2d_grad", {"X": IMAGE, "Out": IMAGE, "Out@GRAD": IMAGE}, HALF, raises=ShapeError, match="shape of the pool's output"),
    Case("max_pool2d_pick", {"X": IMAGE, "Y": LAST}, HALF, raises=ShapeError, match="differ in size"),
]  # fmt: skip
