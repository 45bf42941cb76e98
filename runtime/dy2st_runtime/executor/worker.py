"""A second process that compiles kernels while the first does: in a process it is done one after the other.

Both work on one list, from its two ends, and meet; the compile cache is the channel between them. The worker only saves time:
whatever it does not deliver, its parent compiles.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
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
        kernels: (symbol, source), in the order in which the worker is to compile them.
        engine: who compiles them.
    """

    def __init__(self, folder: Path, kernels: list[tuple[str, str]], engine: Engine):
        package_root = str(Path(__file__).parent.parent.parent)
        path = os.pathsep.join(filter(None, [package_root, os.environ.get("PYTHONPATH")]))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "dy2st_runtime.executor.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
        )
        assert self._process.stdin is not None
        try:
            with self._process.stdin as pipe:
                pipe.write(json.dumps({"folder": str(folder), "kernels": kernels, "engine": engine.name}).encode())
        except BrokenPipeError:
            self._process.wait()  # it could not start: the parent does all the work

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *exc: object) -> None:
        self._process.kill()
        self._process.wait()


def worthwhile(kernels: int, routines: int, cache: ObjectCache, engine: Engine) -> bool:
    """Whether a second process would help: enough to do, a second core, a cache to meet in, and a Python to start."""
    seconds = kernels * engine.kernel_seconds + routines * ROUTINE
    python = Path(sys.executable or "").name.startswith("python")
    return seconds > 2 * engine.start_seconds and threads.available() > 1 and cache.folder is not None and python


def main() -> None:
    from .compile import compile_object

    task = json.load(sys.stdin)
    cache = ObjectCache(Path(task["folder"]))
    for symbol, source in task["kernels"]:
        if cache.get(symbol) is None:
            cache.put(symbol, compile_object(source, symbol, ENGINES[task["engine"]]))


if __name__ == "__main__":
    main()
