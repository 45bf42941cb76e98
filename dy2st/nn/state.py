"""The state of a layer as a dict of names, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import Dy2stError, StateDictError
from ..framework.io import NAME_TABLE
from ..tensor import Tensor
from ..tensor.tensor import to_array

if TYPE_CHECKING:
    from .layer import Layer


def collect(layer: Layer, into: dict[str, Tensor], deep: bool, prefix: str) -> None:
    """Adds the parameters and persistable buffers of a layer, and if `deep` those of its sublayers, to a dict."""
    own = [(layer, prefix)]
    while own:
        one, lead = own.pop(0)
        for name, p in one._parameters.items():
            if p is not None:
                into[lead + name] = p
        for name, b in one._buffers.items():
            if b is not None and name not in one._non_persistable_buffer_names_set:
                into[lead + name] = b
        if deep:
            inner = [(sub, f"{lead}{name}.") for name, sub in one._sub_layers.items() if sub is not None]
            own = inner + own


def load(layer: Layer, given: Any, structured: bool) -> tuple[list[str], list[str]]:
    """Sets parameters and buffers of a layer to the values of a dict.

    Args:
        layer: what is changed.
        given: name → Tensor, array, or list of numbers.
        structured: the names are dotted, else those of the tensors.

    Returns:
        the names that are missing in the dict, and those that are in it but not in the layer.

    Raises:
        StateDictError: a value does not fit. All are looked at before the first is set.
    """
    if not isinstance(given, Mapping):
        raise StateDictError(f"a state dict must be a dict, got {type(given).__name__}")
    values = {k: v for k, v in given.items() if k != NAME_TABLE}
    own = {(k if structured else t.name): t for k, t in layer.state_dict().items()}
    fitting: list[tuple[Tensor, Any]] = []
    for name, t in own.items():
        if name in values:
            fitting.append((t, fit(name, values[name], t, "layer")))
    for t, value in fitting:
        t.set_value(value)
    return [name for name in own if name not in values], [name for name in values if name not in own]


def fit(name: str, value: Any, t: Tensor, owner: str) -> Any:
    """The value of a state dict for a tensor, an array in the tensor's dtype or a Tensor.

    Raises:
        StateDictError: it is no array of numbers, or of another shape.
    """
    try:
        new = value if isinstance(value, Tensor) else to_array(value, t.dtype)
    except Dy2stError as error:
        raise StateDictError(f"{name!r} in the state dict: {error.message}") from None
    there = list((new._value if isinstance(new, Tensor) else new).shape)
    if there != list(t._form.shape):
        raise StateDictError(f"{name!r} has shape {there} in the state dict, {list(t._form.shape)} in the {owner}")
    return new
