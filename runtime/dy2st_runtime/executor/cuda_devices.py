"""The GPUs of this machine, as numba-cuda sees them."""

from __future__ import annotations

import importlib.util
from typing import NamedTuple


class CudaDevice(NamedTuple):
    """What is known of a GPU: its name, compute capability, memory in bytes and multiprocessors."""

    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int


def count_devices() -> int:
    """The number of GPUs; 0 if there are none, or numba-cuda is not installed."""
    if importlib.util.find_spec("numba_cuda") is None:
        return 0
    from numba import cuda

    return len(cuda.gpus) if cuda.is_available() else 0


def describe_device(number: int) -> CudaDevice:
    """What is known of a GPU, of which there must be one of this number."""
    from numba import cuda

    with cuda.gpus[number]:
        device = cuda.get_current_device()
        name = device.name.decode() if isinstance(device.name, bytes) else str(device.name)
        major, minor = device.compute_capability
        memory = int(cuda.current_context().get_memory_info().total)
        return CudaDevice(name, major, minor, memory, int(device.MULTIPROCESSOR_COUNT))
