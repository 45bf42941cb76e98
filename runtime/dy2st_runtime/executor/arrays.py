"""TensorArrays natively: functions on descriptors, for every dtype and rank alike. See `codegen.layout`.

Each returns a status. `out` may be the same descriptor as the input array: then the array is changed in place.
"""

from __future__ import annotations

from typing import Any

from ..codegen import layout as at
from .memory import copy_bytes, extend, int32_at, reserve, swap
from .runs import put_words, word

ABSENT_ENTRY = -1  # the offset of an entry that was absent when it was saved


def entry_row(array: int, index: int, rank: int) -> int:
    """The address of an entry's row in the table: offset, then sizes."""
    return word(array, at.ENTRIES) + index * (1 + rank) * 8


def tensor_bytes(row: int, first: int, rank: int, size: int) -> int:
    """The bytes of a tensor whose sizes start at word `first` of `row`."""
    total = size
    for a in range(rank):
        total *= word(row, first + a)
    return total


def index_value(address: int, width: int) -> int:
    data = word(address, at.DATA)
    if width == 4:
        return int32_at(data)
    return word(data, 0)


def array_create(out: int, rank: int, size: int) -> int:
    put_words(out, at.STATE, 1)
    put_words(out, at.LENGTH, 0)
    put_words(out, at.USED, 0)
    put_words(out, at.DATA, word(word(out, at.BUFFER), 0))
    put_words(out, at.ENTRIES, word(word(out, at.TABLE), 0))
    return at.OK


def room(out: int, nbytes: int, entries: int, rank: int) -> int:
    """Room in own memory for that many bytes and entries in all, contents kept."""
    used, length = word(out, at.USED), word(out, at.LENGTH)
    data = extend(word(out, at.BUFFER), word(out, at.DATA), used, max(nbytes, 1))
    table = extend(
        word(out, at.TABLE), word(out, at.ENTRIES), length * (1 + rank) * 8, max(entries, 1) * (1 + rank) * 8
    )
    put_words(out, at.DATA, data)
    put_words(out, at.ENTRIES, table)
    return at.OK if data != 0 and table != 0 else at.NO_MEMORY


def array_copy(out: int, array: int, rank: int, size: int) -> int:
    if out == array:
        return at.OK
    array_create(out, rank, size)
    used, length = word(array, at.USED), word(array, at.LENGTH)
    if room(out, used, length, rank) != at.OK:
        return at.NO_MEMORY
    copy_bytes(word(out, at.DATA), word(array, at.DATA), used)
    copy_bytes(word(out, at.ENTRIES), word(array, at.ENTRIES), length * (1 + rank) * 8)
    put_words(out, at.USED, used)
    put_words(out, at.LENGTH, length)
    return at.OK


def put(out: int, x: int, i: int, rank: int, size: int) -> int:
    """Puts a tensor into `out` itself as entry i; those from there on move up. Its elements go to the end of the data."""
    used, length = word(out, at.USED), word(out, at.LENGTH)
    present = word(x, at.STATE) != 0
    nbytes = tensor_bytes(x, at.DIMS, rank, size) if present else 0
    if room(out, used + nbytes, length + 1, rank) != at.OK:
        return at.NO_MEMORY
    row = entry_row(out, i, rank)
    copy_bytes(entry_row(out, i + 1, rank), row, (length - i) * (1 + rank) * 8)
    put_words(row, 0, used if present else ABSENT_ENTRY)
    for a in range(rank):
        put_words(row, 1 + a, word(x, at.DIMS + a) if present else 0)
    copy_bytes(word(out, at.DATA) + used, word(x, at.DATA), nbytes)
    put_words(out, at.USED, used + nbytes)
    put_words(out, at.LENGTH, length + 1)
    return at.OK


def array_push(out: int, x: int, rank: int, size: int) -> int:
    """Appends a tensor to `out` itself."""
    return put(out, x, word(out, at.LENGTH), rank, size)


def array_append(out: int, array: int, x: int, rank: int, size: int) -> int:
    status = array_copy(out, array, rank, size)
    return array_push(out, x, rank, size) if status == at.OK else status


def array_set(out: int, array: int, x: int, index: int, rank: int, size: int, width: int) -> int:
    """Replaces an entry; the entry after the last is appended."""
    i, length = index_value(index, width), word(array, at.LENGTH)
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
    used, offset = word(out, at.USED), word(row, 0)
    if nbytes > tensor_bytes(row, 1, rank, size):
        # the new entry is larger than the old one: it goes to the end of the data
        offset = used
        used += nbytes
    if room(out, used, length, rank) != at.OK:
        return at.NO_MEMORY
    row = entry_row(out, i, rank)
    put_words(row, 0, offset)
    for a in range(rank):
        put_words(row, 1 + a, word(x, at.DIMS + a))
    copy_bytes(word(out, at.DATA) + offset, word(x, at.DATA), nbytes)
    put_words(out, at.USED, used)
    return at.OK


def _fetch(out: int, array: int, i: int, rank: int, size: int) -> int:
    row = entry_row(array, i, rank)
    if word(row, 0) == ABSENT_ENTRY:
        put_words(out, at.STATE, 0)
        return at.OK
    nbytes = tensor_bytes(row, 1, rank, size)
    address = reserve(out, nbytes)
    if address == 0:
        return at.NO_MEMORY
    for a in range(rank):
        put_words(out, at.DIMS + a, word(row, 1 + a))
    copy_bytes(address, word(array, at.DATA) + word(row, 0), nbytes)
    return at.OK


def array_get(out: int, array: int, index: int, rank: int, size: int, width: int) -> int:
    i, length = index_value(index, width), word(array, at.LENGTH)
    if i < 0:
        i += length
    if i < 0 or i >= length:
        return at.FAILED
    return _fetch(out, array, i, rank, size)


def array_last(out: int, array: int, rank: int, size: int) -> int:
    length = word(array, at.LENGTH)
    return at.FAILED if length == 0 else _fetch(out, array, length - 1, rank, size)


def array_drop_last(out: int, array: int, rank: int, size: int) -> int:
    status = array_copy(out, array, rank, size)
    length = word(out, at.LENGTH)
    if status == at.OK:
        status = at.FAILED if length == 0 else room(out, word(out, at.USED), length, rank)
    if status != at.OK:
        return status
    row = entry_row(out, length - 1, rank)
    end = word(row, 0) + tensor_bytes(row, 1, rank, size)
    if word(row, 0) != ABSENT_ENTRY and end == word(out, at.USED):
        put_words(out, at.USED, word(row, 0))
    put_words(out, at.LENGTH, length - 1)
    return at.OK


def array_length(out: int, array: int, rank: int, size: int) -> int:
    address = reserve(out, 8)
    if address == 0:
        return at.NO_MEMORY
    put_words(address, 0, word(array, at.LENGTH))
    if rank > 0:
        put_words(out, at.DIMS, 1)
    return at.OK


def _strips(out: int, array: int, rank: int, size: int, axis: int, out_axis_size: int, stacked: int) -> int:
    """Copies the entries side by side along `axis` of `out`, whose sizes are set."""
    out_rank = rank + 1 if stacked else rank
    inner = size
    for a in range(axis + 1, out_rank):
        inner *= word(out, at.DIMS + a)
    outer = 1
    for a in range(axis):
        outer *= word(out, at.DIMS + a)
    address = reserve(out, outer * inner * out_axis_size)
    if address == 0:
        return at.NO_MEMORY
    done = 0
    for e in range(word(array, at.LENGTH)):
        row = entry_row(array, e, rank)
        width = 1 if stacked else word(row, 1 + axis)
        source = word(array, at.DATA) + word(row, 0)
        strip = width * inner
        for o in range(outer):
            copy_bytes(address + (o * out_axis_size + done) * inner, source + o * strip, strip)
        done += width
    return at.OK


def array_stack(out: int, array: int, rank: int, size: int, axis: int) -> int:
    length = word(array, at.LENGTH)
    if length == 0:
        return at.FAILED
    first = entry_row(array, 0, rank)
    for e in range(1, length):
        row = entry_row(array, e, rank)
        for a in range(rank):
            if word(row, 1 + a) != word(first, 1 + a):
                return at.FAILED
    for a in range(axis):
        put_words(out, at.DIMS + a, word(first, 1 + a))
    put_words(out, at.DIMS + axis, length)
    for a in range(axis, rank):
        put_words(out, at.DIMS + a + 1, word(first, 1 + a))
    return _strips(out, array, rank, size, axis, length, True)


def array_concat(out: int, array: int, rank: int, size: int, axis: int) -> int:
    length = word(array, at.LENGTH)
    if length == 0:
        return at.FAILED
    first, total = entry_row(array, 0, rank), 0
    for e in range(length):
        row = entry_row(array, e, rank)
        total += word(row, 1 + axis)
        for a in range(rank):
            if a != axis and word(row, 1 + a) != word(first, 1 + a):
                return at.FAILED
    for a in range(rank):
        put_words(out, at.DIMS + a, total if a == axis else word(first, 1 + a))
    return _strips(out, array, rank, size, axis, total, False)


def array_unstack(out: int, x: int, rank: int, size: int, axis: int) -> int:
    array_create(out, rank - 1, size)
    count = word(x, at.DIMS + axis)
    inner, outer = size, 1
    for a in range(axis + 1, rank):
        inner *= word(x, at.DIMS + a)
    for a in range(axis):
        outer *= word(x, at.DIMS + a)
    if room(out, count * inner * outer, count, rank - 1) != at.OK:
        return at.NO_MEMORY
    data, source = word(out, at.DATA), word(x, at.DATA)
    for e in range(count):
        row = entry_row(out, e, rank - 1)
        put_words(row, 0, e * inner * outer)
        for a in range(rank - 1):
            put_words(row, 1 + a, word(x, at.DIMS + (a if a < axis else a + 1)))
        for o in range(outer):
            copy_bytes(data + (e * outer + o) * inner, source + (o * count + e) * inner, inner)
    put_words(out, at.LENGTH, count)
    put_words(out, at.USED, count * inner * outer)
    return at.OK


def move_value(target: int, source: int, rank: int, size: int) -> int:
    """Gives `target` the value of `source`, which is not needed under its own name any more. A value in the buffer that `source`
    owns changes hands with the buffer; one that lies elsewhere is copied. A negative size marks a TensorArray. The two may be one: then
    its value lies in its own buffer afterwards."""
    if word(source, at.STATE) == 0:
        put_words(target, at.STATE, 0)
        return at.OK
    data, own = word(source, at.DATA), word(source, at.BUFFER)
    if data == word(own, at.BUFFER_ADDRESS):
        for w in range(at.BUFFER, at.TABLE + 1):
            p, q = word(target, w), word(source, w)
            if p != 0 and q != 0:
                swap(p, q)
    elif size < 0:
        status = array_copy(target, source, rank, -size)
        return room(target, word(target, at.USED), word(target, at.LENGTH), rank) if status == at.OK else status
    elif target == source or data != word(target, at.DATA) or word(target, at.STATE) == 0:
        nbytes = tensor_bytes(source, at.DIMS, rank, size)
        address = reserve(target, nbytes)
        if address == 0:
            return at.NO_MEMORY
        copy_bytes(address, data, nbytes)
        data = address
    put_words(target, at.STATE, 1)
    put_words(target, at.DATA, data)
    for w in range(at.DIMS, at.DESCRIPTOR_WORDS):
        put_words(target, w, word(source, w))
    return at.OK


def tensor_take(out: int, x: int, rank: int, size: int) -> int:
    """Gives `out` the elements of a tensor in memory that it owns. They are there already where `out` and x are one descriptor
    and x does not show other memory."""
    data, nbytes = word(x, at.DATA), tensor_bytes(x, at.DIMS, rank, size)
    if out == x and data == word(word(x, at.BUFFER), at.BUFFER_ADDRESS):
        return at.OK
    address = reserve(out, nbytes)
    if address == 0:
        return at.NO_MEMORY
    for a in range(rank):
        put_words(out, at.DIMS + a, word(x, at.DIMS + a))
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
