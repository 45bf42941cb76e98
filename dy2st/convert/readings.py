"""What a function reads of the world outside of Python while it is traced: files, and the environment.

Eager mode reads it at each call. Where a trace has read it, each call asks whether it is still the same, and traces again where it is not.
What a function writes there, or reads from a file that is open already, would be done once, while tracing: that is an error.
"""

from __future__ import annotations

import functools
import hashlib
import os
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ..framework import io as framework_io
from .followed import require_fresh_file, written_once
from .reach import Reach
from .tracer import current_tracer

Question = tuple[Callable[[Any], Any], Any]
"""What is asked of the world, and about what."""


class World:
    """Where readings are found, as the entries of a dict are, by their questions. Answers that are equal are the same."""

    def get(self, question: Question, default: Any = None) -> Any:
        ask, of = question
        return ask(of)


# ---- questions ----
def _kind(path: Any) -> str | None:
    """What there is under a path; None for nothing."""
    if os.path.isdir(path):
        return "directory"
    return "file" if os.path.isfile(path) else "special" if os.path.exists(path) else None


def _status(path: Any) -> tuple[int, ...] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mode, found.st_size, found.st_mtime_ns


def _names(path: Any) -> list[Any] | None:
    try:
        return sorted(os.listdir(path))
    except OSError:
        return None


def _contents(path: Any) -> bytes | None:
    """What stands for the contents of a file; None where there are none."""
    if not os.path.isfile(path):  # a pipe would wait
        return None
    found = hashlib.blake2b()
    try:
        with open(path, "rb") as file:
            while part := file.read(1 << 20):
                found.update(part)
    except OSError:
        return None
    return found.digest()


def environment(_: None) -> dict[Any, Any]:
    """All variables of the environment, as they are kept: that is ten times as fast as their texts."""
    return dict(vars(os.environ)["_data"])


_ENVIRONMENT = {"environ", "environb", "getenv", "getenvb"}


def reads_environment(reach: Reach) -> bool:
    """Whether code that a trace reaches may read the environment."""
    found = (os.environ, os.getenv)
    return not _ENVIRONMENT.isdisjoint(reach.names) or any(place.now() is x for place in reach.places.values() for x in found)


# ---- what asks them ----
def _reading(f: Callable, ask: Callable[[Any], Any], path: Any = ".", *args: Any, **kwargs: Any) -> Any:
    """A function that reads what is under a path."""
    tracer = current_tracer()
    if tracer is not None:
        if isinstance(path, (str, bytes, os.PathLike)):
            of = os.fspath(path)
            tracer.readings.setdefault((ask, of), ask(of))
        else:
            require_fresh_file(path, f.__name__)
    return f(path, *args, **kwargs)


def _writing(f: Callable, /, *args: Any, **kwargs: Any) -> Any:
    """A function that changes what is under a path.

    Raises:
        StagedValueError: a function is traced.
    """
    if current_tracer() is not None:
        raise written_once(f"{f.__module__}.{f.__name__}()")
    return f(*args, **kwargs)


def _open(f: Callable, file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
    """`open`, and that of paths."""
    tracer = current_tracer()
    if tracer is not None and set(mode) & set("wax+"):
        raise written_once(f"{f.__name__}({str(file)!r}, {mode!r})")
    opened = _reading(f, _contents, file, mode, *args, **kwargs)
    if tracer is not None:
        tracer.opened.add(opened)
    return opened


_READING: dict[Callable[[Any], Any], tuple[Callable, ...]] = {
    _kind: (os.path.exists, os.path.isfile, os.path.isdir, pathlib.Path.exists, pathlib.Path.is_file, pathlib.Path.is_dir),
    _status: (os.path.getsize, os.path.getmtime, os.stat, pathlib.Path.stat),
    _names: (os.listdir, os.scandir, pathlib.Path.iterdir),
    _contents: (pathlib.Path.read_text, pathlib.Path.read_bytes, np.load, np.loadtxt, np.genfromtxt, np.fromfile, framework_io.load),
}
_WRITING = (
    os.remove, os.unlink, os.rename, os.replace, os.mkdir, os.makedirs, os.rmdir, os.removedirs, pathlib.Path.write_text,
    pathlib.Path.write_bytes, pathlib.Path.touch, pathlib.Path.mkdir, pathlib.Path.rmdir, pathlib.Path.unlink, pathlib.Path.rename,
    pathlib.Path.replace, np.save, np.savez, np.savez_compressed, np.savetxt, framework_io.save,
)  # fmt: skip
OF_FILES: dict[Any, Callable] = {
    **{f: functools.partial(_reading, f, ask) for ask, functions in _READING.items() for f in functions},
    **{f: functools.partial(_writing, f) for f in _WRITING},
    **{f: functools.partial(_open, f) for f in (open, pathlib.Path.open)},
}
"""What is called in the place of functions that read or write files."""
