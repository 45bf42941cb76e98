"""Reading many places, and checks that nothing has changed in them, made into a few Python functions.

A model of a hundred layers has thousands of guards, and they are checked at each call. A call of a function for each would take longer than
a small model's kernels, most of it waiting for memory, as the kernels have filled the caches meanwhile. So the places in one dict are read
by one expression, `d['weight'] is a and d['bias'] is b`; its text depends on the names only, so layers of one class share its code.
"""

from __future__ import annotations

import functools
import operator
import types
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..convert.guards.places import ATTRIBUTES, BASES, CLASS, CODE, LENGTH, ORDER, Place
from ..convert.pyfacts.attribute_lookup import MISSING

Check = Callable[[], bool]

_LENGTHS = "len({}) == {}"
_KEYS = "len({}) == {} and all(map(is_, {}, {}))"
_CODES = "{}.__code__ is {} and {}.__defaults__ is {} and {}.__kwdefaults__ is {}"
_CLASSES = "type({}()) is {}"
_BASES = "{}.__mro__ is {}"
_ATTRIBUTES = "own({}(), '__dict__') is {}"
_CELLS = "{}.cell_contents is {}"
_AT_MOST = 40
"""Tests or places in one expression: the compiler of Python needs a stack for it."""

_GLOBALS = {"__builtins__": {"len": len, "all": all, "map": map, "type": type, "own": object.__getattribute__, "is_": operator.is_}}

NOT_THERE = (LookupError, ValueError, AttributeError)
"""What is raised where a place has no value any more: by an entry, an empty cell, an object that is gone."""


def checks(places: Iterable[tuple[Place, Any]]) -> list[Check]:
    """Functions that tell whether the same objects are in the places as the values given; they may raise one of `NOT_THERE` instead.

    For the length of a container the value is the number, for the order of a dict the keys, for the code of a function its code, defaults
    and keyword defaults, for an object its class or the dict of its attributes, for a class its bases. A place as the value stands for
    what is there.

    >>> d = {"a": 1}
    >>> (check,) = checks([(Place(d, "a", "a"), 1), (Place(d, "b", "b"), MISSING)])
    >>> check()
    True
    >>> d["b"] = 2
    >>> check()
    False
    """
    of_dicts: dict[int, list[tuple[str, Sequence[Any]]]] = {}
    others: dict[str, list[tuple[str, Sequence[Any]]]] = {}
    for place, value in places:
        holder, entry = place.holder, place.entry
        if isinstance(value, Place):
            left, right = _read(place), _read(value)
            others.setdefault("", []).append((f"{left[0]} is {right[0]}", [*left[1], *right[1]]))
        elif _is_item(place):
            test = f"{_name(entry)} not in {{}}", [holder]
            if value is not MISSING:
                test = f"{{}}[{_name(entry)}] is {{}}", [holder, value]
            of_dicts.setdefault(id(holder), []).append(test)
        elif entry is LENGTH:
            others.setdefault(_LENGTHS, []).append((_LENGTHS, (holder, value)))
        elif entry is ORDER and isinstance(holder, dict):
            others.setdefault(_KEYS, []).append((_KEYS, (holder, len(value), holder, value)))
        elif entry is CODE:
            code, defaults, keywords = value
            others.setdefault(_CODES, []).append((_CODES, (holder, code, holder, defaults, holder, keywords)))
        elif entry is CLASS and isinstance(holder, weakref.ref):
            others.setdefault(_CLASSES, []).append((_CLASSES, (holder, value)))
        elif entry is BASES:
            others.setdefault(_BASES, []).append((_BASES, (holder, value)))
        elif entry is ATTRIBUTES and isinstance(holder, weakref.ref) and value is not None:
            others.setdefault(_ATTRIBUTES, []).append((_ATTRIBUTES, (holder, value)))
        elif isinstance(holder, types.CellType) and value is not MISSING:
            others.setdefault(_CELLS, []).append((_CELLS, (holder, value)))
        else:
            text, given = _read(place)
            others.setdefault("", []).append((f"{text} is {{}}", [*given, value]))
    groups = [*of_dicts.values(), *others.values()]
    return [function for tests in groups for function in _functions(tests, " and ")]


def reads(places: Iterable[Place]) -> list[Callable[[], tuple]]:
    """Functions that return what is in the places now, in order, some places each; they may raise one of `NOT_THERE` instead.

    >>> d = {"a": 1, "b": 2}
    >>> (read,) = reads([Place(d, "a", "a"), Place(d, "b", "b")])
    >>> read()
    (1, 2)
    """
    return _functions([*map(_read, places)], ", ", "({},)")


def _read(place: Place) -> tuple[str, list[Any]]:
    """An expression that reads a place, and what it needs."""
    return (f"{{}}[{_name(place.entry)}]", [place.holder]) if _is_item(place) else ("{}()", [place.now])


def _is_item(place: Place) -> bool:
    """Whether it is an entry of a dict that nobody's class makes something else of."""
    return type(place.holder) in (dict, OrderedDict) and type(place.entry) is str


def _name(entry: str) -> str:
    return repr(entry).replace("{", "{{").replace("}", "}}")


def _functions(parts: Sequence[tuple[str, Sequence[Any]]], join: str, whole: str = "{}") -> list[Callable[[], Any]]:
    """Functions of expressions. What they read and compare are their defaults, where the garbage collector finds it."""
    found: list[Callable[[], Any]] = []
    for i in range(0, len(parts), _AT_MOST):
        some = parts[i : i + _AT_MOST]
        values = [value for _, given in some for value in given]
        names = iter([f"v{i}" for i in range(len(values))])
        text = whole.format(join.join(part.format(*(next(names) for _ in given)) for part, given in some))
        found.append(types.FunctionType(_code(text, len(values)), _GLOBALS, "read", tuple(values)))
    return found


@functools.lru_cache(maxsize=4096)
def _code(text: str, count: int) -> types.CodeType:
    """The code of a function of `count` parameters that returns an expression."""
    return eval(f"lambda {', '.join(f'v{i}' for i in range(count))}: {text}", {}).__code__
