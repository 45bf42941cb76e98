"""The modes of the 1.x API: static unless dynamic mode was chosen."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any

from ..nn import Layer
from ..static import input as static_input
from ..static import program
from ..tensor import Tensor, dispatch


class Imperative:
    """What `enable_imperative()` returns: dynamic mode is on; as a context manager, until the end of the block."""

    def __init__(self) -> None:
        self._before = dispatch.set_default_recorder(None)

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        dispatch.set_default_recorder(self._before)


_chosen = False


def enable_imperative(place: Any = None) -> Imperative:
    """Switches to dynamic mode: ops run at once. `with enable_imperative():` does so for a block.

    >>> from dy2st import fluid
    >>> with fluid.enable_imperative():
    ...     fluid.in_dygraph_mode()
    True
    """
    global _chosen
    _chosen = True
    return Imperative()


def disable_imperative() -> None:
    """Switches to static mode: ops are appended to the default main program."""
    program.enable_static()


@contextlib.contextmanager
def guard(place: Any = None) -> Iterator[None]:
    """Dynamic mode until the end of the block.

    >>> from dy2st import fluid
    >>> with fluid.dygraph.guard():
    ...     (fluid.layers.ones([2], "float32") + 1.0).numpy()
    array([2., 2.], dtype=float32)
    """
    with dispatch.eager():
        yield


def data(name: str, shape: Sequence[int | None], dtype: Any = "float32", lod_level: int = 0) -> Tensor:
    """A variable that is fed; see `static.data`.

    In the 1.x API static mode is what one is in until dynamic mode is chosen (`guard`, `enable_imperative`): so the first
    `data` outside of it switches static mode on.
    """
    if dispatch.in_dynamic_mode() and not _chosen:
        program.enable_static()
    return static_input.data(name, shape, dtype, lod_level)


def is_training() -> bool:
    """Whether the layer whose `forward` (or another of its methods) calls is in training mode, the innermost if there are several; True
    outside of layers. Dygraph of 1.x had one mode for the process, which the last `train()` or `eval()` of any layer had set."""
    frame = sys._getframe(1)
    while frame is not None:
        layer = frame.f_locals.get("self")
        if isinstance(layer, Layer):
            recorder = dispatch.current_recorder()
            if recorder is not None:
                recorder.ask(layer, "training")
            return layer.training
        frame = frame.f_back  # type: ignore[assignment]
    return True


def batch_data(name: str, shape: Sequence[int | None], append_batch_size: bool = True, dtype: Any = "float32",
               lod_level: int = 0, type: Any = None, stop_gradient: bool = True) -> Tensor:  # fmt: skip
    """`fluid.layers.data`: like `data`, with a batch dim of any size before the shape.

    Args:
        append_batch_size: False: the shape is complete.
        stop_gradient: False: gradients flow to it.
    """
    sizes = list(shape)
    if append_batch_size and not any(d in (None, -1) for d in sizes):
        sizes = [-1, *sizes]
    t = data(name, sizes, dtype, lod_level)
    t.set_stop(stop_gradient)
    return t


