"""When Python looks for garbage."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def no_search_for_garbage() -> Iterator[None]:
    """Within this `with` Python does not look for cycles of garbage.

    A conversion, a trace, the passes and a plan make many objects, nearly all of which live until it ends. To look through all those of the
    libraries again and again would take up to a third of the time.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
