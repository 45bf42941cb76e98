"""`cond` and `while_loop` as steps; a loop on scalars as one kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir.program import Block, Operator, Variable
from ..ir.visit import may_raise
from ..loopir import nodes as n
from ..loopir.builder import KernelBuilder, VarRef
from ..ops.elementwise import Elementwise
from . import arrays, elementwise
from .schedule import Branch, Guard, Launch, Loop, Share, Step, walk


def lower_cond(cx: Any, cond: Variable, true_block: Block, false_block: Block, outs: Sequence[Variable]) -> None:
    if _on_scalars(cx, cx.op, cx.block):
        _scalar_kernel(cx, cx.op)
        return
    op = cx.op
    cx.note(cond)
    bodies: list[list[Step]] = []
    for block in (true_block, false_block):
        with cx.into([]) as steps:
            cx.lower_block(block)
            for out, result in zip(outs, block.results, strict=True):
                cx.note(out)
                cx.note(block.var(result))
                if block.results.count(result) == 1 and result in block.vars and _owned(steps, result):
                    cx.same[result] = out.name
                else:
                    steps.append(Share(out.name, result))
        bodies.append(steps)
    cx.steps.append(Branch(cond.name, bodies[0], bodies[1], op))


def lower_loop(cx: Any, xs: Sequence[Variable], cond_block: Block, body_block: Block, outs: Sequence[Variable],
               saved: Sequence[str], saved_outs: Sequence[Variable]) -> None:  # fmt: skip
    if not saved and _on_scalars(cx, cx.op, cx.block):
        _scalar_kernel(cx, cx.op)
        return
    op = cx.op
    params = [cx.note(body_block.var(name)) for name in body_block.params]
    for p, x, out, c in zip(params, xs, outs, cond_block.params, strict=True):
        cx.note(x)
        cx.note(out)
        cx.note(cond_block.var(c))
        # the value tested, the value in the body and the value after the loop are one variable
        cx.same[c] = cx.same[out.name] = p.name
        cx.steps.append(Share(p.name, x.name))
    for array in saved_outs:
        cx.array_create(array)
    with cx.into([]) as test:
        cx.lower_block(cond_block)
    cond = cx.note(cond_block.var(cond_block.results[0]))
    with cx.into([]) as body:
        cx.lower_block(body_block)
        cx.op, cx.block = op, body_block
        for name, array in zip(saved, saved_outs, strict=True):
            arrays.append_in_place(cx, array, cx.note(body_block.var(name)))
        results = [
            _next_value(cx, body, p.name, body_block, r) for p, r in zip(params, body_block.results, strict=True)
        ]
    cx.steps.append(Loop([p.name for p in params], test, cond.name, body, results, op))


def _next_value(cx: Any, body: list[Step], param: str, block: Block, result: str) -> str:
    """The name whose value the parameter takes at the end of an iteration.

    That of the result as it is, unless it may lie in the memory of another parameter, which changes at the same moment: then a copy.
    """
    cx.note(block.var(result))
    if result == param or result not in block.vars:
        return result
    others = {cx.canonical(p) for p in block.params if p != param}
    if not others & _may_show(cx, body, result):
        return result
    source = block.var(result)
    copy = cx.temp(source.dtype, len(source.shape))
    copy.kind = source.kind
    with cx.into([]) as steps:
        cx.copy(source, copy)
    if result in cx.maybe_absent:
        cx.maybe_absent.add(copy.name)
        cx.steps.append(Guard([result], [copy.name], steps))
    else:
        cx.steps.extend(steps)
    return copy.name


def _may_show(cx: Any, steps: list[Step], name: str) -> set[str]:
    """The variables in whose memory a variable may lie after the steps, itself among them."""
    links: dict[str, set[str]] = {}

    def link(target: str, source: str) -> None:
        links.setdefault(cx.canonical(target), set()).add(cx.canonical(source))

    for s in walk(steps):
        if isinstance(s, Launch):
            for out, source in s.views.items():
                link(out, source)
        elif isinstance(s, Share):
            link(s.target, s.source)
        elif isinstance(s, Guard):
            for out, source in s.keeps.items():
                link(out, source)
    found: set[str] = set()
    todo = [cx.canonical(name)]
    while todo:
        at = todo.pop()
        if at not in found:
            found.add(at)
            todo += links.get(at, ())
    return found


def _owned(steps: list[Step], name: str) -> bool:
    """Whether the steps write the variable by a kernel into a buffer of its own (not a view, not a share), at top level."""
    for s in steps:
        if isinstance(s, Launch) and name in s.writes():
            return name not in s.views and name not in s.takes
        if isinstance(s, Guard) and name not in s.keeps and _owned(s.steps, name):
            return True
    return False


# ---- control flow on scalars: one kernel, values in registers --------------------------------------------------------


def _on_scalars(cx: Any, op: Operator, block: Block) -> bool:
    """Whether an op and all that its blocks hold is elementwise work on single elements that are surely present."""
    if op.type == "while_loop" and (op.attrs["saved"] or op.output("Saved")):
        return False
    names = [*op.input_names, *op.output_names]
    if op.type not in ("cond", "while_loop"):
        record = op.record
        if may_raise(op, block) or not _has_scalar(record) or len(op.output_names) != 1:
            return False
    for name in names:
        v = block.var(name)
        if v.kind != "dense" or any(d != 1 for d in v.shape) or name in cx.maybe_absent or v.dtype == "float16":
            return False
    for sub in op.blocks:
        local = [*sub.params, *sub.results]
        if any(
            sub.var(name).kind != "dense" or any(d != 1 for d in sub.var(name).shape) or name in cx.maybe_absent
            for name in local
        ):
            return False
        if not all(_on_scalars(cx, inner, sub) for inner in sub.ops):
            return False
    return True


def _has_scalar(record: Any) -> bool:
    return (issubclass(record, Elementwise) and hasattr(record, "scalar")) or record.type == "fused_elementwise"


def _scalar_kernel(cx: Any, op: Operator) -> None:
    """The op, loop and all, as one kernel on locals."""
    from ..ir.visit import reads

    ins = [cx.block.var(name) for name in reads(op)]
    outs = [cx.block.var(name) for name in op.output_names]
    with cx.kernel(ins, outs, shapes=False, label=f"scalar {op.type}") as (k, in_refs, out_refs):
        for ref in out_refs:
            k.set_shape(ref, [1] * ref.rank)
        env = {v.name: k.let(ref[0], "x") for v, ref in zip(ins, in_refs, strict=True)}
        _scalar_op(k, op, cx.block, env)
        for v, ref in zip(outs, out_refs, strict=True):
            ref[0] = env[v.name]


def _scalar_op(k: KernelBuilder, op: Operator, block: Block, env: dict[str, n.Expr]) -> None:
    if op.type == "cond":
        outs = _locals(k, [block.var(name) for name in op.output_names], None)
        with k.when(env[op.input("Cond")[0]]):
            _scalar_branch(k, op.attrs["true_block"], env, outs)
        with k.otherwise():
            _scalar_branch(k, op.attrs["false_block"], env, outs)
        env.update({name: out.get() for name, out in zip(op.output_names, outs, strict=True)})
    elif op.type == "while_loop":
        body, test = op.attrs["body_block"], op.attrs["cond_block"]
        state = _locals(k, [body.var(p) for p in body.params], [env[name] for name in op.input("X")])
        current = [s.get() for s in state]
        with k.loop_while(lasting=True) as (setup, run):
            with setup:
                inner = {**env, **dict(zip(test.params, current, strict=True))}
                _scalar_block(k, test, inner)
                run.cond = inner[test.results[0]]
            with run:
                inner = {**env, **dict(zip(body.params, current, strict=True))}
                _scalar_block(k, body, inner)
                # a parallel assignment: all next values are named before the first is assigned
                after = [k.let(inner[r], "n") if r not in body.params or r == p else _copied(k, inner[r])
                         for p, r in zip(body.params, body.results, strict=True)]  # fmt: skip
                for s, p, r, value in zip(state, body.params, body.results, after, strict=True):
                    if p != r:
                        s.set(value)
        env.update(dict(zip(op.output("Out"), current, strict=True)))
    elif op.type == "fused_elementwise":
        sub = op.attrs["sub_block"]
        inner = dict(zip(sub.params, [env[name] for name in op.input("X")], strict=True))
        _scalar_block(k, sub, inner)
        env.update({out: inner[r] for out, r in zip(op.output("Out"), sub.results, strict=True)})
    else:
        elementwise.evaluate(k, op, block, env)


def _copied(k: KernelBuilder, value: n.Expr) -> n.Expr:
    """The present value of a mutable local under a name of its own."""
    name = k.fresh("c")
    k.emit(n.Let(name, value))
    return n.Name(name, value.dtype)


def _scalar_block(k: KernelBuilder, block: Block, env: dict[str, n.Expr]) -> None:
    for op in block.ops:
        _scalar_op(k, op, block, env)


def _scalar_branch(k: KernelBuilder, block: Block, env: dict[str, n.Expr], outs: list[VarRef]) -> None:
    inner = dict(env)
    _scalar_block(k, block, inner)
    for out, name in zip(outs, block.results, strict=True):
        out.set(n.cast(inner[name], out.dtype))


def _locals(k: KernelBuilder, variables: list[Variable], values: list[n.Expr] | None) -> list[VarRef]:
    initial: Sequence[Any] = values or [0] * len(variables)
    return [k.var(n.cast(value, v.dtype) if values else n.cast(n.as_expr(False) if v.dtype == "bool" else n.as_expr(0), v.dtype), v.dtype)
            for v, value in zip(variables, initial, strict=True)]  # fmt: skip
