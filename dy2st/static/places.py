"""`static.cpu_places`, `static.cuda_places`: lists of places."""

from __future__ import annotations

import os
from collections.abc import Sequence

from dy2st_runtime.executor.cuda_devices import count_devices

from ..errors import AttributeValueError
from ..framework.place import CPUPlace, CUDAPlace


def cpu_places(device_count: int | None = None) -> list[CPUPlace]:
    """The CPU, once or several times.

    Args:
        device_count: how often; default: the environment variable `CPU_NUM`, or 1.

    >>> cpu_places(2)
    [CPUPlace, CPUPlace]
    """
    count = int(os.environ.get("CPU_NUM", 1)) if device_count is None else device_count
    if count < 1:
        raise AttributeValueError(f"device_count must be 1 or more, got {count!r}")
    return [CPUPlace() for _ in range(count)]


def cuda_places(device_ids: Sequence[int] | None = None) -> list[CUDAPlace]:
    """GPUs by their numbers.

    Args:
        device_ids: default: all that programs can run on.
    """
    return [CUDAPlace(number) for number in (range(count_devices()) if device_ids is None else device_ids)]
