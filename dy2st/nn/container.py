"""Layers that hold layers or parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..tensor import Parameter
from .layer import Layer


class Sequential(Layer):
    """Calls layers one after the other.

    Args:
        layers: layers, or (name, layer) pairs.

    >>> from dy2st import nn
    >>> len(Sequential(nn.Linear(2, 3), nn.ReLU()))
    2
    """

    def __init__(self, *layers: Any) -> None:
        super().__init__()
        if len(layers) == 1 and isinstance(layers[0], list):
            layers = tuple(layers[0])
        for i, layer in enumerate(layers):
            if isinstance(layer, tuple):
                self.add_sublayer(layer[0], layer[1])
            else:
                self.add_sublayer(str(i), layer)

    def forward(self, input: Any) -> Any:
        for layer in self._sub_layers.values():
            input = layer(input)
        return input

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(*list(self._sub_layers.items())[index])
        if isinstance(index, str):
            return self._sub_layers[index]
        return list(self._sub_layers.values())[index]

    def __setitem__(self, index: Any, layer: Layer) -> None:
        name = index if isinstance(index, str) else list(self._sub_layers)[index]
        setattr(self, name, layer)

    def __delitem__(self, index: Any) -> None:
        del self._sub_layers[index if isinstance(index, str) else list(self._sub_layers)[index]]

    def __len__(self) -> int:
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[Layer]:
        return iter(self._sub_layers.values())

    def append(self, layer: Layer) -> Sequential:
        """Adds a layer at the end."""
        number = len(self)
        while str(number) in self._sub_layers:  # after a deletion the names have a gap, and are in use beyond it
            number += 1
        self.add_sublayer(str(number), layer)
        return self


class LayerList(Layer):
    """A list of layers whose parameters the owner sees; `layers["0"]` is `layers[0]`."""

    def __init__(self, sublayers: Iterable[Layer] | None = None) -> None:
        super().__init__()
        self.extend(sublayers or ())

    def _require(self, index: Any) -> None:
        count = len(self)
        if not -count <= index < count:
            raise IndexError(f"index {int(index)} is out of range for a LayerList of {count}")

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self._sub_layers.values())[index])
        if isinstance(index, str):
            return self._sub_layers[index]
        self._require(index)
        return list(self._sub_layers.values())[index]

    def __setitem__(self, index: int | str, layer: Layer) -> None:
        at = int(index)
        self._require(at)
        self.add_sublayer(list(self._sub_layers)[at], layer)

    def __delitem__(self, index: Any) -> None:
        layers = list(self._sub_layers.values())
        del layers[int(index) if isinstance(index, str) else index]
        self._replace(layers)

    def _replace(self, layers: list[Layer]) -> None:
        self._sub_layers.clear()
        self.extend(layers)

    def __len__(self) -> int:
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[Layer]:
        return iter(self._sub_layers.values())

    def append(self, sublayer: Layer) -> LayerList:
        """Adds a layer at the end."""
        self.add_sublayer(str(len(self)), sublayer)
        return self

    def extend(self, sublayers: Iterable[Layer]) -> LayerList:
        """Adds layers at the end."""
        for layer in sublayers:
            self.append(layer)
        return self

    def insert(self, index: int, sublayer: Layer) -> None:
        """Adds a layer before the one at `index`."""
        layers = list(self._sub_layers.values())
        layers.insert(index, sublayer)
        self._replace(layers)


class LayerDict(Layer):
    """A dict of layers whose parameters the owner sees."""

    def __init__(self, sublayers: Any = None) -> None:
        super().__init__()
        if sublayers is not None:
            self.update(sublayers)

    def __getitem__(self, key: str) -> Layer:
        return self._sub_layers[key]

    def __setitem__(self, key: str, layer: Layer) -> None:
        self.add_sublayer(key, layer)

    def __delitem__(self, key: str) -> None:
        del self._sub_layers[key]

    def __len__(self) -> int:
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[str]:
        return iter(self._sub_layers)

    def __contains__(self, key: str) -> bool:
        return key in self._sub_layers

    def keys(self) -> Iterable[str]:
        return self._sub_layers.keys()

    def values(self) -> Iterable[Layer]:
        return self._sub_layers.values()

    def items(self) -> Iterable[tuple[str, Layer]]:
        return self._sub_layers.items()

    def pop(self, key: str) -> Layer:
        """Takes a layer out and returns it."""
        return self._sub_layers.pop(key)

    def clear(self) -> None:
        self._sub_layers.clear()

    def update(self, sublayers: Any) -> None:
        """Adds the layers of a dict, or of (name, layer) pairs."""
        for key, layer in sublayers.items() if hasattr(sublayers, "items") else sublayers:
            self[key] = layer


class ParameterList(Layer):
    """A list of parameters that the owner sees."""

    def __init__(self, parameters: Iterable[Parameter] | None = None) -> None:
        super().__init__()
        for p in parameters or ():
            self.append(p)

    def __getitem__(self, index: int) -> Parameter:
        return list(self._parameters.values())[index]

    def __setitem__(self, index: int, parameter: Parameter) -> None:
        setattr(self, list(self._parameters)[index], parameter)

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Parameter]:
        return iter(self._parameters.values())

    def append(self, parameter: Parameter) -> ParameterList:
        """Adds a parameter at the end."""
        self.add_parameter(str(len(self)), parameter)
        return self
