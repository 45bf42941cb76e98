"""Clipping of the gradients that parameters have, in place: between `backward()` and the step of the optimizer."""

from __future__ import annotations

import math as _math
from collections.abc import Iterable

import numpy as np

from ...errors import AttributeValueError, StagedValueError
from ...tensor import Tensor, autograd, creation, dispatch, manipulation, math, reduction, scaling
from ...tensor.inplace import rebind

_ORDERS = (_math.inf, 0, 1, 2)


def clip_grad_norm_(parameters: Iterable[Tensor] | Tensor, max_norm: float, norm_type: float = 2.0,
                    error_if_nonfinite: bool = False) -> Tensor:  # fmt: skip
    """Scales the gradients of all parameters by one factor, in place, so that their norm as one vector is at most `max_norm`.

    The factor is min(1, max_norm / (norm + 1e-6)). What has no gradient is left alone.
    In PaddlePaddle: `paddle.nn.utils.clip_grad_norm_`.

    Args:
        parameters: Tensors of any shapes, or one.
        max_norm: the largest norm.
        norm_type: the order of the norm: infinity, 0, 1 or 2. With 0, the norm is the number of gradients that are not all zero.
        error_if_nonfinite: whether a norm that is NaN or infinite raises. Only in eager mode.

    Returns:
        The norm before, a 0-d Tensor; 0 if there are no gradients.

    Raises:
        AttributeValueError: the order is another one.
        RuntimeError: the norm is not finite, with `error_if_nonfinite`.
        StagedValueError: `error_if_nonfinite` in a static function.

    >>> w = Tensor([3.0, 4.0], stop_gradient=False)
    >>> (w * w).sum().backward()
    >>> clip_grad_norm_(w, 1.0).numpy(), w.grad.numpy().round(3)
    (array(10., dtype=float32), array([0.6, 0.8], dtype=float32))
    """
    if norm_type not in _ORDERS:
        raise AttributeValueError(f"clip_grad_norm_: norm_type must be infinity, 0, 1 or 2, got {norm_type}")
    if error_if_nonfinite and not dispatch.in_dynamic_mode():
        raise StagedValueError("clip_grad_norm_: only the run knows whether the norm is finite",
                               hint="leave out error_if_nonfinite in a static function, and look at the norm that is returned")  # fmt: skip
    grads = _gradients(parameters)
    with autograd.no_grad():
        if not grads:
            return creation.to_tensor(0.0)
        total = reduction.norm(manipulation.stack([_norm(g, norm_type) for g in grads]), float(norm_type))
        if error_if_nonfinite and not np.isfinite(total.numpy()):
            raise RuntimeError(f"clip_grad_norm_: the norm of the gradients is {float(total)}")
        factor = scaling.clip(math.divide(float(max_norm), total + 1e-6), max=1.0)
        for g in grads:
            rebind(g, math.multiply(g, manipulation.cast(factor, g.dtype)))
    return total


def _norm(g: Tensor, order: float) -> Tensor:
    return reduction.norm(manipulation.reshape(g, [-1]), float(order))


def clip_grad_value_(parameters: Iterable[Tensor] | Tensor, clip_value: float) -> None:
    """Limits each element of the gradients to -clip_value ... clip_value, in place.

    What has no gradient is left alone. In PaddlePaddle: `paddle.nn.utils.clip_grad_value_`.

    Args:
        parameters: Tensors of any shapes, or one.
        clip_value: the largest absolute value.

    >>> w = Tensor([3.0, 0.25], stop_gradient=False)
    >>> (w * w).sum().backward()
    >>> clip_grad_value_([w], 1.0)
    >>> w.grad.numpy()
    array([1. , 0.5], dtype=float32)
    """
    limit = float(clip_value)
    with autograd.no_grad():
        for g in _gradients(parameters):
            rebind(g, scaling.clip(g, -limit, limit))


def _gradients(parameters: Iterable[Tensor] | Tensor) -> list[Tensor]:
    each = [parameters] if isinstance(parameters, Tensor) else parameters
    return [g for g in (p.grad for p in each) if g is not None]
