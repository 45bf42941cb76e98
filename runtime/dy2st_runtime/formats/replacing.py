"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from typing import Any, BinaryIO


@contextlib.contextmanager
def replacing(*paths: str) -> Iterator[list[Any]]:
    """Opens a temporary file beside each path; when the block ends, each is synced to disk, and all are moved into
    place in order.

    If the block raises, or a file cannot be written completely, nothing is changed.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "a")
    ...     with replacing(path) as (file,):
    ...         _ = file.write(b"data")
    ...     os.listdir(folder)
    ['a']
    """
    temporary: list[str] = []
    files: list[BinaryIO] = []
    try:
        for path in paths:
            name = os.path.join(os.path.dirname(path), f".{secrets.token_hex(8)}.tmp")
            files.append(open(name, "xb"))  # noqa: SIM115 (closed below; not tempfile, whose files only their owner can read)
            temporary.append(name)
        yield files
        for file in files:
            file.flush()
            os.fsync(file.fileno())
            file.close()
        for name, path in zip(list(temporary), paths, strict=True):
            os.replace(name, path)
            temporary.remove(name)
    finally:
        for file in files:
            file.close()
        for name in temporary:
            os.unlink(name)
    for folder in dict.fromkeys(os.path.dirname(path) or "." for path in paths):
        _sync_folder(folder)


def _sync_folder(folder: str) -> None:
    """Makes the new names durable, where folders can be opened (not on Windows)."""
    if os.name != "posix":
        return
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
