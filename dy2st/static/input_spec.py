"""`InputSpec`: what a tensor argument is, without a value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import FeedError, ShapeError
from ..framework.dtype import convert_dtype
from ..tensor import Tensor
from ..tensor.random import STATE_NAME


def sizes(shape: Any, what: str) -> list[int]:
    """A declared shape as ints, -1 for None.

    Raises:
        ShapeError: an entry is neither None nor an integer of at least -1.
    """
    given = list(shape) if isinstance(shape, (list, tuple)) else [shape]
    found = [-1 if d is None else d for d in given]
    if any(isinstance(d, bool) or not isinstance(d, (int, np.integer)) or d < -1 for d in found):
        raise ShapeError(f"{what} cannot have the shape {shape!r}", hint="give a list of sizes; None stands for any size")
    return [int(d) for d in found]


class InputSpec:
    """What a tensor argument is: its shape with None (or -1) for open dims, its dtype and its name.

    Args:
        shape: ints and Nones.
        dtype: default: float32; an argument of another dtype is then traced with its own, as in PaddlePaddle.
        name: of the input in the Program, as it is; default: the name of the argument, with `_` for what no name has.

    Raises:
        ShapeError: the shape has something else in it.
        FeedError: the name is that of the random generator's state.

    >>> InputSpec([None, 784], "float32", "image")
    InputSpec(shape=[None, 784], dtype=float32, name=image)
    """

    def __init__(self, shape: Sequence[int | None], dtype: Any = None, name: str | None = None,
                 stop_gradient: bool = True) -> None:  # fmt: skip
        if name == STATE_NAME:
            raise FeedError(f"an input cannot be named {name!r}: this is the state of the random generator", hint="give it another name")
        self.shape = tuple(sizes(shape, "an InputSpec"))
        self.dtype, self.name, self.stop_gradient = convert_dtype("float32" if dtype is None else dtype), name, stop_gradient
        self.any_dtype = dtype is None

    @staticmethod
    def from_tensor(tensor: Tensor, name: str | None = None) -> InputSpec:
        """The spec of a tensor like this one, of this very shape."""
        return InputSpec(tensor.shape, tensor.dtype, name, tensor.stop_gradient)

    @staticmethod
    def from_numpy(ndarray: np.ndarray, name: str | None = None) -> InputSpec:
        """The spec of an array like this one, of this very shape."""
        return InputSpec(ndarray.shape, ndarray.dtype, name)

    def batch(self, batch_size: int | None) -> InputSpec:
        """Adds a first dim."""
        self.shape = (-1 if batch_size is None else batch_size, *self.shape)
        return self

    def unbatch(self) -> InputSpec:
        """Drops the first dim."""
        self.shape = self.shape[1:]
        return self

    def __repr__(self) -> str:
        shape = [None if d == -1 else d for d in self.shape]
        return f"InputSpec(shape={shape}, dtype={self.dtype}, name={self.name})"
