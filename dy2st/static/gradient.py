"""Gradients of hand-built programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from dy2st_runtime import backward, ir
from dy2st_runtime.errors import Dy2stError

from ..errors import GradientError
from ..nn.param_attr import ParamAttr
from ..nn.parameter import describe
from ..tensor import Tensor
from ..tensor.location import user_location
from ..tensor.tensor import Parameter
from .program import Program


def append_backward(loss: Tensor, parameter_list: Sequence[Any] | None = None, no_grad_set: Iterable[Any] | None = None,
                    callbacks: Any = None, checkpoints: Any = None) -> list[tuple[Tensor, Tensor]]:  # fmt: skip
    """Appends the ops that compute the gradients of the parameters, to the program of `loss`.

    Args:
        loss: a floating-point variable with one element.
        parameter_list: parameters, or their names; default: all trainable ones that the program uses.
        no_grad_set: variables, or their names, that no gradient flows through.

    Returns:
        a (parameter, gradient) pair for each parameter that the loss depends on. At run time a gradient
        is absent (fetched as None) if the path taken does not use its parameter.

    Raises:
        GradientError: `loss` is no variable of a program, or has several elements.

    Example:
        >>> from dy2st import static
        >>> with static.program_guard(static.Program(), static.Program()):
        ...     x = static.data("x", [4, 2])
        ...     w = static.create_parameter([2, 1], "float32", name="w")
        ...     [(p, g)] = append_backward((x @ w).mean())
        >>> p.name, g.name
        ('w', 'w@GRAD')
    """
    v = _variable(loss, "loss")
    if any(d not in (1, -1) for d in v.shape):
        raise GradientError(f"the loss must have one element, {v.name!r} is {v.type}", location=user_location(),
                            hint="reduce it first: mean(), sum()")  # fmt: skip
    program = v.block.program
    block = program.global_block()
    if parameter_list is None:
        wrt = [p for p in block.vars.values() if p.is_parameter and not p.stop_gradient]
    else:
        wrt = [_named(program, p, "parameter_list") for p in parameter_list]
    grads = _append(program, [v], wrt, None, no_grad_set)
    return [(_wrap(p), _wrap(g)) for p, g in zip(wrt, grads, strict=True) if g is not None]


def gradients(targets: Any, inputs: Any, target_gradients: Any = None,
              no_grad_set: Iterable[Any] | None = None) -> list[Tensor | None]:  # fmt: skip
    """Appends the ops that compute the gradient of the sum of the targets by each input.

    Args:
        targets: a variable, or a list.
        inputs: a variable, or a list: data, parameters, or intermediate values of the program. Data has
            `stop_gradient=True`; set it to False before it is used.
        target_gradients: what flows into each target; default: ones.
        no_grad_set: variables, or their names, that no gradient flows through.

    Returns:
        for each input its gradient, None where the targets do not depend on it.
    """
    outs, ins = ([x] if not isinstance(x, (list, tuple)) else list(x) for x in (targets, inputs))
    variables = [_variable(t, "targets") for t in outs]
    program = variables[0].block.program
    seeds = None
    if target_gradients is not None:
        given = target_gradients if isinstance(target_gradients, (list, tuple)) else [target_gradients]
        seeds = [None if g is None else _variable(g, "target_gradients") for g in given]
    grads = _append(program, variables, [_named(program, x, "inputs") for x in ins], seeds, no_grad_set)
    return [None if g is None else _wrap(g) for g in grads]


def _append(program: ir.Program, targets: list[ir.Variable], wrt: list[ir.Variable], seeds: Any,
            no_grad_set: Iterable[Any] | None) -> list[ir.Variable | None]:  # fmt: skip
    excluded = [_named(program, x, "no_grad_set").name for x in no_grad_set or ()]
    try:
        return backward.append_backward(program, targets, wrt, seeds, excluded)
    except Dy2stError as error:
        raise error.at(user_location(2)) from error.__cause__


def _variable(value: Any, what: str) -> ir.Variable:
    v = value._value if isinstance(value, Tensor) else value
    if not isinstance(v, ir.Variable):
        raise GradientError(f"{what} must be a variable of a program, got {type(value).__name__}", location=user_location(2),
                            hint="in dynamic mode call loss.backward() or grad()")  # fmt: skip
    return v


def _named(program: ir.Program, value: Any, what: str) -> ir.Variable:
    """A variable of the program: given itself, by name, or as an eager parameter that it uses."""
    if isinstance(value, Tensor) and not value.is_symbolic:
        value = value.name
    if not isinstance(value, str):
        return _variable(value, what)
    v = program.global_block().vars.get(value)
    if v is None:
        raise GradientError(f"{what} names {value!r}, which the program does not have", location=user_location(2))
    return v


def _wrap(v: ir.Variable) -> Tensor:
    """The tensor that the user knows for a variable, so that its regularizer and the like are found again."""
    program = v.block.program
    if isinstance(program, Program):
        known = program.parameters.get(v.name, program.captured.get(v.name))
        if known is not None:
            return known
    if not v.is_parameter:
        return Tensor.wrap(v, v.stop_gradient)
    p = Parameter.__new__(Parameter)
    p._value, p._stop, p._name = v, v.stop_gradient, v.name
    return describe(p, ParamAttr())
