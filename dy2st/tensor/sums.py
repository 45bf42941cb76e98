"""The sums of gradients while `backward` walks the tape.

A tensor that is used many times gets a gradient from each use. From the second one on they are added to an array that nobody else has, and
what reads a part of a tensor (`x[t]`, an embedding) adds to that part alone: a loop over the steps of a sequence would otherwise make, and
add, an array of the size of the sequence for each of its steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from dy2st_runtime import quiet

from .dispatch import ops
from .tape import Edge, Node, OpNode
from .tensor import Tensor


class Pending:
    """The gradients of the outputs of nodes that the walk has not come to.

    Args:
        recorded: gradients are computed by ops that are recorded, so none of them is changed in place.

    Attributes:
        slots: for each node the gradients of its outputs.
    """

    def __init__(self, recorded: bool) -> None:
        self.slots: dict[Node, list[Tensor | None]] = {}
        self._recorded = recorded
        self._own: set[Edge] = set()  # whose sums are arrays of ours

    def add(self, edge: Edge, g: Tensor) -> None:
        """Adds a gradient."""
        node, index = edge
        slots = self.slots.get(node)
        if slots is None:
            slots = self.slots[node] = [None] * (len(node.outputs) or 1)
        before = slots[index]
        if before is None:
            slots[index] = g
        elif edge in self._own and _alike(before, g):
            _quietly(np.add, before._value, g._value, before._value)
        else:
            slots[index] = ops.add(before, g)
            if not self._recorded:
                self._own.add(edge)

    def add_part(self, node: Node, douts: Sequence[Tensor | None], needed: Sequence[bool]) -> bool:
        """Adds the gradient of a node that has read a part of a tensor to that part; False: it is no such node."""
        if self._recorded or type(node) is not OpNode or node.op.add_grad is None or True in needed[1:]:
            return False
        assert node.edges is not None
        assert node.values is not None
        edge, x, dout = node.edges[0], node.values[0], douts[0]
        if edge is None or dout is None or x.dtype != dout._value.dtype:  # type: ignore[union-attr]
            return False
        slots, index = self._of(edge)
        before = slots[index]
        if before is None:
            slots[index] = before = Tensor.wrap(np.zeros(x.shape, x.dtype))
        elif before._value.dtype != x.dtype:  # type: ignore[union-attr]
            return False
        elif edge not in self._own:
            slots[index] = before = Tensor.wrap(before._value.copy())  # type: ignore[union-attr]
        self._own.add(edge)
        _quietly(node.op.add_grad, before._value, node.values, node.attrs, dout._value)
        return True

    def _of(self, edge: Edge) -> tuple[list[Tensor | None], int]:
        node, index = edge
        slots = self.slots.get(node)
        if slots is None:
            slots = self.slots[node] = [None] * (len(node.outputs) or 1)
        return slots, index


def _alike(a: Tensor, b: Tensor) -> bool:
    x: Any = a._value
    y: Any = b._value
    return x.dtype == y.dtype and x.shape == y.shape


def _quietly(function: Any, *args: Any) -> None:
    """Calls what computes with NumPy, without its warnings."""
    try:
        place = quiet.places.pop()
    except IndexError:
        place = quiet.new_place()
    try:
        place.run(function, *args)
    finally:
        quiet.places.append(place)
