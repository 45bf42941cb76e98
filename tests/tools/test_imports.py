"""`tools/imports.py`: which circles it finds, and what counts as an import."""

import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"


@pytest.fixture
def tool(monkeypatch):
    monkeypatch.syspath_prepend(str(TOOLS))
    monkeypatch.delitem(sys.modules, "imports", raising=False)
    import imports

    return imports


@pytest.fixture
def package(tmp_path):
    """Writes files of a package `p` and gives the folder."""

    def write(**files):
        (tmp_path / "p" / "sub").mkdir(parents=True, exist_ok=True)
        for name in ("p/__init__.py", "p/sub/__init__.py"):
            (tmp_path / name).touch()
        for name, text in files.items():
            (tmp_path / "p" / f"{name.replace('__', '/')}.py").write_text(text)
        return tmp_path

    return write


def arrows(tool, folder):
    return {(i.importer, i.imported): i for i in tool.imports(tool.modules((folder,), ("p",)))}


def test_forms_of_imports_and_where_they_lead(tool, package):
    text = "import p.b\nfrom . import c\nfrom .sub import d, name\nfrom .sub.d import x, y\nimport os\n"
    folder = package(a=text, b="", c="", sub__d="from ..b import z\n")
    found = arrows(tool, folder)
    assert set(found) == {("p.a", "p.b"), ("p.a", "p.c"), ("p.a", "p.sub.d"), ("p.a", "p.sub"), ("p.sub.d", "p.b")}
    assert found["p.a", "p.sub"].names == ("name",)
    assert found["p.a", "p.sub.d"].names == ("x", "y")
    assert found["p.sub.d", "p.b"].line == 1


def test_an_import_in_a_function_counts_and_one_for_types_does_not(tool, package):
    text = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .b import B\n"
    text += "class C:\n    def f(self):\n        from .c import g\n"
    found = arrows(tool, package(a=text, b="", c=""))
    assert {key: i.function for key, i in found.items()} == {("p.a", "p.c"): "f"}


def test_circles(tool):
    chain = [("a", "b"), ("b", "c"), ("c", "d")]
    assert tool.circles(chain) == []
    assert tool.circles([*chain, ("c", "a")]) == [["a", "b", "c"]]
    assert tool.circles([*chain, ("b", "a"), ("d", "e"), ("e", "f"), ("f", "d")]) == [["d", "e", "f"], ["a", "b"]]
    # two circles that share a file are one
    assert tool.circles([("a", "b"), ("b", "a"), ("b", "c"), ("c", "b")]) == [["a", "b", "c"]]


def test_a_long_chain_does_not_end_the_search(tool):
    ring = [(str(i), str((i + 1) % 5000)) for i in range(5000)]
    assert list(map(len, tool.circles(ring))) == [5000]
