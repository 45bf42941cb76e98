"""A second process that compiles kernels while the first does: in a process it is done one after the other.

Both work on one list, from its two ends, and meet; the compile cache is the channel between them. On a machine where even the routines are
not in the cache the worker begins with these while its parent is still busy with the passes. The worker only saves time: whatever it does
not deliver, its parent compiles.

On Linux the worker is a fork of its parent, which has loaded LLVM already: it begins at once, where a new Python needs a third of a second.
That is safe beside other threads, as nobody waits for it: if it needs a lock that a thread of the parent's had, it stands still until it is
ended. It has the parent's memory and nothing else: it closes all files, runs no handler of a signal, no finalizer, and nothing at its exit.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO

from .. import threads
from .cache import ObjectCache
from .engines import ENGINES, Engine
from .objects import compile_object

ROUTINE = 0.3
"""Seconds that compiling a routine takes, roughly."""
FORKED = 0.05
"""Seconds that a fork needs before it compiles."""


class _Fork:
    """A process made by fork that compiles what it reads; as much of `subprocess.Popen` as a `Worker` needs."""

    def __init__(self) -> None:
        reading, writing = os.pipe()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # that there are threads: see above
                self._id = os.fork()
            if not self._id:
                try:
                    _serve_apart(reading, before)
                finally:
                    os._exit(0)
        except BaseException:
            os.close(writing)
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            os.close(reading)
        self.stdin: IO[bytes] = os.fdopen(writing, "wb")
        self.returncode: int | None = None

    def kill(self) -> None:
        if self.returncode is None:  # else the number may be another process's
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._id, signal.SIGKILL)

    def wait(self) -> None:
        if self.returncode is None:
            try:
                self.returncode = os.waitstatus_to_exitcode(os.waitpid(self._id, 0)[1])
            except ChildProcessError:  # the user's program has waited for all its children
                self.returncode = 0


def _serve_apart(reading: int, mask: Iterable[int]) -> None:
    """What a fork does. All signals are blocked when it begins."""
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to both, and the parent ends this process
    signal.set_wakeup_fd(-1)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    nothing = os.open(os.devnull, os.O_RDWR)
    for file, standard in ((reading, 0), (nothing, 1), (nothing, 2)):
        os.dup2(file, standard)
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2:
            with contextlib.suppress(OSError):  # that of the list itself
                os.close(int(name))
    with open(0, "rb", closefd=False) as tasks:
        _serve(tasks)


def _started() -> _Fork | subprocess.Popen[bytes]:
    if _forks():
        with contextlib.suppress(OSError, RuntimeError):  # no memory for a second one of this size; an interpreter within another
            return _Fork()
    package_root = str(Path(__file__).parent.parent.parent)
    path = os.pathsep.join(filter(None, [package_root, os.environ.get("PYTHONPATH")]))
    return subprocess.Popen(
        [sys.executable, "-m", "dy2st_runtime.executor.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": path},
    )


def _forks() -> bool:
    return sys.platform == "linux"


class Worker:
    """The parent's side, a context manager; at its end the process is gone.

    Args:
        folder: of the cache, without `objects`.
    """

    def __init__(self, folder: Path):
        self._folder = folder
        self._process = _started()
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
    start = FORKED if _forks() else engine.start_seconds
    return seconds > 2 * start and is_possible(cache)


def is_possible(cache: ObjectCache) -> bool:
    """Whether there are a second core, a cache to meet in, and a Python to start or to fork."""
    python = _forks() or Path(sys.executable or "").name.startswith("python")
    return threads.available() > 1 and cache.folder is not None and python


def _serve(tasks: Iterable[bytes]) -> None:
    gc.disable()  # a module for LLVM is many objects, none of which lasts: looking through them is a quarter of the time of making it
    for line in tasks:
        task = json.loads(line)
        cache = ObjectCache(Path(task["folder"]))
        for symbol, source in task["kernels"]:
            if cache.get(symbol) is None:
                cache.put(symbol, compile_object(source, symbol, ENGINES[task["engine"]]))


if __name__ == "__main__":
    _serve(sys.stdin.buffer)
