"""Appends ops to a Block: completes the attributes, infers types, declares the outputs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from .. import dims
from ..errors import Dy2stError, Location
from ..ops import registry
from ..ops.builder import OpBuilder
from .program import Block, Operator, Program, Variable


class IRBuilder(OpBuilder):
    """Writes ops at the end of a block (or at `index`); values are `Variable`s.

    Args:
        block: where the ops go.
        location: the user's location that new ops get.
    """

    def __init__(self, block: Block, location: Location | None = None, index: int | None = None):
        self.block, self.location, self.index = block, location, index

    @property
    def program(self) -> Program:
        return self.block.program

    @contextlib.contextmanager
    def inside(self, block: Block) -> Iterator[Block]:
        """Writes into another block until the end of the `with`."""
        before = self.block, self.index
        self.block, self.index = block, None
        try:
            yield block
        finally:
            self.block, self.index = before

    def sub_block(self) -> Block:
        """A new block below the current one; it becomes part of the Program with the op that gets it as attribute."""
        return Block(self.program, self.block)

    def apply(self, op: type[registry.OpDef], ins: tuple[Any, ...], attrs: dict[str, Any],
              out_names: dict[str, Sequence[str]] | None = None) -> tuple[Any, ...]:  # fmt: skip
        """See `OpBuilder.apply`. `out_names` fixes the names of some output slots; one that names an existing variable
        updates it."""
        types = tuple([v.type for v in x] if isinstance(x, list) else (None if x is None else x.type) for x in ins)
        try:
            out_types = op.infer_types(types, attrs)
        except Dy2stError as error:
            raise error.at(self.location) from error.__cause__
        inputs = {}
        for slot, value in zip(op.input_slots, ins, strict=True):
            if value is not None and value != []:
                inputs[slot.name] = [v.name for v in value] if slot.many else [value.name]
        outputs: dict[str, list[str]] = {}
        results: list[Any] = []
        for slot, t in zip(op.output_slots, out_types, strict=True):
            if t is None:
                results.append(None)
                continue
            ts = t if slot.many else [t]
            names: list[str | None] = list((out_names or {}).get(slot.name, ())) or [None] * len(ts)
            made = [self._output(op, slot.name, name, one) for name, one in zip(names, ts, strict=True)]
            outputs[slot.name] = [v.name for v in made]
            results.append(made if slot.many else made[0])
        self.insert(Operator(op.type, inputs, outputs, dict(attrs), self.location))
        return tuple(results)

    def _output(self, op: type[registry.OpDef], slot: str, name: str | None, t: registry.TensorType) -> Variable:
        existing = self.block.find_var(name) if name is not None else None
        if existing is not None:
            return existing
        v = self.block.create_var(name, t.dtype, dims.to_static(t.shape), stem=f"{op.type}.{slot}", kind=t.kind)
        v.stop_gradient = not op.differentiable
        return v

    def insert(self, op: Operator) -> Operator:
        """Adds a finished op."""
        op.segments = op.segments or self.program.segments
        if self.index is None:
            self.block.ops.append(op)
        else:
            self.block.ops.insert(self.index, op)
            self.index += 1
        self.program.version += 1
        return op
