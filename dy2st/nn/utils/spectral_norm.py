"""Spectral normalization of a weight: divided by its largest singular value."""

from __future__ import annotations

from typing import Any

from ...errors import AttributeValueError
from ...tensor import Tensor, autograd, linalg, math, random
from ...tensor.inplace import rebind
from ..common import Linear
from ..conv import Conv1DTranspose, Conv2DTranspose, Conv3DTranspose
from ..functional.common import normalize
from ..layer import Layer
from ..norm import as_matrix, power_iteration
from .weight_norm import parameter_of


class _SpectralNorm:
    """The hook that computes the weight before each `forward`; in training it brings u and v nearer to the singular vectors first."""

    def __init__(self, name: str, iterations: int, dim: int, eps: float) -> None:
        self.name, self.iterations, self.dim, self.eps = name, iterations, dim, eps

    def weight(self, layer: Layer) -> Tensor:
        w, u, v = (getattr(layer, f"{self.name}_{suffix}") for suffix in ("orig", "u", "v"))
        matrix = as_matrix(w, self.dim)
        new_u, new_v = u, v
        if layer.training:
            with autograd.no_grad():
                new_u, new_v = power_iteration(matrix, u, v, self.iterations, self.eps)
                rebind(u, new_u)
                rebind(v, new_v)
        return w / linalg.dot(new_u, linalg.mv(matrix, new_v))

    def __call__(self, layer: Layer, inputs: Any) -> None:
        setattr(layer, self.name, self.weight(layer))


def spectral_norm(layer: Layer, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
                  dim: int | None = None) -> Layer:  # fmt: skip
    """Replaces a weight by `NAME_orig`, from which each call computes it: divided by its largest singular value.

    The value is estimated by power iterations, a few for each call in training mode; their vectors are the buffers `NAME_u` and `NAME_v`.
    `layer.NAME` then is no parameter, but the weight that the last call has computed.
    In PaddlePaddle: `paddle.nn.utils.spectral_norm`. Miyato et al. 2018, arXiv:1802.05957.

    Args:
        layer: has the parameter; it is changed.
        name: of the parameter.
        n_power_iterations: for each call in training mode; 1 or more.
        eps: the smallest norm that a vector is divided by.
        dim: the axis that has the rows of the matrix; default: 1 for `Linear` and transposed convolutions, else 0.

    Returns:
        The layer itself.

    Raises:
        AttributeValueError: the weight is normalized already, there is no such parameter, or there are to be no iterations.

    >>> from dy2st import nn
    >>> layer = spectral_norm(nn.Linear(2, 3))
    >>> [name for name, _ in layer.named_parameters()], [name for name, _ in layer.named_buffers()]
    (['bias', 'weight_orig'], ['weight_u', 'weight_v'])
    """
    if any(isinstance(hook, _SpectralNorm) and hook.name == name for hook in layer._forward_pre_hooks.values()):
        raise AttributeValueError(f"spectral_norm: {name!r} of this {type(layer).__name__} is normalized already")
    if n_power_iterations < 1:
        raise AttributeValueError(f"spectral_norm: n_power_iterations must be at least 1, got {n_power_iterations}")
    if dim is None:
        dim = 1 if isinstance(layer, Linear | Conv1DTranspose | Conv2DTranspose | Conv3DTranspose) else 0
    hook = _SpectralNorm(name, n_power_iterations, dim, eps)
    w = parameter_of(layer, name, "spectral_norm")
    with autograd.no_grad():
        sizes = as_matrix(w, dim).shape
        u, v = (normalize(random.gaussian([n], dtype=w.dtype), axis=0, epsilon=eps) for n in sizes)
    del layer._parameters[name]
    layer.add_parameter(f"{name}_orig", w)  # type: ignore[arg-type]
    setattr(layer, name, math.multiply(w, 1.0))
    layer.register_buffer(f"{name}_u", u)
    layer.register_buffer(f"{name}_v", v)
    layer.register_forward_pre_hook(hook)
    return layer
