"""Places: where tensors live and ops run."""

from __future__ import annotations

import importlib.util
from typing import Any

from ..errors import DeviceError


class Place:
    """Base of all places; two places of the same kind and number are equal."""

    kind = ""

    def __init__(self, device_id: int = 0):
        self._id = device_id

    def get_device_id(self) -> int:
        return self._id

    def is_cpu_place(self) -> bool:
        return isinstance(self, CPUPlace)

    def is_gpu_place(self) -> bool:
        return isinstance(self, CUDAPlace)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._id == other._id  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((type(self), self._id))


class CPUPlace(Place):
    """The host."""

    kind = "cpu"

    def __init__(self) -> None:
        super().__init__(0)

    def __repr__(self) -> str:
        return "CPUPlace"


class CUDAPlace(Place):
    """A CUDA device by number."""

    kind = "gpu"

    def __init__(self, device_id: int = 0):
        if not isinstance(device_id, int) or device_id < 0:
            raise DeviceError(f"{device_id!r} is not the number of a CUDA device")
        super().__init__(device_id)

    def __repr__(self) -> str:
        return f"CUDAPlace({self._id})"


class CUDAPinnedPlace(Place):
    """Page-locked host memory; here the same as `CPUPlace`, as eager tensors live on the host."""

    kind = "gpu_pinned"

    def __init__(self) -> None:
        super().__init__(0)

    def __repr__(self) -> str:
        return "CUDAPinnedPlace"


_current: Place = CPUPlace()


def is_compiled_with_cuda() -> bool:
    """Whether numba-cuda is installed, so that programs can be compiled for CUDA."""
    return importlib.util.find_spec("numba_cuda") is not None


def check_device(device: Any) -> Place | None:
    """The place that a device names; None for None.

    Args:
        device: a Place, "cpu", "gpu" or "gpu:0", "gpu_pinned", or None.

    Raises:
        DeviceError: the name is unknown, or it is a CUDA device and no CUDA support is installed.

    >>> check_device("cpu")
    CPUPlace
    """
    if device is None or isinstance(device, (CPUPlace, CUDAPinnedPlace)):
        return device
    if isinstance(device, CUDAPlace):
        place: Place = device
    else:
        name, _, number = (device if isinstance(device, str) else "").lower().partition(":")
        if name in ("cpu", "gpu_pinned") and not number:
            return CPUPlace() if name == "cpu" else CUDAPinnedPlace()
        if name not in ("gpu", "cuda") or (number and not number.isdigit()):
            raise DeviceError(f"device {device!r} is not known", hint="use 'cpu', 'gpu' or 'gpu:<number>'")
        place = CUDAPlace(int(number or 0))
    if not is_compiled_with_cuda():
        raise DeviceError("no CUDA support is installed", hint="install dy2st[cuda], or use the device 'cpu'")
    return place


def set_device(device: str) -> Place:
    """Chooses the place that static programs run on: "cpu", "gpu" or "gpu:0".

    Eager ops run on the host whatever the device; decorated functions run on the device.

    Raises:
        DeviceError: the name is unknown, or no CUDA support is installed.

    >>> set_device("cpu")
    CPUPlace
    """
    global _current
    place = check_device(device)
    if place is None or isinstance(place, CUDAPinnedPlace):
        raise DeviceError(f"device {device!r} is not known", hint="use 'cpu', 'gpu' or 'gpu:<number>'")
    _current = place
    return _current


def get_device() -> str:
    """The name of the current device: "cpu" or "gpu:0"."""
    return "cpu" if isinstance(_current, CPUPlace) else f"gpu:{_current.get_device_id()}"


def current_place() -> Place:
    """The place chosen by `set_device`."""
    return _current
