"""Dims: what shape inference computes with.

An op states the shape of its outputs once, in its `infer`; that one statement runs in three modes, by
the kind of dims it is given:

- ints: eager execution and the reference interpreter; a mismatch raises at once.
- `UNKNOWN` for an open dim (-1 in a Variable's shape): tracing. Arithmetic on it gives UNKNOWN, a check on it is left for run time.
- symbolic expressions (`loopir.Expr`): lowering. Arithmetic builds the code which computes the sizes natively,
  and a check becomes native code too (`checks`).

So `infer` must not compare dims with `==` or `if`; it uses the functions below.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from .errors import AttributeValueError, ShapeError

Dim = Any  # int | Unknown | loopir.Expr
Shape = tuple[Dim, ...]


class Unknown:
    """An open dim; every arithmetic on it is unknown."""

    def _same(self, *_: object) -> Unknown:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = __rfloordiv__ = _same
    __mod__ = __rmod__ = __neg__ = _same

    def __bool__(self) -> bool:
        raise TypeError("an open dim has no truth value; shape inference must use the functions of dims")

    def __repr__(self) -> str:
        return "?"


UNKNOWN = Unknown()


def known(d: Dim) -> bool:
    """Whether the dim is a plain int."""
    return isinstance(d, int)


def from_static(shape: Sequence[int]) -> Shape:
    """A Variable's shape (-1 = open) as dims."""
    return tuple(UNKNOWN if d == -1 else int(d) for d in shape)


def to_static(shape: Sequence[Dim]) -> tuple[int, ...]:
    """Dims as a Variable's shape (-1 = open)."""
    return tuple(d if isinstance(d, int) else -1 for d in shape)


class _Checks(threading.local):
    def __init__(self) -> None:
        self.stack: list[list[tuple[str, Dim, Dim]]] = []


_checks = _Checks()


@contextlib.contextmanager
def checks() -> Iterator[list[tuple[str, Dim, Dim]]]:
    """Collects the checks on symbolic dims made inside the block, as (kind, a, b): `eq` a == b, `ge` a >= b,
    `divisible` a % b == 0, `broadcast` a == b or a == 1 or b == 1, `stretch` a == b or a == 1."""
    found: list[tuple[str, Dim, Dim]] = []
    _checks.stack.append(found)
    try:
        yield found
    finally:
        _checks.stack.pop()


def _defer(kind: str, a: Dim, b: Dim) -> None:
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        return
    if not _checks.stack:
        raise AssertionError("a check on symbolic dims outside `with dims.checks()`")
    _checks.stack[-1].append((kind, a, b))


def require_equal(a: Dim, b: Dim, message: str, hint: str | None = None) -> Dim:
    """Both dims must be the same size; returns the one that is known."""
    if known(a) and known(b):
        if a != b:
            raise ShapeError(f"{message}: {a} against {b}", hint=hint)
        return a
    if a is not b:
        _defer("eq", a, b)
    if known(a) or isinstance(b, Unknown):
        return a
    return b


def same(a: Sequence[Dim], b: Sequence[Dim]) -> bool:
    """Whether two shapes are known and equal."""
    return all(map(known, (*a, *b))) and tuple(a) == tuple(b)


def require_same_shape(a: Sequence[Dim], b: Sequence[Dim], what: str, hint: str | None = None) -> None:
    """Both shapes must be equal; ShapeError names both."""
    if same(a, b):
        return  # without putting a message together
    message = f"{what}: shape {show(a)} against {show(b)}"
    if len(a) != len(b):
        raise ShapeError(message, hint=hint)
    for p, q in zip(a, b, strict=True):
        require_equal(p, q, message, hint)


def require_at_least(a: Dim, minimum: int, message: str, hint: str | None = None) -> None:
    if known(a):
        if a < minimum:
            raise ShapeError(f"{message}: {a}", hint=hint)
    else:
        _defer("ge", a, minimum)


def require_divisible(a: Dim, by: Dim, message: str, hint: str | None = None) -> None:
    if known(a) and known(by):
        if by == 0 or a % by:
            raise ShapeError(f"{message}: {a} by {by}", hint=hint)
    else:
        _defer("divisible", a, by)


_BROADCAST = "on each axis, counted from the last, the sizes must be equal, or one of them 1"


def broadcast_dim(a: Dim, b: Dim, message: str = "operands do not broadcast", hint: str | None = _BROADCAST) -> Dim:
    """NumPy's rule for one axis."""
    if known(a) and known(b):
        if a == b or b == 1:
            return a
        if a == 1:
            return b
        raise ShapeError(f"{message}: {a} against {b}", hint=hint)
    if known(a) and a == 1:
        return b
    if known(b) and b == 1:
        return a
    if a is b:
        return a
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        # a size above 1 fixes the result whatever the other turns out to be
        if known(a):
            return a
        return b if known(b) else UNKNOWN
    _defer("broadcast", a, b)
    from .loopir.nodes import select_dim  # symbolic mode only; loopir needs nothing of this module

    return select_dim(a, b)


def require_stretches(a: Dim, b: Dim, message: str, hint: str | None = None) -> None:
    """An axis of size `a` must be one that can be expanded to `b`: of this size, or of 1."""
    if known(a) and a == 1:
        return
    if known(a) or (known(b) and b == 1):
        require_equal(a, b, message, hint)
    elif a is not b:
        _defer("stretch", a, b)


def broadcast(a: Sequence[Dim], b: Sequence[Dim], what: str = "operands") -> Shape:
    """NumPy's broadcast of two shapes; ShapeError names both shapes."""
    rank = max(len(a), len(b))
    left = (1,) * (rank - len(a)) + tuple(a)
    right = (1,) * (rank - len(b)) + tuple(b)
    message = f"{what} of shapes {show(a)} and {show(b)} do not broadcast"
    return tuple(broadcast_dim(p, q, message) for p, q in zip(left, right, strict=True))


def minimum(a: Dim, b: Dim) -> Dim:
    """The smaller of two sizes."""
    return _choose("minimum", a, b)


def maximum(a: Dim, b: Dim) -> Dim:
    """The larger of two sizes."""
    return _choose("maximum", a, b)


def _choose(which: str, a: Dim, b: Dim) -> Dim:
    if known(a) and known(b):
        return min(a, b) if which == "minimum" else max(a, b)
    if a is b:
        return a
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        return UNKNOWN
    from .loopir import nodes  # symbolic mode only

    return getattr(nodes, which)(a, b)


def product(shape: Sequence[Dim]) -> Dim:
    total: Dim = 1
    for d in shape:
        total = d if known(total) and total == 1 else total * d
    return total


def admits(shape: Sequence[int], sizes: Sequence[int]) -> bool:
    """Whether these sizes fit a Variable's shape (-1 = open)."""
    if shape == sizes:
        return True
    # asked of each argument of each call: a generator would take twice as long
    return len(shape) == len(sizes) and all([d in (-1, n) for d, n in zip(shape, sizes, strict=True)])  # noqa: C419


def show(shape: Sequence[Dim]) -> str:
    """A shape as users read it: [2, ?, 4]."""
    return "[" + ", ".join(str(d) if known(d) and d != -1 else "?" for d in shape) + "]"


def normalize_axis(axis: int, rank: int, what: str = "axis") -> int:
    """A possibly negative axis as 0 <= axis < rank."""
    if not -rank <= axis < rank:
        raise AttributeValueError(
            f"{what} {axis} is out of range for a tensor with {rank} dims",
            hint=f"use one from {-rank} to {rank - 1}" if rank else "a tensor with 0 dims has no axis",
        )
    return axis + rank if axis < 0 else axis
