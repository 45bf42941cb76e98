"""What nearly every model needs is compiled by a second process while the first static function of a process is traced."""

import subprocess
import sys

import pytest
from dy2st_runtime import threads

PROGRAM = """
from contextlib import contextmanager

import dy2st as paddle
from dy2st_runtime.executor.compile import USUAL, KernelCompiler

begun, real = [], KernelCompiler.beginning

@contextmanager
def noted(self, names):
    with real(self, names):
        begun.append([*names])
        yield

KernelCompiler.beginning = noted

@paddle.jit.to_static
def f(x):
    seen.append([*begun])
    return x @ x + 1

seen = []
print(f(paddle.ones([2, 2]))[0, 0].item())
assert seen == [[[*USUAL]]], seen  # before the function was traced
count = len(begun)
print(f(paddle.ones([2, 3]).t() @ paddle.ones([2, 3]))[0, 0].item())
assert len(seen[1]) == count, seen  # another trace begins with nothing
"""


@pytest.mark.skipif(threads.available() < 2, reason="the parent compiles alone")
def test_the_first_trace_is_begun_with(tmp_path) -> None:
    script = tmp_path / "script.py"
    script.write_text(PROGRAM)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["3.0", "13.0"]
