"""A step of training as one Program: the call, the ops behind it, the gradients, and the update of the optimizer."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from dy2st_runtime import forks, signals
from dy2st_runtime.backward import append_backward
from dy2st_runtime.errors import Dy2stError
from dy2st_runtime.executor import make_executable, versions_of
from dy2st_runtime.ir import Block, IRBuilder, Program, Variable, clone_program
from dy2st_runtime.ir.absent import maybe_absent
from dy2st_runtime.ir.infer import infer_types
from dy2st_runtime.ir.visit import all_ops, may_raise
from dy2st_runtime.ops.registry import OpDef

from ... import unique_name
from ...static.recorder import ProgramRecorder
from ...tensor import Tensor, dispatch
from ...tensor.deferred import Form, become, raw_value
from ...tensor.ownership import Owned
from ...tensor.random import STATE_NAME
from ...tensor.tape import SpentNode
from ..recipes import Argument, Constant, Fetched, Rebuilt
from .owed import Owed, gradient
from .script import GIVEN, INPUT, PARAM, SLOT, Operand, Script, are_leaves_apart

if TYPE_CHECKING:
    from ..concrete import ConcreteProgram
    from .deferral import Deferral

RATE = "@LEARNING_RATE@"
LOOPS = {"while_loop", "call"}
"""Ops in which a run looks for signals."""


def can_be_joined(concrete: ConcreteProgram) -> bool:
    """Whether the call of a trace can be a part of a joined step: it does nothing but compute tensors and change buffers."""
    if concrete.functions or concrete.missing or concrete.numbers or concrete.drawn or concrete.raised or concrete.program.functions:
        return False
    if not concrete.only_changes_buffers or not concrete.differentiable or not _is_plain(concrete.recipe):
        return False
    block, changed = concrete.program.global_block(), {position for _, position in concrete.effects.captures}
    if not maybe_absent(concrete.program).isdisjoint(concrete.fetches):
        return False  # a result that is None in some runs
    for i, (name, active) in enumerate(zip(concrete.fetches, concrete.active(), strict=True)):
        v = block.var(name)
        if v.kind != "dense" or (i in changed and active) or (v.persistable and i not in changed):
            return False
    return not any(op.record.host or (op.record.effect and not op.record.inplace and not op.record.may_raise) for op in all_ops(block))


def _is_plain(recipe: Any) -> bool:
    """Whether a result is put together without a look at values."""
    if isinstance(recipe, Rebuilt):
        return recipe.kind in (list, tuple, dict) and all(map(_is_plain, recipe.children))
    if isinstance(recipe, Fetched):
        return not recipe.number and recipe.flag < 0
    return isinstance(recipe, (Argument, Constant))


class _StepRecorder(ProgramRecorder):
    """Puts ops behind those of a trace, whose tensors are variables already.

    Args:
        known: variables by the ids of the tensors that they stand for.
    """

    def __init__(self, block: Block, known: dict[int, Variable]) -> None:
        super().__init__(lambda: block)
        self._known = known
        self.by_variable: dict[str, Tensor] = {}

    def lift(self, t: Tensor) -> Variable:
        known = self._known.get(id(t))
        return super().lift(t) if known is None else known

    def _named(self, op: type[OpDef], names: dict[str, Sequence[str]]) -> dict[str, Sequence[str]]:
        """The Program counts: a variable in a branch of the trace may have any name that `unique_name` gives."""
        return names

    def capture(self, t: Tensor) -> Variable:
        block = self.block.program.global_block()
        name = block.program.fresh_name(t.name)
        v = block.create_var(name, t.dtype, tuple(t._value.shape), persistable=True, stop_gradient=t._stop)
        self._known[id(t)] = v
        self.by_variable[name] = t
        return v


class Layout:
    """Shapes and dtypes in steps whose calls get inputs of the same shapes.

    Attributes:
        forms: of the slots, as far as a step has come so far.
        given: the shapes of what the loop brings along; None: not known yet.
    """

    def __init__(self, forms: list[Form], given: list[tuple[int, ...] | None]):
        self.forms, self.given = forms, given

    def up_to(self, slots: int, given: int) -> Layout:
        """What holds before a certain one of those that the loop brings along."""
        return Layout(self.forms[:slots], [*self.given[:given], *[None] * (len(self.given) - given)])


class JoinedStep:
    """What runs the steps of a script.

    Attributes:
        script: what it runs.
        wanting: the inputs that want a gradient, by their numbers.
        split: whether the call, which may fail because of values, runs when it is made; the rest waits.
        tensors, captured: the captured tensors of the trace, and the names of their variables.
        stops: for each slot whether no gradient flows to it.
        gone: the slots whose tensors nobody has when the step ends.
        spent: what has made each slot, when `backward()` has freed it.
        owed: the gradients of the last step.
        lock: who has it may run a step; one for all, as they run in the same memory.
    """

    @staticmethod
    def of(concrete: ConcreteProgram, script: Script) -> JoinedStep | None:
        """The joined step; None if its ops do not fit together as they did one by one."""
        try:
            return JoinedStep(concrete, script)
        except Dy2stError:
            return None

    def __init__(self, concrete: ConcreteProgram, script: Script) -> None:
        optimizer = script.whose
        if script.optimizer is not None and optimizer is None:
            raise Dy2stError("the optimizer is gone")
        self.script = script
        self._program, self._inputs, self._fetches = concrete.program, concrete.input_names, concrete.fetches
        self.captured = concrete.captured.names
        self.tensors: Sequence[Tensor] = concrete.captured.now()
        self.recipe = optimizer and optimizer.recipe(script.trained)
        self._versions: Any = None
        block = concrete.program.global_block()
        self.split = any(may_raise(op, block) for op in block.ops)
        self.generator = next((i for i, c in enumerate(concrete.captured) if c.variable.name == STATE_NAME), None)
        self.value_of = raw_value if concrete.effects.captures else attrgetter("_value")
        self.wanting = [i for i, v in enumerate(concrete.inputs) if not v.stop_gradient]
        self._others = frozenset(map(id, (*self.tensors, *script.params)))
        self.buffers = [(self.tensors[concrete.positions[id(t)]], position) for t, position in concrete.effects.captures]
        self._layouts: dict[tuple, Layout | None] = {}
        self._ones = np.ones((), np.float32)
        self.lock = forks.reentrant_lock()
        self._last: Deferral | None = None
        self._session: Any = None
        program = clone_program(concrete.program)
        self._build(concrete, program, optimizer)

    def _build(self, concrete: ConcreteProgram, program: Program, optimizer: Any) -> None:
        script, block = self.script, program.global_block()
        known = {id(t): block.var(c.variable.name) for t, c in zip(self.tensors, concrete.captured, strict=True)}
        recorder = _StepRecorder(block, known)
        recorder.by_variable |= {c.variable.name: t for t, c in zip(self.tensors, concrete.captured, strict=True)}
        given = [block.create_var(program.fresh_name("given"), k.dtype, k.sizes, is_data=True, stop_gradient=True)
                 for k in script.given]  # fmt: skip
        fetched = [block.var(name) for name in concrete.fetches]
        slots: list[Tensor] = [Tensor.wrap(v, v.stop_gradient) for v in fetched]
        inputs = [Tensor.wrap(block.var(v.name), v.stop_gradient) for v in concrete.inputs]
        brought = [_weak(Tensor.wrap(v), k.weak) for v, k in zip(given, script.given, strict=True)]

        def operand(x: Operand) -> Tensor | None:
            if x is None:
                return None
            kind, number = x
            return {SLOT: slots, INPUT: inputs, PARAM: script.params, GIVEN: brought}[kind][number]

        if self.split:
            IRBuilder(block).op("suspend")
        # names of the user's layers are counted too, and are not to depend on this
        with unique_name.guard(), dispatch.recording(recorder):
            for line in script.lines:
                ins = tuple([operand(y) for y in x] if isinstance(x, list) else operand(x) for x in line.ins)  # type: ignore[arg-type]
                before, count = dispatch.set_grad(line.grad), len(block.ops)
                try:
                    outs = dispatch.ops.apply(line.op, ins, line.attrs)
                finally:
                    dispatch.set_grad(before)
                for op in block.ops[count:]:
                    op.location = line.location
                slots += [t for t, slot in zip(outs, line.outs, strict=True) if slot is not None]
        self.stops = [t._stops for t in slots]
        labels = [concrete.label] * script.results + [line.op.type for line in script.lines for s in line.outs if s is not None]
        self.spent = [*map(SpentNode, labels)]
        # `grad()` leaves no gradient in a tensor
        watched = [i for i in script.kept if not self.stops[i] and i != script.root] if script.by is None else []
        leaves = [*script.trained, *(inputs[i] for i in script.reached)]
        targets = [*leaves, *(slots[i] for i in watched), *map(operand, script.by or ())]
        others = self._without_gradient(script, inputs)
        wrt = [recorder.lift(t) for t in (*targets, *others) if t is not None]
        found = append_backward(program, [slots[script.root]._value], wrt)  # type: ignore[list-item, arg-type]
        if any(g is not None for g in found[len(targets) :]):
            raise Dy2stError("a step that takes other branches gives a gradient to what had none in the steps that were learned")
        found = found[: len(targets)]
        pairs = [(p, g) for p, g in zip(script.trained, found, strict=False) if g is not None]
        rate = Tensor.wrap(np.zeros(1, np.float32))
        rate.persistable, rate.name = True, RATE
        self._rate = rate._value
        if optimizer is not None:
            with unique_name.guard(), dispatch.recording(recorder):
                optimizer.updates([(p, Tensor.wrap(g)) for p, g in pairs], rate)
        kept = {*script.kept, *(position for _, position in self.buffers)}
        self._fetched = fetched
        self.names = {i: slots[i]._value.name for i in kept}  # type: ignore[union-attr]
        self.gone = [i for i in range(len(slots)) if i not in kept]
        gradients = [None if g is None else g.name for g in found]
        self._given = [v.name for v in given]
        feeds = [*(v.name for v in concrete.inputs), *self._given]
        fetches = [*(concrete.fetches if self.split else ()), *self.names.values(), *(g for g in gradients if g is not None)]
        self.executable = make_executable(program, feeds, list(dict.fromkeys(fetches)))
        written = self.executable.written - {STATE_NAME}
        state = sorted(self.executable.arrays, key=lambda name: name not in written)
        tensors = recorder.by_variable
        self._owned = Owned(state, [tensors[name] for name in state], len(written), self.value_of)
        self._replaced = [(name, tensors[name]) for name in state if name in self.executable.updates and name not in written]
        plan, descriptor = self.executable.plan, self.executable.plan.descriptor
        after_write = [] if plan.first_write is None else plan.ops[plan.first_write :]
        # in a loop behind the first change of a parameter the handler of a signal would find some of them changed
        has_loops = any(op is not None and op.type in LOOPS for op in after_write)
        self._unseen: contextlib.AbstractContextManager[None] = signals.uninterrupted() if has_loops else contextlib.nullcontext()
        self._fetched_at = [*map(descriptor, concrete.fetches)] if self.split else []
        self.descriptors = {i: descriptor(name) for i, name in self.names.items()}
        where = [None if name is None else descriptor(name) for name in gradients]
        trained, reached = len(script.trained), len(leaves)
        self.owed = Owed(script.trained, where[:trained], where[trained:reached])
        of_slots = zip(watched, where[reached : reached + len(watched)], strict=True)
        self.gradients_of_slots = {slot: d for slot, d in of_slots if d is not None}
        self._by = dict(zip(script.by or (), where[reached + len(watched) :], strict=True))

    def _without_gradient(self, script: Script, inputs: Sequence[Tensor]) -> list[Tensor]:
        """What could have got a gradient by `backward()`, and had none in the steps that were learned."""
        if script.by is not None:
            return []
        trained = {*map(id, script.trained)}
        read = {id(t): t for t in (*self.tensors, *script.params) if not t._stop and t.dtype.startswith("float")}
        return [*(t for key, t in read.items() if key not in trained), *(inputs[i] for i in self.wanting if i not in script.reached)]

    # ---- what is known before a run ----
    def layout_of(self, session: Any) -> Layout:
        """Shapes and dtypes of what a call has computed, which has run."""
        key = tuple(map(session.frame.shape, self._fetched_at))
        layout = self._layouts.get(key)
        if layout is None:
            forms = [Form(shape, np.dtype(v.dtype)) for shape, v in zip(key, self._fetched, strict=True)]
            layout = self._layouts[key] = Layout(forms, [None] * len(self.script.given))
        return layout

    def layout(self, inputs: Sequence[np.ndarray]) -> Layout | None:
        """Shapes and dtypes of what a call will compute; None if they depend on more than the shapes of its inputs."""
        key = tuple([a.shape for a in inputs])
        try:
            return self._layouts[key]
        except KeyError:
            forms = self._inferred(inputs)
            return self._layouts.setdefault(key, None if forms is None else Layout(forms, [None] * len(self.script.given)))

    def accepts(self, inputs: Sequence[Tensor]) -> bool:
        """Whether a call with these inputs changes none of them, and the gradients of those that want one are all that there is of them."""
        if self.buffers and any(t is x or t._ties for t, _ in self.buffers for x in inputs):
            return False
        return not self.wanting or are_leaves_apart([inputs[i] for i in self.wanting], self._others)

    def ones(self, value: np.ndarray) -> np.ndarray:
        """The gradient of what is differentiated; as no array of a tensor is written to, one serves many steps."""
        if self._ones.shape != value.shape or self._ones.dtype != value.dtype:
            self._ones = np.ones_like(value)
        return self._ones

    def _inferred(self, inputs: Sequence[np.ndarray]) -> list[Form] | None:
        program = clone_program(self._program)
        block = program.global_block()
        for name, a in zip(self._inputs, inputs, strict=True):
            block.var(name).shape = a.shape
        for name, t in zip(self.captured, self.tensors, strict=True):
            block.var(name).shape = raw_value(t).shape
        infer_types(program)
        found = [block.var(name) for name in self._fetches]
        return None if any(-1 in v.shape for v in found) else [Form(tuple(v.shape), np.dtype(v.dtype)) for v in found]

    # ---- a run ----
    def fits(self, optimizer: Any) -> bool:
        """Whether the step of an optimizer is this one."""
        if optimizer is not self.script.whose:
            return False
        if optimizer is None:
            return True
        if self._versions is not None and not self._versions.changed():
            return True
        if optimizer.recipe(self.script.trained) != self.recipe:
            return False
        self._versions = versions_of(optimizer.decisive(self.script.trained))
        return True

    def start(self, step: Deferral, fed: Sequence[np.ndarray], given: Sequence[Any], generator: np.ndarray | None) -> Any:
        """Begins a run; if it is split, runs the call.

        Args:
            step: who has the run; what the user has of the one before is fetched now.
            fed, given: the inputs of the call, and what the loop has brought along; None for what it will.
            generator: the state of the random generator.
        """
        with self.lock:
            if self._last is not None and self._last is not step:  # which was interrupted, and is made again
                self._last.close()
            if self._session is not None:
                self._session.release()
            self._owned.update()
            state = self._owned.state
            if self.executable.draws:
                state = {**state, STATE_NAME: np.array(generator)}
            if self._session is None:
                self._session = self.executable.begin([*fed, *given], state, self._owned.same)
            else:
                self._session.again([*fed, *given], state, self._owned.same)
            if self.split:
                self._session.advance()
                self._owned.lend()
            self._last = step
            return self._session

    def gradients(self, session: Any) -> dict[Operand, Tensor | None]:
        """What a step that has run gives for each operand that `grad()` differentiates by."""
        return {x: None if d is None else gradient(session, d) for x, d in self._by.items()}

    def drop(self) -> None:
        """Ends a run that has not come to its end."""
        with self.lock:
            if self._session is not None:
                self._session.close()
                self._session = None

    def can_finish(self) -> bool:
        """Whether a split run can go on: what it writes to is still what it has begun with, and nobody else's."""
        return self._owned.is_up_to_date()

    def leave(self) -> None:
        """The next step runs in memory of its own: who was interrupted by the handler of a signal still has that of the last one."""
        self._session = None

    def finishing(self, session: Any, given: Sequence[Any], rate: float, then: Callable[[], None]) -> Callable[[], None]:
        """What makes a step; may be called again wherever it was left.

        Args:
            given: of a split run, what the loop has brought along since.
            rate: the learning rate.
            then: what belongs to it; may be called again as well.
        """
        self._rate[0] = rate  # type: ignore[index]
        if self.split:
            session.feed(dict(zip(self._given, given, strict=True)))

        def finish() -> None:
            with self._unseen:
                session.finish()
            for name, t in self._replaced:
                t._value = session.state[name]
            for t, slot in self.buffers:
                become(t, session.fetch([self.names[slot]])[0], True)
            then()

        return finish


def _weak(t: Tensor, weak: bool) -> Tensor:
    t._weak = weak
    return t
