"""`tools/api_coverage.py`: the page of PaddlePaddle's names is up to date, and no coverage is below its bar."""

import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"


@pytest.fixture
def tool(monkeypatch):
    monkeypatch.syspath_prepend(str(TOOLS))
    monkeypatch.delitem(sys.modules, "api_coverage", raising=False)
    import api_coverage

    return api_coverage


def test_the_bars_hold(tool, capsys):
    assert tool.main([]) == 0, capsys.readouterr().err


def test_the_page_is_up_to_date(tool):
    assert tool.PAGE.read_text(encoding="utf-8") == tool.page(tool.usage(), tool.public()), "run python tools/api_coverage.py --write"


def test_below_a_bar_it_fails(tool, monkeypatch, capsys):
    monkeypatch.setitem(tool.BARS, "public names", 100.1)
    assert tool.main([]) == 1
    assert "public names: below the bar of 100.1 %" in capsys.readouterr().err


def test_a_coverage_is_rounded_down(tool):
    assert tool.Coverage(1999, 2000, ()).percent == 99.9


def test_uses_are_weighted_by_files(tool, monkeypatch, tmp_path):
    table = tmp_path / "usage.tsv"
    rows = ("# a comment", "files\tname", "6\tpaddle.concat", "2\tpaddle.qqq", "1\tpaddle.nn.qqq", "3\tTensor.abs", "1\tTensor.qqq")
    table.write_text("\n".join(rows))
    monkeypatch.setattr(tool, "USAGE", table)
    functions, attributes = tool.usage().values()
    assert functions == (6, 9, ("paddle.qqq", "paddle.nn.qqq"))
    assert attributes == (3, 4, ("paddle.Tensor.qqq",))


def test_the_page_says_what_becomes_of_a_name(tool, monkeypatch):
    names = {"paddle.concat", "paddle.sparse.qqq", "paddle.qqq", "paddle.qqq2", "paddle.nn.functional.softplus_"}
    monkeypatch.setattr(tool, "names", lambda: names)
    page = tool.page(tool.usage(), tool.public())
    assert "| `paddle` | 1 | 3 | 33.3 |" in page
    assert "## paddle\n\n1 of 3 names are here.\n\nPlanned:\n\n```text\nqqq qqq2\n```\n" in page
    assert "- `qqq`: left out, as there are no sparse tensors." in page
    assert "- `softplus_`: planned; use the form without the underscore, which gives a new tensor." in page
    assert "| all | 1 | 5 | 20.0 |" in page
