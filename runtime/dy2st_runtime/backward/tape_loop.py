"""The gradient of a `while_loop` whose body calls functions: no call is made again, so what the iterations had is kept on tapes."""

from __future__ import annotations

from ..ir.program import Block, Operator, Variable
from ..ir.visit import free_names
from .branch import make_absent
from .loop import Body, append_loop
from .sweep import Builder, Sweep, rule
from .tapes import keep_on_tapes


@rule("while_loop with calls")
def differentiate_loop_with_calls(sweep: Sweep, op: Operator, douts: dict[str, Variable | None]) -> None:
    """Appends the loop that runs the iterations' gradients from the last to the first."""
    state = sweep.state
    source: Block = op.attrs["body_block"]
    block = sweep.b.sub_block()
    walk = Sweep(source, Builder(block, state, op.location), state, sweep)
    step = block.create_var(None, "int64", (), stem="step")
    seeds: dict[int, Variable | None] = {}
    gradients: dict[int, Variable] = {}
    fixed: dict[str, str] = {}
    for i, (x, param, result, out) in enumerate(
        zip(op.input("X"), source.params, source.results, op.output("Out"), strict=True)
    ):
        gradient = douts[out]
        if param == result:  # state that never changes is its initial value
            fixed[param] = x
            if gradient is not None and sweep.active(x):
                sweep.add(x, gradient)
        elif walk.active(param):
            v = source.var(param)
            seeds[i] = gradient
            gradients[i] = block.create_var(None, v.dtype, v.shape, stem=f"{param}@GRAD", kind=v.kind)
            state.absent.add(gradients[i].name)
            if walk.active(result):
                walk.add(result, gradients[i])
    walk.run(list(source.ops))
    before = {i: walk.total(source.params[i]) or make_absent(walk.b, source.var(source.params[i])) for i in seeds}
    captured: dict[str, Variable] = {}
    for name in [*fixed, *free_names(source)]:
        total = walk.total(name) if walk.active(name) else None
        if total is not None:
            outer = fixed.get(name, name)
            captured[outer] = walk.b.op("sum", X=[captured[outer], total]) if outer in captured else total
    append_loop(sweep, op, Body(block, [], {}, step, gradients, before, captured), seeds)
    keep_on_tapes(state, source, block)
