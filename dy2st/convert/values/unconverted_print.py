"""`print` in code that runs as it is while a function is traced: generator functions, bodies of classes, functions that are not converted.

Such code calls the `print` of the module `builtins`. For as long as any trace runs, a function stands there that notes for threads
that trace what the program is to print, at each run and in order, and is the old one for all others.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import sys
from collections.abc import Iterator
from typing import Any

from dy2st_runtime import forks

from ...tensor.location import by_debugger, is_own_code
from .. import hub
from ..hub import current_tracer

_lock = forks.lock()
_traces = 0


@contextlib.contextmanager
def printing_later() -> Iterator[None]:
    """Within this `with`, what this thread traces prints when the program runs."""
    global _traces
    with _lock:
        if not _traces:
            builtins.print = _noting(builtins.print)
        _traces += 1
    try:
        yield
    finally:
        with _lock:
            _traces -= 1
            if not _traces:
                # another one, that has been put there meanwhile, stays
                builtins.print = getattr(builtins.print, "_dy2st_function", builtins.print)


def _noting(original: Any) -> Any:
    @functools.wraps(original)
    def print(*values: Any, **options: Any) -> None:
        frame = sys._getframe(1)
        if current_tracer() is None or is_own_code(frame.f_code) or by_debugger(frame):
            original(*values, **options)
        else:
            hub.call(original)(*values, **options)

    print._dy2st_function = original  # type: ignore[attr-defined]
    return print
