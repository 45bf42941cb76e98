"""Where each node comes from: stamps from the first parse, and the map from generated code back to the user's."""

from __future__ import annotations

import bisect
import functools
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import gast
from dy2st_runtime.errors import Location

from dy2st.transpiler import nodes

# a node of generated text: line, column, end line, end column, and where it comes from
Span: TypeAlias = tuple[int, int, int, int, Location]


def of(node: gast.AST) -> Location | None:
    """The user's place that the node comes from."""
    return getattr(node, "origin", None)


def inherit(tree: gast.AST, at: gast.AST) -> gast.AST:
    """Gives the origin of `at` to the nodes of the tree that have none; returns the tree.

    Below a node that has an origin all nodes have one: new nodes are put around old ones, never inside.
    """
    origin = of(at)
    if origin is not None:
        _inherit(tree, origin)
    return tree


def _inherit(node: gast.AST, origin: Location) -> None:
    if of(node) is None:
        node.origin = origin
        for child in nodes.children(node):
            _inherit(child, origin)


class Stamper:
    """Stamps the nodes of a parsed function with file, line, column, function and text of the line.

    >>> tree = gast.parse("def f(x):\\n    return x + 1").body[0]
    >>> Stamper("model.py", ["def f(x):\\n", "    return x + 1\\n"]).stamp(tree)
    >>> print(of(tree.body[0].value).excerpt())
      model.py:2:12 in f
        return x + 1
               ^^^^^
    """

    def __init__(self, file: str, lines: Sequence[str]):
        self.file, self.lines = file, lines

    def stamp(self, node: gast.AST, function: str = "") -> None:
        if isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef)):
            function = node.name
        elif isinstance(node, gast.Lambda) and not function:
            function = "<lambda>"
        if getattr(node, "lineno", None):
            node.origin = self.location(node, function)
        for child in nodes.children(node):
            self.stamp(child, function)

    def location(self, node: gast.AST, function: str) -> Location:
        text = self.lines[node.lineno - 1].rstrip("\n") if node.lineno <= len(self.lines) else ""
        col = _characters(text, node.col_offset)
        end = None
        if getattr(node, "end_lineno", None) is not None:
            # A node of several lines is underlined to the end of its first line.
            end = _characters(text, node.end_col_offset) if node.end_lineno == node.lineno else len(text)
        return Location(self.file, node.lineno, col, end, function, text)


def _characters(text: str, offset: int) -> int:
    """Columns of the parser count bytes of UTF-8, ours count characters."""
    return offset if text.isascii() else len(text.encode()[:offset].decode(errors="replace"))


def position(place: Location) -> tuple[int, int, int]:
    """Line, column and end column of a place as the parser has them, in bytes of UTF-8.

    >>> position(Location("model.py", 3, 4, 5, text="é = x"))
    (3, 5, 6)
    """
    text, col = place.text, place.col
    end = col if place.end_col is None else place.end_col
    return (place.line, col, end) if text.isascii() else (place.line, len(text[:col].encode()), len(text[:end].encode()))


def _first(name: str, end: str = "_") -> str:
    """The name without its number (and what stands before that): `if_body` of `if_body_1`, `break` of `break_1`."""
    return name.rstrip("0123456789").removesuffix(end)


class SourceMap:
    """From positions to the user's places: from those in generated text, and from those in code that has the user's own.

    Args:
        filename: the file of the text.
        spans: the nodes of the text that have an origin, outer ones first.
        made: the names in it that are not the user's.

    Attributes:
        variables, functions: those of them that variables and functions have.
    """

    def __init__(self, filename: str, spans: Sequence[Span], made: Iterable[str]):
        self.filename, self.spans = filename, spans
        known = frozenset(made)
        self.functions = frozenset(n for n in known if _first(n) in known or not _first(n, "").endswith("_"))
        self.variables = known - self.functions

    @functools.cached_property
    def _exact(self) -> dict[tuple[int, int, int, int], Location]:
        # Where two nodes have the same span (an Expr and its Call) the inner one is the one that Python's
        # instructions belong to.
        return {(line, col, end_line, end_col): origin for line, col, end_line, end_col, origin in self.spans}

    @functools.cached_property
    def lines(self) -> dict[int, Location]:
        """Line of the text -> the place of the first node there."""
        return {line: origin for line, _, _, _, origin in reversed(self.spans)}

    @functools.cached_property
    def _known_lines(self) -> list[int]:
        return sorted(self.lines)

    @functools.cached_property
    def _places(self) -> dict[tuple[int, int, int], Location]:
        return {position(origin): origin for *_, origin in self.spans}

    @functools.cached_property
    def _lines_of_user(self) -> dict[int, Location]:
        return {origin.line: origin for *_, origin in reversed(self.spans)}

    def line(self, lineno: int) -> Location | None:
        """The place of the first node on a line of the text, or of the statement that the line belongs to."""
        found = bisect.bisect_right(self._known_lines, lineno)
        return self.lines[self._known_lines[found - 1]] if found else None

    def span(self, line: int, col: int, end_line: int, end_col: int) -> Location | None:
        """The place of the node with these positions in the text, else of the smallest node around them."""
        exact = self._exact.get((line, col, end_line, end_col))
        if exact is not None:
            return exact
        best, size = None, None
        for l0, c0, l1, c1, origin in self.spans:
            if (l0, c0) <= (line, col) and (end_line, end_col) <= (l1, c1):
                extent = (l1 - l0, c1 - c0)
                if size is None or extent <= size:
                    best, size = origin, extent
        return best if best is not None else self.line(line)

    def place(self, line: int, col: int | None = None, end_col: int | None = None) -> Location | None:
        """The place of the user's that has this position, else the first on the line."""
        exact = None if col is None or end_col is None else self._places.get((line, col, end_col))
        return exact or self._lines_of_user.get(line)
