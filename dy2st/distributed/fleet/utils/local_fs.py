"""`LocalFS`: files of this machine, under the names that PaddlePaddle has for those of any file system."""

from __future__ import annotations

import shutil
from pathlib import Path


class LocalFS:
    """Files and folders of this machine.

    >>> LocalFS().is_exist("/no/such/file")
    False
    """

    def ls_dir(self, fs_path: str) -> tuple[list[str], list[str]]:
        """The names of the folders and of the files in a folder; both empty if it does not exist."""
        if not self.is_exist(fs_path):
            return [], []
        entries = sorted(Path(fs_path).iterdir())
        return [e.name for e in entries if e.is_dir()], [e.name for e in entries if e.is_file()]

    def list_dirs(self, fs_path: str) -> list[str]:
        """The names of the folders in a folder."""
        return self.ls_dir(fs_path)[0]

    def mkdirs(self, fs_path: str) -> None:
        """Makes a folder and those around it.

        Raises:
            FileExistsError: a file has this name.
        """
        Path(fs_path).mkdir(parents=True, exist_ok=True)

    def delete(self, fs_path: str) -> None:
        """Deletes a file, or a folder with all that is in it; nothing, if neither exists."""
        path = Path(fs_path)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)

    def rename(self, fs_src_path: str, fs_dst_path: str) -> None:
        """Gives a file or folder another path."""
        Path(fs_src_path).rename(fs_dst_path)

    def mv(self, src_path: str, dst_path: str, overwrite: bool = False, test_exists: bool = False) -> None:
        """Gives a file or folder another path.

        Args:
            src_path, dst_path: the paths.
            overwrite: whether what has the new path is deleted before.
            test_exists: without effect: that is always looked at.

        Raises:
            FileNotFoundError: there is nothing to move.
            FileExistsError: something has the new path.
        """
        if not self.is_exist(src_path):
            raise FileNotFoundError(src_path)
        if overwrite:
            self.delete(dst_path)
        if self.is_exist(dst_path):
            raise FileExistsError(dst_path)
        self.rename(src_path, dst_path)

    def touch(self, fs_path: str, exist_ok: bool = True) -> None:
        """Makes an empty file.

        Raises:
            FileExistsError: it is there, and `exist_ok` is False.
        """
        Path(fs_path).touch(exist_ok=exist_ok)

    def is_file(self, fs_path: str) -> bool:
        """Whether there is such a file."""
        return Path(fs_path).is_file()

    def is_dir(self, fs_path: str) -> bool:
        """Whether there is such a folder."""
        return Path(fs_path).is_dir()

    def is_exist(self, fs_path: str) -> bool:
        """Whether there is such a file or folder."""
        return Path(fs_path).exists()

    def cat(self, fs_path: str) -> str:
        """The text of a file."""
        return Path(fs_path).read_text(encoding="utf-8")

    def need_upload_download(self) -> bool:
        """False: the files are where they are used."""
        return False
