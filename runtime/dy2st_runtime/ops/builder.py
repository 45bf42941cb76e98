"""`OpBuilder`: what gradient rules and passes write ops with, eager or static.

A subclass says how an op is applied (`apply`); everything else is written in terms of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import AttributeValueError
from . import registry


class OpBuilder:
    """Makes ops by name: `b.op("scale", X=x, scale=2.0)` or, with positional inputs, `b.scale(x, scale=2.0)`."""

    def apply(self, op: type[registry.OpDef], ins: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[Any, ...]:
        """Applies an op to values given in the order of its input slots (list for a `*` slot, None for an absent one);
        returns the values of its output slots. `attrs` is complete."""
        raise NotImplementedError

    def op(self, op_type: str, **slots_and_attrs: Any) -> Any:
        """Applies an op; keywords are input slots and attributes. One value if the op has one output slot that is not optional
        (an `XShape?` does not count), else a tuple of all slots; `apply` always gives all."""
        op = registry.get(op_type)
        ins = []
        for slot in op.input_slots:
            value = slots_and_attrs.pop(slot.name, None)
            if value is None and not slot.optional and not slot.many:
                raise AttributeValueError(f"{op_type}: input {slot.name} is missing")
            ins.append(list(value or ()) if slot.many else value)
        outs = self.apply(op, tuple(ins), op.complete_attrs(slots_and_attrs))
        return outs if op.only_output is None else outs[op.only_output]

    def __getattr__(self, op_type: str) -> Any:
        if op_type.startswith("_"):
            raise AttributeError(op_type)
        op = registry.get(op_type)

        def make(*ins: Any, **attrs: Any) -> Any:
            if len(ins) > len(op.input_slots):
                raise TypeError(f"{op_type} takes {len(op.input_slots)} inputs, got {len(ins)}")
            for slot, value in zip(op.input_slots, ins, strict=False):
                attrs[slot.name] = value
            return self.op(op_type, **attrs)

        return make

    # ---- short forms for gradient rules ----
    def constant(self, value: float, dtype: str, shape: Sequence[int] = ()) -> Any:
        return self.op("fill_constant", shape=list(shape), dtype=dtype, value=float(value))

    def mul(self, x: Any, y: Any) -> Any:
        return self.op("elementwise_mul", X=x, Y=y)

    def add(self, x: Any, y: Any) -> Any:
        return self.op("elementwise_add", X=x, Y=y)

    def sub(self, x: Any, y: Any) -> Any:
        return self.op("elementwise_sub", X=x, Y=y)

    def div(self, x: Any, y: Any) -> Any:
        return self.op("elementwise_div", X=x, Y=y)

    def scaled(self, x: Any, scale: float, bias: float = 0.0) -> Any:
        """scale * x + bias."""
        return self.op("scale", X=x, scale=scale, bias=bias)

    def cast_to(self, x: Any, dtype: str) -> Any:
        """x in another dtype; x itself if it has it."""
        return x if x.dtype == dtype else self.op("cast", X=x, in_dtype=x.dtype, out_dtype=dtype)

    def zeros_like(self, x: Any) -> Any:
        """Zeros of x's shape and dtype."""
        return self.op("fill_any_like", X=x, value=0.0)

    def compare(self, op_type: str, x: Any, value: float) -> Any:
        """1 where x `op_type` value holds, else 0, in x's dtype: the mask of a piecewise gradient."""
        return self.cast_to(self.op(op_type, X=x, Y=self.constant(value, x.dtype)), x.dtype)

    def sum_to(self, x: Any, like: Any) -> Any:
        """x summed over the axes that broadcasting `like` to x's shape added or stretched: the gradient of a broadcast."""
        if -1 not in tuple(x.shape) and tuple(x.shape) == tuple(like.shape):
            return x
        return self.op("sum_like", X=x, Y=like)

    def expand_to(self, x: Any, like: Any) -> Any:
        """x broadcast to the shape of `like`."""
        return self.op("expand_as_v2", X=x, Y=like)
