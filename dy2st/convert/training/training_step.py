"""A whole training step in a static function: `backward()`, the `.grad` of leaves, and the step of an optimizer.

What a leaf outside has in `.grad` when a call begins is a tensor outside like any other, found in its place at each call; that there is
none is a guard. An argument is only known by what the trace has for it: it must have none, which each call checks.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dy2st_runtime.backward.iterations import Dependence
from dy2st_runtime.dtype import is_float
from dy2st_runtime.errors import Location
from dy2st_runtime.ir import Block, Variable

from ...errors import GradientError, StagedValueError
from ...tensor import Tensor, dispatch
from ...tensor.autograd import no_grad, no_gradient
from ...tensor.location import user_location
from ..effects.cells import TensorCell
from ..effects.gradient_needs import Need
from ..effects.may_alias import is_inside, who
from ..values.maybe_none import MaybeNone
from ..values.original_variables import first_value
from .traced_gradients import found_by, is_absent, may_be_absent, raw_gradients, require_no_hook, state_around

if TYPE_CHECKING:
    from ..trace.tracer import Tracer


class Gradients:
    """The gradients of leaves, as a traced function has them.

    Attributes:
        found: what `.grad` of a leaf is now, by id; None: nothing.
        begun: what leaves outside have as their gradient when a call begins, by id; None: nothing.
        clean: the arguments that must have no gradient then, by id.
        called: whether there was a `backward()`.
        inputs: the arguments and tensors of the outside by which `grad()` differentiates, by id.
        written: the tensors that the step of an optimizer updates in place, by id.
        stepping: whether the ops of such a step are being traced.
    """

    def __init__(self, tracer: Tracer):
        self._tracer = tracer
        self.found: dict[int, tuple[Tensor, Tensor | None]] = {}
        self.begun: dict[int, tuple[Tensor, Tensor | None]] = {}
        self.clean: dict[int, Tensor] = {}
        self.called = False
        self.inputs: dict[int, Tensor] = {}
        self.written: dict[int, Tensor] = {}
        self.stepping = False
        self._freed: list[tuple[set[str], Block]] = []  # what each backward() has freed, and where
        # what code has got for gradients that some runs do not have, each with the gradient and the value that it has
        self._shown: list[tuple[Tensor, MaybeNone, Any]] = []
        self._absent: set[str] = set()  # the gradients that some runs do not have
        # those that branches and loops change, by id, some of which may be absent then; those of which a backward() there has made sure
        self._opened: dict[int, Tensor] = {}
        self._emptied: set[int] = set()
        self._sure: set[str] = set()
        self._wrapped: list[tuple[Tensor, Any]] = []  # what code has got for these, or they were before, each with the value that it has
        self._independences: list[tuple[Block, str, str, str, Location | None]] = []

    # ---- `.grad` ----
    def get(self, t: Tensor) -> Tensor | None:
        """`t.grad`.

        Raises:
            StagedValueError: it is that of an argument, and comes from outside, or that of a tensor that is no leaf.
        """
        g = self._now(t, "read")
        if g is None:
            return None
        if not self._may_be_absent(g):
            if id(g) in self._opened:  # which has other values elsewhere, and what code gets has not
                g = Tensor.wrap(g._value, True)
                self._wrapped.append((g, g._value))
            return g
        for known, maybe, value in self._shown:
            v = maybe.is_none._value
            # not one that was read in another branch, or before a branch has cleared it
            if known is g and value is g._value and isinstance(v, Variable) and self._tracer.can_read(v):
                return maybe
        maybe = MaybeNone.of(g, is_absent(g))
        self._shown.append((g, maybe, g._value))
        return maybe

    def require_modifiable(self, *tensors: Any) -> None:
        """StagedValueError if one of these, which are about to be modified in place, is a gradient that only some runs have, or one that a
        branch has cleared."""
        if any(t is known for known, _ in self._watched() for t in tensors):
            raise self._modified(user_location())

    def require_unchanged(self, location: Location | None) -> None:
        """The same if one of them was modified in another way."""
        if any(t._value is not v for t, v in self._watched()):
            raise self._modified(location)

    def _watched(self) -> list[tuple[Tensor, Any]]:
        return [*((maybe, v) for _, maybe, v in self._shown), *self._wrapped] if self._shown or self._wrapped else []

    def _modified(self, location: Location | None) -> StagedValueError:
        return StagedValueError("a gradient that only some runs have is modified in place", location=location,
                                hint="scale the loss, or let the optimizer clip (grad_clip=...)")  # fmt: skip

    def _may_be_absent(self, g: Tensor) -> bool:
        name = self._tracer.lift(g).name
        return name in self._absent or (id(g) in self._emptied and name not in self._sure)

    def open_names(self) -> Iterable[str]:
        """The variables of the gradients that branches and loops change, which may be absent there."""
        return (g._value.name for g in self._opened.values() if isinstance(g._value, Variable))

    def set(self, t: Tensor, value: Tensor | None) -> None:
        """`t.grad = value`, of which only None is possible.

        Raises:
            StagedValueError: it is a tensor.
        """
        if value is not None:
            raise StagedValueError("the gradient of a tensor can only be cleared in a static function", location=user_location(3),
                                   hint="set it outside of the static function")  # fmt: skip
        if not self._tracer.frames:
            self.found[id(t)] = t, None
        elif (g := self._now(t, "cleared")) is not None:
            self._clear_here(t, g)

    def _clear_here(self, t: Tensor, g: Tensor) -> None:
        """Clears a gradient in a branch or a loop: what stands for it gets no value there, and so has one in some runs behind it."""
        g = self._open(t, g)
        self._emptied.add(id(g))
        self._tracer.assign(g, self._nothing(g._value))

    def _nothing(self, like: Any) -> Variable:
        nothing = self._tracer.builder().op("absent", dtype=like.dtype, shape=list(like.shape))
        nothing.stop_gradient = True
        return nothing

    def _open(self, t: Tensor, g: Tensor | None) -> Tensor:
        """What stands for the gradient of a leaf, in a branch or a loop that changes it: it gets another value there, and what the runs
        have behind it."""
        if g is not None and id(g) in self._opened:
            return g
        tracer = self._tracer
        if g is None:
            like = tracer.lift(t)
            # where the leaf is, so that one of an iteration has nothing of the iteration before
            with tracer.inside(tracer.origin(t).block if isinstance(t._value, Variable) else like.block):
                new = Tensor.wrap(self._nothing(like), True)
        else:
            self._wrapped.append((g, g._value))
            new = Tensor.wrap(tracer.lift(g), True)
        if g is None or self._may_be_absent(g):
            self._emptied.add(id(new))
        self._opened[id(new)] = new
        self.found[id(t)] = t, new
        return new

    def _now(self, t: Tensor, use: str) -> Tensor | None:
        if id(t) in self.found:
            return self.found[id(t)][1]
        if id(t) not in self._tracer.arguments and self._tracer.was_leaf(t):
            return self.begun.setdefault(id(t), (t, t._grad))[1]
        if self._tracer.is_new_leaf(t):
            if id(t) in self._tracer.arguments:
                self.clean[id(t)] = t
            return None
        unknown = id(t) in self._tracer.arguments and not self.called
        if unknown or not self._tracer.is_leaf(t):
            raise StagedValueError(
                f"the gradient of an argument cannot be {use} in a static function: it comes from backward(), outside, and each call has "
                "another" if unknown else "only leaves keep the gradients of a backward() in a static function",
                location=user_location(4), hint="do it outside, or compute gradients in the function with paddle.grad()",
            )  # fmt: skip
        self.clean[id(t)] = t
        return None

    # ---- `grad()` ----
    def note_inputs(self, tensors: Sequence[Tensor]) -> None:
        """`grad()` differentiates by these, or by what is one of them in some runs."""
        tracer = self._tracer
        outside = {*map(id, tracer.placeholders), *(id(t) for t, _ in tracer.captures.values())}
        for t in tensors:
            own = {id(who(t)): who(t), **tracer.aliases.of(t)}
            self.inputs |= {key: x for key, x in own.items() if key in outside}

    def assume_independent(self, block: Block, values: Iterable[str], sources: Iterable[str], what: str) -> None:
        """Gradients have been taken by `sources`, in one iteration of a loop, as if none of `values`, with which it begins, was computed
        from these: which the loop tells when it is complete."""
        at = user_location(4)
        self._independences += ((block, value, source, what, at) for source in sources for value in values if value != source)

    def require_independent(self) -> None:
        """StagedValueError if such a value is computed from such a source, in an earlier iteration."""
        dependence = Dependence(self._tracer.program) if self._independences else None
        for block, value, source, what, location in self._independences:
            if dependence is not None and dependence.may_depend(block, value, source):
                raise StagedValueError(
                    f"{what} in a loop that depends on a tensor: the gradient flows on into an earlier iteration", location=location,
                    hint="compute what is differentiated within one iteration, of values that are cut off there: h = h.detach()",
                )  # fmt: skip

    # ---- `backward()` ----
    def backward(self, tensors: Sequence[Tensor], grads: Sequence[Tensor | None], retain_graph: bool) -> None:
        """Adds the gradients to the leaves'.

        Raises:
            StagedValueError: in a loop that depends on a tensor, what is differentiated was computed before it; a leaf has a hook, or the
                gradient flows on into what was computed outside of the function.
            GradientError: no gradient flows to a tensor, the graph was freed, or what a gradient needs has been updated before.
        """
        tracer = self._tracer
        self.require_unchanged(user_location(3))
        names = {tracer.lift(t).name for t in tensors}
        self._require_graph(names)
        if not retain_graph:
            self._require_of_the_iteration(tensors)
            self._freed.append((names, tracer.block))
        ways, away = self.ways()
        leaves, computed = [t for t, _ in ways], [t for t, _ in away]
        require_no_hook(leaves, "backward()")
        wrt = [v for _, v in (*ways, *away)]
        found = raw_gradients(tracer, tensors, wrt, grads, (), "backward()")
        earlier = self._before_loops(ways)
        if earlier and any(found_by(tracer, tensors, earlier, grads, [v.name for v in wrt], "backward()")):
            raise StagedValueError(
                "backward() in a loop that modifies a leaf: the gradient flows on to that as it was before the loop",
                location=user_location(3), hint="compute what is differentiated within the iteration",
            )  # fmt: skip
        for t in tensors:
            if tracer.needs.of(t) is Need.SOMETIMES:
                self.require_way(t, "backward()", found if len(tensors) == 1 else None)
        for t, v in zip(computed, found[len(leaves):], strict=True):
            if v is not None:
                known_as = next((v.name for p, v in zip(tracer.placeholders, tracer.inputs, strict=True) if p is t), None)
                what = "a tensor of the outside" if known_as is None else f"the argument {known_as!r}"
                raise StagedValueError(
                    f"the gradient flows on from {what} (a {tracer.lift(t).type}) into what has been computed outside of the function",
                    location=user_location(3), hint="compute that in the function too, call backward() outside, or give x.detach()",
                )  # fmt: skip
        del found[len(leaves):]
        self.called = True
        self._absent |= {v.name for v in found if v is not None} & may_be_absent(tracer)
        for leaf, v in zip(leaves, found, strict=True):
            if v is None:
                continue
            v.stop_gradient = True
            before, new = self._now(leaf, "read"), Tensor.wrap(v, True)
            if before is not None:
                with no_grad():
                    new = self._sum(before, new)
            if not tracer.frames:
                self.found[id(leaf)] = leaf, new
                continue
            if not self._may_be_absent(new):
                self._sure.add(tracer.lift(new).name)
            tracer.assign(self._open(leaf, before), tracer.lift(new))

    def _require_graph(self, names: Collection[str]) -> None:
        """GradientError if a backward() that the run has come by has freed the graph of one of these; StagedValueError if it may have."""
        for freed, block in self._freed:
            if not freed.isdisjoint(names):
                hint = "pass retain_graph=True to all but the last call of backward() or grad()"
                if self._tracer.is_around(block):
                    raise GradientError("the graph was freed by an earlier backward()", hint=hint).at(user_location(4))
                inner = block
                while inner.parent is not None and not self._tracer.is_around(inner.parent):
                    inner = inner.parent
                if inner.parent is not None and any(inner in op.blocks for op in inner.parent.ops):  # else it is another path
                    raise StagedValueError("the graph was freed by an earlier backward() in some runs", location=user_location(4),
                                           hint=hint)  # fmt: skip

    def _require_of_the_iteration(self, tensors: Sequence[Tensor]) -> None:
        """StagedValueError for a graph that is outside of a loop: the first iteration would free it."""
        for loop in self._tracer.loops:
            if not all(is_inside(self._tracer.lift(t).block, loop.body_block) for t in tensors):
                raise StagedValueError(
                    "backward() in a loop of what is computed before the loop: the first iteration frees the graph",
                    location=user_location(4), hint="compute it in the loop, or pass retain_graph=True",
                )  # fmt: skip

    def ways(self) -> tuple[list[tuple[Tensor, Variable]], list[tuple[Tensor, Variable]]]:
        """Where gradients go to: the leaves, and what has been computed outside, each with the variable that they go to. What was modified
        in place counts as it was when the call began, or was made; a leaf outside at which gradients stop by now gets those of what was
        computed before."""
        tracer = self._tracer
        fed = [*zip(tracer.placeholders, tracer.inputs, strict=True)]
        given = [*((c[0], tracer.freed.get(key, c)[1]) for key, c in tracer.captures.items()), *fed]
        if tracer.frames:  # one that a loop modifies is what it is in the iteration
            given = [(t, self._in_iteration(t) or v) for t, v in given]
        outside = [(t, v) for t, v in given if not v.stop_gradient and is_float(v.dtype)]
        here = [t for t in tracer.leaves_made if isinstance(t._value, Variable) and tracer.can_read(t._value) and tracer.is_new_leaf(t)]
        made = [(t, first_value(tracer.lift(t))) for t in here]
        ways = [*(way for way in outside if tracer.takes_gradients(way[0])), *made]
        return ways, [way for way in outside if not tracer.takes_gradients(way[0])]

    def _in_iteration(self, t: Tensor) -> Variable | None:
        """The variable of a tensor outside in the iteration of a loop that modifies it; None for another one."""
        v = t._value
        first = first_value(v) if isinstance(v, Variable) and self._tracer.can_read(v) else None
        return None if first is None or first.block is self._tracer.program.global_block() else first

    def _before_loops(self, ways: Sequence[tuple[Tensor, Variable]]) -> list[Variable]:
        """What the leaves that loops modify were before."""
        changed = [TensorCell(t).key for t, v in ways if self._in_iteration(t) is v]
        return [first_value(frame.tensors[key][1]) for frame in self._tracer.frames for key in changed if key in frame.tensors]

    def require_way(self, t: Tensor, what: str, found: Iterable[Variable | None] | None = None) -> None:
        """GradientError, as eagerly, in the runs in which no gradient flows to a tensor that is differentiated: those of all that it may
        depend on, which are `found`, are absent."""
        state = state_around(self._tracer)
        if found is None or state:
            wrt = [v for part in self.ways() for _, v in part]
            found = found_by(self._tracer, [t], [*state, *wrt], [None], (), what)
        if any(g is not None and self._tracer.needs.of_variable(v) is Need.SOMETIMES for v, g in zip(state, found, strict=False)):
            raise StagedValueError(
                f"whether a gradient flows to what {what} differentiates depends on the iteration, so that only the run knows",
                location=user_location(3), hint="begin the iteration with w = w.detach(); w.stop_gradient = False",
            )  # fmt: skip
        ways = [v for v in found if v is not None]
        absent = may_be_absent(self._tracer)
        if all(v.name in absent for v in ways):
            text = no_gradient(t, "the tensor to differentiate").message
            self._tracer.require_not_none(is_absent(*(Tensor.wrap(v, True) for v in ways)), text, GradientError)

    def _sum(self, before: Tensor, new: Tensor) -> Tensor:
        """What a leaf with a gradient has when it gets another one. Where one of the two is absent, it is the other one."""
        total = dispatch.ops.op("sum", X=[before, new])
        if self._may_be_absent(before) and self._may_be_absent(new):
            self._absent.add(self._tracer.lift(total).name)
        return total

    # ---- the step of an optimizer ----
    def pairs(self, params: Sequence[Tensor]) -> list[tuple[Tensor, Tensor]]:
        """The parameters that have a gradient, at least in some runs, with it."""
        self.require_unchanged(user_location(3))
        found = [(p, self._now(p, "used")) for p in params if not p._stops]
        return [(p, g) for p, g in found if g is not None]

    @contextlib.contextmanager
    def step(self, state: Sequence[dict], required: Sequence[Tensor], settings: Iterable[tuple[Any, Sequence[str]]]) -> Iterator[None]:
        """Within this `with` the ops of a step are traced; see `Recorder.step`.

        Raises:
            StagedValueError: a condition on tensors decides whether the step is made, or whether a gradient is there that must be.
        """
        tracer = self._tracer
        if tracer.staged:
            raise StagedValueError("the step of an optimizer in a function that calls itself", location=user_location(3),
                                   hint="make it before or after, or outside of the static function")  # fmt: skip
        if any(self._may_be_absent(g) for g in required):
            raise StagedValueError("only the run knows whether there is a gradient, and this optimizer does more than nothing without one",
                                   location=user_location(3), hint="make the step outside of the static function, or use Adam")  # fmt: skip
        for owner, names in settings:
            for name in names:
                tracer.ask(owner, name)
        self.stepping = True
        try:
            yield
        finally:
            self.stepping = False
            for tensors in state:
                for snapshot in (tracer.root, *(frame.containers for frame in tracer.frames)):
                    snapshot.renew(tensors)
                tracer.state_made.note_accumulators(tensors)

    def note_written(self, t: Tensor) -> None:
        """An update op writes to a tensor, whose variable keeps its name."""
        self.written[id(t)] = t
        self._tracer.aliases.mutated(t, self._tracer.block)
