"""What methods of tensors do entry by entry, as Python that is converted with the code that uses it."""

from __future__ import annotations

from typing import Any

DEPTH = 3
"""With so many dims `tolist` can be traced."""


def tolist(x: Any) -> Any:
    """`x.tolist()`: a list for each dim, of Python numbers."""
    if x.ndim == 0:
        return x.item()
    if x.ndim == 1:
        return [v.item() for v in x]
    if x.ndim == 2:
        return [[v.item() for v in row] for row in x]
    return [[[v.item() for v in row] for row in rows] for rows in x]
