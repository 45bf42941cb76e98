"""`while` loops: Python as long as the condition is a Python value, `while_loop` from where it is a tensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from dy2st_runtime.ir import Block, Variable
from dy2st_runtime.ir.growth import GROWN, relation

from ...errors import StructureError, UndefinedError
from ...tensor import Tensor, dispatch
from ...tensor.location import user_location
from ..alias.points_to import INITIAL, objects_at
from ..effects.cells import Cell, EntryCell, OrderCell, TensorCell
from ..effects.gradient_needs import Need
from ..effects.may_alias import Carried, who
from ..guards.activations import UNROLLED, NoResult, NotYet
from ..hub import current_tracer
from ..pyfacts.undefined import Undefined, quiet
from ..regions.carried_cells import new_cells
from ..regions.list_promotion import current, grown, promote, substituted
from ..regions.phi_leaves import Const, Pattern, Var, coerce, extract, has_structure, replaced, variables, wrap
from ..trace.raised import MayRaise
from ..trace.raising import require_exception
from ..values.join_types import same, same_value
from ..values.staged_list import StagedList
from .if_stmt import State, if_stmt, truth
from .join import Fitter, place
from .loop_cache import (
    TRIALS,
    LoopTypes,
    alike,
    is_least,
    keeps_length,
    kinds_of,
    widened_by_new_functions,
    widening_error,
)
from .raising_loops import Raises, end_by_raising

if TYPE_CHECKING:
    from ..trace.tracer import Tracer

TEST = "the test"
"""What errors call the variable that holds the result of a test which changes variables too."""


def while_stmt(test_fn: Callable[[], Any], body: Callable[[], None], get_state: State, set_state: Callable[[tuple], None],
               names: tuple[str, ...]) -> None:  # fmt: skip
    """`while test_fn(): body()`, where the body (and the test) change the variables `names`; see `if_stmt`."""
    raising = 0
    while True:
        tracer = current_tracer()
        if tracer is None:
            if not truth(test_fn()):
                return
        else:
            decided = probe(tracer, test_fn, get_state, set_state)
            # one that only ends by what the run may raise would be unrolled without end
            if isinstance(decided, Tensor) or raising > UNROLLED:
                tracer.note("while", "staged: its condition depends on a tensor" if isinstance(decided, Tensor) else "staged: it may raise")
                Loop(tracer, test_fn, body, get_state, set_state, names).stage()
                return
            tracer.note("while", "run while tracing: its condition is a Python value")
            if not truth(test_fn()):
                return
        before = None if tracer is None else tracer.tries.opened
        body()
        raising += before is not None and tracer is not None and tracer.tries.opened > before


def probe(tracer: Tracer, test_fn: Callable[[], Any], get_state: State, set_state: Callable[[tuple], None]) -> Any:
    """The truth of a test that is evaluated without leaving a trace."""
    before = get_state()
    tracer.watch(*before)
    tracer.watch_locals()
    try:
        return tracer.run_in(tracer.sub_block(), lambda: tracer.tries.tried(lambda: truth(test_fn()))).result
    except MayRaise:
        return dispatch.constant(True)
    finally:
        quiet(set_state)(current(tracer, before))


@dataclass
class Slot:
    """A variable or cell of a loop: its initial value, and what it has to be at the start of each iteration."""

    name: str
    initial: Any
    pattern: Pattern


def _unchanged(before: Any, after: Any) -> bool:
    """Whether the value of a cell is surely the same; contents are a new list or tuple at each reading, and so are tensors."""
    if type(before) is type(after) and isinstance(before, (list, tuple)):
        return len(before) == len(after) and all(map(same, before, after))
    return same_value(before, after)


class _Survived(Exception):
    """An iteration that was thought to raise has come to its end."""


class Loop:
    """One staged loop. The body is traced until it is known which of its variables vary and of what type they are; each
    trace but the last is thrown away."""

    def __init__(self, tracer: Tracer, test_fn: Callable[[], Any], body: Callable[[], None], get_state: State,
                 set_state: Callable[[tuple], None], names: tuple[str, ...]) -> None:  # fmt: skip
        self.tracer, self.test_fn, self.body = tracer, test_fn, body
        self.get_state, self.set_state, self.names = get_state, quiet(set_state), names
        self.location = user_location()
        self.early: list[UndefinedError] = []  # what paths of an iteration were left out for, as nothing was known of a variable yet
        self.ended = False  # by what the run may raise, which its body hands on
        self.stopped = dict(tracer.stops.now)
        values = get_state()
        tracer.watch(*values)
        tracer.watch_locals()
        self.outside = set(tracer.watched)
        self.fitter = Fitter(
            tracer, f"the loop{place(self.location)} may not run", ("entering the loop", "the next iteration"), self.outside
        )
        self._begin(values)

    def _begin(self, values: Sequence[Any]) -> None:
        """Nothing is known of the variables yet but the values that they have before the loop."""
        self.slots = [Slot(name, v, Const(v)) for name, v in zip(self.names, values, strict=True)]
        self.cells: dict[tuple, Cell] = {}
        self.named: dict[tuple, Cell] = {}
        self.raised: Exception | None = None
        self.carried = Carried(self.tracer.aliases)
        self.last: list[list[Any]] = []
        self.promotes = self.least = False

    def stage(self) -> None:
        """Appends the `while_loop` op, and gives variables and cells their values after the loop."""
        try:
            if not self._as_before():
                self._settle()
        except Raises as found:
            self.leave()
            if self.ended:
                raise
            end_by_raising(self, found)
            return
        except NoResult as nothing:
            self.leave()
            if isinstance(nothing, NotYet) or any(f.skips_loops and f.signature.results is None for f in self.tracer.staged):
                return  # what an iteration yields is not known yet; that there may be none is
            raise
        except BaseException as error:
            self.leave()
            if error is self.raised and self.tracer.tries.place(error) is not None and self._raises_at_once():
                return
            raise
        self.leave()
        if self._rotated:
            self._rotate()
        else:
            self._emit()

    def _settle(self) -> None:
        """Traces the loop until what is assumed of its variables holds."""
        anew = 0
        assumed: list[Pattern] = []
        for _ in range(TRIALS):
            assumed = [slot.pattern for slot in self.slots]
            if self._trial():
                break
            # once may be chance: what else varies is wider too after the first trials
            anew = anew + 1 if widened_by_new_functions(assumed, [slot.pattern for slot in self.slots], self.body) else 0
            if anew == 2:
                raise self._widening_error(assumed)
        else:
            raise self._widening_error(assumed)
        if not self._rotated and not self.promotes:
            before = kinds_of(slot.initial for slot in self.slots[: len(self.names)])
            patterns = [slot.pattern for slot in self.slots]
            self.tracer.loop_types[self.location, self.names] = LoopTypes(before, patterns, dict(self.cells), dict(self.named), self.needs)

    def _widening_error(self, assumed: Sequence[Pattern]) -> StructureError:
        """The error of a loop whose variables are wider after each trial; `assumed` is what the last one began with."""
        wider = [slot for i, slot in enumerate(self.slots) if i >= len(assumed) or not alike(assumed[i], slot.pattern)]
        # else it is the entries of a list, which is the same one
        return widening_error({slot.name: slot.pattern for slot in wider or self.slots}, self.tracer.objects.values, self.location)

    def _as_before(self) -> bool:
        """Traces the loop once, with what the same loop came to when it was traced before; False if it has to be traced again: all over,
        if it is another, or from there on, if its variables are right but not yet which of them may be one object."""
        known = self.tracer.loop_types.pop((self.location, self.names), None)
        values = [slot.initial for slot in self.slots]
        if known is None or known.kinds != kinds_of(values):
            return False
        self.cells, self.named = dict(known.cells), dict(known.named)
        self.slots += [Slot(cell.name, found := cell.read(), Const(found)) for cell in self.cells.values()]
        for slot, pattern in zip(self.slots, known.patterns, strict=True):
            if not isinstance(pattern, Const):
                slot.pattern = pattern
        if not all(has_structure(slot.pattern, slot.initial) for slot in self.slots):  # a list of another length, say
            self._begin(values)
            return False
        self.needs = self._either(known.needs, self._needs_before())
        try:
            holds = self._trial(guess=True)
        except (Exception, NoResult, Raises):
            holds = self.least = False  # what the loop itself raises is raised again
        if holds:
            self.tracer.loop_types[self.location, self.names] = known
        elif not self.least:
            self.leave()
            self._begin(values)
        return holds

    def _raises_at_once(self) -> bool:
        """Whether the first iteration raises; then the loop is an `if` that does."""

        def first() -> None:
            self.body()
            raise _Survived

        try:
            if_stmt(self.test_fn(), first, lambda: None, self.get_state, self.set_state, self.names)
        except _Survived:
            return False
        return True

    def leave(self) -> None:
        """Gives the variables the values that they had before the loop."""
        self.set_state(tuple(slot.initial for slot in self.slots[: len(self.names)]))

    # ---- tracing ----
    def _enter(self, block: Block) -> list[Any]:
        """Gives variables and cells the values that stand for them in a block; returns these."""

        def make(leaf: Var) -> Any:
            t = leaf.type
            v = block.create_var(None, t.dtype, t.shape, stem="loop", kind=t.kind)
            self.tracer.needs.give(v, next(needs))
            block.params.append(v.name)
            return wrap(self.tracer, leaf, v)

        assert block.parent is not None
        initial, patterns = [slot.initial for slot in self.slots], [slot.pattern for slot in self.slots]
        needs = iter(self.needs)
        values = self.tracer.alternatives.merged(patterns, [initial, *self._last()], make)
        self.tracer.sharing.merged(patterns, values, [(block.parent, initial)], how=INITIAL)
        self.carried.enter(self._leaves(values), self._leaves(initial), block)
        self._write(values)
        self.tracer.alternatives.settle(end_of=self.body)
        return values

    def _write(self, values: Sequence[Any]) -> None:
        """Gives the variables and the cells these values."""
        count = len(self.names)
        with self.tracer.alternatives.written():
            self.set_state(tuple(values[:count]))
            for cell, slot, value in zip(self.cells.values(), self.slots[count:], values[count:], strict=True):
                if value is not slot.initial:
                    cell.write(value)

    def _last(self) -> list[list[Any]]:
        """What the last trial has left in the variables, as far as these are still of that kind."""
        return [[x if has_structure(slot.pattern, x) else Undefined(slot.name) for slot, x in zip(self.slots, values, strict=False)]
                + [Undefined(slot.name) for slot in self.slots[len(values) :]] for values in self.last]  # fmt: skip

    def _leaves(self, values: Sequence[Any]) -> list[Any]:
        """What values of the slots have at the varying leaves."""
        return [x for slot, value in zip(self.slots, values, strict=True) for x in extract(slot.pattern, value)]

    def _needs_of(self, values: Sequence[Any]) -> list[Need | None]:
        """What values of the slots need at the varying leaves."""
        return list(map(self.tracer.needs.of, self._leaves(values)))

    def _needs_before(self) -> list[Need | None]:
        """The same, of what they are before the loop."""
        return self._needs_of([slot.initial for slot in self.slots])

    def _needs_after(self, values: Sequence[Any]) -> list[Need | None]:
        """The same, of what the iteration that was traced has left."""
        with self.outcome.in_force():
            return self._needs_of(values)

    def _either(self, *needs: Sequence[Need | None]) -> list[Need | None]:
        return self.tracer.needs.all((leaf for slot in self.slots for leaf in variables(slot.pattern)), *needs)

    def _trial(self, *, guess: bool = False) -> bool:
        """Traces test and body once; True if what it assumed about the variables holds.

        Args:
            guess: what it assumed may be more than has to be; then this is False, so is `least`, and nothing becomes of the trial.
        """
        self._rotated = False
        self.tracer.stops.now = dict(self.stopped)
        if not guess:
            self.needs = self._either(self._needs_before(), *map(self._needs_after, self._last()))
        self.test_block, self.body_block = self.tracer.sub_block(), self.tracer.sub_block()
        with self.tracer.frame(self.test_block) as frame:
            before = self._enter(self.test_block)
            before[: len(self.names)] = self.get_state()  # two of them may be names of one place
            try:
                test = self.tracer.tries.tried(lambda: truth(self.test_fn()))
            except MayRaise:
                test, self._rotated = True, True
            test = test if isinstance(test, Tensor) else dispatch.constant(np.asarray(test))
            self.test_block.results = [self.tracer.lift(test).name]
            count = len(self.names)
            untouched = all(map(same, before[:count], self.get_state()))
            untouched = untouched and all(map(_unchanged, before[count:], [c.read() for c in self.cells.values()]))
            if not untouched or set(self.tracer.changes(frame)) - set(self.cells) - set(self.named):
                self._rotated = True
            growth = grown(frame)
        if self._rotated:
            if guess:
                return False
            self.leave()
            for items, later in growth:
                self._promote(items, later)
            return not growth
        with self.tracer.whole_frame(self.body_block) as frame:
            modified, widened = self.tracer.aliases.mutations, self.tracer.entries.widened
            before = self._enter(self.body_block)
            self.starts = self._leaves(before)
            self.begun, self.around, self.early = list(before), frame.containers, []
            self.tracer.loops.append(self)
            names = dict(zip(self.test_block.params, self.body_block.params, strict=True))
            try:
                with self.tracer.facts.assuming(self.test_block.var(self.test_block.results[0]), True, names):
                    values = self._iterate()
            except NotYet as early:
                if any(early.error is own for own in self.early):
                    raise early.error from None
                raise
            except Exception as error:
                self.raised = error
                raise
            except BaseException as error:
                require_exception(error)
                raise
            finally:
                self.tracer.loops.pop()
            after = [*values, *(c.read() for c in self.cells.values())]
            self.outcome = self.tracer.outcome(after, frame)
            self.last = [after]
        self.leave()
        for key, (cell, value) in list(self.outcome.changes.items()):
            if isinstance(cell, OrderCell) and cell.read() == value:
                del self.outcome.changes[key]
        if guess:
            self.least = not self.early and self._is_least(before, after)
            if not self.least:
                return False
        for items, later in self.outcome.grown:
            self._promote(items, later)
        if self.outcome.grown:
            return False
        stable = self.tracer.entries.widened == widened
        known = self.cells.keys() | self.named.keys()
        stable = stable and self.outcome.changes.keys() <= known
        for cell, initial in new_cells(self.tracer, self.outcome.changes, known, self.fitter.why, self._promote, self._is_named):
            self.cells[cell.key] = cell
            self.slots.append(Slot(cell.name, initial, Const(initial)))
        # what the first iteration leaves in a cell counts, also where the cell was not known yet
        found = self.slots[len(before) :]
        before += [slot.initial for slot in found]
        after += [self.outcome.changes[key][1] for key in list(self.cells)[len(self.cells) - len(found) :]]
        for slot, old, new in zip(list(self.slots), before, after, strict=True):
            pattern = self.fitter.fit(slot.pattern, old, new, slot.name)
            if not alike(pattern, slot.pattern):
                slot.pattern, stable = pattern, False
            if isinstance(pattern, Var) and type(slot.initial) is list and id(slot.initial) in self.tracer.watched:
                # another name of the list that the loop begins with may change it afterwards
                self._promote(slot.initial, new)
        if stable:
            stable = self._either(self.needs, self._needs_after(after)) == self.needs
        if stable and self.tracer.aliases.mutations > modified:
            stable = self.carried.settle(self.starts, self._leaves(after), self.body_block)
        if stable and self.early:
            raise self.early[-1]
        return stable and not self.tracer.alternatives.finds(self._objects(after), self.outside)

    def waits_for(self, nothing: Undefined, error: UndefinedError) -> bool:
        """Whether a variable holds this of which it is not known yet what an iteration leaves in it; `error`: what it is to read that."""
        found = any(isinstance(slot.pattern, Const) and slot.pattern.value is nothing for slot in self.slots)
        if found:
            self.early.append(error)
        return found

    def _objects(self, after: Sequence[Any]) -> list[tuple[Any, Any]]:
        """The objects that an iteration begins with, where they vary, each with the one that it leaves to the next."""
        values = zip(self.slots, self.begun, after, strict=True)
        return [pair for slot, *ends in values for pair in zip(*(objects_at(slot.pattern, x) for x in ends), strict=True)]

    def _is_least(self, before: Sequence[Any], after: Sequence[Any]) -> bool:
        """Whether nothing else than what the trial assumed varies, and all of that does."""
        if self.outcome.grown or self.outcome.changes.keys() - self.named.keys() != self.cells.keys():
            return False
        if any(type(slot.initial) is list and not keeps_length(slot.pattern) for slot in self.slots):
            return False  # it may have to become a list of dynamic length
        initial, later = self._needs_before(), self._needs_after(after)
        if self._either(initial, later) != self.needs or any(
            n is Need.SOMETIMES and n is not first and n is last for n, first, last in zip(self.needs, initial, later, strict=True)
        ):
            return False  # it may need a gradient only because it was assumed to do
        values = zip(self.slots, before, after, strict=True)
        return all(is_least(self.fitter, s.pattern, s.initial, old, new, s.name) for s, old, new in values)

    def _iterate(self) -> tuple:
        """Runs the body; what it makes of the variables."""

        def run() -> tuple:
            self.body()
            return self.get_state()

        tries = self.tracer.tries
        if not tries.active:
            return run()
        values, raised = tries.collect(run, self.cells)
        if raised or values is None:
            raise Raises(raised)
        return values

    def _is_named(self, cell: EntryCell) -> bool:
        """Whether a cell is one of the variables of the loop; then it is known as that."""
        found = self._is_variable(cell)
        if found:
            self.named[cell.key] = cell
        return found

    def _is_variable(self, cell: EntryCell) -> bool:
        """Whether a cell is one of the variables of the loop, as `self.h` is an attribute and a name at once."""
        marks = [Tensor.wrap(s.initial._value, s.initial._stops) if isinstance(s.initial, Tensor) else object()
                 for s in self.slots[: len(self.names)]]  # fmt: skip
        before, there = cell.read(), cell.entry in cell.target
        try:
            for i, mark in enumerate(marks):
                values = [s.initial for s in self.slots[: len(self.names)]]
                values[i] = mark
                try:
                    self.set_state(tuple(values))
                except (TypeError, AttributeError):
                    # an attribute that takes values of its own kind only, such as a parameter, or an object whose attributes are state
                    continue
                if cell.read() is mark:
                    return True
        finally:
            self.leave()
            (cell.put_back if there else cell.write)(before)
        return False

    def _promote(self, items: Any, later: Any) -> None:
        """A list that changes its length, or a dict that gets keys, becomes a staged one, under all names that the loop knows it by too."""
        self.promotes = True
        name = next((repr(slot.name) for slot in self.slots if slot.initial is items), "")
        staged = promote(self.tracer, items, later, name)
        for slot in self.slots:
            slot.initial = substituted(slot.initial, items, staged)
            slot.pattern = replaced(slot.pattern, items, staged)
            if not has_structure(slot.pattern, slot.initial):
                slot.pattern = Const(slot.initial)  # what was found of a list of Python
        self.leave()

    # ---- emitting ----
    def _rotate(self) -> None:
        """The test changes variables too: it becomes part of the body, and its result a variable of the loop."""
        if self.names[:1] == (TEST,):
            raise self._widening_error([])  # that test only reads a variable: what changes is not known well enough to be state
        go = [truth(self.test_fn())]

        def body() -> None:
            self.body()
            go[0] = truth(self.test_fn())

        def set_state(values: tuple) -> None:
            go[0] = values[0]
            self.set_state(values[1:])

        inner = Loop(
            self.tracer, lambda: go[0], body, lambda: (go[0], *self.get_state()), set_state, (TEST, *self.names)
        )
        inner.stage()

    def _emit(self) -> None:
        tracer = self.tracer
        leaves = [v for slot in self.slots for v in variables(slot.pattern)]
        after = self.outcome.result
        with tracer.inside(self.body_block), self.outcome.in_force():
            results = self._coerce([(slot.pattern, x) for slot, x in zip(self.slots, after, strict=True)], leaves)
        self.body_block.results = [v.name for v in results]
        initials = self._coerce([(slot.pattern, slot.initial) for slot in self.slots], leaves)
        outs, _ = tracer.builder().op("while_loop", X=initials, cond_block=self.test_block, body_block=self.body_block)
        for out, need in zip(outs, self._either(self._needs_before(), self._needs_after(after)), strict=True):
            tracer.needs.give(out, need)
        rest = iter(outs)
        patterns, before = [slot.pattern for slot in self.slots], [slot.initial for slot in self.slots]
        values = tracer.alternatives.merged(patterns, [before, after], lambda leaf: wrap(tracer, leaf, next(rest)))
        tracer.sharing.iterated(self.around, self.body_block, patterns, self.begun, after, self._moved(after))
        tracer.sharing.merged(patterns, values, [(tracer.block, before), (self.body_block, after)], carried=self._objects(after))
        self.carried.leave(self._leaves(values), self._leaves(before), self.starts, self._leaves(after),
                           (self.test_block, self.body_block), tracer.block)  # fmt: skip
        self._write(values)
        tracer.alternatives.settle(end_of=self.body)

    def _moved(self, after: Sequence[Any]) -> set[int]:
        """The ids of the lists whose entries have got other indices in an iteration."""
        cells = zip(self.cells.values(), self.begun[len(self.names) :], after[len(self.names) :], strict=True)
        return {id(who(cell.target)) for cell, start, end in cells if isinstance(cell, TensorCell) and isinstance(start, StagedList)
                and relation(self.body_block, end._value.name, start._value.name) != GROWN}  # fmt: skip

    def _coerce(self, values: list[tuple[Pattern, Any]], leaves: list[Var]) -> list[Variable]:
        wanted = [x for p, value in values for x in extract(p, value)]
        return [coerce(self.tracer, x, leaf, "") for x, leaf in zip(wanted, leaves, strict=True)]
