"""`append_backward`: what callers use."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from ..errors import GradientError
from ..ir.absent import maybe_absent
from ..ir.program import Block, Program, Variable
from ..ir.visit import all_blocks, rename_variables
from . import branch as branch  # these register the rules of control flow
from . import call as call
from . import loop as loop
from . import segment as segment
from . import tape_loop as tape_loop
from .activity import can_carry_gradient, mark_active
from .sweep import Builder, State, Sweep


def append_backward(program: Program, targets: Sequence[Variable], wrt: Sequence[Variable],
                    target_grads: Sequence[Variable | None] | None = None,
                    no_grad: Iterable[str] = (), updated: Collection[str] = (),
                    block: Block | None = None, fed: Iterable[str] | None = None) -> list[Variable | None]:  # fmt: skip
    """Appends to a block the ops that compute the gradient of the sum of the targets.

    Args:
        program: is extended; the forward ops of `cond` and `while_loop` gain outputs for what their gradients need.
        targets: variables of the block or of those around it, floating point, of any shape.
        wrt: variables to differentiate by: parameters, data, or intermediate values, of the block or of those around it.
        target_grads: for each target the gradient that flows into it, of the target's shape and dtype; None: ones. It
            may be absent at run time if it is among `program.absent_feeds`.
        no_grad: names of variables that no gradient flows through.
        updated: persistables that an optimizer's step in the program has updated in place: what is read after it is a leaf, as before.
        block: the one that is extended; if not given the global block. It may be one that no op owns yet: of a branch or a loop that is
            being built, as those around it may be too. Gradients flow to the params of a loop's body, and no further that way.
        fed: names of inputs, and of params of such bodies, that may be absent; those of the Program if not given.

    Returns:
        for each variable of `wrt` its gradient, of the same shape and dtype, named `<name>@GRAD` (with a suffix if the
        name is taken); None where no path of differentiable ops leads to a target. At run time a gradient is
        absent if no such path was taken.

    Raises:
        GradientError: a target is not floating point; an op on the way has no gradient; `target_grads` does not fit; an op on the way
            has read one of `updated` before that was updated.

    Example:
        >>> from dy2st_runtime.ir import IRBuilder, Program
        >>> program = Program()
        >>> block = program.global_block()
        >>> x = block.create_var("x", "float32", [3], is_data=True)
        >>> y = IRBuilder(block).elementwise_add(x, x)
        >>> [dx] = append_backward(program, [y], [x])
        >>> print(program)
        program {
          data x: float32[3]
          elementwise_add.Out_0: float32[3] = elementwise_add(X=x, Y=x)
          elementwise_add.Out_0@GRAD: float32[3] = fill_constant(shape=[3], value=1)
          x@GRAD: float32[3] = sum(X=[elementwise_add.Out_0@GRAD, elementwise_add.Out_0@GRAD])
        }
        <BLANKLINE>
    """
    block = program.global_block() if block is None else block
    around = list(_around(block))
    excluded = frozenset(no_grad)
    if target_grads is not None and len(target_grads) != len(targets):
        raise GradientError(f"{len(targets)} targets but {len(target_grads)} gradients of targets")
    for target in targets:
        if not can_carry_gradient(block, target.name):
            raise GradientError(f"{target.name!r} has dtype {target.dtype}: only floating point has gradients")
    active = {v.name for v in wrt if v.name not in excluded and can_carry_gradient(block, v.name)}
    for outer in reversed(around):
        mark_active(outer.ops, outer, active, excluded)
    state = State(active, maybe_absent(program, fed, block), excluded)
    walked = [(outer, list(outer.ops)) for outer in around]
    state.note_updates([op for _, ops in reversed(walked) for op in ops], updated)
    sweep = Sweep(block, Builder(block, state), state)
    for target, seed in zip(targets, target_grads or [None] * len(targets), strict=True):
        if target.name in active:
            sweep.add(target.name, _ones(sweep.b, target) if seed is None else seed)
    for outer, ops in walked:
        sweep.around(outer).run(ops)
    results = [_titled(sweep, v) for v in wrt]
    _rename(program, block, state, results)
    return results


def _around(block: Block) -> Iterator[Block]:
    """A block and those around it, from the inside out."""
    here: Block | None = block
    while here is not None:
        yield here
        here = here.parent


def _ones(b: Builder, like: Variable) -> Variable:
    if -1 in like.shape:
        return b.op("fill_any_like", X=like, value=1.0, dtype=like.dtype)
    return b.constant(1.0, like.dtype, like.shape)


def _titled(sweep: Sweep, v: Variable) -> Variable | None:
    """The gradient of `v` as a variable of its own, so that it can be fetched under its name."""
    gradient = sweep.result(v.name) if sweep.active(v.name) else None
    if gradient is None:
        return None
    title, titles = f"{v.name}@GRAD", sweep.state.titles
    if gradient.name not in sweep.state.produced or titles.setdefault(gradient.name, title) != title:
        gradient = sweep.b.op("assign", X=gradient)
        titles[gradient.name] = title
    return gradient


def _rename(program: Program, block: Block, state: State, results: Sequence[Variable | None]) -> None:
    """Gives the titles: the results come first, then the values of outer blocks before those of inner ones."""
    names: dict[str, str] = {}
    roots = program.roots if block.parent is None else [*program.roots, block]
    everything = (v for root in roots for b in all_blocks(root) for v in b.vars.values() if v.name in state.produced)
    for v in [*(v for v in results if v is not None), *everything]:
        title = state.titles.get(v.name)
        if title is not None and v.name not in names:
            names[v.name] = program.fresh_name(title) if program.has_name(title) else title
            program.note_name(title)
    rename_variables(program, names, roots)
