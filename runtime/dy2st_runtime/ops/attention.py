"""Products with what a softmax makes of the rows of another product, as one op."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from .fused import Group
from .registry import register

PRODUCTS = ("matmul_v2", "bmm")
ON_ROWS = ("softmax", "softmax_grad")

SCORES, OF_ROWS, SUM_WITH_Y, SUM_WITH_X = "scores", "of rows", "sum with Y", "sum with X"
"""What a product is to scores: it makes them; it multiplies each of their rows by a matrix; or it sums over their rows, each multiplied by
a row of the operand Y, or by one of X."""


def kind_of_product(op: Any, scores: Container[str]) -> str | None:
    """What a matrix product is to scores of these names; None if it needs more of them than a block of rows."""
    (x,), (y,) = op.input("X"), op.input("Y")
    trans_x, trans_y = (op.attrs.get(name, False) for name in ("trans_x", "trans_y"))
    if x in scores and y in scores:
        return None
    if x in scores:
        return OF_ROWS if not trans_x else None if trans_y else SUM_WITH_Y
    if y in scores:
        return None if trans_y else SUM_WITH_X
    return None if trans_x else SCORES


@register
class FusedAttention(Group):
    """The scores (a product of queries and keys), what elementwise ops and a softmax make of their rows, and products with that, a block of
    rows after the other: no tensor of all scores is needed.

    The first op is a matrix product, which makes scores. Elementwise ops, to whose shape their other operands broadcast, `softmax` and
    `softmax_grad` work on scores. All other ops are products of the kinds above. The pass `attention` makes these ops.
    """

    type = "fused_attention"

    @staticmethod
    def lower(cx: Any, xs: list, outs: list, *, sub_block: Any) -> None:
        cx.fused_attention(xs, outs, sub_block)
