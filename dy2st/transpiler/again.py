"""Texts of the user's that are parsed and compiled once more."""

from __future__ import annotations

import ast
import contextlib
import functools
import linecache
import warnings
from collections.abc import Iterator


@contextlib.contextmanager
def said_before() -> Iterator[None]:
    """Around what parses or compiles such a text: what Python warns of in it, it has said when it compiled the user's module.

    >>> import ast
    >>> with said_before():
    ...     tree = ast.parse(r"'\\d'")
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        warnings.simplefilter("ignore", DeprecationWarning)  # of escapes, before Python 3.12
        yield


@functools.lru_cache(maxsize=64)
def tree_of(file: str) -> ast.Module:
    """A module of the user's as it is written; an empty one if that is no Python, as the cell of a notebook that has magics.

    >>> tree_of("absent.py").body
    []
    """
    try:
        with said_before():
            return ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return ast.Module([], [])
