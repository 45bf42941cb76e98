"""A second process that compiles kernels while the first does: in a process it is done one after the other.

Both work on one list, from its two ends, and meet; the compile cache is the channel between them. On a machine where even the routines are
not in the cache the worker begins with these while its parent is still busy with the passes. The worker only saves time: whatever it does
not deliver, its parent compiles.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from .. import threads
from .cache import ObjectCache
from .engines import ENGINES, Engine

ROUTINE = 0.3
"""Seconds that compiling a routine takes, roughly."""


class Worker:
    """The parent's side, a context manager; at its end the process is gone.

    Args:
        folder: of the cache, without `objects`.
    """

    def __init__(self, folder: Path):
        package_root = str(Path(__file__).parent.parent.parent)
        path = os.pathsep.join(filter(None, [package_root, os.environ.get("PYTHONPATH")]))
        self._folder = folder
        self._process = subprocess.Popen(
            [sys.executable, "-m", "dy2st_runtime.executor.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
        )
        self._tasks: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        # a pipe takes 64 KiB, and the parent has better things to do than to wait for the other end to start, or to have compiled something
        self._writing = threading.Thread(target=self._write, name="dy2st: kernels for the worker", daemon=True)
        self._writing.start()

    def give(self, kernels: Sequence[tuple[str, str]], engine: Engine) -> None:
        """More to compile by an engine, behind what it has been given before: (symbol, source), in order."""
        task = {"folder": str(self._folder), "kernels": kernels, "engine": engine.name}
        self._tasks.put(json.dumps(task).encode() + b"\n")

    def finish(self) -> None:
        """Waits until everything that it was given is compiled."""
        self._tasks.put(None)
        self._process.wait()

    def _write(self) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        with contextlib.suppress(OSError), pipe:  # it could not start, or has done enough: the parent does the rest
            while (task := self._tasks.get()) is not None:
                pipe.write(task)
                pipe.flush()

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *exc: object) -> None:
        self._process.kill()
        self._process.wait()
        self._tasks.put(None)
        self._writing.join()


def worthwhile(kernels: int, routines: int, cache: ObjectCache, engine: Engine) -> bool:
    """Whether a second process would help: enough to do, a second core, a cache to meet in, and a Python to start."""
    seconds = kernels * engine.kernel_seconds + routines * ROUTINE
    return seconds > 2 * engine.start_seconds and is_possible(cache)


def is_possible(cache: ObjectCache) -> bool:
    """Whether there are a second core, a cache to meet in, and a Python to start."""
    python = Path(sys.executable or "").name.startswith("python")
    return threads.available() > 1 and cache.folder is not None and python


def main() -> None:
    from .compile import compile_object

    gc.disable()  # a module for LLVM is many objects, none of which lasts: looking through them is a quarter of the time of making it
    for line in sys.stdin.buffer:
        task = json.loads(line)
        cache = ObjectCache(Path(task["folder"]))
        for symbol, source in task["kernels"]:
            if cache.get(symbol) is None:
                cache.put(symbol, compile_object(source, symbol, ENGINES[task["engine"]]))


if __name__ == "__main__":
    main()
