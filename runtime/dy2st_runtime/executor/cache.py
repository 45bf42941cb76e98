"""The compile cache on disk: object files by content hash, shared by all processes of one user."""

from __future__ import annotations

from pathlib import Path

from .. import cachefiles


class ObjectCache(cachefiles.Store):
    """Maps a symbol (a hash of source and environment) to the bytes of its object file."""

    def __init__(self, folder: Path | None = None):
        super().__init__("objects", ".o", b"dy2st-object-1\n", folder)
