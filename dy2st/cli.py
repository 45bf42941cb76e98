"""The command line of the compiler.

`python -m dy2st run script.py` runs a script that imports `paddle`. `python -m dy2st explain D2S101` prints the page of an error's code.

The text of the pages has one source, docs/reference/errors.md: people read it on the site and in the repository, and the tests run its
examples. A checkout reads that file. An installed package has no docs beside it, so the build copies the page into the package
(setup.py), under the name `errors.md`.
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from dy2st_runtime.cli import ended_by_its_reader

PACKAGE = Path(__file__).parent
# where the page is in an installed package, and where in a checkout
PAGES = (PACKAGE / "errors.md", PACKAGE.parent / "docs" / "reference" / "errors.md")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line.

    Returns:
        The exit status: 0, or 2 for a code that has no page, or a script that is not there; then the error is printed. A script that
        ends by an exception, SystemExit among them, ends the command by it.

    Example:
        >>> main(["explain", "D2S0000"])
        2
    """
    args = _parser().parse_args(argv)
    return args.command(args)


def _run(args: argparse.Namespace) -> int:
    from .unmodified import run_module, run_script  # an explanation does not wait for the compiler

    if args.is_module:
        run_module(args.what, args.arguments)
        return 0
    if not Path(args.what).is_file():
        print(f"error: there is no script {args.what!r}", file=sys.stderr)
        return 2
    run_script(args.what, args.arguments)
    return 0


def _explain(args: argparse.Namespace) -> int:
    pages = explanations()
    code = args.code.upper()
    if code in pages:
        with ended_by_its_reader():
            print(pages[code])
        return 0
    near = difflib.get_close_matches(code, pages, n=5)
    print(f"error: no error has the code {args.code!r}; {_known(near, list(pages))}", file=sys.stderr)
    return 2


def _known(near: list[str], codes: list[str]) -> str:
    return f"near it: {', '.join(near)}" if near else f"codes are {codes[0]} to {codes[-1]}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m dy2st", description="Scripts that import paddle, and help with errors.")
    commands = parser.add_subparsers(title="commands", required=True)
    text = "run a script that imports paddle as it is"
    run = commands.add_parser("run", help=text, description=f"{text[0].upper()}{text[1:]}: `import paddle` gives dy2st.")
    run.add_argument("-m", dest="is_module", action="store_true", help="what is run is a module, as for `python -m`")
    run.add_argument("what", metavar="SCRIPT", help="the path of the script, or with -m the name of the module")
    run.add_argument("arguments", metavar="ARGUMENT", nargs=argparse.REMAINDER, help="what the script finds in sys.argv")
    run.set_defaults(command=_run)
    text = "print what an error means, an example of it, and its cure"
    explain = commands.add_parser("explain", help=text, description=text)
    explain.add_argument("code", metavar="CODE", help="the code in the brackets of the error, such as D2S101")
    explain.set_defaults(command=_explain)
    return parser


def explanations() -> dict[str, str]:
    """The page of each code, as text for a terminal: its title, what it means, examples that fail, and their cures."""
    text = next(path for path in PAGES if path.exists()).read_text(encoding="utf-8")
    setup = re.findall(r"```python setup\n(.*?)```", text, re.S)[0]
    sections = re.split(r"^## ", text, flags=re.M)[1:]
    found = {}
    for section in sections:
        title = section.partition("\n")[0]
        if title.startswith("D2S"):
            found[title.split()[0]] = _terminal(section, setup)
    for code in re.findall(r"D2S\d+", sections[-1]):  # those that no example can show
        found[code] = _terminal(sections[-1], "")
    return dict(sorted(found.items()))


_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")


def _terminal(section: str, setup: str) -> str:
    """A section of the page without the marks of Markdown: code is indented, and says whether it fails or is the cure."""
    words = {"fails": "An example that fails:", "cure": "Its cure:"}
    lines: list[str] = []
    code = False
    for line in section.strip().splitlines():
        if line.startswith("```"):
            code = not code
            if code:
                lines += [words[line.split()[-1]], ""]
        else:
            lines.append(("    " + line).rstrip() if code else _LINK.sub(r"\1", line).replace("`", ""))
    if setup:
        lines += ["", "The examples begin with", "", *("    " + line for line in setup.strip().splitlines())]
    return "\n".join(lines)
