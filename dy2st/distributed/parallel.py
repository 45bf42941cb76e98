"""`DataParallel`: a model whose gradients are exchanged among processes, of which there is one."""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from typing import Any

from ..errors import DTypeError
from ..nn import Layer
from ..tensor import Tensor
from .environment import Group, nothing_to_exchange, require_one_process


class DataParallel(Layer):
    """A layer around a model, which computes what the model does. In one process there are no gradients to exchange.

    Its state dict has the names of the model, so that both read the files of either. Its parameters, buffers and sublayers have
    `_layers.` in front, as in PaddlePaddle.

    Args:
        layers: the model.
        strategy, comm_buffer_size, last_comm_buffer_size, find_unused_parameters, group: how gradients are exchanged; without effect.

    Raises:
        DTypeError: the model is no Layer.
        WorldError: the environment says that there are several processes.

    >>> import dy2st as paddle
    >>> model = paddle.DataParallel(paddle.nn.Linear(2, 3))
    >>> model(paddle.ones([4, 2])).shape, list(model.state_dict())
    ([4, 3], ['weight', 'bias'])
    """

    _layers: Layer

    def __init__(self, layers: Layer, strategy: Any = None, comm_buffer_size: int = 25, last_comm_buffer_size: float = 1,
                 find_unused_parameters: bool = False, group: Group | None = None):  # fmt: skip
        require_one_process()
        if not isinstance(layers, Layer):
            raise DTypeError(f"DataParallel takes a Layer, got {type(layers).__name__}")
        super().__init__(f"{layers.full_name()}_data_parallel")
        self._layers = layers
        self.find_unused_parameters = find_unused_parameters
        self.group = group

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the model computes."""
        return self._layers(*inputs, **kwargs)

    def no_sync(self) -> contextlib.AbstractContextManager[None]:
        """A context in which gradients are not exchanged: nothing changes in it."""
        return nothing_to_exchange()

    def scale_loss(self, loss: Tensor) -> Tensor:
        """The loss as it is."""
        return loss

    def apply_collective_grads(self) -> None:
        """Exchanges gradients: nothing, in one process."""

    def state_dict(self, destination: dict | None = None, include_sublayers: bool = True, structured_name_prefix: str = "",
                   use_hook: bool = True) -> OrderedDict[str, Tensor]:  # fmt: skip
        """That of the model; see `Layer.state_dict`."""
        return self._layers.state_dict(destination, include_sublayers, structured_name_prefix, use_hook)

    def set_state_dict(self, state_dict: dict[str, Any], use_structured_name: bool = True) -> tuple[list[str], list[str]]:
        """That of the model; see `Layer.set_state_dict`."""
        return self._layers.set_state_dict(state_dict, use_structured_name)

    set_dict = load_dict = set_state_dict


class ParallelStrategy:
    """How a job of 1.x is made of processes; what `prepare_context` gives."""

    def __init__(self) -> None:
        self.nranks, self.local_rank = 1, 0
        self.trainer_endpoints: list[str] = []
        self.current_endpoint = ""
        self.nrings = 1


def prepare_context(strategy: ParallelStrategy | None = None) -> ParallelStrategy:
    """Connects the processes of a job of 1.x: nothing, as there is one.

    Raises:
        WorldError: the environment says that there are several processes.
    """
    require_one_process()
    return ParallelStrategy() if strategy is None else strategy
