"""Tensors in other dtypes."""

from __future__ import annotations

import functools
from typing import Any

from dy2st_runtime.ops import registry
from dy2st_runtime.ops.registry import OpDef

from .dispatch import ops
from .kinds import require_exact, resolved
from .tensor import Tensor


def cast(x: Tensor, dtype: str) -> Tensor:
    """x in another dtype, as an op; x itself if it has it already."""
    if x._kinds is not None:  # whatever it is, it becomes this
        require_exact(x, dtype)
        x = resolved(x)
    return x if x.dtype == dtype else converted(x, dtype)


def converted(x: Tensor, dtype: str) -> Tensor:
    """x in a dtype, as an op also where it has it already."""
    op, attrs = _conversion(x.dtype, dtype)
    return ops.apply(op, (x,), attrs)[0]


@functools.cache
def _conversion(given: str, wanted: str) -> tuple[type[OpDef], dict[str, Any]]:
    """The record of `cast` and all its attributes."""
    op = registry.get("cast")
    return op, op.complete_attrs({"in_dtype": given, "out_dtype": wanted})
