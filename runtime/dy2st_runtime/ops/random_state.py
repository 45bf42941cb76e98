"""Taking the random generator back to an earlier state, so that a computation can be repeated with the same draws."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..loopir import nodes as n
from .random import check_state
from .registry import OpDef, TensorType, register


@register
class RngSnapshot(OpDef):
    """A copy of the random state as it is now."""

    type = "rng_snapshot"
    inputs = ("State",)
    effect = True
    differentiable = False

    @staticmethod
    def infer(state: TensorType) -> TensorType:
        check_state("rng_snapshot", state)
        return state

    @staticmethod
    def reference(state: np.ndarray) -> np.ndarray:
        return state.copy()

    @staticmethod
    def lower(cx: Any, state: Any, out: Any) -> None:
        _copy(cx, state, out)


@register
class RngRestore(OpDef):
    """Sets the random state to X, the result of an `rng_snapshot`."""

    type = "rng_restore"
    inputs = ("State", "X")
    outputs = ("StateOut",)
    inplace = {"StateOut": "State"}
    effect = True
    differentiable = False

    @staticmethod
    def infer(state: TensorType, x: TensorType) -> TensorType:
        check_state("rng_restore", x)
        return state

    @staticmethod
    def reference(state: np.ndarray, x: np.ndarray) -> np.ndarray:
        return x.copy()

    @staticmethod
    def lower(cx: Any, state: Any, x: Any, state_out: Any) -> None:
        _copy(cx, x, state_out)


def _copy(cx: Any, source: Any, target: Any) -> None:
    with cx.kernel([source], [target], shapes=False) as (k, (s,), (t,)):
        if isinstance(s.shape[0], n.Expr):
            k.fail_if(s.shape[0] != 2)
        k.set_shape(t, [2])
        for i in range(2):
            t[i] = s[i]
