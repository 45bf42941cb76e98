"""`python -O` leaves no asserts, `python -OO` no docstrings either."""

import subprocess
import sys

import pytest

EVERYTHING = """
import importlib, pkgutil, dy2st, dy2st_runtime
for package in dy2st, dy2st_runtime:
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
"""
TRAINED = """
import dy2st as paddle

@paddle.jit.to_static
def halve_until(x, limit):
    '''Halves.'''
    steps = 0
    while x.norm() > limit:
        x = x / 2
        steps += 1
    return x, steps

x = paddle.to_tensor([3.0, 4.0], stop_gradient=False)
y, steps = halve_until(x, paddle.to_tensor(1.0))
y.sum().backward()
print(y.numpy(), int(steps), x.grad.numpy())
"""


@pytest.mark.slow
@pytest.mark.parametrize("option", ["-O", "-OO"])
def test_everything_is_imported_and_a_loop_is_trained(option, tmp_path):
    script = tmp_path / "script.py"  # a file, as functions are read from there
    script.write_text(EVERYTHING + TRAINED)
    done = subprocess.run([sys.executable, option, script], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[0.375 0.5  ] 3 [0.125 0.125]\n", "")


def test_the_package_is_imported_without_docstrings():
    code = "import dy2st; assert dy2st.nn.TransformerEncoderLayer.__doc__ is None"
    subprocess.run([sys.executable, "-OO", "-c", code], check=True)
