"""Methods and attributes of tensors that PaddlePaddle 3 has under names of other frameworks too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import attribute, logic, manipulation, math, promotion, scaling
from .inplace import rebind
from .tensor import Tensor


class Device(str):
    """What `Tensor.device` is: the text "cpu", with a type and no index. Eager values are on the host."""

    __slots__ = ()
    index = None  # type: ignore[assignment]

    @property
    def type(self) -> str:
        """The kind of device."""
        return str(self)


def permute(x: Tensor, *perm: Any) -> Tensor:
    """`transpose`; the axes are a list, or arguments each.

    >>> permute(Tensor([[1, 2]]), 1, 0).shape
    [2, 1]
    """
    return manipulation.transpose(x, _several(perm))


def repeat(x: Tensor, *repeats: Any) -> Tensor:
    """`tile`; the numbers of repetitions are a list, or arguments each.

    >>> repeat(Tensor([1, 2]), 2).numpy()
    array([1, 2, 1, 2])
    """
    return manipulation.tile(x, _several(repeats))


def _several(values: tuple[Any, ...]) -> Any:
    return values[0] if len(values) == 1 and not isinstance(values[0], int) else list(values)


def sub(x: Tensor, y: Any, alpha: Any = 1) -> Tensor:
    """x - alpha * y.

    >>> sub(Tensor([3]), Tensor([1]), alpha=2).numpy()
    array([1])
    """
    return math.subtract(x, y if type(alpha) is int and alpha == 1 else math.multiply(y, alpha))


def ravel(x: Tensor) -> Tensor:
    """All elements in a row, as a 1-d Tensor."""
    return manipulation.reshape(x, [-1])


def strides(x: Tensor) -> list[Any]:
    """How many elements further the next one along each axis is. All tensors have their elements in the order of rows."""
    found, step = [], 1
    for n in reversed(attribute.sizes(x)):
        found.append(step)
        step = step * n
    return found[::-1]


def stride(x: Tensor, dim: int | None = None) -> Any:
    """The strides as a tuple, or that of an axis; see `strides`.

    >>> stride(Tensor([[1, 2], [3, 4]]))
    (2, 1)
    """
    found = strides(x)
    return tuple(found) if dim is None else found[dim]


def apply(x: Tensor, func: Callable[[Tensor], Tensor]) -> Tensor:
    """`func(x)`, of a tensor that needs no gradient.

    A static function does not convert `func`: `if` on a tensor in it is an error there; write `func(x)`.

    Raises:
        RuntimeError: the tensor needs a gradient.

    >>> apply(Tensor([1.0]), lambda x: x + 1).numpy()
    array([2.], dtype=float32)
    """
    if not x.stop_gradient:
        raise RuntimeError("apply() of a tensor that needs a gradient: write func(x)")
    return func(x)


def _in(dtype: str) -> Callable[[Tensor], Tensor]:
    def method(x: Tensor) -> Tensor:
        return promotion.cast(x, dtype)

    method.__doc__ = f"The tensor as {dtype}."
    return method


def _set_data(x: Tensor, value: Tensor) -> None:
    rebind(x, value)


def _set_requires_grad(x: Tensor, needed: bool) -> None:
    x.stop_gradient = not needed


_DTYPES = {
    "bool": "bool", "short": "int16", "int": "int32", "long": "int64", "half": "float16", "float": "float32", "double": "float64",
    **{dtype: dtype for dtype in ("uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")},
}  # fmt: skip

METHODS: dict[str, Any] = {
    **{name: _in(dtype) for name, dtype in _DTYPES.items()},
    "permute": permute, "repeat": repeat, "sub": sub, "ravel": ravel, "stride": stride, "get_strides": strides, "apply": apply,
    "eq": logic.equal, "clamp": scaling.clip, "reverse": manipulation.flip,
    "value": lambda self: self, "contiguous": lambda self: self, "is_contiguous": lambda self: True,
    "get_device": lambda self: -1,
    "strides": attribute.read_by_name("strides", strides),
    "device": attribute.read_by_name("device", lambda self: Device("cpu")),
    "mT": attribute.read_by_name("mT", lambda self: manipulation.swapaxes(self, -1, -2)),
    "data": attribute.read_by_name("data", lambda self: self).setter(_set_data),
    "requires_grad": attribute.read_by_name("requires_grad", lambda self: not self.stop_gradient).setter(_set_requires_grad),
}  # fmt: skip
