"""Memory and calls, for the functions on scalars that run natively (see `scalars`): the C library, buffers, kernels.

A buffer is two words, an address and a capacity in bytes (see `codegen.layout`); a capacity below 0 marks memory that is not ours.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from ..codegen import layout
from .runs import put_words, word
from .values import I64, Instruction, declared, instruction


def _signed(bits: int) -> Instruction:
    """load(address): a signed integer of so many bits."""

    def emit(builder: Any, address: Any) -> Any:
        return builder.sext(builder.load(builder.inttoptr(address, ir.IntType(bits).as_pointer())), I64)

    return Instruction(emit)


int8_at, int32_at = _signed(8), _signed(32)


def of_c(name: str, places: int, gives: ir.Type | None = I64) -> Instruction:
    """A function of the C library on so many 64-bit integers, by symbol; `gives`: what it returns, None if nothing."""

    def emit(builder: Any, *operands: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType() if gives is None else gives, [I64] * places)
        result = builder.call(declared(builder.module, kind, name), operands)
        return None if gives is None else result if gives == I64 else builder.sext(result, I64)

    return Instruction(emit)


allocate = of_c("aligned_alloc", 2)  # alignment, bytes; 0 if there is no memory
free = of_c("free", 1, None)
copy_bytes = of_c("memmove", 3)  # target, source, bytes; the places may overlap


@instruction
def call_kernel(builder: Any, address: Any, args: Any, start: Any, stop: Any) -> Any:
    """call_kernel(address, args, start, stop): calls a kernel; its status."""
    kind = ir.FunctionType(I64, (I64, I64, I64))
    return builder.call(builder.inttoptr(address, kind.as_pointer()), (args, start, stop))


def swap(a: int, b: int) -> None:
    """Exchanges what two buffers hold."""
    for field in range(layout.BUFFER_WORDS):
        kept = word(a, field)
        put_words(a, field, word(b, field))
        put_words(b, field, kept)


def copy_descriptor(target: int, source: int) -> None:
    """All words of a descriptor but for the buffers that it owns."""
    for w in range(layout.DESCRIPTOR_WORDS):
        if w != layout.BUFFER and w != layout.TABLE:
            put_words(target, w, word(source, w))


def grow(buffer: int, nbytes: int) -> int:
    """Replaces a buffer's memory by one of at least nbytes; the old contents are lost. 0 if there is no memory."""
    capacity = word(buffer, layout.BUFFER_CAPACITY)
    if capacity < 0:
        return 0  # not our memory: its size is fixed
    if capacity > 0:
        free(word(buffer, layout.BUFFER_ADDRESS))
        # sizes that grew once tend to grow again
        nbytes = max(nbytes, capacity + capacity // 2)
    nbytes = (max(nbytes, 1) + 63) // 64 * 64
    address = allocate(64, nbytes)
    put_words(buffer, layout.BUFFER_ADDRESS, address)
    put_words(buffer, layout.BUFFER_CAPACITY, nbytes if address != 0 else 0)
    return address


def reserve(descriptor: int, nbytes: int) -> int:
    """Makes the tensor present, with memory for nbytes in the buffer it owns; returns the address, 0 without memory."""
    buffer = word(descriptor, layout.BUFFER)
    address = word(buffer, layout.BUFFER_ADDRESS)
    capacity = word(buffer, layout.BUFFER_CAPACITY)
    if address == 0 or (capacity >= 0 and capacity < nbytes):
        address = grow(buffer, nbytes)
    put_words(descriptor, layout.DATA, address)
    put_words(descriptor, layout.STATE, 1)
    return address


def extend(buffer: int, data: int, used: int, nbytes: int) -> int:
    """Room for nbytes in a buffer that must keep its first `used` bytes, which are now at `data` (in the buffer or elsewhere);
    the address, 0 without memory."""
    address, capacity = word(buffer, layout.BUFFER_ADDRESS), word(buffer, layout.BUFFER_CAPACITY)
    if address != 0 and capacity >= nbytes:
        if data != address and used > 0:
            copy_bytes(address, data, used)
        return address
    room = (max(nbytes, 2 * capacity) + 63) // 64 * 64
    moved = allocate(64, room)
    if moved == 0:
        return 0
    if used > 0:
        copy_bytes(moved, data, used)
    if address != 0:
        free(address)
    put_words(buffer, layout.BUFFER_ADDRESS, moved)
    put_words(buffer, layout.BUFFER_CAPACITY, room)
    return moved


def put_part(whole: int, part: int, row: int, total: int, offset: int, count: int, size: int) -> int:
    """Copies a row of a part, of `count` items of so many bytes, to the row of the whole, of `total`, from `offset` on."""
    copy_bytes(whole + (row * total + offset) * size, part + row * count * size, count * size)
    return 0


def take_part(whole: int, part: int, row: int, total: int, offset: int, count: int, size: int) -> int:
    """Copies it back."""
    copy_bytes(part + row * count * size, whole + (row * total + offset) * size, count * size)
    return 0


FUNCTIONS: dict[str, Any] = {f.__name__: f for f in (reserve, put_part, take_part)}
