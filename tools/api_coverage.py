"""Prints how much of PaddlePaddle's API is here, and fails where that is below the bars.

    python tools/api_coverage.py            # both coverages; exit status 1 if one is below its bar
    python tools/api_coverage.py --write    # the same, and writes docs/reference/paddle-api.md

- Usage: what real code uses, by tests/data/api-usage.tsv. A name weighs as many files as use it.
- Public names: those of PaddlePaddle 2.6.2, by tests/data/paddle_names.txt, which `tools/paddle_names.py` writes.

The reasons, and what serves instead, are in dy2st/paddle_names.py. A name that is missing and has no reason there is planned.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from dy2st.paddle_names import exists, names, status

ROOT = Path(__file__).resolve().parent.parent
USAGE = ROOT / "tests" / "data" / "api-usage.tsv"
PAGE = ROOT / "docs" / "reference" / "paddle-api.md"
# the lowest per cent of each coverage
BARS = {"usage of paddle.*": 98.0, "usage of Tensor attributes": 98.6, "public names": 61.8}

_FEW = 3  # names that are said in a line of a list

INTRODUCTION = """\
# PaddlePaddle's names

Which public names of PaddlePaddle 2.6.2 are here, and what becomes of the others.
`python tools/api_coverage.py --write` makes this page.

A name that is missing raises an AttributeError that says the same. A tensor's own error has it as a note, which Python
prints below it.

Real code uses few of the names. Of the uses of `paddle.*` in 1,222 files, {paddle} are of names that are here.
Of the uses of tensors' attributes, {tensor} are.
"""


class Coverage(NamedTuple):
    """How many of all are here, and which are not."""

    here: int
    total: int
    missing: tuple[str, ...]

    @property
    def percent(self) -> float:
        """The share, rounded down to tenths: it reaches no bar that it does not reach."""
        return self.here * 1000 // self.total / 10


def usage() -> dict[str, Coverage]:
    """The uses of functions and of attributes of tensors, each weighted by files."""
    rows = [line.split("\t") for line in USAGE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")][1:]
    weights = {name.replace("Tensor.", "paddle.Tensor.", 1) if name.startswith("Tensor.") else name: int(files) for files, name in rows}
    parts = {"paddle.*": [n for n in weights if not _of_tensors(n)], "Tensor attributes": [n for n in weights if _of_tensors(n)]}
    return {f"usage of {part}": _coverage(found, weights) for part, found in parts.items()}


def _of_tensors(name: str) -> bool:
    return name.startswith("paddle.Tensor.")


def _coverage(found: Iterable[str], weights: dict[str, int]) -> Coverage:
    missing = sorted((name for name in found if not exists(name)), key=lambda name: (-weights[name], name))
    total = sum(weights[name] for name in found)
    return Coverage(total - sum(weights[name] for name in missing), total, tuple(missing))


def public() -> dict[str, Coverage]:
    """The public names of each namespace."""
    spaces: dict[str, list[str]] = {}
    for name in sorted(names()):
        spaces.setdefault(name.rpartition(".")[0], []).append(name)
    return {space: _coverage(found, dict.fromkeys(found, 1)) for space, found in sorted(spaces.items())}


def total(parts: Iterable[Coverage]) -> Coverage:
    """Several coverages as one."""
    found = tuple(parts)
    return Coverage(sum(c.here for c in found), sum(c.total for c in found), tuple(name for c in found for name in c.missing))


def page(uses: dict[str, Coverage], spaces: dict[str, Coverage]) -> str:
    """The text of the page."""
    paddle, tensor = (f"{c.percent} %" for c in uses.values())
    lines = [INTRODUCTION.format(paddle=paddle, tensor=tensor), "| namespace | here | of | per cent |", "|---|---|---|---|"]
    for space, c in {**spaces, "all": total(spaces.values())}.items():
        lines.append(f"| {space if space == 'all' else f'`{space}`'} | {c.here} | {c.total} | {c.percent} |")
    for space, c in spaces.items():
        if c.missing:
            lines += ["", f"## {space}", "", f"{c.here} of {c.total} names are here.", *_groups(space, c.missing)]
    return "\n".join(lines) + "\n"


def _groups(space: str, missing: Iterable[str]) -> Iterator[str]:
    """The missing names of a namespace, by what is said of them; those that are planned come first."""
    groups: dict[str, list[str]] = {"planned": []}
    for name in missing:
        reason, instead, rule = status(name)
        text = "planned" if reason is None else f"left out, as {reason}"
        if instead is not None:
            text += f"; {rule or instead}"
        groups.setdefault(text, []).append(name.removeprefix(f"{space}."))
    few = {text: found for text, found in groups.items() if 0 < len(found) <= _FEW and text != "planned"}
    for text, found in groups.items():
        if found and text not in few:
            yield from ("", f"{text[0].upper()}{text[1:]}:", "", "```text", *textwrap.wrap(" ".join(found), 110), "```")
    if few:
        yield ""
    for text, found in few.items():
        line = f"- {', '.join(f'`{name}`' for name in found)}: {text}."
        yield from textwrap.wrap(line, 116, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="How much of PaddlePaddle's API is here.")
    parser.add_argument("--write", action="store_true", help="write docs/reference/paddle-api.md")
    write = parser.parse_args(argv).write
    uses, spaces = usage(), public()
    found = {**uses, "public names": total(spaces.values())}
    for title, c in {**spaces, **found}.items():
        print(f"{title:42}{c.here:6} of {c.total:6}{c.percent:7} %{f'  (bar {BARS[title]})' if title in BARS else ''}")
    if write:
        PAGE.write_text(page(uses, spaces), encoding="utf-8")
    low = [title for title, bar in BARS.items() if found[title].percent < bar]
    for title in low:
        print(f"{title}: below the bar of {BARS[title]} %", file=sys.stderr)
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
