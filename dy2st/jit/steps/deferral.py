"""Following a script: nothing runs until the step ends, then all of it does at once.

What a script does not say ends this: all that waits runs as it would have run without, in the order in which it came.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Sequence
from itertools import chain
from operator import is_
from typing import TYPE_CHECKING, Any

import numpy as np
from dy2st_runtime import signals
from dy2st_runtime.ops.registry import OpDef, TensorType

from ...errors import StagedValueError
from ...tensor import Tensor, autograd, dispatch, due, tape, watching
from ...tensor.deferred import Deferred, Form, become, defer, deferred, is_deferred, raw_value
from ...tensor.dispatch import ops
from ...tensor.location import user_location
from ...tensor.tape import has_hooks
from ..captures import View
from .joined import JoinedStep, Layout
from .owed import gradient
from .script import GIVEN, INPUT, PARAM, SLOT, Line, Literal, Operand, Span, kind_of

if TYPE_CHECKING:
    from ..concrete import ConcreteProgram
    from .learning import Steps

RunLater = Callable[["ConcreteProgram", Sequence[Tensor], Sequence[Any], View], list[Tensor]]
ref = weakref.ref
NOBODY = ref(Tensor([]))
"""A reference to a tensor that is gone."""
WAITING, ASKED, ENDING, STEPPED, SETTLED = range(5)
"""The call waits, `backward()` waits too, both are about to run as usual, the step has run, all is as if nothing had waited."""


class Deferral(watching.Watcher):
    """A call that waits, with what follows it."""

    __slots__ = (
        "at", "concrete", "fed", "finish", "generator", "given", "inputs", "joined", "layout", "lines",
        "lock", "refs", "run", "session", "state", "steps", "view",
    )  # fmt: skip

    def __init__(self, steps: Steps, concrete: ConcreteProgram, joined: JoinedStep, inputs: Sequence[Tensor], view: View,
                 run: RunLater) -> None:  # fmt: skip
        self.steps, self.joined, self.view, self.run = steps, joined, view, run
        self.concrete: ConcreteProgram | None = concrete
        self.inputs: Sequence[Tensor] = inputs
        self.layout: Layout
        # what was fed is not to change with its tensors
        self.fed: list[Any] = [t._value for t in inputs]
        self.lines = joined.script.lines
        self.state = WAITING
        self.lock = joined.lock
        self.at = 0
        self.given: list[Any] = [None] * len(joined.script.given)
        self.refs: list[weakref.ref[Tensor]] = []
        self.session: Any = None
        self.finish: Callable[[], None] | None = None
        self.generator = None if joined.generator is None else np.array(view.arrays[joined.generator])

    @staticmethod
    def begin(steps: Steps, concrete: ConcreteProgram, joined: JoinedStep, inputs: Sequence[Tensor], view: View,
              run: RunLater) -> list[Tensor] | None:  # fmt: skip
        """A call is made: what it gives; None if it cannot wait.

        Args:
            run: runs it as it would have run at once.
        """
        if view.tensors is not joined.tensors:
            if not all(x is y for x, y in zip(view.tensors, joined.tensors, strict=True)):
                return None
            joined.tensors = view.tensors  # the same list next time, most likely
        if not joined.accepts(inputs):
            return None
        self = Deferral(steps, concrete, joined, inputs, view, run)
        if joined.split:
            view.arrays.clear()
            self.session = joined.start(self, self.fed, self.given, self.generator)
            layout = joined.layout_of(self.session)
        else:
            found = joined.layout(self.fed)
            if found is None:
                steps.diverged(forever=True)
                return None
            layout = found
        self.layout = layout
        results = [self._new(i) for i in range(joined.script.results)]
        watching.watch(self)
        # last: from here on others may ask for what waits, and what the handler of a signal raises no longer undoes the call
        if joined.buffers:
            with joined.lock:  # another thread may just give them the values of its step
                for t, slot in joined.buffers:
                    defer(t, self, slot, layout.forms[slot])
        return results

    def _new(self, slot: int) -> Tensor:
        t = deferred(self, slot, self.layout.forms[slot], self.joined.stops[slot])
        self.refs.append(ref(t))
        return t

    # ---- what the thread does: each of these is on the way of every step ----
    def apply(self, op: type[OpDef], ins: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[Any, ...] | None:
        at, lines = self.at, self.lines
        if at < len(lines) and self.state == WAITING:
            line = lines[at]
            if op is line.op and self._is_next(line, ins, attrs):
                outs = self._outputs(line, ins)
                if outs is not None:
                    self.at = at + 1
                    # no lock is taken here: another thread that ends this says so before it looks how far this has come
                    if self.state == WAITING:
                        return outs
        for x in ins:
            for t in x if isinstance(x, list) else (x,):
                if t is not None and (not t._stop or (is_deferred(t) and t._source is self)):
                    self.end()
                    return None
        return None

    def call(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        span = self.joined.script.spans.get(self.at)
        if span is not None and span.function is function and self.state == WAITING and self._is_called(span, args, kwargs):
            refs, layout = self.refs, self.layout
            slot = len(refs) + span.slots - 1
            # shapes that are known were found op by op, when a step had inputs of these shapes
            if slot < len(layout.forms):
                t = deferred(self, slot, layout.forms[slot], self.joined.stops[slot])
                refs += [NOBODY] * (span.slots - 1)
                refs.append(ref(t))
                self.at = span.end
                if self.state == WAITING:  # see `apply`
                    return t
        return function(*args, **kwargs)

    def _is_called(self, span: Span, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        if len(args) != len(span.args) or kwargs.keys() != span.kwargs.keys():
            return False
        if dispatch.is_grad_enabled() is not self.lines[span.begin].grad:
            return False
        told = zip(args, span.args, strict=True)
        for x, y in chain(told, [(x, span.kwargs[name]) for name, x in kwargs.items()]) if kwargs else told:
            if type(y) is Literal:
                if x is not y.value and not y.is_same(x):
                    return False
            elif not isinstance(x, Tensor) or not self._fits(x, y):
                return False
        return True

    def _is_next(self, line: Line, ins: tuple[Any, ...], attrs: dict[str, Any]) -> bool:
        if (attrs is not line.attrs and not line.has(attrs)) or dispatch.is_grad_enabled() is not line.grad:
            return False
        slots = line.slots
        if slots is not None:
            for x, slot in zip(ins, slots, strict=True):
                if type(x) is not Deferred or x._slot != slot or x._source is not self:
                    return False
            return True
        for x, operand in zip(ins, line.ins, strict=True):
            if type(operand) is list:
                if type(x) is not list or len(x) != len(operand) or not all(map(self._fits, x, operand)):
                    return False
            elif not self._fits(x, operand):
                return False
        return not line.checked or self._accepts(line, ins)

    def _accepts(self, line: Line, ins: tuple[Any, ...]) -> bool:
        """Whether an op does not fail because of values; one that does is to raise what it raises."""
        forms = [t if t is None or isinstance(t, list) else t._form for t in ins]
        return line.op.values_fit(ins[line.checked - 1]._value, forms, line.attrs)

    def _fits(self, x: Any, operand: Any) -> bool:
        if x is None or operand is None:
            return x is operand
        kind, number = operand
        if kind is SLOT:
            return type(x) is Deferred and x._source is self and x._slot == number
        if kind is PARAM:
            return x is self.joined.script.params[number]
        if kind is INPUT:
            return x is self.inputs[number] and x._value is self.fed[number] and (x._stop or x._is_leaf)
        if not x._stop or (type(x) is Deferred and x._source is self):
            return False
        known = self.given[number]
        if known is None:
            if kind_of(x) != self.joined.script.given[number]:
                return False
            value = self.given[number] = x._value
            if value.shape != self.layout.given[number]:
                self._other_shape(number, value.shape)
            return True
        return known is x._value

    def _other_shape(self, number: int, shape: tuple[int, ...]) -> None:
        """What the loop brings along has not the shape that it had when a call with such inputs was last followed."""
        if self.layout.given[number] is not None:
            self.layout = self.layout.up_to(len(self.refs), number)
        self.layout.given[number] = shape

    def _outputs(self, line: Line, ins: tuple[Any, ...]) -> tuple[Any, ...] | None:
        forms, refs, outs = self.layout.forms, self.refs, line.outs
        slot = len(refs)
        if len(forms) == slot and not self._infer(line, ins):
            return None
        if len(outs) == 1:  # most ops
            t = deferred(self, slot, forms[slot], self.joined.stops[slot])
            refs.append(ref(t))
            return (t,)
        return tuple([None if slot is None else self._new(slot) for slot in outs])

    def _infer(self, line: Line, ins: tuple[Any, ...]) -> bool:
        """Notes the forms of what an op computes; False: they depend on more than those of its inputs."""
        types = tuple([*map(_type, x)] if isinstance(x, list) else _type(x) for x in ins)
        found = line.op.infer_types(types, line.attrs)
        forms: list[Form] = []
        for t, slot in zip(found, line.outs, strict=True):
            if slot is not None:
                if t is None or not all(type(d) is int for d in t.shape):
                    return False
                forms.append(Form(tuple(t.shape), np.dtype(t.dtype)))
        at = len(self.refs)
        self.layout.forms[at : at + len(forms)] = forms  # another thread may have noted the same
        return True

    def backward(self, roots: Sequence[Any], grads: Sequence[Any], retain_graph: bool, create_graph: bool) -> bool:
        script = self.joined.script
        optimizer = script.whose
        with self.lock:
            if script.by is None and not retain_graph and not create_graph and self._is_root(roots, grads):
                params = script.trained if optimizer is None else optimizer._parameter_list
                leaves = script.trained
                if script.reached:
                    reached = [self.inputs[i] for i in script.reached]
                    params, leaves = [*params, *reached], [*leaves, *reached]
                hooks = [node.hooks for p in leaves if (node := p._node) is not None]
                clean = True not in [p._grad is not None for p in params]
                if clean and not (any(hooks) and any(map(has_hooks, leaves))) and not self._trains_an_input(optimizer):
                    self.state = ASKED
                    due.debtors.append(self)
                    return True
            self.end()
        return False

    def grad(self, roots: Sequence[Any], grads: Sequence[Any], wrt: Sequence[Any], retain_graph: bool, create_graph: bool,
             blocked: Sequence[Any]) -> list[Any] | None:  # fmt: skip
        if not any(is_deferred(t) and t._source is self for t in roots):
            return None  # nothing of this step's
        by = self.joined.script.by
        with self.lock:
            if (
                by is not None and not (retain_graph or create_graph or blocked) and self._is_root(roots, grads)
                and len(wrt) == len(by) and all(map(self._is_target, wrt, by)) and self._can_step(None)
            ):  # fmt: skip
                session = self._step(0.0)
                if session is not None:
                    found = self.joined.gradients(session)
                    return [found[x] for x in by]
            self.end()
        return None

    def _trains_an_input(self, optimizer: Any) -> bool:
        """Whether the optimizer would update an input of this call, which the steps before did not."""
        if optimizer is None or not self.joined.wanting:
            return False
        return not {id(self.inputs[i]) for i in self.joined.wanting}.isdisjoint(map(id, optimizer._parameter_list))

    def _is_root(self, roots: Sequence[Any], grads: Sequence[Any]) -> bool:
        """Whether just what the script differentiates is differentiated now."""
        script = self.joined.script
        if self.state != WAITING or self.at != len(script.lines) or len(roots) != 1 or grads[0] is not None:
            return False
        return self._fits(roots[0], (SLOT, script.root))

    def _is_target(self, x: Any, operand: tuple[str, int]) -> bool:
        kind, number = operand
        if kind is SLOT:
            return self._fits(x, operand)
        known = self.inputs[number] if kind is INPUT else self.joined.script.params[number]
        return x is known and not x._stop and x._is_leaf and not has_hooks(x)

    def step(self, optimizer: Any) -> bool:
        # first, as a schedule of the user's may look at what waits, or change what the step depends on
        rate = optimizer.get_lr() if self.state == ASKED else 0.0
        with self.lock:
            if self.state != ASKED or not self._can_step(optimizer):
                self.end()
                return False
            return self._step(rate) is not None

    def _can_step(self, optimizer: Any) -> bool:
        joined, view = self.joined, self.view
        if joined.split and not joined.can_finish():
            return False
        if not joined.fits(optimizer):
            return False
        now = map(joined.value_of, view.tensors)
        if not joined.split and not (len(view.arrays) == len(view.tensors) and all(map(is_, now, view.arrays))):
            return False
        refs, script = self.refs, joined.script
        for i in joined.gone:
            if refs[i]() is not None:
                return False
        return True not in [p._stop for p in script.trained] and not (script.reached and any(self.inputs[i]._stop for i in script.reached))

    def _step(self, rate: float) -> Any:
        """Makes the step; its run. None: the handler of a signal has looked at what waits before there was one, so all has run as usual."""
        joined = self.joined
        try:
            self.view.arrays.clear()  # who has an array keeps it from being written to
            session = self.session or joined.start(self, self.fed, self.given, self.generator)
            if self.state == SETTLED:
                joined.drop()
                return None
            self.session = session
            finish = joined.finishing(session, self.given, rate, self._stepped)
            self.finish = finish
            signals.whole(finish, session.has_begun)
        except BaseException as error:
            if self.state != STEPPED:  # else it is what the handler of a signal has raised meanwhile
                self._take_back()
                if isinstance(error, Exception):
                    self.end()  # where it is an error of the user's, it is raised by what has made it
            raise
        self.steps.followed()
        return session

    def _complete(self) -> None:
        """Makes the rest of a step, if its run has changed parameters already: the handler of a signal looks before it is over.

        Raises:
            StagedValueError: the run is in the middle of a loop.
        """
        if self.finish is None:
            return
        if not self.session.has_begun():
            raise StagedValueError(
                "the handler of a signal looks at a training step that runs just now", location=user_location(),
                hint="let the handler set a flag, and look when the step is over",
            )  # fmt: skip
        self.finish()
        self.joined.leave()

    def _stepped(self) -> None:
        """The step has run; may be called again wherever it was left."""
        if self.state == STEPPED:
            return
        script = self.joined.script
        if script.by is None:
            self.joined.owed.owe(self.session, [self.inputs[i] for i in script.reached] if script.reached else ())
        if self in due.debtors:
            due.debtors.remove(self)
        if watching.current() is self:  # another thread may have asked for the gradients
            watching.watch(None)
        self.fed, self.given, self.inputs, self.concrete, self.finish = [], [], [], None, None
        self.state = STEPPED

    def _take_back(self) -> None:
        """Ends a run that has not come to its end, if there is one: what the call has read is in the view again."""
        view = self.view
        if self.session is None and len(view.arrays) == len(view.tensors):
            return
        state = {} if self.session is None else self.session.given
        names = self.joined.captured
        arrays = [state.get(name, raw_value(t)) for name, t in zip(names, view.tensors, strict=True)]
        if self.joined.generator is not None:
            arrays[self.joined.generator] = self.generator
        # in this order: what the handler of a signal raises in between leaves nothing that could not be done again
        self.finish = None
        self.joined.drop()
        view.arrays[:] = arrays
        self.session = None

    # ---- who looks ----
    def settle(self, t: Tensor) -> None:
        with self.lock:
            self._complete()
            if t._source is not self:
                return  # another thread was first
            if self.state == STEPPED:
                self._give(t)
            else:
                self.end()

    def deliver(self) -> None:
        with self.lock:
            self._complete()
            if self.state == ASKED and self._can_step(None):
                self._step(0.0)
            if self.state == STEPPED:
                self.joined.owed.deliver()
            else:
                self.end()

    def forget(self, tensors: Collection[Any]) -> None:
        self.deliver()

    def close(self) -> None:
        """Another step is about to run: what somebody still has of this one is fetched now."""
        with self.lock:
            self._complete()
            if self.session is None or self.state != STEPPED:
                return self.end()
            if due.debtors:
                self.joined.owed.deliver()
            for slot in self.joined.names:
                t = self.refs[slot]()
                if t is not None and is_deferred(t) and t._source is self:  # type: ignore[attr-defined]
                    self._give(t)
            self.session = None

    def _give(self, t: Any) -> None:
        slot, joined = t._slot, self.joined
        value = self.session.frame.value(joined.descriptors[slot])
        become(t, value, joined.stops[slot])
        if not t._stop:
            t._node = joined.spent[slot]
        if slot == joined.script.root and joined.script.by is None:
            t._grad = Tensor.wrap(joined.ones(value))
        elif slot in joined.gradients_of_slots:
            t._grad = gradient(self.session, joined.gradients_of_slots[slot])

    # ---- as if nothing had waited ----
    def end(self) -> None:
        with self.lock:
            if watching.current() is self:
                watching.watch(None)
            self._complete()
            before = self.state
            if before in (STEPPED, SETTLED):
                return
            self.state = ENDING
            try:
                self._take_back()
                if before == ASKED:
                    due.debtors.remove(self)
                if before == ASKED or self.joined.buffers or any(known() is not None for known in self.refs):  # else nobody can ask for it
                    self._run_as_usual(before == ASKED)
                self.state = SETTLED
            finally:
                if self.state == ENDING:
                    self.state = before  # who asks next gets the same error
                    if before == ASKED:
                        due.debtors.append(self)
            self.steps.diverged()

    def _run_as_usual(self, asked: bool) -> None:
        assert self.concrete is not None
        with dispatch.eager(), watching.nobody():
            before = dispatch.set_grad(True)
            try:
                slots = [self._with_value(i, t) for i, t in enumerate(self.run(self.concrete, self.inputs, self.fed, self.view))]
                for t, slot in self.joined.buffers:
                    become(t, slots[slot]._value, True)
                for line in self.joined.script.lines[: self.at]:
                    dispatch.set_grad(line.grad)
                    ins = tuple([self._tensor(y, slots) for y in x] if isinstance(x, list) else self._tensor(x, slots) for x in line.ins)
                    outs = ops.apply(line.op, ins, line.attrs)
                    slots += [self._with_value(slot, t) for t, slot in zip(outs, line.outs, strict=True) if slot is not None]
                dispatch.set_grad(True)
                if asked:
                    script = self.joined.script
                    for p in (*script.trained, *(self.inputs[i] for i in script.reached)):
                        p._grad = None  # as `backward()` has found them: what a signal's handler raises may have ended this once
                    autograd.accumulate(slots[self.joined.script.root])
            finally:
                dispatch.set_grad(before)

    def _tensor(self, operand: Operand, slots: Sequence[Tensor]) -> Tensor | None:
        if operand is None:
            return None
        kind, number = operand
        if kind is SLOT:
            return slots[number]
        if kind is PARAM:
            return self.joined.script.params[number]
        if kind is GIVEN:
            return Tensor.wrap(self.given[number])
        return tape.as_recorded(self.fed[number], tape.edge_of(self.inputs[number]))

    def _with_value(self, slot: int, t: Tensor) -> Tensor:
        """The tensor of a slot, which has its value now: that which the user has, if so."""
        known = self.refs[slot]()
        if known is None:
            return t
        become(known, t._value, t._stop)
        if t._result_of is not None:
            known._result_of = t._result_of
        if t._node is not None:
            t._node.hand_over(t._index, known)
        return known


def _type(t: Any) -> TensorType | None:
    return None if t is None else TensorType(t.dtype, t._form.shape)
