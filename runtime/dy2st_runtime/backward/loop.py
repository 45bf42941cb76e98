"""The gradient of `while_loop`: a loop that counts down.

Its body is a copy of the forward body followed by the reverse walk over that copy. `remat` then takes from the copy
what the forward loop should rather have saved, and what the walk does not need. A nested `cond` or `while_loop` is part
of the copy and is differentiated there like any other, so that its own saved values live for one iteration only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from .. import dims
from ..errors import GradientError
from ..ir.functions import POPS
from ..ir.program import Block, Operator, Variable
from ..ir.visit import clone_ops, declare_like, free_names
from ..ops.control import join_types
from . import remat
from .branch import make_absent
from .past import present
from .sweep import Builder, Sweep, rule

K = TypeVar("K")


@dataclass
class Body:
    """A backward body in the making.

    Attributes:
        block: the copies of the forward ops, then the walk over them.
        copies: the copies as they were cloned (the walk may have put others between them).
        forward: name in the forward body → name in the copy.
        step: the iteration whose gradient is taken, a param.
        state: index of a loop variable → the param that holds the gradient of its value after the iteration.
        before: index of a loop variable → the gradient of its value before the iteration.
        captured: name from outside the loop → what the iteration adds to its gradient.
    """

    block: Block
    copies: list[Operator]
    forward: dict[str, str]
    step: Variable
    state: dict[int, Variable]
    before: dict[int, Variable]
    captured: dict[str, Variable]


@rule("while_loop")
def differentiate_loop(sweep: Sweep, op: Operator, douts: dict[str, Variable | None]) -> None:
    """Appends the loop that runs the iterations' gradients from the last to the first."""
    if any(douts[name] is not None for name in op.output("Saved")):
        raise GradientError("the gradient of a gradient through while_loop is not supported", location=op.location,
                            hint="compute second derivatives in eager mode")  # fmt: skip
    source: Block = op.attrs["body_block"]
    if any(inner.type in POPS for inner in source.ops):
        raise GradientError("the gradient of a gradient through a recursive function is not supported", location=op.location,
                            hint="compute second derivatives in eager mode")  # fmt: skip
    seeds: dict[int, Variable | None] = {}
    for i, (x, param, result, out) in enumerate(
        zip(op.input("X"), source.params, source.results, op.output("Out"), strict=True)
    ):
        gradient = douts[out]
        if gradient is None:
            continue
        if param == result:  # state that never changes is its initial value
            if sweep.active(x):
                sweep.add(x, gradient)
        else:
            seeds[i] = gradient
    unsure = {i for i, d in seeds.items() if d is not None and d.name in sweep.state.absent}
    while True:
        # which state has a gradient, and which gradient may be absent, depends on the body, and the body on that
        body = _build_body(sweep, op, sorted(seeds), unsure)
        grown = set(body.before) - set(seeds)
        less_sure = {i for i in seeds if i not in body.before or body.before[i].name in sweep.state.absent} - unsure
        if not grown and not less_sure:
            break
        seeds.update(dict.fromkeys(grown))
        unsure |= less_sure | grown
    # also of state that each iteration makes anew: where none runs, it is the initial one
    if not body.captured and not any(sweep.active(op.input("X")[i]) for i in seeds):
        return
    yielded = [*body.before.values(), *body.captured.values()]
    past = remat.materialize(sweep, op, body.block, body.copies, body.forward, body.step, yielded)
    append_loop(sweep, op, body, seeds, past.carried)


def _build_body(sweep: Sweep, op: Operator, indices: list[int], unsure: set[int]) -> Body:
    state = sweep.state
    source: Block = op.attrs["body_block"]
    block = sweep.b.sub_block()
    step = block.create_var(None, "int64", (), stem="step")
    forward: dict[str, str] = {}
    outside = dict.fromkeys(free_names(source))
    for x, param, result in zip(op.input("X"), source.params, source.results, strict=True):
        if param == result:
            forward[param] = x
            outside[x] = None
        else:
            forward[param] = declare_like(block, source.var(param), block.program.fresh_name(param)).name
    forward = clone_ops(source.ops, source, block, forward, fresh=True)
    copies = list(block.ops)
    pairs = [
        *forward.items(),
        *(pair for old, new in zip(source.ops, copies, strict=True) for pair in inner_pairs(old, new)),
    ]
    for names in (state.active, state.absent):
        names.update(new for old, new in pairs if old in names)
    remat.silence(copies)

    walk = Sweep(block, Builder(block, state, op.location), state, sweep)
    gradients = {}
    for i in indices:
        v = source.var(source.params[i])
        gradients[i] = block.create_var(None, v.dtype, v.shape, stem=f"{v.name}@GRAD", kind=v.kind)
        if i in unsure:
            state.absent.add(gradients[i].name)
        result = forward.get(source.results[i], source.results[i])
        if walk.active(result):
            walk.add(result, gradients[i])
    walk.run(copies)
    before = {
        i: walk.total(forward[p]) for i, (p, r) in enumerate(zip(source.params, source.results, strict=True)) if p != r
    }
    captured = {name: walk.total(name) for name in outside if walk.active(name)}
    return Body(block, copies, forward, step, gradients, _given(before), _given(captured))


def _given(gradients: dict[K, Variable | None]) -> dict[K, Variable]:
    return {key: g for key, g in gradients.items() if g is not None}


def inner_pairs(old: Operator, new: Operator) -> Iterator[tuple[str, str]]:
    """The names defined inside the blocks of an op, with those of its copy."""
    for source, copy in zip(old.blocks, new.blocks, strict=True):
        yield from zip(source.params, copy.params, strict=True)
        for a, b in zip(source.ops, copy.ops, strict=True):
            yield from zip(a.output_names, b.output_names, strict=True)
            yield from inner_pairs(a, b)


def append_loop(sweep: Sweep, op: Operator, body: Body, seeds: dict[int, Variable | None],
                carried: Sequence[tuple[int, Variable, Variable]] = ()) -> None:  # fmt: skip
    """The backward loop: counts down, carries the gradients of the state, the sums for the captured names, and the lists of
    `PastLists.carried`."""
    b, block = sweep.b, body.block
    inner = Builder(block, sweep.state, op.location)
    params, initial, results = (
        [body.step],
        [b.scaled(_trip_count(sweep, op), 1.0, -1.0)],
        [inner.scaled(body.step, 1.0, -1.0)],
    )
    for i, param in body.state.items():
        params.append(param)
        initial.append(seeds[i] or make_absent(b, param))
        results.append(body.before.get(i) or make_absent(inner, param))
    for name, gradient in body.captured.items():
        value = sweep.var(name)
        total = block.create_var(None, value.dtype, value.shape, stem=f"{name}@GRAD@SUM", kind=value.kind)
        params.append(total)
        initial.append(make_absent(b, total))
        results.append(inner.op("sum", X=[total, gradient]))
    for i, after, before in carried:
        params.append(after)
        initial.append(present(b, sweep.var(op.output("Out")[i])))
        results.append(before)
    for k, (param, start, result) in enumerate(zip(params, initial, results, strict=True)):
        param.shape = dims.to_static(
            join_types(join_types(param.type, start.type, param.name), result.type, param.name).shape
        )
        if block.find_var(result.name) is None:  # a forward value of a branch around, which only later becomes visible
            results[k] = inner.op("assign", X=result)
    block.params, block.results = [p.name for p in params], [r.name for r in results]
    test = b.sub_block()
    test.params = [declare_like(test, p, block.program.fresh_name(p.name)).name for p in params]
    with b.inside(test):
        test.results = [b.greater_equal(test.var(test.params[0]), b.constant(0, "int64")).name]
    outs, _ = b.op("while_loop", X=initial, cond_block=test, body_block=block)
    for i, out in zip(body.state, outs[1:], strict=False):
        x = op.input("X")[i]
        if sweep.active(x):
            sweep.add(x, out)
    for name, out in zip(body.captured, outs[1 + len(body.state) :], strict=False):
        sweep.add(name, out)


def _trip_count(sweep: Sweep, op: Operator) -> Variable:
    """How often the forward loop ran: the length of a saved array, else of a counter that it gets."""
    if op.output("Saved"):
        return sweep.b.op("lod_array_length", X=sweep.var(op.output("Saved")[0]))
    at = next(i for i, other in enumerate(sweep.forward.ops) if other is op)
    zero = Builder(sweep.forward, sweep.state, op.location, index=at).constant(0, "int64")
    out = sweep.forward.create_var(None, "int64", (), stem="trips")
    op.inputs["X"].append(zero.name)
    op.outputs["Out"].append(out.name)
    for block in op.blocks:
        block.params.append(block.create_var(None, "int64", (), stem="trip").name)
    source = op.attrs["body_block"]
    count = Builder(source, sweep.state, op.location).scaled(source.var(source.params[-1]), 1.0, 1.0)
    source.results.append(count.name)
    return out
