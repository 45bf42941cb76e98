"""Calls of functions natively: what the driver does when one begins and when it ends; totals, to which calls add.

A function has one set of descriptors and buffers, however deep its calls are nested. A call that may lead back to the function it
stands in first puts aside what is needed afterwards: the words of descriptors go to one stack, and buffers change places with the
slots of another. A slot always holds memory (or none), left by an earlier call at this depth; so a recursion that has been as deep
before allocates next to nothing, and no call copies a value. The driver does not call itself: the stack of C does not grow.

State, in the argument record of the driver: see `layout`. A call's record: the numbers of arguments, saved descriptors, saved
buffers and results, and of slots that the results need; then for each argument the descriptors of the value and of the param; the
saved descriptors; the saved buffers; for each result the descriptors of the output and of the value, the rank, and the size of an
element (negative: a TensorArray).
"""

from __future__ import annotations

import numba

from ..codegen import layout as at
from .arrays import tensor_bytes
from .native import LOADS, STORES, _allocate, _free, copy_bytes, extend, grow, ld_int64, reserve, st_int64

_ld_float16, _ld_float32, _ld_float64 = (LOADS[f"ld_float{bits}"] for bits in (16, 32, 64))
_st_float16, _st_float32, _st_float64 = (STORES[f"st_float{bits}"] for bits in (16, 32, 64))

WORD = 8
SLOT = at.BUFFER_WORDS * WORD
HEAD = 5
"""Words of a record before its lists."""


@numba.njit
def _copy_value(target, source):  # type: ignore[no-untyped-def]
    """All words of a descriptor but for the buffers that it owns."""
    for word in range(at.DESCRIPTOR_WORDS):
        if word != at.BUFFER and word != at.TABLE:
            st_int64(target, word, ld_int64(source, word))


@numba.njit
def _swap(a, b):  # type: ignore[no-untyped-def]
    for field in range(at.BUFFER_WORDS):
        kept = ld_int64(a, field)
        st_int64(a, field, ld_int64(b, field))
        st_int64(b, field, kept)


@numba.njit
def _room(state, words, slots):  # type: ignore[no-untyped-def]
    """Room on both stacks; False if there is no memory."""
    used = ld_int64(state, at.WORDS_USED)
    if extend(state + at.WORDS * WORD, ld_int64(state, at.WORDS), used * WORD, (used + words) * WORD) == 0:
        return False
    wanted, capacity = (ld_int64(state, at.SLOTS_USED) + slots) * SLOT, ld_int64(state, at.SLOTS + 1)
    if wanted > capacity:
        size = (max(wanted, 2 * capacity) + 63) // 64 * 64
        old = ld_int64(state, at.SLOTS)
        new = _allocate(64, size)
        if new == 0:
            return False
        copy_bytes(new, old, capacity)  # the slots that are not in use hold memory too
        for word in range(capacity // WORD, size // WORD):
            st_int64(new, word, 0)
        if capacity > 0:
            _free(old)
        st_int64(state, at.SLOTS, new)
        st_int64(state, at.SLOTS + 1, size)
    return True


@numba.njit
def enter_function(state, record, back):  # type: ignore[no-untyped-def]
    """Begins a call; `back` is the instruction to go on with after it."""
    depth = ld_int64(state, at.DEPTH)
    if depth >= ld_int64(state, at.DEPTH_LIMIT):
        return at.TOO_DEEP
    arguments, saved, buffers = ld_int64(record, 0), ld_int64(record, 1), ld_int64(record, 2)
    results, result_slots = ld_int64(record, 3), ld_int64(record, 4)
    own = saved * at.DESCRIPTOR_WORDS + 2
    if not _room(state, own + max(arguments, results) * at.DESCRIPTOR_WORDS, buffers + result_slots):
        return at.NO_MEMORY
    used = ld_int64(state, at.WORDS_USED)
    top = ld_int64(state, at.WORDS) + used * WORD
    lists = record + HEAD * WORD
    # the arguments are read before any param is written: a param may be an argument itself
    values = top + own * WORD
    for i in range(arguments):
        _copy_value(values + i * at.DESCRIPTOR_WORDS * WORD, ld_int64(lists, 2 * i))
    kept = lists + 2 * arguments * WORD
    for i in range(saved):
        _copy_value(top + i * at.DESCRIPTOR_WORDS * WORD, ld_int64(kept, i))
    slots = ld_int64(state, at.SLOTS) + ld_int64(state, at.SLOTS_USED) * SLOT
    for i in range(buffers):
        _swap(ld_int64(kept, saved + i), slots + i * SLOT)
    for i in range(arguments):
        _copy_value(ld_int64(lists, 2 * i + 1), values + i * at.DESCRIPTOR_WORDS * WORD)
    st_int64(top, own - 2, record)
    st_int64(top, own - 1, back)
    st_int64(state, at.WORDS_USED, used + own)
    st_int64(state, at.SLOTS_USED, ld_int64(state, at.SLOTS_USED) + buffers)
    st_int64(state, at.DEPTH, depth + 1)
    return at.OK


@numba.njit
def _take_out(slot, own, data, nbytes):  # type: ignore[no-untyped-def]
    """Puts memory with a value into a slot: the buffer that it fills, or a copy. The address; 0 without memory."""
    if own != 0 and data == ld_int64(own, at.BUFFER_ADDRESS) and ld_int64(own, at.BUFFER_CAPACITY) > 0:
        _swap(own, slot)
        return data
    if ld_int64(slot, at.BUFFER_CAPACITY) < max(nbytes, 1) and grow(slot, nbytes) == 0:
        return 0
    copy_bytes(ld_int64(slot, at.BUFFER_ADDRESS), data, nbytes)
    return ld_int64(slot, at.BUFFER_ADDRESS)


@numba.njit
def _result(words, slot, value, rank, size):  # type: ignore[no-untyped-def]
    """Copies the descriptor of a result to the stack of words, and its memory to the next slots; False if there is no memory."""
    _copy_value(words, value)
    if ld_int64(value, at.STATE) == 0:
        return True
    if size < 0:
        table = ld_int64(value, at.LENGTH) * (1 + rank) * WORD
        entries = _take_out(slot + SLOT, ld_int64(value, at.TABLE), ld_int64(value, at.ENTRIES), table)
        st_int64(words, at.ENTRIES, entries)
        nbytes = ld_int64(value, at.USED)
    else:
        entries = 1
        nbytes = tensor_bytes(value, at.DIMS, rank, size)
    data = _take_out(slot, ld_int64(value, at.BUFFER), ld_int64(value, at.DATA), nbytes)
    st_int64(words, at.DATA, data)
    return data != 0 and entries != 0


@numba.njit
def leave_function(state):  # type: ignore[no-untyped-def]
    """Ends the call that began last: the instruction to go on with, -1 if there is no memory."""
    used = ld_int64(state, at.WORDS_USED)
    top = ld_int64(state, at.WORDS) + used * WORD
    record, back = ld_int64(top, -2), ld_int64(top, -1)
    arguments, saved, buffers, results = ld_int64(record, 0), ld_int64(record, 1), ld_int64(record, 2), ld_int64(record, 3)
    kept = record + (HEAD + 2 * arguments) * WORD
    outs = kept + (saved + buffers) * WORD
    first = ld_int64(state, at.SLOTS) + ld_int64(state, at.SLOTS_USED) * SLOT
    slot = first
    for i in range(results):
        out = outs + 4 * i * WORD
        if not _result(top + i * at.DESCRIPTOR_WORDS * WORD, slot, ld_int64(out, 1), ld_int64(out, 2), ld_int64(out, 3)):
            return -1
        slot += SLOT if ld_int64(out, 3) > 0 else 2 * SLOT
    own = saved * at.DESCRIPTOR_WORDS + 2
    for i in range(buffers):
        _swap(ld_int64(kept, saved + i), first - (buffers - i) * SLOT)
    for i in range(saved):
        _copy_value(ld_int64(kept, i), top + (i * at.DESCRIPTOR_WORDS - own) * WORD)
    slot = first
    for i in range(results):
        out = outs + 4 * i * WORD
        target = ld_int64(out, 0)
        _copy_value(target, top + i * at.DESCRIPTOR_WORDS * WORD)
        present = ld_int64(target, at.STATE) != 0
        if present:
            _swap(ld_int64(target, at.BUFFER), slot)
        slot += SLOT
        if ld_int64(out, 3) < 0:
            if present:
                _swap(ld_int64(target, at.TABLE), slot)
            slot += SLOT
    st_int64(state, at.WORDS_USED, used - own)
    st_int64(state, at.SLOTS_USED, ld_int64(state, at.SLOTS_USED) - buffers)
    st_int64(state, at.DEPTH, ld_int64(state, at.DEPTH) - 1)
    return back


@numba.njit
def total_clear(total, rank, size):  # type: ignore[no-untyped-def]
    st_int64(total, at.STATE, 0)
    return at.OK


@numba.njit
def total_add(total, x, rank, size):  # type: ignore[no-untyped-def]
    """Adds x, of floating point, to a total; an absent one is a copy of x then."""
    if ld_int64(x, at.STATE) == 0:
        return at.OK
    nbytes = tensor_bytes(x, at.DIMS, rank, size)
    if ld_int64(total, at.STATE) == 0:
        address = reserve(total, nbytes)
        if address == 0:
            return at.NO_MEMORY
        for a in range(rank):
            st_int64(total, at.DIMS + a, ld_int64(x, at.DIMS + a))
        copy_bytes(address, ld_int64(x, at.DATA), nbytes)
        return at.OK
    if nbytes != tensor_bytes(total, at.DIMS, rank, size):
        return at.FAILED
    a, b = ld_int64(total, at.DATA), ld_int64(x, at.DATA)
    if size == 4:
        for i in range(nbytes // 4):
            _st_float32(a, i, _ld_float32(a, i) + _ld_float32(b, i))
    elif size == 8:
        for i in range(nbytes // 8):
            _st_float64(a, i, _ld_float64(a, i) + _ld_float64(b, i))
    else:
        for i in range(nbytes // 2):
            _st_float16(a, i, _ld_float16(a, i) + _ld_float16(b, i))
    return at.OK


@numba.njit
def total_take(out, total, rank, size):  # type: ignore[no-untyped-def]
    """Moves the value of a total to `out`."""
    if ld_int64(total, at.STATE) == 0:
        st_int64(out, at.STATE, 0)
        return at.OK
    _copy_value(out, total)
    _swap(ld_int64(out, at.BUFFER), ld_int64(total, at.BUFFER))
    st_int64(total, at.STATE, 0)
    return at.OK


FUNCTIONS = {f.__name__: f for f in (enter_function, leave_function, total_clear, total_add, total_take)}
