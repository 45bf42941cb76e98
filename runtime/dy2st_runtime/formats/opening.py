"""Opening what is to be read: a file, and nothing that never ends or that somebody else has to feed."""

from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO

from ..errors import FormatError

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Opens a file for reading.

    Raises:
        OSError: there is none, or it cannot be read.
        FormatError: it is a pipe, a device or a socket: opening one waits for another process, reading one may never end.

    >>> open_regular("/dev/zero")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    dy2st_runtime.errors.FormatError: [D2S011] /dev/zero is no regular file
    """
    handle = os.open(path, _FLAGS)
    mode = os.fstat(handle).st_mode
    if stat.S_ISREG(mode):
        return open(handle, "rb")
    os.close(handle)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    raise FormatError(f"{os.fspath(path)} is no regular file", hint="copy what it gives to a file first")
