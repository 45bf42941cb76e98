"""Parameters as one vector, and back."""

from __future__ import annotations

import math as _math
from collections.abc import Iterable

from ...errors import ShapeError
from ...tensor import Tensor, autograd, manipulation
from ...tensor.inplace import rebind


def parameters_to_vector(parameters: Iterable[Tensor], name: str | None = None) -> Tensor:
    """All parameters, flat and one behind the other, as a new 1-d Tensor.

    No gradient flows from it to the parameters. It has `stop_gradient=False` in eager mode.
    In PaddlePaddle: `paddle.nn.utils.parameters_to_vector`.

    Args:
        parameters: Tensors of any shapes and one dtype.

    Raises:
        ShapeError: there are none.

    >>> parameters_to_vector([Tensor([[1.0, 2.0]]), Tensor([3.0])]).numpy()
    array([1., 2., 3.], dtype=float32)
    """
    with autograd.no_grad():
        flat = [manipulation.reshape(p, [-1]) for p in parameters]
        if not flat:
            raise ShapeError("parameters_to_vector: there are no parameters")
        vector = manipulation.concat(flat)
    if not vector.is_symbolic:
        vector.stop_gradient = False
    return vector


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor], name: str | None = None) -> None:
    """Gives parameters the values of a vector, in their order, in place. No gradient flows through that.

    In PaddlePaddle: `paddle.nn.utils.vector_to_parameters`.

    Args:
        vec: Tensor [n]; what is behind the parameters' elements is left out.
        parameters: Tensors of any shapes, with n elements or less.

    Raises:
        ShapeError: the vector has not 1 dim, or too few elements.

    >>> w = Tensor([[0.0, 0.0]])
    >>> vector_to_parameters(Tensor([1.0, 2.0]), [w])
    >>> w.numpy()
    array([[1., 2.]], dtype=float32)
    """
    each = list(parameters)
    needed = sum(_math.prod(p.shape) for p in each)
    if vec.ndim != 1 or (vec.shape[0] != -1 and vec.shape[0] < needed):
        raise ShapeError(f"vector_to_parameters: parameters of {needed} elements take a vector of as many, got shape {vec.shape}")
    start = 0
    with autograd.no_grad():
        for p in each:
            count = _math.prod(p.shape)
            rebind(p, manipulation.cast(manipulation.reshape(vec[start : start + count], p.shape), p.dtype))
            start += count
