"""Functions of the API that compute by several ops, which whoever watches the thread may take as one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from . import watching
from .recorders import current_recorder

F = TypeVar("F", bound=Callable)
_blocks = watching.blocks


def composite(function: F) -> F:
    """A decorator of functions whose ops and attributes follow from the arguments alone: from the constants among them, and from the
    dtypes and shapes of the tensors, and not from their values or from anything else."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        watcher = watching.current() if _blocks and current_recorder() is None else None
        return function(*args, **kwargs) if watcher is None else watcher.call(function, args, kwargs)

    return cast(F, call)
