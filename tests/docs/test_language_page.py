"""The rows of docs/reference/language.md are proven by programs that the tests run, and the page of peers cites its sources."""

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import language_programs  # noqa: E402

ROWS, PROGRAMS = language_programs.rows(), language_programs.programs()
PEERS = (ROOT / "docs" / "reference" / "language_peers.md").read_text(encoding="utf-8")
PEER_ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"^\|(?! construct|---).*\|$", PEERS, re.M)]
PEER_ROWS = [row for row in PEER_ROWS if len(row) == 6]
SOURCES = set(re.findall(r"^- ([PATSJ]\d) \[", PEERS, re.M)) | {"M"}


def functions(path):
    return {n.name for n in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(n, ast.FunctionDef)}


def run(path):
    """The names in the list `CASES` of a file of the corpus."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    cases = next(n for n in tree.body if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "CASES")
    return {n.id for n in ast.walk(cases.value) if isinstance(n, ast.Name)}


def test_there_are_some_120_rows_and_each_is_proven():
    assert 120 <= len(ROWS) <= 140
    assert [row.construct for row in ROWS] == list(PROGRAMS)
    assert all(PROGRAMS.values())


def test_the_appendix_is_up_to_date():
    assert language_programs.APPENDIX.read_text(encoding="utf-8") == language_programs.text(), "run tools/language_programs.py"


@pytest.mark.parametrize("row", ROWS, ids=[r.construct[:40] for r in ROWS])
def test_row(row):
    assert re.match(r"yes|no: D2S\d+(, D2S\d+)*$|left out$", row.answer), row.answer
    for cell in row[1:]:
        assert len(cell.split()) <= 14, cell
    for name in PROGRAMS[row.construct]:
        file, function = name.split()[0].split(".")
        if file == "culprits":
            assert any(function in functions(path) for path in (ROOT / "tests" / "jit" / "culprits").glob("*.py")), function
            assert name.split()[1] in row.answer + row.note, f"{name}: the row names no such code"
        elif file.startswith("test_"):
            (path,) = (p for folder in ("convert", "jit") for p in (ROOT / "tests" / folder).rglob(f"{file}.py"))
            assert function in functions(path), function
        else:
            assert not row.answer.startswith("no"), f"{name}: a program that runs proves no refusal"
            assert function in run(ROOT / "tests" / "programs" / f"{file}.py"), name


@pytest.mark.parametrize("row", PEER_ROWS, ids=[r[0][:40] for r in PEER_ROWS])
def test_row_on_others(row):
    for cell, letter in zip(row[1:], "PATSJ", strict=True):
        cited = re.findall(r"\b([A-Z]\d?)(?=,|$| )", cell)
        assert cell == "?" or set(cited) & SOURCES, f"{cell!r} names no source"
        assert all(c in SOURCES and c[0] in (letter, "M") for c in cited), cell


def test_all_sources_are_cited():
    assert len(PEER_ROWS) > 30
    assert {"P1", "J5"} < SOURCES
    assert all(re.search(rf"\b{source}\b", PEERS.partition("## Sources")[0]) for source in SOURCES)
