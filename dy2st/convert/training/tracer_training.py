"""`Trained`: the part of a `Tracer` that hands on what a training step asks of it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import StagedValueError
from ...tensor import Parameter, Tensor
from ...tensor.location import user_location
from .. import roles
from .tensor_flags import Flags

if TYPE_CHECKING:
    from .training_step import Gradients

ROLE = roles.BOOKKEEPING


class Trained(Flags):
    """`backward()`, `.grad`, the steps of optimizers, and the parameters and layers that a function makes.

    Attributes:
        gradients: those of the leaves.
    """

    gradients: Gradients

    trains = True

    def gradient(self, tensor: Tensor) -> Tensor | None:
        return self.gradients.get(tensor)

    def set_gradient(self, tensor: Tensor, value: Tensor | None) -> None:
        self.gradients.set(tensor, value)

    def gradients_of(self, params: Sequence[Tensor]) -> list[tuple[Tensor, Tensor]]:
        return self.gradients.pairs(params)

    def step(self, state: Sequence[dict], required: Sequence[Tensor],
             settings: Iterable[tuple[Any, Sequence[str]]]) -> contextlib.AbstractContextManager[None]:  # fmt: skip
        return self.gradients.step(state, required, settings)

    def backward(self, tensors: Sequence[Tensor], grads: Sequence[Tensor | None], retain_graph: bool, create_graph: bool) -> None:
        if create_graph:
            raise StagedValueError("backward(create_graph=True) in a static function", location=user_location(3),
                                   hint="use paddle.grad(..., create_graph=True) there")  # fmt: skip
        self.gradients.backward(tensors, grads, retain_graph)

    def parameter(self, name: str, shape: list[int], dtype: str, make: Callable[[list[int], str], Tensor],
                  trainable: bool) -> Parameter | None:  # fmt: skip
        if not self.gradients.stepping:  # else it is state of the optimizer, which keeps it
            self.state_made.note_parameter(name)
        return None

    def on_state_created(self, name: str) -> None:
        self.state_made.note(name)

    def on_layer_created(self, layer: Any) -> None:
        self.state_made.layers[id(layer)] = layer

    def on_state_read(self, state: dict) -> None:
        self.state_made.read.setdefault(id(state), (state, len(state)))
