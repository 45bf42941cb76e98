"""Recursion that ends by a condition on tensors: a function of the Program, and calls of it.

While a function is traced without such a condition it is simply run, as any code: recursion that Python decides is unrolled. A call
that repeats one around it (`activations`) begins the trace anew, and calls of this kind are then traced as a function: its arguments
are the params, as far as they vary between the calls. What it returns is found as a fixed point. At first nothing is known of what the
calls inside it return, and a path that reaches one tells nothing (`NoResult`); what the other paths return is the first guess.

What the function changes outside of it (variables of functions around, attributes, lists that grow, tensors modified in place) is its
state: each call is given the values that these have, and returns those that they have at its end. What has changed when a call inside comes
counts too, though it be put back behind that: only that call sees it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, is_dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any

from dy2st_runtime import dims
from dy2st_runtime.errors import RecursionLimitError
from dy2st_runtime.ir import Variable
from dy2st_runtime.ir.program import Block, Function
from dy2st_runtime.ir.segments import computed_apart
from dy2st_runtime.ops.registry import TensorType

from ...errors import Location, StructureError
from ...tensor import Tensor, dispatch
from ...tensor.location import user_location
from .. import roles
from ..alias.alternatives import contents_of
from ..alias.points_to import INITIAL, objects_at
from ..effects.cells import Cell, TensorCell
from ..effects.gradient_needs import Need
from ..effects.may_alias import shared
from ..effects.region_frames import Changes, Frame, Growth
from ..effects.snapshot import Snapshot
from ..guards.activations import (
    OTHERS,
    UNROLLED,
    UNROLLED_IN_ALL,
    Activation,
    Arguments,
    NoResult,
    NotYet,
    Reentered,
    admits,
    is_same,
    under_conditions,
)
from ..regions.list_promotion import promote, substituted
from ..regions.phi_leaves import Const, Node, Pattern, Var, coerce, extract, has_structure, instantiate, variables, wrap
from ..trace.active_tries import ActiveTry
from ..trace.raised import raised_in, refused
from ..values.containers import containers_of
from ..values.join_types import same
from ..values.staged_list import StagedList
from ..values.trees import attributes_of, flatten, node_type, split
from .join import Fitter
from .loop_cache import alike
from .recursion_effects import OuterState, first_of, pair, state_of
from .recursion_objects import Objects, Params
from .recursion_signatures import RecursionTypes, Signature

if TYPE_CHECKING:
    from ..trace.tracer import Tracer

ROLE = roles.BOOKKEEPING

_TRIALS = 40


class _Widened(BaseException):
    """A call has arguments that the params do not admit: the function is to be traced again.

    Args:
        grown: lists among the arguments that have become lists of dynamic length meanwhile.
        changes: what has been changed outside since the function began (see `Outcome.changes`).
    """

    def __init__(self, function: StagedFunction, grown: Sequence[Growth] = (), changes: Changes | None = None):
        super().__init__()
        self.function, self.grown, self.changes = function, grown, changes or {}


@roles.calls_user_code
def enter(tracer: Tracer, original: FunctionType, f: Callable, /, *args: Any, **kwargs: Any) -> Any:
    """Calls a converted function while it is traced: runs it, or makes it a call of the Program where it is recursive.

    Args:
        original: the user's function.
        f: its conversion.

    Raises:
        Reentered: it turns out to be recursive.
    """
    if original.__module__ and original.__module__.startswith("dy2st."):
        return f(*args, **kwargs)  # a layer of ours in a layer: what is recursive comes by a function of the user's
    code, arguments = original.__code__, (args, kwargs)
    tracer.give_classes((*args, *kwargs.values()))
    for staged in reversed(tracer.staged):
        if not is_same(staged.original, original) or staged.records is not dispatch.is_grad_enabled():
            continue
        if admits(staged.values, arguments, staged.general):
            return staged.call(arguments)
    new = Activation.of(original, arguments, len(tracer.frames))
    if new.kind in tracer.recursive or new.kind.general in tracer.recursive:
        staged_around = [s for s in tracer.staged if s.code is code]
        around = [Activation.of(s.original, s.arguments, 0) for s in staged_around]
        if around and new.has_grown(around):
            raise RecursionLimitError(
                f"{original.__name__!r} calls itself under a condition on tensors, each time with more in its arguments",
                location=user_location(), hint="let them be of one structure: tensors, or lists of these",
            )  # fmt: skip
        if around:  # each trial of a function traces those inside it anew
            outermost = next((a for a in tracer.activations if a.kind.code is code), staged_around[0])
            outermost.inside += 1
            if outermost.inside > OTHERS:
                if new.kind.general not in tracer.recursive:
                    raise Reentered(new.kind.general)
                raise RecursionLimitError(
                    f"{original.__name__!r} calls itself without end while it is traced, each time with other values that only "
                    "Python knows",
                    location=user_location(), hint="let what changes from call to call be tensors or numbers",
                )  # fmt: skip
        return StagedFunction(tracer, original, f, arguments, new.kind.general in tracer.recursive).stage()
    around = [a for a in tracer.activations if a.kind.code is code]
    if around:
        own = [a for a in around if is_same(a.function, original)]
        if any(new.repeats(a) for a in own):
            raise Reentered(new.kind)
        around[0].inside += new.level > around[0].level
        if under_conditions([*own, new]) > UNROLLED or around[0].inside > UNROLLED_IN_ALL or new.has_grown(around):
            raise Reentered(new.kind.general)
        new.before = tracer.snapshot()
    tracer.activations.append(new)
    try:
        return f(*args, **kwargs)
    finally:
        tracer.activations.pop()


@dataclass(eq=False)
class StagedFunction:
    """A function of the Program in the making.

    Attributes:
        general: whether numbers of Python may vary between the calls.
        records: whether it is called where gradients are recorded: what it computes needs none elsewhere.
        function: what `call` ops name.
        signature: what is known of it.
        outer: what it changes outside of it.
        values, state: what the body gets, instances of the two parts of its params.
        param_values, param_leaves: what these are made of, and what they have at the varying leaves.
        skips_loops: whether a loop with a call inside is taken as one that does not run, as long as nothing is known of the results:
            if there is no other path to an end.
        called_at: where the last call inside it is.
        inner: the calls inside it, each with what it returns.
        tried: those of them that are in `try`s, each with these.
        entered: what the containers among the values had in them when the body began.
        frame: of the body; `own`: the ids of the containers in it that stand for arguments.
        params: what is known of them while the body is traced.
        passed: the keys of what has been found changed when a call inside it came.
        inside: how many functions for other arguments were begun inside it.
    """

    tracer: Tracer
    original: FunctionType
    f: Callable
    arguments: Arguments
    general: bool
    state: tuple[Any, ...] = ()
    skips_loops: bool = False
    called_at: Location | None = None
    values: Any = None
    param_values: list[Any] = field(default_factory=list)
    param_leaves: list[Any] = field(default_factory=list)
    inner: list[tuple[tuple[Arguments, Sequence[Any]], Any]] = field(default_factory=list)
    tried: list[tuple[Location | None, list[ActiveTry]]] = field(default_factory=list)
    entered: Snapshot = field(default_factory=Snapshot)
    frame: Frame | None = None
    own: set[int] = field(default_factory=set)
    params: Params | None = None
    passed: set[tuple] = field(default_factory=set)
    inside: int = 0

    def __post_init__(self) -> None:
        self.stopped = dict(self.tracer.stops.now)
        self.code, self.records = self.original.__code__, dispatch.is_grad_enabled()
        self.name = re.sub(r"\W+", "_", self.original.__name__).strip("_") or "function"
        self.function: Function = self.tracer.program.add_function(self.name)
        self.location = user_location()
        self.fitter = Fitter(self.tracer, f"{self.original.__name__!r} may not set it", ("the first call", "a call inside it"))
        self.outer = OuterState(self.tracer, self.fitter, self._promote, self._unstaged)
        # two calls in one line may differ in nothing but what needs a gradient
        needs = tuple(self.tracer.needs.of(x) for x in flatten(self.arguments)[0] if isinstance(x, Tensor))
        self._place = Activation.of(self.original, self.arguments, 0).kind, self.location, self.general, needs
        self._begin()

    def _begin(self) -> None:
        """Nothing is known of what varies but the first arguments, and what is there before the call of what is changed."""
        self.values, self.state = self.arguments, self.outer.values()
        self.signature = Signature(pair(Const(self.arguments), map(Const, self.state)))
        self.skips_loops = False

    # ---- the function ----
    def stage(self) -> Any:
        """Traces the function, and calls it with the first arguments; what it returns.

        Raises:
            RecursionLimitError: every path leads to another call.
            StructureError: it changes something outside of it; what it takes or returns does not settle.
        """
        self.tracer.note("call", f"recursive: {self.original.__name__!r} is a function of the Program")
        if self._as_before():
            return self.call(self.arguments)
        for _ in range(_TRIALS):
            try:
                if self._trial():
                    self._remember()
                    return self.call(self.arguments)
            except _Widened as widened:
                if widened.function is not self:
                    raise
                for items, later in widened.grown:
                    self._promote(items, later)
                if widened.grown or self.outer.takes_in(widened.changes, (), self.own):
                    self._begin()
        raise StructureError(f"what {self.original.__name__!r} takes and returns does not settle", location=self.location)

    def _remember(self) -> None:
        self.tracer.signatures[self._place] = RecursionTypes(self.signature, dict(self.outer.cells))

    def _as_before(self) -> bool:
        """Traces the function from what it came to at the same place before; False if it has to be traced as if it were new: that does
        not hold now, or is more than has to be."""
        known = self.tracer.signatures.pop(self._place, None)
        if known is None or not all(map(self._is_there, known.cells.values())):
            return False
        arguments = self.arguments
        self.outer.cells = dict(known.cells)
        given = self._given()
        if has_structure(known.signature.params, given):
            s = self.signature = known.signature.again(given, self._is_outside)
            self._declare_results()
            before = s.given_back.of_outside()
            s.param_needs = self.tracer.needs.all(
                variables(s.params), s.param_needs or (), list(map(self.tracer.needs.of, extract(s.params, given)))
            )
            try:
                holds = self._trial() or self.signature is not s
                if not holds and s.given_back.of_outside() != before:
                    s.given_back.find_anew()  # what is not outside any more would stay, as what the calls inside return
                # until it holds; or begins anew, with more outside of it
                holds = holds or any(self._trial() or self.signature is not s for _ in range(_TRIALS))
            except _Widened as widened:
                if widened.function is not self:
                    raise
                holds = False
            except Exception:
                holds = False  # what the function itself raises is raised again
            if holds and self.signature is s and self.arguments is arguments and self._is_least():
                self._remember()
                return True
        self.arguments, self.outer.cells = arguments, {}
        self._begin()
        return False

    def _is_there(self, cell: Cell) -> bool:
        """Whether what was changed outside is still a place that the function may change: it may have been of an earlier trial around."""
        return self._can_read(cell.target) if isinstance(cell, TensorCell) else id(cell.target) in self.tracer.watched

    def _is_outside(self, x: Any) -> bool:
        """Whether what a call has returned, and has not made, is there still, and before the function that is to be traced."""
        return self._can_read(x) if isinstance(x, (Tensor, StagedList)) else id(contents_of(x)) in self.tracer.watched

    def _can_read(self, x: Tensor | StagedList) -> bool:
        v = x._value
        return not isinstance(v, Variable) or self.tracer.can_read(v)

    def _is_least(self) -> bool:
        """Whether all that varies in the params does so in a call inside, and all that varies in the results in what the body returns."""
        s = self.signature
        assert s.results is not None
        assert self.frame is not None
        calls = [list(extract(s.params, given)) for given, _ in self.inner]
        value, state = s.returned
        there = self.frame.containers
        alone = [self._alone(value, there), *(self._alone(x, there) for x in state)]
        return all(any(not same(call[i], x) for call in calls) for i, x in enumerate(self.param_leaves)) and all(
            map(alike, alone, [first_of(s.results), *state_of(s.results)])
        )

    def _given(self) -> tuple[Arguments, tuple[Any, ...]]:
        """What the params stand for in the first call."""
        return self.arguments, self.outer.values()

    @roles.calls_user_code
    def _trial(self) -> bool:
        """Traces the body once; True if what it assumed about the results holds."""
        stable = False
        self.tracer.stops.now = dict(self.stopped)
        try:
            stable = self._traced()
            return stable
        finally:
            if self.params is not None:
                self.params.end(self.tracer)
                self.params = None
            block = self.function.block
            self.tracer.aliases.leave((block,), self.tracer.block, () if stable else (block,))

    def _traced(self) -> bool:
        """`_trial`, but for what ends with it."""
        tracer, block, s = self.tracer, self.tracer.sub_block(), self.signature
        self.function.block = block
        if s.param_needs is None:
            s.param_needs = list(map(tracer.needs.of, extract(s.params, self._given())))
        self.param_values = [self._param(block, leaf, need) for leaf, need in zip(variables(s.params), s.param_needs, strict=True)]
        with tracer.inside(block):  # which class of number a param is, its code says
            taken = instantiate(s.params, self._take())
        self.values, self.state = taken
        self.param_leaves = list(extract(s.params, taken))
        given = [(x, x._value) for x in self.param_leaves if isinstance(x, (Tensor, StagedList))]
        self.own = _containers(self.values) - _containers(self.arguments)
        self.entered = Snapshot.of(containers_of(*self.values[0], *self.values[1].values()))
        tracer.watch(*self.values[0], *self.values[1].values())
        tracer.watch_locals()
        at_first = self._given()
        first = self._objects(s.params, at_first)
        tracer.sharing.merged([s.params], [taken], [(tracer.block, [at_first])], how=INITIAL)
        tracer.sharing.settle()
        self.inner, self.tried = [], []
        tracer.staged.append(self)
        try:
            with tracer.whole_frame(block) as frame, computed_apart(tracer.program), tracer.facts.elsewhere():
                self.frame = frame
                self.outer.enter(state_of(s.params), self.state)
                self.params = s.given.begin(tracer, self._objects(s.params, taken, self.param_leaves), first, frame)
                result = self.f(*self.values[0], **self.values[1])
                outcome = tracer.outcome((result, self.outer.values()), frame)
        except NotYet:
            raise
        except NoResult:
            if any(other.signature.results is None for other in tracer.staged[:-1]):
                raise  # what those return tells more
            if not self.skips_loops:
                self.skips_loops = True
                return False
            raise RecursionLimitError(
                f"{self.original.__name__!r} calls itself on every path, so that it never comes to an end",
                location=self.called_at, hint="give it a path that returns without another call",
            ) from None  # fmt: skip
        finally:
            tracer.staged.pop()
        lists = [x for x in self.param_leaves if isinstance(x, StagedList)]
        if any(x._value is not v for x, v in given) or any(tracer.aliases.stale.of(x, block) for x in lists):  # what a list holds
            raise self._unstaged("an argument")
        if self.outer.takes_in(outcome.changes, outcome.grown, self.own):
            self._begin()
            return False
        stable = self._fit_results(outcome.result, frame.containers)
        assert s.results is not None
        with outcome.in_force():
            found = list(map(tracer.needs.of, extract(s.results, outcome.result)))
        if stable:
            found = tracer.needs.all(variables(s.results), found, s.result_needs)
        stable, s.result_needs = stable and found == s.result_needs, found
        if stable and self.tried:
            self._require_uncaught(set(raised_in(tracer, block)))
        if stable:
            for arguments, value in self.inner:  # a call is to another inside it what an iteration is to the next one
                tracer.sharing.iterated(frame.containers, block, [s.params, s.results], [taken, value],
                                        [arguments, outcome.result])  # fmt: skip
            with tracer.inside(block), outcome.in_force():
                leaves = zip(extract(s.results, outcome.result), variables(s.results), strict=True)  # type: ignore[arg-type]
                block.results = [coerce(tracer, x, leaf, "a result").name for x, leaf in leaves]
        return stable

    def _require_uncaught(self, kinds: set[type[BaseException]]) -> None:
        """StructureError if a call inside the body is in a `try` that may catch what the function raises, as it would not."""
        for location, attempts in self.tried:
            if any(attempt.takes(kind) for attempt in attempts for kind in kinds if issubclass(kind, Exception)):
                raise refused(f"in a call of {self.original.__name__!r} inside itself", location)

    def _take(self) -> Callable[[Var], Any]:
        """What stands at the varying leaves of the params when the body begins."""
        param_values = iter(self.param_values)
        return lambda _: next(param_values)

    def _param(self, block: Block, leaf: Var, need: Need | None) -> Any:
        t = leaf.type
        v = block.create_var(None, t.dtype, t.shape, stem=f"{self.name}.arg", kind=t.kind)
        self.tracer.needs.give(v, need)
        block.params.append(v.name)
        return wrap(self.tracer, leaf, v)

    def _fit_results(self, result: Any, there: Snapshot) -> bool:
        """Widens the pattern of the results by what the body has returned; True if it was wide enough.

        Args:
            there: the containers that the body has not made.
        """
        s = self.signature
        before = s.of_results()
        value, state = result
        if s.results is None:
            s.results = pair(self._alone(value, there), [self._alone(x, there) for x in state])
        else:
            old, olds = s.returned
            first = self.fitter.fit(first_of(s.results), old, value, "retval_")
            s.results = pair(first, self.outer.fit(state_of(s.results), olds, state))
        if s.results != before[0]:
            s.renumber()
        s.returned = result
        self.outer.require_plain(state_of(s.results), state)
        self._declare_results()
        found, params = self._objects(s.results, result), self.params
        assert params is not None
        s.given_back.find_anew()
        s.given_back.take(self.tracer, found, params, self.function.block)
        for i, x in enumerate(found.containers):
            s.shares |= {(i, j) for j in self.tracer.sharing.among(x, params.objects.containers)}
        return before == s.of_results()

    def _declare_results(self) -> None:
        assert self.signature.results is not None
        types = [leaf.type for leaf in variables(self.signature.results)]
        self.function.result_types = [TensorType(t.dtype, dims.from_static(t.shape), t.kind) for t in types]

    def _alone(self, value: Any, there: Snapshot) -> Pattern:
        """The pattern of what one path gives. A container that the body has made is another one in each call."""
        keys, children = split(value)
        alone = self.fitter.alone(value)
        is_plain = isinstance(value, (list, dict, tuple)) or is_dataclass(value) or attributes_of(value) is not None
        if children is None or not is_plain or contents_of(value) in there or any(True for _ in extract(alone, value)):
            return alone
        return Node(node_type(value), keys, tuple(self._alone(x, there) for x in children))

    def _objects(self, p: Pattern, value: Any, leaves: Iterable[Any] | None = None) -> Objects:
        """What there is of a pair that can be one with something else."""
        return Objects(self.outer.objects(p, extract(p, value) if leaves is None else leaves), list(objects_at(p, value)))

    def _promote(self, items: Any, later: Any) -> None:
        """A list that changes its length becomes one of dynamic length, a dict gets keys that it has in some runs only."""
        staged = promote(self.tracer, items, later)
        args, kwargs = self.arguments
        self.arguments = substituted(args, items, staged), {k: substituted(v, items, staged) for k, v in kwargs.items()}

    def _unstaged(self, what: str) -> StructureError:
        return StructureError(
            f"{self.original.__name__!r} calls itself under a condition on tensors and changes what is outside of it: {what}",
            location=self.called_at or self.location, hint="pass what changes as an argument, and return what it becomes",
        )  # fmt: skip

    # ---- its calls ----
    def call(self, arguments: Arguments) -> Any:
        """Appends a `call` op; what the function returns.

        Raises:
            NoResult: nothing is known of that yet.
        """
        tracer, s = self.tracer, self.signature
        location = user_location()
        inside, held = self in tracer.staged, self.outer.values()
        if inside:
            self.called_at = location
            if any(attempt.is_for(RecursionError) for attempt in tracer.tries.active):
                raise refused("(a recursion that is too deep)", location)
            if tracer.tries.active:
                self.tried.append((location, list(tracer.tries.active)))
            there = _containers(self.arguments)
            if grown := [x for frame in tracer.frames for x in frame.promoted.values() if id(x[0]) in there]:
                raise _Widened(self, grown)
            self._require_taken_in()
            values, state = self.values, self.state
            if changed := {id(cell.target) for cell in self.entered.changed()}:
                if not changed <= _containers(arguments):
                    raise self._unstaged("an argument")
                values, state = instantiate(s.params, self._take())  # as they were when the body began
            with tracer.facts.elsewhere():  # what has a value here may have none in another call
                first = self.fitter.fit(first_of(s.params), values, arguments, "arguments")
                params = pair(first, self.outer.fit(state_of(s.params), state, held))
            if params != s.params:
                s.widen(params)
                raise _Widened(self)
            assert self.params is not None
            if s.given.take(tracer, self._objects(s.params, (arguments, held)), self.params, tracer.block):
                raise _Widened(self)
        if s.results is None:
            raise NoResult
        given = list(extract(s.params, (arguments, held)))
        objects = self._objects(s.params, (arguments, held), given)
        wider = tracer.needs.all(variables(s.params), s.param_needs or (), list(map(tracer.needs.of, given)))
        if wider != s.param_needs:
            s.param_needs = wider
            raise _Widened(self)
        inputs = [coerce(tracer, x, leaf, "") for x, leaf in zip(given, variables(s.params), strict=True)]
        outs = tracer.builder().op("call", X=inputs, function=self.function)
        for i, out in enumerate(outs):
            flows = dispatch.is_grad_enabled() or self._passes(i, objects)
            tracer.needs.give(out, s.result_needs[i] if flows else Need.NEVER)
        wrapped: list[Any] = []
        rest = iter(outs)

        def make(leaf: Var) -> Any:
            wrapped.append(wrap(tracer, leaf, next(rest)))
            return wrapped[-1]

        value = instantiate(s.results, make)
        result, state = value
        self.outer.modify(held, state)
        self._share(value, (arguments, held))
        if inside:
            assert self.params is not None
            s.given_back.spoil(tracer, objects, self.params, tracer.block)
            self.inner.append(((arguments, held), value))
        s.given_back.give(tracer, self._objects(s.results, value, wrapped), objects, tracer.block)
        self.outer.become(held, state)
        return result

    def _require_taken_in(self) -> None:
        """A call inside finds outside what the body has changed so far, even if that is put back behind the call: it is state, too."""
        assert self.frame is not None
        frames = self.tracer.frames
        if any(items in self.frame.containers for f in frames[frames.index(self.frame) :] for items, _ in f.promoted.values()):
            return  # the body is traced again with these lists, which are found at its end, as lists of dynamic length
        changes = {key: x for key, x in self.tracer.changes(self.frame).items() if key not in self.outer.cells and key not in self.passed}
        if changes:
            self.passed |= changes.keys()
            raise _Widened(self, changes=changes)

    def _passes(self, i: int, given: Objects) -> bool:
        """Whether a result may be what was there before the call and takes a gradient, so that it does so in `no_grad` too."""
        found = self.signature.given_back.others(i, given)
        return any(not isinstance(x, Tensor) or not x._stops for x in found if shared(x))

    def _share(self, value: Any, arguments: tuple[Arguments, Sequence[Any]]) -> None:
        """What a call returns may be one of its arguments, or have entries in common with one."""
        s = self.signature
        assert s.results is not None
        found = list(objects_at(s.params, arguments))
        for i, (new, old) in enumerate(zip(objects_at(s.results, value), objects_at(s.results, s.returned), strict=True)):
            self.tracer.sharing.returned(new, old, [x for j, x in enumerate(found) if (i, j) in s.shares])


def _containers(arguments: Arguments) -> set[int]:
    """The ids of the containers among, and in, arguments."""
    args, kwargs = arguments
    return {id(c) for c in containers_of(*args, *kwargs.values())}
