"""`python -m dy2st run`: scripts that import paddle, as they are."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent

SCRIPT = """\
import sys
import paddle
from beside import scale

@paddle.jit.to_static
def f(x):
    if x.sum() > 0:
        x = x * scale
    return x

if __name__ == "__main__":
    print(paddle.__name__, f(paddle.ones([2])).tolist(), sys.argv[1:])
    sys.exit(3)
"""


def run(folder, *arguments):
    python = f"import runpy, sys; sys.path.insert(1, {str(ROOT)!r}); runpy.run_module('dy2st', run_name='__main__', alter_sys=True)"
    return subprocess.run([sys.executable, "-c", python, "run", *arguments], capture_output=True, text=True, cwd=folder)


@pytest.fixture
def scripts(tmp_path):
    folder = tmp_path / "scripts"
    folder.mkdir()
    (folder / "train.py").write_text(SCRIPT)
    (folder / "beside.py").write_text("scale = 3\n")
    return folder


def test_a_script_finds_paddle_its_arguments_and_the_modules_beside_it(scripts):
    done = run(scripts.parent, "scripts/train.py", "--epochs", "2", "-m")
    assert (done.stdout, done.stderr) == ("dy2st [3.0, 3.0] ['--epochs', '2', '-m']\n", "")
    assert done.returncode == 3


def test_a_module(scripts):
    done = run(scripts, "-m", "train", "1")
    assert done.stdout == "dy2st [3.0, 3.0] ['1']\n", done.stderr
    assert done.returncode == 3


def test_a_script_that_is_not_there(tmp_path):
    done = run(tmp_path, "train.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: there is no script 'train.py'\n"
