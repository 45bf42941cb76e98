"""Sharing the work of a kernel among threads, natively: what the driver calls, and what each thread of the pool does.

The caller opens the kernel for the threads, takes chunks of its iterations like any of them, and closes it when none is left. Chunks are
taken from a counter, so a thread that the system takes off its core holds the others up for one chunk at most, and one that wakes up too
late is not waited for. Threads look for the next kernel for as long as waking would take and then sleep: on a machine that others use
too, one that waits by looking would take the time slice of the one that it waits for. The state is described in `threads`.
"""

from __future__ import annotations

from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .. import threads as at
from ..codegen import layout
from .native import call_kernel, ld_int64, st_int64

LOOKS = 4000
"""How often a thread looks for work before it sleeps: 50 to 150 microseconds, about what it takes to be woken. So it never waits for more
than twice the time of the better choice, whatever comes."""

_i32, _i64 = ir.IntType(32), ir.IntType(64)


def _pointer(builder: Any, state: Any, word: Any) -> Any:
    return builder.gep(builder.inttoptr(state, _i64.as_pointer()), [word])


@intrinsic
def _look(typingctx, state, word):  # type: ignore[no-untyped-def]
    """A word that other threads change."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.load_atomic(_pointer(builder, *args), "seq_cst", 8)

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def _put(typingctx, state, word, value):  # type: ignore[no-untyped-def]
    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        builder.store_atomic(args[2], _pointer(builder, *args[:2]), "seq_cst", 8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen


@intrinsic
def _add(typingctx, state, word, value):  # type: ignore[no-untyped-def]
    """Adds to a word; what it was before."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.atomic_rmw("add", _pointer(builder, *args[:2]), args[2], "seq_cst")

    return types.int64(types.int64, types.int64, types.int64), codegen


@intrinsic
def _replace(typingctx, state, word, old, new):  # type: ignore[no-untyped-def]
    """Sets a word if it is `old`; whether it was."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        result = builder.cmpxchg(_pointer(builder, *args[:2]), args[2], args[3], "seq_cst", "seq_cst")
        return builder.extract_value(result, 1)

    return types.boolean(types.int64, types.int64, types.int64, types.int64), codegen


@intrinsic
def _pause(typingctx):  # type: ignore[no-untyped-def]
    """Tells the core that a loop only looks."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        machine = builder.module.triple.split("-")[0]
        if machine == "x86_64":
            builder.call(cgutils.get_or_insert_function(builder.module, ir.FunctionType(ir.VoidType(), []), "llvm.x86.sse2.pause"), [])
        elif machine in ("aarch64", "arm64"):
            hint = cgutils.get_or_insert_function(builder.module, ir.FunctionType(ir.VoidType(), [_i32]), "llvm.aarch64.hint")
            builder.call(hint, [ir.Constant(_i32, 1)])  # yield
        return context.get_dummy_value()

    return types.void(), codegen


def _posix(name: str, places: int) -> Any:
    """A function of POSIX threads on addresses, by symbol."""

    def call(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        function_type = ir.FunctionType(_i32, (_i64,) * places)
        builder.call(cgutils.get_or_insert_function(builder.module, function_type, name), args)
        return context.get_dummy_value()

    if places == 1:

        @intrinsic
        def one(typingctx, address):  # type: ignore[no-untyped-def]
            return types.void(types.int64), call

        return one

    @intrinsic
    def two(typingctx, address, second):  # type: ignore[no-untyped-def]
        return types.void(types.int64, types.int64), call

    return two


_lock_mutex, _unlock_mutex = _posix("pthread_mutex_lock", 1), _posix("pthread_mutex_unlock", 1)
_wake_all, _wait_for = _posix("pthread_cond_broadcast", 1), _posix("pthread_cond_wait", 2)


@numba.njit
def _lock(state):  # type: ignore[no-untyped-def]
    _lock_mutex(state + at.MUTEX * at.WORD)


@numba.njit
def _unlock(state):  # type: ignore[no-untyped-def]
    _unlock_mutex(state + at.MUTEX * at.WORD)


@numba.njit
def _take_chunks(state, kernel, record, iterations, chunk):  # type: ignore[no-untyped-def]
    """Runs chunks until none is left; the first failure ends it for all."""
    while True:
        start = _add(state, at.NEXT, chunk)
        if start >= iterations:
            return
        status = call_kernel(kernel, record, start, min(start + chunk, iterations))
        if status != layout.OK:
            _replace(state, at.STATUS, layout.OK, status)
            _put(state, at.NEXT, iterations)


@numba.njit
def share(state, kernel, record):  # type: ignore[no-untyped-def]
    """Runs a kernel that returned DIVIDE: its status. While another caller has the pool, the calling thread does it alone."""
    iterations, threads = ld_int64(record, layout.ITERATIONS), ld_int64(state, at.THREADS)
    chunk = max(1, (iterations - 1) // (threads * ld_int64(record, layout.CHUNKS)) + 1)
    chunk = max(chunk, ld_int64(state, at.LEAST_WORK) // ld_int64(record, layout.WORK))
    if ld_int64(record, layout.FLAT) != 0:
        vectors = ld_int64(state, at.VECTORS)
        chunk = (chunk + vectors - 1) // vectors * vectors
    helpers = min(threads - 1, (iterations - 1) // chunk)
    if helpers < 1 or not _replace(state, at.BUSY, 0, 1):
        return call_kernel(kernel, record, 0, iterations)
    st_int64(state, at.KERNEL, kernel)
    st_int64(state, at.RECORD, record)
    st_int64(state, at.ITERATIONS, iterations)
    st_int64(state, at.CHUNK, chunk)
    _put(state, at.NEXT, 0)
    _put(state, at.STATUS, layout.OK)
    _lock(state)
    st_int64(state, at.OPEN, helpers)
    _put(state, at.ROUND, ld_int64(state, at.ROUND) + 1)
    asleep = ld_int64(state, at.SLEEPING)
    _unlock(state)
    if asleep > 0:
        _wake_all(state + at.WORK * at.WORD)
    _take_chunks(state, kernel, record, iterations, chunk)
    _lock(state)
    st_int64(state, at.OPEN, 0)
    _unlock(state)
    looks = LOOKS
    while looks > 0 and _look(state, at.RUNNING) > 0:
        looks -= 1
        _pause()
    _lock(state)
    while ld_int64(state, at.RUNNING) > 0:
        st_int64(state, at.WAITING, 1)
        _wait_for(state + at.DONE * at.WORD, state + at.MUTEX * at.WORD)
    st_int64(state, at.WAITING, 0)
    _unlock(state)
    status = _look(state, at.STATUS)
    _put(state, at.BUSY, 0)
    return status


@numba.njit
def serve(state):  # type: ignore[no-untyped-def]
    """What a thread of the pool does until the process ends."""
    seen = 0
    while True:
        looks = LOOKS
        while looks > 0 and _look(state, at.ROUND) == seen:
            looks -= 1
            _pause()
        _lock(state)
        while ld_int64(state, at.ENDING) == 0 and (ld_int64(state, at.ROUND) == seen or ld_int64(state, at.OPEN) == 0):
            st_int64(state, at.SLEEPING, ld_int64(state, at.SLEEPING) + 1)
            _wait_for(state + at.WORK * at.WORD, state + at.MUTEX * at.WORD)
            st_int64(state, at.SLEEPING, ld_int64(state, at.SLEEPING) - 1)
        if ld_int64(state, at.ENDING) != 0:
            _unlock(state)
            return 0
        seen = ld_int64(state, at.ROUND)
        st_int64(state, at.OPEN, ld_int64(state, at.OPEN) - 1)
        st_int64(state, at.RUNNING, ld_int64(state, at.RUNNING) + 1)
        kernel, record = ld_int64(state, at.KERNEL), ld_int64(state, at.RECORD)
        iterations, chunk = ld_int64(state, at.ITERATIONS), ld_int64(state, at.CHUNK)
        _unlock(state)
        _take_chunks(state, kernel, record, iterations, chunk)
        _lock(state)
        running = ld_int64(state, at.RUNNING) - 1
        _put(state, at.RUNNING, running)
        if running == 0 and ld_int64(state, at.WAITING) != 0:
            _wake_all(state + at.DONE * at.WORD)
        _unlock(state)


SOURCE = """\
def kernel(state):
    # a thread of the pool
    return serve(state)
"""
