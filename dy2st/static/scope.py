"""The global scope."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from dy2st_runtime.scope import Scope

_stack = [Scope()]


def global_scope() -> Scope:
    """The scope that runs use unless another is given.

    >>> scope = Scope()
    >>> with scope_guard(scope):
    ...     global_scope() is scope
    True
    """
    return _stack[-1]


@contextlib.contextmanager
def scope_guard(scope: Scope) -> Iterator[None]:
    """Makes a scope the global one until the end of the block."""
    _stack.append(scope)
    try:
        yield
    finally:
        _stack.pop()
