"""Functions with errors, by what they are about. The line of each is marked with the text that the error starts with."""

import inspect

from . import (
    entries,
    gradients,
    iterators,
    kinds,
    libraries,
    modified,
    one_of_several,
    outside,
    paths,
    python,
    recursion,
)

MODULES = (entries, gradients, iterators, kinds, libraries, modified, one_of_several, outside, paths, python, recursion)
FUNCTIONS = [f for m in MODULES for name, f in inspect.getmembers(m, inspect.isfunction)
             if f.__module__ == m.__name__ and not name.startswith("_")]  # fmt: skip
