"""The default dtype of floating-point tensors."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from dy2st_runtime import dtype as _dtype

from ..errors import DTypeError

_default = "float32"


def set_default_dtype(d: object) -> None:
    """Sets the dtype that Python floats and new parameters get: float16, float32 or float64.

    Raises:
        DTypeError: another dtype.
    """
    global _default
    name = _dtype.canonical(d)
    if not _dtype.is_float(name):
        raise DTypeError(f"the default dtype must be a floating-point dtype, got {name}")
    _default = name


def get_default_dtype() -> str:
    """The dtype that Python floats and new parameters get.

    >>> get_default_dtype()
    'float32'
    """
    return _default


@contextlib.contextmanager
def default_dtype(d: object) -> Iterator[None]:
    """Another default dtype until the end of the block.

    >>> with default_dtype("float64"):
    ...     get_default_dtype()
    'float64'
    """
    before = _default
    set_default_dtype(d)
    try:
        yield
    finally:
        set_default_dtype(before)


def convert_dtype(d: object) -> str:
    """The name of a dtype given in any form; Python's `float` is the default dtype."""
    return _default if d is float else _dtype.canonical(d)
