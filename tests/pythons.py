"""The wheel, installed with each Python that is there, with some tests of each package: `make test-pythons`.

`build` makes the source distribution, and the wheel from it: so what the one lacks, the other lacks too. Each Python gets a fresh virtual
environment in `.venv-pythons` with the wheel, its extra for pictures and the tools for tests. It runs `tests/tiny.py` and an example of
the README away from the checkout. The Python that this script runs with is left out where another one is there, as `make test` has it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.lowest import TOOLS, python_of
from tests.tiny import TESTS

ROOT = Path(__file__).parent.parent
HOME = ROOT / ".venv-pythons"
MINORS = range(10, 15)


def run(*command: str | Path, **options: object) -> None:
    subprocess.run([str(part) for part in command], check=True, **options)  # type: ignore[call-overload]


def environment(home: Path, python: str, *packages: str | Path) -> Path:
    """The Python of a new virtual environment with these packages."""
    run(python, "-m", "venv", "--clear", home)
    run(home / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
    return home / "bin" / "python"


def built() -> Path:
    """The wheel, made from the source distribution."""
    builder = environment(HOME / "build", sys.executable, "build>=1.2")
    folder = HOME / "dist"
    shutil.rmtree(folder, ignore_errors=True)
    run(builder, "-m", "build", "--outdir", folder, ROOT, stdout=subprocess.DEVNULL)
    (wheel,) = folder.glob("*.whl")
    return wheel


def ten_lines() -> str:
    """The first example of the README."""
    found = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    if not found:
        raise SystemExit("README.md has no Python example")
    return found[1]


def try_wheel(python: Path, cache: Path) -> None:
    """Runs the tests and the example with an installed wheel, in a folder from which the checkout is not imported."""
    tests = [str(ROOT / "tests" / test) for test in TESTS.values()]
    with tempfile.TemporaryDirectory() as away:
        options = {"cwd": away, "env": {**os.environ, "PYTHONPATH": "", "DY2ST_CACHE_DIR": str(cache)}}
        example = Path(away) / "example.py"
        example.write_text(ten_lines(), encoding="utf-8")
        run(python, example, stdout=subprocess.DEVNULL, **options)
        run(python, "-m", "dy2st_runtime", "--help", stdout=subprocess.DEVNULL, **options)
        run(python, "-c", "import dy2st, sys; sys.exit(not dy2st.__file__.startswith(sys.prefix))", **options)
        # files that the build copies into the package
        run(python, "-m", "dy2st", "explain", "D2S101", stdout=subprocess.DEVNULL, **options)
        run(python, "-c", "from dy2st import paddle_names; assert paddle_names.names()", **options)
        pytest = ("-m", "pytest", "-q", "-n", "auto", "-m", "not slow", "-p", "no:cacheprovider", "--rootdir", ROOT)
        run(python, *pytest, "-c", ROOT / "pyproject.toml", *tests, **options)


def main(minors: Sequence[int]) -> int:
    found = {minor: python for minor in minors if (python := python_of(minor))}
    others = {minor: python for minor, python in found.items() if minor != sys.version_info.minor} or found
    if not others:
        raise SystemExit(f"none of Python 3.{MINORS[0]} to 3.{MINORS[-1]} is on this machine")
    wheel = built()
    for minor, python in others.items():
        print(f"Python 3.{minor}, {wheel.name}", flush=True)
        try_wheel(environment(HOME / f"3.{minor}", python, f"{wheel}[vision]", *TOOLS), HOME / "cache")
    missing = [f"3.{minor}" for minor in minors if minor not in found]
    if missing:
        print(f"not on this machine, and not tried: Python {', '.join(missing)}")
    return 0


if __name__ == "__main__":
    sys.exit(main([int(minor) for minor in sys.argv[1:]] or MINORS))
