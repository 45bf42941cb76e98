"""Runs the examples in the docstrings of the whole package."""

import ast
import doctest
import importlib
import pkgutil
import sys

import pytest

import dy2st.transpiler
from dy2st.transpiler import printer
from dy2st.transpiler.manager import PassManager

MODULES = sorted(m.name for m in pkgutil.walk_packages(dy2st.transpiler.__path__, "dy2st.transpiler."))


class Checker(doctest.OutputChecker):
    """Python 3.10 prints the same code with more parentheses; the examples show it as newer ones do."""

    def check_output(self, want, got, optionflags):
        if super().check_output(want, got, optionflags):
            return True
        if sys.version_info >= (3, 11):
            return False
        try:
            trees = [ast.parse(t.replace(doctest.BLANKLINE_MARKER, "")) for t in (want, got)]
        except SyntaxError:
            return False
        return ast.dump(trees[0]) == ast.dump(trees[1])


@pytest.mark.parametrize("name", MODULES)
def test_module(name):
    module = importlib.import_module(name)
    from dy2st.transpiler.passes.block_state import BlockState

    # What every example of a pass needs.
    extra = {"PassManager": PassManager, "show": printer.show, "gast": printer.gast, "BlockState": BlockState}
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner(checker=Checker())
    for test in finder.find(module, extraglobs={k: v for k, v in extra.items() if k not in vars(module)}):
        runner.run(test)
    assert runner.summarize().failed == 0


@pytest.mark.parametrize("name", [m for m in MODULES if ".passes." in m or ".analysis." in m])
def test_every_pass_and_analysis_has_an_example(name):
    module = importlib.import_module(name)
    if name.rpartition(".")[2] in ("blocks", "mutation"):  # helpers of passes
        return
    assert any(t.examples for t in doctest.DocTestFinder().find(module))
