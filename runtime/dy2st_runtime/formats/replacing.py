"""Files that appear whole or not at all, several of them in one step.

Each file is written beside its place and moved there when all are complete. One move is atomic, several are not: so a list of them (the
journal) is put into the folder before the first. A reader that finds it takes the files that are still to be moved from where they are
(`settled`), and the next one who saves into the folder ends what a process that was killed has begun.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from .opening import open_regular

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

JOURNAL = ".dy2st-saving"
_TEMPORARY = re.compile(r"\.[0-9a-f]{16}\.tmp")
_FORGOTTEN = 3600.0  # seconds after which nobody is still writing a file, where locks do not tell

Version = tuple[int, int] | None
"""Size and time of change of a file; None: there is none."""


class Move(NamedTuple):
    """A file that is complete under a temporary name beside its place; `before` is what was in the place."""

    temporary: str
    before: Version

    def source(self, path: str) -> str | None:
        """Where the file is, if it still is to be moved to `path`: not, if somebody has written another one there since."""
        name = os.path.join(os.path.dirname(path), self.temporary)
        return name if _is_file(name) and version(path) == self.before else None


def version(path: str) -> Version:
    """What tells a file from the one that is in its place after the next save."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


@contextlib.contextmanager
def replacing(*paths: str, root: str | None = None) -> Iterator[list[Any]]:
    """Opens a temporary file beside each path; when the block ends, each is synced to disk, and all are moved into place in one step, as
    readers by `settled` see it.

    If the block raises, or a file cannot be written completely, nothing is changed. Temporary files of processes that were killed are
    removed.

    Args:
        paths: the files.
        root: the folder that they are in, or in folders below; default: that of the first one.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "a")
    ...     with replacing(path) as (file,):
    ...         _ = file.write(b"data")
    ...     os.listdir(folder)
    ['a']
    """
    root = os.path.dirname(paths[0]) if root is None else root
    folders = list(dict.fromkeys(os.path.dirname(path) or "." for path in paths))
    files: list[BinaryIO] = []
    moves: dict[str, str] = {}
    try:
        for path in paths:
            file = _temporary(os.path.dirname(path))
            files.append(file)
            moves[path] = file.name
        yield files
        for file in files:
            file.flush()
            os.fsync(file.fileno())
        if os.name != "posix":
            for file in files:
                file.close()  # elsewhere the lock of an open file says that its process lives
        with _alone(root):
            _finish(root)
            _move(root, moves)
            for folder in folders:
                _sync_folder(folder)
            if len(paths) > 1:
                os.unlink(os.path.join(root, JOURNAL))
            for folder in folders:
                _sweep(folder)
    finally:
        for file in files:
            file.close()
        for name in moves.values():
            with contextlib.suppress(FileNotFoundError):  # swept since it was closed
                os.unlink(name)


def _move(root: str, moves: dict[str, str]) -> None:
    """Moves files into place; takes them out of `moves` as soon as they are to be moved whatever happens."""
    for path in moves:
        if os.path.isdir(path):
            raise IsADirectoryError(f"{path} is a folder")
    if len(moves) == 1:
        ((path, name),) = moves.items()
        os.replace(name, path)
        moves.clear()
        return
    entries = {os.path.relpath(path, root or "."): [os.path.basename(name), version(path)] for path, name in moves.items()}
    file = _temporary(root)
    with file:
        file.write(json.dumps(entries).encode())
        file.flush()
        os.fsync(file.fileno())
        committed = dict(moves)
        moves.clear()
        os.replace(file.name, os.path.join(root, JOURNAL))
    _sync_folder(root or ".")
    for path, name in committed.items():
        os.replace(name, path)


def journal(root: str) -> dict[str, Move]:
    """What is being moved into a folder, by the paths; empty if nothing is, or what is there is no journal."""
    try:
        with open_regular(os.path.join(root, JOURNAL)) as file:
            entries = json.loads(file.read())
    except (OSError, ValueError):  # FormatError is a ValueError
        return {}
    found = {}
    for path, entry in entries.items() if isinstance(entries, dict) else ():
        name, before = entry if isinstance(entry, list) and len(entry) == 2 else ("", None)
        inside = not os.path.isabs(path) and ".." not in path.split(os.sep)
        if inside and isinstance(name, str) and _TEMPORARY.fullmatch(name) and isinstance(before, (list, type(None))):
            found[os.path.join(root, path)] = Move(name, None if before is None else tuple(before))
    return found


def _finish(root: str) -> None:
    """Ends a save that a process has begun that was killed."""
    name = os.path.join(root, JOURNAL)
    if not os.path.lexists(name):
        return
    for path, move in journal(root).items():
        source = move.source(path)
        if source is not None:
            with contextlib.suppress(FileNotFoundError):  # where there are no locks, another process may do the same
                os.replace(source, path)
    _sync_folder(root or ".")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name)


# ---- temporary files and locks ----
def _temporary(folder: str) -> BinaryIO:
    """A new file, locked for as long as it is open."""
    while True:
        # not tempfile, whose files only their owner can read
        file = open(os.path.join(folder, f".{secrets.token_hex(8)}.tmp"), "xb")  # noqa: SIM115 (who asks for it closes it)
        with contextlib.suppress(OSError):  # there are file systems without locks
            _lock(file.fileno())
        if os.path.exists(file.name):
            return file
        file.close()  # somebody has swept it before it was locked


def _sweep(folder: str) -> None:
    """Removes temporary files of processes that are no more."""
    with os.scandir(folder) as entries:
        names = [entry.name for entry in entries if _TEMPORARY.fullmatch(entry.name)]
    for name in names:
        # another process removes the same, or it is of another user
        with contextlib.suppress(OSError):
            _remove_if_abandoned(os.path.join(folder, name))


def _remove_if_abandoned(path: str) -> None:
    if not _is_file(path):
        return
    with open(path, "r+b") as file:
        try:
            known = _lock(file.fileno(), wait=False)
        except BlockingIOError:
            return  # it is being written
        except OSError:
            known = False
        if known or time.time() - os.fstat(file.fileno()).st_mtime > _FORGOTTEN:
            os.unlink(path)


@contextlib.contextmanager
def _alone(folder: str) -> Iterator[None]:
    """While no other process or thread moves files into this folder, where the file system has locks."""
    if fcntl is None:
        yield
        return
    fd = os.open(folder or ".", os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            _lock(fd)
        yield
    finally:
        with contextlib.suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_UN)  # also for children that have inherited it
        os.close(fd)


def _lock(fd: int, wait: bool = True) -> bool:
    """Locks a file; False if this system has no such locks.

    Raises:
        BlockingIOError: somebody else has the lock, and we do not wait.
        OSError: the file system has no locks.
    """
    if fcntl is None:
        return False
    fcntl.flock(fd, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    return True


def _is_file(path: str) -> bool:
    """Whether there is a file, which no link leads to."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def _sync_folder(folder: str) -> None:
    """Makes the new names durable, where folders can be opened (not on Windows)."""
    if os.name != "posix":
        return
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
