"""The corpus: eager, native static and interpreted static agree, in results and gradients, with as few traces as expected."""

import importlib
import pkgutil

import corpus
import pytest
from three_ways import check

MODULES = [importlib.import_module(f"corpus.{m.name}") for m in pkgutil.iter_modules(corpus.__path__)]
CASES = [case for module in MODULES for case in module.CASES]


@pytest.mark.parametrize(("function", "calls", "traces"), CASES, ids=[c[0].__name__ for c in CASES])
def test_program(function, calls, traces):
    check(function, calls, traces)
