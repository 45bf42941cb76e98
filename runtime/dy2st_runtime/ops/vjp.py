"""Gradients of compositions of ops.

A fused gradient op (`layer_norm_grad`) has a gradient too. It is not derived by hand: the same function of its inputs
is written with basic ops, and `vjp` differentiates that composition by the rules of these ops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .builder import OpBuilder
from .registry import OpDef


class Recorder(OpBuilder):
    """Applies ops with another builder and remembers them."""

    def __init__(self, inner: OpBuilder):
        self.inner = inner
        self.entries: list[tuple[type[OpDef], tuple[Any, ...], tuple[Any, ...], dict[str, Any]]] = []

    def apply(self, op: type[OpDef], ins: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[Any, ...]:
        outs = self.inner.apply(op, ins, attrs)
        self.entries.append((op, ins, outs, attrs))
        return outs


def vjp(b: OpBuilder, compose: Callable[..., Any], ins: Sequence[Any], out_grads: Sequence[Any]) -> tuple[Any, ...]:
    """The gradients of `compose(b, *ins)` in `ins`, given those of its results; None where there is none.

    Args:
        b: makes the ops.
        compose: writes ops with the builder it gets; returns one value or a tuple.
        ins: values; None for an absent one.
        out_grads: one for each result; None where no gradient flows.
    """
    ins = _distinct(b, ins)
    recorder = Recorder(b)
    outs = compose(recorder, *ins)
    outs = outs if isinstance(outs, tuple) else (outs,)
    grads: dict[int, Any] = {}

    def add(value: Any, grad: Any) -> None:
        known = grads.get(id(value))
        grads[id(value)] = grad if known is None else b.add(known, grad)

    for value, grad in zip(outs, out_grads, strict=True):
        if value is not None and grad is not None:
            add(value, grad)
    live = _depending(recorder, ins)
    for op, op_ins, op_outs, attrs in reversed(recorder.entries):
        op_grads = tuple([grads.get(id(v)) for v in o] if isinstance(o, list) else grads.get(id(o)) for o in op_outs)
        if all(g is None for o in op_grads for g in (o if isinstance(o, list) else [o])):
            continue
        for value, grad in zip(op_ins, op.grad(b, op_ins, op_outs, op_grads, **attrs), strict=True):
            if grad is None:
                continue
            if isinstance(value, list):
                found = grad() if callable(grad) else grad
                for v, g in zip(value, found, strict=True):
                    if g is not None and id(v) in live:
                        add(v, g() if callable(g) else g)
            elif id(value) in live:
                add(value, grad() if callable(grad) else grad)
    return tuple(None if v is None else grads.get(id(v)) for v in ins)


def _distinct(b: OpBuilder, ins: Sequence[Any]) -> list[Any]:
    """The values with a copy for each that comes twice, since each place has a gradient of its own."""
    seen: set[int] = set()
    found = []
    for v in ins:
        if v is not None and id(v) in seen:
            v = b.op("assign", X=v)
        seen.add(id(v))
        found.append(v)
    return found


def _depending(recorder: Recorder, ins: Sequence[Any]) -> set[int]:
    """The ids of the values that depend on `ins` in a way that has a gradient: not only on their sizes, say."""
    live = {id(v) for v in ins if v is not None}
    for op, op_ins, op_outs, _ in recorder.entries:
        flat = [v for x in op_ins for v in (x if isinstance(x, list) else [x])]
        if op.differentiable and any(id(v) in live for v in flat):
            live.update(id(v) for o in op_outs for v in (o if isinstance(o, list) else [o]))
    return live
