"""Ops that make constants, and the values they make."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import Location
from ..ir.program import Operator
from ..ops import registry
from ..ops.fill import assign_value_attrs

LIMIT = 1024
"""Most elements of a constant that passes make or look at."""


def value_of(op: Operator) -> np.ndarray | None:
    """What an op without inputs makes, if it is a constant of bounded size."""
    if op.type not in ("fill_constant", "assign_value") or op.input_names:
        return None
    size = 1
    for d in op.attrs["shape"]:
        size *= d
    if not 0 <= size <= LIMIT:
        return None
    return op.record.run_reference(tuple([] if s.many else None for s in op.record.input_slots), op.attrs)[0]


def fill_value(op: Operator | None) -> Any:
    """The one value of a tensor that an op fills with it, whatever its shape; None if it is no such op."""
    if op is None or (op.type == "fill_constant" and op.input("ValueTensor")):
        return None
    if op.type in ("fill_constant", "fill_any_like"):
        return None if op.attrs.get("str_value") else op.attrs["value"]
    return 0.0 if op.type == "fill_zeros_like" else None


def constant_op(value: np.ndarray, out: str, location: Location | None) -> Operator:
    """The op that makes an array."""
    name = value.dtype.name
    elements = value.reshape(-1)
    uniform = value.size > 0 and elements.tobytes() == elements[:1].tobytes() * value.size
    if uniform:
        one = elements[0].item()
        text = str(one) if isinstance(one, int) and int(float(one)) != one else ""
        given: dict[str, Any] = {"shape": list(value.shape), "dtype": name, "value": float(one), "str_value": text}
        kind = "fill_constant"
    else:
        given, kind = assign_value_attrs(value), "assign_value"
    return Operator(kind, {}, {"Out": [out]}, registry.get(kind).complete_attrs(given), location)
