"""The names that generated CPU source may use."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .. import dtype as dt
from . import mathlib, native, routines, scalars, symbols, values


@functools.cache
def namespace() -> dict[str, Any]:
    """Each name with what it stands for: an `Instruction`, a function in the language of `scalars`, a NumPy type that casts, a number."""
    names: dict[str, Any] = {**native.LOADS, **native.STORES, **native.SUMS, **native.OF_SIZES, **mathlib.FUNCTIONS, **routines.callers()}
    names.update({name: getattr(np, name) for name in ("float32", "float64", *dt.INTS)})
    names[scalars.INDEPENDENT] = range
    names.update(checked=native.checked, room=native.room, inf=np.inf, nan=np.nan)
    return names


def names_of(source: str) -> dict[str, Any]:
    """What a source may use besides: the custom kernels that it calls."""
    return {f"call_{name}": values.external(symbols.symbol(name)) for name in routines.custom(routines.called([source]))}
