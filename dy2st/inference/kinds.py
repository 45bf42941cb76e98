"""The enumerations of `inference`: dtypes, precisions, places. Their numbers are PaddlePaddle's."""

from __future__ import annotations

import enum

import numpy as np

from ..errors import DTypeError


class PrecisionType(enum.IntEnum):
    """What a model may be asked to compute in. Each runs in its own dtypes."""

    Float32 = 0
    Int8 = 1
    Half = 2
    Bfloat16 = 3


class PlaceType(enum.IntEnum):
    """Where a tensor is."""

    UNK = -1
    CPU = 0
    GPU = 1
    XPU = 2
    CUSTOM = 4


class DataType(enum.IntEnum):
    """The dtype of an input or output."""

    FLOAT32 = 0
    INT64 = 1
    INT32 = 2
    UINT8 = 3
    INT8 = 4
    FLOAT16 = 5
    BOOL = 6
    FLOAT64 = 7
    BFLOAT16 = 8


def data_type(dtype: str) -> DataType:
    """The kind of a dtype.

    Raises:
        DTypeError: PaddlePaddle's inference has none for it.

    >>> data_type("float32").name
    'FLOAT32'
    """
    if dtype.upper() not in DataType.__members__:
        raise DTypeError(f"inference has no name for {dtype}")
    return DataType[dtype.upper()]


def get_num_bytes_of_data_type(dtype: DataType) -> int:
    """The size of an element in bytes.

    >>> get_num_bytes_of_data_type(DataType.INT64)
    8
    """
    return 2 if dtype == DataType.BFLOAT16 else np.dtype(DataType(dtype).name.lower()).itemsize
