"""What the generated CPU source calls: element access by address, sums, bounds checks."""

from __future__ import annotations

from typing import Any

import numba
from llvmlite import ir
from numba import types
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


# ---- bounds checks ------------------------------------------------------------------------------------------------


@numba.njit
def checked(args, index, count):  # type: ignore[no-untyped-def]
    """The index if it is inside; else notes the violation in the word before the argument record and returns 0."""
    if index < 0 or index >= count:
        st_int64(args, layout.VERDICT, layout.OUT_OF_BOUNDS)
        return 0
    return index
