"""From a converted function and a key to a `ConcreteProgram`."""

from __future__ import annotations

import inspect
import re
import types
from collections import deque
from collections.abc import Container, Iterable, Iterator, MutableMapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from dy2st_runtime import config
from dy2st_runtime.garbage import no_search_for_garbage
from dy2st_runtime.ir import Program, Variable, show_program, verify
from dy2st_runtime.ir.functions import drop_unused_functions, lift_functions, merge_functions

from ..convert.activations import Kind
from ..convert.aliases import who
from ..convert.apart import Kept
from ..convert.attributes import MISSING, held
from ..convert.calls import call, convert_function
from ..convert.cells import (
    AppendCell,
    Cell,
    DictCell,
    EntryCell,
    ListCell,
    OrderCell,
    OuterVariable,
    place_of,
    read_outside,
)
from ..convert.codes import codes_of
from ..convert.containers import containers_of, held_by, lists_in
from ..convert.dicts import StagedDict
from ..convert.dynamic import DynamicList
from ..convert.growing import current, put_back
from ..convert.identity import is_of_a_trace
from ..convert.iterables import Lazy
from ..convert.layouts import Inner, holds_objects, leaves, untold
from ..convert.lists import StagedList, unlike
from ..convert.managers import Through
from ..convert.maybe_attribute import MaybeAttribute
from ..convert.names import names_of
from ..convert.optional import MaybeNone
from ..convert.options import OneOf, values_of
from ..convert.places import CONTENTS, LENGTH, Place, place_of_attribute
from ..convert.printed import printing_later
from ..convert.raising import refusal, stage_last_raise
from ..convert.reach import Reach
from ..convert.records import RecordList, parts_of
from ..convert.structure import MaybeObject, flatten, split, unflatten
from ..convert.texts import StagedText, text
from ..convert.tracer import Tracer
from ..convert.undefined import Undefined
from ..errors import Dy2stError, LeakError, StagedValueError, StructureError
from ..library.queues import Deque
from ..nn import Layer
from ..tensor import Tensor, dispatch
from ..tensor.kinds import resolved
from ..tensor.location import entry, place_of_result
from ..tensor.random import STATE_NAME
from ..transpiler import is_generated
from . import shells
from .captures import Captured
from .concrete import ArgumentCell, ConcreteProgram, Effects, Number
from .guards import Guard, Guards, guards_of, guards_of_readings, same
from .outliving import Several, walk
from .recipes import (
    Argument,
    Constant,
    Fetched,
    Found,
    Given,
    Held,
    Picked,
    Rebuilt,
    Recipe,
    Twin,
    handed_on,
    located,
)
from .signature import Key, TensorKey


class Trace:
    """One run of a function on symbolic tensors.

    Args:
        function: what is traced, a function or a bound method; its conversion runs.
        arguments: the arguments by parameter; tensors in them are only looked at for their kind.
        key: their key.
        shapes: for each fed tensor the shape to trace with (-1 = open).
        names: for each fed tensor its name in the program.
        counters: numbers outside, by holder and entry, that are inputs.
        opened: tensors of the outside whose shape only the run knows, as it has changed between calls.
        recursive: the calls that are known to be recursive.
        exact: more Python follows, which tells values from others that a result may stand for: that is refused. "distinct": what
            follows also may tell two objects from one.
    """

    def __init__(self, function: Any, signature: inspect.Signature, leaves: Sequence[Any], key: Key,
                 shapes: Sequence[Sequence[int]], names: Sequence[str], open_captures: dict[int, tuple[int, ...]],
                 counters: Sequence[tuple[MutableMapping, Any]] = (), opened: Sequence[Tensor] = (),
                 recursive: Iterable[Kind] = (), exact: str = "") -> None:  # fmt: skip
        self.function, self.signature, self.key, self.exact = function, signature, key, exact
        self._above: set[int] = set()
        self.program = Program()
        self.tracer = Tracer(self.program, open_captures, recursive)
        self.inputs: list[Variable] = []
        self.placeholders: list[Tensor] = []
        self.names, self.opened = list(names), opened
        self._fetches: dict[str, int] = {}
        self._several = Several(self.tracer, self.placeholders, self.inputs, self._fetches, self._fetch)
        self._tied: list[list[Twin]] = []
        self._compared: list[Place] = []
        self._marks: dict[int, tuple[int, Any]] = {}
        self._uncertain: dict[int, Tensor] = {}
        self.arguments = self._arguments(leaves, shapes, names)
        self.tracer.placeholders = self.placeholders
        self.paths = _paths(self.arguments)
        self.numbers = [self._number(holder, entry) for holder, entry in counters]

    def _arguments(
        self, leaves: Sequence[Any], shapes: Sequence[Sequence[int]], names: Sequence[str]
    ) -> dict[str, Any]:
        block = self.program.global_block()
        made: list[Any] = []
        for leaf, key in zip(leaves, self.key.leaves, strict=True):
            if not isinstance(key, TensorKey):
                made.append(leaf)
                continue
            if key.alias >= 0:
                made.append(made[key.alias])
                continue
            n = len(self.inputs)
            name = re.sub(r"\W+", "_", names[n]).strip("_") or "x"
            name = self.program.fresh_name(name) if self.program.has_name(name) else name
            v = block.create_var(name, key.dtype, shapes[n], is_data=True)
            v.stop_gradient = key.stop_gradient
            self.inputs.append(v)
            self.placeholders.append(Tensor.wrap(v, key.stop_gradient))
            self.placeholders[-1]._weak = key.number
            is_leaf = isinstance(leaf, Tensor) and leaf.is_leaf and not leaf.stop_gradient
            self.tracer.arguments[id(self.placeholders[-1])] = is_leaf
            made.append(self.placeholders[-1])
        return unflatten(self.key.tree, made)

    def _number(self, holder: Any, entry: Any) -> Number:
        dtype = "int64" if isinstance(holder[entry], int) else "float64"
        v = self.program.global_block().create_var(None, dtype, (), stem=str(entry), is_data=True)
        v.stop_gradient = True
        return Number(holder, entry, v)

    @entry
    def run(self, name: str) -> ConcreteProgram:
        """Traces.

        Raises:
            whatever the function raises; Dy2stError for what cannot be staged. The outside is then as before.
        """
        with no_search_for_garbage():
            try:
                recipe, effects = self._record()
            finally:
                self.tracer.special.restore()
            return self._made(name, recipe, effects)

    def _record(self) -> tuple[Recipe, Effects]:
        """Runs the function; what its result is made of, and what it has changed."""
        tracer = self.tracer
        raw = getattr(self.function, "__func__", self.function)
        if raw.__code__.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
            convert_function(raw)  # raises: it has the line
        owner = getattr(self.function, "__self__", None)
        tracer.watch(*self.arguments.values(), *(x for x in flatten(self.arguments)[0] if hasattr(x, "__dict__")))
        tracer.root.add(tracer.containers)
        tracer.of_the_caller.update(map(id, tracer.containers))
        tracer.watch_reached(*self._objects())
        if owner is not None:
            tracer.own(owner)
        for number in self.numbers:
            tracer.watch_holder(number.holder)
            t = Tensor.wrap(number.variable)
            t._weak = True
            number.holder[number.entry] = t
        tracer.watch_reached(raw)
        # what there is before the function runs, and so is no object of the trace
        tracer.before = {id(x): x for x in (*tracer.reach.objects.values(), *tracer.containers)}
        bound = inspect.BoundArguments(self.signature, self.arguments)  # type: ignore[arg-type]
        grad = dispatch.is_grad_enabled()
        with dispatch.recording(tracer), printing_later():
            try:
                for t in self.opened:  # so that code that reads its shape gets that of the run
                    tracer.on_mutate(t)
                result = call(self.function)(*bound.args, **bound.kwargs)
                tracer.alternatives.require_unchanged()
                tracer.entries.require_unchanged()
                recipe, effects = self._left_behind(result, grad)
            except Through as passed:
                raise passed.error from passed.error.__cause__
            except Exception as error:
                if (refused := refusal(error)) is not None:
                    raise refused from error
                if not stage_last_raise(tracer, error):
                    raise
                recipe, effects = Constant(None), Effects()
            finally:
                dispatch.set_grad(grad)
                for t, array in tracer.originals.values():
                    t._value = array
                put_back(tracer)
                tracer.root.restore()
        return recipe, effects

    def _made(self, name: str, recipe: Recipe, effects: Effects) -> ConcreteProgram:
        """The trace, when the world is as it was before."""
        tracer = self.tracer
        drop_unused_functions(self.program)
        lift_functions(self.program)
        merge_functions(self.program)
        recipe, captured, guards = self._read(recipe, effects)
        if config.CHECKS.get():
            verify(self.program)
        if config.dumping("program"):
            import sys

            print(show_program(self.program), file=sys.stderr)
        leaves = {i: tracer.asked_leaves[id(p)] for i, p in enumerate(self.placeholders) if id(p) in tracer.asked_leaves}
        made = ConcreteProgram(name, self.key, self.program, self.inputs, captured, list(self._fetches), recipe, effects,
                               guards, list(tracer.notes), self.numbers, leaves, tracer.raised, self._twins(), self._tied)  # fmt: skip
        made.names = self.names
        made.require_no_new_leaf(tracer.new_leaves)
        made.compared, made.compares, made.compares_arguments = self._compared, bool(tracer.compared), tracer.compares_arguments
        return made

    def _left_behind(self, result: Any, grad: bool) -> tuple[Recipe, Effects]:
        """What a call returns and what it changes. Errors are marked `of_results`: no line is at fault, but what is left there.

        Args:
            grad: whether gradients were recorded before the call.
        """
        try:
            self._require_apart(result)
            if dispatch.is_grad_enabled() is not grad:
                raise StagedValueError("a static function leaves its caller with gradients recorded, or not, other than before",
                                       hint="use `with paddle.no_grad():` around what it is meant for")  # fmt: skip
            recipe = self._recipe(result)
            _require_no_iterator(recipe, self.tracer.before)
            effects = self._effects()
            recipe, self._tied = self._several.told(recipe, effects)
        except Dy2stError as error:
            vars(error)["of_results"] = True
            raise error.at(place_of_result(getattr(self.function, "__func__", self.function))) from error.__cause__
        for t in (*self.placeholders, *(t for t, _ in self.tracer.captures.values())):
            self.tracer.aliases.require_fresh(t, self.tracer.block, "the caller's")
        return recipe, effects

    def _require_apart(self, result: Any) -> None:
        """StructureError if two of the containers that the arguments, the objects and the variables outside hold now may be one object."""
        tracer = self.tracer
        if not tracer.alternatives and not tracer.aliases.merged_lists and not tracer.sharing:
            return
        own = [f for f in tracer.functions.values() if not is_generated(f.__code__.co_filename)]
        outside = [*tracer.outer_variables.values(), *(OuterVariable(*v) for f in own for v in read_outside(f))]
        owners = [x for x in tracer.owners.values() if id(x) not in tracer.made]
        held = current(tracer, (*self.arguments.values(), *owners, *(v for o in outside for v in o.values())))
        # what has become a list of dynamic length had these entries, which it may have still
        entries = [v for items, _ in tracer.replaced.values() if type(items) is list and self._was_there(items) for v in items]
        containers, lists = _within([*held, *entries])
        tracer.alternatives.require_apart([*containers, *{id(who(x)): x for items in lists for x in parts_of(items)[:1]}.values()])
        if tracer.sharing:
            tracer.sharing.settle()
            # these keep the objects that they begin with
            grown = [(items, x) for items, x in tracer.replaced.values()
                     if isinstance(x, RecordList) and x.has_grown() and self._was_there(items)]  # fmt: skip
            # more Python that follows knows the results by the names that these have
            containers, lists = _within((*held, *(v for items, _ in grown for v in items), *([result] if self.exact else [])))
            records = [x for x in lists if isinstance(x, StagedList) or holds_objects(x.layout)]
            Kept(tracer.sharing, [*containers, *records], [x for _, x in grown]).require_apart()

    def _twins(self) -> list[list[Twin]]:
        """For each result that may be one of several objects, these: a fetch, an argument, a tensor of the outside."""
        found = [self._several.group(value) for value in self._uncertain.values()]
        return [group for group in found if len(group) > 1]

    def _objects(self) -> list[Any]:
        """The arguments that are no tensors, and the tensors' tree is not looked into."""
        leaves, _ = flatten(self.arguments)
        return [x for x, k in zip(leaves, self.key.leaves, strict=True) if not isinstance(k, TensorKey)]

    def _read(self, recipe: Recipe, effects: Effects) -> tuple[Recipe, list[Captured], Guards]:
        """The recipe, with places for what is found outside; where the tensors of the outside are; and what must stay as it is."""
        tracer = self.tracer
        reach = Reach(_replaced(effects))
        owners = [type(x) if id(x) in tracer.made else x for x in tracer.owners.values()]
        reach.add(*tracer.functions.values(), *owners, *self._objects())
        reach.add(*tracer.given)
        for owner, name in tracer.asked:
            reach.ask(owner, name)
        for owner in tracer.swept:
            reach.sweep(owner)
        if (left := reach.left_on_tensors()) is not None:
            raise StagedValueError(
                f"the attribute {left!r}, which a tensor outside does not have yet, gets a value that only the run knows",
                location=place_of_result(getattr(self.function, "__func__", self.function)),
                hint=f"set it outside first (t.{left} = None), or keep the value in an attribute of the layer",
            )  # fmt: skip
        places: dict[int, Place] = {}
        # what no code reads may be another one at the next call
        for place in sorted(reach.places.values(), key=lambda p: not reach.reads(p)):
            if isinstance(value := place.now(), Tensor) or id(value) in self.tracer.before:
                places.setdefault(id(value), place)
        captured = [Captured(t, v, places.get(id(t))) for t, v in tracer.captures.values()]
        recipe = located(recipe, places)
        effects.cells = [(cell, located(r, places)) for cell, r in effects.cells]
        handed = {id(t): places.get(id(t)) for r in (recipe, *(r for _, r in effects.cells)) for t in handed_on(r)}
        kept = {key for key, place in handed.items() if place is None}
        compared = {key: places[key] for key in tracer.compared if key in places}
        found = compared | {key: place for key, place in handed.items() if place is not None}
        # what the function itself appends to, or counts up as an input, does not call for another trace
        own = {id(c.target) for c, _ in effects.cells if isinstance(c, AppendCell) and not reach.looks_at(c.target)}
        counted = {place_of(n.holder, n.entry) for n in self.numbers}
        entries = {place_of(c.target, c.entry): r for c, r in effects.cells if isinstance(c, EntryCell)}
        merged = {key for key, r in entries.items() if not isinstance(r, (Constant, Found))}
        assigned = {n for f in tracer.functions.values() for n in names_of(f.__code__).assigned | names_of(f.__code__).changed}

        def unchanged(place: Place, key: tuple) -> bool:
            r = entries.get(key)
            return key[1] in assigned and (r is None or (isinstance(r, Constant) and same(r.value, place.now())))

        guards = guards_of(reach, {id(c.tensor): c.place for c in captured}, kept, found, merged, unchanged)
        self._compared = [place for key, place in compared.items() if key not in tracer.captures]
        return recipe, captured, Guards([
            *(self._assigned(g) for g in guards
              if not (g.entry in (LENGTH, CONTENTS) and id(g.holder) in own) and place_of(g.holder, g.entry) not in counted),
            *self._without(),
            *guards_of_readings(reach, tracer.readings),
        ])  # fmt: skip

    def _without(self) -> Iterator[Guard]:
        """Guards of the attributes that an object does not have yet, and that the run decides about: at the next call it may have them."""
        for (key, name), owner in self.tracer.uncertain_attributes.items():
            if key not in self.tracer.made and held(owner, name) is MISSING:
                yield Guard(place_of_attribute(owner, name), MISSING)

    def _assigned(self, guard: Guard) -> Guard:
        """A guard of a variable outside that the function assigns, in the form in which its effect knows it."""
        variable = self.tracer.outer_variables.get((id(guard.holder), guard.entry))
        return guard if variable is None else Guard(Place(variable, variable.name, guard.place.name), guard.value)

    # ---- results ----
    def _fetch(self, v: Variable, number: bool = False) -> Fetched:
        return Fetched(self._fetches.setdefault(v.name, len(self._fetches)), number)

    def _recipe(self, value: Any) -> Recipe:
        if isinstance(value, Tensor):
            for i, p in enumerate(self.placeholders):
                if value is p and not p._weak:
                    return Argument(i)
            if self.exact:
                self._require_exact(value)
            if id(value) in self.tracer.originals or not value.is_symbolic:
                return Constant(value)
            if isinstance(value, MaybeNone):
                value = value.bare()
            if value._kinds is not None:
                kinds, given, value = value._kinds, value, resolved(value)
                if kinds.told is None:
                    raise kinds.fail("it cannot be a result")
                flag = self._fetch(self.tracer.lift(kinds.told))
                cls = kinds.class_name if kinds.classes == 1 else ""
                fetched = replace(self._fetch(self.tracer.lift(value)), flag=flag.position, cls=cls)
                return self._several.note(fetched, given)
            fetched = self._fetch(self.tracer.visible(self.tracer.lift(value)), value._weak and value.ndim == 0)
            return self._several.note(fetched, value)
        if isinstance(value, StagedList):
            if self.exact:
                self._require_exact(value)
            self.tracer.aliases.require_fresh(value, self.tracer.block, "returned")
            items = next((items for items, staged in self.tracer.replaced.values() if staged is value), None)
            return self._given(items, self._column(value))
        if isinstance(value, RecordList):
            for column in value.columns:
                if self.exact:
                    self._require_exact(column)
                self.tracer.aliases.require_fresh(column, self.tracer.block, "returned")
            items = next((items for items, staged in self.tracer.replaced.values() if staged is value), None)
            return self._given(items, self._of_records(value))
        if isinstance(value, StagedDict):
            if self.exact:
                raise StructureError("a dict has some of its keys only in some runs", hint=_DECIDE)
            items = next((items for items, staged in self.tracer.replaced.values() if staged is value), None)
            return self._given(items, self._of_dict(value))
        if isinstance(value, (list, dict)) and id(value) in self.tracer.replaced:
            return self._given(value, self._recipe(self.tracer.replaced[id(value)][1]))
        if isinstance(value, MaybeAttribute) and self.exact:
            raise StructureError("an object has an attribute on some paths only, as only the run knows", hint=_DECIDE)
        if isinstance(value, MaybeObject):
            if self.exact:
                raise StructureError("a variable holds an object on some paths only, as only the run knows", hint=_DECIDE)
            return self._recipe(value.value)
        if isinstance(value, Undefined):
            raise value.error()
        if isinstance(value, str) and isinstance(text(value), StagedText):
            raise StagedValueError(
                "a text with the values of tensors in it is only known when the program runs",
                hint="return the tensors, and make the text outside; print() and messages of assert and raise are fine",
            )
        if isinstance(value, OneOf):
            for one in values_of(value):
                self._require_plain(one)
            return Picked(self._recipe(value._dy_index), values_of(value))
        if type(value) is Deque:
            mark, _ = self._marks.setdefault(id(value), (len(self._marks) + 1, value))
            return Rebuilt(deque, (), (self._recipe(value._entries), Constant(value.maxlen)), mark)
        keys, children = split(value)
        if children is None:
            return self._shelled(value)
        _require_no_id(*keys)
        if any(isinstance(k, Tensor) and k.is_symbolic for k in keys):
            raise StagedValueError("a dict with tensors as keys cannot be the result of a static function, or be kept by it",
                                   hint="return pairs, in a list of tuples")  # fmt: skip
        if self.exact and self.tracer.alternatives.may_be_another(value):
            raise StructureError("a variable is one of several objects, as only the run knows", hint=_DECIDE)
        mark = 0
        if not isinstance(value, tuple):
            mark, _ = self._marks.setdefault(id(value), (len(self._marks) + 1, value))
        rebuilt = Rebuilt(type(value), keys, tuple(map(self._recipe, children)), mark)
        return self._given(value, rebuilt)

    def _shelled(self, value: Any) -> Recipe:
        """An object of Python: itself, or one that each call makes anew."""
        found = None
        if id(value) not in self.tracer.before and not self._was_there(value) and not self.exact:
            found = shells.taken_apart(value)
        if found is None or not found[1] or id(value) in self._above:
            self._require_plain(value)
        if found is None or id(value) in self._above:
            return Constant(value)
        keys, children = found
        _require_no_id(*keys)
        mark, _ = self._marks.setdefault(id(value), (len(self._marks) + 1, value))
        self._above.add(id(value))
        try:
            return Rebuilt(shells.Shell, keys, tuple(map(self._recipe, children)), mark)
        finally:
            self._above.discard(id(value))

    def _list(self, value: DynamicList) -> Recipe:
        """A list of dynamic length as one of Python."""
        return self._of_records(value) if isinstance(value, RecordList) else self._column(*parts_of(value))

    def _column(self, items: StagedList) -> Fetched:
        """The entries of a list of dynamic length, or of a column of one."""
        mark, _ = self._marks.setdefault(id(who(items)), (len(self._marks) + 1, who(items)))
        if len(items.kinds) > 1:
            if (codes := codes_of(items)) is None:
                raise unlike(items.kinds).fail("only the run knows which")
            return self._several.note(replace(self._fetch(items._value), flag=self._fetch(codes).position, mark=mark), items)
        return self._several.note(replace(self._fetch(items._value, items.of_numbers()), mark=mark), items)

    def _of_records(self, value: RecordList) -> Rebuilt:
        """A list of dynamic length whose entries are put together of those of columns."""
        if (kinds := untold(value.layout)) is not None:
            raise unlike(kinds).fail("only the run knows which")
        columns = tuple(map(self._column, value.columns))
        mark, _ = self._marks.setdefault(id(value), (len(self._marks) + 1, value))
        inner = [c for c, leaf in zip(value.columns, leaves(value.layout), strict=True)
                 if isinstance(leaf, Inner) and not all(k.weak for k in leaf.kinds)]  # fmt: skip
        self._several.note_inside(mark, inner)
        return Rebuilt(RecordList, (value.layout, self.tracer.objects), columns, mark)

    def _of_dict(self, value: StagedDict) -> Rebuilt:
        """A dict that has some of its keys only in some runs: for each the value, whether it has it, and its place."""
        keys = tuple(key for key, known in value.has.items() if known is not False)
        children: list[Recipe] = []
        for i, key in enumerate(keys):
            parts = value.values_of[key], value.has[key], i if value.ordered else value.since[key]
            children += map(self._recipe, parts)
        mark, _ = self._marks.setdefault(id(value), (len(self._marks) + 1, value))
        return Rebuilt(StagedDict, keys, tuple(children), mark)

    def _given(self, value: Any, contents: Recipe) -> Recipe:
        """A container of the caller's, or of the outside, is a result itself; any other one is made anew."""
        holder = value if isinstance(value, (list, dict)) else getattr(value, "__dict__", None)
        path = None if isinstance(value, tuple) else self.paths.get(id(holder))
        if path is not None:
            return Given(path, contents)
        return Held(value, contents) if id(value) in self.tracer.before and not isinstance(value, tuple) else contents

    def _require_exact(self, value: Any) -> None:
        """StructureError for a value that stands for one of several objects, as only the run knows: Python could tell which."""
        if (others := self.tracer.aliases.of(value)) and (self.exact == "distinct" or isinstance(value, StagedList)):
            raise StructureError("a variable is one of several objects, as only the run knows", hint=_DECIDE)
        if others:
            self._uncertain[id(value)] = value
        if id(value) in self.tracer.detached:
            raise StructureError("stop_gradient of a variable was set, which what follows may set back", hint="use y.detach()")
        if isinstance(value, Tensor) and value._kinds is not None:
            raise value._kinds.fail("what follows may depend on that")

    def _require_no_parameter(self, name: str, value: Any, before: Any = None) -> None:
        """StructureError for a value that outlives the call and may be a parameter or buffer, other than the one that was there before:
        it would not change with it as an optimizer steps."""
        for leaf in flatten(value)[0]:
            others = self.tracer.aliases.of(leaf).values() if isinstance(leaf, (Tensor, StagedList)) else ()
            if any(id(t) in self.tracer.captures and t.persistable and t is not before for t in others):
                raise StructureError(
                    f"{name} is, or holds, a parameter or buffer itself after the call on some path, as only the run knows",
                    hint="keep a copy (self.w.clone()), or a Python value that says which it is",
                )

    def _require_plain(self, value: Any) -> None:
        """StagedValueError for an object that keeps tensors of the trace, of which the caller could make nothing."""
        held = list(shells.kept_by(value, self.tracer.root))
        lasting = id(value) in self.tracer.before or (isinstance(value, _LASTING) and id(value) not in self.tracer.made)
        if self.exact and not (lasting and not self._holds_new(value)):
            raise StructureError(
                f"a {type(value).__name__} that is made while tracing would be the same object at each call",
                hint="make it outside of the static function",
            )
        suspended = isinstance(value, (types.GeneratorType, Lazy, types.CoroutineType, types.AsyncGeneratorType))
        _require_no_id(value, *held)
        if suspended or any(isinstance(x, StagedList) or (isinstance(x, Tensor) and x.is_symbolic) for x in held):
            raise StagedValueError(
                f"a {type(value).__name__} with tensors in it cannot be the result of a static function, or be kept by it",
                hint="return the tensors themselves, in a tuple, list, dict or dataclass",
            )

    def _holds_new(self, value: Any) -> bool:
        """Whether a function, method or class is made by the call, and holds what may change and is another one at each call."""
        if id(value) in self.tracer.before or not isinstance(value, (types.FunctionType, types.MethodType, types.BuiltinMethodType, type)):
            return False
        others: dict[int, Any] = {}
        containers = list(containers_of(value, holders=others))
        changing = [*containers, *(x for x in others.values() if hasattr(type(x), "__next__"))]
        return any(id(x) in self.paths or not (x in self.tracer.root or id(x) in self.tracer.before) for x in changing)

    def _was_there(self, container: Any) -> bool:
        """Whether a container is one of the caller's, or of the outside."""
        return id(container) in self.paths or (container in self.tracer.root and not self.tracer.ends_with_the_call(container))

    def _outside(self, t: Tensor) -> Tensor | int:
        """A tensor of the outside, or the position of an argument."""
        return next((i for i, p in enumerate(self.placeholders) if p is t), t)

    def _effects(self) -> Effects:
        put_back(self.tracer)
        effects = Effects()
        for i, (p, v) in enumerate(zip(self.placeholders, self.inputs, strict=True)):
            if p._value is not v:
                effects.arguments.append((i, self._fetch(self.tracer.lift(p)).position))
        for t, v in self.tracer.captures.values():
            if v.name == STATE_NAME:  # which the program updates itself
                effects.captures.append((t, self._fetch(v).position))
        for t, _ in self.tracer.originals.values():
            if t._value is not self.tracer.captures[id(t)][1]:
                assert isinstance(t._value, Variable)
                effects.captures.append((t, self._fetch(t._value).position))
        gradients = self.tracer.gradients
        effects.written += gradients.written.values()
        effects.clean += map(self._outside, gradients.clean.values())
        for t, g in gradients.found.values():
            position = None if g is None else self._fetch(self.tracer.lift(g)).position
            effects.gradients.append((self._outside(t), position))
        # what has become a list or dict of the run is told of as a whole, unless it only got more entries
        whole = {id(items) for items, staged in self.tracer.replaced.values() if isinstance(staged, StagedDict) or not staged.has_grown()}
        for cell in self._changed():
            if id(cell.target) in whole:
                continue
            if isinstance(cell, EntryCell):
                _require_no_id(cell.entry)
            if isinstance(cell, OrderCell):
                if id(cell.target) not in self.tracer.attributes:
                    effects.cells.append((_outer(cell, self.paths), Constant(cell.read())))
                continue
            start = self.tracer.root.gained(cell.target) if isinstance(cell, ListCell) else None
            if start is not None:
                cell = AppendCell(cell.target, start)
            before = self.tracer.root.entry(cell.target, cell.entry) if isinstance(cell, EntryCell) else None
            self._require_no_parameter(cell.name, cell.read(), before)
            try:
                recipe = Constant(cell.read()) if isinstance(cell.read(), Undefined) else self._recipe(cell.read())
            except LeakError as error:
                raise error.at(None) from None
            effects.cells.append((_outer(cell, self.paths), recipe))
        for items, staged in self.tracer.replaced.values():
            if isinstance(staged, StagedDict) and self._was_there(items):
                if self.exact:
                    raise StructureError("a dict has some of its keys only in some runs", hint=_DECIDE)
                self._require_no_parameter("a dict", list(staged.values_of.values()))
                effects.cells.append((_outer(DictCell(items), self.paths), self._of_dict(staged)))
            elif self._was_there(items):
                if self.exact:
                    for part in parts_of(staged):
                        self._require_exact(part)
                if all(part._value is part.start for part in parts_of(staged)):
                    continue  # it holds what it held
                for part in parts_of(staged):
                    self._require_no_parameter("a list", part)
                # the old entries stay the objects that they are
                cell, value = (AppendCell(items, len(items)), staged[len(items) :]) if staged.has_grown() else (ListCell(items), staged)
                effects.cells.append((_outer(cell, self.paths), self._list(value)))
        return effects

    def _changed(self) -> list[Cell]:
        """What is changed of the outside, with the numbers that are inputs and got, in the trace, the value that they had in it."""
        cells = [c for c in self.tracer.root.changed() if self._was_there(c.target)]
        known = {place_of(c.target, c.entry) for c in cells if isinstance(c, EntryCell)}
        for number in self.numbers:
            now = number.holder.get(number.entry)
            if place_of(number.holder, number.entry) not in known and not (isinstance(now, Tensor) and now._value is number.variable):
                cells.append(EntryCell(number.holder, number.entry))
        return cells


def _within(values: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """The containers, and the lists of dynamic length, in values."""
    containers = list(containers_of(*values))
    return containers, [x for v in (*values, *(v for c in containers for v in held_by(c))) for x in lists_in(v)]


def _require_no_iterator(result: Recipe, before: Container[int]) -> None:
    """StructureError if the result is, or holds, an iterator that the call makes: at the next call it would be where the caller left it."""
    for part in walk(result):
        if isinstance(part, Constant) and hasattr(type(part.value), "__next__") and id(part.value) not in before:
            raise StructureError(
                f"an iterator ({type(part.value).__name__}) that a static function makes cannot be its result",
                hint="each call would return the same one: return a list, and iterate over it outside",
            )


def _require_no_id(*values: Any) -> None:
    """StagedValueError if one of these is the `id()` of a tensor."""
    if any(map(is_of_a_trace, values)):
        raise StagedValueError("the id() of a tensor is another one while tracing: it cannot be a result, or be kept",
                               hint="keep the tensor itself, and compare with `is`")  # fmt: skip


_DECIDE = "decide with a Python value which it is, or make a copy (y = y.clone())"

# objects that are there before a function runs, or that are never changed
_LASTING = (
    bool, int, float, complex, str, bytes, type(None), type(Ellipsis), range, slice, np.dtype, type, types.ModuleType, types.FunctionType,
    types.BuiltinFunctionType, types.MethodType, Layer,
)  # fmt: skip


def _replaced(effects: Effects) -> set[tuple]:
    """The places where a call puts another object, while it leaves the one that was there as it is."""
    cells = [c for c, _ in effects.cells if isinstance(c, Cell)]
    targets = {id(c.target) for c in cells}
    found = set()
    for c in cells:
        if isinstance(c, EntryCell):
            old = c.target.get(c.entry)
            if id(old) not in targets and id(getattr(old, "__dict__", None)) not in targets:
                found.add(place_of(c.target, c.entry))
    return found


def _paths(arguments: dict[str, Any]) -> dict[int, tuple]:
    """The way to each list, dict and dict of a dataclass's attributes in the arguments, by id."""
    found: dict[int, tuple] = {}
    leaves = set(map(id, flatten(arguments)[0]))

    def walk(value: Any, path: tuple) -> None:
        keys, children = split(value)
        if children is None or id(value) in leaves:
            return
        if isinstance(value, (list, dict)):
            found[id(value)] = path
        elif hasattr(value, "__dict__"):  # a dataclass: the trace has one of its own
            found[id(vars(value))] = path
        for key, child in zip(keys or range(len(children)), children, strict=True):
            walk(child, (*path, key))

    for name, value in arguments.items():
        walk(value, (name,))
    return found


def _outer(cell: Cell, paths: dict[int, tuple]) -> Cell | ArgumentCell:
    path = paths.get(id(cell.target))
    if path is None:
        return cell
    if isinstance(cell, EntryCell):
        entry = cell.entry
        return ArgumentCell(path, lambda target: EntryCell(target if isinstance(target, dict) else vars(target), entry))
    if isinstance(cell, AppendCell):
        return ArgumentCell(path, lambda target: AppendCell(target, len(target)))
    return ArgumentCell(path, type(cell) if isinstance(cell, (DictCell, OrderCell)) else ListCell)
