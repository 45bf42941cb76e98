"""Texts of the user's that are parsed and compiled once more."""

from __future__ import annotations

import contextlib
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
