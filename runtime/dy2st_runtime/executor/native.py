"""What the generated CPU source calls: element access by address, memory, math. The only module with intrinsics."""

from __future__ import annotations

from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .. import dtype as dt
from ..codegen import layout

# Kernels compute as eager mode does, without LLVM's fast math: with "reassoc" (x + y) - y would be x, also where y is infinite, and with
# "contract" a * d - b * c of equal products would not be 0. Only sums whose order is free may be cut into vectors.
_OF_SUMS = ("reassoc", "nsz", "contract")

NUMBA_TYPES = {"bool": types.boolean, **{name: getattr(types, name) for name in dt.ALL if name != "bool"}}
REGISTER_TYPES = {**NUMBA_TYPES, "float16": types.float32}
_MEMORY = {"bool": ir.IntType(8), "float16": ir.HalfType(), "float32": ir.FloatType(), "float64": ir.DoubleType(),
           **{name: ir.IntType(8 * dt.size(name)) for name in dt.INTS}}  # fmt: skip


def _load(name: str) -> Any:
    register = REGISTER_TYPES[name]

    @intrinsic
    def load(typingctx, address, index):  # type: ignore[no-untyped-def]
        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            pointer = builder.inttoptr(args[0], _MEMORY[name].as_pointer())
            value = builder.load(builder.gep(pointer, [args[1]], inbounds=True))
            if name == "bool":
                return builder.icmp_unsigned("!=", value, ir.Constant(ir.IntType(8), 0))
            return builder.fpext(value, ir.FloatType()) if name == "float16" else value

        return register(types.int64, types.int64), codegen

    return load


def _store(name: str) -> Any:
    register = REGISTER_TYPES[name]

    @intrinsic
    def store(typingctx, address, index, value):  # type: ignore[no-untyped-def]
        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            pointer = builder.inttoptr(args[0], _MEMORY[name].as_pointer())
            value = args[2]
            if name == "bool":
                value = builder.zext(value, ir.IntType(8))
            elif name == "float16":
                value = builder.fptrunc(value, ir.HalfType())
            builder.store(value, builder.gep(pointer, [args[1]], inbounds=True))
            return context.get_dummy_value()

        return types.void(types.int64, types.int64, register), codegen

    return store


def _sum(name: str, factors: int) -> Any:
    """A sum so far plus a term, or plus a product."""
    register = REGISTER_TYPES[name]

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        term = args[1] if factors == 1 else builder.fmul(*args[1:], flags=_OF_SUMS)
        return builder.fadd(args[0], term, flags=_OF_SUMS)

    if factors == 1:
        return intrinsic(lambda typingctx, total, term: (register(*(register,) * 2), codegen))
    return intrinsic(lambda typingctx, total, a, b: (register(*(register,) * 3), codegen))


SUMS = {f"sum_{name}": _sum(name, 1) for name in ("float32", "float64")}
SUMS.update({f"sum_product_{name}": _sum(name, 2) for name in ("float32", "float64")})
LOADS = {f"ld_{name}": _load(name) for name in dt.ALL}
STORES = {f"st_{name}": _store(name) for name in dt.ALL}
ld_int64, st_int64 = LOADS["ld_int64"], STORES["st_int64"]

_i32, _i64 = ir.IntType(32), ir.IntType(64)


@intrinsic
def _allocate(typingctx, alignment, nbytes):  # type: ignore[no-untyped-def]
    """aligned_alloc of the C library, by symbol, so that compiled objects can be kept on disk."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        function_type = ir.FunctionType(_i64, (_i64, _i64))
        return builder.call(cgutils.get_or_insert_function(builder.module, function_type, "aligned_alloc"), args)

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def _free(typingctx, address):  # type: ignore[no-untyped-def]
    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        function_type = ir.FunctionType(ir.VoidType(), (_i64,))
        builder.call(cgutils.get_or_insert_function(builder.module, function_type, "free"), args)
        return context.get_dummy_value()

    return types.void(types.int64), codegen


@intrinsic
def copy_bytes(typingctx, target, source, nbytes):  # type: ignore[no-untyped-def]
    """memmove."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        function_type = ir.FunctionType(_i64, (_i64, _i64, _i64))
        builder.call(cgutils.get_or_insert_function(builder.module, function_type, "memmove"), args)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen


@numba.njit(inline="never")
def grow(buffer, nbytes):  # type: ignore[no-untyped-def]
    """Replaces a buffer's memory by one of at least nbytes; the old contents are lost. 0 if there is no memory."""
    capacity = ld_int64(buffer, layout.BUFFER_CAPACITY)
    if capacity < 0:
        return 0  # not our memory: its size is fixed
    if capacity > 0:
        _free(ld_int64(buffer, layout.BUFFER_ADDRESS))
        # sizes that grew once tend to grow again
        nbytes = max(nbytes, capacity + capacity // 2)
    nbytes = (max(nbytes, 1) + 63) // 64 * 64
    address = _allocate(64, nbytes)
    st_int64(buffer, layout.BUFFER_ADDRESS, address)
    st_int64(buffer, layout.BUFFER_CAPACITY, nbytes if address != 0 else 0)
    return address


@numba.njit
def reserve(descriptor, nbytes):  # type: ignore[no-untyped-def]
    """Makes the tensor present, with memory for nbytes in the buffer it owns; returns the address, 0 without memory."""
    buffer = ld_int64(descriptor, layout.BUFFER)
    address = ld_int64(buffer, layout.BUFFER_ADDRESS)
    capacity = ld_int64(buffer, layout.BUFFER_CAPACITY)
    if address == 0 or (capacity >= 0 and capacity < nbytes):
        address = grow(buffer, nbytes)
    st_int64(descriptor, layout.DATA, address)
    st_int64(descriptor, layout.STATE, 1)
    return address


@numba.njit
def extend(buffer, data, used, nbytes):  # type: ignore[no-untyped-def]
    """Room for nbytes in a buffer that must keep its first `used` bytes, which are now at `data` (in the buffer or elsewhere);
    the address, 0 without memory."""
    address, capacity = ld_int64(buffer, layout.BUFFER_ADDRESS), ld_int64(buffer, layout.BUFFER_CAPACITY)
    if address != 0 and capacity >= nbytes:
        if data != address and used > 0:
            copy_bytes(address, data, used)
        return address
    room = (max(nbytes, 2 * capacity) + 63) // 64 * 64
    moved = _allocate(64, room)
    if moved == 0:
        return 0
    if used > 0:
        copy_bytes(moved, data, used)
    if address != 0:
        _free(address)
    st_int64(buffer, layout.BUFFER_ADDRESS, moved)
    st_int64(buffer, layout.BUFFER_CAPACITY, room)
    return moved


# ---- bounds checks ------------------------------------------------------------------------------------------------


@numba.njit
def checked(args, index, count):  # type: ignore[no-untyped-def]
    """The index if it is inside; else notes the violation in the word before the argument record and returns 0."""
    if index < 0 or index >= count:
        st_int64(args, layout.VERDICT, layout.OUT_OF_BOUNDS)
        return 0
    return index


# ---- the driver's call ----------------------------------------------------------------------------------------------


@intrinsic
def call_kernel(typingctx, address, args, start, stop):  # type: ignore[no-untyped-def]
    """Calls a compiled kernel by address, with the calling convention that Numba compiled it with."""

    def codegen(context, builder, signature, values):  # type: ignore[no-untyped-def]
        result, exception = cgutils.alloca_once(builder, _i64), cgutils.alloca_once(builder, ir.IntType(8).as_pointer())
        function_type = ir.FunctionType(_i32, (result.type, exception.type, _i64, _i64, _i64))
        builder.call(builder.inttoptr(values[0], function_type.as_pointer()), (result, exception, *values[1:]))
        return builder.load(result)

    return types.int64(types.int64, types.int64, types.int64, types.int64), codegen
