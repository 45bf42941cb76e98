"""Calls of functions of the API, where what only the run knows is no tensor."""

from __future__ import annotations

import functools
import inspect
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ..control.if_stmt import or_none
from ..values.maybe_none import MaybeNone
from ..values.one_of import OneOf, choose, values_of


def call_of_api(f: Callable, /, *args: Any, **kwargs: Any) -> Any:
    """Calls a function of the API. Where an argument that may be left out is None in some runs, as `paddle.clip(x, 0, v)` may have it,
    there is a branch for these; and one for each text, if an argument is one of several, as the name of a dtype may be."""
    given = [*args, *kwargs.values()]
    if not any(isinstance(x, (MaybeNone, OneOf)) for x in given):
        return f(*args, **kwargs)
    try:
        signature = inspect.signature(f)
        bound = signature.bind(*args, **kwargs)
    except (TypeError, ValueError):
        return f(*args, **kwargs)  # which says what is wrong
    for name, value in bound.arguments.items():
        if isinstance(value, OneOf) and all(x is None or isinstance(x, str) for x in values_of(value)):
            return choose(value, functools.partial(_with_argument, f, bound, name))
        if isinstance(value, MaybeNone) and signature.parameters[name].default is None:
            return or_none(value, functools.partial(_with_argument, f, bound, name))
    return f(*args, **kwargs)


def _with_argument(f: Callable, bound: inspect.BoundArguments, name: str, value: Any) -> Any:
    """Calls a function of the API, with another value of an argument."""
    new = inspect.BoundArguments(bound.signature, OrderedDict({**bound.arguments, name: value}))
    return call_of_api(f, *new.args, **new.kwargs)
