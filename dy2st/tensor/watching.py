"""Who watches the ops of a thread, as they run eagerly: what learns the steps of a training loop, or follows one (`jit.steps`)."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dy2st_runtime.ops.registry import OpDef

blocks: set[Any] = set()
"""An entry for each block of `recorders.recording`, each watcher, of any thread, and the recorder of the process: where there is none,
nobody need ask what belongs to the thread."""


class Watcher:
    """Is told what a thread does between a call of a static function and the step of an optimizer, or what else ends the step."""

    __slots__ = ("__weakref__",)

    def apply(self, op: type[OpDef], ins: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[Any, ...] | None:
        """An op is about to run; its outputs, if this gives them."""
        raise NotImplementedError

    def call(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A `composite` function is called; its result."""
        raise NotImplementedError

    def backward(self, roots: Sequence[Any], grads: Sequence[Any], retain_graph: bool, create_graph: bool) -> bool:
        """`backward()` is called; whether this does what there is to do."""
        raise NotImplementedError

    def grad(self, roots: Sequence[Any], grads: Sequence[Any], wrt: Sequence[Any], retain_graph: bool, create_graph: bool,
             blocked: Sequence[Any]) -> list[Any] | None:  # fmt: skip
        """`grad()` is called; the gradients, if this gives them."""
        raise NotImplementedError

    def step(self, optimizer: Any) -> bool:
        """`optimizer.step()` is called; whether this does what there is to do."""
        raise NotImplementedError

    def read(self, t: Any) -> None:
        """Python reads the value of a tensor."""

    def end(self) -> None:
        """Something happens that no watcher knows of: whatever waits is done now, and nothing more is watched."""
        raise NotImplementedError


class _State(threading.local):
    watch: Callable[[], Watcher | None] | None = None


state = _State()


def current() -> Watcher | None:
    """The watcher of this thread."""
    watch = state.watch if blocks else None
    return None if watch is None else watch()


def watch(watcher: Watcher | None) -> None:
    """Lets something watch this thread from now on; None: nothing does. A watcher that nobody else has is gone, with all that it has."""
    before, state.watch = state.watch, None
    if before is not None:
        blocks.discard(before)
    if watcher is not None:
        known = weakref.ref(watcher, blocks.discard)
        blocks.add(known)
        state.watch = known


def end() -> None:
    """Ends the watch over this thread."""
    watcher = current()
    if watcher is not None:
        watcher.end()
    else:
        watch(None)


@contextlib.contextmanager
def nobody() -> Iterator[None]:
    """Nobody watches this thread in the block, which does what belongs to another."""
    before, state.watch = state.watch, None
    try:
        yield
    finally:
        state.watch = before
