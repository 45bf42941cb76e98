"""Nested lists, tuples and dicts of values; unique names; small helpers of scripts: `run_check`, `try_import`, `deprecated`, DLPack."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .. import unique_name as unique_name
from ..errors import AttributeValueError
from ..missing_names import explain_missing as _explain_missing
from . import cpp_extension as cpp_extension
from . import dlpack as dlpack
from . import download as download
from .deprecation import deprecated as deprecated
from .install_check import run_check as run_check
from .lazy_import import try_import as try_import
from .versions import require_version as require_version


def _is_nested(x: Any) -> bool:
    return isinstance(x, dict) or (isinstance(x, Sequence) and not isinstance(x, (str, bytes)))


def flatten(nest: Any) -> list[Any]:
    """The entries of a nested structure in order; those of a dict in the order of its sorted keys.

    >>> flatten({"b": [1, (2, 3)], "a": 0})
    [0, 1, 2, 3]
    """
    if not _is_nested(nest):
        return [nest]
    entries = [nest[key] for key in sorted(nest)] if isinstance(nest, dict) else nest
    return [x for entry in entries for x in flatten(entry)]


def pack_sequence_as(structure: Any, flat_sequence: Sequence[Any]) -> Any:
    """A structure like another one, with these entries.

    Raises:
        AttributeValueError: it has another number of them.

    >>> pack_sequence_as([0, {"x": (1, 2)}], [7, 8, 9])
    [7, {'x': (8, 9)}]
    """
    count = len(flatten(structure))
    if count != len(flat_sequence):
        raise AttributeValueError(f"a structure of {count} entries cannot be made of {len(flat_sequence)}")
    return _packed(structure, iter(flat_sequence))


def _packed(structure: Any, entries: Iterator[Any]) -> Any:
    if not _is_nested(structure):
        return next(entries)
    if isinstance(structure, dict):
        found = {key: _packed(structure[key], entries) for key in sorted(structure)}
        return type(structure)((key, found[key]) for key in structure)
    children = [_packed(child, entries) for child in structure]
    return type(structure)(*children) if hasattr(structure, "_fields") else type(structure)(children)


def map_structure(func: Callable[..., Any], *structure: Any) -> Any:
    """What a function makes of the entries of structures of one kind, in such a structure.

    >>> map_structure(lambda a, b: a + b, {"x": [1, 2]}, {"x": [10, 20]})
    {'x': [11, 22]}
    """
    return pack_sequence_as(structure[0], [func(*entries) for entries in zip(*map(flatten, structure), strict=False)])


_explain_missing(__name__)
