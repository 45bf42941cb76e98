"""Weight normalization: the length and the direction of a weight as two parameters."""

from __future__ import annotations

from typing import Any

from ...errors import AttributeValueError, OutOfRangeError
from ...tensor import Tensor, autograd, manipulation, math, reduction, scaling
from ..layer import Layer

_TINY = 1e-12


class _WeightNorm:
    """The hook that computes the weight before each `forward`.

    Args:
        name: of the weight.
        dim: the axis whose entries have lengths of their own; None: all elements have one length.
    """

    def __init__(self, name: str, dim: int | None) -> None:
        self.name, self.dim = name, dim

    def squares(self, v: Tensor) -> Tensor:
        """The sums of squares, of the rank of v."""
        axes = [axis for axis in range(v.ndim) if axis != self.dim]
        # a vector has lengths of single elements, and nothing to sum over
        return reduction.sum(math.square(v), axes, keepdim=True) if axes else math.square(v)

    def weight(self, layer: Layer) -> Tensor:
        g, v = getattr(layer, f"{self.name}_g"), getattr(layer, f"{self.name}_v")
        length = math.sqrt(self.squares(v))
        # as PaddlePaddle has it, which keeps lengths away from 0 in two ways
        length = length + _TINY if self.dim is None else scaling.clip(length, min=_TINY)
        return v / length * manipulation.reshape(g, [n if axis == self.dim else 1 for axis, n in enumerate(v.shape)])

    def __call__(self, layer: Layer, inputs: Any) -> None:
        setattr(layer, self.name, self.weight(layer))


def weight_norm(layer: Layer, name: str = "weight", dim: int | None = 0) -> Layer:
    """Replaces a weight by two parameters, its lengths `NAME_g` and its direction `NAME_v`, from which each call computes it.

    weight = g * v / ||v||. `layer.NAME` then is no parameter, but the weight that the last call has computed.
    Make the optimizer after that; such a layer cannot be deep-copied, as in PaddlePaddle.
    In PaddlePaddle: `paddle.nn.utils.weight_norm`. Salimans and Kingma 2016, arXiv:1602.07868.

    Args:
        layer: has the parameter; it is changed.
        name: of the parameter.
        dim: the axis whose entries have lengths of their own, from -rank to rank - 1: g has its size, [n]. -1 and None mean no axis, as in
            PaddlePaddle: all elements have one length, and g is 0-d.

    Returns:
        The layer itself.

    Raises:
        AttributeValueError: the weight is normalized already, or the layer has no such parameter.
        OutOfRangeError: there is no such axis.

    >>> from dy2st import nn
    >>> layer = weight_norm(nn.Linear(2, 3))
    >>> [name for name, _ in layer.named_parameters()]
    ['bias', 'weight_v', 'weight_g']
    >>> layer.weight_g.shape
    [2]
    """
    if _hook(layer, name) is not None:
        raise AttributeValueError(f"weight_norm: {name!r} of this {type(layer).__name__} is normalized already")
    w = parameter_of(layer, name, "weight_norm")
    if dim is not None and not -w.ndim <= dim < w.ndim:
        raise OutOfRangeError(f"weight_norm: dim is to be in [{-w.ndim}, {w.ndim}), got {dim}")
    hook = _WeightNorm(name, None if dim in (None, -1) else dim % w.ndim)
    with autograd.no_grad():
        length = manipulation.reshape(math.sqrt(hook.squares(w) + _TINY), [] if hook.dim is None else [-1])
        del layer._parameters[name]
        for suffix, value in (("v", w), ("g", length)):
            _add(layer, f"{name}_{suffix}", value)
    setattr(layer, name, hook.weight(layer))
    layer.register_forward_pre_hook(hook)
    return layer


def remove_weight_norm(layer: Layer, name: str = "weight") -> Layer:
    """Makes the weight a parameter again, with the value that it has, and takes `NAME_g` and `NAME_v` away.

    In PaddlePaddle: `paddle.nn.utils.remove_weight_norm`.

    Returns:
        The layer itself.

    Raises:
        AttributeValueError: the weight is not normalized.

    >>> from dy2st import nn
    >>> [name for name, _ in remove_weight_norm(weight_norm(nn.Linear(2, 3))).named_parameters()]
    ['bias', 'weight']
    """
    hook = _hook(layer, name)
    if hook is None:
        raise AttributeValueError(f"remove_weight_norm: {name!r} of this {type(layer).__name__} is not normalized")
    with autograd.no_grad():
        value = hook.weight(layer)
        delattr(layer, name)
        for suffix in "gv":
            del layer._parameters[f"{name}_{suffix}"]
        _add(layer, name, value)
    for key in [key for key, found in layer._forward_pre_hooks.items() if found is hook]:
        key.remove()
    return layer


def parameter_of(layer: Layer, name: str, function: str) -> Tensor:
    """The parameter of this name of the layer itself.

    Raises:
        AttributeValueError: there is none.
    """
    found = layer._parameters.get(name)
    if found is None:
        raise AttributeValueError(f"{function}: this {type(layer).__name__} has no parameter {name!r}")
    return found


def _add(layer: Layer, name: str, value: Tensor) -> None:
    p = layer.create_parameter(value.shape, dtype=value.dtype)
    p.set_value(value)
    layer.add_parameter(name, p)


def _hook(layer: Layer, name: str) -> _WeightNorm | None:
    hooks = layer._forward_pre_hooks.values()
    return next((hook for hook in hooks if isinstance(hook, _WeightNorm) and hook.name == name), None)
