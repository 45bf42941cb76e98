"""Runs the examples in the docstrings of the whole package."""

import doctest
import importlib
import pkgutil

import pytest

import dy2st.transpiler
from dy2st.transpiler import printer
from dy2st.transpiler.manager import PassManager

MODULES = sorted(m.name for m in pkgutil.walk_packages(dy2st.transpiler.__path__, "dy2st.transpiler."))


@pytest.mark.parametrize("name", MODULES)
def test_module(name):
    module = importlib.import_module(name)
    from dy2st.transpiler.passes.block_state import BlockState

    # What every example of a pass needs.
    extra = {"PassManager": PassManager, "show": printer.show, "gast": printer.gast, "BlockState": BlockState}
    result = doctest.testmod(module, extraglobs={k: v for k, v in extra.items() if k not in vars(module)})
    assert result.failed == 0


@pytest.mark.parametrize("name", [m for m in MODULES if ".passes." in m or ".analysis." in m])
def test_every_pass_and_analysis_has_an_example(name):
    module = importlib.import_module(name)
    if name.rpartition(".")[2] in ("blocks", "mutation"):  # helpers of passes
        return
    assert any(t.examples for t in doctest.DocTestFinder().find(module))
