"""`ConcreteProgram`: one trace of a function, with all that is needed to call it."""

from __future__ import annotations

import functools
import time
import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dy2st_runtime import forks, nonfinite
from dy2st_runtime.backward import append_backward
from dy2st_runtime.backward.activity import mark_active
from dy2st_runtime.executor import make_executable
from dy2st_runtime.ir import IRBuilder, Program, Variable, clone_program
from dy2st_runtime.ir.visit import all_ops

from ..convert.effects.cells import Cell
from ..convert.effects.region_frames import Note
from ..convert.guards.places import Place
from ..convert.purity.python_random import Drawn
from ..convert.regions.recording import Squeezes
from ..convert.trace.exception_objects import Again
from ..errors import Dy2stError, Location, StructureError
from ..tensor import Tensor
from ..tensor.random import STATE_NAME
from .captures import Captured, Captures
from .guards import Guards
from .outside import Outside
from .pace import Pace
from .recipes import (
    Argument,
    Attributed,
    Constant,
    Fetched,
    Found,
    Given,
    Held,
    Identified,
    Leaf,
    Rebuilt,
    Recipe,
    Twin,
    outside,
)
from .shells import Untouched
from .siblings import computed_from_others
from .signature import Arguments, Key
from .steps.joined import can_be_joined
from .steps.learning import Steps


@dataclass(frozen=True)
class ArgumentCell:
    """A container among the arguments that the function changes: how to get to it, and what changes in it."""

    path: tuple[Any, ...]
    cell: Callable[[Any], Cell]


@dataclass
class Effects:
    """What a call changes besides computing its result; done once, if it succeeds.

    Attributes:
        arguments: position of a fed tensor that is modified → position of the fetch with its value.
        captures: captured tensors that are modified, likewise.
        cells: attributes, items and lists, with what they become.
        written: captured tensors that the run itself updates, as the step of an optimizer does.
        gradients: what gets a `.grad` (a tensor, or the position of one that is fed) → position of the fetch with it; None: it is cleared.
        flags: captured tensors whose `stop_gradient` is set, and is another one after the call, with that.
        freed: those at which gradients stop as the call begins, and do not behind a use of them.
        clean: the positions of what is fed that must have no `.grad` when a call begins.
        graded: the tensors outside of which the call asks for the `.grad` that they have when it begins.
        trains: whether `backward()` is called, or an optimizer makes a step.
        differentiated: by what `grad()` differentiates; it must have no hook.
    """

    arguments: list[tuple[int, int]] = field(default_factory=list)
    captures: list[tuple[Tensor, int]] = field(default_factory=list)
    cells: list[tuple[Cell | ArgumentCell, Recipe]] = field(default_factory=list)
    written: list[Tensor] = field(default_factory=list)
    gradients: list[tuple[Tensor | int, int | None]] = field(default_factory=list)
    flags: list[tuple[Tensor, bool]] = field(default_factory=list)
    freed: list[Tensor] = field(default_factory=list)
    clean: list[int] = field(default_factory=list)
    graded: list[Tensor] = field(default_factory=list)
    trains: bool = False
    differentiated: list[Tensor | int] = field(default_factory=list)

    @property
    def writes_tensors(self) -> bool:
        """Whether it changes tensors of the outside, their gradients or flags."""
        return bool(self.captures or self.written or self.gradients or self.clean or self.flags)


def can_be_fed(value: Any) -> bool:
    """Whether a value is a number that a Program can hold: a float, or an int of 64 bits."""
    return type(value) is float or (type(value) is int and -(2**63) <= value < 2**63)


def value_at(holder: Any, entry: Any) -> Any:
    """What a dict, a list or a variable outside has there; None if nothing."""
    if type(holder) is list:
        return holder[entry] if entry < len(holder) else None
    return dict.get(holder, entry) if isinstance(holder, dict) else holder.get(entry)


@dataclass(frozen=True)
class Number:
    """A Python number among the attributes, or in a list or dict outside, that is an input."""

    holder: Any
    entry: Any
    variable: Variable

    def fits(self) -> bool:
        """Whether it still is a number of that kind."""
        now = value_at(self.holder, self.entry)
        return type(now) is (int if self.variable.dtype == "int64" else float) and can_be_fed(now)


class ConcreteProgram:
    """One trace.

    Attributes:
        program: the forward program; `main_program` is another name of it.
        inputs: its data variables; `shapes` are what they were traced with, `names` what they were to be called.
        sizes: shapes of arguments that were found to fit.
        captured: the tensors of the outside that it reads.
        fetches: names of the variables that a call computes.
        recipe: what the function's result is made of.
        effects: what a call changes.
        guards: what must hold for this trace to serve a call.
        outside: looks at these and at the captured tensors.
        notes: decisions, for `explain()`.
        numbers: Python numbers that are fed too; drawn: those that each call draws.
        leaves: for fed tensors that are modified in place, by position, whether they are leaves that want a gradient.
        raised: the exceptions of the user's classes that the program raises, by their numbers.
        fixed: the error of the trace with open sizes, for which this one has fixed ones.
        squeezes: what `squeeze` took for granted.
        pace: times its calls, as long as it is not known whether eager mode would be faster.
        tied: groups of tensors that outlive the call, of which the first is one of the others or is not, as only a run knows.
        compared: where tensors are that are not captured, but told from the captured ones and from each other.
        distinct: where those are of which the trace has read no values, which are none of those that it writes.
        told: arguments that were told from objects outside: the way to the argument, the place of the other one if it has one, the other
            one as it was, and whether the two are one.
        functions: those that it has made, and each call gives.
        missing: attributes that fed tensors were asked for and have not, with their positions; `__class__`: that must be of no subclass.
        state_made: the name of a parameter, buffer or optimizer that the function makes: eager mode makes another one at each call, so the
            trace serves one only.
        leaves_made: the names of the variables of leaves that the function has made.
        compares, compares_arguments: whether tensors outside are told from each other, and from arguments.
    """

    def __init__(self, name: str, key: Key | None, program: Program, inputs: list[Variable], captured: Sequence[Captured],
                 fetches: list[str], recipe: Recipe, effects: Effects, guards: Guards, notes: list[Note],
                 numbers: Sequence[Number] = (), leaves: dict[int, bool] | None = None, raised: Sequence[Again] = (),
                 tied: Sequence[list[Twin]] = ()) -> None:  # fmt: skip
        self.name, self.key, self.program, self.inputs, self.captured = name, key, program, inputs, Captures(captured)
        self.fetches, self.recipe, self.effects, self.guards, self.notes = fetches, recipe, effects, guards, notes
        self.numbers = list(numbers)
        self.drawn: list[Drawn] = []
        self.leaves = leaves or {}
        self.raised = raised
        self.tied = list(tied)
        self.compared: list[Place] = []
        self.distinct: list[Place] = []
        self.told: list[tuple[tuple, Place | None, Any, bool]] = []
        self.compares = self.compares_arguments = False
        self.state_made = ""
        self.leaves_made: set[str] = set()
        self.outside = Outside()
        self.shapes = [v.shape for v in inputs]
        self.sizes: list[tuple[int, ...]] = []
        self.names: list[str] = []
        self.functions: list[Untouched] = []
        self.missing: list[tuple[int, str]] = []
        self.containers_outside = {id(g.holder) for g in guards} | {id(c.target) for c, _ in effects.cells if isinstance(c, Cell)}
        self.reason = ""
        self.fixed: Dy2stError | None = None
        self.squeezes = Squeezes()
        self.pace: Pace | None = None
        self._lock = forks.reentrant_lock()
        self.called_at = 0  # how many traces there had been when it was called last
        self._forward: Any = None
        self._training: dict[bool, Training] = {}  # by whether ops are looked at
        self._active: list[bool] | None = None

    @property
    def main_program(self) -> Program:
        return self.program

    @property
    def parameters(self) -> list[Tensor]:
        """The captured tensors."""
        return [c.tensor for c in self.captured]

    @functools.cached_property
    def results(self) -> list[tuple[tuple, Leaf]]:
        """The tensors of the function's result, in order, with the ways to them; one that is returned twice is there twice."""
        found: list[tuple[tuple, Leaf]] = []

        def walk(r: Recipe, path: tuple) -> None:
            if isinstance(r, (Fetched, Argument)) or (isinstance(r, (Constant, Found)) and outside(r) is not None):
                found.append((path, r))
            elif isinstance(r, Rebuilt) and r.kind is Attributed:
                walk(r.children[0], path)
            elif isinstance(r, Rebuilt):
                for i, child in enumerate(r.children):
                    walk(child, (*path, r.keys[i] if len(r.keys) == len(r.children) else i))
            elif isinstance(r, (Given, Held, Found)):
                walk(r.contents, path)
            elif isinstance(r, Identified):
                walk(r.value, path)

        walk(self.recipe, ())
        return found

    @property
    def outputs(self) -> list[Variable | Tensor]:
        """The variables of these tensors, with their values after the call; of a tensor outside that the program does not read, the
        tensor."""
        return [self._output(r) for _, r in self.results]

    def _output(self, r: Leaf) -> Variable | Tensor:
        effects, read = self.effects, {id(c.tensor): c.variable for c in self.captured}
        if isinstance(r, Fetched):
            position = r.position
        elif isinstance(r, Argument):
            position = dict(effects.arguments).get(r.position, -1)
            if position < 0:
                return self.inputs[r.position]
        else:
            traced, now = outside(r)  # type: ignore[misc]  # or it were no leaf
            position = {id(t): p for t, p in effects.captures}.get(id(traced), -1)
            if position < 0:
                return read.get(id(traced), now)
        return self.program.global_block().var(self.fetches[position])

    @functools.cached_property
    def mark(self) -> weakref.ref[ConcreteProgram]:
        """What its results have of it."""
        return weakref.ref(self)

    @functools.cached_property
    def label(self) -> str:
        """What errors of gradients call it."""
        return f"the static function {self.name!r}"

    @functools.cached_property
    def positions(self) -> dict[int, int]:
        """Where each captured tensor stands among them, by the id of the one that was traced."""
        return {id(c.tensor): i for i, c in enumerate(self.captured)}

    @functools.cached_property
    def written(self) -> list[tuple[int, str]]:
        """The captured tensors that an optimizer step writes to: their positions, and the names of their variables."""
        return [(i, self.captured[i].variable.name) for i in (self.positions[id(t)] for t in self.effects.written)]

    @functools.cached_property
    def follows(self) -> bool:
        """Whether a call does something with captured tensors themselves, besides reading them."""
        e = self.effects
        return bool(e.writes_tensors or self.tied)

    @functools.cached_property
    def changes(self) -> bool:
        """Whether a call does more than compute its result, or tells its arguments from what is outside."""
        e = self.effects
        return bool(self.follows or e.arguments or e.cells or e.differentiated or self.compares_arguments)

    @functools.cached_property
    def only_computes(self) -> bool:
        """Whether a call without gradients does nothing but compute its result from the arguments and the captured tensors as they are."""
        return not (self.changes or self.effects.trains or self.functions or self.missing or self.numbers or self.drawn or self.draws
                    or self.raised)  # fmt: skip

    @functools.cached_property
    def only_changes_buffers(self) -> bool:
        """Whether a call changes nothing outside, but gives captured tensors other values."""
        e = self.effects
        of_tensors = e.arguments or e.written or e.gradients or e.clean or e.flags or e.freed
        more = of_tensors or e.cells or e.graded or e.differentiated or e.trains or self.tied or self.compares_arguments
        return not more and all(type(t) is Tensor and t._stop for t, _ in e.captures)

    @functools.cached_property
    def steps(self) -> Steps | None:
        """What is known of the training loop that calls it; None: its calls can only run at once."""
        return Steps() if can_be_joined(self) else None

    @functools.cached_property
    def counts_on(self) -> bool:
        """Whether its numbers may become what no Program holds: a float where others are ints (`10 ** -n`), or an int beyond 64 bits. What
        is added to them does not count."""
        ops = (op for root in self.program.roots for op in all_ops(root)) if self.numbers else ()
        return any(op.attrs.get("checked") and op.type not in ("elementwise_add", "elementwise_sub") for op in ops)

    @functools.cached_property
    def input_names(self) -> list[str]:
        """The names of the inputs."""
        return [v.name for v in self.inputs]

    def are_one(self, captured: Sequence[Any]) -> bool:
        """Whether two tensors of the outside that the trace has taken for two, where that matters, are one now.

        Args:
            captured: what the captured ones are now.
        """
        if not (self.compares or self.follows):
            return False
        told = self.distinguished
        objects = {*map(id, captured), *(id(place.now()) for place in told)}
        return len(objects) < len(captured) + len(told)

    def are_as_told(self, arguments: Arguments) -> bool:
        """Whether the arguments are the objects outside that they were while tracing, and no others, as far as that was asked."""
        return all((arguments.at(path) is (x if place is None else place.now())) is same for path, place, x, same in self.told)

    @functools.cached_property
    def distinguished(self) -> list[Place]:
        """Where tensors are that are not captured, and none of those that are, nor each other."""
        return [*self.compared, *self.distinct]

    @functools.cached_property
    def flagged(self) -> list[int]:
        """The positions of the fetches that are no floats, and to which the function gives stop_gradient=False.

        No gradient comes there, but the flag can be asked for."""
        fetched = map(self.program.global_block().var, self.fetches)
        return [i for i, v in enumerate(fetched) if not (v.stop_gradient or v.dtype.startswith("float"))]

    @functools.cached_property
    def freed(self) -> list[bool]:
        """For each fetch, whether it has a graph that is freed, as `backward()` was called in it."""
        block = self.program.global_block()
        names = {*(v.name for v in self.wrt()), *self.leaves_made}
        mark_active(block.ops, block, names, frozenset())
        return [name in names and not block.var(name).stop_gradient for name in self.fetches]

    @functools.cached_property
    def siblings(self) -> list[set[int]]:
        """For each fetch, those that are computed from it."""
        return computed_from_others(self.program, self.fetches)

    @functools.cached_property
    def draws(self) -> bool:
        """Whether it reads the state of the random generator."""
        return any(c.variable.name == STATE_NAME for c in self.captured)

    @functools.cached_property
    def sources(self) -> list[int]:
        """The positions of `wrt` among the inputs and the captured tensors behind these."""
        wanted = {v.name for v in self.wrt()}
        return [i for i, v in enumerate([*self.inputs, *(c.variable for c in self.captured)]) if v.name in wanted]

    @functools.cached_property
    def trained(self) -> list[int]:
        """Which of the captured tensors `backward()` has given a gradient, or taken it from, by position."""
        return [self.positions[id(t)] for t, _ in self.effects.gradients if isinstance(t, Tensor) and id(t) in self.positions]

    @functools.cached_property
    def trained_inputs(self) -> list[int]:
        """The same of the inputs."""
        return [t for t, _ in self.effects.gradients if isinstance(t, int)]

    @functools.cached_property
    def records(self) -> bool:
        """Whether a call may record gradients whatever its caller does: what the function says counts."""
        return self.key is not None and self.key.may_record

    @functools.cached_property
    def differentiable(self) -> bool:
        """Whether gradients can flow through a call."""
        return any(self.active())

    def active(self) -> list[bool]:
        """For each fetch, whether a gradient can flow through it to an input or a captured tensor that wants one."""
        with self._lock:
            if self._active is None:
                block = self.program.global_block()
                names = {v.name for v in self.wrt()}
                mark_active(block.ops, block, names, frozenset())
                self._active = [name in names for name in self.fetches]
            return self._active

    def require_no_new_leaf(self, leaves: Mapping[str, Location | None], outside: Collection[str]) -> None:
        """StructureError if the gradient of a result would go to leaves that the call makes only: eagerly it goes there, and
        here nowhere. Those are given by the names of their variables; some of them are of tensors outside."""
        if not leaves or self.effects.trains:  # whose results have a graph that is freed
            return
        block, given = self.program.global_block(), {*(v.name for v in self.inputs), *outside}
        for leaf, location in leaves.items():
            names = {leaf}
            mark_active(block.ops, block, names, frozenset())
            # that of a tensor which the caller has as one without gradients would go nowhere in any case
            if any(name in names and (leaf in given or not a) for name, a in zip(self.fetches, self.active(), strict=True)):
                raise StructureError(
                    "a result, or what the call changes, depends on a tensor that the function gives stop_gradient=False, and its gradient "
                    "would go there",
                    location=location, hint="make that tensor outside of the static function, and pass it; or return y.detach()",
                )  # fmt: skip

    @property
    def executables(self) -> dict[str, Any]:
        """What was made so far to run it, by the part of the program: `forward`, `forward and backward`."""
        with self._lock:
            training = self._training.get(False)
            steps = self.__dict__.get("steps")  # if somebody has asked for it
            joined = steps and steps.joined and steps.joined.executable
            found = {"forward": self._forward, "forward and backward": training and training.executable, "steps of the loop": joined}
            return {name: made for name, made in found.items() if made is not None}

    def feeds(self) -> list[str]:
        """The names of what is fed."""
        more = [n.variable for n in self.numbers] + [d.variable for d in self.drawn]
        return [v.name for v in (*self.inputs, *more)]

    def wrt(self) -> list[Variable]:
        """The inputs and captured tensors that gradients are computed for."""
        found = [*self.inputs, *(c.variable for c in self.captured)]
        return [v for v in found if not v.stop_gradient and v.dtype.startswith("float")]

    def forward(self) -> Any:
        """What runs the forward program."""
        if nonfinite.watching:
            return make_executable(self.program, self.feeds(), self.fetches)
        if self._forward is None:
            with self._lock:
                if self._forward is None:
                    self._forward = make_executable(self.program, self.feeds(), self.fetches)
        return self._forward

    def training(self) -> Training:
        """The program of a training step."""
        with self._lock:
            watched = nonfinite.watching
            if self._training.get(watched) is None:
                self._training[watched] = Training(self)
            return self._training[watched]


class Training:
    """Forward and backward in one program: it is suspended between the two, so nothing is copied or computed twice.

    Attributes:
        out_grads: for each active fetch the name of the feed of its gradient.
        grads: for each of `wrt` the name of its gradient; None where none flows.
        seconds: that it took to compile.
    """

    def __init__(self, concrete: ConcreteProgram):
        start = time.perf_counter()
        self.program = clone_program(concrete.program)
        block = self.program.global_block()
        IRBuilder(block).op("suspend")
        targets = [block.var(n) for n, a in zip(concrete.fetches, concrete.active(), strict=True) if a]
        seeds = []
        for v in targets:
            seed = block.create_var(
                self.program.fresh_name(f"{v.name}@SEED"), v.dtype, v.shape, kind=v.kind, is_data=True
            )
            seed.stop_gradient = True
            seeds.append(seed)
        self.out_grads = [v.name for v in seeds]
        # a result that the caller does not use has no gradient; one of the active ones he does, or nothing asks for gradients
        may_be_absent = self.out_grads if len(seeds) > 1 else []
        self.program.absent_feeds.update(may_be_absent)
        # what passes know of the sizes of a result holds for its gradient too
        b = IRBuilder(block)
        known = [s if s.kind == "array" else b.op("same_shape", X=s, Like=v, what="a result and its gradient")
                 for s, v in zip(seeds, targets, strict=True)]  # fmt: skip
        found = append_backward(self.program, targets, [block.var(v.name) for v in concrete.wrt()], known)
        self.targets = [v.name for v in targets]
        self.grads = [None if v is None else v.name for v in found]
        fetches = list(dict.fromkeys([*concrete.fetches, *(g for g in self.grads if g is not None)]))
        feeds = [*concrete.feeds(), *self.out_grads]
        self.executable = make_executable(self.program, feeds, fetches, absent_feeds=may_be_absent)
        self.seconds = time.perf_counter() - start
