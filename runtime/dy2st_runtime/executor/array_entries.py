"""TensorArrays natively, continued: entries put in, taken out, chosen and compared by their index. See `arrays`."""

from __future__ import annotations

from typing import Any

import numba

from ..codegen import layout as at
from .arrays import ABSENT_ENTRY, array_copy, array_create, entry_row, index_value, put, room, tensor_bytes
from .native import LOADS, copy_bytes, ld_int64, reserve, st_int64

ld_int8 = LOADS["ld_int8"]


@numba.njit
def array_insert(out, array, x, index, rank, size, width):  # type: ignore[no-untyped-def]
    i, length = index_value(index, width), ld_int64(array, at.LENGTH)
    if i < 0:
        i += length + 1
    if i < 0 or i > length:
        return at.FAILED
    status = array_copy(out, array, rank, size)
    return put(out, x, i, rank, size) if status == at.OK else status


@numba.njit
def array_erase(out, array, index, rank, size, width):  # type: ignore[no-untyped-def]
    i, length = index_value(index, width), ld_int64(array, at.LENGTH)
    if i < 0:
        i += length
    if i < 0 or i >= length:
        return at.FAILED
    status = array_copy(out, array, rank, size)
    if status == at.OK:
        status = room(out, ld_int64(out, at.USED), length, rank)
    if status != at.OK:
        return status
    row = entry_row(out, i, rank)
    offset = ld_int64(row, 0)
    nbytes = tensor_bytes(row, 1, rank, size) if offset != ABSENT_ENTRY else 0
    copy_bytes(row, entry_row(out, i + 1, rank), (length - 1 - i) * (1 + rank) * 8)
    st_int64(out, at.LENGTH, length - 1)
    if nbytes > 0:
        # a queue would else leave the bytes of all that went through it
        data, end = ld_int64(out, at.DATA) + offset, offset + nbytes
        copy_bytes(data, data + nbytes, ld_int64(out, at.USED) - end)
        st_int64(out, at.USED, ld_int64(out, at.USED) - nbytes)
        for e in range(length - 1):
            row = entry_row(out, e, rank)
            if ld_int64(row, 0) > offset:
                st_int64(row, 0, ld_int64(row, 0) - nbytes)
    return at.OK


@numba.njit
def _copy_entry(out, i, used, array, e, rank, size):  # type: ignore[no-untyped-def]
    """Makes entry e of an array the entry i of `out`, where there is room at `used`; how many bytes it takes there."""
    row, source = entry_row(out, i, rank), entry_row(array, e, rank)
    copy_bytes(row, source, (1 + rank) * 8)
    if ld_int64(source, 0) == ABSENT_ENTRY:
        return 0
    nbytes = tensor_bytes(source, 1, rank, size)
    copy_bytes(ld_int64(out, at.DATA) + used, ld_int64(array, at.DATA) + ld_int64(source, 0), nbytes)
    st_int64(row, 0, used)
    return nbytes


@numba.njit
def array_extend(out, array, other, rank, size):  # type: ignore[no-untyped-def]
    count, added = ld_int64(other, at.LENGTH), 0
    for e in range(count):
        row = entry_row(other, e, rank)
        if ld_int64(row, 0) != ABSENT_ENTRY:
            added += tensor_bytes(row, 1, rank, size)
    status = array_copy(out, array, rank, size)
    if status != at.OK:
        return status
    used, length = ld_int64(out, at.USED), ld_int64(out, at.LENGTH)
    if room(out, used + added, length + count, rank) != at.OK:
        return at.NO_MEMORY
    for e in range(count):
        used += _copy_entry(out, length + e, used, other, e, rank, size)
    st_int64(out, at.USED, used)
    st_int64(out, at.LENGTH, length + count)
    return at.OK


@numba.njit
def array_take(out, array, index, rank, size):  # type: ignore[no-untyped-def]
    array_create(out, rank, size)
    count, length, used = ld_int64(index, at.DIMS), ld_int64(array, at.LENGTH), 0
    wanted = ld_int64(index, at.DATA)
    for k in range(count):
        i = ld_int64(wanted + k * 8, 0)
        if i < -length or i >= length:
            return at.FAILED
        row = entry_row(array, i + length if i < 0 else i, rank)
        if ld_int64(row, 0) != ABSENT_ENTRY:
            used += tensor_bytes(row, 1, rank, size)
    if room(out, used, count, rank) != at.OK:
        return at.NO_MEMORY
    used = 0
    for k in range(count):
        i = ld_int64(wanted + k * 8, 0)
        used += _copy_entry(out, k, used, array, i + length if i < 0 else i, rank, size)
    st_int64(out, at.USED, used)
    st_int64(out, at.LENGTH, count)
    return at.OK


@numba.njit
def _same_entry(a, b, e, rank, size):  # type: ignore[no-untyped-def]
    p, q = entry_row(a, e, rank), entry_row(b, e, rank)
    if (ld_int64(p, 0) == ABSENT_ENTRY) != (ld_int64(q, 0) == ABSENT_ENTRY):
        return False
    for axis in range(1, 1 + rank):
        if ld_int64(p, axis) != ld_int64(q, axis):
            return False
    if ld_int64(p, 0) == ABSENT_ENTRY:
        return True
    nbytes = tensor_bytes(p, 1, rank, size)
    x, y = ld_int64(a, at.DATA) + ld_int64(p, 0), ld_int64(b, at.DATA) + ld_int64(q, 0)
    done = 0
    while done + 8 <= nbytes and ld_int64(x + done, 0) == ld_int64(y + done, 0):
        done += 8
    while done < nbytes and ld_int8(x + done, 0) == ld_int8(y + done, 0):
        done += 1
    return done == nbytes


@numba.njit
def array_common(out, a, b, rank, size):  # type: ignore[no-untyped-def]
    """How many leading entries are the same, bit by bit."""
    address = reserve(out, 8)
    if address == 0:
        return at.NO_MEMORY
    count, length = 0, min(ld_int64(a, at.LENGTH), ld_int64(b, at.LENGTH))
    while count < length and _same_entry(a, b, count, rank, size):
        count += 1
    st_int64(address, 0, count)
    return at.OK


@numba.njit
def array_cut(out, array, count, rank, size, width):  # type: ignore[no-untyped-def]
    """Moves the last entries of `array`, to which entries were only ever appended, to `out`."""
    n, length, used = index_value(count, width), ld_int64(array, at.LENGTH), ld_int64(array, at.USED)
    if n < 0 or n > length:
        return at.FAILED
    start = used
    for e in range(length - n, length):
        offset = ld_int64(entry_row(array, e, rank), 0)
        if offset != ABSENT_ENTRY:
            start = min(start, offset)
    array_create(out, rank, size)
    if room(out, used - start, n, rank) != at.OK:
        return at.NO_MEMORY
    copy_bytes(ld_int64(out, at.DATA), ld_int64(array, at.DATA) + start, used - start)
    copy_bytes(ld_int64(out, at.ENTRIES), entry_row(array, length - n, rank), n * (1 + rank) * 8)
    for e in range(n):
        row = entry_row(out, e, rank)
        if ld_int64(row, 0) != ABSENT_ENTRY:
            st_int64(row, 0, ld_int64(row, 0) - start)
    st_int64(out, at.LENGTH, n)
    st_int64(out, at.USED, used - start)
    st_int64(array, at.LENGTH, length - n)
    st_int64(array, at.USED, start)
    return at.OK


FUNCTIONS: dict[str, Any] = {
    f.__name__: f for f in (array_insert, array_erase, array_extend, array_take, array_common, array_cut)
}
