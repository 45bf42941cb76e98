"""Loops along one axis of a tensor, for softmax and the losses of classes.

A tensor is seen as [outer, size, inner] around the axis; a lane is what differs in the axis only, and lanes are
numbered as the elements of a tensor that has size 1 along it. Where the axis is the last one, a lane lies along
memory and is handled by itself. Otherwise a block of neighbouring lanes is handled at once, with what is known of
each lane in scratch tensors, so that the innermost loop runs along memory there too.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .. import dims
from ..loopir import nodes as n
from .folding import BLOCK

OfLane = Callable[[Any], n.Expr]


def scratch(cx: Any, x: Any, axis: int, count: int, dtype: str) -> list[Any]:
    """The scratch variables of a kernel that folds `count` values along an axis of x; none where the axis is the last
    one."""
    if axis in (-1, len(x.shape) - 1):
        return []
    return [cx.temp(dtype, 1) for _ in range(count)]


class Lanes:
    """The lanes of a tensor of sizes `shape` in a kernel; `temps` are the references to the variables of `scratch`."""

    def __init__(self, k: Any, shape: Sequence[Any], axis: int, temps: Sequence[Any] = ()):
        self.k, self.temps = k, list(temps)
        axis = axis if axis >= 0 else axis + len(shape)
        self.outer, self.size = k.let(dims.product(shape[:axis])), shape[axis] if shape else 1
        self.inner = k.let(dims.product(shape[axis + 1 :])) if self.temps else 1
        for t in self.temps:
            k.set_shape(t, [n.as_expr(self.outer) * self.inner])

    @contextlib.contextmanager
    def groups(self) -> Iterator[Group]:
        """All lanes, in groups that can run in parallel."""
        k = self.k
        if not self.temps:
            with k.parallel(self.outer) as lane:
                yield Group(self, lane, 0, 1)
            return
        blocks = k.let((self.inner + (BLOCK - 1)) // BLOCK)
        with k.parallel(n.as_expr(self.outer) * blocks) as b:
            start = k.let(b % blocks * BLOCK)
            yield Group(self, k.let(b // blocks), start, k.let(n.minimum(start + BLOCK, self.inner)))


class Group:
    """Neighbouring lanes, handled together."""

    def __init__(self, lanes: Lanes, outer: Any, start: Any, stop: Any):
        self.lanes, self.k = lanes, lanes.k
        self.outer, self.start, self.stop = outer, start, stop
        self.first = lanes.k.let(n.as_expr(outer) * lanes.size * lanes.inner)
        self._free = list(lanes.temps)

    @contextlib.contextmanager
    def each(self) -> Iterator[tuple[Any, Any]]:
        """Each lane: its number and the flat index of its first element."""
        if not self.lanes.temps:
            yield self.outer, self.first
            return
        with self.k.loop(self.stop, self.start) as c:
            yield self.outer * self.lanes.inner + c, self.first + c

    @contextlib.contextmanager
    def elements(self) -> Iterator[tuple[Any, Any]]:
        """Each element: its flat index and the number of its lane; neighbours in memory follow each other."""
        with self.k.loop(self.lanes.size) as j:
            row = self.k.let(j * self.lanes.inner)
            with self.each() as (lane, start):
                yield start + row, lane

    def of_lane(self, dtype: str, value: OfLane) -> OfLane:
        """A value of each lane, computed once."""
        if not self.lanes.temps:
            named = self.k.let(value(self.outer))
            return lambda lane: named
        t = self._free.pop()
        with self.each() as (lane, _):
            t[lane] = n.cast(value(lane), dtype)
        return lambda lane: t[lane]

    def total(self, dtype: str, element: Callable[[Any, Any], n.Expr]) -> OfLane:
        """The sum of element(index, lane) over each lane."""
        if not self.lanes.temps:
            acc = self.k.var(0.0, dtype)
            with self.elements() as (i, lane):
                acc.add(element(i, lane))
            named = self.k.let(acc.get())
            return lambda lane: named
        t = self._free.pop()
        with self.each() as (lane, _):
            t[lane] = 0.0
        with self.elements() as (i, lane):
            t[lane] = t[lane] + element(i, lane)
        return lambda lane: t[lane]

    def stored_total(self, dtype: str, out: Any, value: Callable[[Any, Any], n.Expr]) -> OfLane:
        """`store`, and the sum of what is stored over each lane."""
        if self.lanes.temps:
            self.store(out, value)
            return self.total(dtype, lambda i, lane: out[i])
        acc = self.k.var(0.0, dtype)
        with self.elements() as (i, lane):
            at = self.k.let(i)
            element = self.k.let(value(at, lane))
            out[at] = element
            acc.add(element)
        named = self.k.let(acc.get())
        return lambda lane: named

    def maximum(self, dtype: str, load: Callable[[Any], n.Expr]) -> OfLane:
        """The largest element of each lane; NaN if one is NaN."""
        larger = lambda acc, v: n.call("maximum", acc, v)  # noqa: E731
        if not self.lanes.temps:
            acc = self.k.var(float("-inf"), dtype)
            with self.elements() as (i, _):
                acc.set(larger(acc.get(), load(i)))
            named = self.k.let(acc.get())
            return lambda lane: named
        t = self._free.pop()
        with self.each() as (lane, _):
            t[lane] = float("-inf")
        with self.elements() as (i, lane):
            t[lane] = larger(t[lane], self.k.let(load(i)))
        return lambda lane: t[lane]

    def store(self, out: Any, value: Callable[[Any, Any], n.Expr]) -> None:
        """out[index] = value(index, lane) for each element."""
        with self.elements() as (i, lane):
            at = self.k.let(i)
            out[at] = n.cast(value(at, lane), out.dtype)
