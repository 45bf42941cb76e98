"""Checks of what is fed."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dims
from ..errors import FeedError
from ..ir.program import Variable


def check_feed(v: Variable, value: Any) -> np.ndarray:
    """The value as a C-contiguous array; FeedError if dtype or shape do not fit the variable."""
    array = np.asarray(value)
    if array.dtype.name != v.dtype:
        raise FeedError(f"feed {v.name!r} has dtype {array.dtype.name}, the program expects {v.dtype}",
                        hint=f"pass array.astype({v.dtype!r})", location=v.info.get("location"))  # fmt: skip
    if array.ndim != len(v.shape) or any(d not in (-1, n) for d, n in zip(v.shape, array.shape, strict=True)):
        raise FeedError(f"feed {v.name!r} has shape {dims.show(array.shape)}, the program expects {dims.show(v.shape)}",
                        location=v.info.get("location"))  # fmt: skip
    return np.require(array, requirements=("C", "A"))
