"""What docs/language.md names exists, and is run by the tests of the corpus."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
OURS, _, PEERS = TEXT.partition("\n## Elsewhere\n")
ROWS = re.findall(r"^\| (?!construct|---)(.*) \| (.*) \|(.*)\|$", OURS, re.M)
PEER_ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"^\| (?!construct).*\|$", PEERS, re.M)]
SOURCES = set(re.findall(r"\b([PATSJ]\d)\s+\[", PEERS)) | {"M"}


def functions(path):
    return {n.name for n in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(n, ast.FunctionDef)}


def run(path):
    """The names in the list `CASES` of a file of the corpus."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    cases = next(n for n in tree.body if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "CASES")
    return {n.id for n in ast.walk(cases.value) if isinstance(n, ast.Name)}


@pytest.mark.parametrize("row", ROWS, ids=[r[0][:40] for r in ROWS])
def test_row(row):
    construct, what, shown = row
    named = re.findall(r"`(\w+)\.(\w+)`", shown)
    assert named or construct == "`async`", "the row names no program"
    for file, function in named:
        if file == "culprits":
            assert any(function in functions(path) for path in (ROOT / "tests" / "jit" / "culprits").glob("*.py")), function
            assert "refused" in what or "error" in what.lower(), what
        elif file.startswith("test_"):
            (path,) = (p for folder in ("jit", "convert") for p in (ROOT / "tests" / folder).rglob(f"{file}.py"))
            assert function in functions(path), function
        else:
            path = ROOT / "tests" / "programs" / f"{file}.py"
            assert function in run(path), f"{file}.{function}"


@pytest.mark.parametrize("row", PEER_ROWS, ids=[r[0][:40] for r in PEER_ROWS])
def test_row_on_others(row):
    construct, ours, *cells = row
    assert len(cells) == 5, construct
    assert ours in OURS, "no row of ours has this program"
    for cell, letter in zip(cells, "PATSJ", strict=True):
        cited = re.findall(r"\b([A-Z]\d?)(?=,|;|\.|$| )", cell)
        assert cell == "?" or set(cited) & SOURCES, f"{cell!r} names no source"
        assert all(c in SOURCES and c[0] in (letter, "M") for c in cited if len(c) == 2 or c == "M"), cell


def test_all_sources_are_cited():
    assert {"P1", "J5"} < SOURCES
    assert all(re.search(rf"\b{source}\b", PEERS.partition("### Sources")[0]) for source in SOURCES)
