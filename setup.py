"""What pyproject.toml cannot say: the build copies the page of errors into the package, for `python -m dy2st explain`."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildPy(build_py):
    """Copies docs/reference/errors.md, the one source of its text, to `dy2st/errors.md` of the build."""

    def run(self):
        super().run()
        if not self.editable_mode:  # an editable install reads the page where it is
            target = Path(self.build_lib) / "dy2st" / "errors.md"
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(Path(__file__).parent / "docs" / "reference" / "errors.md", target)


setup(cmdclass={"build_py": BuildPy})
