"""The compile cache on disk: object files by content hash, shared by all processes of one user.

A cache that others can write to would be a way to run code as this user. So the folder is the user's own with mode 0700, and
a folder that is not is refused; an entry carries a checksum; files appear by atomic rename, so any
number of processes may write at once; what is corrupt, foreign or of another layout is ignored and built anew.
"""

from __future__ import annotations

import hashlib
import os
import stat
import warnings
from pathlib import Path

from .. import cachefiles, config

_MAGIC = b"dy2st-object-1\n"


class ObjectCache:
    """Maps a symbol (a hash of source and environment) to the bytes of its object file.

    If the folder cannot be made or is not safe, a warning says so once and nothing is kept.
    """

    def __init__(self, folder: Path | None = None):
        self.folder: Path | None = None
        if config.NO_CACHE.get():
            return
        try:
            wanted = (config.cache_folder() if folder is None else folder) / "objects"
            # the folder above too: who can write that one could put another in the place of ours
            wanted.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            wanted.mkdir(mode=0o700, exist_ok=True)
            _make_private(wanted)
        except (OSError, RuntimeError) as error:  # RuntimeError: a user without a home folder
            warnings.warn(f"dy2st keeps no compile cache: {error}", RuntimeWarning, stacklevel=2)
            return
        self.folder = wanted
        cachefiles.clean(wanted)

    def get(self, symbol: str) -> bytes | None:
        """The object, or None if there is none that can be trusted."""
        if self.folder is None:
            return None
        try:
            with open(self.folder / f"{symbol}.o", "rb") as f:
                if not _owned(os.fstat(f.fileno())):
                    return None
                data = f.read()
        except OSError:
            return None
        head = len(_MAGIC) + 32
        payload = data[head:]
        if not data.startswith(_MAGIC) or data[len(_MAGIC) : head] != _digest(symbol, payload):
            return None
        return payload

    def put(self, symbol: str, payload: bytes) -> None:
        """Keeps an object; a disk that is full or read-only is a warning, not an error."""
        if self.folder is None:
            return
        try:
            cachefiles.write(self.folder / f"{symbol}.o", _MAGIC + _digest(symbol, payload) + payload)
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
