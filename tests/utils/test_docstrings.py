"""The examples in the docstrings of what surrounds a model do what they say."""

import doctest
import importlib
import pkgutil

import pytest

import dy2st as paddle

PACKAGES = (paddle.device, paddle.distributed, paddle.incubate, paddle.inference, paddle.utils)
MODULES = ["dy2st.version", *(f"dy2st.static.{name}" for name in ("averaging", "compiled_program", "places"))]
for package in PACKAGES:
    found = [m.name for m in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
    MODULES += [package.__name__, *(name for name in found if not name.endswith("__main__"))]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
