"""Sharing the work of a kernel among threads, natively: what the driver calls, and what each thread of the pool does.

The caller opens the kernel for the threads, takes chunks of its iterations like any of them, and closes it when none is left. Chunks are
taken from counters, so a thread that the system takes off its core holds the others up for one chunk at most, and one that wakes up too
late is not waited for. Threads look for the next kernel for as long as waking would take and then sleep: on a machine that others use
too, one that waits by looking would take the time slice of the one that it waits for. The state is described in `threads`.
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding as llvm
from llvmlite import ir

from .. import threads as at
from ..codegen import layout
from .memory import call_kernel, of_c
from .runs import put_words, word
from .values import I64, declared, instruction

LOOKS = 4000
"""How often a thread looks for work before it sleeps: 50 to 150 microseconds, about what it takes to be woken. So it never waits for more
than twice the time of the better choice, whatever comes."""


def _pointer(builder: Any, state: Any, place: Any) -> Any:
    return builder.gep(builder.inttoptr(state, I64.as_pointer()), [place])


@instruction
def _look(builder: Any, state: Any, place: Any) -> Any:
    """_look(state, place): a word that other threads change."""
    return builder.load_atomic(_pointer(builder, state, place), "seq_cst", 8)


@instruction
def _put(builder: Any, state: Any, place: Any, value: Any) -> None:
    """_put(state, place, value)"""
    builder.store_atomic(value, _pointer(builder, state, place), "seq_cst", 8)


@instruction
def _add(builder: Any, state: Any, place: Any, value: Any) -> Any:
    """_add(state, place, value): adds to a word; what it was before."""
    return builder.atomic_rmw("add", _pointer(builder, state, place), value, "seq_cst")


@instruction
def _replace(builder: Any, state: Any, place: Any, old: Any, new: Any) -> Any:
    """_replace(state, place, old, new): sets a word if it is `old`; whether it was."""
    done = builder.extract_value(builder.cmpxchg(_pointer(builder, state, place), old, new, "seq_cst", "seq_cst"), 1)
    return builder.zext(done, I64)


@instruction
def _pause(builder: Any) -> None:
    """Tells the core that a loop only looks."""
    machine, i32 = llvm.get_default_triple().split("-")[0], ir.IntType(32)
    if machine == "x86_64":
        builder.call(declared(builder.module, ir.FunctionType(ir.VoidType(), []), "llvm.x86.sse2.pause"), [])
    elif machine in ("aarch64", "arm64"):
        hint = declared(builder.module, ir.FunctionType(ir.VoidType(), [i32]), "llvm.aarch64.hint")
        builder.call(hint, [ir.Constant(i32, 1)])  # yield


_int = ir.IntType(32)
_lock_mutex, _unlock_mutex = of_c("pthread_mutex_lock", 1, _int), of_c("pthread_mutex_unlock", 1, _int)
_wake_all, _wait_for = of_c("pthread_cond_broadcast", 1, _int), of_c("pthread_cond_wait", 2, _int)


def _lock(state: int) -> None:
    _lock_mutex(state + at.MUTEX * at.WORD)


def _unlock(state: int) -> None:
    _unlock_mutex(state + at.MUTEX * at.WORD)


FIRST, SECOND = at.GROUPS


def _take_chunks(state: int, kernel: int, record: int, iterations: int, chunk: int, second: int) -> None:
    """Runs chunks until none is left; the first failure ends it for all.

    One group of threads begins with the first chunk, the other (`second`) in the middle; a group that has done its half goes on at the end
    of the other half. So in one kernel after the other a thread works on the same part of what it goes over, which its caches hold.
    """
    chunks = (iterations - 1) // chunk + 1
    half = (chunks + 1) // 2
    while True:
        if _add(state, at.TAKEN, 1) >= chunks:
            return
        if second:
            own = _add(state, SECOND, 1)
            i = half + own if half + own < chunks else chunks - 1 - own
        else:
            own = _add(state, FIRST, 1)
            i = own if own < half else chunks - 1 - (own - half)
        start = i * chunk
        status = call_kernel(kernel, record, start, min(start + chunk, iterations))
        if status != layout.OK:
            _replace(state, at.STATUS, layout.OK, status)
            _put(state, at.TAKEN, chunks)


def chunk_of(iterations: int, threads: int, wanted: int, least: int, vectors: int) -> int:
    """The iterations of a chunk: at most `wanted` chunks for each thread, as many for one as for another.

    Args:
        least: iterations that are worth it, more or less; `vectors`: a chunk is a multiple of so many.
    """
    chunk = max(1, (iterations - 1) // (threads * wanted) + 1, least)
    chunks = (iterations - 1) // chunk + 1
    sharing = min(threads, chunks)
    chunk = (iterations - 1) // ((chunks + sharing - 1) // sharing * sharing) + 1
    return (chunk + vectors - 1) // vectors * vectors


def share(state: int, kernel: int, record: int) -> int:
    """Runs a kernel that returned DIVIDE: its status. While another caller has the pool, the calling thread does it alone."""
    iterations, threads = word(record, layout.ITERATIONS), word(state, at.THREADS)
    least, vectors = word(state, at.LEAST_WORK) // word(record, layout.WORK), word(state, at.VECTORS) if word(record, layout.FLAT) else 1
    chunk = chunk_of(iterations, threads, word(record, layout.CHUNKS), least, vectors)
    helpers = min(threads - 1, (iterations - 1) // chunk)
    if helpers < 1 or not _replace(state, at.BUSY, 0, 1):
        return call_kernel(kernel, record, 0, iterations)
    put_words(state, at.KERNEL, kernel)
    put_words(state, at.RECORD, record)
    put_words(state, at.ITERATIONS, iterations)
    put_words(state, at.CHUNK, chunk)
    _put(state, at.TAKEN, 0)
    _put(state, FIRST, 0)
    _put(state, SECOND, 0)
    _put(state, at.STATUS, layout.OK)
    _lock(state)
    put_words(state, at.OPEN, helpers)
    _put(state, at.ROUND, word(state, at.ROUND) + 1)
    asleep = word(state, at.SLEEPING)
    _unlock(state)
    if asleep > 0:
        _wake_all(state + at.WORK * at.WORD)
    _take_chunks(state, kernel, record, iterations, chunk, 0)
    _lock(state)
    put_words(state, at.OPEN, 0)
    _unlock(state)
    looks = LOOKS
    while looks > 0 and _look(state, at.RUNNING) > 0:
        looks -= 1
        _pause()
    _lock(state)
    while word(state, at.RUNNING) > 0:
        put_words(state, at.WAITING, 1)
        _wait_for(state + at.DONE * at.WORD, state + at.MUTEX * at.WORD)
    put_words(state, at.WAITING, 0)
    _unlock(state)
    status = _look(state, at.STATUS)
    _put(state, at.BUSY, 0)
    return status


def serve(state: int) -> int:
    """What a thread of the pool does until the process ends."""
    seen = 0
    while True:
        looks = LOOKS
        while looks > 0 and _look(state, at.ROUND) == seen:
            looks -= 1
            _pause()
        _lock(state)
        while word(state, at.ENDING) == 0 and (word(state, at.ROUND) == seen or word(state, at.OPEN) == 0):
            put_words(state, at.SLEEPING, word(state, at.SLEEPING) + 1)
            _wait_for(state + at.WORK * at.WORD, state + at.MUTEX * at.WORD)
            put_words(state, at.SLEEPING, word(state, at.SLEEPING) - 1)
        if word(state, at.ENDING) != 0:
            _unlock(state)
            return 0
        seen = word(state, at.ROUND)
        second = word(state, at.OPEN) % 2  # of two threads the one that does not call
        put_words(state, at.OPEN, word(state, at.OPEN) - 1)
        put_words(state, at.RUNNING, word(state, at.RUNNING) + 1)
        kernel, record = word(state, at.KERNEL), word(state, at.RECORD)
        iterations, chunk = word(state, at.ITERATIONS), word(state, at.CHUNK)
        _unlock(state)
        _take_chunks(state, kernel, record, iterations, chunk, second)
        _lock(state)
        running = word(state, at.RUNNING) - 1
        _put(state, at.RUNNING, running)
        if running == 0 and word(state, at.WAITING) != 0:
            _wake_all(state + at.DONE * at.WORD)
        _unlock(state)
