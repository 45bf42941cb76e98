"""Which recorder the ops of a thread go to while a program is built; where there is none they run eagerly."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from . import watching

if TYPE_CHECKING:
    from .dispatch import Recorder


class _State(threading.local):
    def __init__(self) -> None:
        self.recorders: list[Recorder | None] = []


state = _State()
_blocks = watching.blocks
_default: Recorder | None = None


def set_default_recorder(recorder: Recorder | None) -> Recorder | None:
    """The recorder of the whole process where no other is active (`enable_static` sets it); returns the one before."""
    global _default
    before, _default = _default, recorder
    if recorder is None:
        _blocks.discard(set_default_recorder)
    else:
        _blocks.add(set_default_recorder)
    return before


def current_recorder() -> Recorder | None:
    """The active recorder of this thread; None: eager."""
    recorders = state.recorders if _blocks else None
    return recorders[-1] if recorders else _default


@contextlib.contextmanager
def recording(recorder: Recorder | None) -> Iterator[Recorder | None]:
    """Sends all ops of this thread to the recorder until the end of the block; None: runs them eagerly."""
    block = object()
    _blocks.add(block)
    state.recorders.append(recorder)
    try:
        yield recorder
    finally:
        state.recorders.pop()
        _blocks.discard(block)
