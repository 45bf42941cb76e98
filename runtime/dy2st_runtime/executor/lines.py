"""A builder of LLVM's text that writes an instruction when it is asked for.

llvmlite's own keeps a record of each instruction, with a name that nobody else has, and makes text of it at the end. That took 22 us an
instruction, a fifth of the time of compiling a kernel. A line takes a third. What is rare is llvmlite's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from llvmlite import ir

_BOOL, _VOID = ir.IntType(1), ir.VoidType()
_COMPARISONS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}


class Line(ir.Value):
    """An instruction, as text, and the value that it gives."""

    __slots__ = ("operands", "opname", "reference", "text", "type")

    def __init__(self, kind: ir.Type, reference: str, text: str, opname: str = "", operands: Sequence[Any] = ()):
        self.type, self.reference, self.text, self.opname, self.operands = kind, reference, text, opname, operands

    @property
    def function_type(self) -> ir.FunctionType:
        """Of a pointer to a function."""
        return self.type.pointee

    def get_reference(self) -> str:
        """What instructions that use the value call it."""
        return self.reference

    def set_metadata(self, name: str, node: Any) -> None:
        """Adds a node of metadata."""
        self.text += f", !{name} {node.get_reference()}"

    def __str__(self) -> str:
        return self.text

    def __format__(self, spec: str) -> str:  # as blocks print their instructions
        return self.text


def _binary(opname: str) -> Callable[..., Line]:
    def emit(self: Builder, lhs: Any, rhs: Any, name: str = "", flags: Sequence[str] = ()) -> Line:
        kind = lhs.type
        _same(kind, rhs.type)
        said = f"{opname} {' '.join(flags)}" if flags else opname
        return self.line(kind, f"{said} {kind} {lhs.get_reference()}, {rhs.get_reference()}")

    return emit


def _cast(opname: str) -> Callable[..., Any]:
    def emit(self: Builder, value: Any, typ: ir.Type, name: str = "") -> Any:
        kind = value.type
        if kind is typ or kind == typ:
            return value
        return self.line(typ, f"{opname} {kind} {value.get_reference()} to {typ}")

    return emit


def _same(a: ir.Type, b: ir.Type) -> None:
    if a is not b and a != b:
        raise TypeError(f"operands of two types: {a} and {b}")


class Builder(ir.IRBuilder):
    """As `ir.IRBuilder`, for one function, which has no other one. Values have the names of their lines."""

    def __init__(self, block: ir.Block):
        super().__init__(block)
        self._count = 0

    def line(self, kind: ir.Type, text: str) -> Line:
        """Adds an instruction that gives a value of this type."""
        self._count += 1
        reference = f"%_{self._count}"
        return self._add(Line(kind, reference, f"{reference} = {text}"))

    def _add(self, made: Line) -> Line:
        self._block.instructions.insert(self._anchor, made)
        self._anchor += 1
        return made

    add, sub, mul, sdiv, udiv, srem, urem = map(_binary, ("add", "sub", "mul", "sdiv", "udiv", "srem", "urem"))
    and_, or_, xor, shl, ashr, lshr = map(_binary, ("and", "or", "xor", "shl", "ashr", "lshr"))
    fadd, fsub, fmul, fdiv, frem = map(_binary, ("fadd", "fsub", "fmul", "fdiv", "frem"))
    trunc, zext, sext, fptrunc, fpext, bitcast = map(_cast, ("trunc", "zext", "sext", "fptrunc", "fpext", "bitcast"))
    uitofp, fptosi, sitofp, ptrtoint, inttoptr = map(_cast, ("uitofp", "fptosi", "sitofp", "ptrtoint", "inttoptr"))

    def _compare(self, what: str, lhs: Any, rhs: Any) -> Line:
        kind = lhs.type
        _same(kind, rhs.type)
        gives = ir.VectorType(_BOOL, kind.count) if isinstance(kind, ir.VectorType) else _BOOL
        return self.line(gives, f"{what} {kind} {lhs.get_reference()}, {rhs.get_reference()}")

    def icmp_signed(self, cmpop: str, lhs: Any, rhs: Any, name: str = "") -> Line:
        return self._compare(f"icmp {'' if cmpop in ('==', '!=') else 's'}{_COMPARISONS[cmpop]}", lhs, rhs)

    def icmp_unsigned(self, cmpop: str, lhs: Any, rhs: Any, name: str = "") -> Line:
        return self._compare(f"icmp {'' if cmpop in ('==', '!=') else 'u'}{_COMPARISONS[cmpop]}", lhs, rhs)

    def select(self, cond: Any, lhs: Any, rhs: Any, name: str = "", flags: Sequence[str] = ()) -> Any:
        kind = lhs.type
        _same(kind, rhs.type)
        if flags:
            return super().select(cond, lhs, rhs, name, flags)
        return self.line(kind, f"select {cond.type} {cond.get_reference()}, {kind} {lhs.get_reference()}, {kind} {rhs.get_reference()}")

    def load(self, ptr: Any, name: str = "", align: int | None = None, typ: ir.Type | None = None) -> Line:
        kind = typ or ptr.type.pointee
        made = self.line(kind, f"load {kind}, {ptr.type} {ptr.get_reference()}{f', align {align}' if align else ''}")
        made.opname, made.operands = "load", (ptr,)
        return made

    def store(self, value: Any, ptr: Any, align: int | None = None) -> Line:
        kind = value.type
        _same(kind, ptr.type.pointee)
        text = f"store {kind} {value.get_reference()}, {ptr.type} {ptr.get_reference()}{f', align {align}' if align else ''}"
        return self._add(Line(_VOID, "", text, "store", (value, ptr)))

    def gep(self, ptr: Any, indices: Sequence[Any], inbounds: bool = False, name: str = "", source_etype: ir.Type | None = None) -> Any:
        if len(indices) != 1:
            return super().gep(ptr, indices, inbounds, name, source_etype)
        kind, (index,) = ptr.type, indices
        said = "getelementptr inbounds" if inbounds else "getelementptr"
        return self.line(kind, f"{said} {source_etype or kind.pointee}, {kind} {ptr.get_reference()}, {index.type} {index.get_reference()}")

    def extract_value(self, agg: Any, idx: int, name: str = "") -> Line:
        return self.line(agg.type.elements[idx], f"extractvalue {agg.type} {agg.get_reference()}, {idx}")

    def call(self, fn: Any, args: Sequence[Any], *more: Any, **others: Any) -> Any:
        kind = fn.function_type
        if more or others or kind.var_arg or len(args) != len(kind.args):
            return super().call(fn, args, *more, **others)
        for wanted, arg in zip(kind.args, args, strict=True):
            _same(wanted, arg.type)
        gives = kind.return_type
        text = f"call {gives} {fn.get_reference()}({', '.join([f'{arg.type} {arg.get_reference()}' for arg in args])})"
        return self._add(Line(_VOID, "", text)) if isinstance(gives, ir.VoidType) else self.line(gives, text)

    def _end(self, text: str) -> Line:
        made: Line = self._set_terminator(Line(_VOID, "", text))
        return made

    @contextmanager
    def goto_block(self, block: ir.Block) -> Iterator[None]:
        before: ir.Block = self.block
        self._block, self._anchor = block, len(block.instructions) - block.is_terminated
        try:
            yield
        finally:
            self.position_at_end(before)

    def _insert(self, instr: Any) -> None:
        self._block.instructions.insert(self._anchor, instr)
        self._anchor += 1

    def branch(self, target: ir.Block) -> Line:
        return self._end(f"br label {target.get_reference()}")

    def cbranch(self, cond: Any, truebr: ir.Block, falsebr: ir.Block) -> Line:
        return self._end(f"br i1 {cond.get_reference()}, label {truebr.get_reference()}, label {falsebr.get_reference()}")

    def ret(self, value: Any) -> Line:
        return self._end(f"ret {value.type} {value.get_reference()}")
