"""Static functions in pickles, alone or in a layer: what they are made of, by name. Traces are made anew."""

from __future__ import annotations

import inspect
import sys
from typing import Any


def reduced(function: Any) -> Any:
    """What `__reduce__` of a `StaticFunction` returns.

    Args:
        function: the static function. If it was decorated where it is defined, its name stands for it (or its object and
            the name of the method); else it is made again from the function it wraps, which pickle finds by name.
    """
    kind, name = type(function), function.__name__
    made_of = kind, (function.raw, function.input_spec, function.instance, function.full_graph)
    if function.instance is None:
        return function.__qualname__ if _found(function.__module__, function.__qualname__) is function else made_of
    if isinstance(inspect.getattr_static(type(function.instance), name, None), kind):
        return getattr, (function.instance, name)
    return made_of


def _found(module: str, qualname: str) -> Any:
    """What a module has under a (dotted) name."""
    found: Any = sys.modules.get(module)
    for name in qualname.split("."):
        found = getattr(found, name, None)
    return found
