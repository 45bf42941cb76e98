"""`grad()` in a traced function: the ops that compute the gradients become part of the program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dy2st_runtime.backward import append_backward
from dy2st_runtime.errors import Dy2stError
from dy2st_runtime.ir import Variable
from dy2st_runtime.ir.absent import maybe_absent
from dy2st_runtime.ir.functions import drop_unused_functions, lift_functions

from ..errors import StagedValueError
from ..tensor import Tensor, dispatch
from ..tensor.autograd import no_gradient
from ..tensor.location import user_location
from ..tensor.promotion import cast
from ..tensor.tape import has_hooks
from .first_values import first_value
from .needs import Need
from .optional import MaybeNone

if TYPE_CHECKING:
    from .tracer import Tracer


def gradients(tracer: Tracer, outputs: Sequence[Tensor], inputs: Sequence[Tensor], grad_outputs: Sequence[Tensor | None],
              no_grad_vars: Sequence[Tensor], create_graph: bool) -> list[Tensor | None]:  # fmt: skip
    """For each input its gradient, None where the outputs do not depend on it, a `MaybeNone` where they do in some runs.

    Raises:
        StagedValueError: it is asked for within a branch or a loop that depends on a tensor.
        GradientError: no gradient flows to an output, or what a gradient needs has been updated by the step of an optimizer.
    """
    require_no_hook(inputs, "grad()")
    tracer.gradients.note_inputs(inputs)
    reached = [i for i, t in enumerate(inputs) if not t._stops]
    wrt = [_first(tracer, inputs[i]) for i in reached]
    found = raw_gradients(tracer, outputs, wrt, grad_outputs, no_grad_vars, "grad()")
    for t in outputs:
        if tracer.needs.of(t) is Need.SOMETIMES:
            tracer.gradients.require_way(t, "grad()")
    absent = maybe_absent(tracer.program)
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


def _first(tracer: Tracer, t: Tensor) -> Variable:
    """The variable to which the gradients of a tensor go."""
    now = tracer.lift(t)
    if id(t) in tracer.captures and tracer.is_leaf(t):
        return tracer.freed.get(id(t), tracer.captures[id(t)])[1]
    return first_value(now)


def require_no_hook(tensors: Sequence[Tensor], what: str) -> None:
    """StagedValueError if `what` would have to call a function of the user's with the gradient of a tensor."""
    hooked = next(filter(has_hooks, tensors), None)
    if hooked is not None:
        kind = f"{'a leaf' if hooked._is_leaf else 'what is computed outside'} (a {hooked.dtype} tensor)"
        raise StagedValueError(f"{what} in a static function cannot call the hook of {kind}",
                               location=user_location(3), hint="call it outside of the static function")  # fmt: skip


def raw_gradients(tracer: Tracer, outputs: Sequence[Tensor], wrt: Sequence[Variable], grad_outputs: Sequence[Tensor | None],
                  no_grad_vars: Sequence[Tensor], what: str) -> list[Variable | None]:  # fmt: skip
    """The variables of the gradients, which may be absent in some runs; `what` is called. See `gradients`."""
    if tracer.block is not tracer.program.global_block():
        raise StagedValueError(
            f"{what} cannot be called in a branch or a loop that depends on a tensor", location=user_location(3),
            hint="call it before or after, or let the condition (the range of the loop) be of Python's numbers",
        )  # fmt: skip
    for t in outputs:
        if t._stops:
            raise no_gradient(t, "the tensor to differentiate")
    targets = [tracer.lift(t) for t in outputs]
    seeds = [None if g is None else tracer.lift(g) for g in grad_outputs]
    blocked = [tracer.lift(t).name for t in no_grad_vars]
    updated = {tracer.captures[key][1].name for key in tracer.gradients.written}
    # the functions that recursion has made are complete here; their gradients can flow to what they are given, not to values of the
    # block in which they were written
    drop_unused_functions(tracer.program)
    lift_functions(tracer.program)
    try:
        return append_backward(tracer.program, targets, wrt, seeds, blocked, updated)
    except Dy2stError as error:
        raise error.at(user_location(3)) from error.__cause__
