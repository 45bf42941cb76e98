"""The examples in the docstrings of eager mode."""

import doctest
import importlib
import pkgutil

import pytest

import dy2st
from dy2st import alias, autograd, distribution, framework, metric, nn, optimizer, regularizer, tensor, unique_name

PACKAGES = (distribution, tensor, nn, nn.functional, nn.utils, optimizer, framework)
MODULES = [
    f"{p.__name__}.{m.name}" for p in PACKAGES for m in pkgutil.iter_modules(p.__path__) if m.name != "signatures"
]
MODULES += [m.__name__ for m in (alias, autograd, metric, regularizer, unique_name)]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    module = importlib.import_module(name)
    names = {"Tensor": dy2st.Tensor}
    result = doctest.testmod(module, extraglobs=names)
    assert result.failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder()
    count = sum(bool(t.examples) for name in MODULES for t in finder.find(importlib.import_module(name)))
    assert count > 120
