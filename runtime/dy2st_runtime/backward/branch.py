"""The gradient of `cond`: another `cond` on the same predicate."""

from __future__ import annotations

from ..ir.builder import IRBuilder
from ..ir.program import Block, Operator, Variable
from ..ir.visit import free_names, rename_reads
from .sweep import Builder, Sweep, rule


@rule("cond")
def differentiate_cond(sweep: Sweep, op: Operator, douts: dict[str, Variable | None]) -> None:
    """Appends a `cond` that runs the gradient of the branch that was taken.

    What a gradient branch needs of the values inside its forward branch becomes an extra result of the forward `cond`,
    absent on the other path. The gradient of a name that one branch does not use is absent on its path.
    """
    b = sweep.b
    branches = [op.attrs["true_block"], op.attrs["false_block"]]
    inner = []
    for branch in branches:
        block = b.sub_block()
        walk = Sweep(branch, Builder(block, sweep.state, op.location), sweep.state, sweep)
        for out, result in zip(op.output("Out"), branch.results, strict=True):
            dout = douts[out]
            if dout is not None and walk.active(result) and _may_be_of(walk.var(result), dout):
                walk.add(result, dout)
        walk.run(list(branch.ops))
        inner.append(walk)
    captured = dict.fromkeys(n for branch in branches for n in free_names(branch) if sweep.active(n))
    totals = {name: [walk.total(name) for walk in inner] for name in captured}
    wanted = [name for name, pair in totals.items() if pair != [None, None]]
    for i, (branch, walk) in enumerate(zip(branches, inner, strict=True)):
        block = walk.b.block
        block.results = [(totals[name][i] or make_absent(walk.b, sweep.var(name))).name for name in wanted]
        expose(op, branch, branches[1 - i], block, sweep)
    if not wanted:
        return
    outs = b.op("cond", Cond=sweep.var(op.input("Cond")[0]), true_block=inner[0].b.block, false_block=inner[1].b.block)
    for name, gradient in zip(wanted, outs, strict=True):
        sweep.add(name, gradient)


def _may_be_of(result: Variable, gradient: Variable) -> bool:
    """Whether a gradient can be that of what a branch gives: where sizes differ what follows fails on this path, which has none then."""
    return all(-1 in pair or pair[0] == pair[1] for pair in zip(result.shape, gradient.shape, strict=True))


def expose(op: Operator, branch: Block, other: Block, reader: Block, sweep: Sweep) -> None:
    """Makes the values inside `branch` that `reader` reads visible around `op`: as results that are absent on the other
    path, if they are no results yet."""
    hidden = [name for name in free_names(reader) if name in branch.vars]
    mapping = {}
    for name in hidden:
        if name in branch.results:
            mapping[name] = op.output("Out")[branch.results.index(name)]
            continue
        v = branch.var(name)
        branch.results.append(name)
        other.results.append(make_absent(Builder(other, sweep.state, op.location), v).name)
        out = sweep.forward.create_var(None, v.dtype, v.shape, stem=f"{name}@OUT", kind=v.kind)
        op.outputs["Out"].append(out.name)
        sweep.state.absent.add(out.name)
        mapping[name] = out.name
    rename_reads(reader, mapping)
    sweep.forward.program.version += 1


def make_absent(b: IRBuilder, like: Variable) -> Variable:
    """A value of the type of `like` that is not there."""
    array = "array" if like.kind == "array" else ""
    return b.op("absent", dtype=like.dtype, shape=list(like.shape), array=array)
