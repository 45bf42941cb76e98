"""TensorArrays natively, continued: entries put in, taken out, chosen and compared by their index. See `arrays`."""

from __future__ import annotations

from typing import Any

from ..codegen import layout as at
from .arrays import ABSENT_ENTRY, array_copy, array_create, entry_row, index_value, put, room, tensor_bytes
from .memory import copy_bytes, int8_at, reserve
from .runs import put_words, word


def array_insert(out: int, array: int, x: int, index: int, rank: int, size: int, width: int) -> int:
    i, length = index_value(index, width), word(array, at.LENGTH)
    if i < 0:
        i += length + 1
    if i < 0 or i > length:
        return at.FAILED
    status = array_copy(out, array, rank, size)
    return put(out, x, i, rank, size) if status == at.OK else status


def array_erase(out: int, array: int, index: int, rank: int, size: int, width: int) -> int:
    i, length = index_value(index, width), word(array, at.LENGTH)
    if i < 0:
        i += length
    if i < 0 or i >= length:
        return at.FAILED
    status = array_copy(out, array, rank, size)
    if status == at.OK:
        status = room(out, word(out, at.USED), length, rank)
    if status != at.OK:
        return status
    row = entry_row(out, i, rank)
    offset = word(row, 0)
    nbytes = tensor_bytes(row, 1, rank, size) if offset != ABSENT_ENTRY else 0
    copy_bytes(row, entry_row(out, i + 1, rank), (length - 1 - i) * (1 + rank) * 8)
    put_words(out, at.LENGTH, length - 1)
    if nbytes > 0:
        # a queue would else leave the bytes of all that went through it
        data, end = word(out, at.DATA) + offset, offset + nbytes
        copy_bytes(data, data + nbytes, word(out, at.USED) - end)
        put_words(out, at.USED, word(out, at.USED) - nbytes)
        for e in range(length - 1):
            row = entry_row(out, e, rank)
            if word(row, 0) > offset:
                put_words(row, 0, word(row, 0) - nbytes)
    return at.OK


def _copy_entry(out: int, i: int, used: int, array: int, e: int, rank: int, size: int) -> int:
    """Makes entry e of an array the entry i of `out`, where there is room at `used`; how many bytes it takes there."""
    row, source = entry_row(out, i, rank), entry_row(array, e, rank)
    copy_bytes(row, source, (1 + rank) * 8)
    if word(source, 0) == ABSENT_ENTRY:
        return 0
    nbytes = tensor_bytes(source, 1, rank, size)
    copy_bytes(word(out, at.DATA) + used, word(array, at.DATA) + word(source, 0), nbytes)
    put_words(row, 0, used)
    return nbytes


def array_extend(out: int, array: int, other: int, rank: int, size: int) -> int:
    count, added = word(other, at.LENGTH), 0
    for e in range(count):
        row = entry_row(other, e, rank)
        if word(row, 0) != ABSENT_ENTRY:
            added += tensor_bytes(row, 1, rank, size)
    status = array_copy(out, array, rank, size)
    if status != at.OK:
        return status
    used, length = word(out, at.USED), word(out, at.LENGTH)
    if room(out, used + added, length + count, rank) != at.OK:
        return at.NO_MEMORY
    for e in range(count):
        used += _copy_entry(out, length + e, used, other, e, rank, size)
    put_words(out, at.USED, used)
    put_words(out, at.LENGTH, length + count)
    return at.OK


def array_take(out: int, array: int, index: int, rank: int, size: int) -> int:
    """The entries at the places that a vector names. Each is read once, into the table of `out`: what is fed may change meanwhile."""
    array_create(out, rank, size)
    count, length, used = word(index, at.DIMS), word(array, at.LENGTH), 0
    if room(out, 0, count, rank) != at.OK:
        return at.NO_MEMORY
    wanted = word(index, at.DATA)
    for k in range(count):
        i = word(wanted + k * 8, 0)
        if i < 0:
            i += length
        if i < 0 or i >= length:
            return at.FAILED
        row = entry_row(out, k, rank)
        copy_bytes(row, entry_row(array, i, rank), (1 + rank) * 8)
        if word(row, 0) != ABSENT_ENTRY:
            used += tensor_bytes(row, 1, rank, size)
    put_words(out, at.LENGTH, count)
    if room(out, used, count, rank) != at.OK:
        return at.NO_MEMORY
    used = 0
    for k in range(count):
        row = entry_row(out, k, rank)
        if word(row, 0) != ABSENT_ENTRY:
            nbytes = tensor_bytes(row, 1, rank, size)
            copy_bytes(word(out, at.DATA) + used, word(array, at.DATA) + word(row, 0), nbytes)
            put_words(row, 0, used)
            used += nbytes
    put_words(out, at.USED, used)
    return at.OK


def _same_entry(a: int, b: int, e: int, rank: int, size: int) -> int:
    p, q = entry_row(a, e, rank), entry_row(b, e, rank)
    if (word(p, 0) == ABSENT_ENTRY) != (word(q, 0) == ABSENT_ENTRY):
        return False
    for axis in range(1, 1 + rank):
        if word(p, axis) != word(q, axis):
            return False
    if word(p, 0) == ABSENT_ENTRY:
        return True
    nbytes = tensor_bytes(p, 1, rank, size)
    x, y = word(a, at.DATA) + word(p, 0), word(b, at.DATA) + word(q, 0)
    done = 0
    while done + 8 <= nbytes and word(x + done, 0) == word(y + done, 0):
        done += 8
    while done < nbytes and int8_at(x + done) == int8_at(y + done):
        done += 1
    return done == nbytes


def array_common(out: int, a: int, b: int, rank: int, size: int) -> int:
    """How many leading entries are the same, bit by bit."""
    address = reserve(out, 8)
    if address == 0:
        return at.NO_MEMORY
    count, length = 0, min(word(a, at.LENGTH), word(b, at.LENGTH))
    while count < length and _same_entry(a, b, count, rank, size):
        count += 1
    put_words(address, 0, count)
    return at.OK


def array_cut(out: int, array: int, count: int, rank: int, size: int, width: int) -> int:
    """Moves the last entries of `array`, to which entries were only ever appended, to `out`."""
    n, length, used = index_value(count, width), word(array, at.LENGTH), word(array, at.USED)
    if n < 0 or n > length:
        return at.FAILED
    start = used
    for e in range(length - n, length):
        offset = word(entry_row(array, e, rank), 0)
        if offset != ABSENT_ENTRY:
            start = min(start, offset)
    array_create(out, rank, size)
    if room(out, used - start, n, rank) != at.OK:
        return at.NO_MEMORY
    copy_bytes(word(out, at.DATA), word(array, at.DATA) + start, used - start)
    copy_bytes(word(out, at.ENTRIES), entry_row(array, length - n, rank), n * (1 + rank) * 8)
    for e in range(n):
        row = entry_row(out, e, rank)
        if word(row, 0) != ABSENT_ENTRY:
            put_words(row, 0, word(row, 0) - start)
    put_words(out, at.LENGTH, n)
    put_words(out, at.USED, used - start)
    put_words(array, at.LENGTH, length - n)
    put_words(array, at.USED, start)
    return at.OK


FUNCTIONS: dict[str, Any] = {
    f.__name__: f for f in (array_insert, array_erase, array_extend, array_take, array_common, array_cut)
}
