"""Where the instructions of generated code stand in its text.

Python 3.11 and newer keep this in code objects. Python 3.10 keeps lines only, and one line of generated
code may hold several of the user's. So there the text is compiled a second time, from a tree in which
each node stands on a line of its own: the lines of this twin tell the nodes.
"""

from __future__ import annotations

import ast
import bisect
import dis
import sys
import types
from typing import NamedTuple

Span = tuple[int, int, int, int]  # line, column, end line, end column

# Code objects by identity: equal code may stand at several places of a line. The code is kept, so that
# its identity is not given to another.
_known: dict[int, tuple[types.CodeType, dict[int, Span]]] = {}


class Table(NamedTuple):
    """Where the instructions of a code object stand, for all of them: Python's own iterators begin at the first one each time, so
    that asking them for each instruction would take the square of the length.

    Attributes:
        positions: first line, last line, column, end column of each instruction; none before Python 3.11.
        starts, lines: the offsets from which the instructions are of another line, and that line.
    """

    positions: list[tuple[int | None, int | None, int | None, int | None]]
    starts: list[int]
    lines: list[int | None]

    def line(self, instruction: int) -> int | None:
        """The line of the instruction at this offset, None where Python keeps none."""
        i = bisect.bisect_right(self.starts, instruction) - 1
        return self.lines[i] if i >= 0 else None


_tables: dict[int, tuple[types.CodeType, Table]] = {}
_MOST = 1_000


def table(code: types.CodeType) -> Table:
    """The table of a code object, made when it is first asked for."""
    known = _tables.get(id(code))
    if known is None:
        if len(_tables) >= _MOST:
            _tables.clear()
        ranges = list(code.co_lines())
        made = Table([], [start for start, _, _ in ranges], [line for _, _, line in ranges])
        if sys.version_info >= (3, 11):
            made.positions.extend(code.co_positions())
        known = _tables[id(code)] = code, made
    return known[1]


def position(code: types.CodeType, instruction: int) -> Span | None:
    """The place of the instruction at this offset, None where Python keeps none."""
    if instruction < 0:
        return None
    if sys.version_info < (3, 11):
        return _known[id(code)][1].get(instruction) if id(code) in _known else None
    found = table(code).positions
    start, end, col, end_col = found[instruction // 2] if instruction // 2 < len(found) else (None,) * 4
    if start is None or end is None or col is None or end_col is None:
        return None
    return start, col, end, end_col


def twin(tree: ast.Module, filename: str, flags: int) -> tuple[types.CodeType, list[Span]]:
    """The code of a parsed text with numbers of nodes for lines, and the places of the nodes, which the tree loses."""
    spans: list[Span] = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.stmt, ast.expr, ast.excepthandler)):
            assert node.end_lineno is not None
            assert node.end_col_offset is not None
            spans.append((node.lineno, node.col_offset, node.end_lineno, node.end_col_offset))
            node.lineno = node.end_lineno = len(spans)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            # Python 3.10 gives the call of a method the last line of the method's name.
            node.func.end_lineno = node.lineno
    return compile(tree, filename, "exec", dont_inherit=True, flags=flags), spans


def remember(code: types.CodeType, numbered: types.CodeType, spans: list[Span]) -> None:
    """Notes the places of the instructions of the code, and of the code inside, from its twin.

    Lines may decide whether the compiler merges two jumps. Code that differs from its twin is left with its lines.
    """
    ours, theirs = _instructions(code), _instructions(numbered)
    if [what for _, what in ours] == [what for _, what in theirs]:
        lines = {offset: number for start, stop, number in numbered.co_lines() for offset in range(start, stop, 2)}
        pairs = ((offset, lines.get(other)) for (offset, _), (other, _) in zip(ours, theirs, strict=True))
        _known[id(code)] = code, {offset: spans[number - 1] for offset, number in pairs if number}
    inner, twins = ([c for c in of.co_consts if isinstance(c, types.CodeType)] for of in (code, numbered))
    if [c.co_name for c in inner] == [c.co_name for c in twins]:
        for one, other in zip(inner, twins, strict=True):
            remember(one, other, spans)


def _instructions(code: types.CodeType) -> list[tuple[int, tuple[int, int | None]]]:
    """Offsets, and what is done there: without the NOPs that hold a line, and where jumps go to, which these shift."""
    jumps = {*dis.hasjabs, *dis.hasjrel}
    return [
        (i.offset, (i.opcode, None if i.opcode in jumps else i.arg))
        for i in dis.get_instructions(code)
        if i.opname not in ("NOP", "EXTENDED_ARG")
    ]
