"""Parameter files: PaddlePaddle's layout of tensors, read with every size checked before anything is allocated."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from .. import dtype
from ..errors import FormatError
from .framework_proto import TensorDesc
from .opening import open_regular

MAX_RANK = 64  # NumPy's own limit
_MAX_DESCRIPTOR = 4096


def write_tensor(file: Any, array: np.ndarray) -> None:
    """Appends one tensor: version, no LoD, version, descriptor, data in C order, little endian."""
    name = dtype.canonical(array.dtype)
    desc = TensorDesc(data_type=dtype.CODES[name], dims=array.shape).SerializeToString()
    file.write(struct.pack("<IQIi", 0, 0, 0, len(desc)))
    file.write(desc)
    data = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    file.write(data.reshape(-1).view(np.uint8).data)


def read_tensor(file: Any, remaining: int, what: str) -> tuple[np.ndarray, int]:
    """Reads one tensor from a file that has `remaining` bytes left.

    Returns:
        the array and the bytes left after it.

    Raises:
        FormatError: truncated or malformed; nothing larger than what the file holds is ever allocated.
    """

    def take(count: int) -> bytes:
        nonlocal remaining
        if count > remaining:
            raise FormatError(f"{what}: the file ends {count - remaining} bytes early")
        data = file.read(count)
        if len(data) != count:
            raise FormatError(f"{what}: the file ends {count - len(data)} bytes early")
        remaining -= count
        return data

    (version,) = struct.unpack("<I", take(4))
    if version != 0:
        raise FormatError(f"{what}: tensor version {version} is not supported")
    (levels,) = struct.unpack("<Q", take(8))
    for _ in range(levels):  # each level takes at least 8 bytes, so a huge count ends with the file
        (size,) = struct.unpack("<Q", take(8))
        take(size)
    (version, size) = struct.unpack("<Ii", take(8))
    if version != 0:
        raise FormatError(f"{what}: tensor version {version} is not supported")
    if not 0 <= size <= _MAX_DESCRIPTOR:
        raise FormatError(f"{what}: a tensor descriptor of {size} bytes")
    try:
        desc = TensorDesc.FromString(take(size))
    except DecodeError as error:
        raise FormatError(f"{what}: malformed tensor descriptor: {error}") from None
    name = dtype.NAMES.get(desc.data_type)
    if name is None:
        raise FormatError(f"{what}: data type {desc.data_type} is not supported")
    if len(desc.dims) > MAX_RANK or any(d < 0 for d in desc.dims):
        raise FormatError(f"{what}: malformed shape {list(desc.dims)[:MAX_RANK]}")
    count = 1
    for d in desc.dims:
        count *= d
    data = take(count * dtype.size(name))
    raw = np.dtype(name).newbyteorder("<")
    try:
        array = np.frombuffer(data, dtype=raw).reshape(tuple(desc.dims))
    except ValueError as error:  # a zero beside sizes whose product overflows
        raise FormatError(f"{what}: malformed shape {list(desc.dims)}: {error}") from None
    if name == "bool" and count and np.frombuffer(data, np.uint8).max() > 1:
        raise FormatError(f"{what}: a bool is neither 0 nor 1")
    return array.astype(np.dtype(name)), remaining


def write_params(file: Any, params: Mapping[str, np.ndarray]) -> None:
    """All tensors one after the other, in sorted order of their names, as a `.pdiparams` file has them."""
    for name in sorted(params):
        write_tensor(file, params[name])


def read_params(
    path: str, names: Iterable[str], wrap: Callable[[Any], Any] = lambda file: file, at: Callable[[str], str] = lambda path: path
) -> dict[str, np.ndarray]:
    """Reads a combined parameter file.

    Args:
        path: the file.
        names: names of the tensors in it, in any order: the file holds them in sorted order, without names.
        wrap: given the open file, returns what to read from (to sum up its bytes, say).
        at: where the file is, as it may be being moved into place (`settled`).

    Raises:
        FormatError: truncated, malformed, or with bytes left over.
    """
    with open_regular(at(path)) as file:
        remaining = os.fstat(file.fileno()).st_size
        source = wrap(file)
        result = {}
        for name in sorted(names):
            result[name], remaining = read_tensor(source, remaining, f"{path}, tensor {name!r}")
        if remaining:
            raise FormatError(f"{path}: {remaining} bytes follow the last of {len(result)} tensors",
                              hint="the parameter file belongs to another program")  # fmt: skip
    return result


def inside(folder: str, name: str) -> str:
    """The path of a file in a folder; a name that would lead out of it is refused, also through links."""
    path = os.path.join(folder, name)
    root = os.path.realpath(folder)
    if (
        not name
        or "\0" in name
        or os.path.commonpath([root, os.path.realpath(path)]) != root
        or os.path.realpath(path) == root
    ):
        raise FormatError(f"{name!r} is no name of a file in {folder}")
    return path
