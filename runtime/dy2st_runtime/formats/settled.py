"""Reading files that belong together while somebody may be saving them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TypeVar

from ..errors import FormatError
from .replacing import Version, journal, version

_T = TypeVar("_T")
_TRIES = 200
_LONGEST = 0.05
"""Seconds between two tries."""
_MISSING = (None, 0)


class Files:
    """The files of a folder as the last save that is complete has left them, also one that is still moving them into place, or was
    killed while it did."""

    def __init__(self, root: str):
        self.root = root
        self._moves = journal(root)
        self._seen: dict[str, tuple[Version, int]] = {}

    def at(self, path: str) -> str:
        """Where the file for a path is now."""
        move = self._moves.get(os.path.join(self.root, os.path.relpath(path, self.root or ".")))
        source = None if move is None else move.source(path)
        if source is not None and (seen := _identity(source)) != _MISSING:  # else it was moved this very moment
            return self._see(source, seen)
        return self._see(path, _identity(path))

    def _see(self, name: str, seen: tuple[Version, int]) -> str:
        self._seen.setdefault(name, seen)
        return name

    def exists(self, path: str) -> bool:
        """Whether there is a file for a path."""
        return os.path.exists(self.at(path))

    def names(self, folder: str) -> list[str]:
        """What is in a folder."""
        coming = {os.path.basename(path) for path in self._moves if os.path.dirname(path) == folder and self.exists(path)}
        return sorted({*os.listdir(folder or "."), *coming})

    def are_one(self) -> bool:
        """Whether what was read since this object was made is of one save."""
        return journal(self.root) == self._moves and all(_identity(name) == seen for name, seen in self._seen.items())


def _identity(path: str) -> tuple[Version, int]:
    try:
        return version(path), os.stat(path).st_ino
    except OSError:
        return _MISSING


def settled(root: str, read: Callable[[Files], _T]) -> _T:
    """What `read` gives of files of one save, none of them changed meanwhile; it is called again until that is so.

    Args:
        root: the folder of the files; see `replacing`.
        read: opens the files where the Files say.

    Raises:
        what `read` raises of files that are not being saved.
        FormatError: the files change all the time.
    """
    for attempt in range(_TRIES):
        files = Files(root)
        error = None
        try:
            result = read(files)
        except (FormatError, OSError) as raised:
            error = raised
        if files.are_one():
            if error is not None:
                raise error
            return result
        time.sleep(min(0.0005 * 2 ** min(attempt, 10), _LONGEST))
    raise FormatError(f"the files in {root or '.'} change again and again while they are read", hint="load them when nobody saves")
