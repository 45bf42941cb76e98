"""Tensors that outlive a call, in an attribute, item or global, and are one of several objects: the run tells which.

Eager mode keeps that object itself, so its changes are seen wherever else it is held. Where a Program cannot tell (what a recursive
function makes), to change one of them in place later is an error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from dy2st_runtime.ir import Variable

from ..convert.effects.gradient_needs import Need
from ..convert.trace.tracer import Tracer
from ..convert.values.staged_list import StagedList
from ..errors import StructureError
from ..tensor import Tensor
from .concrete import Effects
from .origins import Origins
from .recipes import Argument, Constant, CreatedContainer, Fetched, Given, Held, Identified, Rebuilt, Recipe, Twin


class Several:
    """The values among the results and effects of a trace that may be objects which are elsewhere too.

    Args:
        placeholders: what stands for the arguments; `inputs` are the variables of these as the call begins.
        fetches: what is fetched, with the positions.
        fetch: adds to them.
        exact: it can be seen of the result too which objects these are, and whether they need gradients.
    """

    def __init__(self, tracer: Tracer, placeholders: list[Tensor], inputs: list[Variable], fetches: dict[str, int],
                 fetch: Callable[[Variable], Fetched], exact: bool):  # fmt: skip
        self._tracer, self._placeholders, self._inputs, self._fetches, self._fetch = tracer, placeholders, inputs, fetches, fetch
        self._exact = exact
        self._values: dict[int, list[Any]] = {}
        self._inside: dict[int, list[StagedList]] = {}

    def note(self, fetched: Fetched, value: Any) -> Fetched:
        """A tensor or a list is fetched; the same fetch."""
        if not fetched.number and (isinstance(value, StagedList) or self._tracer.aliases.of(value) or self.may_be_stopped(value)):
            self._values.setdefault(fetched.position, []).append(value)
        return fetched

    def may_be_stopped(self, value: Any) -> bool:
        """Whether a value needs a gradient in some runs only, where that can be seen."""
        return self._exact and isinstance(value, Tensor) and self._tracer.needs.of(value) is Need.SOMETIMES

    def note_inside(self, mark: int, columns: list[StagedList]) -> None:
        """A list is made, with entries of these columns as lists in its entries: what was put into those is not told apart."""
        if columns:
            self._inside[mark] = columns

    def told(self, recipe: Recipe, effects: Effects) -> tuple[Recipe, list[list[Twin]]]:
        """The recipe of the result, with the objects that its values are where that can be seen; likewise those of the effects. And groups
        of which the first is one of the others or is not, as not even the run tells.

        Raises:
            StructureError: it can be seen whether a value needs a gradient, and the run does not tell.
        """
        parts = [part for r in (*(r for _, r in effects.cells), *([recipe] if self._exact else ())) for part in walk(r)]
        kept = {r.position for r in parts if isinstance(r, Fetched) and r.position in self._values}
        marks = dict.fromkeys(r.mark for r in parts if isinstance(r, Rebuilt) and r.mark in self._inside)
        groups = [[CreatedContainer(mark), *self.group(column)[1:]] for mark in marks for column in self._inside[mark]]
        if kept or marks:
            telling = _Telling(self, kept)
            groups += telling.inside({mark: self._inside[mark] for mark in marks})
        if kept:
            recipe, more = telling.told(recipe, effects)
            groups += more
        return recipe, [group for group in groups if len(group) > 1]

    def group(self, value: Any) -> list[Twin]:
        """A value, and what it may be, as far as a call knows them."""
        found: list[Twin] = []
        inputs = {id(p): Argument(i) for i, p in enumerate(self._placeholders)}
        for t in (value, *self._tracer.aliases.of(value).values()):
            if id(t) in inputs:
                found.append(inputs[id(t)])
            elif id(t) in self._tracer.captures:
                found.append(self._tracer.captures[id(t)][0])
            elif isinstance(v := t._value, Variable) and v.name in self._fetches:
                found.append(Fetched(self._fetches[v.name]))
        return found


class _Telling:
    """What is known of the values of one trace."""

    def __init__(self, several: Several, kept: set[int]):
        self._several, self._kept = several, kept
        self._tracer, self._fetches, self._values = several._tracer, several._fetches, several._values
        self._block = self._tracer.program.global_block()
        self._variables = {i: self._block.var(name) for name, i in self._fetches.items()}
        switched = self._tracer.detached.values()  # a tensor has another variable since its `stop_gradient` was set
        self._origins = Origins(self._tracer.program, {v.name: t._value.name for t, *both in switched for v in both})
        self._sources = {p: self._origins.sources(self._variables[p]) for p in self._values}
        # of the lists that are kept, what they may hold more than once
        known = [(p, self._variables[p]) for p, names in self._sources.items() if names and p in self._kept]
        self._repeated = {p: self._origins.repeated(v) for p, v in known if v.kind == "array"}
        self._outside = dict(self._known_outside())

    def told(self, recipe: Recipe, effects: Effects) -> tuple[Recipe, list[list[Twin]]]:
        shared = {name for name, count in self._holders().items() if count > 1}
        untold = {p for p, names in self._sources.items() if names and not self._origins.is_told(self._variables[p])}
        lost = {name for name in shared if not self._origins.is_countable(name)}
        lost |= {name for p in untold for name in shared.intersection(self._sources[p] or ())}
        stopped = {p: self._stopped(p, lost, p in untold) for p in self._kept if any(map(self._several.may_be_stopped, self._values[p]))}
        objects: dict[int, dict[str, Recipe | None]] = {}
        for p, names in self._sources.items():
            if names is not None and (p in self._kept or not shared.isdisjoint(names)):
                known = {} if p in untold else {name: self._object(p, name) for name in names}
                ours = shared.union(stopped.get(p, ()))
                found = {name: known.get(name) for name in names if name in ours or known.get(name) is not None}
                objects |= {p: found} if found else {}
        groups = [self._several.group(v) for p in self._kept if self._sources[p] is None or p in untold for v in self._values[p]]
        for p in untold & self._kept:
            groups += [[Fetched(p), Fetched(self._fetches[name])] for name in self._sources[p] or () if self._fetches.get(name, p) != p]
        for name in lost:
            places = [p for p, found in objects.items() if name in found]
            # a list that may hold it twice stands for both; each may be any of the others, also when the first one is gone
            holding: list[Twin] = [Fetched(p) for p in places for _ in range(1 + (name in self._repeated.get(p, ())))]
            groups += [holding[i:] for i in range(len(holding) - 1)]
        wanted = dict.fromkeys(name for found in objects.values() for name in found if name not in lost)
        self._origins.numbers = {name: i for i, name in enumerate(wanted)}
        beside = {p: self._fetch(p) for p, found in objects.items() if not lost.issuperset(found)}
        numbers = self._origins.numbers
        to = {p: Identified(Fetched(p), which, {numbers[n]: r for n, r in objects[p].items() if n not in lost},
                            frozenset(numbers[n] for n in stopped.get(p, ())))
              for p, which in beside.items()}  # fmt: skip
        effects.cells = [(cell, _with(r, to)) for cell, r in effects.cells]
        return _with(recipe, to), groups

    def _stopped(self, p: int, lost: set[str], untold: bool) -> set[str]:
        """The sources of a value that need no gradient, of which others do."""
        names = self._sources[p]
        needs = {name: self._tracer.needs.of_variable(self._origins.variable(name)) for name in names or ()}
        found = {name for name, need in needs.items() if need is not Need.ALWAYS}
        countable = found.isdisjoint(lost) and all(map(self._origins.is_countable, found))
        if names is None or untold or Need.SOMETIMES in needs.values() or not countable:
            raise StructureError("a variable needs a gradient in some runs only, as not even the run knows",
                                 hint="use y.detach(), where it does not matter; or decide with a Python value")  # fmt: skip
        return found

    def inside(self, columns: dict[int, list[StagedList]]) -> list[list[Twin]]:
        """Groups of what may be one object as entries of lists in entries of these columns, by the marks of the lists that they are of."""
        groups: list[list[Twin]] = []
        found: dict[int, Counter[str]] = {}
        for mark, inner in columns.items():
            counts = [self._origins.inside(c._value) for c in inner]
            found[mark] = sum((c for c in counts if c is not None), Counter())
            if None in counts or any(n > 1 for n in found[mark].values()):
                groups.append([CreatedContainer(mark), CreatedContainer(mark)])
            shared = [other for other in found if other != mark and found[other].keys() & found[mark].keys()]
            groups += [[CreatedContainer(mark), CreatedContainer(other)] for other in shared]
            sources = [p for p, names in self._sources.items() if not found[mark].keys().isdisjoint(names or ())]
            groups += [[CreatedContainer(mark), Fetched(p)] for p in sources]
        return groups

    def _fetch(self, p: int) -> int:
        return self._several._fetch(self._origins.beside(self._variables[p])).position

    def _known_outside(self) -> Iterator[tuple[str, tuple[Tensor, Recipe]]]:
        """The tensors that are there before and after the call, by the names of the variables that have been their values."""
        tracer = self._tracer
        found: dict[int, tuple[Tensor, Recipe]] = {id(p): (p, Argument(i)) for i, p in enumerate(self._several._placeholders)}
        found |= {id(t): (t, Constant(t)) for t, _ in tracer.captures.values()}
        for name, t in tracer.values.items():
            if id(t) in found:
                yield name, found[id(t)]
        for t, v in (*zip(self._several._placeholders, self._several._inputs, strict=True), *tracer.captures.values()):
            yield v.name, found[id(t)]
        for t, recipe in found.values():  # what it is now comes last, as another one may have had it before
            if isinstance(t._value, Variable):
                yield t._value.name, (t, recipe)

    def _object(self, p: int, name: str) -> Recipe | None:
        """The object that a variable of a source is, if the value may be that and it is elsewhere too."""
        if name in self._outside:
            t, recipe = self._outside[name]
            return recipe if any(self._tracer.aliases.related(v, t) for v in self._values[p]) else None
        return Fetched(self._fetches[name]) if self._fetches.get(name, p) != p else None

    def _holders(self) -> Counter[str]:
        """How many values, of which one is kept, may be an object that the call has made; a list may hold it more than once."""
        found: Counter[str] = Counter()
        for p, names in self._sources.items():
            others = [v for q in self._sources if q != p and (p in self._kept or q in self._kept) for v in self._values[q]]
            # of the entries of two lists their names tell
            related = any(self._tracer.aliases.may_meet(v, other) or (isinstance(v, StagedList) and isinstance(other, StagedList))
                          for v in self._values[p] for other in others)  # fmt: skip
            repeated = self._repeated.get(p, ())
            for name in names or ():
                if name not in self._outside and name not in self._fetches:
                    found[name] += 2 if name in repeated else int(related)
        return found


def walk(recipe: Recipe) -> Iterator[Recipe]:
    """A recipe, and those that it is put together of."""
    yield recipe
    parts: tuple[Recipe, ...] = (recipe.contents,) if isinstance(recipe, (Given, Held)) else ()
    for part in recipe.children if isinstance(recipe, Rebuilt) else parts:
        yield from walk(part)


def _with(recipe: Recipe, to: dict[int, Identified]) -> Recipe:
    """The recipe with other ones in the places of fetches, by their positions."""
    if isinstance(recipe, Fetched) and recipe.position in to and not recipe.number:
        found = to[recipe.position]
        return Identified(recipe, found.which, found.objects, found.stopped)
    if isinstance(recipe, Rebuilt):
        return Rebuilt(recipe.kind, recipe.keys, tuple(_with(c, to) for c in recipe.children), recipe.mark)
    if isinstance(recipe, Given):
        return Given(recipe.path, _with(recipe.contents, to))
    return Held(recipe.value, _with(recipe.contents, to)) if isinstance(recipe, Held) else recipe
