"""Groups of ops run as one."""

from __future__ import annotations

from typing import Any

from ..errors import GradientError
from .registry import OpDef, SubBlock, TensorType, register

GROUPS = ("fused_elementwise", "fused_reduction", "fused_rows", "fused_conv2d", "fused_matmul", "fused_attention")
"""The types of the ops of this module and of `attention`."""


class Group(OpDef):
    """The ops of `sub_block`, whose params are X and whose results are Out."""

    inputs = ("X*",)
    outputs = ("Out*",)
    attrs = {"sub_block": SubBlock()}

    @staticmethod
    def infer(xs: list[TensorType], *, sub_block: Any) -> tuple:
        types: dict[str, TensorType] = dict(zip(sub_block.params, xs, strict=True))
        for op in sub_block.ops:
            given = [op.input(slot.name) for slot in op.record.input_slots]  # none of them takes a list
            ins = tuple(types[names[0]] if names else None for names in given)
            types[op.output_names[0]] = op.record.infer_types(ins, op.attrs)[0]
        return ([types[name] for name in sub_block.results],)

    @staticmethod
    def reference(xs: list, *, sub_block: Any, run: Any) -> tuple:
        return (run(sub_block, dict(zip(sub_block.params, xs, strict=True))),)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        raise GradientError("fused ops have no gradient", hint="append the backward ops before the passes run")


@register
class FusedElementwise(Group):
    """Elementwise ops in one pass over the elements.

    Every op, and so every output, has one and the same shape: that of the iteration space, to which the inputs broadcast. The pass
    `fuse` makes these ops.
    """

    type = "fused_elementwise"

    @staticmethod
    def lower(cx: Any, xs: list, outs: list, *, sub_block: Any) -> None:
        cx.fused(xs, outs, sub_block)


@register
class FusedReduction(Group):
    """A reduction, the last op of the block, of what the elementwise ops before it make: no tensor of these elements is needed.

    The inputs of the elementwise ops broadcast to the shape of what is folded; results may be values of these ops, too. The pass
    `prologue` makes these ops.
    """

    type = "fused_reduction"

    @staticmethod
    def lower(cx: Any, xs: list, outs: list, *, sub_block: Any) -> None:
        cx.fused_reduction(xs, outs, sub_block)


@register
class FusedRows(Group):
    """An op that works on rows (softmax, layer_norm) and elementwise ops before and behind it, each row after the other.

    The inputs of the elementwise ops broadcast to the shape of the rows. The pass `rows` makes these ops.
    """

    type = "fused_rows"

    @staticmethod
    def lower(cx: Any, xs: list, outs: list, *, sub_block: Any) -> None:
        cx.fused_rows(xs, outs, sub_block)


@register
class FusedConv2D(Group):
    """A convolution, the first op of the block, and elementwise ops on its output, done to each part of it while that is in the cache.

    The params are its Input and Filter, then the other inputs of the elementwise ops: of the shape of the output, or with one element,
    or with one for each channel. The pass `epilogue` makes these ops.
    """

    type = "fused_conv2d"

    @staticmethod
    def lower(cx: Any, xs: list, outs: list, *, sub_block: Any) -> None:
        cx.fused_convolution(xs, outs, sub_block)


@register
class FusedMatmul(Group):
    """A matrix product of floats, the first op of the block, and elementwise ops on its output, done to each part of it while that is in a
    cache.

    The params are its X and Y, then the other inputs of the elementwise ops: of the shape of the output, or with one element, or with one
    for each column. The pass `epilogue` makes these ops.
    """

    type = "fused_matmul"

    @staticmethod
    def lower(cx: Any, xs: list, outs: list, *, sub_block: Any) -> None:
        cx.fused_product(xs, outs, sub_block)
