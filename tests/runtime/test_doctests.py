"""Every example in a docstring of the runtime does what it says."""

import doctest
import importlib
import pkgutil

import dy2st_runtime
import pytest

MODULES = [
    m.name for m in pkgutil.walk_packages(dy2st_runtime.__path__, "dy2st_runtime.") if not m.name.endswith("cuda")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0
