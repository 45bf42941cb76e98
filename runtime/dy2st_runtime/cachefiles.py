"""Files of the caches: they appear in one step, whoever else writes them at once, and a process that is killed leaves nothing for long.

A cache that others can write to would be a way to run code as this user. So the folder is the user's own with mode 0700, nobody else can
put another in its place or in that of a folder above, and a folder that is not so is refused; an entry carries a checksum; what is corrupt,
foreign or of another layout is ignored and built anew. What is done in the folder is done by its handle, and never through a link.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import secrets
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import config
from .warning import warn

_PARTIAL = "partial"
_FORGOTTEN = 3600.0  # seconds after which nobody is still writing a file
_MOST_LINKS = 40
_BY_HANDLE = os.name == "posix" and {os.open, os.mkdir, os.unlink, os.rename, os.stat, os.readlink} <= os.supports_dir_fd
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_ABOVE = _FOLDER | getattr(os, "O_PATH", 0)
"""Of a folder above the user may be let through and see nothing, as in /home on some machines."""
_FILE = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def private(folder: Path) -> None:
    """Makes a folder of this user's only, and those above where they are not there.

    Raises:
        PermissionError: somebody else can put another in its place: it, or a folder above, is not the user's (or root's), or can be written
            by others (and is none like /tmp, where each can replace what is theirs), or the folder itself is a link.
        OSError: it cannot be made.
    """
    if not _BY_HANDLE:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return
    handle = _descend(folder)
    try:
        if stat.S_IMODE(os.fstat(handle).st_mode) != 0o700:
            os.fchmod(handle, 0o700)
    finally:
        os.close(handle)


def _descend(folder: Path) -> int:
    """A handle of a folder, reached from the root one name after the other, all of them safe."""
    left = [*reversed(Path(os.path.abspath(folder)).parts[1:])]
    handle, path, links = os.open("/", _ABOVE), Path("/"), 0
    try:
        while left:
            name = left.pop()
            here = path / name
            target = _link(handle, name, here, not left)
            if target is None:
                inner = _enter(handle, name, _ABOVE if left else _FOLDER)
                os.close(handle)
                handle, path = inner, here
                _check(os.fstat(handle), here, not left)
                continue
            links += 1
            if links > _MOST_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(folder))
            if target.is_absolute():
                os.close(handle)
                handle, path = os.open("/", _ABOVE), Path("/")
            left += [part for part in reversed(target.parts) if part != "/"]
        return handle
    except BaseException:
        os.close(handle)
        raise


def _link(handle: int, name: str, path: Path, last: bool) -> Path | None:
    """Where a link leads; None: it is none, or not there."""
    try:
        status = os.stat(name, dir_fd=handle, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISLNK(status.st_mode):
        return None
    if last:
        raise PermissionError(f"{path} is a link")
    if status.st_uid not in (os.geteuid(), 0):
        raise PermissionError(f"{path} belongs to another user")
    return Path(os.readlink(name, dir_fd=handle))


def _enter(handle: int, name: str, flags: int) -> int:
    try:
        return os.open(name, flags, dir_fd=handle)
    except FileNotFoundError:
        with contextlib.suppress(FileExistsError):  # another process makes it
            os.mkdir(name, 0o700, dir_fd=handle)
        return os.open(name, flags, dir_fd=handle)


def _check(status: os.stat_result, path: Path, own: bool) -> None:
    """PermissionError if others decide what is in a folder. One that is not the user's `own` may be root's, or like /tmp."""
    if status.st_uid != os.geteuid() and (own or status.st_uid != 0):
        raise PermissionError(f"{path} belongs to another user")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and (own or not status.st_mode & stat.S_ISVTX):
        raise PermissionError(f"{path} can be written by others")


def _owned(status: os.stat_result) -> bool:
    """Whether a file is this user's and nobody else may write it."""
    if os.name != "posix":
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


class _Place:
    """A folder whose files are named relative to its handle, where the system has such handles."""

    def __init__(self, folder: Path, handle: int | None):
        self.folder, self.handle = folder, handle

    @staticmethod
    @contextlib.contextmanager
    def at(folder: Path) -> Iterator[_Place]:
        """A folder that `private` has made, or a temporary one."""
        if not _BY_HANDLE:
            yield _Place(folder, None)
            return
        handle = os.open(folder, _FOLDER)
        try:
            _check(os.fstat(handle), folder, True)
            yield _Place(folder, handle)
        finally:
            os.close(handle)

    @contextlib.contextmanager
    def below(self, name: str, make: bool = False) -> Iterator[_Place]:
        if self.handle is None:
            if make:
                (self.folder / name).mkdir(mode=0o700, exist_ok=True)
            yield _Place(self.folder / name, None)
            return
        handle = _enter(self.handle, name, _FOLDER) if make else os.open(name, _FOLDER, dir_fd=self.handle)
        try:
            _check(os.fstat(handle), self.folder / name, True)
            yield _Place(self.folder / name, handle)
        finally:
            os.close(handle)

    def name(self, name: str) -> str:
        return name if self.handle is not None else str(self.folder / name)

    def open(self, name: str, flags: int) -> int:
        return os.open(self.name(name), flags, 0o600, dir_fd=self.handle)

    def entries(self) -> Any:
        return os.scandir(self.folder if self.handle is None else self.handle)

    def remove(self, name: str) -> None:
        os.unlink(self.name(name), dir_fd=self.handle)


def write(path: Path, data: bytes) -> None:
    """Writes a file of a folder that is this user's only. It is made in a folder below, and moved when it is complete.

    Raises:
        OSError: it cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(Path(folder, "a"), b"data")
    ...     Path(folder, "a").read_bytes()
    b'data'
    """
    with _Place.at(path.parent) as place, place.below(_PARTIAL, make=True) as partial:
        name = secrets.token_hex(8)
        handle = partial.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0))
        try:
            with os.fdopen(handle, "wb") as f:
                f.write(data)
            os.replace(partial.name(name), place.name(path.name), src_dir_fd=partial.handle, dst_dir_fd=place.handle)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                partial.remove(name)
            raise


def clean(folder: Path) -> None:
    """Removes what processes that were killed have left half written."""
    # no such folder, or another process removes the same
    with contextlib.suppress(OSError), _Place.at(folder) as place, place.below(_PARTIAL) as partial, partial.entries() as entries:
        for entry in entries:
            if time.time() - entry.stat(follow_symlinks=False).st_mtime > _FORGOTTEN:
                partial.remove(entry.name)


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
            private(wanted)
        except (OSError, RuntimeError) as error:  # RuntimeError: a user without a home folder
            warn(f"dy2st keeps no compile cache: {error}; DY2ST_CACHE_DIR names another folder")
            return
        self.folder = wanted
        clean(wanted)

    def get(self, symbol: str) -> bytes | None:
        """The entry, or None if there is none that can be trusted."""
        if self.folder is None:
            return None
        try:
            with _Place.at(self.folder) as place, os.fdopen(place.open(f"{symbol}{self._suffix}", _FILE), "rb") as f:
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
            warn(f"dy2st cannot write its compile cache: {error}")


def _digest(symbol: str, payload: bytes) -> bytes:
    return hashlib.sha256(symbol.encode() + b"\0" + payload).digest()
