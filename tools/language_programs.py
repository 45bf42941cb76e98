"""Writes docs/reference/language_programs.md: the programs that prove each row of the language page.

    python tools/language_programs.py

The rows are those of docs/reference/language.md, in their order; tests/docs/language_programs.txt says which programs prove them.
A test fails while the page is not what this script writes.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "reference" / "language.md"
APPENDIX = ROOT / "docs" / "reference" / "language_programs.md"
PROGRAMS = ROOT / "tests" / "docs" / "language_programs.txt"

HEAD = """# The programs behind the language page

`python tools/language_programs.py` writes this page. It lists what proves each row of [the language](language.md).

- `FILE.FUNCTION` is a program of `tests/programs`. It gives the same results, gradients and exceptions in eager mode,
  statically, and by the reference interpreter of Programs.
- `test_FILE.FUNCTION` is a test of `tests/convert` or `tests/jit`.
- `culprits.FUNCTION` is a program of `tests/jit/culprits`. It is refused with this code, at the line that it marks.
"""


class Row(NamedTuple):
    """A row of the language page, with the heading that it stands below."""

    theme: str
    construct: str
    answer: str
    note: str


def rows() -> list[Row]:
    """The rows of the language page, in their order."""
    found, theme = [], ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            theme = line[3:]
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 3 and cells[0] != "construct" and not cells[0].startswith("---"):
            found.append(Row(theme, *cells))
    return found


def programs() -> dict[str, list[str]]:
    """For each construct the programs that prove its row: `FILE.FUNCTION`, or `culprits.FUNCTION CODE`."""
    found: dict[str, list[str]] = {}
    construct = ""
    for line in PROGRAMS.read_text(encoding="utf-8").splitlines():
        if line.startswith("    "):
            found[construct].append(line.strip())
        elif line.strip() and not line.startswith("#"):
            construct = line.strip()
            found[construct] = []
    return found


def text() -> str:
    """The appendix as it has to be."""
    proofs, parts, theme = programs(), [HEAD], ""
    for row in rows():
        if row.theme != theme:
            theme = row.theme
            parts.append(f"\n## {theme}\n")
        names = textwrap.wrap(", ".join(name.replace(" ", "\0") for name in proofs[row.construct]), 88, break_on_hyphens=False)
        listed = "\n".join(names).replace("\0", " ")
        parts.append(f"\n**{row.construct}** ({row.answer})\n\n```text\n{listed}\n```\n")
    return "".join(parts)


if __name__ == "__main__":
    APPENDIX.write_text(text(), encoding="utf-8")
