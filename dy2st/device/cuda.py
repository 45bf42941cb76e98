"""`device.cuda`: GPUs of NVIDIA. Programs are compiled for them if the extra `cuda` is installed; eager tensors are on the host."""

from __future__ import annotations

from typing import Any, NoReturn

from dy2st_runtime.executor.cuda_devices import CudaDevice, count_devices, describe_device

from ..errors import DeviceError
from ..framework.place import CUDAPlace, Place, check_device
from ..missing_names import explain_missing as _explain_missing
from .streams import Event as Event
from .streams import Stream as Stream
from .streams import current_stream as current_stream
from .streams import stream_guard as stream_guard


def device_count() -> int:
    """The number of GPUs that programs can run on; 0 without CUDA support."""
    return count_devices()


def synchronize(device: Any = None) -> None:
    """Waits for the work of a GPU: not at all, as each call has waited for its own.

    Raises:
        DeviceError: the device is not there.
    """
    _number(device)


def empty_cache() -> None:
    """Gives unused memory back: nothing, as none is kept between calls."""


def get_device_properties(device: Any = None) -> CudaDevice:
    """What is known of a GPU: `name`, `major`, `minor`, `total_memory` in bytes, `multi_processor_count`.

    Args:
        device: a CUDAPlace, its number, or a name like "gpu:0"; None: the first.

    Raises:
        DeviceError: the device is not there.
    """
    number = _number(device)
    if number >= count_devices():
        raise DeviceError(f"there is no GPU {number}: programs can run on {count_devices()}")
    return describe_device(number)


def get_device_name(device: Any = None) -> str:
    """The name of a GPU; see `get_device_properties`."""
    return get_device_properties(device).name


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """The compute capability of a GPU; see `get_device_properties`."""
    found = get_device_properties(device)
    return found.major, found.minor


def _number(device: Any) -> int:
    """The number of a GPU."""
    place: Place | None = CUDAPlace(device) if isinstance(device, int) else check_device(device)
    if place is not None and not isinstance(place, CUDAPlace):
        raise DeviceError(f"{device!r} is no CUDA device")
    return 0 if place is None else place.get_device_id()


def _no_account(name: str) -> NoReturn:
    raise DeviceError(f"{name}: dy2st keeps no account of the memory of a GPU", hint="look at it by nvidia-smi")


def max_memory_allocated(device: Any = None) -> int:
    """The most memory that tensors had on a GPU.

    Raises:
        DeviceError: always, as nobody counts it. PaddlePaddle without CUDA raises as well.
    """
    _no_account("max_memory_allocated")


def max_memory_reserved(device: Any = None) -> int:
    """The most memory that was reserved on a GPU; raises as `max_memory_allocated` does."""
    _no_account("max_memory_reserved")


def memory_allocated(device: Any = None) -> int:
    """The memory that tensors have on a GPU; raises as `max_memory_allocated` does."""
    _no_account("memory_allocated")


def memory_reserved(device: Any = None) -> int:
    """The memory that is reserved on a GPU; raises as `max_memory_allocated` does."""
    _no_account("memory_reserved")


_explain_missing(__name__)
