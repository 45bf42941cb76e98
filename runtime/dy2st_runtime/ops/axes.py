"""The axes of an iteration space, merged where neighbours are alike.

Along each axis an operand is *full* (it has that size), *broadcast* (it has size 1, or no such axis) or, where open dims leave both
possible, *dynamic* (a stride of 0 or more that is computed when the kernel runs). Each axis has a *kept* part (a size of the output) and a
*reduced* part that is folded; an axis that an open dim may or may not stretch has both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..loopir import nodes as n

FULL, BROADCAST, DYNAMIC = "full", "broadcast", "dynamic"


@dataclass
class Axis:
    """A (merged) axis: kept and reduced sizes (1: none) and, for each operand, its kind and the distance of neighbours in memory."""

    kept: Any
    reduced: Any
    kinds: tuple[str, ...]
    strides: list[Any]

    @property
    def size(self) -> Any:
        return self.kept if is_one(self.reduced) else self.reduced if is_one(self.kept) else n.maximum(self.kept, self.reduced)

    def extended(self, outer: Axis) -> bool:
        """Takes in the axis before it, if for all operands the two are one run of elements; whether it did."""
        if DYNAMIC in self.kinds or self.kinds != outer.kinds:
            return False
        if is_one(self.reduced) and is_one(outer.reduced):
            self.kept = self.kept * outer.kept
        elif is_one(self.kept) and is_one(outer.kept):
            self.reduced = self.reduced * outer.reduced
        else:
            return False
        return True


def is_one(size: Any) -> bool:
    return isinstance(size, int) and size == 1


def is_zero(stride: Any) -> bool:
    return isinstance(stride, int) and stride == 0


def product(sizes: Iterable[Any]) -> Any:
    total: Any = 1
    for s in sizes:
        total = s if is_one(total) else total * s
    return total


def merge(k: Any, sides: Sequence[tuple[Any, Any]], kinds: Sequence[Sequence[str]], sizes: Sequence[Sequence[Any]]) -> list[Axis]:
    """The axes of a space, outermost first, without those of size 1.

    Args:
        k: the kernel, in which sizes and strides get names.
        sides: the kept and the reduced size of each axis.
        kinds: for each operand its kind along each axis.
        sizes: for each operand its own size along each axis; counts where the kind is not BROADCAST.
    """
    merged: list[Axis] = []
    steps: list[Any] = [1] * len(kinds)  # elements of each operand inside the axes done so far
    for a in reversed(range(len(sides))):
        kept, reduced = sides[a]
        if is_one(kept) and is_one(reduced):
            continue
        axis = Axis(kept, reduced, tuple(own[a] for own in kinds), [])
        if not merged or not merged[0].extended(axis):
            axis.strides = [_stride(k, kind, own[a], step) for kind, own, step in zip(axis.kinds, sizes, steps, strict=True)]
            merged.insert(0, axis)
        steps = [step if kind == BROADCAST else n.as_expr(step) * own[a]
                 for kind, own, step in zip(axis.kinds, sizes, steps, strict=True)]  # fmt: skip
    for axis in merged:
        axis.kept, axis.reduced = (v if isinstance(v, int) else k.let(v, "n") for v in (axis.kept, axis.reduced))
        axis.strides = [k.let(s, "s") if isinstance(s, n.Expr) else s for s in axis.strides]
    return merged


def _stride(k: Any, kind: str, size: Any, step: Any) -> Any:
    if kind == DYNAMIC:
        return k.let(n.select(n.as_expr(size) == 1, 0, n.as_expr(step, n.INDEX)), "s")
    return 0 if kind == BROADCAST else step


Places = Sequence[Any]
"""An offset into each operand."""


def plus(at: Places, i: Any, strides: Sequence[Any]) -> Places:
    return [place if is_zero(s) else place + i * s for place, s in zip(at, strides, strict=True)]


def moved(k: Any, at: Places, i: Any, strides: Sequence[Any]) -> Places:
    return [k.let(place, "at") for place in plus(at, i, strides)]


def starts(k: Any, base: Places, o: Any, kept: Sequence[Axis]) -> Places:
    """Where in each operand the elements begin that belong to output `o` of the kept axes."""
    at = base
    for i, a in enumerate(reversed(kept)):
        last = i == len(kept) - 1
        at = plus(at, o if last else o % a.kept, a.strides)
        o = o if last else o // a.kept
    return [k.let(place, "at") for place in at]
