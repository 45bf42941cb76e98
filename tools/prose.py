"""Prints for each page of the documentation how long its sentences and its lines are.

    python tools/prose.py                   # a line for each page
    python tools/prose.py docs/index.md     # of some pages, with the longest sentence

How it counts:

- A text is a paragraph, the lead of a list item, a heading or a cell of a table. A code block is no text.
- A sentence ends with a full stop, a question mark or an exclamation mark before a space, or where its text ends. The full stop of an
  abbreviation (`ABBREVIATIONS`) ends none.
- A word has a letter or a digit in it, and stands between spaces. A code span is one word. The address of a link is none.
- The mean is that of paragraphs and list items: short cells would hide long sentences.
- Each line of a source counts by its characters, with those of code blocks and tables.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parent.parent
ABBREVIATIONS = frozenset({"e.g.", "i.e.", "etc.", "vs.", "cf."})
# MyST's blocks of code that hold text: what is in others is code, a list of pages, or an option
TEXT_BLOCKS = frozenset({"note", "tip", "important", "warning", "seealso", "admonition", "dropdown"})
SETTINGS = re.compile(r"\A---\n.*?\n---\n", re.S)
MARKS = re.compile(r"^\([\w-]+\)=$|^\+\+\+.*$", re.M)  # MyST's targets and breaks between cells


class Page(NamedTuple):
    """What was counted of a page."""

    path: Path
    sentences: int
    mean: float
    longest: str  # the sentence with the most words
    words: int  # of that
    line: int  # the number of characters of the longest line


def texts(source: str) -> Iterator[tuple[str, bool]]:
    """The texts of a page, and whether each counts for the mean."""
    tokens = MarkdownIt("commonmark").enable("table").parse(MARKS.sub("", SETTINGS.sub("", source)))
    opened = ""
    for token in tokens:
        if token.type in ("paragraph_open", "heading_open", "th_open", "td_open"):
            opened = token.type
        elif token.type == "inline":
            yield _words(token.children or ()), opened == "paragraph_open"
        elif token.type == "fence" and token.info.split("}")[0].strip("{ ") in TEXT_BLOCKS and token.info.startswith("{"):
            yield from texts(token.content)


def _words(children: Iterable[Token]) -> str:
    """The text of what stands in a paragraph: a code span is the one word `Code`."""
    parts = []
    for child in children:
        if child.type == "code_inline":
            parts.append("Code")
        elif child.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif child.type == "text":
            parts.append(re.sub(r"\{[\w:]+\}\Z", "", child.content))  # the name of a MyST role before its code span
    return "".join(parts)


def sentences(text: str) -> list[str]:
    """The sentences of a text.

    >>> sentences("It ends here. Does it, e.g. now? Yes")
    ['It ends here.', 'Does it, e.g. now?', 'Yes']
    """
    found: list[str] = []
    begun: list[str] = []
    for word in text.split():
        begun.append(word)
        if re.search(r"[.?!][)\"'’”*]*\Z", word) and word not in ABBREVIATIONS:
            found.append(" ".join(begun))
            begun = []
    return [*found, " ".join(begun)] if begun else found


def length(sentence: str) -> int:
    """How many words a sentence has.

    >>> length("One - two = 3")
    3
    """
    return sum(any(c.isalnum() for c in word) for word in sentence.split())


def measure(path: Path) -> Page:
    """Counts a page."""
    source = path.read_text(encoding="utf-8")
    every: list[str] = []
    of_mean: list[int] = []
    for text, counts in texts(source):
        of_text = [s for s in sentences(text) if length(s)]
        every += of_text
        of_mean += [length(s) for s in of_text] if counts else []
    longest = max(every, key=length, default="")
    mean = sum(of_mean) / len(of_mean) if of_mean else 0.0
    return Page(path, len(every), mean, longest, length(longest), max(map(len, source.splitlines()), default=0))


def pages(root: Path = ROOT) -> list[Path]:
    """The pages of the root and all below docs/."""
    return [*sorted(root.glob("*.md")), *sorted((root / "docs").rglob("*.md"))]


def main(names: list[str]) -> None:
    print(f"{'page':40} {'sentences':>9} {'mean':>5} {'longest':>7} {'line':>5}")
    for path in [Path(name).resolve() for name in names] or pages():
        page = measure(path)
        shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        print(f"{shown!s:40} {page.sentences:9} {page.mean:5.1f} {page.words:7} {page.line:5}")
        if names:
            print(f"    {page.longest}")


if __name__ == "__main__":
    main(sys.argv[1:])
