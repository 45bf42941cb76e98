"""The variable that a tensor has had before it was modified in place where that is no part of the computation, in `no_grad()` say."""

from __future__ import annotations

from dy2st_runtime.ir import Variable


def first_value(v: Variable) -> Variable:
    """The variable to which the gradients of a tensor go that has the value `v` now: eagerly such a change leaves it where it is in the
    graph, so what was computed from it before counts as well."""
    op = next((op for op in reversed(v.block.ops) if v.name in op.output_names), None)
    if op is None:
        return v
    if op.type == "replaced_value":
        return first_value(v.block.var(op.input("X")[0]))
    if op.type == "cond":
        at, branches = op.output("Out").index(v.name), (op.attrs["true_block"], op.attrs["false_block"])
        first, other = (first_value(block.var(block.results[at])) for block in branches)
        return first if first is other and first.block not in branches else v
    if op.type == "while_loop" and v.name in op.output("Out"):
        at, body = op.output("Out").index(v.name), op.attrs["body_block"]
        stays = first_value(body.var(body.results[at])).name == body.params[at]
        return first_value(v.block.var(op.input("X")[at])) if stays else v
    return v
