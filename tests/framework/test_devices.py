"""`paddle.device`: which devices there are; streams and events."""

import time

import pytest

import dy2st as paddle
from dy2st import device
from dy2st.errors import DeviceError, ModeError


def test_a_machine_without_gpus(monkeypatch):
    monkeypatch.setattr(device.cuda, "count_devices", lambda: 0)
    monkeypatch.setattr(device, "is_compiled_with_cuda", lambda: False)
    assert device.device_count() == device.cuda.device_count() == 0
    assert device.get_all_device_type() == device.get_available_device() == device.get_all_custom_device_type() == []
    assert device.get_cudnn_version() is None
    others = ("rocm", "xpu", "ipu", "cinn", "distribute")
    assert not any(getattr(device, f"is_compiled_with_{name}")() for name in others)
    assert not device.is_compiled_with_custom_device("npu")
    device.synchronize()
    device.cuda.empty_cache()
    with pytest.raises(DeviceError, match="no GPU 0"):
        device.cuda.get_device_name()
    with pytest.raises(DeviceError, match="no account"):
        device.cuda.max_memory_allocated()
    with pytest.raises(DeviceError, match="no CUDA device"):
        device.cuda.synchronize("cpu")


def test_a_machine_with_two(monkeypatch):
    made = device.cuda.CudaDevice("Some GPU", 9, 0, 1 << 30, 100)
    monkeypatch.setattr(device.cuda, "count_devices", lambda: 2)
    monkeypatch.setattr(device.cuda, "describe_device", lambda number: made)
    assert device.get_available_device() == ["gpu:0", "gpu:1"]
    assert (device.cuda.get_device_name(1), device.cuda.get_device_capability(1)) == ("Some GPU", (9, 0))
    with pytest.raises(DeviceError, match="no GPU 2"):
        device.cuda.get_device_properties(2)


def test_events_and_streams():
    stream, before = device.Stream(), device.current_stream()
    with device.stream_guard(stream):
        assert device.current_stream() is stream
        start = stream.record_event()
        time.sleep(0.002)
    assert device.current_stream() is before
    end = device.Event(enable_timing=True)
    with pytest.raises(ModeError, match="recorded"):
        start.elapsed_time(end)
    end.record()
    assert 2 <= start.elapsed_time(end) < 2000
    stream.wait_event(end)
    assert (stream.query(), end.query()) == (True, True)


def test_a_stream_in_a_static_function():
    @paddle.jit.to_static
    def f(x):
        with device.stream_guard(device.Stream("cpu")):
            y = x * 2
        device.synchronize()
        return y

    assert f(paddle.ones([2])).tolist() == [2, 2]
