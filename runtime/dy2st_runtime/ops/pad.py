"""Padding with a constant. The other modes of Paddle's `pad` are refused by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..errors import AttributeValueError
from ..loopir import nodes as n
from . import nests
from .bounds import TO_THE_END
from .registry import Float, Ints, OpDef, Str, TensorType, register

Pairs = list[tuple[int, int]]


class _Padding(OpDef):
    """Subclasses give `pairs`: how many elements come before and after each axis."""

    value_attr: ClassVar[str] = "value"

    @classmethod
    def pairs(cls, rank: int, **attrs: Any) -> Pairs:
        raise NotImplementedError

    @classmethod
    def _checked(cls, rank: int, attrs: dict[str, Any]) -> Pairs:
        if attrs.get("mode", "constant") != "constant":
            raise AttributeValueError(
                f"{cls.title}: mode {attrs['mode']!r} is not supported", hint="use mode='constant'"
            )
        pairs = cls.pairs(rank, **attrs)
        if any(p < 0 for pair in pairs for p in pair):
            raise AttributeValueError(f"{cls.title}: paddings must be at least 0, got {attrs['paddings']}")
        return pairs

    @classmethod
    def infer(cls, x: TensorType, **attrs: Any) -> TensorType:
        pairs = cls._checked(x.rank, attrs)
        return x.with_shape(d if p == (0, 0) else d + sum(p) for d, p in zip(x.shape, pairs, strict=True))

    @classmethod
    def reference(cls, x: np.ndarray, **attrs: Any) -> np.ndarray:
        value = np.asarray(attrs[cls.value_attr]).astype(x.dtype)
        return np.pad(x, cls._checked(x.ndim, attrs), constant_values=value) if x.ndim else x

    @classmethod
    def lower(cls, cx: Any, x: Any, out: Any, **attrs: Any) -> None:
        pairs = cls._checked(len(x.shape), attrs)
        source = x
        with cx.kernel([source], [out], shapes=False) as (k, (x,), (ref,)):
            k.set_shape(
                ref,
                [d if p == (0, 0) else k.attr(p[0]) + k.attr(p[1]) + d for d, p in zip(x.shape, pairs, strict=True)],
            )
            nests.fill(k, ref, n.cast(k.attr(attrs[cls.value_attr], "float64"), ref.dtype))
        with cx.kernel([source], [out], shapes=False) as (k, (x,), (ref,)):
            strides = nests.strides_of(ref.shape)
            at: Any = n.as_expr(0)
            for p, s in zip(pairs, strides, strict=True):
                at = at if p == (0, 0) else k.attr(p[0]) * s + at
            nests.copy(k, x.shape, x, nests.strides_of(x.shape), ref, strides, target_at=at)

    @classmethod
    def grad(cls, b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        pairs = cls._checked(len(ins[0].shape), attrs)
        axes = [a for a, p in enumerate(pairs) if p != (0, 0)]
        if not axes:
            return (douts[0],)
        ends = [-pairs[a][1] if pairs[a][1] else TO_THE_END for a in axes]
        return (lambda: b.op("slice", Input=douts[0], axes=axes, starts=[pairs[a][0] for a in axes], ends=ends),)


@register
class Pad(_Padding):
    """X with `paddings[2 * i]` elements before and `paddings[2 * i + 1]` after axis i."""

    type = "pad"
    attrs = {"paddings": Ints(), "pad_value": Float(0.0)}
    value_attr = "pad_value"

    @classmethod
    def pairs(cls, rank: int, *, paddings: list[int], pad_value: float) -> Pairs:  # type: ignore[override]
        if len(paddings) != 2 * rank:
            raise AttributeValueError(f"pad: {rank} dims need {2 * rank} paddings, got {paddings}")
        return list(zip(paddings[0::2], paddings[1::2], strict=True))


@register
class Pad2d(_Padding):
    """Images (4-D) with borders: `paddings` = top, bottom, left, right."""

    type = "pad2d"
    attrs = {"paddings": Ints([0] * 4), "mode": Str("constant"), "pad_value": Float(0.0), "data_format": Str("NCHW")}
    value_attr = "pad_value"

    @classmethod
    def pairs(cls, rank: int, *, paddings: list[int], data_format: str, **attrs: Any) -> Pairs:  # type: ignore[override]
        return _spatial("pad2d", rank, [paddings[0:2], paddings[2:4]], paddings, data_format, ("NCHW", "NHWC"))


@register
class Pad3d(_Padding):
    """Volumes (5-D) with borders: `paddings` = left, right, top, bottom, front, back."""

    type = "pad3d"
    attrs = {"paddings": Ints([0] * 6), "mode": Str("constant"), "value": Float(0.0), "data_format": Str("NCDHW")}

    @classmethod
    def pairs(cls, rank: int, *, paddings: list[int], data_format: str, **attrs: Any) -> Pairs:  # type: ignore[override]
        return _spatial(
            "pad3d", rank, [paddings[4:6], paddings[2:4], paddings[0:2]], paddings, data_format, ("NCDHW", "NDHWC")
        )


def _spatial(
    op: str, rank: int, spatial: Sequence[Sequence[int]], paddings: Sequence[int], layout: str, layouts: tuple[str, str]
) -> Pairs:
    if rank != len(spatial) + 2:
        raise AttributeValueError(f"{op} takes tensors with {len(spatial) + 2} dims, got {rank}")
    if len(paddings) != 2 * len(spatial):
        raise AttributeValueError(f"{op} needs {2 * len(spatial)} paddings, got {list(paddings)}")
    if layout not in layouts:
        raise AttributeValueError(
            f"{op}: data_format {layout!r} is not supported", hint=f"use one of {', '.join(layouts)}"
        )
    inner: Pairs = [(p[0], p[1]) for p in spatial]
    return [(0, 0), (0, 0), *inner] if layout == layouts[0] else [(0, 0), *inner, (0, 0)]
