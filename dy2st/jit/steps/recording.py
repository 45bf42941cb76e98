"""Learning a script: the ops run as usual, and are written down."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dy2st_runtime.ops.registry import OpDef, TensorType

from ...tensor import Parameter, Tensor, autograd, dispatch, due, watching
from ...tensor.dispatch import ops
from ...tensor.location import user_location
from ...tensor.tape import has_hooks
from .script import GIVEN, INPUT, PARAM, SLOT, Kind, Line, Literal, Operand, Script, Span, kind_of, wanting

if TYPE_CHECKING:
    from ..concrete import ConcreteProgram
    from .learning import Steps

MOST_LINES = 64


class Recording(watching.Watcher):
    """Writes down what follows a call that has run, up to the end of the step. What no script can say ends it.

    Args:
        steps: gets the script.
        concrete: the trace.
        inputs, results: the tensors that the call has got, and those that it has computed.
        trained: the parameters that the call has read and that want a gradient.
    """

    __slots__ = (
        "by", "concrete", "given", "given_numbers", "given_tensors", "inputs", "lines", "numbers", "params",
        "refs", "results", "root", "spans", "steps", "trained", "wanting", "within",
    )  # fmt: skip

    def __init__(self, steps: Steps, concrete: ConcreteProgram, inputs: Sequence[Tensor], results: Sequence[Tensor],
                 trained: Sequence[Tensor]):  # fmt: skip
        self.steps, self.concrete, self.trained = steps, concrete, [*trained]
        self.inputs = [(t, t._value) for t in inputs]
        self.wanting = wanting(inputs)
        self.results = len(results)
        # tensors by weak reference: which ones the user keeps counts
        self.refs = [weakref.ref(t) for t in results]
        self.numbers = {id(t): i for i, t in enumerate(results)}
        self.lines: list[Line] = []
        self.spans: dict[int, Span] = {}
        self.within = False
        self.given: list[Kind] = []
        self.given_numbers: dict[int, int] = {}
        self.given_tensors: list[Tensor] = []
        self.params: list[Tensor] = []
        self.root: int | None = None
        self.by: list[tuple[str, int]] | None = None
        watching.watch(self)

    # ---- what is told ----
    def apply(self, op: type[OpDef], ins: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[Any, ...] | None:
        flat = [t for x in ins for t in (x if isinstance(x, list) else [x]) if t is not None]
        if all(t._stop and self._slot(t) is None for t in flat):
            return None  # nothing of the step's: labels that are made ready, say
        checked = self._checked(op, ins, attrs, flat)
        if checked is None or not self._can_be_written(op, flat):
            self.end()
            return None
        watching.watch(None)
        outs = ops.apply(op, ins, attrs)
        watching.watch(self)
        if any(isinstance(t, list) for t in outs):
            self.end()
            return outs
        operands = tuple([self._operand(t) for t in x] if isinstance(x, list) else self._operand(x) for x in ins)
        slots = tuple(map(self._new_slot, outs))
        self.lines.append(Line(op, attrs, operands, slots, dispatch.is_grad_enabled(), checked, user_location()))
        return outs

    def call(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self.within:
            return function(*args, **kwargs)
        begin, slots, given, self.within = len(self.lines), len(self.refs), len(self.given), True
        try:
            result = function(*args, **kwargs)
        finally:
            self.within = False
        span = self._span(function, args, kwargs, begin, slots, result)
        if span is not None and not self._given_in(span) <= {*range(given), *_given(span.args), *_given(span.kwargs.values())}:
            span = None  # it brings along a constant, which it has to be asked for
        if span is not None:
            self.spans[begin] = span
        return result

    def _span(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], begin: int, slots: int, result: Any
              ) -> Span | None:  # fmt: skip
        """What a call was that has just computed the lines from `begin` on, and so the slots from `slots` on; None: a script cannot say."""
        lines = self.lines[begin:]
        if len(lines) < 2 or self._slot(result) != len(self.refs) - 1 or any(x.checked or x.grad is not lines[0].grad for x in lines):
            return None
        told = [self._told(x) for x in (*args, *kwargs.values())]
        if any(x is None for x in told):
            return None
        named = dict(zip(kwargs, told[len(args) :], strict=True))
        return Span(function, tuple(told[: len(args)]), named, begin, len(self.lines), len(self.refs) - slots)

    def _given_in(self, span: Span) -> set[int]:
        """What the loop brings along for a call, by number."""
        flat = (y for line in self.lines[span.begin : span.end] for x in line.ins for y in (x if isinstance(x, list) else [x]))
        return {*_given(flat)}

    def _told(self, x: Any) -> Operand | Literal:
        """An argument of a call whose ops are written down: an operand of theirs, or a constant; None: neither."""
        if not isinstance(x, Tensor):
            return Literal.of(x)
        is_known = self._slot(x) is not None or self._input(x) >= 0 or id(x) in self.given_numbers or any(x is p for p in self.params)
        return self._operand(x) if is_known else None

    def backward(self, roots: Sequence[Any], grads: Sequence[Any], retain_graph: bool, create_graph: bool) -> bool:
        plain = len(roots) == 1 and grads[0] is None and not (retain_graph or create_graph)
        root = self._slot(roots[0]) if plain and self.root is None else None
        slots = [t for ref in self.refs if (t := ref()) is not None]
        leaves = [*self._all_params(), *self.wanting]
        if root is None or any(p._grad is not None for p in leaves) or any(map(has_hooks, [*leaves, *slots])):
            self.end()
            return False
        self.root = root
        due.debtors.append(self)  # who looks at the gradients before the step is told here
        return False

    def grad(self, roots: Sequence[Any], grads: Sequence[Any], wrt: Sequence[Any], retain_graph: bool, create_graph: bool,
             blocked: Sequence[Any]) -> list[Any] | None:  # fmt: skip
        if all(self._slot(t) is None for t in roots):
            return None  # nothing of the step's
        plain = len(roots) == 1 and grads[0] is None and not (retain_graph or create_graph or blocked)
        by = [*map(self._target, wrt)] if plain and self.root is None and all(t is not roots[0] for t in wrt) else [None]
        if None in by:
            self.end()
            return None
        self.root, self.by = self._slot(roots[0]), by  # type: ignore[assignment]
        watching.watch(None)
        try:
            found = autograd.gradients(roots[0], wrt)
        except BaseException:
            self.end()
            raise
        self._learned([], None)
        return found

    def step(self, optimizer: Any) -> bool:
        self._stop_watching()
        of_optimizer = [p for p in optimizer._parameter_list if p._grad is not None]
        if {*map(id, self._trained())} == {*map(id, of_optimizer)} and optimizer.recipe(of_optimizer) is not None:
            self._learned(of_optimizer, weakref.ref(optimizer))
        else:
            self.steps.not_learned()
        return False

    def read(self, t: Any) -> None:
        if self._slot(t) is not None:
            self.end()  # what waits would have to run then

    def end(self) -> None:
        self._stop_watching()
        self.steps.not_learned()

    def deliver(self) -> None:
        self._stop_watching()
        self._learned(self._trained(), None)

    def forget(self, tensors: Collection[Any]) -> None:
        self.end()

    def _learned(self, trained: list[Tensor], optimizer: weakref.ref[Any] | None) -> None:
        kept = {i: t for i, ref in enumerate(self.refs) if (t := ref()) is not None}
        if self.root is None or not all(t._stop or _is_freed(t) for t in kept.values()):
            self.steps.not_learned()
            return
        reached = [i for i, (t, _) in enumerate(self.inputs) if self.by is None and not t._stop and t._grad is not None]
        spans = {at: span for at, span in self.spans.items() if not self._inside(span) & kept.keys()}
        script = Script(self.results, self.lines, spans, self.given, self.params, self.root, [*kept], trained, reached, self.by, optimizer)
        self.steps.learned(self.concrete, script)

    def _inside(self, span: Span) -> set[int]:
        """The slots that a call computes on the way."""
        slots = [slot for line in self.lines[span.begin : span.end] for slot in line.outs if slot is not None]
        return {*slots[:-1]}

    def _trained(self) -> list[Tensor]:
        return [p for p in self._all_params() if p._grad is not None]

    # ---- what is written down ----
    def _stop_watching(self) -> None:
        if watching.current() is self:
            watching.watch(None)
        if self in due.debtors:
            due.debtors.remove(self)

    def _checked(self, op: type[OpDef], ins: tuple[Any, ...], attrs: dict[str, Any], flat: Sequence[Tensor]) -> int | None:
        """Which input decides whether an op fails because of values: see `Line`. None: no single one does."""
        if not op.may_raise_for([TensorType(t.dtype, t._form.shape) for t in flat], attrs):
            return 0
        at = next((i for i, slot in enumerate(op.input_slots) if slot.name == op.raises_for), -1)
        return None if at < 0 or self._slot(ins[at]) is not None else at + 1

    def _can_be_written(self, op: type[OpDef], flat: Sequence[Tensor]) -> bool:
        if self.root is not None or len(self.lines) == MOST_LINES or op.effect or op.host or op.inplace:
            return False
        return all(t._stop or self._slot(t) is not None or self._can_be_an_operand(t) for t in flat)

    def _can_be_an_operand(self, t: Tensor) -> bool:
        """Whether a tensor that is no slot and wants a gradient can be one: an input as the call got it, or a parameter."""
        if any(t is x for x in self.wanting):
            return t._is_leaf and self._input(t) >= 0
        return isinstance(t, Parameter) and t._is_leaf

    def _slot(self, t: Any) -> int | None:
        number = self.numbers.get(id(t))
        return number if number is not None and self.refs[number]() is t else None

    def _new_slot(self, t: Tensor | None) -> int | None:
        if t is None:
            return None
        self.numbers[id(t)] = len(self.refs)
        self.refs.append(weakref.ref(t))
        return len(self.refs) - 1

    def _operand(self, t: Tensor | None) -> Operand:
        if t is None:
            return None
        slot = self._slot(t)
        if slot is not None:
            return SLOT, slot
        at = self._input(t)
        if at >= 0:
            return INPUT, at
        if not t._stop:
            return self._param(t)
        number = self.given_numbers.setdefault(id(t), len(self.given))
        if number == len(self.given):
            self.given.append(kind_of(t))
            self.given_tensors.append(t)  # so that no other one gets its id
        return GIVEN, number

    def _input(self, t: Tensor) -> int:
        """Which input of the call a tensor is, with the value that it had then; -1: none."""
        return next((i for i, (x, value) in enumerate(self.inputs) if x is t and x._value is value), -1)

    def _param(self, t: Tensor) -> tuple[str, int]:
        at = next((i for i, p in enumerate(self.params) if p is t), len(self.params))
        if at == len(self.params):
            self.params.append(t)
        return PARAM, at

    def _target(self, t: Tensor) -> tuple[str, int] | None:
        """What `grad()` differentiates by; None: a script cannot say it."""
        if t._stop or has_hooks(t):
            return None
        slot = self._slot(t)
        if slot is not None:
            return SLOT, slot
        if any(t is x for x in self.wanting):
            return INPUT, next(i for i, (x, _) in enumerate(self.inputs) if x is t)
        return self._param(t) if any(t is p for p in self._all_params()) else None

    def _all_params(self) -> list[Tensor]:
        return [*{id(p): p for p in (*self.trained, *self.params)}.values()]


def _given(operands: Iterable[Operand | Literal]) -> Iterator[int]:
    """The numbers of those that the loop brings along."""
    return (x[1] for x in operands if isinstance(x, tuple) and x[0] is GIVEN)


def _is_freed(t: Tensor) -> bool:
    """Whether the graph behind a tensor, or a part of it, is freed: it cannot be differentiated any more."""
    stack, known = [t._node], set()
    while stack:
        node = stack.pop()
        if node is None or node in known:
            continue
        if node.edges is None:
            return True
        known.add(node)
        stack += [edge[0] for edge in node.edges if edge is not None]
    return False
