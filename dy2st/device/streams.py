"""Streams and events. A call returns when its work is done, so that a stream is always empty, and an event is a point in time."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

from ..errors import ModeError
from ..framework.place import check_device


class Event:
    """A point in time, between the work before and after `record`.

    Args:
        options: accepted as PaddlePaddle has them (`enable_timing`, `blocking`, `interprocess`): each event knows its time.

    >>> start, end = Event(enable_timing=True), Event(enable_timing=True)
    >>> start.record(); end.record()
    >>> start.elapsed_time(end) >= 0
    True
    """

    def __init__(self, *options: Any, **named_options: Any):
        self._time: float | None = None

    def record(self, stream: Stream | None = None) -> None:
        """Takes the time: all work that was given before is done."""
        self._time = time.perf_counter()

    def query(self) -> bool:
        """Whether the work before the event is done: True."""
        return True

    def synchronize(self) -> None:
        """Waits for the work before the event: not at all."""

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this event to another.

        Raises:
            ModeError: one was not recorded.
        """
        if self._time is None or end_event._time is None:
            raise ModeError("the time between two events is known when both were recorded", hint="call record() of each")
        return (end_event._time - self._time) * 1000


class Stream:
    """Work in an order of its own. Here all work is done in the order of the calls, and when they return.

    Args:
        device: a Place, a name, or None.
        options: accepted as PaddlePaddle has them (`priority`, `stream_base`).

    Raises:
        DeviceError: there is no such device.
    """

    def __init__(self, device: Any = None, *options: Any, **named_options: Any):
        self.device = check_device(device)

    def query(self) -> bool:
        """Whether its work is done: True."""
        return True

    def synchronize(self) -> None:
        """Waits for its work: not at all."""

    def wait_event(self, event: Event) -> None:
        """Lets later work wait for an event, which is past."""

    def wait_stream(self, stream: Stream) -> None:
        """Lets later work wait for that of another stream, which is done."""

    def record_event(self, event: Event | None = None) -> Event:
        """Records an event, a new one by default, and returns it."""
        found = Event() if event is None else event
        found.record(self)
        return found


_current = Stream()


def current_stream(device: Any = None) -> Stream:
    """The stream that was set last.

    Raises:
        DeviceError: there is no such device.
    """
    check_device(device)
    return _current


def set_stream(stream: Stream) -> Stream:
    """Makes a stream the current one, and returns that before."""
    global _current
    before, _current = _current, stream
    return before


@contextlib.contextmanager
def stream_guard(stream: Stream | None = None) -> Iterator[None]:
    """Another current stream until the end of the block; None: the same."""
    before = set_stream(_current if stream is None else stream)
    try:
        yield
    finally:
        set_stream(before)
