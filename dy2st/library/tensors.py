"""What functions and methods of tensors do entry by entry, as Python that is converted with the code that uses it."""

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


def products(x: Any) -> list:
    """The rows of `cumprod(x, 0)`, for at least one row."""
    total, found = x[0], []
    for row in x[1:]:
        found.append(total)
        total = total * row
    found.append(total)
    return found
