"""Dtypes: names, PaddlePaddle's codes, NumPy equivalents and promotion.

A dtype is named by its NumPy name ("float32"); `bfloat16` is left for later.
"""

from __future__ import annotations

import numpy as np

from .errors import DTypeError

# name -> code in framework.proto's VarType.Type
CODES = {
    "bool": 0,
    "int16": 1,
    "int32": 2,
    "int64": 3,
    "float16": 4,
    "float32": 5,
    "float64": 6,
    "uint8": 20,
    "int8": 21,
}
NAMES = {code: name for name, code in CODES.items()}
FLOATS = ("float16", "float32", "float64")
INTS = ("uint8", "int8", "int16", "int32", "int64")
ALL = tuple(CODES)


def canonical(dtype: object) -> str:
    """The name of a dtype given as a name, a NumPy dtype or type, a Python type, or a Paddle code.

    >>> canonical(float), canonical("float32"), canonical(np.int64), canonical(5)
    ('float32', 'float32', 'int64', 'float32')
    """
    if type(dtype) is str and dtype in CODES:
        return dtype
    if dtype is float:
        return "float32"  # Paddle's default for Python floats; Tensor.__init__ applies set_default_dtype
    if dtype is int:
        return "int64"
    if dtype is bool:
        return "bool"
    if isinstance(dtype, (int, np.integer)) and not isinstance(dtype, bool):
        if int(dtype) in NAMES:
            return NAMES[int(dtype)]
        raise DTypeError(f"{dtype} is not the code of a supported dtype")
    if hasattr(type(dtype), "astype"):
        raise DTypeError("a tensor, an array or a number is no dtype", hint="give the dtype of it: x.dtype")
    name = getattr(dtype, "name", None) or (dtype if isinstance(dtype, str) else None)
    if name is None:
        try:
            name = np.dtype(dtype).name  # type: ignore[call-overload]
        except TypeError:
            name = repr(dtype)
    name = str(name).rpartition(".")[2]
    name = {"float": "float32", "int": "int64", "double": "float64", "half": "float16"}.get(name, name)
    if name not in CODES:
        raise DTypeError(f"dtype {name!r} is not supported", hint="use one of " + ", ".join(ALL))
    return name


def widened(name: str) -> str:
    """The dtype in which a dtype is computed: float16 in float32, as the generated code does."""
    return "float32" if name == "float16" else name


def to_numpy(name: str) -> np.dtype:
    return np.dtype(name)


_names: dict[np.dtype, str] = {}


def name_of(array: np.ndarray) -> str:
    """The name of an array's dtype. NumPy puts it together anew each time, which takes as long as adding two small arrays."""
    try:
        return _names[array.dtype]
    except KeyError:
        return _names.setdefault(array.dtype, array.dtype.name)


def as_dtype(array: np.ndarray, name: str) -> np.ndarray:
    """The array in a dtype; the array itself if it has it."""
    return array if name_of(array) == name else array.astype(name)


def is_float(name: str) -> bool:
    return name in FLOATS


def is_int(name: str) -> bool:
    return name in INTS


def size(name: str) -> int:
    """Bytes of one element."""
    return np.dtype(name).itemsize


def promote(a: str, b: str) -> str:
    """The dtype of an operation on tensors of two dtypes: the wider within a kind; bool < int < float.

    >>> promote("int64", "float32"), promote("float32", "float64"), promote("bool", "int32")
    ('float32', 'float64', 'int32')
    """
    if a == b:
        return a
    if is_float(a) and is_float(b):
        return a if size(a) > size(b) else b
    if is_float(a):
        return a
    if is_float(b):
        return b
    if a == "bool":
        return b
    if b == "bool":
        return a
    return np.promote_types(a, b).name
