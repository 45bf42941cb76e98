"""From a converted function and a key to a `ConcreteProgram`."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any

from dy2st_runtime import config
from dy2st_runtime.garbage import no_search_for_garbage
from dy2st_runtime.ir import Program, Variable, show_program, verify
from dy2st_runtime.ir.functions import drop_unused_functions, lift_functions, merge_functions

from ..convert.alias.escape import Kept
from ..convert.calls.calls import call, convert_function, why_unconverted
from ..convert.contexts.context_managers import Through
from ..convert.effects.cells import AppendCell, Cell, EntryCell, OuterVariable, defaults_of, place_of, read_outside
from ..convert.guards.activations import Kind
from ..convert.guards.namespaces import untracked_write
from ..convert.guards.places import CONTENTS, GRADIENT, LENGTH, OWNER, Place, place_of_attribute, referred
from ..convert.guards.reach import Reach
from ..convert.pyfacts.attribute_lookup import MISSING, held
from ..convert.pyfacts.code_names import names_of
from ..convert.pyfacts.safe_repr import named
from ..convert.pyfacts.tensor_attributes import attributes_of_tensor
from ..convert.pyfacts.undefined import Undefined
from ..convert.regions.list_promotion import current, put_back
from ..convert.trace.raising import refusal, stage_last_raise
from ..convert.trace.tracer import Tracer
from ..convert.values.containers import containers_of, held_by, is_container, lists_in
from ..convert.values.maybe_attribute import MaybeAttribute
from ..convert.values.record_layout import holds_objects
from ..convert.values.record_list import RecordList
from ..convert.values.staged_list import StagedList
from ..convert.values.trees import flatten, split, unflatten
from ..convert.values.unconverted_print import printing_later
from ..errors import Dy2stError, Location, StagedValueError, StructureError, of_results
from ..tensor import Tensor, dispatch, random
from ..tensor.location import entry, place_of_result
from ..transpiler import ConversionError, first_yield
from .captures import Captured
from .concrete import ConcreteProgram, Effects, Number
from .effects import Changes, replaced
from .guards import Guard, Guards, Look, SameAs, guards_of, guards_of_readings, same
from .recipes import Constant, Found, Recipe, Twin, handed_on, is_whole, located
from .results import DECIDE, Results, require_no_iterator
from .signature import Key, TensorKey
from .static_call import has_attribute, hidden, known_twice


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
        recursive: the calls that are known to be recursive; `unrolled`: the loops that are known to be none of the Program.
        exact: more Python follows, which can tell which object a result is, and what it may stand for: where the run does not know,
            that is refused.
        given: the arguments as the caller has them, if it is a call.
    """

    def __init__(self, function: Any, signature: inspect.Signature, leaves: Sequence[Any], key: Key,
                 shapes: Sequence[Sequence[int]], names: Sequence[str], open_captures: dict[int, tuple[int, ...]],
                 counters: Sequence[tuple[dict | list | OuterVariable, Any]] = (), opened: Sequence[Tensor] = (),
                 recursive: Iterable[Kind] = (), unrolled: Iterable[Location | None] = (), exact: bool = False,
                 given: Mapping[str, Any] | None = None) -> None:  # fmt: skip
        self.given = _paths(dict(given or {}), key.whole)
        self.function, self.signature, self.key, self.exact = function, signature, key, exact
        self.program = Program()
        self.tracer = Tracer(self.program, open_captures, recursive, unrolled)
        self.tracer.may_record = key.may_record
        self.inputs: list[Variable] = []
        self.placeholders: list[Tensor] = []
        self._fed: list[Any] = []
        self.names, self.opened = list(names), opened
        self._tied: list[list[Twin]] = []
        self._compared: list[Place] = []
        self._distinct: list[Place] = []
        self._compares = False
        self._places: dict[int, Place] = {}
        self._fixed: dict[int, Any] = {}  # what is in default arguments and in caches of functions outside
        self.arguments = self._arguments(leaves, shapes, names)
        self.tracer.placeholders, self.tracer.inputs = self.placeholders, self.inputs
        self.tracer.stand_ins.add(given or {}, self.arguments)
        self.numbers = [self._number(holder, entry) for holder, entry in counters]
        paths = _paths(self.arguments, key.whole)
        self._results = Results(self.tracer, self.placeholders, self.inputs, paths, exact)
        self._changes = Changes(self.tracer, self._results, self.placeholders, self.inputs, self.numbers, paths, exact)

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
            name = self.program.fresh_name(names[n]) if self.program.has_name(names[n]) else names[n]
            v = block.create_var(name, key.dtype, shapes[n], is_data=True)
            v.stop_gradient = key.stop_gradient
            self.inputs.append(v)
            self.placeholders.append(Tensor.wrap(v, key.stop_gradient))
            self.placeholders[-1]._weak = key.number
            self._fed.append(leaf)
            is_leaf = isinstance(leaf, Tensor) and leaf._is_leaf and not leaf.stop_gradient
            self.tracer.arguments[id(self.placeholders[-1])] = is_leaf
            made.append(self.placeholders[-1])
        return unflatten(self.key.tree, made)

    def _in_positions(self) -> dict[str, Any]:
        """The arguments, with the lists by default (see `Parameters.bind`) that stand before what has no name for the caller."""
        given, takes = dict(self.arguments), False
        for name, p in reversed([*self.signature.parameters.items()]):
            if name not in given:
                if takes:
                    given[name] = p.default
            elif p.kind in (p.POSITIONAL_ONLY, p.VAR_POSITIONAL):
                takes = True
        return given

    def _number(self, holder: Any, entry: Any) -> Number:
        dtype = "int64" if isinstance(holder[entry], int) else "float64"
        v = self.program.global_block().create_var(None, dtype, (), stem=named(entry), is_data=True)
        v.stop_gradient = True
        return Number(holder, entry, v)

    @entry
    def run(self, name: str) -> ConcreteProgram:
        """Traces.

        Raises:
            whatever the function raises; Dy2stError for what cannot be staged. The outside is then as before.
        """
        with no_search_for_garbage():
            drawn = random.state._value
            try:
                recipe, effects = self._record(name)
            except BaseException:
                if self.tracer.state_made.name:  # the next trace draws the same values for it
                    random.state._value = drawn
                raise
            finally:
                self.tracer.special.restore()
            return self._finished(name, recipe, effects)

    def _record(self, name: str) -> tuple[Recipe, Effects]:
        """Runs the function; what its result is made of, and what it has changed."""
        tracer = self.tracer
        raw = getattr(self.function, "__func__", self.function)
        if raw.__code__.co_flags & inspect.CO_GENERATOR:
            raise _suspended(raw)
        if raw.__code__.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
            convert_function(raw)  # raises: it has the line
        owner = getattr(self.function, "__self__", None)
        tracer.watch(*self.arguments.values(), *(x for x in self._leaves() if hasattr(x, "__dict__")))
        for cls in tracer.stand_ins.classes():
            tracer.special.compare(cls)
        tracer.alternatives.sealed.argument(self.arguments)
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
        tracer.begin(*self._objects())
        tracer.spaces.begin(tracer.reach)
        bound = inspect.BoundArguments(self.signature, self._in_positions())  # type: ignore[arg-type]
        grad = dispatch.is_grad_enabled()
        is_whole = False
        with dispatch.recording(tracer), printing_later():
            try:
                for t in self.opened:  # so that code that reads its shape gets that of the run
                    tracer.on_mutate(t)
                result = call(self.function)(*bound.args, **bound.kwargs)
                tracer.alternatives.require_unchanged()
                tracer.entries.require_unchanged()
                tracer.state_made.require_drawn_first()
                recipe, effects = self._results_and_effects(result, grad)
                self._require_same_flags()
                is_whole = True
            except Through as passed:
                raise (self._known_twice(name) or passed.error) from passed.error.__cause__
            except Exception as error:
                if not isinstance(error, Dy2stError) and (of_trace := self._known_twice(name) or self._hidden(name, error)) is not None:
                    raise of_trace from error
                if (refused := refusal(error)) is not None:
                    raise refused from error
                if not stage_last_raise(tracer, error):
                    raise
                recipe, effects = Constant(None), Effects()
            finally:
                dispatch.set_grad(grad)
                for t, array in tracer.originals.values():
                    t._value = array
                for key, (t, before, _) in tracer.switched.items():
                    if not is_whole or key in tracer.captures:  # a call that fails changes nothing; one that does not sets flags at its end
                        t.set_stop(before)
                put_back(tracer)
                tracer.root.restore()
                counted = (place_of(n.holder, n.entry) for n in self.numbers)
                changed = tracer.spaces.put_back([*tracer.outer_variables, *counted]) if tracer.reach.sets_variables else None
        if changed is not None:
            raise untracked_write(changed).at(place_of_result(raw))
        return recipe, effects

    def _require_same_flags(self) -> None:
        """StagedValueError if a flag `stop_gradient` outside is read, and is another one after the call: the next one would read that.
        Of tensors whose values are read it is a guard."""
        tracer = self.tracer
        changed = [found for key, found in tracer.switched.items() if key not in tracer.captures and found[0]._stops is not found[1]]
        if changed and any("stop_gradient" in names_of(f.__code__).attributes for f in tracer.functions.values()):
            raise StagedValueError(
                "stop_gradient of a tensor outside is read, and is another one after the call, so each call would have to read it anew",
                location=changed[0][2], hint="set it outside of the static function, or set it back before the call ends",
            )  # fmt: skip

    def _known_twice(self, name: str) -> StructureError | None:
        """An error if the function has changed a container that it knows twice, as an argument and from outside: for the trace these are
        two, so what it has raised behind that may be no exception of the user's."""
        if not self.given:
            return None
        tracer = self.tracer
        changed = {id(x): x for x in (*(c.target for c in tracer.root.changed()), *(items for items, _ in tracer.replaced.values()))}
        own = {path for key, path in _paths(self.arguments, self.key.whole).items() if key in changed}
        known = {**{id(x): x for x in tracer.root}, **changed}
        twice = [known[key] for key, path in self.given.items() if key in changed or (path in own and key in known)]
        return known_twice(type(twice[0]).__name__, name, "changes it") if twice else None

    def _hidden(self, name: str, error: Exception) -> StructureError | None:
        """An error if an exception says that an argument lacks an attribute which the caller has given it."""
        if isinstance(error, AttributeError):
            for p, v, t in zip(self.placeholders, self.inputs, self._fed, strict=True):
                if error.obj is p and isinstance(t, Tensor) and has_attribute(t, str(error.name)):
                    return hidden(v.name, str(error.name), name)
        return None

    def _finished(self, name: str, recipe: Recipe, effects: Effects) -> ConcreteProgram:
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
        results = self._results
        made = ConcreteProgram(name, self.key, self.program, self.inputs, captured, list(results.fetches), recipe, effects, guards,
                               list(tracer.notes), self.numbers, leaves, tracer.raised, self._tied)  # fmt: skip
        made.drawn = tracer.drawn
        made.names, made.state_made = self.names, tracer.state_made.name
        made.functions = list(results.functions.values())
        positions = {id(p): i for i, p in enumerate(self.placeholders)}
        missing = [(positions[id(x)], n) for x, n in tracer.lacking if id(x) in positions]
        # what only some runs set stays in the others what the caller has set, of which the trace knows nothing
        given = {i: attributes_of_tensor(p) for i, p in enumerate(self.placeholders)}
        missing += [(i, n) for i, found in given.items() for n, x in found.items() if type(x) is MaybeAttribute]
        made.missing = list(dict.fromkeys(missing))
        made.leaves_made = set(tracer.new_leaves)
        # tensors outside that let gradients through in the call only, from before they were used
        opened = {v.name: tracer.switched[key][2] for key, (t, v) in tracer.captures.items()
                  if key in tracer.switched and tracer.switched[key][1] and not v.stop_gradient
                  and all(t is not x for x, _ in effects.flags)}  # fmt: skip
        made.require_no_new_leaf(tracer.new_leaves | opened, {*(v.name for _, v in tracer.freed.values()), *opened})
        made.compared, made.compares, made.compares_arguments = self._compared, self._compares, tracer.compares_arguments
        made.distinct, made.squeezes = self._distinct, tracer.squeezes
        made.told = [(path, self._places.get(id(x)), x, same) for path, x, same in tracer.stand_ins.told]
        return made

    def _results_and_effects(self, result: Any, grad: bool) -> tuple[Recipe, Effects]:
        """What a call returns and what it changes. Errors are marked `of_results`: no line is at fault, but what is left there.

        Args:
            grad: whether gradients were recorded before the call.
        """
        own = [f for f in self.tracer.functions.values() if not self.tracer.is_inner(f)]
        self._fixed = self.tracer.note_before([*(x for f in own for x in defaults_of(f)), *self.tracer.given])
        try:
            self._require_distinct(result)
            if dispatch.is_grad_enabled() is not grad:
                raise StagedValueError("a static function leaves its caller with gradients recorded, or not, other than before",
                                       hint="use `with paddle.no_grad():` around what it is meant for")  # fmt: skip
            recipe = self._results.recipe(result)
            require_no_iterator(recipe, self.tracer.before)
            effects = self._changes.found()
            recipe, self._tied = self._results.several.told(recipe, effects)
            if self.exact and self._tied:
                raise StructureError("a variable is one of several objects, as not even the run knows", hint=DECIDE)
        except Dy2stError as error:
            raise of_results(error).at(place_of_result(getattr(self.function, "__func__", self.function))) from error.__cause__
        for t in (*self.placeholders, *(t for t, _ in self.tracer.captures.values())):
            self.tracer.aliases.require_fresh(t, self.tracer.block, "the caller's")
        return recipe, effects

    def _require_distinct(self, result: Any) -> None:
        """StructureError if two of the containers that the arguments, the objects and the variables outside hold now may be one object."""
        tracer = self.tracer
        if not tracer.alternatives and not tracer.aliases.merged_lists and not tracer.sharing:
            return
        own = [f for f in tracer.functions.values() if not tracer.is_inner(f)]
        outside = [*tracer.outer_variables.values(), *(OuterVariable(*v) for f in own for v in read_outside(f)), *tracer.spaces.variables()]
        owners = [x for x in tracer.owners.values() if id(x) not in tracer.created]
        defaults = (x for f in own for x in defaults_of(f))
        held = current(tracer, (*self.arguments.values(), *owners, *(v for o in outside for v in o.values()), *defaults))
        # what has become a list of dynamic length had these entries, which it may have still
        entries = [v for items, _ in tracer.replaced.values() if type(items) is list and self._results.was_there(items) for v in items]
        containers, lists = _within([*held, *entries])
        tracer.alternatives.require_distinct(containers, lists)
        if tracer.sharing:
            tracer.sharing.settle()
            # these keep the objects that they begin with
            grown = [(items, x) for items, x in tracer.replaced.values()
                     if isinstance(x, RecordList) and x.has_grown() and self._results.was_there(items)]  # fmt: skip
            # more Python that follows knows the results by the names that these have
            containers, lists = _within((*held, *(v for items, _ in grown for v in items), *([result] if self.exact else [])))
            records = [x for x in lists if isinstance(x, StagedList) or holds_objects(x.layout)]
            Kept(tracer.sharing, [*containers, *records], [x for _, x in grown]).require_one_place()

    def _leaves(self) -> list[Any]:
        return flatten(self.arguments, whole=self.key.whole)[0]

    def _objects(self) -> list[Any]:
        """The arguments that are no tensors, and the tensors' tree is not looked into."""
        return [x for x, k in zip(self._leaves(), self.key.leaves, strict=True) if not isinstance(k, TensorKey)]

    def _read(self, recipe: Recipe, effects: Effects) -> tuple[Recipe, list[Captured], Guards]:
        """The recipe, with places for what is found outside; where the tensors of the outside are; and what must stay as it is."""
        tracer = self.tracer
        unconverted = any(why_unconverted(f.__code__) for f in tracer.functions.values())
        reach = Reach(replaced(effects), tracer.before, {id(c.target) for c, _ in effects.cells if isinstance(c, Cell)}, unconverted)
        owners = [type(x) if id(x) in tracer.created else x for x in tracer.owners.values()]
        reach.add(*tracer.functions.values(), *owners, *self._objects())
        reach.add(*tracer.given)
        tracer.spaces.reach_into(reach)
        for owner, name in tracer.asked:
            reach.ask(owner, name)
        for owner in tracer.swept:
            reach.sweep(owner)
        if (left := reach.new_tensor_attribute()) is not None:
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
        if (owner := getattr(self.function, "__self__", None)) is not None:
            places.setdefault(id(owner), Place(referred(owner), OWNER, "the object of the method"))
        for x in (*self._fixed.values(), *self._objects()):
            if is_container(x) or is_dataclass(x):  # of which a trace serves no others
                places.setdefault(id(x), Place(referred(x), OWNER, "an argument"))
        self._places = places
        gradients = [*self._gradients(places)]
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
        for cell in (c for c, _ in effects.cells if isinstance(c, EntryCell)):
            key = place_of(cell.target, cell.entry)
            if key in merged and key not in reach.places and tracer.was_before(cell.target):
                # code of a library has changed it, by a name that no code of the user's has: in other runs it stays what it was
                place = Place(cell.target, cell.entry, cell.name)
                if not isinstance(place.now(), Tensor):
                    reach.places[key] = place
        assigned = {n for f in tracer.functions.values() for n in names_of(f.__code__).assigned | names_of(f.__code__).changed}

        def unchanged(place: Place, key: tuple) -> bool:
            r = entries.get(key)
            return key[1] in assigned and (r is None or (isinstance(r, Constant) and same(r.value, place.now())))

        told = tracer.overwritten.names(reach.functions.values())

        fetches = list(self._results.fetches)

        def may_lack(position: int) -> bool:
            return fetches[position] in tracer.absent

        def overwritten(key: tuple) -> bool:
            return key in entries and not reach.sweeps and is_whole(entries[key], may_lack) and told(key)

        lost = {key for key, r in entries.items() if isinstance(r, Constant) and isinstance(r.value, Undefined)}
        places_of_captured = {id(c.tensor): c.place for c in captured}
        guards = list(guards_of(reach, places_of_captured, kept, found, merged, lost, unchanged, tracer.named, overwritten))
        self._compared = [place for key, place in compared.items() if key not in tracer.captures]
        self._compares = bool(tracer.compared) or reach.lists
        if effects.writes_tensors or reach.lists:  # an optimizer may have a parameter that no layer has now, and has at the next call
            looked = {id(g.place.now()): g.place for g in guards if isinstance(g.value, Look)}
            self._distinct = [place for key, place in looked.items() if key not in compared]
        return recipe, captured, Guards([
            *(self._assigned(g) for g in guards
              if not ((g.entry is LENGTH or g.entry is CONTENTS) and id(g.holder) in own) and place_of(g.holder, g.entry) not in counted),
            *gradients,
            *self._without(),
            *guards_of_readings(reach, tracer.readings),
        ])  # fmt: skip

    def _gradients(self, places: dict[int, Place]) -> Iterator[Guard]:
        """Adds the places of the gradients that leaves outside have as the call begins; gives guards of those that have none."""
        found: dict[int, Place] = {}
        for t, g in self.tracer.gradients.begun.values():
            name = f"the gradient of {t.name!r}"
            place = Place(places.get(id(t)) or Place({"tensor": t}, "tensor", t.name), GRADIENT, name)
            if g is None:
                yield Guard(place, None)
            elif id(g) in found:
                yield Guard(place, SameAs(found[id(g)]))
            else:
                places[id(g)] = found[id(g)] = place

    def _without(self) -> Iterator[Guard]:
        """Guards of the attributes that an object does not have yet, and that the run decides about: at the next call it may have them."""
        for (key, name), owner in self.tracer.uncertain_attributes.items():
            if key not in self.tracer.created and held(owner, name) is MISSING:
                yield Guard(place_of_attribute(owner, name), MISSING)

    def _assigned(self, guard: Guard) -> Guard:
        """A guard of a variable outside that the function assigns, in the form in which its effect knows it."""
        variable = self.tracer.outer_variables.get((id(guard.holder), guard.entry))
        return guard if variable is None else Guard(Place(variable, variable.name, guard.place.name), guard.value)


def _within(values: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """The containers, and the lists of dynamic length, in values."""
    containers = list(containers_of(*values))
    return containers, [x for v in (*values, *(v for c in containers for v in held_by(c))) for x in lists_in(v)]


def _paths(arguments: dict[str, Any], whole: frozenset[type]) -> dict[int, tuple]:
    """The way to each list, dict and dict of the attributes of a dataclass or tensor in the arguments, by id."""
    found: dict[int, tuple] = {}
    leaves = set(map(id, flatten(arguments, whole=whole)[0]))

    def walk(value: Any, path: tuple) -> None:
        keys, children = split(value)
        if isinstance(value, Tensor):
            found[id(vars(value))] = path
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


def _suspended(f: types.FunctionType) -> ConversionError:
    return ConversionError(
        f"generator function {f.__name__!r} cannot be converted to a static function, of which each call gives a result",
        location=first_yield(f), hint="collect the values in a list and return it; a static function may call generator functions",
    )  # fmt: skip
