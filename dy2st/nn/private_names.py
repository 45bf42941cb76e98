"""Settings of layers under the names that PaddlePaddle keeps them by, which programs of others read and set.

`conv._groups` is `conv.groups`, and `pool.ksize` what `MaxPool2D` was given as `kernel_size`. What is set under one name is there under
the other.
"""

from __future__ import annotations

import inspect
from typing import Any

from .activation import Activation
from .common import Embedding, Linear
from .conv import _Conv
from .functional.conv import pair
from .layer import Layer
from .norm import BatchNorm, GroupNorm, LayerNorm, _BatchNorm, _InstanceNorm
from .pooling import Pooling

# the names without the underscore in front
_SETTINGS: dict[type[Layer], str] = {
    _Conv: "in_channels out_channels kernel_size padding padding_mode groups data_format",
    _BatchNorm: "num_features momentum epsilon data_format use_global_stats",
    BatchNorm: "momentum epsilon data_layout use_global_stats is_test act trainable_statistics",
    _InstanceNorm: "num_features momentum epsilon data_format",
    LayerNorm: "normalized_shape epsilon",
    GroupNorm: "num_groups num_channels epsilon data_format",
    Linear: "in_features out_features",
    Embedding: "num_embeddings embedding_dim padding_idx",
}


def _setting(name: str) -> property:
    return property(lambda self: getattr(self, name), lambda self, value: setattr(self, name, value))


def _numbers(name: str) -> property:
    """A setting that PaddlePaddle keeps as a list, with a number for each dim."""
    return property(lambda self: pair(getattr(self, name), name, self.rank), lambda self, value: setattr(self, name, value))


def _argument(name: str, default: Any) -> property:
    """A setting among those that a layer hands to its function."""
    return property(lambda self: self._arguments.get(name, default), lambda self, value: self._arguments.update({name: value}))


def _install(base: type[Activation]) -> None:
    """Gives the layers that call a function its arguments as attributes."""
    for cls in base.__subclasses__():
        _install(cls)
        if "function" not in vars(cls):
            continue
        for argument in [*inspect.signature(cls.function).parameters.values()][1:]:
            if argument.name in ("name", "dtype"):  # each layer has a dtype, which is that of its parameters
                continue
            names = [f"_{argument.name}"]
            if issubclass(cls, Pooling):
                names += [argument.name] + ["ksize"] * (argument.name == "kernel_size")
            for name in names:
                setattr(cls, name, _argument(argument.name, argument.default))


for _cls, _names in _SETTINGS.items():
    for _name in _names.split():
        setattr(_cls, f"_{_name}", _setting(_name))
for _name in ("stride", "dilation"):
    setattr(_Conv, f"_{_name}", _numbers(_name))
_install(Activation)
