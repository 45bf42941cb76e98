"""Activations by the name of their op, as the layers of 1.x take them: `act="leaky_relu"`."""

from __future__ import annotations

from collections.abc import Callable

from ...errors import AttributeValueError
from ...tensor import Tensor, math
from ...tensor.location import user_location
from . import activation as a

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": a.relu, "relu6": a.relu6, "sigmoid": a.sigmoid, "tanh": a.tanh, "softmax": a.softmax, "gelu": a.gelu,
    "swish": a.swish, "elu": a.elu, "softplus": a.softplus, "softsign": a.softsign, "logsigmoid": a.log_sigmoid,
    "hard_swish": a.hardswish, "exp": math.exp, "square": math.square, "abs": math.abs, "mish": a.mish, "silu": a.silu,
    # these ops have other defaults than the functions of 2.x
    "leaky_relu": lambda x: a.leaky_relu(x, 0.02), "hard_sigmoid": lambda x: a.hardsigmoid(x, 0.2, 0.5),
}  # fmt: skip


def activate(x: Tensor, act: str | None) -> Tensor:
    """An activation by the name of its op; None: x itself.

    Raises:
        AttributeValueError: the name is unknown.
    """
    if act is None:
        return x
    if act not in ACTIVATIONS:
        raise AttributeValueError(f"activation {act!r} is not known", location=user_location(2),
                                  hint=f"use one of {', '.join(ACTIVATIONS)}")  # fmt: skip
    return ACTIVATIONS[act](x)
