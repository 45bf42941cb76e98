"""Recipes: what the results of a call, and what it changes, are made of."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..convert.guards.places import Place
from ..convert.pyfacts.safe_repr import shown
from ..convert.pyfacts.undefined import NoAttribute, Undefined
from ..convert.values.kind_codes import CLASSES, decoded
from ..convert.values.maybe_attribute import MaybeAttribute
from ..convert.values.maybe_none import MaybeNone
from ..convert.values.maybe_value import MaybeObject, MaybeValue
from ..convert.values.record_layout import entries
from ..convert.values.record_list import RecordList
from ..convert.values.staged_dict import StagedDict
from ..convert.values.trees import MaybeNumber, build
from ..tensor import Tensor
from .origins import IN_LOOP
from .shells import Shell, put_together


@dataclass(frozen=True)
class Constant:
    """A Python value in a result."""

    value: Any


@dataclass(frozen=True)
class Argument:
    """A tensor argument itself in a result: its position among the fed tensors."""

    position: int


@dataclass(frozen=True)
class Fetched:
    """A computed value in a result: its position among the fetches.

    Attributes:
        number: it is a Python number (or a list of such) to the user.
        flag, cls: the position of what says whether it is a number, of this class; without one, that of its code, or of the codes of the
            entries of a list; -1: it always is, or never.
        mark: of a list: two with the same are one object.
    """

    position: int
    number: bool = False
    flag: int = -1
    cls: str = ""
    mark: int = 0


@dataclass(frozen=True)
class Rebuilt:
    """A list, tuple, dict, ... in a result. `mark`: two with the same are one object; 0: this one is nowhere else."""

    kind: type
    keys: tuple
    children: tuple[Recipe, ...]
    mark: int = 0


class Attributed:
    """The kind of node that a tensor with attributes of the user's is in a recipe: the tensor, and these. The keys: their names."""


@dataclass(frozen=True)
class Given:
    """A list, dict or dataclass among the arguments in a result: the way to it, and what is in it."""

    path: tuple[Any, ...]
    contents: Recipe


@dataclass(frozen=True)
class Held:
    """A list, dict or dataclass of the outside in a result, and what is in it."""

    value: Any
    contents: Recipe


@dataclass(frozen=True)
class Found:
    """What is in a place outside when a call begins: a tensor, or a container, that a result hands on; and what it was made of."""

    place: Place
    contents: Recipe


@dataclass(frozen=True)
class CreatedContainer:
    """A container that a call makes, by its mark."""

    mark: int


def is_whole(recipe: Recipe, may_lack: Callable[[int], bool]) -> bool:
    """Whether a value is made anew in each run, so that nothing of what was in its place before can be in it.

    Args:
        may_lack: whether there may be no value at this position of the fetches.

    >>> is_whole(Rebuilt(list, (), (Fetched(0), Constant(None))), lambda position: False)
    True
    """
    if isinstance(recipe, Rebuilt):
        return recipe.kind in (list, tuple, dict) and all(is_whole(child, may_lack) for child in recipe.children)
    if isinstance(recipe, Constant):
        return not isinstance(recipe.value, Undefined)
    return isinstance(recipe, Argument) or (isinstance(recipe, Fetched) and recipe.flag < 0 and not may_lack(recipe.position))


Twin = Argument | Fetched | Tensor | CreatedContainer
"""Where a tensor is at each call: among the arguments, among the results, outside, or anywhere in a container."""


@dataclass(frozen=True)
class Picked:
    """One of several Python objects in a result, by an index."""

    index: Recipe
    options: tuple[Recipe, ...]


@dataclass(frozen=True)
class Identified:
    """A tensor that is one of several objects, or a list of such.

    Attributes:
        which: the position of the number of the object, or of the list of numbers of the entries.
        objects: what they are, by these numbers; None for one that is made by the call, for the first of its values. A tensor of another
            number is an object of its own.
        stopped: the numbers of those that need no gradient, where others do.
    """

    value: Recipe
    which: int
    objects: dict[int, Recipe | None]
    stopped: frozenset[int] = frozenset()


Recipe = Constant | Argument | Fetched | Rebuilt | Given | Held | Found | Picked | Identified
Leaf = Constant | Argument | Fetched | Found
"""What the recipe of a tensor may be."""


def cook(recipe: Recipe, arguments: Sequence[Tensor], values: Sequence[Any], follow: Callable[[tuple], Any],
         made: dict[Any, Any]) -> Any:  # fmt: skip
    """The result of a call.

    Args:
        follow: finds a container among the arguments.
        made: the containers that the call has made, by their marks, the tensors, by -1 - their numbers, and the lists, by their recipes.
    """
    if isinstance(recipe, Fetched):
        return _fetched(recipe, values, made)
    if isinstance(recipe, Given):
        return follow(recipe.path)
    if isinstance(recipe, Found):
        return recipe.place.now()
    if isinstance(recipe, (Constant, Held)):
        return recipe.value
    if isinstance(recipe, Picked):
        option = recipe.options[cook(recipe.index, arguments, values, follow, made)]
        return cook(option, arguments, values, follow, made)
    if isinstance(recipe, Argument):
        return arguments[recipe.position]
    if isinstance(recipe, Identified):
        value, numbers = cook(recipe.value, arguments, values, follow, made), values[recipe.which]

        def identified(x: Any, number: Tensor) -> Any:
            i = number.item()
            if not isinstance(x, Tensor) or i < 0 or i % IN_LOOP not in recipe.objects:
                return x
            known = recipe.objects[i % IN_LOOP]
            if known is None and i % IN_LOOP in recipe.stopped:
                x._stop, x._node = True, None
            return made.setdefault(-1 - i, x) if known is None else cook(known, arguments, values, follow, made)

        if isinstance(value, list):  # which other names have too
            value[:] = map(identified, value, numbers)
            return value
        return value if value is None else identified(value, numbers)
    if isinstance(recipe, Rebuilt):
        if recipe.kind is MaybeValue and cook(recipe.children[1], arguments, values, follow, made):
            return None
        if recipe.kind is MaybeValue:
            return cook(recipe.children[0], arguments, values, follow, made)
        if recipe.mark in made:
            return made[recipe.mark]
        if recipe.kind is RecordList:
            layout, objects = recipe.keys
            new: Any = entries(layout, [cook(c, arguments, values, follow, made) for c in recipe.children], objects.values)
        elif recipe.kind is StagedDict:
            empty, *keys = recipe.keys
            parts = zip(keys, *(recipe.children[i::3] for i in range(3)), strict=True)
            here = [(cook(since, arguments, values, follow, made), key, value) for key, value, has, since in parts
                    if cook(has, arguments, values, follow, made)]  # fmt: skip
            here.sort(key=lambda entry: entry[0])
            new = empty()
            for _, key, value in here:  # `update` of a Counter would count
                new[key] = cook(value, arguments, values, follow, made)
        elif recipe.kind is Attributed:
            new, *found = (cook(c, arguments, values, follow, made) for c in recipe.children)
            vars(new).update((n, x) for n, x in zip(recipe.keys, found, strict=True) if not isinstance(x, NoAttribute))
        elif recipe.kind is Shell:
            new = put_together(recipe.keys, [cook(c, arguments, values, follow, made) for c in recipe.children])
        else:
            new = build(recipe.kind, recipe.keys, [cook(c, arguments, values, follow, made) for c in recipe.children])
        if recipe.mark:
            made[recipe.mark] = new
        return new
    raise TypeError(f"no recipe: {recipe!r}")


def _fetched(recipe: Fetched, values: Sequence[Any], made: dict[Any, Any]) -> Any:
    value = values[recipe.position]
    cls = {"bool": bool, "int": int, "float": float}.get(recipe.cls)
    if isinstance(value, list):
        if recipe not in made:
            plain = [x.item() if cls is None else cls(x.item()) for x in value] if recipe.number else list(value)
            made[recipe] = plain if recipe.flag < 0 else decoded(value, values[recipe.flag])
        return made[recipe]
    if recipe.flag >= 0 and value is not None and values[recipe.flag].item():
        return (cls or CLASSES[values[recipe.flag].item()])(value.item())
    if recipe.number and value is not None:
        return value.item()
    return value


def located(recipe: Recipe, places: dict[int, Place]) -> Recipe:
    """The recipe for calls that may find other objects in the places (by the id of what is there now).

    A container that no place is known for is made anew by each call.
    """
    if isinstance(recipe, Rebuilt):
        return Rebuilt(recipe.kind, recipe.keys, tuple(located(c, places) for c in recipe.children), recipe.mark)
    if isinstance(recipe, Held):
        contents = located(recipe.contents, places)
        place = places.get(id(recipe.value))
        return contents if place is None else Found(place, contents)
    if isinstance(recipe, Identified):
        objects = {i: r and located(r, places) for i, r in recipe.objects.items()}
        return Identified(recipe.value, recipe.which, objects, recipe.stopped)
    if isinstance(recipe, Picked):
        return Picked(recipe.index, tuple(located(r, places) for r in recipe.options))
    if isinstance(recipe, Constant) and id(recipe.value) in places:
        return Found(places[id(recipe.value)], recipe)
    return recipe


def python_values(recipe: Recipe, path: str = "result") -> list[str]:
    """The Python values in a result that are no tensors of the Program, with the ways to them."""
    if isinstance(recipe, Constant):
        return [] if isinstance(recipe.value, Tensor) else [f"{path} = {recipe.value!r:.60}"]
    if isinstance(recipe, Picked):
        return [f"{path}, one of {len(recipe.options)} objects"]
    if isinstance(recipe, (Given, Held, Found)):
        return python_values(recipe.contents, path)
    if not isinstance(recipe, Rebuilt):
        return []
    if recipe.kind in (MaybeValue, MaybeNone, MaybeNumber, MaybeObject, MaybeAttribute, deque):
        return python_values(recipe.children[0], path)
    if recipe.kind is RecordList:
        return []
    if recipe.kind is Attributed:
        return [x for n, child in zip(recipe.keys, recipe.children[1:], strict=True) for x in python_values(child, f"{path}.{n}")]
    if recipe.kind is Shell:
        return [f"{path} = {type(recipe.keys[0]).__name__}(...)"]
    if recipe.kind is StagedDict:
        values = zip(recipe.keys[1:], recipe.children[::3], strict=True)
        return [x for k, child in values for x in python_values(child, f"{path}[{shown(k)}]")]
    steps = [f"[{shown(k)}]" if issubclass(recipe.kind, dict) else f".{k}" for k in recipe.keys]
    steps = steps or [f"[{i}]" for i in range(len(recipe.children))]
    return [x for step, child in zip(steps, recipe.children, strict=True) for x in python_values(child, path + step)]


def outside(recipe: Recipe) -> tuple[Tensor, Tensor] | None:
    """Of a tensor of the outside in a result: the one that was traced, and the one that is in its place now; None for anything else."""
    traced = recipe.contents if isinstance(recipe, Found) else recipe
    if not isinstance(traced, Constant) or not isinstance(traced.value, Tensor):
        return None
    return traced.value, recipe.place.now() if isinstance(recipe, Found) else traced.value


def handed_on(recipe: Recipe) -> list[Tensor]:
    """The tensors of the outside that are in a result as the objects that they are."""
    if isinstance(recipe, Rebuilt):
        return [x for child in recipe.children for x in handed_on(child)]
    if isinstance(recipe, Identified):
        return [x for r in recipe.objects.values() if r is not None for x in handed_on(r)]
    if isinstance(recipe, Found):
        return handed_on(recipe.contents) if isinstance(recipe.contents, Constant) else []
    return [recipe.value] if isinstance(recipe, Constant) and isinstance(recipe.value, Tensor) else []
