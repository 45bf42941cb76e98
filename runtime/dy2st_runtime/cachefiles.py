"""Files of the caches: they appear in one step, whoever else writes them at once, and a process that is killed leaves nothing for long."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from pathlib import Path

_PARTIAL = "partial"
_FORGOTTEN = 3600.0  # seconds after which nobody is still writing a file


def write(path: Path, data: bytes) -> None:
    """Writes a file of a folder that is this user's only. It is made in a folder below, and moved when it is complete.

    Raises:
        OSError: it cannot be written.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(Path(folder, "a"), b"data")
    ...     Path(folder, "a").read_bytes()
    b'data'
    """
    partial = path.parent / _PARTIAL
    partial.mkdir(mode=0o700, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=partial)
    try:
        with os.fdopen(handle, "wb") as f:
            f.write(data)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise


def clean(folder: Path) -> None:
    """Removes what processes that were killed have left half written."""
    with contextlib.suppress(OSError):  # no such folder, or another process removes the same
        for entry in os.scandir(folder / _PARTIAL):
            if time.time() - entry.stat().st_mtime > _FORGOTTEN:
                os.unlink(entry)
