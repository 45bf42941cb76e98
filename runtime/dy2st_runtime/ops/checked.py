"""`CheckedOp`: a record whose `infer` also checks the operands of the reference; `remembered`: what follows from sizes alone."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from .registry import OpDef, TensorType


class CheckedOp(OpDef):
    """The reference runs after `infer` on the exact types, so wrong shapes, dtypes and attributes raise the same
    error as while tracing, also where NumPy would broadcast them away. Operands of the same types are not checked again."""

    checks = True

    @classmethod
    def check_operands(cls, ins: tuple[Any, ...], attrs: dict[str, Any]) -> None:
        require_fit(cls, ins, attrs)


def require_fit(op: type[OpDef], ins: tuple[Any, ...], attrs: dict[str, Any]) -> None:
    """Raises what `infer` raises for inputs (arrays) of these types; it is asked once for each."""
    if len(ins) == 1 and type(x := ins[0]) is np.ndarray and not op.list_attrs:
        key: tuple[Any, ...] | None = (op, x.dtype, x.shape, *attrs, *attrs.values())
    else:
        key = _key(op, ins, attrs)
    try:
        known = key in _passed
    except TypeError:  # an attribute that cannot be looked up
        known, key = False, None
    if not known:
        op.infer_types(tuple([_type(v) for v in x] if isinstance(x, list) else _type(x) for x in ins), attrs)
        if key is not None:
            if len(_passed) >= REMEMBERED:
                _passed.clear()
            _passed[key] = True


REMEMBERED = 4096
"""So many results are remembered."""
_passed: dict[tuple[Any, ...], bool] = {}
"""What was checked and found right."""

F = TypeVar("F", bound=Callable[..., Any])


def remembered(function: F) -> F:
    """A function of sizes, names and dtypes, without effects: the reference of an op on small tensors would spend most of its time
    on sizes and axes that were the same the last time. Errors are raised anew each time. What it gets has one class at each place, so that
    what is equal is the same."""
    return functools.lru_cache(REMEMBERED)(function)  # type: ignore[return-value]


def _key(op: type[OpDef], ins: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[Any, ...] | None:
    """All that `infer` sees: the types of the inputs, names and values of the attributes. None where not all of it can be looked up."""
    key: list[Any] = [op]
    for x in ins:
        if type(x) is np.ndarray:
            key += x.dtype, x.shape
        elif x is None:
            key.append(None)
        elif type(x) is list:
            entries: list[Any] = []
            for v in x:
                if type(v) is not np.ndarray:
                    return None
                entries += v.dtype, v.shape
            key.append(tuple(entries))
        else:
            return None
    if not op.list_attrs:
        return (*key, *attrs, *attrs.values())
    return (*key, *attrs, *[tuple(value) if type(value) is list else value for value in attrs.values()])


def _type(x: Any) -> TensorType | None:
    return None if x is None else TensorType.of(x)
