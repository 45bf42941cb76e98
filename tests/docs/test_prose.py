"""The pages are written in short sentences and short lines; and how `tools/prose.py` counts."""

import doctest
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
SPEC = importlib.util.spec_from_file_location("prose", ROOT / "tools" / "prose.py")
prose = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(prose)

MEAN, LONGEST, LINE = 18, 45, 120  # words, words, characters
PAGES = {str(path.relative_to(ROOT)): path for path in prose.pages()}


@pytest.mark.parametrize("name", sorted(PAGES))
def test_short_sentences_and_lines(name):
    page = prose.measure(PAGES[name])
    assert page.words <= LONGEST, page.longest
    assert page.mean < MEAN
    assert page.line <= LINE


def test_examples_of_the_docstrings():
    assert doctest.testmod(prose) == (0, 2)


def counted(tmp_path, text):
    path = tmp_path / "page.md"
    path.write_text(text, encoding="utf-8")
    return prose.measure(path)


def test_code_is_no_sentence_but_its_lines_count(tmp_path):
    page = counted(tmp_path, "Two words.\n\n```python\n" + "x " * 70 + "\n```\n")
    assert (page.sentences, page.longest, page.line) == (1, "Two words.", 140)


def test_links_count_by_their_text_and_code_spans_once(tmp_path):
    page = counted(tmp_path, "See [the page](https://a.b/c?d) and `x = y + z`,\nthen {doc}`go <there>`.\n")
    assert (page.words, page.sentences) == (7, 1)


def test_cells_are_texts_of_their_own_and_leave_the_mean_alone(tmp_path):
    page = counted(tmp_path, "One two three.\n\n| a | b c d e |\n|---|---|\n| yes | no |\n")
    assert (page.sentences, page.words, page.mean) == (5, 4, 3)


def test_notes_are_text_and_cells_of_a_notebook_are_not(tmp_path):
    page = counted(
        tmp_path,
        "---\nkernel: a. b. c.\n---\n(target)=\n# Title\n\n```{note}\nIn a note.\n```\n\n```{code-cell} python\na. b.\n```\n",
    )
    assert page.sentences == 2
    assert page.mean == 3
