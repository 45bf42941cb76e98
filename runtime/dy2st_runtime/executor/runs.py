"""Instructions on elements and runs of memory, and room on the stack, for the routines of convolution and of products (see `scalars`)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from llvmlite import ir

from .. import dtype as dt
from .values import I64, TYPES, Instruction, instruction

LINE = 64
"""Bytes that come from memory together."""
SCALARS = {dtype: TYPES[dtype] for dtype in ("float32", "float64")}


def _at(builder: Any, address: Any, index: Any, kind: Any = I64) -> Any:
    return builder.gep(builder.inttoptr(address, kind.as_pointer()), [index], inbounds=True)


@instruction
def word(builder: Any, address: Any, index: Any) -> Any:
    """word(address, index): an int64 in memory."""
    return builder.load(_at(builder, address, index))


@instruction
def put_words(builder: Any, address: Any, index: Any, *values: Any) -> None:
    """put_words(address, index, value, ...): writes int64s one after the other."""
    for i, value in enumerate(values):
        builder.store(value, _at(builder, address, builder.add(index, ir.Constant(I64, i))))


def spread(builder: Any, value: Any, lanes: int) -> Any:
    """A vector with the value in each lane."""
    vector, i32 = ir.VectorType(value.type, lanes), ir.IntType(32)
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, value, ir.Constant(i32, 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(i32, lanes), [0] * lanes))


def ask_line(build: ir.IRBuilder, place: Any, written: int, near: int) -> None:
    """Asks for a line of memory that will be read, or written, so that it is there then; `near`: 3 for the cache of the first level."""
    address, hint = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [address, hint, hint, hint])
    prefetch = build.module.declare_intrinsic("llvm.prefetch", [address], kind)
    build.call(prefetch, [build.bitcast(place, address), *(ir.Constant(hint, i) for i in (written, near, 1))])


@instruction
def ask_to_write(builder: Any, address: Any) -> None:
    """ask_to_write(address): asks for the line of memory with this address, which will be written."""
    ask_line(builder, builder.inttoptr(address, ir.IntType(8).as_pointer()), 1, 3)


def stack(nbytes: int) -> Instruction:
    """An instruction that gives the address of so many bytes of the stack."""

    def emit(builder: Any) -> Any:
        with builder.goto_entry_block():
            slot = builder.alloca(ir.ArrayType(ir.IntType(8), nbytes))
        slot.align = 64
        return builder.ptrtoint(slot, I64)

    return Instruction(emit)


def _move(nbytes: int) -> Instruction:
    """move(target, source): copies so many bytes, as one vector where the machine has it."""

    def emit(builder: Any, target: Any, source: Any) -> None:
        pointer = ir.VectorType(ir.IntType(8), nbytes).as_pointer()
        value = builder.load(builder.inttoptr(source, pointer), align=1)
        builder.store(value, builder.inttoptr(target, pointer), align=1)

    return Instruction(emit)


move4, move16, move32, move64 = (_move(nbytes) for nbytes in (4, 16, 32, 64))


def copy_run(target: int, source: int, nbytes: int) -> None:
    """Copies exactly nbytes, a multiple of 4, between places that do not overlap; the last vector may overlap the one before."""
    if nbytes >= 64:
        last = nbytes - 64
        at = 0
        while at < last:
            move64(target + at, source + at)
            at += 64
        move64(target + last, source + last)
    elif nbytes >= 32:
        move32(target, source)
        move32(target + nbytes - 32, source + nbytes - 32)
    elif nbytes >= 16:
        move16(target, source)
        move16(target + nbytes - 16, source + nbytes - 16)
    else:
        for at in range(0, nbytes, 4):
            move4(target + at, source + at)


def round_up(a: int, b: int) -> int:
    """a / b, rounded towards infinity."""
    return (a + b - 1) // b


class Elements:
    """The instructions on elements of a dtype; indices count elements.

    Attributes:
        clear(target, i): sets an element to 0.
        copy(target, i, source, j): copies one.
        add(target, i, source, j): adds one to another.
    """

    def __init__(self, dtype: str):
        kind = SCALARS[dtype]

        def clear(builder: Any, target: Any, i: Any) -> None:
            builder.store(ir.Constant(kind, 0.0), _at(builder, target, i, kind))

        def copy(builder: Any, target: Any, i: Any, source: Any, j: Any) -> None:
            builder.store(builder.load(_at(builder, source, j, kind)), _at(builder, target, i, kind))

        def add(builder: Any, target: Any, i: Any, source: Any, j: Any) -> None:
            place = _at(builder, target, i, kind)
            builder.store(builder.fadd(builder.load(place), builder.load(_at(builder, source, j, kind))), place)

        self.clear, self.copy, self.add = Instruction(clear), Instruction(copy), Instruction(add)


def _add_ends(dtype: str, lanes: int) -> Instruction:
    """add_ends(target, source, count): adds the first and the last `lanes` of `count` elements to others, lanes <= count <= 2 * lanes.
    Both sums are made before one is stored, so elements that are in both get the same sum twice."""

    def emit(builder: Any, target: Any, source: Any, count: Any) -> None:
        pointer, size = ir.VectorType(SCALARS[dtype], lanes).as_pointer(), ir.Constant(I64, dt.size(dtype))
        last = builder.mul(builder.sub(count, ir.Constant(I64, lanes)), size)
        sums = []
        for offset in (ir.Constant(I64, 0), last):
            to, from_ = (builder.inttoptr(builder.add(address, offset), pointer) for address in (target, source))
            sums.append((builder.fadd(builder.load(to, align=4), builder.load(from_, align=4)), to))
        for total, to in sums:
            builder.store(total, to, align=4)

    return Instruction(emit)


@functools.cache
def add_runs(dtype: str) -> Callable[[int, int, int], None]:
    """add_run(target, source, count): adds so many elements to others."""
    size = dt.size(dtype)
    most, some, few = 64 // size, 32 // size, 16 // size
    add_most, add_some, add_few = (_add_ends(dtype, lanes) for lanes in (most, some, few))
    add = Elements(dtype).add

    def add_run(target: int, source: int, count: int) -> None:
        while count > 2 * most:
            add_most(target, source, 2 * most)
            target += 2 * most * size
            source += 2 * most * size
            count -= 2 * most
        if count >= most:
            add_most(target, source, count)
        elif count >= some:
            add_some(target, source, count)
        elif count >= few:
            add_few(target, source, count)
        else:
            for i in range(count):
                add(target, i, source, i)

    return add_run


def _pick(dtype: str, lanes: int, first: int = 0) -> Instruction:
    """pick(target, source): copies `lanes` elements, every second one from the `first` of source on, which may be 0 or 1; reads twice as
    many."""

    def emit(builder: Any, target: Any, source: Any) -> None:
        kind = SCALARS[dtype]
        pair = builder.load(builder.inttoptr(source, ir.VectorType(kind, 2 * lanes).as_pointer()), align=dt.size(dtype))
        even = ir.Constant(ir.VectorType(ir.IntType(32), lanes), list(range(first, 2 * lanes, 2)))
        chosen = builder.shuffle_vector(pair, ir.Constant(pair.type, ir.Undefined), even)
        place = builder.inttoptr(target, ir.VectorType(kind, lanes).as_pointer())
        builder.store(chosen, place, align=dt.size(dtype))

    return Instruction(emit)


@functools.cache
def pick_runs(dtype: str) -> Callable[[int, int, int], None]:
    """pick_run(target, source, count): copies so many elements, every second one; reads nothing behind the last."""
    size = dt.size(dtype)
    most, few = 64 // size, 16 // size
    pick_most, pick_last, pick_few, copy = _pick(dtype, most), _pick(dtype, most, 1), _pick(dtype, few), Elements(dtype).copy

    def pick_run(target: int, source: int, count: int) -> None:
        i = 0
        while i + most < count:
            pick_most(target + i * size, source + 2 * i * size)
            i += most
        if i > 0:  # the last ones, with some of those before; the one before them is read instead of the one behind
            pick_last(target + (count - most) * size, source + (2 * (count - most) - 1) * size)
            i = count
        while i + few < count:
            pick_few(target + i * size, source + 2 * i * size)
            i += few
        while i < count:
            copy(target, i, source, 2 * i)
            i += 1

    return pick_run
