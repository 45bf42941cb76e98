"""What is noted of a statement stays true through all passes, and the work grows with the function."""

import ast
import sys
from pathlib import Path

import gast
import pytest

from dy2st.transpiler import convert, kinds, nodes
from dy2st.transpiler.analysis.activity import Activity
from dy2st.transpiler.errors import ConversionError
from dy2st.transpiler.manager import Context, PassManager
from dy2st.transpiler.pipeline import PIPELINE
from dy2st.transpiler.trees import to_gast

HERE = Path(__file__).parent
FILES = [*HERE.glob("scenarios_*.py"), *(HERE.parent / "programs").glob("*.py")]
FUNCTIONS = [(f.name, node) for f in sorted(FILES) for node in ast.walk(ast.parse(f.read_text())) if isinstance(node, ast.FunctionDef)]


def described(effects):
    """The effects but for the identity of expressions."""
    return {key: list(value) if isinstance(value, dict) else value for key, value in vars(effects).items()}


@pytest.mark.parametrize("file", sorted({name for name, _ in FUNCTIONS}))
def test_notes_hold_after_each_pass(file):
    for node in (n for name, n in FUNCTIONS if name == file):
        tree = to_gast(node)
        tree.entry, tree.decorator_list = True, []
        manager = PassManager(tree, Context(tree))
        for kind in PIPELINE:
            try:
                manager.apply(kind)
            except ConversionError:
                break
            for piece in nodes.walk(tree):
                noted = vars(piece).get("kinds", -1)
                assert kinds.count(piece) & ~noted == 0, (kind, gast.dump(piece))
                known = manager.piece_facts.get(piece)
                if known is not None:
                    assert described(known) == described(Activity(None, None).effects([piece])), (kind, gast.dump(piece))


LINES = """
        h = self.layers[{i}](x) * {i} + self.scale
        if h.mean() > {i} and not self.training:
            h{i} = h / (h.sum() + {i})
            self.count += h{i}
        total = [v * 2 for v in (h, x)] if {i} % 2 else [h]
        for j, row in enumerate(h):
            if row.sum() > j:
                continue
            x = x + row * self.weights["{i}"]
        while x.sum() < {i}:
            x = x * 2
            if x.max() > 1:
                break
        assert x.shape[0] > 0, f"empty at {i}: {{x}}"
"""


def events(times, tmp_path, monkeypatch):
    """How many functions Python calls to convert so many repetitions."""
    body = "".join(LINES[1:].format(i=i) for i in range(times))
    (tmp_path / f"repeated{times}.py").write_text(f"class Model:\n    def forward(self, x):\n{body}        return x, total\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = __import__(f"repeated{times}")
    count = 0

    def count_calls(frame, event, argument):
        nonlocal count
        count += event == "call"

    sys.setprofile(count_calls)
    try:
        convert(module.Model.forward, None)
    finally:
        sys.setprofile(None)
    return count


def test_conversion_grows_with_the_function(tmp_path, monkeypatch):
    monkeypatch.setenv("DY2ST_NO_CACHE", "1")
    few = events(5, tmp_path, monkeypatch)
    some, many = (events(n, tmp_path, monkeypatch) - few for n in (10, 30))
    assert many < 5.2 * some  # five times the lines
