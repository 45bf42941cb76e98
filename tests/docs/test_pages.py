"""All blocks of code of all pages run, and print what the pages say."""

import doctest
from pathlib import Path

import pytest
from dy2st_runtime.config import Flag

import dy2st

from . import pages
from .pages import Block, Runner, blocks

ROOT = Path(__file__).parent.parent.parent
ERRORS = ROOT / "docs" / "reference" / "errors.md"  # test_error_pages.py runs it
PAGES = sorted({*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")} - {ERRORS})


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runner = Runner(page.name, tmp_path)
    for block in blocks(page.read_text(encoding="utf-8")):
        runner.run(block)


def run(tmp_path, *given):
    runner = Runner("page.md", tmp_path)
    for language, mark, text in given:
        runner.run(Block(language, mark, text, 1))


def test_blocks_share_a_namespace_and_their_output_is_compared(tmp_path):
    run(tmp_path, ("python", "", "x = 3"), ("python", "", "print('x is', x)"), ("text", "output", "x is 3"))
    with pytest.raises(AssertionError, match="x is 3"):
        run(tmp_path, ("python", "", "print('x is', 3)"), ("text", "output", "x is 4"))


def test_failing_is_asked_for(tmp_path):
    run(tmp_path, ("python", "fails", "1 / 0"), ("text", "output", "ZeroDivisionError: ..."))
    with pytest.raises(ZeroDivisionError):
        run(tmp_path, ("python", "", "1 / 0"))
    with pytest.raises(AssertionError, match="does not fail"):
        run(tmp_path, ("python", "fails", "1"))


def test_commands_find_the_files_of_the_page(tmp_path):
    run(tmp_path, ("python", "file:a.py", "print(5)"), ("sh", "", "python a.py\necho end"), ("text", "output", "5\nend"))
    with pytest.raises(AssertionError, match="nothing"):
        run(tmp_path, ("sh", "", "echo nothing\nfalse\necho more"))


def test_a_block_of_another_kind_is_an_error(tmp_path):
    run(tmp_path, ("python", "skip: no GPU here", "1 / 0"))
    with pytest.raises(AssertionError, match="nobody runs"):
        run(tmp_path, ("cpp", "", ""))


def test_blocks_of_a_page():
    page = "a\n```python fails\nx\n```\n- b\n  ```sh\n  ls\n  ```\n```{code-cell} python\n:tags: [x]\ny\n```\n"
    assert blocks(page) == [Block("python", "fails", "x\n", 2), Block("sh", "", "ls\n", 6), Block("python", "", "y\n", 9)]


def test_examples_of_the_docstrings():
    assert doctest.testmod(pages) == (0, 1)


def test_every_switch_is_described():
    page = (ROOT / "docs" / "reference" / "switches.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1].strip() for line in page.splitlines() if line.startswith(("| `DY2ST_", "| `FLAGS_"))]
    assert sorted(rows) == sorted(f"`{name}`" for name in Flag.table), dy2st.config.describe()
