"""The value of loop IR expressions in Python: what the CUDA host needs to know before a launch (sizes, checks)."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from . import nodes as n

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv, "%": operator.mod,
    "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift, "<": operator.lt,
    "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne, "min": min, "max": max,
}  # fmt: skip


class Evaluator:
    """Evaluates the part of a kernel before its loops.

    Args:
        shapes: sizes of the tensors that have a value.
        attrs: the scalar arguments.
        load: reads one element of a tensor (for sizes that depend on values).
    """

    def __init__(self, shapes: dict[str, tuple[int, ...]], attrs: Mapping[str, Any], load: Callable[[str, int], Any]):
        self.shapes, self.attrs, self.load = shapes, attrs, load
        self.names: dict[str, Any] = {}

    def prologue(self, kernel: n.Kernel) -> tuple[bool, dict[str, tuple[int, ...]]]:
        """Runs the checks and shapes of a kernel: whether it may be launched, and the sizes of its outputs."""
        outputs: dict[str, tuple[int, ...]] = {}
        ok = self._statements(kernel.body, outputs)
        return ok, outputs

    def _statements(self, body: list[Any], outputs: dict[str, tuple[int, ...]]) -> bool:
        needed = any(isinstance(s, (n.SetShape, n.Fail)) for s in body)
        for i, s in enumerate(body):
            if not needed:
                return True
            if isinstance(s, (n.Let, n.Var, n.Assign)):
                self.names[s.name] = self.value(s.value)
            elif isinstance(s, n.Fail):
                if self.value(s.cond):
                    return False
            elif isinstance(s, n.SetShape):
                outputs[s.tensor] = self.shapes[s.tensor] = tuple(int(self.value(d)) for d in s.dims)
            elif not stores(s) and not self._nested(s, outputs):
                return False
            needed = any(isinstance(r, (n.SetShape, n.Fail)) or _has_checks(r) for r in body[i + 1 :])
        return True

    def _nested(self, s: Any, outputs: dict[str, tuple[int, ...]]) -> bool:
        if isinstance(s, n.When):
            return self._statements(s.body if self.value(s.cond) else s.orelse, outputs)
        return not isinstance(s, (n.For, n.While)) or self._loop(s, outputs)

    def _loop(self, s: Any, outputs: dict[str, tuple[int, ...]]) -> bool:
        if isinstance(s, n.While):
            while True:
                self._run(s.setup)
                if not self.value(s.cond):
                    return True
                self._run(s.body)
        for i in range(int(self.value(s.start)), int(self.value(s.stop)), int(self.value(s.step))):
            self.names[s.name] = i
            if not self._every(s.body, outputs):
                return False
        return True

    def _run(self, body: list[Any]) -> None:
        self._every(body, {})

    def _every(self, body: list[Any], outputs: dict[str, tuple[int, ...]]) -> bool:
        """All statements, whatever follows."""
        for s in body:
            if isinstance(s, (n.Let, n.Var, n.Assign)):
                self.names[s.name] = self.value(s.value)
            elif isinstance(s, n.Fail):
                if self.value(s.cond):
                    return False
            elif isinstance(s, n.When):
                if not self._every(s.body if self.value(s.cond) else s.orelse, outputs):
                    return False
            elif isinstance(s, (n.For, n.While)) and not self._loop(s, outputs):
                return False
        return True

    def value(self, e: n.Expr) -> Any:
        if isinstance(e, n.Const):
            return e.value
        if isinstance(e, n.Name):
            return self.names[e.name]
        if isinstance(e, n.Attr):
            return self.attrs[e.name]
        if isinstance(e, n.Size):
            return self.shapes[e.tensor][e.axis]
        if isinstance(e, n.Load):
            return self.load(e.tensor, int(self.value(e.index)))
        if isinstance(e, n.Unary):
            a = self.value(e.a)
            return (not a) if e.op == "not" else -a if e.op == "-" else ~a
        if isinstance(e, n.Binary):
            return _BINARY[e.op](self.value(e.a), self.value(e.b))
        if isinstance(e, n.Select):
            return self.value(e.a) if self.value(e.cond) else self.value(e.b)
        if isinstance(e, n.Cast):
            return np.dtype(e.dtype).type(self.value(e.a)).item()
        if isinstance(e, n.Call):
            table = {"round": np.rint, "isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite, "pow": np.power}
            return table.get(e.fn, getattr(np, e.fn, None))(*(self.value(a) for a in e.args))  # type: ignore[misc]
        raise TypeError(f"no expression of the loop IR: {e!r}")


def stores(s: Any) -> bool:
    """Whether a statement writes tensors: that is the device's work."""
    if isinstance(s, (n.Store, n.Gemm, n.RoutineCall)):
        return True
    return any(stores(inner) for body in bodies(s) for inner in body)


def _has_checks(s: Any) -> bool:
    """Whether a statement that stores nothing holds checks."""
    if stores(s):
        return False
    return isinstance(s, n.Fail) or any(_has_checks(inner) for body in bodies(s) for inner in body)


def bodies(s: Any) -> list[list[Any]]:
    if isinstance(s, (n.For, n.Gemm)):
        return [s.body]
    if isinstance(s, n.While):
        return [s.setup, s.body]
    if isinstance(s, n.When):
        return [s.body, s.orelse]
    return []
