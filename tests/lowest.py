"""The lowest versions of the dependencies that pyproject.toml allows, with some tests of each: `python -m tests.lowest`.

They are installed into a virtual environment of their own (`.venv-lowest`), of the lowest Python that is there. A bound that is too low,
or two that do not go together, fail here rather than at a user's.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
HOME = ROOT / ".venv-lowest"
TESTS = (
    "tests/transpiler/test_scenarios.py",  # gast, astor
    "tests/runtime/executor/test_executable.py", "tests/runtime/executor/test_values.py",  # llvmlite
    "tests/runtime/executor/test_gradients.py",
    "tests/runtime/executor/test_mathlib.py",  # scipy
    "tests/runtime/formats/test_inference_model.py", "tests/runtime/formats/test_paddle_models.py",  # protobuf
    "tests/jit/test_static_function.py", "tests/convert/training/test_training_step.py", "tests/jit/test_save_load.py",
    "tests/optimizer",
    "tests/runtime/executor/test_engines.py", "tests/test_custom_ops.py",  # numba
    "tests/vision/test_transforms.py",  # pillow
)  # fmt: skip
TOOLS = ("pytest", "hypothesis", "pytest-timeout", "pytest-xdist", "threadpoolctl")


def lowest() -> list[str]:
    """The requirements of the package and of its extra `vision`, each with its lowest version."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (listed,) = re.findall(r"^dependencies = \[(.*?)^\]", text, re.MULTILINE | re.DOTALL)
    (vision,) = re.findall(r"^vision = \[(.*?)\]", text, re.MULTILINE)
    found = re.findall(r'"([\w-]+)>=([\w.]+)"', listed + vision)
    if len(found) != listed.count('",') + vision.count('"') // 2:
        raise SystemExit("a dependency in pyproject.toml has no lowest version: write it as name>=version")
    return [f"{name}=={version}" for name, version in found]


def python_of(minor: int) -> str | None:
    """The command of Python 3.`minor`, also where only pyenv knows it; None if it is not on this machine."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    version = f"import sys; sys.exit(sys.version_info[:2] != (3, {minor}))"
    for python in (shutil.which(f"python3.{minor}"), *sorted(pyenv.glob(f"versions/3.{minor}.*/bin/python"))):
        if python and subprocess.run([python, "-c", version], capture_output=True, check=False).returncode == 0:
            return str(python)
    return None


def lowest_python() -> str:
    """The lowest Python on this machine that the lowest versions are there for."""
    for minor in (10, 11, 12):
        if python := python_of(minor):
            return python
    raise SystemExit("the lowest versions of the dependencies need Python 3.10, 3.11 or 3.12")


def main() -> None:
    python = HOME / "bin" / "python"
    subprocess.run([lowest_python(), "-m", "venv", "--clear", HOME], check=True)
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, *lowest(), *TOOLS], check=True)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "runtime")]), "DY2ST_CACHE_DIR": str(HOME / "cache")}
    command = [python, "-m", "pytest", "-q", "-n", "auto", "-m", "not slow", "-p", "no:cacheprovider", *TESTS]
    sys.exit(subprocess.run(command, cwd=ROOT, env=env, check=False).returncode)


if __name__ == "__main__":
    main()
