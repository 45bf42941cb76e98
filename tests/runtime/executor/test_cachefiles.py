"""The folder of a cache is nobody else's to write, or to replace: neither it nor those above, and links lead nowhere else."""

from __future__ import annotations

import os
import stat
import time
import warnings
from pathlib import Path

import pytest
from dy2st_runtime import cachefiles

pytestmark = pytest.mark.skipif(os.name != "posix", reason="owners and modes are POSIX")
as_root = pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give folders to others")
OTHER = 12345


def store(folder: Path) -> cachefiles.Store:
    return cachefiles.Store("objects", ".o", b"layout 1", folder)


def refused(folder: Path, why: str) -> None:
    with pytest.warns(RuntimeWarning, match=why) as warned:
        assert store(folder).folder is None
    assert len(warned) == 1


def accepted(folder: Path) -> cachefiles.Store:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = store(folder)
        made.put("k", b"payload")
    assert made.get("k") == b"payload"
    return made


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@as_root
@pytest.mark.parametrize("level", [0, 1, 2])
def test_folders_above_that_belong_to_somebody_else(tmp_path: Path, level: int) -> None:
    folder = tmp_path / "a" / "b"
    made = accepted(folder)
    assert made.folder is not None
    os.chown([tmp_path / "a", folder, made.folder][level], OTHER, OTHER)
    refused(folder, "belongs to another user")
    os.chown([tmp_path / "a", folder, made.folder][level], 0, 0)
    assert store(folder).get("k") == b"payload"


@as_root
def test_entries_and_links_of_somebody_else(tmp_path: Path) -> None:
    made = accepted(tmp_path / "cache")
    assert made.folder is not None
    os.chown(made.folder / "k.o", OTHER, OTHER)
    assert made.get("k") is None
    (tmp_path / "link").symlink_to(tmp_path / "cache")
    os.chown(tmp_path / "link", OTHER, OTHER, follow_symlinks=False)
    refused(tmp_path / "link", "belongs to another user")


@pytest.mark.parametrize("bits", [0o770, 0o707])
def test_a_folder_above_that_others_can_write(tmp_path: Path, bits: int) -> None:
    folder = tmp_path / "a" / "b"
    accepted(folder)
    (tmp_path / "a").chmod(bits)
    refused(folder, "a can be written by others")
    (tmp_path / "a").chmod(bits | stat.S_ISVTX)  # as /tmp: what is the user's stays there
    accepted(folder)


def test_a_link_in_the_place_of_the_folder(tmp_path: Path) -> None:
    """What it leads to keeps its mode and its files."""
    target = tmp_path / "photos"
    (target / "partial").mkdir(parents=True)
    target.chmod(0o755)
    old = target / "partial" / "old"
    old.write_bytes(b"picture")
    os.utime(old, (time.time() - 7200,) * 2)
    (tmp_path / "cache").mkdir(mode=0o700)
    (tmp_path / "cache" / "objects").symlink_to(target)
    refused(tmp_path / "cache", "objects is a link")
    assert mode(target) == 0o755
    assert old.exists()


def test_a_link_in_the_place_of_what_is_half_written(tmp_path: Path) -> None:
    made = accepted(tmp_path / "cache")
    assert made.folder is not None
    target = tmp_path / "photos"
    target.mkdir()
    old = target / "old"
    old.write_bytes(b"picture")
    os.utime(old, (time.time() - 7200,) * 2)
    (made.folder / "partial").rmdir()
    (made.folder / "partial").symlink_to(target)
    again = store(tmp_path / "cache")
    assert old.exists()
    with pytest.warns(RuntimeWarning, match="cannot write"):
        again.put("k", b"another")
    assert os.listdir(target) == ["old"]


def test_an_entry_that_is_a_link(tmp_path: Path) -> None:
    made = accepted(tmp_path / "cache")
    assert made.folder is not None
    entry = made.folder / "k.o"
    entry.rename(tmp_path / "elsewhere")
    entry.symlink_to(tmp_path / "elsewhere")
    assert made.get("k") is None


def test_links_of_the_user_s_own_above(tmp_path: Path) -> None:
    """A cache folder that lies on another disk."""
    (tmp_path / "disk").mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".cache").symlink_to(Path("..", "disk"))
    accepted(tmp_path / "home" / ".cache" / "dy2st")
    assert (tmp_path / "disk" / "dy2st" / "objects" / "k.o").exists()
    (tmp_path / "home" / "round").symlink_to(tmp_path / "home" / "round")
    refused(tmp_path / "home" / "round", "Too many")
