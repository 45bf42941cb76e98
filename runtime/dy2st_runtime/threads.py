"""The threads that share the work of native kernels: how many there are, their state, their begin and their end.

There is one pool in a process. Its state is memory that native code works on (`executor.sharing`); Python only starts the threads, when a
kernel first has work to share, and ends them.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import math
import os
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np

from . import config, forks
from .warning import warn

MUCH = 160_000
"""Work from which a kernel is shared, in the unit of `loopir.parallel`: about 20 microseconds."""
LEAST = 32_000
"""Work of a chunk, at least."""
VECTOR = 64
"""Chunks of a loop along memory are multiples of this, so that the same elements are computed in vectors, and the same one by one, however
many threads there are: the results are equal to the last bit."""
NEVER = 1 << 60

# Words of the state. THREADS: how many may work on a kernel, the caller included; 0 while none were started. MUCH_WORK, LEAST_WORK and
# VECTORS: the constants above. BUSY: 1 while a caller has the pool. A kernel at work: its address, its argument record, the number of its
# iterations, and of a chunk; how many chunks are taken (TAKEN), and by each of the two groups of threads; the first status that is not OK.
# OPEN: how many threads may still join; RUNNING: how many have joined and are not done; ROUND counts the kernels; SLEEPING: threads that
# wait to be woken; WAITING: 1 if the caller does. ENDING: 1 when the process ends. What all threads write has a cache line for itself.
THREADS, MUCH_WORK, LEAST_WORK, VECTORS, ENDING = 0, 1, 2, 3, 4
BUSY, KERNEL, RECORD, ITERATIONS, CHUNK = 8, 9, 10, 11, 12
TAKEN, STATUS = 16, 17
OPEN, ROUND, RUNNING, SLEEPING, WAITING = 24, 25, 26, 27, 28
MUTEX, WORK, DONE = 32, 48, 64  # 128 bytes each: more than any system's mutex and condition need
GROUPS = 80, 88
WORDS = 96
WORD = 8

_libc = ctypes.CDLL(None)


def available() -> int:
    """The cores that this process may use: by its affinity, and by the limit of its control group."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limit = _group_limit()
    return cores if limit is None else max(1, min(cores, math.ceil(limit)))


def _group_limit(root: Path = Path("/sys/fs/cgroup")) -> float | None:
    """The cores that the control group allows for; None if it sets no limit."""
    try:
        quota, period = (root / "cpu.max").read_text().split()
    except (OSError, ValueError):
        try:
            quota, period = ((root / "cpu" / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
        except OSError:
            return None
    try:
        return int(quota) / int(period) if int(quota) > 0 else None
    except ValueError:
        return None  # "max"


def get_num_threads() -> int:
    """How many threads share the work of a kernel: what was set, or the cores that this process may use."""
    return config.NUM_THREADS.get() or available()


def set_num_threads(count: int) -> None:
    """Sets how many threads share the work of a kernel, the calling one included; 0: as many as there are cores.

    Raises:
        ValueError: the number is negative.
        TypeError: it is no int.

        set_num_threads(1)  # everything on the thread that calls
    """
    if not isinstance(count, int) or isinstance(count, bool):
        raise TypeError(f"the number of threads must be an int, got {count!r}")
    if count < 0:
        raise ValueError(f"the number of threads must be 0 or more, got {count}")
    config.NUM_THREADS.set(count)
    pool().resize()


class Pool:
    """The threads of a process, and the memory in which native code finds their state, at `address`."""

    def __init__(self) -> None:
        memory = np.zeros(WORDS + WORD, np.int64)
        # on a boundary of cache lines; never freed, as a thread may look at it as long as the process lives
        self._memory = memory[-memory.ctypes.data // WORD % WORD :][:WORDS]
        self.address = self._memory.ctypes.data
        self._threads: list[threading.Thread] = []
        self._serve: Callable[[int], None] | None = None
        self._ended = False
        self._reset()

    def _reset(self) -> None:
        """No threads, and nothing under way."""
        self._lock = threading.Lock()
        self._threads = []
        self._memory[:] = 0
        self._memory[MUCH_WORK] = MUCH
        for name, place in (("mutex", MUTEX), ("cond", WORK), ("cond", DONE)):
            _check(getattr(_libc, f"pthread_{name}_init")(self._at(place), None))

    def _at(self, word: int) -> ctypes.c_void_p:
        return ctypes.c_void_p(self.address + word * WORD)

    @property
    def size(self) -> int:
        """How many threads there are besides those that call."""
        return len(self._threads)

    def start(self, serve: Callable[[int], None]) -> None:
        """Starts the threads, if there are none.

        Args:
            serve: what a thread does until the process ends: native code, given the address of the state.
        """
        with self._lock:
            self._serve = serve
            self._grow()

    def resize(self) -> None:
        """Sets the number of threads that work together; starts those that are missing."""
        with self._lock:
            if self._memory[THREADS]:
                self._grow()

    def _grow(self) -> None:
        wanted = 1 if self._ended else get_num_threads()
        serve = self._serve
        while serve is not None and len(self._threads) < wanted - 1:
            # a daemon, so that Python does not wait for it before `end` is called
            thread = threading.Thread(target=serve, args=(self.address,), name=f"dy2st-{len(self._threads) + 1}", daemon=True)
            try:
                thread.start()
            except RuntimeError as error:  # the system gives no more
                wanted = len(self._threads) + 1
                warn(f"dy2st works with {wanted} threads: {error}")
                break
            self._threads.append(thread)
        self._memory[[MUCH_WORK, LEAST_WORK, VECTORS]] = MUCH if wanted > 1 else NEVER, LEAST, VECTOR
        self._memory[THREADS] = wanted

    def end(self) -> None:
        """Ends the threads. What runs afterwards, in other functions called at exit, runs on the calling thread."""
        with self._lock:
            self._ended = True
            _check(_libc.pthread_mutex_lock(self._at(MUTEX)))
            self._memory[ENDING] = 1
            _check(_libc.pthread_cond_broadcast(self._at(WORK)))
            _check(_libc.pthread_mutex_unlock(self._at(MUTEX)))
            for thread in self._threads:
                thread.join()
            self._threads = []
            if self._memory[THREADS]:
                self._grow()

    def after_fork(self) -> None:
        """A process that was made by fork has none of the threads; it starts its own when it needs them."""
        self._reset()


def _check(status: int) -> None:
    if status:
        raise OSError(status, os.strerror(status))


@functools.cache
def pool() -> Pool:
    """The pool of this process."""
    made = Pool()
    atexit.register(made.end)
    forks.afterwards(made.after_fork)
    return made
