"""`CheckedOp`: a record whose `infer` also checks the operands of the reference."""

from __future__ import annotations

from typing import Any

from .registry import OpDef, TensorType


class CheckedOp(OpDef):
    """The reference runs after `infer` on the exact types, so wrong shapes, dtypes and attributes raise the same
    error as while tracing, also where NumPy would broadcast them away. For ops whose work outweighs the check."""

    @classmethod
    def run_reference(cls, ins: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[Any, ...]:
        cls.infer_types(tuple([_type(v) for v in x] if isinstance(x, list) else _type(x) for x in ins), attrs)
        return super().run_reference(ins, attrs)


def _type(x: Any) -> TensorType | None:
    return None if x is None else TensorType.of(x)
