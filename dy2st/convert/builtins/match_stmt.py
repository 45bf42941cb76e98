"""What the patterns of `match` ask of a value, beside comparisons."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from ..control.if_stmt import or_none
from ..control.logical import and_
from ..hub import current_tracer
from ..values.dynamic_list import DynamicList
from ..values.maybe_none import MaybeNone
from ..values.maybe_value import MaybeValue
from ..values.one_of import OneOf, choose
from ..values.staged_dict import StagedDict
from .builtin_functions import isinstance_

# of these a class pattern takes one positional pattern, for the value itself
_ATOMS = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


def match_sequence(x: Any, count: int, more: bool) -> Any:
    """Whether x is a sequence of `count` items, or of more."""
    if (found := _in_the_run(x, partial(match_sequence, count=count, more=more))) is not None:
        return found
    if isinstance(x, DynamicList):
        return x.length() >= count if more else x.length() == count
    if not isinstance(x, Sequence) or isinstance(x, (str, bytes, bytearray)):
        return False
    return len(x) >= count if more else len(x) == count


def match_rest(x: Any, start: int, trailing: int) -> Any:
    """The items from `start`, but for `trailing` at the end, as a list."""
    x = x._dy_value if isinstance(x, MaybeValue) else x
    if isinstance(x, DynamicList):
        return x[start : x.length() - trailing]
    return list(x[start : len(x) - trailing])


def match_mapping(x: Any, keys: tuple) -> Any:
    """Whether x is a mapping with these keys."""
    if (found := _in_the_run(x, partial(match_mapping, keys=keys))) is not None:
        return found
    if isinstance(x, StagedDict):
        return and_(lambda: True, *[partial(x.contains, key) for key in keys])
    return isinstance(x, Mapping) and all(key in x for key in keys)


def match_others(x: Mapping, keys: tuple) -> dict:
    """What a mapping has besides these keys."""
    x = x._dy_value if isinstance(x, MaybeValue) else x
    return {key: value for key, value in x.items() if key not in keys}


def _in_the_run(x: Any, match: Callable[[Any], Any]) -> Any:
    """Whether what may be None, or is one of several objects, matches; None for other values."""
    if isinstance(x, (MaybeNone, MaybeValue)):
        return or_none(x, match)
    return choose(x, match) if isinstance(x, OneOf) else None


def match_class(x: Any, cls: Any, count: int, names: tuple[str, ...]) -> Any:
    """Whether x is an instance with these attributes, and with `count` positional ones.

    Raises:
        TypeError: the class has fewer positional ones, or it is no class.
    """
    if not isinstance(cls, type):
        raise TypeError("called match pattern must be a class")
    if (found := _in_the_run(x, partial(match_class, cls=cls, count=count, names=names))) is not None:
        return found
    is_one = isinstance_(x, cls)
    if is_one is False:
        return False
    if count and (tracer := current_tracer()) is not None:
        tracer.ask(cls, "__match_args__")
    accepted = getattr(cls, "__match_args__", ())
    if issubclass(cls, _ATOMS) and not accepted:
        accepted = ("",)
    if count > len(accepted):
        plural = "" if len(accepted) == 1 else "s"
        raise TypeError(f"{cls.__name__}() accepts {len(accepted)} positional sub-pattern{plural} ({count} given)")
    return is_one if all(not name or hasattr(x, name) for name in (*accepted[:count], *names)) else False


def match_part(x: Any, cls: type, i: int) -> Any:
    """What the positional pattern i is for."""
    name = getattr(cls, "__match_args__", ("",) * (i + 1))[i]
    return getattr(x, name) if name else x
