"""`python -m dy2st explain`: the page of each code, in a checkout and as the build installs it."""

import subprocess
import sys
from pathlib import Path

import pytest

from dy2st import cli

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "reference" / "errors.md"


def test_the_page_of_a_code(capsys):
    assert cli.main(["explain", "D2S101"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("D2S101 StagedValueError\n\nPython needs the value of a tensor")
    assert "An example that fails:\n\n    @to_static\n    def f(x):\n" in text
    assert "Its cure:\n\n    @to_static\n" in text
    assert "    import dy2st as paddle" in text
    assert "`" not in text
    assert "](" not in text


def test_small_letters_will_do(capsys):
    assert cli.main(["explain", "d2s001"]) == 0
    assert capsys.readouterr().out.startswith("D2S001 ShapeError")


def test_every_code_of_the_page_has_a_text():
    found = cli.explanations()
    assert len(found) > 25
    assert all(len(text) > 80 for text in found.values())
    assert {"D2S000", "D2S010", "D2S015"} < set(found)


@pytest.mark.parametrize(("code", "words"), [("D2S11", "near it: D2S"), ("nonsense", "codes are D2S000 to D2S106")])
def test_a_code_that_has_no_page(code, words, capsys):
    assert cli.main(["explain", code]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: no error has the code '{code}'")
    assert words in err


def test_the_command_is_a_module():
    done = subprocess.run([sys.executable, "-m", "dy2st", "explain", "D2S105"], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.startswith("D2S105 StructureError")


def test_an_installed_package_has_the_page_beside_it(tmp_path, monkeypatch, capsys):
    """As setup.py puts it there: without the docs."""
    (tmp_path / "errors.md").write_bytes(PAGE.read_bytes())
    monkeypatch.setattr(cli, "PAGES", (tmp_path / "errors.md", tmp_path / "no" / "errors.md"))
    assert cli.main(["explain", "D2S106"]) == 0
    assert capsys.readouterr().out.startswith("D2S106 LeakError")
