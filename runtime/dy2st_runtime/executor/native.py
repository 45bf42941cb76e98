"""What the generated CPU source calls: element access by address, sums, bounds checks."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from .. import dtype as dt
from ..codegen import layout
from ..dtype import widened
from .values import I1, I64, TYPES, Instruction, instruction

# Kernels compute as eager mode does, without LLVM's fast math: with "reassoc" (x + y) - y would be x, also where y is infinite, and with
# "contract" a * d - b * c of equal products would not be 0. Only sums and products whose order is free may be cut into vectors.
_OF_SUMS = ("reassoc", "nsz", "contract")

_MEMORY = {**TYPES, "bool": ir.IntType(8), "float16": ir.HalfType()}


def _element(builder: Any, name: str, address: Any, index: Any) -> Any:
    return builder.gep(builder.inttoptr(address, _MEMORY[name].as_pointer()), [index], inbounds=True)


def _load(name: str) -> Instruction:
    def emit(builder: Any, address: Any, index: Any) -> Any:
        value = builder.load(_element(builder, name, address, index))
        if name == "bool":
            return builder.icmp_unsigned("!=", value, ir.Constant(ir.IntType(8), 0))
        return builder.fpext(value, ir.FloatType()) if name == "float16" else value

    return Instruction(emit, ("int64", "int64"), widened(name))


def _store(name: str) -> Instruction:
    def emit(builder: Any, address: Any, index: Any, value: Any) -> None:
        if name == "bool":
            value = builder.zext(value, ir.IntType(8))
        elif name == "float16":
            value = builder.fptrunc(value, ir.HalfType())
        builder.store(value, _element(builder, name, address, index))

    return Instruction(emit, ("int64", "int64", widened(name)))


def _sum(name: str, factors: int) -> Instruction:
    """A sum so far plus a term, or plus a product."""

    def emit(builder: Any, total: Any, *term: Any) -> Any:
        value = term[0] if factors == 1 else builder.fmul(*term, flags=_OF_SUMS)
        return builder.fadd(total, value, flags=_OF_SUMS)

    return Instruction(emit, (name,) * (1 + factors), name)


SUMS = {f"sum_{name}": _sum(name, 1) for name in ("float32", "float64")}
SUMS.update({f"sum_product_{name}": _sum(name, 2) for name in ("float32", "float64")})
SUMS.update({f"product_{name}": Instruction(lambda builder, *factors: builder.fmul(*factors, flags=_OF_SUMS), (name, name), name)
             for name in ("float32", "float64")})  # fmt: skip
LOADS = {f"ld_{name}": _load(name) for name in dt.ALL}
STORES = {f"st_{name}": _store(name) for name in dt.ALL}
st_int64 = STORES["st_int64"]

NO_ROOM = 1 << 62
"""More bytes than any machine has."""


@instruction
def room(builder: Any, first: Any, *sizes: Any) -> Any:
    """room(size, ...): the product of sizes, as the bytes of a tensor; NO_ROOM where 64 bits do not hold it."""
    total, lost = first, ir.Constant(I1, 0)
    for size in sizes:
        both = builder.smul_with_overflow(total, size)
        total, lost = builder.extract_value(both, 0), builder.or_(lost, builder.extract_value(both, 1))
    return builder.select(lost, ir.Constant(I64, NO_ROOM), total)


def _sizes(builder: Any, descriptor: Any, count: int) -> list[Any]:
    words = builder.inttoptr(descriptor, I64.as_pointer())
    return [builder.load(builder.gep(words, [ir.Constant(I64, layout.DIMS + axis)], inbounds=True)) for axis in range(count)]


def _elements(count: int) -> Instruction:
    """elements(t): how many elements a tensor has, by so many sizes of its descriptor."""

    def emit(builder: Any, descriptor: Any) -> Any:
        sizes = _sizes(builder, descriptor, count)
        while len(sizes) > 1:
            sizes = [builder.mul(a, b, flags=("nsw",)) for a, b in zip(sizes[::2], sizes[1::2], strict=True)]
        return sizes[0]

    return Instruction(emit, ("int64",))


def _like(count: int) -> Instruction:
    """like(t, other, size): gives a tensor the sizes of another one, so many of its descriptor; its bytes, as `room`."""

    def emit(builder: Any, descriptor: Any, other: Any, size: Any) -> Any:
        sizes = _sizes(builder, other, count)
        words = builder.inttoptr(descriptor, I64.as_pointer())
        for axis, one in enumerate(sizes):
            builder.store(one, builder.gep(words, [ir.Constant(I64, layout.DIMS + axis)], inbounds=True))
        return room.emit(builder, *sizes, size)

    return Instruction(emit, ("int64",) * 3)


OF_SIZES = {f"{name}{count}": make(count) for name, make in (("elements", _elements), ("like", _like))
            for count in (layout.FEW_DIMS, layout.MAX_RANK)}  # fmt: skip


# ---- bounds checks ------------------------------------------------------------------------------------------------


def checked(args: int, index: int, count: int) -> int:
    """The index if it is inside; else notes the violation in the word before the argument record and returns 0."""
    if index < 0 or index >= count:
        st_int64(args, layout.VERDICT, layout.OUT_OF_BOUNDS)
        return 0
    return index
