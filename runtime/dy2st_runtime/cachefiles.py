"""Files of the caches: they appear in one step, whoever else writes them at once, and a process that is killed leaves nothing for long.

A cache that others can write to would be a way to run code as this user. So the folder is the user's own with mode 0700, and
a folder that is not is refused; an entry carries a checksum; what is corrupt, foreign or of another layout is ignored and built anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
import time
import warnings
from pathlib import Path

from . import config

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
    # no such folder, or another process removes the same
    with contextlib.suppress(OSError), os.scandir(folder / _PARTIAL) as entries:
        for entry in entries:
            if time.time() - entry.stat().st_mtime > _FORGOTTEN:
                os.unlink(entry)


class Store:
    """Maps a symbol (a hash of all that an entry depends on) to bytes.

    If the folder cannot be made or is not safe, a warning says so once and nothing is kept.

    Args:
        name: of the folder within the cache folder.
        suffix: of the files.
        magic: what each file begins with; it names the layout.
        folder: another cache folder than the user's.
    """

    def __init__(self, name: str, suffix: str, magic: bytes, folder: Path | None = None):
        self._suffix, self._magic = suffix, magic
        self.folder: Path | None = None
        if config.NO_CACHE.get():
            return
        try:
            wanted = (config.cache_folder() if folder is None else folder) / name
            # the folder above too: who can write that one could put another in the place of ours
            wanted.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            wanted.mkdir(mode=0o700, exist_ok=True)
            _make_private(wanted)
        except (OSError, RuntimeError) as error:  # RuntimeError: a user without a home folder
            warnings.warn(f"dy2st keeps no compile cache: {error}", RuntimeWarning, stacklevel=3)
            return
        self.folder = wanted
        clean(wanted)

    def get(self, symbol: str) -> bytes | None:
        """The entry, or None if there is none that can be trusted."""
        if self.folder is None:
            return None
        try:
            with open(self.folder / f"{symbol}{self._suffix}", "rb") as f:
                if not _owned(os.fstat(f.fileno())):
                    return None
                data = f.read()
        except OSError:
            return None
        head = len(self._magic) + 32
        payload = data[head:]
        if not data.startswith(self._magic) or data[len(self._magic) : head] != _digest(symbol, payload):
            return None
        return payload

    def put(self, symbol: str, payload: bytes) -> None:
        """Keeps an entry; a disk that is full or read-only is a warning, not an error."""
        if self.folder is None:
            return
        try:
            write(self.folder / f"{symbol}{self._suffix}", self._magic + _digest(symbol, payload) + payload)
        except OSError as error:
            warnings.warn(f"dy2st cannot write its compile cache: {error}", RuntimeWarning, stacklevel=2)


def _digest(symbol: str, payload: bytes) -> bytes:
    return hashlib.sha256(symbol.encode() + b"\0" + payload).digest()


def _owned(status: os.stat_result) -> bool:
    """Whether a file or folder is this user's and nobody else may write it."""
    if os.name != "posix":
        return True
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _make_private(folder: Path) -> None:
    status = os.stat(folder)
    if not _owned(status):
        raise PermissionError(f"{folder} belongs to another user or can be written by others")
    if os.name == "posix" and status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        os.chmod(folder, 0o700)
