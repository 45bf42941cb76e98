"""Elementwise operations."""

from __future__ import annotations

import re

from ..builder import Builder
from .expressions import BINARY, COMPARE, NARROW, UNARY, WHOLE


def unary(g: Builder) -> str:
    return g.new(UNARY, X=g.var())


def chain(g: Builder) -> str:
    lines = [g.new(UNARY, X=g.var())]
    for _ in range(g.rng.randint(1, 3)):
        lines.append(g.new(UNARY, X=f"v{g.count}"))
    return "\n".join(lines)


def ints(g: Builder) -> str:
    return g.new(WHOLE, X=g.var("int"))


def binary(g: Builder) -> str:
    x = g.var()
    y = g.partner(x)
    a, b = (x, y) if g.chance(0.6) else (y, x)
    return g.new(BINARY, A=a, B=b)


def mixed(g: Builder) -> str:
    """Of two dtypes."""
    x = g.var()
    y = g.partner(x, g.pick(["int64", "int32", "float32", "float64", "bool"]))
    return g.new(["A + B", "A * B", "A - B", "B - A", "paddle.where(B > 0, A, A * 2)", "A * B.astype(A.dtype)", "A * B.astype('float32')"],
                 A=x, B=y)  # fmt: skip


def compare(g: Builder) -> str:
    x = g.var()
    return g.new(COMPARE, A=x, B=g.partner(x))


def where(g: Builder) -> str:
    x = g.var()
    patterns = ["paddle.where(C, X, Y)", "paddle.where(C, X, paddle.zeros_like(X))", "X * C.astype(X.dtype)",
                "paddle.masked_fill(X, C, -1.0)", "paddle.where(C, X, X * 0.25)"]  # fmt: skip
    return g.new(patterns, X=x, C=g.partner(x, "bool"), Y=lambda: g.partner(x) if g.chance(0.6) else x)


def cast(g: Builder) -> str:
    x = g.var(g.pick(["float", "float", "int", "bool"]))
    to = g.pick(["float32", "float32", "float64", "int32", "int64", "bool", "float16", "int8", "uint8", "int16"])
    inner = str(x)
    # what C leaves open, of numbers that do not fit, is the processor's
    if to == "uint8" and x.dtype != "bool":
        inner = f"{x}.abs().clip(0, 3)"
    elif to in ("int8", "int16") and x.dtype.startswith("float"):
        inner = f"{x}.clip(-3, 3)"
    return g.new(["X.astype(D)", "paddle.cast(X, D)"], X=inner, D=repr(to))


def narrow(g: Builder) -> str:
    """Small whole numbers, which wrap around."""
    x, dtype = g.var("int", rank=(1, 2, 3)), g.pick(["int8", "uint8", "int16", "int32"])
    first = g.new(["(X.abs() * N).astype(D)"], X=x, N=g.pick([1, 7, 50]), D=repr(dtype))
    return f"{first}\n{g.new(NARROW, X=f'v{g.count}')}"


def inplace(g: Builder) -> str:
    x = g.var()
    v = g.name()
    y = g.pick([g.partner(x).name, "0.5", x.name])
    return f"{v} = {x} * 1.0\n{v} {g.pick(['+=', '-=', '*='])} {y}"


def again(g: Builder) -> str:
    """An earlier expression once more, or almost."""
    name, _, expression = g.pick(line for line in g.lines if re.fullmatch(r"v\d+ = .*", line)).partition(" = ")
    return g.new(["E", "E + X", "E * X", "E * 2", "E - X"], E=expression, X=name)
