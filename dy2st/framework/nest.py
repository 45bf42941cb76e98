"""Nested containers of values: taken apart and put together again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def flatten(structure: Any) -> list[Any]:
    """The leaves of nested lists, tuples and dicts, in order.

    >>> flatten([1, (2, {"a": 3}), []])
    [1, 2, 3]
    """
    if isinstance(structure, (list, tuple)):
        return [leaf for item in structure for leaf in flatten(item)]
    if isinstance(structure, Mapping):
        return [leaf for item in structure.values() for leaf in flatten(item)]
    return [structure]


def pack(like: Any, leaves: Iterator[Any]) -> Any:
    """A structure like another, with other leaves.

    >>> pack([1, (2, {"a": 3})], iter("xyz"))
    ['x', ('y', {'a': 'z'})]
    """
    if isinstance(like, tuple) and hasattr(like, "_fields"):
        return type(like)(*(pack(item, leaves) for item in like))
    if isinstance(like, (list, tuple)):
        return type(like)(pack(item, leaves) for item in like)
    if isinstance(like, Mapping):
        return {key: pack(item, leaves) for key, item in like.items()}
    return next(leaves)


def shape_of(structure: Any) -> str:
    """A structure as text, for error messages: `(tensor, [tensor, None])`.

    >>> shape_of((1, [2.0, None], {"a": 3}))
    '(value, [value, None], {a: value})'
    """
    if isinstance(structure, tuple):
        return f"({', '.join(map(shape_of, structure))}{',' if len(structure) == 1 else ''})"
    if isinstance(structure, list):
        return f"[{', '.join(map(shape_of, structure))}]"
    if isinstance(structure, Mapping):
        return "{" + ", ".join(f"{key}: {shape_of(item)}" for key, item in structure.items()) + "}"
    return "None" if structure is None else "value"
