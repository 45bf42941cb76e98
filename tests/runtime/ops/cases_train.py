"""Rows of dropout, the optimizer steps, and gradient clipping."""

from __future__ import annotations

from typing import Any

import numpy as np
from dy2st_runtime.errors import AttributeValueError, DTypeError, ShapeError
from op_cases import Case

rng = np.random.default_rng(15)


def f32(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)


def positive(*shape: int) -> np.ndarray:
    return rng.uniform(0.5, 2.0, shape).astype(np.float32)


def arr(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def dropout(upscale: bool, **attrs: Any) -> Case:
    """The mask says what is kept; `kept` below tests that it is random."""
    attrs["dropout_implementation"] = "upscale_in_train" if upscale else "downgrade_in_infer"
    x = f32(6, 7)
    inputs = {"X": x} if attrs.get("is_test") else {"X": x, "State": np.array([5, 100])}
    full = {"dropout_prob": 0.5, **attrs}

    def expect(x: np.ndarray, state: Any = None) -> np.ndarray:
        if state is None:
            return x if upscale else x * np.float32(1 - full["dropout_prob"])
        _, mask, _ = Case("dropout", inputs, attrs).run()
        factor = 1 / (1 - full["dropout_prob"]) if upscale and full["dropout_prob"] < 1 else 1
        return x * mask * np.float32(factor)

    return Case("dropout", inputs, attrs, expect=expect)


S = (3, 4)
P, G, LR = f32(*S), f32(*S), arr(0.1)


def momentum(p: Any, g: Any, v: Any, lr: Any, nesterov: bool = False, decay: float = 0.0) -> tuple:
    g = g + decay * p
    v = 0.9 * v + g
    return p - lr * (g + 0.9 * v if nesterov else v), v


def adam(p: Any, g: Any, lr: Any, m1: Any, m2: Any, p1: Any, p2: Any, decay: float = 0.0) -> tuple:
    p = p - lr * decay * p
    m1, m2 = 0.9 * m1 + 0.1 * g, 0.999 * m2 + 0.001 * g**2
    # the bias-corrected form: m1 / (1 - b1^t) over sqrt(m2 / (1 - b2^t)) + epsilon
    step = (m1 / (1 - p1)) / (np.sqrt(m2 / (1 - p2)) + 1e-8)
    return p - lr * step, m1, m2, p1 * 0.9, p2 * 0.999


def adamax(p: Any, g: Any, lr: Any, m: Any, norm: Any, p1: Any) -> tuple:
    m, norm = 0.9 * m + 0.1 * g, np.maximum(abs(g), 0.999 * norm + 1e-8)
    return p - lr / (1 - p1) * m / norm, m, norm


def adagrad(p: Any, g: Any, m: Any, lr: Any) -> tuple:
    return p - lr * g / (np.sqrt(m + g**2) + 1e-6), m + g**2


def adadelta(p: Any, g: Any, a: Any, b: Any, lr: Any) -> tuple:
    a = 0.95 * a + 0.05 * g**2
    step = np.sqrt((b + 1e-6) / (a + 1e-6)) * g
    return p - lr * step, a, 0.95 * b + 0.05 * step**2


def rmsprop(p: Any, square: Any, mean: Any, g: Any, moment: Any, lr: Any, keep: float = 0.0) -> tuple:
    square = 0.9 * square + 0.1 * g**2
    mean = None if mean is None else 0.9 * mean + 0.1 * g
    spread = square if mean is None else square - mean**2
    moment = keep * moment + lr * g / np.sqrt(spread + 1e-10)
    return p - moment, moment, square, mean


ADAM = {"Param": P, "Grad": G, "LearningRate": LR, "Moment1": f32(*S), "Moment2": positive(*S), "Beta1Pow": arr(0.81),
        "Beta2Pow": arr(0.998)}  # fmt: skip
MOMENTUM = {"Param": P, "Grad": G, "Velocity": f32(*S), "LearningRate": LR}
RMS = {"Param": P, "MeanSquare": positive(*S) + 3, "Grad": G, "Moment": f32(*S), "LearningRate": LR}
HALF = {"Param": P.astype(np.float16), "LearningRate": LR, "Grad": G.astype(np.float16)}

CASES: list[Case] = [
    dropout(True),
    dropout(False),
    dropout(True, dropout_prob=0.2, fix_seed=True, seed=3),
    dropout(True, dropout_prob=0.0),
    dropout(True, dropout_prob=1.0),
    dropout(True, is_test=True),
    dropout(False, is_test=True, dropout_prob=0.3),
    Case("dropout_grad", {"Mask": np.array([[1, 0, 1]], np.uint8), "Out@GRAD": f32(1, 3)},
         {"dropout_prob": 0.75, "dropout_implementation": "upscale_in_train"}, expect=lambda m, g: m * g * 4),
    Case("dropout_grad", {"Mask": np.array([[1, 0, 1]], np.uint8), "Out@GRAD": f32(1, 3)}, {"dropout_prob": 0.75},
         expect=lambda m, g: m * g),
    Case("dropout", {"X": f32(3)}, raises=AttributeValueError, match="random state", static=True),
    Case("dropout", {"X": f32(3)}, {"is_test": True, "dropout_prob": 1.5}, raises=AttributeValueError, match="1.5", static=True),
    Case("dropout", {"X": f32(3)}, {"is_test": True, "dropout_implementation": "up"}, raises=AttributeValueError, match="'up'",
         static=True),
    Case("sgd", {"Param": P, "LearningRate": LR, "Grad": G}, expect=lambda p, lr, g: p - lr * g),
    Case("sgd", HALF, expect=lambda p, lr, g: p.astype(np.float32) - lr * g),
    Case("sgd", {"Param": P.astype(np.float64), "LearningRate": LR, "Grad": G.astype(np.float64)}, expect=lambda p, lr, g: p - lr * g),
    Case("momentum", MOMENTUM, expect=momentum),
    Case("momentum", MOMENTUM, {"use_nesterov": True}, expect=lambda *v: momentum(*v, nesterov=True)),
    Case("momentum", MOMENTUM, {"regularization_method": "l2_decay", "regularization_coeff": 0.1},
         expect=lambda *v: momentum(*v, decay=0.1)),
    Case("adam", ADAM, expect=adam),
    Case("adamw", ADAM, expect=lambda *v: adam(*v, decay=0.01)),
    Case("adamw", ADAM, {"with_decay": False, "lr_ratio": 0.5}, expect=lambda p, g, lr, *v: adam(p, g, lr * 0.5, *v)),
    Case("adamax", {"Param": P, "Grad": G, "LearningRate": LR, "Moment": f32(*S), "InfNorm": positive(*S), "Beta1Pow": arr(0.9)},
         expect=adamax),
    Case("adagrad", {"Param": P, "Grad": G, "Moment": positive(*S), "LearningRate": LR}, expect=adagrad),
    Case("adadelta", {"Param": P, "Grad": G, "AvgSquaredGrad": positive(*S), "AvgSquaredUpdate": positive(*S), "LearningRate": LR},
         expect=adadelta),
    Case("rmsprop", RMS, expect=lambda p, s, g, m, lr: rmsprop(p, s, None, g, m, lr)),
    Case("rmsprop", {**RMS, "MeanGrad": f32(*S)}, {"centered": True, "momentum": 0.5},
         expect=lambda p, s, g, m, lr, mean: rmsprop(p, s, mean, g, m, lr, 0.5)),
    Case("sgd", {"Param": P, "LearningRate": LR, "Grad": f32(4)}, raises=ShapeError, match="Grad and the parameter", static=True),
    Case("sgd", {"Param": P, "LearningRate": arr(1, 2), "Grad": G}, raises=ShapeError, match="LearningRate"),
    Case("sgd", {"Param": P, "LearningRate": LR, "Grad": G.astype(np.float64)}, raises=DTypeError, match="Grad has dtype float64",
         static=True),
    Case("momentum", MOMENTUM, {"regularization_method": "l1"}, raises=AttributeValueError, match="'l1'", static=True),
    Case("rmsprop", RMS, {"centered": True}, raises=AttributeValueError, match="MeanGrad", static=True),
    Case("squared_l2_norm", {"X": P}, expect=lambda x: (x**2).sum().reshape(1)),
    Case("clip_by_norm", {"X": P}, {"max_norm": 0.5}, expect=lambda x: x * 0.5 / np.linalg.norm(x)),
    Case("clip_by_norm", {"X": P}, {"max_norm": 100.0}, expect=lambda x: x),
    Case("clip_by_norm", {"X": f32(0)}, expect=lambda x: x),
]  # fmt: skip
