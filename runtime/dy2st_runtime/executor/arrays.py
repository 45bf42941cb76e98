"""TensorArrays natively: functions on descriptors, for every dtype and rank alike. See `codegen.layout`.

Each returns a status. `out` may be the same descriptor as the input array: then the array is changed in place.
"""

from __future__ import annotations

from typing import Any

import numba

from ..codegen import layout as at
from .native import LOADS, copy_bytes, extend, ld_int64, reserve, st_int64

ld_int32 = LOADS["ld_int32"]
ABSENT_ENTRY = -1  # the offset of an entry that was absent when it was saved


@numba.njit
def entry_row(array, index, rank):  # type: ignore[no-untyped-def]
    """The address of an entry's row in the table: offset, then sizes."""
    return ld_int64(array, at.ENTRIES) + index * (1 + rank) * 8


@numba.njit
def tensor_bytes(row, first, rank, size):  # type: ignore[no-untyped-def]
    """The bytes of a tensor whose sizes start at word `first` of `row`."""
    total = size
    for a in range(rank):
        total *= ld_int64(row, first + a)
    return total


@numba.njit
def index_value(address, width):  # type: ignore[no-untyped-def]
    data = ld_int64(address, at.DATA)
    if width == 4:
        return numba.int64(ld_int32(data, 0))
    return ld_int64(data, 0)


@numba.njit
def array_create(out, rank, size):  # type: ignore[no-untyped-def]
    st_int64(out, at.STATE, 1)
    st_int64(out, at.LENGTH, 0)
    st_int64(out, at.USED, 0)
    st_int64(out, at.DATA, ld_int64(ld_int64(out, at.BUFFER), 0))
    st_int64(out, at.ENTRIES, ld_int64(ld_int64(out, at.TABLE), 0))
    return at.OK


@numba.njit
def room(out, nbytes, entries, rank):  # type: ignore[no-untyped-def]
    """Room in own memory for that many bytes and entries in all, contents kept."""
    used, length = ld_int64(out, at.USED), ld_int64(out, at.LENGTH)
    data = extend(ld_int64(out, at.BUFFER), ld_int64(out, at.DATA), used, max(nbytes, 1))
    table = extend(
        ld_int64(out, at.TABLE), ld_int64(out, at.ENTRIES), length * (1 + rank) * 8, max(entries, 1) * (1 + rank) * 8
    )
    st_int64(out, at.DATA, data)
    st_int64(out, at.ENTRIES, table)
    return at.OK if data != 0 and table != 0 else at.NO_MEMORY


@numba.njit
def array_copy(out, array, rank, size):  # type: ignore[no-untyped-def]
    if out == array:
        return at.OK
    array_create(out, rank, size)
    used, length = ld_int64(array, at.USED), ld_int64(array, at.LENGTH)
    if room(out, used, length, rank) != at.OK:
        return at.NO_MEMORY
    copy_bytes(ld_int64(out, at.DATA), ld_int64(array, at.DATA), used)
    copy_bytes(ld_int64(out, at.ENTRIES), ld_int64(array, at.ENTRIES), length * (1 + rank) * 8)
    st_int64(out, at.USED, used)
    st_int64(out, at.LENGTH, length)
    return at.OK


@numba.njit
def put(out, x, i, rank, size):  # type: ignore[no-untyped-def]
    """Puts a tensor into `out` itself as entry i; those from there on move up. Its elements go to the end of the data."""
    used, length = ld_int64(out, at.USED), ld_int64(out, at.LENGTH)
    present = ld_int64(x, at.STATE) != 0
    nbytes = tensor_bytes(x, at.DIMS, rank, size) if present else 0
    if room(out, used + nbytes, length + 1, rank) != at.OK:
        return at.NO_MEMORY
    row = entry_row(out, i, rank)
    copy_bytes(entry_row(out, i + 1, rank), row, (length - i) * (1 + rank) * 8)
    st_int64(row, 0, used if present else ABSENT_ENTRY)
    for a in range(rank):
        st_int64(row, 1 + a, ld_int64(x, at.DIMS + a) if present else 0)
    copy_bytes(ld_int64(out, at.DATA) + used, ld_int64(x, at.DATA), nbytes)
    st_int64(out, at.USED, used + nbytes)
    st_int64(out, at.LENGTH, length + 1)
    return at.OK


@numba.njit
def array_push(out, x, rank, size):  # type: ignore[no-untyped-def]
    """Appends a tensor to `out` itself."""
    return put(out, x, ld_int64(out, at.LENGTH), rank, size)


@numba.njit
def array_append(out, array, x, rank, size):  # type: ignore[no-untyped-def]
    status = array_copy(out, array, rank, size)
    return array_push(out, x, rank, size) if status == at.OK else status


@numba.njit
def array_set(out, array, x, index, rank, size, width):  # type: ignore[no-untyped-def]
    """Replaces an entry; the entry after the last is appended."""
    i, length = index_value(index, width), ld_int64(array, at.LENGTH)
    if i < 0:
        i += length
    if i < 0 or i > length:
        return at.FAILED
    status = array_copy(out, array, rank, size)
    if status != at.OK:
        return status
    if i == length:
        return array_push(out, x, rank, size)
    nbytes, row = tensor_bytes(x, at.DIMS, rank, size), entry_row(out, i, rank)
    used, offset = ld_int64(out, at.USED), ld_int64(row, 0)
    if nbytes > tensor_bytes(row, 1, rank, size):
        # the new entry is larger than the old one: it goes to the end of the data
        offset = used
        used += nbytes
    if room(out, used, length, rank) != at.OK:
        return at.NO_MEMORY
    row = entry_row(out, i, rank)
    st_int64(row, 0, offset)
    for a in range(rank):
        st_int64(row, 1 + a, ld_int64(x, at.DIMS + a))
    copy_bytes(ld_int64(out, at.DATA) + offset, ld_int64(x, at.DATA), nbytes)
    st_int64(out, at.USED, used)
    return at.OK


@numba.njit
def _fetch(out, array, i, rank, size):  # type: ignore[no-untyped-def]
    row = entry_row(array, i, rank)
    if ld_int64(row, 0) == ABSENT_ENTRY:
        st_int64(out, at.STATE, 0)
        return at.OK
    nbytes = tensor_bytes(row, 1, rank, size)
    address = reserve(out, nbytes)
    if address == 0:
        return at.NO_MEMORY
    for a in range(rank):
        st_int64(out, at.DIMS + a, ld_int64(row, 1 + a))
    copy_bytes(address, ld_int64(array, at.DATA) + ld_int64(row, 0), nbytes)
    return at.OK


@numba.njit
def array_get(out, array, index, rank, size, width):  # type: ignore[no-untyped-def]
    i, length = index_value(index, width), ld_int64(array, at.LENGTH)
    if i < 0:
        i += length
    if i < 0 or i >= length:
        return at.FAILED
    return _fetch(out, array, i, rank, size)


@numba.njit
def array_last(out, array, rank, size):  # type: ignore[no-untyped-def]
    length = ld_int64(array, at.LENGTH)
    return at.FAILED if length == 0 else _fetch(out, array, length - 1, rank, size)


@numba.njit
def array_drop_last(out, array, rank, size):  # type: ignore[no-untyped-def]
    status = array_copy(out, array, rank, size)
    length = ld_int64(out, at.LENGTH)
    if status != at.OK or length == 0:
        return at.FAILED if status == at.OK else status
    row = entry_row(out, length - 1, rank)
    end = ld_int64(row, 0) + tensor_bytes(row, 1, rank, size)
    if ld_int64(row, 0) != ABSENT_ENTRY and end == ld_int64(out, at.USED):
        st_int64(out, at.USED, ld_int64(row, 0))
    st_int64(out, at.LENGTH, length - 1)
    return at.OK


@numba.njit
def array_length(out, array, rank, size):  # type: ignore[no-untyped-def]
    address = reserve(out, 8)
    if address == 0:
        return at.NO_MEMORY
    st_int64(address, 0, ld_int64(array, at.LENGTH))
    if rank > 0:
        st_int64(out, at.DIMS, 1)
    return at.OK


@numba.njit
def _strips(out, array, rank, size, axis, out_axis_size, stacked):  # type: ignore[no-untyped-def]
    """Copies the entries side by side along `axis` of `out`, whose sizes are set."""
    out_rank = rank + 1 if stacked else rank
    inner = size
    for a in range(axis + 1, out_rank):
        inner *= ld_int64(out, at.DIMS + a)
    outer = 1
    for a in range(axis):
        outer *= ld_int64(out, at.DIMS + a)
    address = reserve(out, outer * inner * out_axis_size)
    if address == 0:
        return at.NO_MEMORY
    done = 0
    for e in range(ld_int64(array, at.LENGTH)):
        row = entry_row(array, e, rank)
        width = 1 if stacked else ld_int64(row, 1 + axis)
        source = ld_int64(array, at.DATA) + ld_int64(row, 0)
        strip = width * inner
        for o in range(outer):
            copy_bytes(address + (o * out_axis_size + done) * inner, source + o * strip, strip)
        done += width
    return at.OK


@numba.njit
def array_stack(out, array, rank, size, axis):  # type: ignore[no-untyped-def]
    length = ld_int64(array, at.LENGTH)
    if length == 0:
        return at.FAILED
    first = entry_row(array, 0, rank)
    for e in range(1, length):
        row = entry_row(array, e, rank)
        for a in range(rank):
            if ld_int64(row, 1 + a) != ld_int64(first, 1 + a):
                return at.FAILED
    for a in range(axis):
        st_int64(out, at.DIMS + a, ld_int64(first, 1 + a))
    st_int64(out, at.DIMS + axis, length)
    for a in range(axis, rank):
        st_int64(out, at.DIMS + a + 1, ld_int64(first, 1 + a))
    return _strips(out, array, rank, size, axis, length, True)


@numba.njit
def array_concat(out, array, rank, size, axis):  # type: ignore[no-untyped-def]
    length = ld_int64(array, at.LENGTH)
    if length == 0:
        return at.FAILED
    first, total = entry_row(array, 0, rank), 0
    for e in range(length):
        row = entry_row(array, e, rank)
        total += ld_int64(row, 1 + axis)
        for a in range(rank):
            if a != axis and ld_int64(row, 1 + a) != ld_int64(first, 1 + a):
                return at.FAILED
    for a in range(rank):
        st_int64(out, at.DIMS + a, total if a == axis else ld_int64(first, 1 + a))
    return _strips(out, array, rank, size, axis, total, False)


@numba.njit
def array_unstack(out, x, rank, size, axis):  # type: ignore[no-untyped-def]
    array_create(out, rank - 1, size)
    count = ld_int64(x, at.DIMS + axis)
    inner, outer = size, 1
    for a in range(axis + 1, rank):
        inner *= ld_int64(x, at.DIMS + a)
    for a in range(axis):
        outer *= ld_int64(x, at.DIMS + a)
    if room(out, count * inner * outer, count, rank - 1) != at.OK:
        return at.NO_MEMORY
    data, source = ld_int64(out, at.DATA), ld_int64(x, at.DATA)
    for e in range(count):
        row = entry_row(out, e, rank - 1)
        st_int64(row, 0, e * inner * outer)
        for a in range(rank - 1):
            st_int64(row, 1 + a, ld_int64(x, at.DIMS + (a if a < axis else a + 1)))
        for o in range(outer):
            copy_bytes(data + (e * outer + o) * inner, source + (o * count + e) * inner, inner)
    st_int64(out, at.LENGTH, count)
    st_int64(out, at.USED, count * inner * outer)
    return at.OK


@numba.njit
def move_value(target, source, rank, size):  # type: ignore[no-untyped-def]
    """Gives `target` the value of `source`, which is not needed under its own name any more. A value in the buffer that `source`
    owns changes hands with the buffer; one that lies elsewhere is copied. A negative size marks a TensorArray."""
    if ld_int64(source, at.STATE) == 0:
        st_int64(target, at.STATE, 0)
        return at.OK
    data, own = ld_int64(source, at.DATA), ld_int64(source, at.BUFFER)
    if data == ld_int64(own, at.BUFFER_ADDRESS):
        for word in range(at.BUFFER, at.TABLE + 1):
            p, q = ld_int64(target, word), ld_int64(source, word)
            if p != 0 and q != 0:
                for field in range(at.BUFFER_WORDS):
                    keep = ld_int64(p, field)
                    st_int64(p, field, ld_int64(q, field))
                    st_int64(q, field, keep)
    elif size < 0:
        return array_copy(target, source, rank, -size)
    elif data != ld_int64(target, at.DATA) or ld_int64(target, at.STATE) == 0:
        nbytes = tensor_bytes(source, at.DIMS, rank, size)
        address = reserve(target, nbytes)
        if address == 0:
            return at.NO_MEMORY
        copy_bytes(address, data, nbytes)
        data = address
    st_int64(target, at.STATE, 1)
    st_int64(target, at.DATA, data)
    for word in range(at.DIMS, at.DESCRIPTOR_WORDS):
        st_int64(target, word, ld_int64(source, word))
    return at.OK


@numba.njit
def tensor_take(out, x, rank, size):  # type: ignore[no-untyped-def]
    """Gives `out` the elements of a tensor in memory that it owns. They are there already where `out` and x are one descriptor
    and x does not show other memory."""
    data, nbytes = ld_int64(x, at.DATA), tensor_bytes(x, at.DIMS, rank, size)
    if out == x and data == ld_int64(ld_int64(x, at.BUFFER), at.BUFFER_ADDRESS):
        return at.OK
    address = reserve(out, nbytes)
    if address == 0:
        return at.NO_MEMORY
    for a in range(rank):
        st_int64(out, at.DIMS + a, ld_int64(x, at.DIMS + a))
    copy_bytes(address, data, nbytes)
    return at.OK


FUNCTIONS: dict[str, Any] = {
    f.__name__: f
    for f in (
        array_create,
        array_copy,
        array_push,
        array_append,
        array_set,
        array_get,
        array_last,
        array_drop_last,
        array_length,
        array_stack,
        array_concat,
        array_unstack,
        move_value,
        tensor_take,
    )
}
