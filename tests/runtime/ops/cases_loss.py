"""Rows of softmax, cross entropy and the other losses."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from dy2st_runtime.errors import AttributeValueError, DTypeError, OutOfRangeError, ShapeError
from op_cases import Case
from scipy import special

rng = np.random.default_rng(14)
IGNORED = -100


def f32(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)


def unit(*shape: int) -> np.ndarray:
    return rng.uniform(0.05, 0.95, shape).astype(np.float32)


def labels(*shape: int, classes: int) -> np.ndarray:
    """Random labels, the second one ignored."""
    found = rng.integers(0, classes, shape)
    found.flat[1] = IGNORED
    return found


def lanes(op: str, expect: Any, x: np.ndarray, axis: int) -> list[Case]:
    y = expect(x, axis)
    return [
        Case(op, {"X": x}, {"axis": axis}, expect=lambda x: expect(x, axis)),
        Case(op + "_grad", {"Out": y.astype(x.dtype), "Out@GRAD": f32(*x.shape)}, {"axis": axis}),
    ]


def picked(log: np.ndarray, label: np.ndarray, axis: int) -> np.ndarray:
    """-log at the label, 0 where it is ignored."""
    safe = np.where(label == IGNORED, 0, label)
    return np.where(label == IGNORED, 0, -np.take_along_axis(log, safe, axis))


def hard(logits: np.ndarray, label: np.ndarray, axis: int = -1) -> tuple:
    return special.softmax(logits, axis), picked(special.log_softmax(logits, axis), label, axis)


def soft(logits: np.ndarray, label: np.ndarray, axis: int = -1) -> tuple:
    return special.softmax(logits, axis), -(label * special.log_softmax(logits, axis)).sum(axis, keepdims=True)


def softmax_ce(logits: np.ndarray, label: np.ndarray, attrs: dict[str, Any], expect: Any) -> list[Case]:
    axis = attrs.get("axis", -1)
    shape = list(logits.shape)
    shape[axis] = 1
    probabilities = special.softmax(logits, axis).astype(np.float32)
    return [
        Case("softmax_with_cross_entropy", {"Logits": logits, "Label": label}, attrs, expect=expect, grad=("Logits",)),
        Case("softmax_with_cross_entropy_grad", {"Label": label, "Softmax": probabilities, "Loss@GRAD": f32(*shape)}, attrs,
             grad=("Softmax", "Loss@GRAD")),
    ]  # fmt: skip


def nll(x: np.ndarray, label: np.ndarray, weight: np.ndarray | None = None, reduction: str = "mean") -> tuple:
    weights = np.ones(x.shape[1]) if weight is None else weight
    share = np.where(label == IGNORED, 0, weights[np.where(label == IGNORED, 0, label)])
    loss = picked(x, label[:, None], 1)[:, 0] * share
    total = share.sum()
    return {"none": loss, "sum": loss.sum(), "mean": loss.sum() / (total or 1)}[reduction], total


def nll_rows(x: np.ndarray, label: np.ndarray, reduction: str, weight: np.ndarray | None = None) -> list[Case]:
    inputs = {"X": x, "Label": label} | ({} if weight is None else {"Weight": weight})
    attrs = {"reduction": reduction}
    out, total = nll(x, label, weight, reduction)
    backward = {**inputs, "Total_weight": np.array(total, np.float32), "Out@GRAD": f32(*out.shape)}
    return [Case("nll_loss", inputs, attrs, expect=lambda *v: nll(*v, reduction=reduction), grad=("X",)),
            Case("nll_loss_grad", backward, attrs, grad=("Out@GRAD",))]  # fmt: skip


def ctc(logits: np.ndarray, label: np.ndarray, steps: np.ndarray, counts: np.ndarray, blank: int = 0) -> tuple:
    """The gradient by differences, and the loss by all paths."""

    def loss(x: np.ndarray) -> np.ndarray:
        p, found = special.softmax(x.astype(np.float64), -1), []
        for row, (length, count) in enumerate(zip(np.minimum(steps, len(x)), counts, strict=True)):
            wanted, total = list(label[row, :count]), 0.0
            for path in itertools.product(range(x.shape[2]), repeat=int(length)):
                if [c for c, _ in itertools.groupby(path) if c != blank] == wanted:
                    total += math.prod(p[t, row, c] for t, c in enumerate(path))
            found.append(-math.log(total))
        return np.array(found)

    slopes, step = np.zeros(logits.shape), 1e-4
    for at in np.ndindex(logits.shape):
        moved = np.zeros(logits.shape)
        moved[at] = step
        slopes[at] = (loss(logits + moved) - loss(logits - moved))[at[1]] / (2 * step)
    return slopes, loss(logits)[:, None]


CTC = {"Logits": f32(4, 3, 3), "Label": np.array([[1, 2], [2, -7], [1, 1]]), "LogitsLength": np.array([4, 2, 9]),
       "LabelLength": np.array([2, 1, 2])}  # fmt: skip
SECOND = {"Logits": f32(3, 2, 3), "Label": np.array([[0, 1], [1, 0]], np.int32), "LogitsLength": np.array([3, 2]),
          "LabelLength": np.array([2, 1])}  # fmt: skip


def sigmoid_ce(x: np.ndarray, label: np.ndarray) -> np.ndarray:
    p = special.expit(x.astype(np.float64))
    return np.where(label == IGNORED, 0, -label * np.log(p) - (1 - label) * np.log1p(-p))


def bce(x: np.ndarray, label: np.ndarray) -> np.ndarray:
    logs = np.maximum(np.log(x), -100), np.maximum(np.log(1 - x), -100)
    return -(label * logs[0] + (1 - label) * logs[1])


def huber(x: np.ndarray, y: np.ndarray, delta: float) -> tuple:
    r = y - x
    return np.where(abs(r) <= delta, r**2 / 2, delta * (abs(r) - delta / 2)), r


def smooth(x: np.ndarray, y: np.ndarray, inside: Any = 1.0, outside: Any = 1.0, sigma: float = 1.0) -> tuple:
    d = (x - y) * inside
    value = np.where(abs(d) < 1 / sigma**2, (sigma * d) ** 2 / 2, abs(d) - 0.5 / sigma**2) * outside
    return d, value.reshape(len(x), -1).sum(1, keepdims=True)


X3 = f32(3, 4, 5)
EXTREME = np.array(
    [[np.inf, 1, 2], [-np.inf] * 3, [np.nan, 1, 2], [1, 2, np.nan], [1e30, -1e30, 0], [88, 89, 90]], np.float32
)
SURE = np.array([[0, 1, 0], [1, 0, 0]], np.float32)
L45, P45 = labels(4, 1, classes=5), unit(4, 5)
SIGNS = unit(3, 4)
SIGNS[1, 2] = IGNORED

CASES: list[Case] = [
    *lanes("softmax", special.softmax, X3, -1),
    *lanes("softmax", special.softmax, X3, 1),
    *lanes("softmax", special.softmax, X3, 0),
    *lanes("softmax", special.softmax, f32(4), -1),
    *lanes("log_softmax", special.log_softmax, X3, -1),
    *lanes("log_softmax", special.log_softmax, X3, 1),
    Case("softmax", {"X": EXTREME}, grad=()),
    Case("log_softmax", {"X": EXTREME}, grad=()),
    Case("softmax", {"X": f32()}, expect=np.ones_like, grad=()),
    Case("log_softmax", {"X": f32()}, expect=np.zeros_like, grad=()),
    Case("softmax_grad", {"Out": f32(), "Out@GRAD": f32()}, grad=()),
    Case("log_softmax_grad", {"Out": f32(), "Out@GRAD": f32()}, grad=()),
    Case("softmax", {"X": f32(0, 3)}, expect=lambda x: x),
    Case("softmax", {"X": X3.astype(np.float16)}, expect=lambda x: special.softmax(x.astype(np.float32), -1), grad=()),
    Case("softmax", {"X": X3}, {"axis": 3}, raises=AttributeValueError, match="axis 3 is out of range", static=True),
    Case("softmax", {"X": np.arange(3)}, raises=DTypeError, match="int64", static=True),
    Case("softmax_grad", {"Out": X3, "Out@GRAD": f32(3, 4, 4)}, raises=ShapeError, match="shape of the output"),

    *softmax_ce(f32(4, 5), L45, {}, hard),
    *softmax_ce(X3, labels(3, 1, 5, classes=4), {"axis": 1}, lambda x, t: hard(x, t, 1)),
    *softmax_ce(f32(4, 5), unit(4, 5), {"soft_label": True}, soft),
    *softmax_ce(X3, unit(3, 4, 5), {"soft_label": True, "axis": 1}, lambda x, t: soft(x, t, 1)),
    *softmax_ce(unit(4, 5), L45, {"use_softmax": False}, lambda p, t: (p, picked(np.log(p), t, -1))),
    *softmax_ce(f32(4, 5), np.array([[0], [2], [4], [2]], np.int32), {"ignore_index": 2},
                lambda x, t: hard(x, np.where(t == 2, IGNORED, t))),
    Case("softmax_with_cross_entropy", {"Logits": f32(4, 5).astype(np.float16), "Label": L45}, grad=(),
         expect=lambda x, t: hard(x.astype(np.float32), t)),
    Case("cross_entropy", {"X": P45, "Label": L45}, expect=lambda p, t: picked(np.log(p), t, -1)),
    Case("cross_entropy", {"X": P45, "Label": unit(4, 5)}, {"soft_label": True}, grad=("X",),
         expect=lambda p, t: -(t * np.log(p)).sum(-1, keepdims=True)),
    Case("cross_entropy", {"X": SURE, "Label": np.array([[1], [2]])}, grad=(), expect=lambda p, t: np.array([[0], [1e20]])),
    Case("softmax_with_cross_entropy", {"Logits": f32(2, 5), "Label": np.array([[4], [5]])}, raises=OutOfRangeError,
         match="label 5 is out of range for 5 classes"),
    Case("softmax_with_cross_entropy", {"Logits": f32(2, 5), "Label": np.array([[-1], [0]])}, raises=IndexError, match="label -1"),
    Case("softmax_with_cross_entropy_grad", {"Label": np.array([[5]]), "Softmax": f32(1, 5), "Loss@GRAD": f32(1, 1)},
         raises=OutOfRangeError, match="label 5"),
    Case("cross_entropy", {"X": P45, "Label": np.full((4, 1), 9)}, raises=OutOfRangeError, match="label 9"),
    Case("softmax_with_cross_entropy", {"Logits": f32(4, 5), "Label": f32(4, 1)}, raises=DTypeError, match="soft_label", static=True),
    Case("softmax_with_cross_entropy", {"Logits": f32(4, 5), "Label": L45}, {"soft_label": True}, raises=DTypeError, match="float32",
         static=True),
    Case("softmax_with_cross_entropy", {"Logits": f32(4, 5), "Label": L45[:, 0]}, raises=ShapeError, match="as many dims", static=True),
    Case("softmax_with_cross_entropy", {"Logits": f32(3, 5), "Label": L45}, raises=ShapeError, match="axis 0 of the label"),

    *(row for reduction in ("mean", "sum", "none") for row in nll_rows(f32(4, 5), labels(4, classes=5), reduction)),
    *(row for reduction in ("mean", "sum", "none") for row in nll_rows(f32(4, 5, 2, 3), labels(4, 2, 3, classes=5), reduction, unit(5))),
    Case("nll_loss", {"X": f32(3, 4), "Label": np.full(3, IGNORED)}, expect=nll, grad=()),
    Case("nll_loss", {"X": f32(3, 4), "Label": np.array([0, 4, 1])}, raises=OutOfRangeError, match="label 4"),
    Case("nll_loss_grad", {"X": f32(1, 4), "Label": np.array([4]), "Total_weight": f32(), "Out@GRAD": f32()}, raises=OutOfRangeError,
         match="label 4"),
    Case("nll_loss", {"X": f32(3, 4), "Label": np.zeros(2, np.int64)}, raises=ShapeError, match=r"\[2\] against \[3\]"),
    Case("nll_loss", {"X": f32(3, 4), "Label": np.zeros(3, np.int64)}, {"reduction": "max"}, raises=AttributeValueError, match="max",
         static=True),
    Case("nll_loss", {"X": f32(3, 4), "Label": np.zeros(3, np.int64), "Weight": f32(3)}, raises=ShapeError, match="weights"),

    Case("warpctc", CTC, expect=ctc, grad=("Logits",), known=("Logits", "Label"), rtol=1e-4),
    Case("warpctc", SECOND, {"blank": 2}, expect=lambda *v: ctc(*v, blank=2), grad=("Logits",), known=("Logits", "Label"), rtol=1e-4),
    Case("warpctc", {**SECOND, "Label": np.zeros((2, 0), np.int64), "LabelLength": np.array([0, 0])}, {"blank": 1}, grad=("Logits",),
         expect=lambda *v: ctc(*v, blank=1), known=("Logits", "Label"), rtol=1e-4),
    Case("warpctc", {**SECOND, "Label": np.array([[3, 1], [1, 0]])}, {"blank": 2}, raises=OutOfRangeError, match="label 3"),
    Case("warpctc", SECOND, {"blank": 4}, raises=OutOfRangeError, match="label 4"),
    Case("warpctc", {**SECOND, "LabelLength": np.array([2, 1, 1])}, raises=ShapeError, match="lengths of the labels", static=True),
    Case("warpctc", {**SECOND, "Logits": f32(3, 2, 3).astype(np.float16)}, raises=DTypeError, match="float16", static=True),
    Case("warpctc", SECOND, {"norm_by_times": True}, raises=AttributeValueError, match="norm_by_times", static=True),

    Case("sigmoid_cross_entropy_with_logits", {"X": f32(3, 4) * 5, "Label": SIGNS}, expect=sigmoid_ce, grad=("X",)),
    Case("sigmoid_cross_entropy_with_logits", {"X": np.array([-200, 200], np.float32), "Label": np.array([1, 1], np.float32)}, grad=(),
         expect=lambda x, t: np.array([200, 0])),
    Case("sigmoid_cross_entropy_with_logits_grad", {"X": f32(3, 4), "Label": SIGNS, "Out@GRAD": f32(3, 4)}, grad=("X", "Out@GRAD"),
         expect=lambda x, t, g: np.where(t == IGNORED, 0, (special.expit(x) - t) * g)),
    Case("sigmoid_cross_entropy_with_logits", {"X": f32(3), "Label": f32(3)}, {"normalize": True}, raises=AttributeValueError,
         match="normalize", static=True),
    Case("sigmoid_cross_entropy_with_logits", {"X": f32(3, 4), "Label": f32(4)}, raises=ShapeError, match="label", static=True),
    Case("bce_loss", {"X": unit(3, 4), "Label": unit(3, 4)}, expect=bce, grad=("X",)),
    Case("bce_loss", {"X": np.array([0, 1, 0, 1], np.float32), "Label": np.array([0, 1, 1, 0], np.float32)}, grad=(),
         expect=lambda x, t: np.array([0, 0, 100, 100])),
    Case("bce_loss_grad", {"X": unit(3, 4), "Label": unit(3, 4), "Out@GRAD": f32(3, 4)}, grad=("X", "Out@GRAD"),
         expect=lambda x, t, g: g * (x - t) / (x * (1 - x))),
    Case("bce_loss", {"X": unit(3), "Label": unit(4)}, raises=ShapeError, match="label"),
    Case("huber_loss", {"X": f32(3, 4), "Y": f32(3, 4)}, {"delta": 0.7}, expect=lambda x, y: huber(x, y, 0.7)),
    Case("huber_loss", {"X": f32(3, 4), "Y": f32(4)}, raises=ShapeError, match="X and Y", static=True),
    Case("smooth_l1_loss", {"X": f32(3, 4), "Y": f32(3, 4)}, expect=smooth),
    Case("smooth_l1_loss", {"X": f32(3, 2, 2), "Y": f32(3, 2, 2), "InsideWeight": unit(3, 2, 2), "OutsideWeight": unit(3, 2, 2)},
         {"sigma": 1.5}, expect=lambda *v: smooth(*v, sigma=1.5)),
    Case("smooth_l1_loss", {"X": f32(3, 4), "Y": f32(3, 1)}, raises=ShapeError, match="X and Y"),
]  # fmt: skip
