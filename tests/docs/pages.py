"""Runs the blocks of code of a page, as its reader would.

The words behind the language of a block say what becomes of it:

    ```python               runs, in one namespace with the other blocks of the page
    ```python fails         the same, and ends with an exception
    ```python file:net.py   is written to this file
    ```sh                   each line is a command, which must succeed
    ```text output          is what the block before prints; `...` stands for any text, lines may be broken
    ```python skip: REASON  does not run, for this reason; `sh skip: REASON` as well

Cells of a notebook (`{code-cell}`) run as well; all files are in a folder of the page's own.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import NamedTuple

BLOCK = re.compile(r"^( *)```([^\n`]*)\n(.*?)^\1```$", re.S | re.M)


class Block(NamedTuple):
    language: str
    mark: str
    text: str
    line: int  # where it begins


def blocks(page: str) -> list[Block]:
    """All blocks of code of a page."""
    found = []
    for match in BLOCK.finditer(page):
        indent, info, text = match.groups()
        language, _, mark = info.replace("{code-cell}", "").strip().partition(" ")
        text = re.sub(rf"^{indent}", "", text, flags=re.M)
        text = re.sub(r"\A(?::[\w-]+:.*\n)+", "", text)  # the options of a cell
        found.append(Block(language, mark, text, page[: match.start()].count("\n") + 1))
    return found


class Runner:
    """Runs blocks one after the other. `printed`: what the last one printed, on stdout and stderr."""

    def __init__(self, name: str, folder: Path):
        self.name, self.folder, self.scope, self.printed = name, folder, {"__name__": "__main__"}, ""

    def run(self, block: Block) -> None:
        if block.mark.startswith("skip: "):
            if block.language == "python":
                compile(block.text, f"{self.name}:{block.line}", "exec")
            return
        if block.mark.startswith("file:"):
            (self.folder / block.mark.removeprefix("file:")).write_text(block.text, encoding="utf-8")
        elif block.mark == "output":
            assert matches(self.printed, block.text), f"{self.name}:{block.line} prints\n{self.printed}"
        elif block.language == "python":
            self._python(block)
        elif block.language == "sh":
            self._commands(block)
        else:
            assert block.language in ("text", "", "{toctree}", "{image}"), f"{self.name}:{block.line}: nobody runs {block.language!r}"

    def _python(self, block: Block) -> None:
        name = f"{Path(self.name).stem}_{block.line}.py"
        linecache.cache[name] = (len(block.text), None, block.text.splitlines(keepends=True), name)  # as a notebook does it
        printed = io.StringIO()
        failed = None
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed), warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = lambda message, category, *_: print(f"{category.__name__}: {message}", file=printed)
            try:
                exec(compile(block.text, name, "exec"), self.scope)
            except Exception as error:
                failed = error
                if block.mark != "fails":
                    raise
        assert (block.mark == "fails") == (failed is not None), f"{self.name}:{block.line} does not fail"
        self.printed = printed.getvalue() + (f"{type(failed).__name__}: {failed}\n" if failed is not None else "")

    def _commands(self, block: Block) -> None:
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        done = subprocess.run(["sh", "-e", "-c", block.text], cwd=self.folder, env={**os.environ, "PATH": path}, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
        assert done.returncode == 0, f"{self.name}:{block.line}: {done.stdout}"
        self.printed = done.stdout


def matches(printed: str, wanted: str) -> bool:
    """Whether a text is the one that is wanted, but for how it is broken into lines, and for what `...` stands for.

    >>> matches("loss 0.25 \\nin 3 s\\n", "loss 0.25 in ... s")
    True
    """
    parts = [re.escape(" ".join(part.split())) for part in wanted.split("...")]
    return re.fullmatch(" ?.*? ?".join(parts), " ".join(printed.split()), re.S) is not None
