"""What pyproject.toml cannot say: the build copies into the package what has its one source elsewhere."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

# the page of errors, for `python -m dy2st explain`; the names of PaddlePaddle, for the errors of those that are missing
COPIED = ("docs/reference/errors.md", "tests/data/paddle_names.txt")


class BuildPy(build_py):
    """Copies files into `dy2st` of the build."""

    def run(self):
        super().run()
        if not self.editable_mode:  # an editable install reads the files where they are
            target = Path(self.build_lib) / "dy2st"
            target.mkdir(parents=True, exist_ok=True)
            for source in COPIED:
                shutil.copy(Path(__file__).parent / source, target)


setup(cmdclass={"build_py": BuildPy})
