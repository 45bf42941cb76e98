"""What a condition says about others: where `best is None or v > best` is false, `best` is not None."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from dy2st_runtime.ir import Block, Operator, Variable

from ...tensor import Tensor
from .maybe_none import MaybeNone
from .maybe_value import MaybeValue


class Facts:
    """What the run knows, and is known on the path which is traced.

    Attributes:
        present: the variables that may have no value and were found to have one, by name: what the check gave.
    """

    def __init__(self) -> None:
        self._known: dict[str, bool] = {}
        self.present: dict[str, Variable] = {}
        self._makers: dict[int, _Makers] = {}

    @contextlib.contextmanager
    def assuming(self, test: Variable, truth: bool, names: Mapping[str, str] = MappingProxyType({})) -> Iterator[None]:
        """Until the end of the block the path is one on which `test` has this truth; `names`: what variables of `test` are called there."""
        before = self._known
        self._known = before | {names.get(name, name): value for name, value in implied(test, truth, self._maker).items()}
        try:
            yield
        finally:
            self._known = before

    @contextlib.contextmanager
    def elsewhere(self) -> Iterator[None]:
        """Until the end of the block nothing is known: what is traced there runs on other paths too."""
        before = self._known, self.present
        self._known, self.present = {}, {}
        try:
            yield
        finally:
            self._known, self.present = before

    def _maker(self, v: Variable) -> Operator | None:
        makers = self._makers.get(id(v.block))
        if makers is None:
            makers = self._makers[id(v.block)] = _Makers(v.block)
        return makers.of(v.name)

    def of(self, flag: Any) -> bool | None:
        """The value of a bool tensor, if it is known on this path."""
        return self._known.get(getattr(getattr(flag, "_value", None), "name", ""))

    def certain(self, x: Any) -> Any:
        """A value that may be None as the one of both that it is known to be; all else as it is."""
        if not self._known:
            return x
        if isinstance(x, (MaybeNone, MaybeValue)):
            none = self.of(none_flag(x))
            there = x.bare() if isinstance(x, MaybeNone) else x._dy_value
            return x if none is None else None if none else there
        if type(x) is tuple:
            parts = [self.certain(v) for v in x]
            return tuple(parts) if any(new is not old for new, old in zip(parts, x, strict=True)) else x
        return x


def none_flag(x: MaybeNone | MaybeValue) -> Tensor:
    """What says of a value that may be None whether it is."""
    return x.is_none if isinstance(x, MaybeNone) else x._dy_is_none


class _Makers:
    """The ops of a block that make bools, by the names of these: the block is read once, as it grows."""

    def __init__(self, block: Block):
        self._block, self._read = block, 0
        self._ops: dict[str, Operator] = {}

    def of(self, name: str) -> Operator | None:
        ops = self._block.ops
        if len(ops) < self._read:  # what was tried is taken back
            self._ops, self._read = {}, 0
        for op in ops[self._read :]:
            if op.type in _FOLLOWED:
                self._ops.update(dict.fromkeys(op.output_names, op))
        self._read = len(ops)
        return self._ops.get(name)


def implied(test: Variable, truth: bool, maker: Callable[[Variable], Operator | None]) -> dict[str, bool]:
    """The bools whose values follow from that of one, by name, up to some number of them.

    Args:
        maker: finds the op that makes a variable.

    >>> from dy2st_runtime.ir import IRBuilder, Program
    >>> block = Program().global_block()
    >>> a, b = (block.create_var(name, "bool", [], is_data=True) for name in "ab")
    >>> either = IRBuilder(block).logical_or(a, IRBuilder(block).logical_not(b))
    >>> found = implied(either, False, lambda v: _Makers(block).of(v.name))
    >>> found["a"], found["b"]
    (False, True)
    """
    found: dict[str, bool] = {}
    left = [(test, truth)]
    while left and len(found) < _MOST:
        v, value = left.pop()
        if v.name in found or v.dtype != "bool":
            continue
        found[v.name] = value
        op = maker(v)
        if op is not None:
            left += [(v.block.var(name), x) for name, x in _operands(op, v.name, value)]
    return found


_MOST = 64
"""So many bools are looked for: behind a loop that is unrolled each test follows from all before."""
_FOLLOWED = frozenset({"logical_not", "logical_and", "logical_or", "assign", "as_condition", "ensure_defined", "cond"})


def _operands(op: Operator, name: str, value: bool) -> list[tuple[str, bool]]:
    """What the inputs of an op are for sure, given the value of an output."""
    if op.type == "logical_not":
        return [(op.input("X")[0], not value)]
    if op.type in ("assign", "as_condition", "ensure_defined"):
        return [(op.input("X")[0], value)]
    if (op.type, value) in (("logical_and", True), ("logical_or", False)):
        return [(op.input("X")[0], value), (op.input("Y")[0], value)]
    if op.type == "cond":
        # a side that gives the other constant was not taken; so what the taken one gives is known too
        outs = op.output("Out")
        sides = op.attrs["true_block"], op.attrs["false_block"]
        for i, block in enumerate(sides):
            if _constant(block, block.results[outs.index(name)]) is (not value):
                taken = sides[1 - i]
                given = [(out, _constant(taken, result)) for out, result in zip(outs, taken.results, strict=True)]
                return [(op.input("Cond")[0], i == 1), *((out, x) for out, x in given if x is not None)]
    return []


def _constant(block: Block, name: str) -> bool | None:
    op = next((op for op in reversed(block.ops) if name in op.output_names), None)
    if op is None or op.type != "fill_constant" or op.attrs["dtype"] != "bool":
        return None
    return bool(op.attrs["value"])
