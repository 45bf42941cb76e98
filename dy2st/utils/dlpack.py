"""Tensors of other libraries, by DLPack: NumPy does the work. dy2st's tensors share memory with nobody, so the values are copied."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import AttributeValueError, DTypeError
from ..missing_names import explain_missing as _explain_missing
from ..tensor import Tensor
from ..tensor.creation import to_tensor


class _OfCapsule:
    """A capsule as an object that NumPy asks for it."""

    def __init__(self, capsule: Any):
        self._capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0  # the CPU


def to_dlpack(x: Tensor) -> Any:
    """A capsule with a copy of a tensor, for `from_dlpack` of another library.

    Raises:
        DTypeError: x is no Tensor.
    """
    if not isinstance(x, Tensor):
        raise DTypeError(f"to_dlpack takes a Tensor, got {type(x).__name__}")
    return np.array(x.numpy()).__dlpack__()


def from_dlpack(dlpack: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor with a copy of an array of another library.

    Args:
        dlpack: an object with `__dlpack__` (an array of NumPy, a tensor of PyTorch on the CPU), or a capsule that was not used yet.
        device: the CPU, or None.
        copy: None or True.

    Raises:
        AttributeValueError: `copy` is False, or the object is of another kind, or on another device.

    >>> import numpy as np
    >>> from_dlpack(np.arange(3)).tolist()
    [0, 1, 2]
    """
    if copy is False:
        raise AttributeValueError("a tensor shares memory with nobody: copy=False cannot be had")
    if isinstance(dlpack, Tensor):
        return to_tensor(dlpack)
    is_capsule = type(dlpack).__name__ == "PyCapsule"
    if not is_capsule and not hasattr(dlpack, "__dlpack__"):
        raise AttributeValueError(f"{type(dlpack).__name__} has no __dlpack__, and is no capsule")
    try:
        array = np.from_dlpack(_OfCapsule(dlpack) if is_capsule else dlpack)
    except (BufferError, RuntimeError, ValueError, TypeError) as error:
        raise AttributeValueError(f"it cannot be read by DLPack: {error}") from None
    return to_tensor(np.array(array), place=device)


_explain_missing(__name__)
