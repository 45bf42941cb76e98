"""Whether a static net does in several calls what the eager one does: results, gradients, and all that its state has become."""

from __future__ import annotations

import itertools
import linecache
import sys
import types
import warnings
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from dy2st_runtime import config

import dy2st as paddle
from dy2st import jit
from dy2st.errors import Dy2stError
from dy2st.nn import Layer

from .programs import Program

# each branch is taken and not, in calls with three sizes; loops end by `break`, at their end, and at once
CALLS = (([1.0, 2.0, 3.0], 1), ([1.0, 2.0], 0), ([2.0, 0.5], 2), ([1.0, 1.0, 0.0], 9), ([3.0, 1.0], -1))
# the attributes of the nets in `world`, and those that programs set
_STATE = (
    "a", "a0", "a1", "box", "box0", "box1", "buf", "counted", "d", "f", "G", "h",
    "items", "kept", "n", "rows0", "rows1", "s", "s0", "s1", "scope", "sub", "subs", "w",
)  # fmt: skip
_numbers = itertools.count()


@dataclass
class Seen:
    """What a call gave and left.

    Attributes:
        shape: the values with what holds them, where a container that comes again is its number.
        tensors: of these, in order: the values, the objects, what ties them, and whether they want no gradient.
        gradient: of x; None if the result has none.
    """

    shape: Any
    tensors: list[paddle.Tensor]
    gradient: np.ndarray | None
    values: list[np.ndarray] = field(init=False)
    flags: list[bool] = field(init=False)

    def __post_init__(self) -> None:
        self.values = [t.numpy().copy() for t in self.tensors]
        self.flags = [bool(t.stop_gradient) for t in self.tensors]


@dataclass
class Failed:
    """A call that raises."""

    kind: type[Exception]
    text: str
    ours: bool


@dataclass(frozen=True)
class Verdict:
    """What comes of a program.

    Attributes:
        kind: "same", "fails eagerly", "refused", or in capitals how eager and static mode differ.
        why: the message of an error.
    """

    kind: str
    why: str = ""


def verdict(program: Program) -> Verdict:
    """What eager and static mode make of a program."""
    eager = _observed(program, static=False)
    if isinstance(eager[0], Failed):
        return Verdict("fails eagerly", eager[0].text)
    for a, b in itertools.zip_longest(eager, _observed(program, static=True)):
        if isinstance(b, Failed) and isinstance(a, Failed):
            return Verdict("same" if a.kind is b.kind else "refused" if b.ours else "OTHER ERROR", b.text)
        if isinstance(b, Failed):
            return Verdict("refused" if b.ours else "ERROR", b.text)
        if isinstance(a, Failed):
            return Verdict("NO ERROR", a.text)
        if (kind := _difference(a, b)) is not None:
            return Verdict(kind, f"{_shown(a)} | {_shown(b)}")
    return Verdict("same")


def _observed(program: Program, *, static: bool) -> list[Seen | Failed]:
    """What each call gives, up to one that fails."""
    name, text = f"<table {next(_numbers)}>", program.text
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    module = sys.modules["tables_world"] = types.ModuleType("tables_world")
    found: list[Seen | Failed] = []
    try:
        exec(compile(text, name, "exec"), vars(module))
        net = module.Net()
        for method in program.static if static else ():
            setattr(module.Net, method, jit.to_static(getattr(module.Net, method)))
        with warnings.catch_warnings(), config.NO_JIT.override(True):
            warnings.simplefilter("ignore")
            methods = [net, net.other] if program.other else [net]
            for (numbers, n), method in itertools.product(CALLS, methods):
                try:
                    found.append(_called(net, method, numbers, n))
                except Exception as error:
                    found.append(Failed(type(error), str(error).split("\n")[0], isinstance(error, Dy2stError)))
                    break
    finally:
        del linecache.cache[name]
    return found


def _called(net: Any, method: Any, numbers: list[float], n: int) -> Seen:
    x = paddle.to_tensor(numbers, stop_gradient=False)
    result = method(x, paddle.to_tensor(n))
    gradient = None
    first = result[0] if isinstance(result, tuple) else result
    if isinstance(first, paddle.Tensor) and not first.stop_gradient:
        first.sum().backward()
        gradient = None if x.grad is None else x.grad.numpy()
        net.clear_gradients()
    state = _State()
    return Seen(state.shape([result, net]), state.tensors, gradient)


class _State:
    """All that can be reached, with its tensors in order."""

    def __init__(self) -> None:
        self.seen: dict[int, int] = {}
        self.tensors: list[paddle.Tensor] = []
        self._alive: list[Any] = []

    def shape(self, value: Any) -> Any:
        if isinstance(value, paddle.Tensor):
            self.tensors.append(value)
            return "a tensor"
        if isinstance(value, (bool, int, float, str, type(None))):
            return value
        if callable(value) and not isinstance(value, (Layer, type)) and not hasattr(value, "times"):
            return "a function"
        if id(value) in self.seen:
            return f"number {self.seen[id(value)]}"
        self._alive.append(value)
        if not isinstance(value, tuple):
            self.seen[id(value)] = len(self.seen)
        return [type(value).__name__, *map(self.shape, self._parts(value))]

    @staticmethod
    def _parts(value: Any) -> Iterator[Any]:
        if isinstance(value, dict):
            for key in dict.keys(value):
                yield from (key, dict.__getitem__(value, key))
        elif isinstance(value, (list, tuple, deque)):
            yield from value
        elif isinstance(value, (set, frozenset)):
            yield from sorted(value)
        if isinstance(value, Layer):
            for name in _STATE:
                if hasattr(value, name):
                    yield from (name, list(getattr(value, name)) if name == "subs" else getattr(value, name))
        elif isinstance(value, type):
            yield from (value.total, value.n)
        elif hasattr(value, "__dict__"):
            for name in vars(value):
                yield from (name, vars(value)[name])
        elif hasattr(value, "value"):
            yield value.value


def _difference(a: Seen, b: Seen) -> str | None:
    """How two calls differ, if they do."""
    if not _alike(a.shape, b.shape):
        return "SHAPE"
    if any(
        v.shape != w.shape or v.dtype != w.dtype or not np.allclose(v, w, 1e-4, 1e-4)
        for v, w in zip(a.values, b.values, strict=True)
    ):
        return "VALUES"
    if not _same_gradient(a.gradient, b.gradient):
        return "GRADIENT"
    # what gets a gradient on some paths only wants one on all (docs/reference/limits.md)
    if any(f < g for f, g in zip(a.flags, b.flags, strict=True)):
        return "FLAGS"
    return _objects(a.tensors, b.tensors)


def _alike(a: Any, b: Any) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_alike, a, b))
    return type(a) is type(b) and (a == b or (isinstance(a, float) and abs(a - b) < 1e-4))


def _same_gradient(a: np.ndarray | None, b: np.ndarray | None) -> bool:
    if a is None or b is None:
        return not np.any(a if b is None else b)
    return a.shape == b.shape and np.allclose(a, b, 1e-3, 1e-3)


def _objects(eager: list[paddle.Tensor], static: list[paddle.Tensor]) -> str | None:
    """Two tensors that are one eagerly must be one, or tied to each other, and no others may be."""
    first: list[dict[int, int]] = [{}, {}]
    one, other = (
        [f.setdefault(id(t), i) for i, t in enumerate(ts)] for f, ts in zip(first, (eager, static), strict=True)
    )
    groups: dict[int, set[int]] = {}
    for i, t in enumerate(static):
        for tie in t._ties:
            groups.setdefault(id(tie), set()).add(other[i])
    for i, j in itertools.combinations(range(len(one)), 2):
        if one[i] == one[j] and other[i] != other[j] and not any({other[i], other[j]} <= g for g in groups.values()):
            return "IDENTITY"
        if one[i] != one[j] and other[i] == other[j]:
            return "ONE OF TWO"
    return None


def _shown(seen: Seen) -> str:
    gradient = None if seen.gradient is None else np.round(seen.gradient, 3).tolist()
    return f"{str(seen.shape).replace('a tensor', '.')} {[np.round(v, 3).tolist() for v in seen.values]} {seen.flags} {gradient}".replace(
        "'", ""
    )
