"""Scalars while they are compiled: values with a dtype, and the LLVM code of what is done with them.

Nothing is promoted but a bool where an int64 is wanted: what computes with two dtypes has to cast one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir

from .. import dtype as dt

I1, I32, I64 = ir.IntType(1), ir.IntType(32), ir.IntType(64)
TYPES: dict[str, ir.Type] = {"bool": I1, "float32": ir.FloatType(), "float64": ir.DoubleType(),
                             **{name: ir.IntType(8 * dt.size(name)) for name in dt.INTS}}  # fmt: skip
"""The dtypes of values. A float16 is one in memory only; it is computed with as float32."""
UNSIGNED = {"bool", "uint8"}
COMPARISONS = {"<", "<=", ">", ">=", "==", "!="}


class Mixed(TypeError):
    """Operands of dtypes for which there is no such operation."""


class Value(NamedTuple):
    """A scalar of LLVM's and the dtype that it stands for."""

    dtype: str
    of: Any

    @property
    def is_float(self) -> bool:
        return self.dtype.startswith("float")


def constant(value: bool | int | float, dtype: str | None = None) -> Value:
    """A number of Python's; by itself a bool, an int64 or a float64."""
    if dtype is None:
        dtype = "bool" if isinstance(value, bool) else "int64" if isinstance(value, int) else "float64"
    if not dtype.startswith("float"):
        return _whole(int(value), dtype)
    with np.errstate(over="ignore"):
        return Value(dtype, ir.Constant(TYPES[dtype], float(dt.to_numpy(dtype).type(value))))


@functools.lru_cache(1024)
def _whole(value: int, dtype: str) -> Value:
    """A constant of an int or a bool: few of them are met again and again."""
    return Value(dtype, ir.Constant(TYPES[dtype], value))


@dataclass(frozen=True)
class Instruction:
    """What a function of the language does that the language cannot say: `emit(builder, *operands)` adds LLVM code.

    Constants among the operands are `ir.Constant`s.

    Attributes:
        emit: returns the value, or None.
        takes: the dtypes of the operands; None: any number of int64s.
        gives: the dtype of the value.
    """

    emit: Callable[..., Any]
    takes: tuple[str, ...] | None = None
    gives: str = "int64"

    def __call__(self, *operands: Any) -> Any:
        raise TypeError("an instruction is compiled, it does not run in Python")


instruction = Instruction


def declared(module: ir.Module, kind: ir.FunctionType, name: str) -> ir.Function:
    """The function of this name in a module, which something else defines."""
    return module.globals.get(name) or ir.Function(module, kind, name)


def external(name: str, count: int | None = None) -> Instruction:
    """A function of another object on int64s (so many, if given), by its symbol."""

    def emit(builder: ir.IRBuilder, *operands: Any) -> Any:
        return builder.call(declared(builder.module, ir.FunctionType(I64, [I64] * len(operands)), name), operands)

    return Instruction(emit, None if count is None else ("int64",) * count)


def of_llvm(builder: ir.IRBuilder, name: str, *operands: Any) -> Any:
    """A function that LLVM knows, of operands and a result of one type: an instruction where the machine has it, else a call of libm."""
    kind = operands[0].type
    function = builder.module.declare_intrinsic(f"llvm.{name}", [kind], ir.FunctionType(kind, [kind] * len(operands)))
    return builder.call(function, operands)


def slot(builder: ir.IRBuilder, kind: ir.Type) -> Any:
    """Room on the stack, for the whole of the function."""
    with builder.goto_entry_block():
        return builder.alloca(kind)


@contextmanager
def counted(builder: ir.IRBuilder, count: Any) -> Iterator[Any]:
    """A loop around the code that is added in it; gives the number of the iteration."""
    head, body, after = (builder.append_basic_block(name) for name in ("head", "body", "after"))
    before = builder.block
    builder.branch(head)
    builder.position_at_end(head)
    index = builder.phi(I64)
    builder.cbranch(builder.icmp_signed("<", index, count), body, after)
    builder.position_at_end(body)
    yield index
    index.add_incoming(ir.Constant(I64, 0), before)
    index.add_incoming(builder.add(index, ir.Constant(I64, 1), flags=("nsw",)), builder.block)
    builder.branch(head)
    builder.position_at_end(after)


class _Distinct(ir.MDValue):
    """A node of metadata that equals no other one."""

    def __init__(self, module: ir.Module):
        super().__init__(module, (), name=str(len(module.metadata)))

    def descr(self, buf: list[str]) -> None:
        buf.append(f"distinct !{{ {', '.join(node.get_reference() for node in self.operands)} }}\n")


def say_independent(blocks: Sequence[ir.Block], back: Any) -> None:
    """Tells LLVM that an iteration of an innermost loop touches no memory that another one writes.

    Args:
        blocks: those of the loop's body; back: the branch to its head.
    """
    module = blocks[0].module
    touching = [x for block in blocks for x in block.instructions
                if x.opname in ("load", "store") and not isinstance(x.operands[-1], ir.AllocaInstr)]  # fmt: skip
    if not touching:
        return
    group = next((node for node in module.metadata if isinstance(node, _Distinct) and not node.operands), None) or _Distinct(module)
    for x in touching:
        x.set_metadata("llvm.access.group", group)
    loop = _Distinct(module)
    loop.operands = (loop, module.add_metadata(["llvm.loop.parallel_accesses", group]))
    back.set_metadata("llvm.loop", loop)


class Arithmetic:
    """The operators, as code behind a builder.

    Args:
        floats: LLVM's flags for floating point; none: each operation is computed as it is written.
        exact: no sum, difference or product of int64s exceeds 64 bits; otherwise they wrap around.
    """

    def __init__(self, build: ir.IRBuilder, floats: Sequence[str] = (), exact: bool = False):
        self.build, self.floats, self.exact = build, tuple(floats), ("nsw",) if exact else ()

    # ---- dtypes ----
    def cast(self, v: Value, dtype: str) -> Value:
        """A value as one of another dtype: to a bool whether it is not 0, to an int towards zero."""
        if v.dtype == dtype:
            return v
        if dtype not in TYPES:
            raise Mixed(f"no dtype of a scalar: {dtype}")
        if isinstance(v.of, ir.Constant) and dtype.startswith("float"):
            return constant(v.of.constant, dtype)
        return Value(dtype, self._cast(v, dtype))

    def _cast(self, v: Value, dtype: str) -> Any:
        build, kind = self.build, TYPES[dtype]
        if dtype == "bool":
            return self.compare("!=", v, constant(0, v.dtype)).of
        if dtype.startswith("float"):
            if v.is_float:
                return build.fptrunc(v.of, kind) if dtype == "float32" else build.fpext(v.of, kind)
            return (build.uitofp if v.dtype in UNSIGNED else build.sitofp)(v.of, kind)
        if v.is_float:
            # the narrow ones as NumPy does it on the machines that we know: by way of 32 bits
            whole = build.fptosi(v.of, I32 if kind.width < 32 else kind)
            return build.trunc(whole, kind) if kind.width < 32 else whole
        if kind.width <= v.of.type.width:
            return v.of if kind.width == v.of.type.width else build.trunc(v.of, kind)
        return (build.zext if v.dtype in UNSIGNED else build.sext)(v.of, kind)

    def as_dtype(self, v: Value, dtype: str) -> Value:
        """The value where one of this dtype is wanted: only a bool becomes another one, an int64.

        Raises:
            Mixed: it is of another dtype.
        """
        if v.dtype != dtype and (v.dtype, dtype) != ("bool", "int64"):
            raise Mixed(f"a {v.dtype} where a {dtype} is wanted")
        return self.cast(v, dtype)

    def _alike(self, a: Value, b: Value) -> tuple[Value, Value]:
        dtype = a.dtype if b.dtype == "bool" else b.dtype
        return self.as_dtype(a, dtype), self.as_dtype(b, dtype)

    # ---- operators ----
    def binary(self, op: str, a: Value, b: Value) -> Value:
        """`+ - * / // % & | ^ << >>`. A quotient and a remainder of ints are rounded as in Python, and 0 where the divisor is 0."""
        a, b = self._alike(a, b)
        if a.dtype == "bool" and op not in "&|^":
            a, b = self.cast(a, "int64"), self.cast(b, "int64")
        if op in ("//", "%"):
            return self._floored(a, b, op == "%") if a.is_float else self._divided(a, b, op == "%")
        names = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"} if a.is_float else {
            "+": "add", "-": "sub", "*": "mul", "&": "and_", "|": "or_", "^": "xor", "<<": "shl",
            ">>": "lshr" if a.dtype in UNSIGNED else "ashr"}  # fmt: skip
        if op not in names:
            raise Mixed(f"no {op} of {a.dtype}")
        code = getattr(self.build, names[op])
        if a.is_float:
            return Value(a.dtype, code(a.of, b.of, flags=self.floats))
        return Value(a.dtype, code(a.of, b.of, flags=self.exact) if op in "+-*" and a.dtype == "int64" else code(a.of, b.of))

    def compare(self, op: str, a: Value, b: Value) -> Value:
        """`< <= > >= == !=`; NaN is not equal to anything."""
        a, b = self._alike(a, b)
        if a.is_float:
            code = self.build.fcmp_unordered if op == "!=" else self.build.fcmp_ordered
        else:
            code = self.build.icmp_unsigned if a.dtype in UNSIGNED else self.build.icmp_signed
        return Value("bool", code(op, a.of, b.of))

    def negative(self, v: Value) -> Value:
        if v.dtype == "bool":
            v = self.cast(v, "int64")
        return Value(v.dtype, self.build.fneg(v.of, flags=self.floats) if v.is_float else self.build.neg(v.of))

    def inverted(self, v: Value) -> Value:
        """`~` of an int, `not` of a bool."""
        if v.is_float:
            raise Mixed(f"no ~ of {v.dtype}")
        return Value(v.dtype, self.build.not_(v.of))

    def absolute(self, v: Value) -> Value:
        if v.is_float:
            return Value(v.dtype, of_llvm(self.build, "fabs", v.of))
        if v.dtype in UNSIGNED:
            return v
        below = self.compare("<", v, constant(0, v.dtype))
        return self.select(below, self.negative(v), v)

    def select(self, condition: Value, a: Value, b: Value) -> Value:
        """One of two values that are both computed."""
        a, b = self._alike(a, b)
        return Value(a.dtype, self.build.select(condition.of, a.of, b.of))

    def _divided(self, a: Value, b: Value, remainder: bool) -> Value:
        build, zero = self.build, constant(0, a.dtype).of
        none = build.icmp_signed("==", b.of, zero)
        divisor = build.select(none, constant(1, a.dtype).of, b.of)
        if a.dtype in UNSIGNED:
            value = (build.urem if remainder else build.udiv)(a.of, divisor)
        else:
            quotient, rest = build.sdiv(a.of, divisor), build.srem(a.of, divisor)
            below = build.and_(build.icmp_signed("!=", rest, zero), build.icmp_signed("<", build.xor(rest, divisor), zero))
            if remainder:
                value = build.add(rest, build.select(below, divisor, zero))
            else:
                value = build.sub(quotient, build.zext(below, a.of.type))
        return Value(a.dtype, build.select(none, zero, value))

    def _floored(self, a: Value, b: Value, remainder: bool) -> Value:
        """As NumPy's `npy_divmod` does it: the quotient comes from the exact remainder."""
        build, zero = self.build, constant(0.0, a.dtype)
        rest = Value(a.dtype, build.frem(a.of, b.of))
        below = build.xor(self.compare("<", b, zero).of, self.compare("<", rest, zero).of)
        moved = Value("bool", build.and_(self.compare("!=", rest, zero).of, below))
        if remainder:
            signed = Value(a.dtype, of_llvm(build, "copysign", zero.of, b.of))
            return self.select(self.compare("==", rest, zero), signed, self.select(moved, self._plain("fadd", rest, b), rest))
        none = self.compare("==", b, zero)
        quotient = self._plain("fdiv", self._plain("fsub", a, rest), b)
        quotient = self.select(moved, self._plain("fsub", quotient, constant(1.0, a.dtype)), quotient)
        floor = Value(a.dtype, of_llvm(build, "floor", quotient.of))
        above = self.compare(">", self._plain("fsub", quotient, floor), constant(0.5, a.dtype))
        floor = self.select(above, self._plain("fadd", floor, constant(1.0, a.dtype)), floor)
        ratio = self._plain("fdiv", a, b)
        signed = Value(a.dtype, of_llvm(build, "copysign", zero.of, ratio.of))
        return self.select(none, ratio, self.select(self.compare("==", quotient, zero), signed, floor))

    def _plain(self, name: str, a: Value, b: Value) -> Value:
        return Value(a.dtype, getattr(self.build, name)(a.of, b.of))
