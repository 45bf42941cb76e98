"""Devices: which there are, and which is used; streams and events of work that is done when a call returns."""

from __future__ import annotations

from typing import Any

from ..framework.place import check_device
from ..framework.place import get_device as get_device
from ..framework.place import is_compiled_with_cuda as is_compiled_with_cuda
from ..framework.place import set_device as set_device
from ..missing_names import explain_missing as _explain_missing
from . import cuda as cuda
from .cuda import device_count as device_count
from .streams import Event as Event
from .streams import Stream as Stream
from .streams import current_stream as current_stream
from .streams import set_stream as set_stream
from .streams import stream_guard as stream_guard


def synchronize(device: Any = None) -> None:
    """Waits for the work of a device: not at all, as each call has waited for its own.

    Raises:
        DeviceError: there is no such device.
    """
    check_device(device)


def get_all_device_type() -> list[str]:
    """The kinds of devices besides the CPU: ["gpu"] with CUDA support, else [], as in PaddlePaddle."""
    return ["gpu"] if is_compiled_with_cuda() else []


def get_available_device() -> list[str]:
    """The devices besides the CPU, such as ["gpu:0"]."""
    return [f"gpu:{number}" for number in range(device_count())]


def get_all_custom_device_type() -> list[str]:
    """The kinds of devices of plug-ins: []."""
    return []


def get_available_custom_device() -> list[str]:
    """The devices of plug-ins: []."""
    return []


def get_cudnn_version() -> None:
    """The version of cuDNN: None, as it is not used."""


def is_compiled_with_rocm() -> bool:
    """Whether programs can run on GPUs of AMD: False."""
    return False


def is_compiled_with_xpu() -> bool:
    """Whether programs can run on chips of Kunlun: False."""
    return False


def is_compiled_with_ipu() -> bool:
    """Whether programs can run on chips of Graphcore: False."""
    return False


def is_compiled_with_cinn() -> bool:
    """Whether programs are compiled by CINN: False. dy2st compiles them."""
    return False


def is_compiled_with_distribute() -> bool:
    """Whether several processes can train together: False."""
    return False


def is_compiled_with_custom_device(device_type: str) -> bool:
    """Whether programs can run on a device of a plug-in: False."""
    return False


_explain_missing(__name__)
