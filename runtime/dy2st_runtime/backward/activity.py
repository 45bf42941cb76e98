"""What must be known before the reverse walk: where gradients can flow."""

from __future__ import annotations

from collections.abc import Iterable

from .. import dtype
from ..ir.program import Block, Function, Operator


def can_carry_gradient(block: Block, name: str) -> bool:
    """Whether a variable is of a kind that has gradients (floating point), whatever flows in."""
    return dtype.is_float(block.var(name).dtype)


def mark_active(ops: Iterable[Operator], block: Block, active: set[str], no_grad: frozenset[str],
                inside: frozenset[Function] = frozenset()) -> None:  # fmt: skip
    """Adds to `active` the names, of all blocks, that depend on active ones through differentiable ops.

    A variable with `stop_gradient` that an op yields, one in `no_grad`, and one that is not floating point stay
    inactive. The params of a loop do not: what counts is what flows in, not where the state started. `inside`: the functions
    whose calls are being looked at.
    """
    for op in ops:
        for name, source in _sources(op, block, active, no_grad, inside):
            v = block.var(name)
            if source and not v.stop_gradient and name not in no_grad and can_carry_gradient(block, name):
                active.add(name)


def _sources(op: Operator, block: Block, active: set[str], no_grad: frozenset[str],
             inside: frozenset[Function]) -> list[tuple[str, bool]]:  # fmt: skip
    """The outputs of an op, each with whether a gradient can flow through it into an active name."""
    if op.type == "cond":
        true, false = op.attrs["true_block"], op.attrs["false_block"]
        for branch in (true, false):
            mark_active(branch.ops, branch, active, no_grad, inside)
        return [(out, t in active or f in active)
                for out, t, f in zip(op.output("Out"), true.results, false.results, strict=True)]  # fmt: skip
    if op.type == "while_loop":
        body = op.attrs["body_block"]
        for x, param in zip(op.input("X"), body.params, strict=True):
            _join(x, param, body, active, no_grad)
        before = -1
        while before != len(active):  # the state feeds itself: until nothing changes
            before = len(active)
            mark_active(body.ops, body, active, no_grad, inside)
            for result, param in zip(body.results, body.params, strict=True):
                _join(result, param, body, active, no_grad)
        sources = [*body.params, *op.attrs["saved"]]
        return [(out, name in active) for out, name in zip(op.output_names, sources, strict=True)]
    if op.function is not None:
        called = op.function.block
        for x, param in zip(op.input("X"), called.params, strict=True):
            _join(x, param, called, active, no_grad)
        before = len(active) if op.function in inside else -1
        while before != len(active):  # it may call itself: until nothing changes
            before = len(active)
            mark_active(called.ops, called, active, no_grad, inside | {op.function})
        return [(out, name in active) for out, name in zip(op.output("Out"), called.results, strict=True)]
    flows = op.record.differentiable and any(name in active for name in op.input_names)
    return [(out, flows) for out in op.output_names]


def _join(source: str, param: str, body: Block, active: set[str], no_grad: frozenset[str]) -> None:
    if source in active and param not in no_grad and can_carry_gradient(body, param):
        active.add(param)
