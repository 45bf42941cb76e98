"""Ops that are alike are lowered once: a deep network has many of a kind.

Two ops are alike if nothing that a lowering looks at tells them apart, but for the names of their variables: their types, attributes, those
of the ops of a group, the types and symbolic sizes of the variables, and which of these are the same. What the first one became is kept as
a `Pattern`, which is bound to the variables and ops of the others. Their kernels share one body, so what tells it from others
(`Kernel.key`) is put together once, too.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..ir.program import Block, Operator, Variable
from ..loopir.nodes import Expr
from ..ops.fused import GROUPS
from .schedule import Launch, Share, Step


@dataclass
class Numbered:
    """An op, with the ops of its group, and all their variables in the order in which they are met.

    Attributes:
        key: equal for ops that are alike.
        variables: by name.
        ops: the op first.
    """

    key: tuple[Any, ...]
    variables: dict[str, Variable]
    ops: list[Operator]


def numbered(cx: Any, op: Operator, block: Block) -> Numbered | None:
    """What is to be compared of an op that a context lowers; None for one that is not compared: it has control flow, whose blocks are
    lowered op by op anyway, or a variable that may be absent."""
    if op.blocks and op.type not in GROUPS:
        return None
    variables: dict[str, Variable] = {}
    numbers: dict[str, int] = {}
    ops: list[Operator] = []

    def number(name: str, block: Block) -> int:
        if name not in numbers:
            numbers[name] = len(numbers)
            variables[name] = block.var(name)
        return numbers[name]

    def form(op: Operator, block: Block) -> tuple[Any, ...]:
        ops.append(op)
        slots = [(slot, *[number(name, block) for name in names]) for part in (op.inputs, op.outputs) for slot, names in part.items()]
        blocks = op.record.block_attrs
        attrs = repr([item for item in op.attrs.items() if item[0] not in blocks])
        inner = [([number(name, sub) for name in sub.params], [form(o, sub) for o in sub.ops], [number(name, sub) for name in sub.results])
                 for sub in op.blocks]  # fmt: skip
        return op.type, attrs, repr(slots), repr(inner) if inner else ""

    made = form(op, block)
    if not cx.maybe_absent.isdisjoint(variables):
        return None
    types = [(v.dtype, v.shape, v.kind, _sizes(cx.shapes.get(name))) for name, v in variables.items()]
    return Numbered((*made, *types), variables, ops)


def _sizes(shape: Sequence[Any] | None) -> Any:
    """Symbolic sizes as what is equal if they are. Of those that nothing is known of each is its own, and equal to itself alone."""
    return None if shape is None else tuple([d.key if isinstance(d, Expr) else d if isinstance(d, int) else id(d) for d in shape])


class Pattern:
    """What an op was lowered to, to be bound to others that are alike.

    Args:
        like: the op.
        steps: its steps.
        noted: the variables that it noted, in order.
        same: the names that it gave to the descriptors of others.
        temps: the names of all temporary variables.

    Attributes:
        usable: whether others can be lowered by it: only kernels and shared names came of the op, of no variables but its own.
    """

    def __init__(self, like: Numbered, steps: Sequence[Step], noted: Sequence[Variable], same: Mapping[str, str], temps: Container[str]):
        self.names, self.steps, self.same = [*like.variables], steps, same
        self.noted = {v.name: v for v in noted}
        self.numbers = {id(op): i for i, op in enumerate(like.ops)}
        known = {*self.names, *(name for name in self.noted if name in temps)}
        self.usable = known.issuperset((*self.noted, *same, *same.values())) and all(self._is_plain(step, known) for step in steps)

    def _is_plain(self, step: Step, known: set[str]) -> bool:
        if isinstance(step, Launch):
            return id(step.op) in self.numbers and known.issuperset(t.var for t in step.kernel.tensors)
        return isinstance(step, Share) and step.target in known and step.source in known

    def bind(self, cx: Any, op: Numbered) -> None:
        """Adds the steps of an op that is alike to those of a context."""
        names = dict(zip(self.names, op.variables, strict=True))
        for name, v in self.noted.items():
            if name in names:
                cx.note(op.variables[names[name]])
            else:
                names[name] = cx.temp(v.dtype, len(v.shape), v.kind, of=name).name
        cx.same.update((names[a], names[b]) for a, b in self.same.items())
        for step in self.steps:
            if isinstance(step, Launch):
                views, takes = ({names[a]: names[b] for a, b in pairs.items()} for pairs in (step.views, step.takes))
                updates = tuple(names[name] for name in step.updates)
                cx.steps.append(Launch(step.kernel.bound(names), op.ops[self.numbers[id(step.op)]], views, takes, updates))
            elif isinstance(step, Share):
                cx.steps.append(Share(names[step.target], names[step.source]))
