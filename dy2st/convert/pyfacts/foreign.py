"""Whose code runs as it is: modules of Python, of this package, and of libraries."""

from __future__ import annotations

import builtins
import dataclasses
import functools
import sys
import types
from typing import Any

_IGNORED = {"dy2st", "dy2st_runtime", "numpy", "scipy", "numba", "gast", "astor", "pytest", "_pytest", "pluggy", "tqdm"}
# whose objects are state, as those of a user's class are
_STATEFUL = {*(f"dy2st.optimizer.{name}" for name in ("lr", "scheduler", "plateau", "optimizer", "optimizers")), "dy2st.metric"}

BUILTINS_OF_NAMESPACES = vars(builtins)
"""What `exec` puts as `__builtins__` into a dict that it is given."""

HEAP_TYPE = 1 << 9
"""The flag of classes that are made while a process runs."""

LAYER_STORES = ("_parameters", "_buffers", "_sub_layers")
"""Where layers keep what is not in their attributes."""

ANNOTATING = {"__annotate__", "__annotate_func__"}
"""What Python 3.14 makes for annotations: it holds the dict of the class itself, which is no container of the user's."""

ignored_modules: set[str] = set()
"""What the user has told to leave as it is."""

_OF_DATACLASSES = {"__init__", "__repr__", "__eq__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__setattr__", "__delattr__"}


def is_layer(x: Any) -> bool:
    """Whether an object is a layer."""
    return hasattr(type(x), "sublayers")


def is_of_dataclass(f: Any, cls: type) -> bool:
    """Whether `dataclass` has made a method of a class from a text, which is no source: what it asks is about itself."""
    if not isinstance(f, types.FunctionType) or f.__name__ not in _OF_DATACLASSES or not dataclasses.is_dataclass(cls):
        return False
    return getattr(f, "__wrapped__", f).__code__.co_filename == "<string>"


@functools.lru_cache(4096)
def is_library(module: str | None) -> bool:
    """Whether a module is of Python, this package or a library that it knows, whatever the user has told."""
    top = (module or "").partition(".")[0]
    return (top in _IGNORED and module not in _STATEFUL) or (top in sys.stdlib_module_names and top not in ("__main__", "this"))


def is_foreign(module: str | None) -> bool:
    """Whether a module is of Python, this package or a library that it knows: its functions run as they are."""
    if not isinstance(module, str) or not module or module.startswith("dy2st.library."):  # which stands for what a user might write
        return False
    return is_library(module) or any(module == m or module.startswith(m + ".") for m in ignored_modules)


def is_foreign_class(cls: type) -> bool:
    """Whether a class is of such a module. One that `exec` makes where there is no `__name__` says that it is of `builtins`."""
    return is_foreign(cls.__module__) and not (cls.__module__ == "builtins" and cls.__flags__ & HEAP_TYPE)


def is_stateful(module: str | None) -> bool:
    """Whether a module is one of this package whose objects are state."""
    return module in _STATEFUL


FORMATTING = {"__repr__", "__str__", "__format__"}
