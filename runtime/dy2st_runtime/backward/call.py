"""The gradient of `call`: a call of another function, which undoes what the first one did.

Of a function that is differentiated two are made. The *forward* version is a copy that pushes, at its end, what the gradient needs of
its values on tapes; it takes the place of the function in the calls that are differentiated. The *backward* version pops these values,
and then has the reverse walk over the copy; where the copy calls, it calls the backward version of what is called. Calls are undone in
the reverse order of their making, so each finds on the tapes what its own call has left; no call is ever made again, and all the work
is linear in the number of calls.

The backward version takes the gradients of the results, and those params of the function that every call inside a function hands on
as they are: they are at hand where the gradient is called, and need not be saved. It yields the gradients of the params; those of
what the function reads from outside, as parameters, it adds to totals, which are taken where the gradient is called first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .. import dims
from ..errors import GradientError
from ..ir.functions import POPS
from ..ir.program import Block, Function, Operator, Variable
from ..ir.visit import all_ops, called, clone_block, declare_like, free_names, rename_reads
from ..ops.control import covers, join_types
from .branch import make_absent
from .loop import inner_pairs
from .sweep import Builder, State, Sweep, rule
from .tapes import keep_on_tapes


@dataclass
class Pair:
    """The two versions of a function.

    Attributes:
        results: the positions of the results whose gradients the backward version takes.
        passed: the positions of the params that it takes too.
        params: the positions of the params whose gradients it yields.
        captured: the names from outside whose gradients it adds to totals.
    """

    forward: Function
    backward: Function
    results: list[int]
    passed: list[int]
    params: list[int]
    captured: list[str]


@rule("call")
def differentiate_call(sweep: Sweep, op: Operator, douts: dict[str, Variable | None]) -> None:
    """Appends the call of the backward version."""
    assert op.function is not None
    pair = sweep.state.pairs.get(op.function) or _make_pair(sweep.state, op)
    if not pair.params and not pair.captured:
        return
    op.attrs["function"] = pair.forward
    b, block = sweep.b, pair.backward.block
    inputs: list[Variable] = []
    for i, param in zip(pair.results, block.params, strict=False):
        d = douts[op.output("Out")[i]]
        inputs.append(make_absent(b, block.var(param)) if d is None else _as_declared(b, d, block.var(param)))
    inputs += [sweep.var(op.input("X")[j]) for j in pair.passed]
    gradients = b.op("call", X=inputs, function=pair.backward)
    for j, gradient in zip(pair.params, gradients, strict=True):
        name = op.input("X")[j]
        sweep.state.absent.add(gradient.name)
        if sweep.active(name):
            sweep.add(name, gradient)
    if sweep.in_function:
        return  # the first of the calls that are inside each other finds the totals of all
    for name in pair.captured:
        sweep.add(name, b.op("total_take", Total=sweep.state.total_of(sweep.var(name))))


def _make_pair(state: State, op: Operator) -> Pair:
    function = op.function
    assert function is not None
    program, source = function.program, function.block
    if any(inner.type in POPS for inner in all_ops(source)):
        raise GradientError("the gradient of a gradient through a recursive function is not supported", location=op.location,
                            hint="compute second derivatives in eager mode")  # fmt: skip
    passed = handed_on([function, *called(source.ops)])
    pair = Pair(
        program.add_function(f"{function.name}_forward", function.result_types),
        program.add_function(f"{function.name}_backward"),
        [i for i, name in enumerate(source.results) if name in state.active],
        [j for j, name in enumerate(source.params) if name in passed],
        [j for j, name in enumerate(source.params) if name in state.active],
        [name for name in free_names(source) if name in state.active],
    )
    state.pairs[function] = state.pairs[pair.forward] = pair  # before the body, which may call the function
    if not pair.params and not pair.captured:
        return pair
    backward = pair.backward.block
    forward = pair.forward.block = _copy(source, state)
    walk = Sweep(forward, Builder(backward, state, op.location), state)
    for i in pair.results:
        result = forward.results[i]
        t = pair.forward.result_types[i]
        d = backward.create_var(None, t.dtype, dims.to_static(t.shape), stem=f"{source.results[i]}@GRAD", kind=t.kind)
        backward.params.append(d.name)
        state.absent.add(d.name)
        walk.add(result, d)
    given = {}
    for j in pair.passed:
        old = forward.var(forward.params[j])
        given[old.name] = declare_like(backward, old, program.fresh_name(old.name)).name
        backward.params.append(given[old.name])
        if old.name in state.absent:
            state.absent.add(given[old.name])
    yielded = [forward.params[j] for j in pair.params]
    pair.backward.result_types = [walk.var(name).type for name in yielded]
    walk.run(list(forward.ops))
    gradients = [walk.total(name) or make_absent(walk.b, walk.var(name)) for name in yielded]
    backward.results = [g.name for g in gradients]
    # what is yielded may be less known than what calls inside have relied on, which is the type of the value
    pair.backward.result_types = [join_types(t, g.type, g.name)
                                  for t, g in zip(pair.backward.result_types, gradients, strict=True)]  # fmt: skip
    for name in pair.captured:
        gradient = walk.total(name)
        if gradient is not None:
            total = state.total_of(walk.var(name))
            walk.b.op("total_add", Total=total, X=_as_declared(walk.b, gradient, total))
    rename_reads(backward, given)
    keep_on_tapes(state, forward, backward)
    return pair


def _as_declared(b: Builder, gradient: Variable, like: Variable) -> Variable:
    """A gradient under a name that is declared with all sizes that are known of its value, which are those of the gradient."""
    if covers(like.type, gradient.type):
        return gradient
    gradient = b.op("assign", X=gradient)
    gradient.shape = like.shape
    return gradient


def _copy(source: Block, state: State) -> Block:
    """A copy of a function's block, in which a gradient can flow to the same values."""
    copy, names = clone_block(source, source.program.global_block(), {}, fresh=True)
    pairs = [*names.items(), *(p for old, new in zip(source.ops, copy.ops, strict=True) for p in inner_pairs(old, new))]
    for known in (state.active, state.absent):
        known.update(new for old, new in pairs if old in known)
    return copy


def handed_on(functions: Iterable[Function]) -> set[str]:
    """The params of functions that all calls in these functions give what is a such a param of the caller, or is visible to all."""
    functions = list(functions)
    found = {name for f in functions for name in f.block.params}
    calls = [(f.block, op) for f in functions for op in all_ops(f.block) if op.function in functions]
    before = -1
    while before != len(found):
        before = len(found)
        for block, op in calls:
            assert op.function is not None
            for x, param in zip(op.input("X"), op.function.block.params, strict=True):
                outside = x not in block.params and block.program.global_block().vars.get(x) is not None
                if x not in found and not outside:
                    found.discard(param)
    return found
