"""`grad()` in a traced function: the ops that compute the gradients become part of the program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dy2st_runtime.backward import append_backward
from dy2st_runtime.backward.activity import mark_active
from dy2st_runtime.backward.iterations import older_values
from dy2st_runtime.dtype import is_float
from dy2st_runtime.errors import Dy2stError
from dy2st_runtime.ir import Block, Variable
from dy2st_runtime.ir.absent import maybe_absent
from dy2st_runtime.ir.functions import drop_unused_functions, lift_functions
from dy2st_runtime.ir.visit import called

from ...errors import StagedValueError
from ...tensor import Tensor, dispatch
from ...tensor.autograd import no_gradient
from ...tensor.location import user_location
from ...tensor.promotion import cast
from ...tensor.tape import has_hooks
from ..effects.cells import TensorCell
from ..effects.gradient_needs import Need
from ..values.maybe_none import MaybeNone
from ..values.original_variables import first_value

if TYPE_CHECKING:
    from ..trace.tracer import Tracer


def gradients(tracer: Tracer, outputs: Sequence[Tensor], inputs: Sequence[Tensor], grad_outputs: Sequence[Tensor | None],
              no_grad_vars: Sequence[Tensor], create_graph: bool) -> list[Tensor | None]:  # fmt: skip
    """For each input its gradient, None where the outputs do not depend on it, a `MaybeNone` where they do in some runs.

    Raises:
        StagedValueError: only the run knows which values the gradients flow through; see `raw_gradients`.
        GradientError: no gradient flows to an output, or what a gradient needs has been updated by the step of an optimizer.
    """
    require_no_hook(inputs, "grad()")
    tracer.gradients.note_inputs(inputs)
    reached = [i for i, t in enumerate(inputs) if not t._stops]
    wrt = [_first(tracer, inputs[i]) for i in reached]
    blocked = [tracer.lift(t).name for t in no_grad_vars]
    for i, first in zip(reached, wrt, strict=True):
        others = _others(tracer, inputs[i], first)
        if others and any(found_by(tracer, outputs, others, grad_outputs, [*blocked, first.name], "grad()")):
            raise StagedValueError(
                "only the run knows whether what grad() differentiates by is one tensor or another one, and the gradient flows to both",
                location=user_location(3), hint="give it a tensor of its own before: w = w.detach(); w.stop_gradient = False",
            )  # fmt: skip
    if tracer.is_piece:
        _require_inside(tracer, outputs, wrt, grad_outputs, blocked)
    found = raw_gradients(tracer, outputs, wrt, grad_outputs, blocked, "grad()")
    for t in outputs:
        if tracer.needs.of(t) is Need.SOMETIMES:
            tracer.gradients.require_way(t, "grad()")
    absent = may_be_absent(tracer)
    results: list[Tensor | None] = [None] * len(inputs)
    for i, v in zip(reached, found, strict=True):
        if v is None:
            continue
        g = Tensor.wrap(v, v.stop_gradient)
        if v.name in absent:
            results[i] = MaybeNone.of(g if create_graph else g.detach(), is_absent(g))
        else:
            results[i] = g if create_graph else g.detach()
    return results


def is_absent(*tensors: Tensor) -> Tensor:
    """Whether none of some tensors has a value, as a bool tensor with one element."""
    op = dispatch.ops.op
    # what is computed from one that has no value has none either, and is left out of a sum
    found = [cast(op("reduce_any", X=op("isnan_v2", X=g), reduce_all=True), "int64") for g in tensors]
    one = op("elementwise_max", X=op("sum", X=found) if found[1:] else found[0], Y=dispatch.constant(1, "int64"))
    return op("equal", X=op("fill_absent", X=one, Like=dispatch.constant(0, "int64")), Y=dispatch.constant(0, "int64"))


def may_be_absent(tracer: Tracer) -> set[str]:
    """The names of all variables that may be absent, those of the blocks that are being traced among them."""
    return maybe_absent(tracer.program, _absent_before(tracer), tracer.block)


def _absent_before(tracer: Tracer) -> set[str]:
    """The inputs, and the params of the loops around, that may be absent."""
    if tracer.block is tracer.program.global_block():
        return tracer.program.absent_feeds
    return {*tracer.program.absent_feeds, *tracer.absent, *tracer.gradients.open_names()}


def _first(tracer: Tracer, t: Tensor) -> Variable:
    """The variable to which the gradients of a tensor go."""
    first = first_value(tracer.lift(t))
    if id(t) in tracer.captures and tracer.is_leaf(t) and first.block is tracer.program.global_block():
        return tracer.freed.get(id(t), tracer.captures[id(t)])[1]
    return first  # in a loop that modifies a leaf in place what it is in the iteration


def _others(tracer: Tracer, t: Tensor, first: Variable) -> list[Variable]:
    """The variables that stand for a tensor in some runs, or did so before a loop: eagerly their gradients are those of the tensor, too.

    `first` is the variable of the tensor itself."""
    key = TensorCell(t).key
    found = [frame.tensors[key][1] for frame in tracer.frames if key in frame.tensors]
    for x in tracer.aliases.of(t).values():
        if isinstance(x, Tensor) and not x._stops:
            v = x._value if x.is_symbolic else tracer.captures.get(id(x), (x, None))[1]
            found += [v] if isinstance(v, Variable) and tracer.can_read(v) else []
    if not found:
        return []
    made_of_it = {first.name}  # whose gradients come to it anyway
    for block in reversed(list(_around(tracer.block))):
        mark_active(block.ops, block, made_of_it, frozenset())
    return [v for v in map(first_value, found) if v.name not in made_of_it]


def _require_inside(tracer: Tracer, outputs: Sequence[Tensor], wrt: Sequence[Variable], grad_outputs: Sequence[Tensor | None],
                    blocked: Sequence[str]) -> None:  # fmt: skip
    """StagedValueError if the gradient flows on into what other parts of the function have computed, maybe of what is differentiated by."""
    outside = [v for v in wrt if v.is_data or v.persistable]
    away = [v for _, v in tracer.gradients.ways()[1]] if outside else []
    found = found_by(tracer, outputs, away, grad_outputs, blocked, "grad()") if away else []
    if any(g is not None and any(w is not v for w in outside) for v, g in zip(away, found, strict=True)):
        raise StagedValueError("grad() of what other parts of the function have computed", location=user_location(3))


def require_no_hook(tensors: Sequence[Tensor], what: str) -> None:
    """StagedValueError if `what` would have to call a function of the user's with the gradient of a tensor."""
    hooked = next(filter(has_hooks, tensors), None)
    if hooked is not None:
        kind = f"{'a leaf' if hooked._is_leaf else 'what is computed outside'} (a {hooked.dtype} tensor)"
        raise StagedValueError(f"{what} in a static function cannot call the hook of {kind}",
                               location=user_location(3), hint="call it outside of the static function")  # fmt: skip


def raw_gradients(tracer: Tracer, outputs: Sequence[Tensor], wrt: Sequence[Variable], grad_outputs: Sequence[Tensor | None],
                  blocked: Sequence[str], what: str) -> list[Variable | None]:  # fmt: skip
    """The variables of the gradients, which may be absent in some runs; `what` is called. See `gradients`.

    Whether gradients flow through an earlier iteration of a loop is asked when that is complete (`Gradients.require_independent`).

    Raises:
        StagedValueError: the gradient flows through the call of a function that calls itself, in a branch or a loop.
    """
    around = list(_around(tracer.block))
    begun = [_begun(block, wrt) for block in around]
    extra = [v for params, _ in begun for v in params]
    found = found_by(tracer, outputs, [*wrt, *extra], grad_outputs, blocked, what)
    flows = {v.name for v, g in zip(extra, found[len(wrt):], strict=True) if g is not None}
    for block, (params, sources) in zip(around, begun, strict=True):
        tracer.gradients.assume_independent(block, [v.name for v in params if v.name in flows], sources, what)
    return found[: len(wrt)]


def found_by(tracer: Tracer, outputs: Sequence[Tensor], wrt: Sequence[Variable], grad_outputs: Sequence[Tensor | None],
             blocked: Sequence[str], what: str) -> list[Variable | None]:  # fmt: skip
    """The gradients as one iteration of each loop around has them."""
    for t in outputs:
        if t._stops:
            raise no_gradient(t, "the tensor to differentiate")
    targets = [tracer.lift(t) for t in outputs]
    seeds = [None if g is None else tracer.lift(g) for g in grad_outputs]
    updated = {tracer.captures[key][1].name for key in tracer.gradients.written}
    if tracer.block is tracer.program.global_block():
        # the functions that recursion has made are complete here; their gradients can flow to what they are given, not to values of the
        # block in which they were written
        drop_unused_functions(tracer.program)
        lift_functions(tracer.program)
    elif tracer.staged or called(op for block in _around(tracer.block) for op in block.ops):
        raise StagedValueError(f"{what} in a branch or a loop that depends on a tensor, together with a function that calls itself",
                               location=user_location(3), hint="call it before or after")  # fmt: skip
    try:
        return append_backward(tracer.program, targets, wrt, seeds, blocked, updated, tracer.block, _absent_before(tracer))
    except Dy2stError as error:
        raise error.at(user_location(3)) from error.__cause__


def _around(block: Block) -> Iterator[Block]:
    """A block and those around it, from the inside out."""
    here: Block | None = block
    while here is not None:
        yield here
        here = here.parent


def begin_with(block: Block) -> list[Variable]:
    """What an iteration of a loop begins with that may need a gradient; nothing for another block."""
    return [v for name in block.params if not (v := block.vars[name]).stop_gradient and is_float(v.dtype)]


def _begun(block: Block, wrt: Sequence[Variable]) -> tuple[list[Variable], list[str]]:
    """What an iteration begins with, and what of `wrt` is, or may be, there by then, so that all that may depend on it."""
    params = begin_with(block)
    sources = [name for v in wrt for name in older_values(block, v)] if params else []
    return (params, sources) if sources else ([], [])


def state_around(tracer: Tracer) -> list[Variable]:
    """What the iterations of the loops around begin with that may need a gradient."""
    return [v for block in _around(tracer.block) for v in begin_with(block)]
