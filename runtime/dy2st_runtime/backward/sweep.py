"""The reverse walk over the ops of one block."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import GradientError, Location
from ..ir.absent import mark_absent
from ..ir.builder import IRBuilder
from ..ir.program import Block, Function, Operator, Variable
from ..ir.visit import all_ops, called, reads
from ..ops import registry

if TYPE_CHECKING:
    from .call import Pair


RULES: dict[str, Callable[..., None]] = {}
"""The rules of control flow: of ops that own blocks or call functions, and of segments, which are several ops."""


def rule(kind: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Registers the rule of a kind of control flow: see `_kind`. A decorator."""

    def register(function: Callable[..., None]) -> Callable[..., None]:
        RULES[kind] = function
        return function

    return register


def _kind(op: Operator) -> str:
    """Which rule an op has; that of an op that is no control flow is its record's."""
    if op.function is not None:
        return "call"
    return "while_loop with calls" if op.type == "while_loop" and holds_call(op) else op.type


def holds_call(op: Operator) -> bool:
    """Whether a call is made inside an op."""
    return any(inner.function is not None for sub in op.blocks for inner in all_ops(sub))


class State:
    """What all sweeps of one `append_backward` share.

    Attributes:
        active: names that gradients can flow to.
        absent: names, of values and of gradients, that may be absent at run time.
        no_grad: names that were excluded by the caller.
        pairs: of functions, the two versions; found under the function and under its forward version.
        sums: name → the total of its gradients in functions.
        made: names of the values that backward made.
        titles: gradient variable → the name it gets in the end.
        updates: the ids of the ops that update parameters.
        outdated: the id of an op → the parameters that it has read before they were updated.
    """

    def __init__(self, active: set[str], absent: set[str], no_grad: frozenset[str]):
        self.active, self.absent, self.no_grad = active, absent, no_grad
        self.pairs: dict[Function, Pair] = {}
        self.sums: dict[str, Variable] = {}
        self.produced: set[str] = set()
        self.titles: dict[str, str] = {}
        self.updates: set[int] = set()
        self.outdated: dict[int, set[str]] = {}

    def note_updates(self, ops: Sequence[Operator], names: Collection[str]) -> None:
        """Looks which of these ops update parameters of these names, and which have read them before."""
        later: set[str] = set()
        for op in reversed(ops) if names else ():
            if written := set(op.output_names).intersection(names):
                later |= written
                self.updates.add(id(op))
            elif read := later.intersection(reads(op)):
                self.outdated[id(op)] = read

    def require_current(self, ops: Iterable[Operator], gradient: Sequence[Operator]) -> None:
        """GradientError if the gradient of these ops reads a parameter of which they have read an earlier value."""
        for op in ops:
            lost = self.outdated.get(id(op))
            name = next((name for new in gradient for name in _values_read(new) if name in lost), None) if lost else None
            if name is not None:
                raise GradientError(
                    f"the gradient needs the value that {name!r} had before the step of the optimizer",
                    hint="call backward() before the step, or compute what is differentiated anew behind it",
                ).at(op.location)  # fmt: skip

    def total_of(self, v: Variable) -> Variable:
        """The total to which functions add the gradients of a variable that all of them see."""
        if v.name not in self.sums:
            b = Builder(v.block.program.global_block(), self, index=0)
            self.sums[v.name] = b.op("create_total", dtype=v.dtype, shape=list(v.shape))
        return self.sums[v.name]


class Builder(IRBuilder):
    """An IRBuilder that keeps track of the values it makes and of which may be absent."""

    def __init__(self, block: Block, state: State, location: Location | None = None, index: int | None = None):
        super().__init__(block, location, index)
        self.state = state

    def insert(self, op: Operator) -> Operator:
        mark_absent([op], self.state.absent)
        self.state.produced.update(op.output_names)
        return super().insert(op)


class Sweep:
    """Gradients of the ops of block `forward`, written to the block of `b`.

    The two are the same block, except in a branch of `cond`: there the gradient block reads names of the forward
    block as if they were visible, and `branch` makes them so afterwards. `outer` is the sweep that this one is part of,
    `depth` in how many segments, computed again, the ops are.
    """

    def __init__(self, forward: Block, b: Builder, state: State, outer: Sweep | None = None, depth: int | None = None):
        self.forward, self.b, self.state, self.outer = forward, b, state, outer
        self.depth: int = depth if depth is not None else outer.depth if outer is not None else 0
        self.parts: dict[str, list[Variable]] = {}
        self.totals: dict[str, Variable] = {}

    def around(self, block: Block) -> Sweep:
        """This sweep, for the ops of its block or of one around: their gradients are written to the same block."""
        if block is self.forward:
            return self
        walk = Sweep(block, self.b, self.state, depth=self.depth)
        walk.parts, walk.totals = self.parts, self.totals
        return walk

    @property
    def in_function(self) -> bool:
        """Whether it is part of the gradient of a function."""
        return self.outer.in_function if self.outer is not None else self.forward.parent is not None

    def var(self, name: str) -> Variable:
        """A value that the ops of this sweep, or of one around it, can read."""
        found = self.forward.find_var(name)
        if found is None and self.outer is not None:
            return self.outer.var(name)
        return found or self.forward.var(name)

    def add(self, name: str, gradient: Variable) -> None:
        """One more term of the gradient of a name."""
        self.parts.setdefault(name, []).append(_fitted(self.b, gradient, self.var(name)))

    def total(self, name: str) -> Variable | None:
        """The sum of the terms so far; None if there is none."""
        parts = self.parts.get(name)
        if not parts:
            return None
        if len(parts) > 1:
            parts[:] = [_fitted(self.b, self.b.op("sum", X=parts), self.var(name))]
        self.state.titles.setdefault(parts[0].name, f"{name}@GRAD")
        return parts[0]

    def run(self, ops: Sequence[Operator]) -> None:
        """Walks the ops from the last to the first; a segment that is computed again is as one op."""
        end = len(ops)
        while end:
            here = slice(self.depth, self.depth + 1)
            segment, count = ops[end - 1].segments[here], len(self.b.block.ops)
            if segment:
                start = next(i for i, op in enumerate(ops) if op.segments[here] == segment)
                RULES["segment"](self, ops[start:end])
            else:
                start = end - 1
                self._differentiate(ops[start])
            if self.state.outdated:
                self.state.require_current(ops[start:end], self.b.block.ops[count:])
            end = start

    def gradients_of(self, names: Iterable[str]) -> dict[str, Variable | None]:
        """The gradients of what ops yield, of which nothing is added from now on."""
        found = {name: self.total(name) for name in names}
        for name, d in found.items():
            if d is not None:
                self.totals[name] = d
            self.parts.pop(name, None)  # a persistable may be its own input: what follows is about the old value
        return found

    def _differentiate(self, op: Operator) -> None:
        if id(op) in self.state.updates or all(self.total(name) is None for name in op.output_names):
            return
        self.b.location = op.location
        douts = self.gradients_of(op.output_names)
        kind = _kind(op)
        if kind in RULES:
            RULES[kind](self, op, douts)
        elif any(self.active(name) for name in op.input_names):
            for group in self._groups(douts):
                self._rule(op, group)

    def active(self, name: str) -> bool:
        return name in self.state.active

    def result(self, name: str) -> Variable | None:
        """The gradient of any name after `run`, also of one that an op of the walk defines."""
        if self.var(name).persistable:
            return self.total(name)  # of the value before the ops, were it updated
        return self.total(name) or self.totals.get(name)

    def _groups(self, douts: dict[str, Variable | None]) -> list[dict[str, Variable | None]]:
        """How to call the rule of an op when some gradients of its outputs may be absent.

        With one output that counts, absence takes care of itself: all that the rule makes is skipped. With several, an
        absent one must count as zero where another is present, and everything must be absent where all are. So: if one
        is surely present, the others are filled with zeros; if none is, the rule (linear in the gradients) is applied
        to each alone.
        """
        given = [name for name, d in douts.items() if d is not None]
        unsure = [name for name in given if douts[name].name in self.state.absent]  # type: ignore[union-attr]
        if len(given) == 1 or not unsure:
            return [douts]
        if len(unsure) < len(given):
            filled = {name: self.b.op("fill_absent", X=douts[name], Like=self.var(name)) for name in unsure}
            return [{**douts, **filled}]
        return [{name: (d if name == one else None) for name, d in douts.items()} for one in given]

    def _rule(self, op: Operator, douts: dict[str, Variable | None]) -> None:
        """Adds what `OpDef.grad` gives for the inputs that a gradient can flow to."""
        record = op.record
        ins = _by_slot(record.input_slots, op.inputs, self.var)
        outs = _by_slot(record.output_slots, op.outputs, self.var)
        gradients = record.grad(self.b, ins, outs, _by_slot(record.output_slots, op.outputs, douts.get), **op.attrs)
        for slot, gradient in zip(record.input_slots, gradients, strict=True):
            names = op.input(slot.name)
            if not any(self.active(name) for name in names):
                continue
            if callable(gradient):
                gradient = gradient()
            if gradient is None:
                continue
            for name, one in zip(names, gradient if slot.many else [gradient], strict=True):
                if self.active(name):
                    self._add_term(op, name, one() if callable(one) else one)

    def _add_term(self, op: Operator, name: str, gradient: Variable | None) -> None:
        if gradient is None:
            return
        try:
            self.add(name, gradient)
        except GradientError as error:
            error.message = f"{op.type}: {error.message}"
            raise error.at(op.location) from None


def _values_read(op: Operator) -> Iterator[str]:
    """What an op reads more of than shapes, also in its blocks and in the functions that it calls."""
    blocks = (*op.blocks, *(f.block for f in called([op])))
    for one in (op, *(inner for block in blocks for inner in all_ops(block))):
        for slot in one.record.input_names:
            if slot not in one.record.shape_only:
                yield from one.input(slot)


def _by_slot(
    slots: Sequence[registry.Slot], names: dict[str, list[str]], value: Callable[[str], Any]
) -> tuple[Any, ...]:
    """What a rule gets: for each slot a value, a list, or None where the slot is empty."""
    result: list[Any] = []
    for slot in slots:
        values = [value(name) for name in names.get(slot.name, ())]
        result.append(values if slot.many else (values[0] if values else None))
    return tuple(result)


def _fitted(b: Builder, gradient: Variable, value: Variable) -> Variable:
    """A gradient with the dtype and the shape of its value; a rule that computes in a wider dtype is cast back."""
    if gradient.dtype != value.dtype:
        gradient = b.op("cast", X=gradient, in_dtype=gradient.dtype, out_dtype=value.dtype)
    shapes_fit = len(gradient.shape) == len(value.shape) and all(
        g == v or -1 in (g, v) for g, v in zip(gradient.shape, value.shape, strict=True)
    )
    if gradient.kind != value.kind or not shapes_fit:
        raise GradientError(
            f"the gradient of {value.name!r} is {gradient.type}, the value {value.type}: its rule is wrong"
        )
    if gradient.shape != value.shape and gradient.name in b.state.produced and gradient.block is b.block:
        # a gradient has the sizes of its value, so what is known of one is known of the other; that of a branch's result is
        # that of the other branch's too, which may be of another size
        gradient.shape = tuple(g if v == -1 else v for g, v in zip(gradient.shape, value.shape, strict=True))
    return gradient
