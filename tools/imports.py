"""Prints the circles in the import graph of the repository's files, and the imports inside functions of a package.

    python tools/imports.py                     # the circles; exit status 1 if there is one
    python tools/imports.py --late dy2st.convert    # imports inside functions there, too

An import inside a function is an arrow like any other: it hides a circle and does not open it. Imports for the type checker alone
(`if TYPE_CHECKING:`) are none.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SOURCES = (ROOT, ROOT / "runtime")
PACKAGES = ("dy2st", "dy2st_runtime")


class Import(NamedTuple):
    """One file imports another. `function`: the function that the import is in, if any; `names`: what it takes from there."""

    importer: str
    imported: str
    line: int
    function: str | None
    names: tuple[str, ...]


def modules(sources: tuple[Path, ...] = SOURCES, packages: tuple[str, ...] = PACKAGES) -> dict[str, Path]:
    """The files of the packages, by the names under which they are imported."""
    found = {}
    for source in sources:
        for package in packages:
            for path in sorted((source / package).rglob("*.py")):
                parts = path.relative_to(source).with_suffix("").parts
                found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(known: dict[str, Path]) -> list[Import]:
    """All imports of these files from each other, but for those of a package's file from the package itself."""
    found = []
    for name, path in known.items():
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        for node, function in _statements(ast.parse(path.read_text(encoding="utf-8")), None):
            for imported, names in _targets(node, package, known):
                if imported != name:
                    found.append(Import(name, imported, node.lineno, function, names))
    return found


def _statements(tree: ast.AST, function: str | None) -> Iterator[tuple[ast.Import | ast.ImportFrom, str | None]]:
    """The import statements below a node, each with the function that it is in."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node, function
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for other in node.orelse:
                yield from _statements(ast.Module([other], []), function)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from _statements(node, node.name)
        else:
            yield from _statements(node, function)


def _targets(node: ast.Import | ast.ImportFrom, package: str, known: dict[str, Path]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The files that a statement imports, each with the names that it takes from there."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.name in known:
                yield alias.name, ()
        return
    base = node.module or ""
    if node.level:
        parts = package.split(".")
        base = ".".join([*parts[: len(parts) - node.level + 1], *([node.module] if node.module else [])])
    names = []
    for alias in node.names:
        if f"{base}.{alias.name}" in known:
            yield f"{base}.{alias.name}", ()
        else:
            names.append(alias.name)
    if names and base in known:
        yield base, tuple(names)


def circles(arrows: list[tuple[str, str]]) -> list[list[str]]:
    """The strongly connected components of more than one file, the largest first (Tarjan 1972)."""
    graph: dict[str, list[str]] = {}
    for a, b in arrows:
        graph.setdefault(a, []).append(b)
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    waiting: set[str] = set()  # what is on the stack
    found: list[list[str]] = []
    for root in sorted(graph):
        if root in index:
            continue
        work = [(root, iter(graph.get(root, ())))]
        index[root] = low[root] = len(index)
        stack.append(root)
        waiting.add(root)
        while work:
            node, rest = work[-1]
            for other in rest:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    waiting.add(other)
                    work.append((other, iter(graph.get(other, ()))))
                    break
                if other in waiting:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    at = stack.index(node)
                    found.append(sorted(stack[at:]))
                    waiting -= set(stack[at:])
                    del stack[at:]
    return sorted((c for c in found if len(c) > 1), key=len, reverse=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="imports.py", description=__doc__.splitlines()[0])
    parser.add_argument("--late", metavar="PACKAGE", help="list the imports inside functions of this package")
    options = parser.parse_args()
    found = imports(modules())
    for circle in (rings := circles([(i.importer, i.imported) for i in found])):
        print(f"a circle of {len(circle)} files: {', '.join(circle)}")
    print(f"{len(rings)} circles")
    if options.late:
        late = [i for i in found if i.function is not None and i.importer.startswith(options.late)]
        for i in late:
            print(f"{i.importer}:{i.line} in {i.function}: {i.imported} {', '.join(i.names)}")
        print(f"{len(late)} imports inside functions of {options.late}")
    return 1 if rings else 0


if __name__ == "__main__":
    sys.exit(main())
