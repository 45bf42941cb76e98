"""The loop IR as text, for people: the form that dumps and test failures show."""

from __future__ import annotations

from . import nodes as n


def show_expr(e: n.Expr) -> str:
    if isinstance(e, n.Const):
        return repr(e.value)
    if isinstance(e, (n.Name, n.Attr)):
        return e.name
    if isinstance(e, n.Size):
        return f"{e.tensor}.d{e.axis}"
    if isinstance(e, n.Load):
        return f"{e.tensor}[{show_expr(e.index)}]"
    if isinstance(e, n.Unary):
        return f"({e.op} {show_expr(e.a)})"
    if isinstance(e, n.Binary):
        if e.op in ("min", "max"):
            return f"{e.op}({show_expr(e.a)}, {show_expr(e.b)})"
        return f"({show_expr(e.a)} {e.op} {show_expr(e.b)})"
    if isinstance(e, n.Select):
        return f"({show_expr(e.a)} if {show_expr(e.cond)} else {show_expr(e.b)})"
    if isinstance(e, n.Cast):
        return f"{e.dtype}({show_expr(e.a)})"
    if isinstance(e, n.Call):
        return f"{e.fn}({', '.join(map(show_expr, e.args))})"
    raise TypeError(type(e))


def _lines(body: list, indent: int) -> list[str]:
    pad = "    " * indent
    out: list[str] = []
    for s in body:
        if isinstance(s, n.Let):
            out.append(f"{pad}let {s.name} = {show_expr(s.value)}")
        elif isinstance(s, n.Var):
            out.append(f"{pad}var {s.name}: {s.value.dtype} = {show_expr(s.value)}")
        elif isinstance(s, n.Assign):
            out.append(f"{pad}{s.name} = {show_expr(s.value)}")
        elif isinstance(s, n.Store):
            sign = "+=" if s.atomic_add else "="
            out.append(f"{pad}{s.tensor}[{show_expr(s.index)}] {sign} {show_expr(s.value)}")
        elif isinstance(s, n.For):
            kind = "parallel" if s.parallel else "for"
            bounds = f"{show_expr(s.start)}, {show_expr(s.stop)}, {show_expr(s.step)}"
            out += [f"{pad}{kind} {s.name} in range({bounds}):", *_lines(s.body, indent + 1)]
        elif isinstance(s, n.While):
            out += [f"{pad}loop:", *_lines(s.setup, indent + 1), f"{pad}    while {show_expr(s.cond)}:"]
            out += _lines(s.body, indent + 2)
        elif isinstance(s, n.When):
            out += [f"{pad}if {show_expr(s.cond)}:", *_lines(s.body, indent + 1)]
            if s.orelse:
                out += [f"{pad}else:", *_lines(s.orelse, indent + 1)]
        elif isinstance(s, n.Fail):
            out.append(f"{pad}fail if {show_expr(s.cond)}")
        elif isinstance(s, n.SetShape):
            out.append(f"{pad}shape {s.tensor} = [{', '.join(map(show_expr, s.dims))}]")
        elif isinstance(s, (n.NativeCall, n.RoutineCall)):
            out.append(f"{pad}{s.fn}({', '.join([*s.tensors, *map(show_expr, s.scalars)])})")
        elif isinstance(s, n.Gemm):
            a, b = s.a + (".T" if s.trans_a else ""), s.b + (".T" if s.trans_b else "")
            sizes = ", ".join(map(show_expr, (s.m, s.n, s.k)))
            out.append(f"{pad}gemm {s.c} {'+=' if s.add else '='} {a} @ {b}  sizes [{sizes}]")
            if s.body:
                out += [f"{pad}    at ({s.row}, {s.column}):", *_lines(s.body, indent + 2)]
        else:
            raise TypeError(type(s))
    return out


def show_kernel(kernel: n.Kernel) -> str:
    """The kernel as readable text, ending in a line break."""
    tensors = [f"{'inout ' if t.written else ''}{t.name}: {t.dtype}[{'?' * t.rank}]" for t in kernel.tensors]
    scalars = [f"{s.name}: {s.dtype} = {s.value}" for s in kernel.scalars]
    head = f"kernel {kernel.label}({', '.join(tensors + scalars)})"
    return "\n".join([head, *_lines(kernel.body, 1)]) + "\n"
