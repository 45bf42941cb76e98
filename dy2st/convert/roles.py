"""What a file of this package does, which decides what an exception from it means; `trace.raising` reads it.

A file says `ROLE = roles.ACTING` or `ROLE = roles.BOOKKEEPING`. What fails in any other one is an error of the user's or of ours, as it
says itself. `runs_statements(__file__)` says that its code stands for statements.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import TypeVar

F = TypeVar("F", bound=Callable)

ACTING = "acting"
"""It does what the user's line asks for by Python's own functions and operators: what they raise is what eager mode raises."""
BOOKKEEPING = "bookkeeping"
"""It keeps the books of a trace and does nothing for the user: an exception that it does not raise itself is a mistake of ours."""
calling: set[CodeType] = set()
"""The code of functions that call functions and iterators of the user's, whatever the role of their file."""

statements: set[str] = set()
"""The files whose code runs statements of the user's in the place of these (`a[i] = v`): what it raises is what Python says of them."""


def calls_user_code(function: F) -> F:
    """Notes that a function calls code of the user's, or looks at what that gives. A decorator."""
    calling.add(function.__code__)
    return function


def runs_statements(file: str) -> None:
    """Notes a file whose code runs statements of the user's."""
    statements.add(file)
