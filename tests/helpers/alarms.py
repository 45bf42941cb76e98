"""Signals that come while a test runs."""

import contextlib
import signal


class Stop(BaseException):
    """What handlers raise here."""


@contextlib.contextmanager
def alarm(handler, *seconds):
    """A handler is called after so many seconds, and again after so many others."""
    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, *seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def stop(*_):
    raise Stop
