"""The loop IR as text, for people: the form that dumps and test failures show."""

from __future__ import annotations

from . import nodes as n


def _lines(body: list, indent: int) -> list[str]:
    pad = "    " * indent
    out: list[str] = []
    for s in body:
        if isinstance(s, n.Let):
            out.append(f"{pad}let {s.name} = {s.value}")
        elif isinstance(s, n.Var):
            out.append(f"{pad}var {s.name}: {s.value.dtype} = {s.value}")
        elif isinstance(s, n.Assign):
            out.append(f"{pad}{s.name} = {s.value}")
        elif isinstance(s, n.Store):
            sign = "+=" if s.atomic_add else "="
            out.append(f"{pad}{s.tensor}[{s.index}] {sign} {s.value}")
        elif isinstance(s, n.For):
            kind = "parallel" if s.parallel else "for"
            bounds = f"{s.start}, {s.stop}, {s.step}"
            out += [f"{pad}{kind} {s.name} in range({bounds}):", *_lines(s.body, indent + 1)]
        elif isinstance(s, n.While):
            out += [f"{pad}loop:", *_lines(s.setup, indent + 1), f"{pad}    while {s.cond}:"]
            out += _lines(s.body, indent + 2)
        elif isinstance(s, n.When):
            out += [f"{pad}if {s.cond}:", *_lines(s.body, indent + 1)]
            if s.orelse:
                out += [f"{pad}else:", *_lines(s.orelse, indent + 1)]
        elif isinstance(s, n.Fail):
            out.append(f"{pad}fail if {s.cond}")
        elif isinstance(s, n.SetShape):
            out.append(f"{pad}shape {s.tensor} = [{', '.join(map(str, s.dims))}]")
        elif isinstance(s, (n.NativeCall, n.RoutineCall)):
            out.append(f"{pad}{s.fn}({', '.join([*s.tensors, *map(str, s.scalars)])})")
        elif isinstance(s, n.Gemm):
            a, b = s.a + (".T" if s.trans_a else ""), s.b + (".T" if s.trans_b else "")
            sizes = ", ".join(map(str, (s.m, s.n, s.k)))
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
