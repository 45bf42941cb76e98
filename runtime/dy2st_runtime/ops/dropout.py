"""dropout: zeroes elements at random, with the random numbers of `random`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtype
from ..dtype import widened
from ..errors import AttributeValueError
from ..loopir import nodes as n
from .checked import CheckedOp
from .elementwise import Elementwise
from .random import advanced, check_state, draw, lower_advance, native_draw, uniform
from .registry import Bool, Float, Int, Str, TensorType, register
from .softmax import float_type

UPSCALE, DOWNGRADE = "upscale_in_train", "downgrade_in_infer"


def check(op: str, dropout_prob: float, implementation: str) -> None:
    if not 0.0 <= dropout_prob <= 1.0:
        raise AttributeValueError(f"{op}: dropout_prob must be in [0, 1], got {dropout_prob}")
    if implementation not in (UPSCALE, DOWNGRADE):
        raise AttributeValueError(f"{op}: dropout_implementation {implementation!r} is unknown",
                                  hint=f"use {UPSCALE!r} or {DOWNGRADE!r}")  # fmt: skip


def kept_scale(dropout_prob: float, implementation: str) -> float:
    """The factor of the elements that are kept in training."""
    if implementation == DOWNGRADE:
        return 1.0
    return 1.0 / (1.0 - dropout_prob) if dropout_prob < 1.0 else 0.0


@register
class Dropout(CheckedOp):
    """Zeroes each element with the probability `dropout_prob`; Mask (uint8) is 1 where an element is kept.

    With "upscale_in_train" the kept ones are divided by 1 - dropout_prob, and `is_test` changes nothing; with
    "downgrade_in_infer" they stay as they are, and `is_test` multiplies all by 1 - dropout_prob. Training needs
    State, the random state; `is_test` reads none and has neither Mask nor StateOut. With `fix_seed` the numbers come
    from `seed`.

        y, mask, _ = b.dropout(x, state, dropout_prob=0.5, dropout_implementation="upscale_in_train")
    """

    type = "dropout"
    kernel_from = 1 << 15
    inputs = ("X", "State?")
    outputs = ("Out", "Mask", "StateOut")
    attrs = {
        "dropout_prob": Float(0.5),
        "is_test": Bool(False),
        "fix_seed": Bool(False),
        "seed": Int(0),
        "dropout_implementation": Str(DOWNGRADE),
    }
    inplace = {"StateOut": "State"}
    effect = True

    @classmethod
    def infer(
        cls,
        x: TensorType,
        state: TensorType | None,
        *,
        dropout_prob: float,
        is_test: bool,
        dropout_implementation: str,
        **attrs: Any,
    ) -> tuple:
        float_type(cls.title, x)
        check(cls.title, dropout_prob, dropout_implementation)
        if is_test:
            return x, None, None
        if state is None:
            raise AttributeValueError("dropout needs the random state for training", hint='pass "@RNG@" as State')
        check_state(cls.title, state)
        return x, x.with_dtype("uint8"), state

    @staticmethod
    def reference(
        x: np.ndarray,
        state: np.ndarray | None,
        *,
        dropout_prob: float,
        is_test: bool,
        fix_seed: bool,
        seed: int,
        dropout_implementation: str,
    ) -> tuple:
        compute = np.dtype(widened(x.dtype.name)).type
        if is_test or state is None:
            factor = 1.0 if dropout_implementation == UPSCALE else 1.0 - dropout_prob
            return (x * compute(factor)).astype(x.dtype, copy=False), None, None
        own = seed if fix_seed else 0
        mask = (uniform(draw(state, own, x.size), "float32") >= dropout_prob).astype(np.uint8).reshape(x.shape)
        out = np.where(mask != 0, x * compute(kept_scale(dropout_prob, dropout_implementation)), 0).astype(
            x.dtype, copy=False
        )
        return out, mask, advanced(state, own, x.size)

    @staticmethod
    def lower(
        cx: Any,
        x: Any,
        state: Any,
        out: Any,
        mask: Any,
        state_out: Any,
        *,
        dropout_prob: float,
        is_test: bool,
        fix_seed: bool,
        seed: int,
        dropout_implementation: str,
    ) -> None:
        compute = widened(x.dtype)
        if is_test:
            if dropout_implementation == UPSCALE:
                cx.alias(x, out)
                return
            with cx.kernel([x], [out]) as (k, (src,), (dst,)):
                factor = k.attr(1.0 - dropout_prob, compute)
                with k.parallel(src.size) as i:
                    dst[i] = n.cast(n.cast(src[i], compute) * factor, dst.dtype)
            return
        own = seed if fix_seed else 0
        with cx.kernel([x, state], [out, mask]) as (k, (src, rng), (dst, *masks)):
            block = native_draw(k, rng, own)
            limit, scale = (
                k.attr(dropout_prob, "float64"),
                k.attr(kept_scale(dropout_prob, dropout_implementation), compute),
            )
            with k.parallel(src.size) as i:
                keep = k.let(uniform(block(i), "float32") >= limit)
                dst[i] = n.cast(n.select(keep, n.cast(src[i], compute) * scale, 0.0), dst.dtype)
                for m in masks:
                    m[i] = n.cast(keep, "uint8")
        lower_advance(cx, state, state_out, out, own)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        probability, implementation = attrs["dropout_prob"], attrs["dropout_implementation"]
        if attrs["is_test"]:
            return douts[0] if implementation == UPSCALE else b.scaled(douts[0], 1.0 - probability), None
        return b.dropout_grad(outs[1], douts[0], dropout_prob=probability, dropout_implementation=implementation), None


@register
class DropoutGrad(CheckedOp, Elementwise):
    """The gradient of Out where Mask is 1, scaled as Out was; 0 elsewhere."""

    type = "dropout_grad"
    inputs = ("Mask", "Out@GRAD")
    outputs = ("X@GRAD",)
    attrs = {"dropout_prob": Float(0.5), "dropout_implementation": Str(DOWNGRADE)}
    accepts = dtype.FLOATS

    @staticmethod
    def array(mask: np.ndarray, dout: np.ndarray, *, dropout_prob: float, dropout_implementation: str) -> np.ndarray:
        scale = dout.dtype.type(kept_scale(dropout_prob, dropout_implementation))
        return np.where(mask != 0, dout * scale, 0)

    @staticmethod
    def scalar(k: Any, mask: n.Expr, dout: n.Expr, *, dropout_prob: float, dropout_implementation: str) -> n.Expr:
        scale = k.attr(kept_scale(dropout_prob, dropout_implementation), dout.dtype)
        return n.select(mask != 0.0, dout * scale, 0.0)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        return None, b.dropout_grad(ins[0], douts[0], **attrs)
