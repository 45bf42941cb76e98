"""The expressions of the loop IR: scalars with a dtype ("float32", "int64", "bool", ...), immutable, compared by value (`key`).

Index and size arithmetic is int64. Python's operators on `Expr` build expressions, so a lowering reads like the loop nest that it means.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

INDEX = "int64"


def _promote(a: Expr, b: Expr) -> str:
    if a.dtype == b.dtype:
        return a.dtype
    # a Python number takes the dtype of the other side, unless that would lose its kind
    if isinstance(a, Const) and a.weak and not (b.dtype == "bool" or (_is_float(a.dtype) and not _is_float(b.dtype))):
        return b.dtype
    if isinstance(b, Const) and b.weak and not (a.dtype == "bool" or (_is_float(b.dtype) and not _is_float(a.dtype))):
        return a.dtype
    raise TypeError(f"loop IR does not mix {a.dtype} and {b.dtype}: cast one of {a!r}, {b!r}")


def _is_float(dtype: str) -> bool:
    return dtype.startswith("float")


_REFLECTED = ("+", "-", "*", "//", "%")


class Expr:
    """A scalar value."""

    dtype: str
    key: tuple[Any, ...]
    """What tells expressions apart, but for the dtypes of names, which their kernel tells."""
    inner: tuple[Expr, ...] = ()
    """The operands."""
    # each kind has a `__repr__`: the form that dumps and test failures show

    def __hash__(self) -> int:
        return hash(self.key)

    def same(self, other: Expr) -> bool:
        """Whether both are the same expression (`==` builds a comparison instead)."""
        return self.key == other.key

    def __bool__(self) -> bool:
        raise TypeError(f"the value of {self!r} is known only when the kernel runs; use select() or k.when()")

    def _bin(self, op: str, other: Any, reverse: bool = False) -> Expr:
        if op in _REFLECTED and not isinstance(other, (Expr, bool, int, float, np.generic)):
            return NotImplemented  # an open dim (dims.Unknown) says what arithmetic with it gives
        other = as_expr(other)
        return binary(op, other, self) if reverse else binary(op, self, other)

    def __add__(self, o: Any) -> Expr:
        return self._bin("+", o)

    def __radd__(self, o: Any) -> Expr:
        return self._bin("+", o, True)

    def __sub__(self, o: Any) -> Expr:
        return self._bin("-", o)

    def __rsub__(self, o: Any) -> Expr:
        return self._bin("-", o, True)

    def __mul__(self, o: Any) -> Expr:
        return self._bin("*", o)

    def __rmul__(self, o: Any) -> Expr:
        return self._bin("*", o, True)

    def __truediv__(self, o: Any) -> Expr:
        return self._bin("/", o)

    def __rtruediv__(self, o: Any) -> Expr:
        return self._bin("/", o, True)

    def __floordiv__(self, o: Any) -> Expr:
        return self._bin("//", o)

    def __rfloordiv__(self, o: Any) -> Expr:
        return self._bin("//", o, True)

    def __mod__(self, o: Any) -> Expr:
        return self._bin("%", o)

    def __rmod__(self, o: Any) -> Expr:
        return self._bin("%", o, True)

    def __and__(self, o: Any) -> Expr:
        return self._bin("&", o)

    def __or__(self, o: Any) -> Expr:
        return self._bin("|", o)

    def __xor__(self, o: Any) -> Expr:
        return self._bin("^", o)

    def __lshift__(self, o: Any) -> Expr:
        return self._bin("<<", o)

    def __rshift__(self, o: Any) -> Expr:
        return self._bin(">>", o)

    def __lt__(self, o: Any) -> Expr:
        return self._bin("<", o)

    def __le__(self, o: Any) -> Expr:
        return self._bin("<=", o)

    def __gt__(self, o: Any) -> Expr:
        return self._bin(">", o)

    def __ge__(self, o: Any) -> Expr:
        return self._bin(">=", o)

    def __eq__(self, o: Any) -> Expr:  # type: ignore[override]
        return self._bin("==", o)

    def __ne__(self, o: Any) -> Expr:  # type: ignore[override]
        return self._bin("!=", o)

    def __neg__(self) -> Expr:
        return Unary("-", self, self.dtype)

    def __invert__(self) -> Expr:
        return Unary("not" if self.dtype == "bool" else "~", self, self.dtype)


class Const(Expr):
    """A literal. `weak` marks a Python number, which takes the dtype of the other operand."""

    def __init__(self, value: int | float | bool, dtype: str, weak: bool = False):
        self.value, self.dtype, self.weak = value, dtype, weak
        self.key = ("const", repr(value), dtype)

    def __repr__(self) -> str:
        return repr(self.value)


class Name(Expr):
    """A local scalar: a loop index, a `let`, a mutable `var`."""

    def __init__(self, name: str, dtype: str):
        self.name, self.dtype = name, dtype
        self.key = ("name", name)

    def __repr__(self) -> str:
        return self.name


class Attr(Expr):
    """A scalar argument of the kernel, given anew at each launch: it is not part of the compiled code."""

    def __init__(self, name: str, dtype: str):
        self.name, self.dtype = name, dtype
        self.key = ("attr", name)

    def __repr__(self) -> str:
        return self.name


class Size(Expr):
    """The size of one axis of a tensor argument."""

    dtype = INDEX

    def __init__(self, tensor: str, axis: int):
        self.tensor, self.axis = tensor, axis
        self.key = ("size", tensor, axis)

    def __repr__(self) -> str:
        return f"{self.tensor}.d{self.axis}"


class Load(Expr):
    """The element of a tensor argument at a flat (C order) index."""

    def __init__(self, tensor: str, index: Expr, dtype: str):
        self.tensor, self.index, self.dtype = tensor, index, dtype
        self.inner = (index,)
        self.key = ("load", tensor, index.key)

    def __repr__(self) -> str:
        return f"{self.tensor}[{self.index}]"


class Unary(Expr):
    """op: `-`, `not`, `~`."""

    def __init__(self, op: str, a: Expr, dtype: str):
        self.op, self.a, self.dtype = op, a, dtype
        self.inner = (a,)
        self.key = ("unary", op, a.key)

    def __repr__(self) -> str:
        return f"({self.op} {self.a})"


class Binary(Expr):
    """op: `+ - * / // % & | ^ << >> < <= > >= == != min max`; both operands of one dtype. `//` and `%` floor, as in Python."""

    def __init__(self, op: str, a: Expr, b: Expr, dtype: str):
        self.op, self.a, self.b, self.dtype = op, a, b, dtype
        self.inner = (a, b)
        self.key = ("binary", op, a.key, b.key, dtype)

    def __repr__(self) -> str:
        return f"{self.op}({self.a}, {self.b})" if self.op in ("min", "max") else f"({self.a} {self.op} {self.b})"


class Select(Expr):
    """`a` where the condition holds, else `b`; both may be evaluated."""

    def __init__(self, cond: Expr, a: Expr, b: Expr):
        self.cond, self.a, self.b, self.dtype = cond, a, b, a.dtype
        self.inner = (cond, a, b)
        self.key = ("select", cond.key, a.key, b.key)

    def __repr__(self) -> str:
        return f"({self.a} if {self.cond} else {self.b})"


class Cast(Expr):
    def __init__(self, a: Expr, dtype: str):
        self.a, self.dtype = a, dtype
        self.inner = (a,)
        self.key = ("cast", a.key, dtype)

    def __repr__(self) -> str:
        return f"{self.dtype}({self.a})"


class Call(Expr):
    """A function of the math library of the target: exp log sqrt tanh sin cos erf floor ceil pow abs isnan ..."""

    def __init__(self, fn: str, args: tuple[Expr, ...], dtype: str):
        self.fn, self.args, self.dtype = fn, args, dtype
        self.inner = args
        self.key = ("call", fn, tuple(a.key for a in args), dtype)

    def __repr__(self) -> str:
        return f"{self.fn}({', '.join(map(str, self.args))})"


def as_expr(value: Any, dtype: str | None = None) -> Expr:
    """An expression from an expression or a Python number; with `dtype` a typed constant."""
    if isinstance(value, Expr):
        return value
    if isinstance(value, (bool, np.bool_)):
        return Const(bool(value), dtype or "bool", weak=dtype is None)
    if isinstance(value, (int, np.integer)):
        return Const(int(value), dtype or INDEX, weak=dtype is None)
    if isinstance(value, (float, np.floating)):
        return Const(float(value), dtype or "float64", weak=dtype is None)
    raise TypeError(f"{value!r} is no scalar")


_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


def binary(op: str, a: Expr, b: Expr) -> Expr:
    """Makes a `Binary`; folds constants and the neutral elements of index arithmetic."""
    dtype = _promote(a, b)
    a = _adopt(a, dtype)
    b = _adopt(b, dtype)
    if dtype == INDEX:
        folded = _fold_index(op, a, b)
        if folded is not None:
            return folded
    return Binary(op, a, b, "bool" if op in _COMPARISONS else dtype)


def _adopt(e: Expr, dtype: str) -> Expr:
    if isinstance(e, Const) and e.dtype != dtype:
        return Const(float(e.value) if _is_float(dtype) else e.value, dtype, e.weak)
    return e


def _fold_index(op: str, a: Expr, b: Expr) -> Expr | None:
    """Rules that hold for the non-negative sizes and indices which int64 is used for here, and for all ints."""
    if isinstance(a, Const) and isinstance(b, Const) and op in ("+", "-", "*"):
        value = {"+": a.value + b.value, "-": a.value - b.value, "*": a.value * b.value}[op]
        return Const(value, INDEX, a.weak and b.weak)
    if isinstance(b, Const):
        if b.value == 0 and op in ("+", "-"):
            return a
        if b.value == 1 and op in ("*", "//"):
            return a
        if b.value == 0 and op == "*":
            return Const(0, INDEX)
    if isinstance(a, Const):
        if a.value == 0 and op == "+":
            return b
        if a.value == 1 and op == "*":
            return b
        if a.value == 0 and op == "*":
            return Const(0, INDEX)
    return None


def select(cond: Any, a: Any, b: Any) -> Expr:
    """`a if cond else b` as an expression."""
    cond, a, b = as_expr(cond), as_expr(a), as_expr(b)
    dtype = _promote(a, b)
    return Select(cond, _adopt(a, dtype), _adopt(b, dtype))


def minimum(a: Any, b: Any) -> Expr:
    return binary("min", as_expr(a), as_expr(b))


def total(terms: Sequence[Any]) -> Any:
    """The sum of expressions, or of dims, nested as little as can be: Python reads no more than 200 parentheses in each other."""
    middle = len(terms) // 2
    return total(terms[:middle]) + total(terms[middle:]) if middle else terms[0]


def maximum(a: Any, b: Any) -> Expr:
    return binary("max", as_expr(a), as_expr(b))


def cast(a: Any, dtype: str) -> Expr:
    a = as_expr(a)
    if a.dtype == dtype and not (isinstance(a, Const) and a.weak):
        return a
    if isinstance(a, Const) and dtype != "bool" and (not _is_float(a.dtype) or _is_float(dtype)):
        return Const(float(a.value) if _is_float(dtype) else a.value, dtype)
    return Cast(a, dtype)


def call(fn: str, *args: Any) -> Expr:
    """A math function; the result has the dtype of the first argument."""
    exprs = tuple(as_expr(a) for a in args)
    dtype = next((e.dtype for e in exprs if not (isinstance(e, Const) and e.weak)), exprs[0].dtype)
    exprs = tuple(_adopt(e, dtype) for e in exprs)
    return Call(fn, exprs, "bool" if fn in ("isnan", "isinf", "isfinite") else dtype)


def select_dim(a: Any, b: Any) -> Expr:
    """The broadcast size of two symbolic dims of which one may be 1."""
    a, b = as_expr(a), as_expr(b)
    if isinstance(a, Const) and a.value != 1:
        return a
    if isinstance(b, Const) and b.value != 1:
        return b
    return select(binary("==", a, Const(1, INDEX)), b, a)
