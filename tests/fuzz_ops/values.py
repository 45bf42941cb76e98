"""The arrays of a program, each by a description that its text can hold: (dtype, shape, kind, seed)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Description = tuple[str, Sequence[int], str, int]


def array(dtype: str, shape: Sequence[int], kind: str, seed: int) -> np.ndarray:
    """What a description says.

    Args:
        kind: "normal", "positive", "ties" (small whole numbers), "large", "special" (NaN, infinities and zeros among normal numbers),
            "mask" (0 and 1), "index:N" (indices below N) or "wrapping:N" (indices from -N to N - 1).
    """
    rng = np.random.default_rng(seed)
    name, _, bound = kind.partition(":")
    if bound:
        n = max(int(bound), 1)  # of an axis without elements there is no index: eager mode says so
        return np.asarray(rng.integers(-n if name == "wrapping" else 0, n, shape)).astype(dtype)
    if kind == "mask" or dtype == "bool":
        return np.asarray(rng.random(shape) < 0.6).astype(dtype)
    if dtype.startswith("int") or kind == "ties":
        return np.asarray(rng.integers(-3, 4, shape)).astype(dtype)
    found = np.asarray(rng.standard_normal(shape))
    if kind == "positive":
        found = np.abs(found) + 0.25
    elif kind == "large":
        found = found * 1000
    elif kind == "special":
        flat = found.reshape(-1)
        for value in (np.nan, np.inf, -np.inf, 0.0):
            if flat.size and rng.random() < 0.7:
                flat[rng.integers(flat.size)] = value
    return np.asarray(found).astype(dtype)
