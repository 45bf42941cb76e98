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

from typing import Any

from llvmlite import ir

from ..codegen import layout as at
from .arrays import tensor_bytes
from .memory import allocate, copy_bytes, copy_descriptor, extend, free, grow, reserve, swap
from .runs import add_runs, put_words, word
from .values import instruction

_add_floats, _add_doubles = add_runs("float32"), add_runs("float64")


@instruction
def _add_half(builder: Any, target: Any, source: Any, i: Any) -> None:
    """Adds an element of float16 to another, computed in float32."""
    half, single = ir.HalfType(), ir.FloatType()
    places = [builder.gep(builder.inttoptr(address, half.as_pointer()), [i]) for address in (target, source)]
    total = builder.fadd(*(builder.fpext(builder.load(place), single) for place in places))
    builder.store(builder.fptrunc(total, half), places[0])


WORD = 8
SLOT = at.BUFFER_WORDS * WORD
HEAD = 5
"""Words of a record before its lists."""


def _room(state: int, words: int, slots: int) -> int:
    """Room on both stacks; False if there is no memory."""
    used = word(state, at.WORDS_USED)
    if extend(state + at.WORDS * WORD, word(state, at.WORDS), used * WORD, (used + words) * WORD) == 0:
        return False
    wanted, capacity = (word(state, at.SLOTS_USED) + slots) * SLOT, word(state, at.SLOTS + 1)
    if wanted > capacity:
        size = (max(wanted, 2 * capacity) + 63) // 64 * 64
        old = word(state, at.SLOTS)
        new = allocate(64, size)
        if new == 0:
            return False
        copy_bytes(new, old, capacity)  # the slots that are not in use hold memory too
        for w in range(capacity // WORD, size // WORD):
            put_words(new, w, 0)
        if capacity > 0:
            free(old)
        put_words(state, at.SLOTS, new)
        put_words(state, at.SLOTS + 1, size)
    return True


def enter_function(state: int, record: int, back: int) -> int:
    """Begins a call; `back` is the instruction to go on with after it."""
    depth = word(state, at.DEPTH)
    if depth >= word(state, at.DEPTH_LIMIT):
        return at.TOO_DEEP
    arguments, saved, buffers = word(record, 0), word(record, 1), word(record, 2)
    results, result_slots = word(record, 3), word(record, 4)
    own = saved * at.DESCRIPTOR_WORDS + 2
    if not _room(state, own + max(arguments, results) * at.DESCRIPTOR_WORDS, buffers + result_slots):
        return at.NO_MEMORY
    used = word(state, at.WORDS_USED)
    top = word(state, at.WORDS) + used * WORD
    lists = record + HEAD * WORD
    # the arguments are read before any param is written: a param may be an argument itself
    values = top + own * WORD
    for i in range(arguments):
        copy_descriptor(values + i * at.DESCRIPTOR_WORDS * WORD, word(lists, 2 * i))
    kept = lists + 2 * arguments * WORD
    for i in range(saved):
        copy_descriptor(top + i * at.DESCRIPTOR_WORDS * WORD, word(kept, i))
    slots = word(state, at.SLOTS) + word(state, at.SLOTS_USED) * SLOT
    for i in range(buffers):
        swap(word(kept, saved + i), slots + i * SLOT)
    for i in range(arguments):
        copy_descriptor(word(lists, 2 * i + 1), values + i * at.DESCRIPTOR_WORDS * WORD)
    put_words(top, own - 2, record)
    put_words(top, own - 1, back)
    put_words(state, at.WORDS_USED, used + own)
    put_words(state, at.SLOTS_USED, word(state, at.SLOTS_USED) + buffers)
    put_words(state, at.DEPTH, depth + 1)
    return at.OK


def _take_out(slot: int, own: int, data: int, nbytes: int) -> int:
    """Puts memory with a value into a slot: the buffer that it fills, or a copy. The address; 0 without memory."""
    if own != 0 and data == word(own, at.BUFFER_ADDRESS) and word(own, at.BUFFER_CAPACITY) > 0:
        swap(own, slot)
        return data
    if word(slot, at.BUFFER_CAPACITY) < max(nbytes, 1) and grow(slot, nbytes) == 0:
        return 0
    copy_bytes(word(slot, at.BUFFER_ADDRESS), data, nbytes)
    return word(slot, at.BUFFER_ADDRESS)


def _result(words: int, slot: int, value: int, rank: int, size: int) -> int:
    """Copies the descriptor of a result to the stack of words, and its memory to the next slots; False if there is no memory."""
    copy_descriptor(words, value)
    if word(value, at.STATE) == 0:
        return True
    if size < 0:
        table = word(value, at.LENGTH) * (1 + rank) * WORD
        entries = _take_out(slot + SLOT, word(value, at.TABLE), word(value, at.ENTRIES), table)
        put_words(words, at.ENTRIES, entries)
        nbytes = word(value, at.USED)
    else:
        entries = 1
        nbytes = tensor_bytes(value, at.DIMS, rank, size)
    data = _take_out(slot, word(value, at.BUFFER), word(value, at.DATA), nbytes)
    put_words(words, at.DATA, data)
    return data != 0 and entries != 0


def leave_function(state: int) -> int:
    """Ends the call that began last: the instruction to go on with, -1 if there is no memory."""
    used = word(state, at.WORDS_USED)
    top = word(state, at.WORDS) + used * WORD
    record, back = word(top, -2), word(top, -1)
    arguments, saved, buffers, results = word(record, 0), word(record, 1), word(record, 2), word(record, 3)
    kept = record + (HEAD + 2 * arguments) * WORD
    outs = kept + (saved + buffers) * WORD
    first = word(state, at.SLOTS) + word(state, at.SLOTS_USED) * SLOT
    slot = first
    for i in range(results):
        out = outs + 4 * i * WORD
        if not _result(top + i * at.DESCRIPTOR_WORDS * WORD, slot, word(out, 1), word(out, 2), word(out, 3)):
            return -1
        slot += SLOT if word(out, 3) > 0 else 2 * SLOT
    own = saved * at.DESCRIPTOR_WORDS + 2
    for i in range(buffers):
        swap(word(kept, saved + i), first - (buffers - i) * SLOT)
    for i in range(saved):
        copy_descriptor(word(kept, i), top + (i * at.DESCRIPTOR_WORDS - own) * WORD)
    slot = first
    for i in range(results):
        out = outs + 4 * i * WORD
        target = word(out, 0)
        copy_descriptor(target, top + i * at.DESCRIPTOR_WORDS * WORD)
        present = word(target, at.STATE) != 0
        if present:
            swap(word(target, at.BUFFER), slot)
        slot += SLOT
        if word(out, 3) < 0:
            if present:
                swap(word(target, at.TABLE), slot)
            slot += SLOT
    put_words(state, at.WORDS_USED, used - own)
    put_words(state, at.SLOTS_USED, word(state, at.SLOTS_USED) - buffers)
    put_words(state, at.DEPTH, word(state, at.DEPTH) - 1)
    return back


def total_clear(total: int, rank: int, size: int) -> int:
    put_words(total, at.STATE, 0)
    return at.OK


def total_add(total: int, x: int, rank: int, size: int) -> int:
    """Adds x, of floating point, to a total; an absent one is a copy of x then."""
    if word(x, at.STATE) == 0:
        return at.OK
    nbytes = tensor_bytes(x, at.DIMS, rank, size)
    if word(total, at.STATE) == 0:
        address = reserve(total, nbytes)
        if address == 0:
            return at.NO_MEMORY
        for a in range(rank):
            put_words(total, at.DIMS + a, word(x, at.DIMS + a))
        copy_bytes(address, word(x, at.DATA), nbytes)
        return at.OK
    if nbytes != tensor_bytes(total, at.DIMS, rank, size):
        return at.FAILED
    a, b = word(total, at.DATA), word(x, at.DATA)
    if size == 4:
        _add_floats(a, b, nbytes // 4)
    elif size == 8:
        _add_doubles(a, b, nbytes // 8)
    else:
        for i in range(nbytes // 2):
            _add_half(a, b, i)
    return at.OK


def total_take(out: int, total: int, rank: int, size: int) -> int:
    """Moves the value of a total to `out`."""
    if word(total, at.STATE) == 0:
        put_words(out, at.STATE, 0)
        return at.OK
    copy_descriptor(out, total)
    swap(word(out, at.BUFFER), word(total, at.BUFFER))
    put_words(total, at.STATE, 0)
    return at.OK


FUNCTIONS: dict[str, Any] = {f.__name__: f for f in (total_clear, total_add, total_take)}
