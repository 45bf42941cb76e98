"""Writes the Programs and generated sources of the whole corpus, and compares them with those of another commit.

A refactoring changes neither. `make replay BASE=COMMIT` shows it:

    python tools/replay.py write FOLDER [--root CHECKOUT]    # one file for each program of `tests/programs`
    python tools/replay.py compare BEFORE AFTER              # exit status 1 and the first difference, if there is one
    python tools/replay.py against COMMIT [FOLDER]           # both, with a checkout of COMMIT that is made for it and removed

The file of a program has what `DY2ST_DUMP=code,program,source` prints while its calls run: the converted Python, the Program of each trace,
and the text of each kernel. This script drives any checkout that has `tests/programs`, so commits from before it can be compared.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import importlib
import io
import os
import subprocess
import sys
import tempfile
import types
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STAGES = "code,program,source"
CONTEXT, SHOWN = 3, 40
"""Lines around a difference, and lines of it that are shown."""


# --- in a process of its own, with the packages of one checkout ---


def write_module(root: Path, folder: Path, name: str) -> None:
    """Runs the programs of one module of a checkout's corpus, and writes what they print."""
    # `three_ways` was in tests/jit before it was in tests/helpers
    sys.path[:0] = [str(root / folder) for folder in (".", "runtime", "tests/helpers", "tests/jit")]
    corpus = types.ModuleType("corpus")
    corpus.__path__ = [str(root / "tests" / "programs")]
    sys.modules["corpus"] = corpus
    seen: Counter[str] = Counter()
    for function, calls, _ in importlib.import_module(f"corpus.{name}").CASES:
        seen[function.__name__] += 1
        again = f".{seen[function.__name__]}" if seen[function.__name__] > 1 else ""
        text = dumped(function, calls).replace(str(root), ".")
        (folder / f"{name}.{function.__name__}{again}.txt").write_text(text)


def dumped(function, calls) -> str:
    """What the calls of a program print of its stages, native and static, with gradients.

    Random numbers begin anew, so that a program does not depend on those before it.
    """
    import numpy as np
    from three_ways import outcome

    import dy2st
    from dy2st.jit.steps import learning

    learning.ALIKE = sys.maxsize  # whether steps become one program depends on the time that they take
    dy2st.seed(0)
    np.random.seed(0)
    static = dy2st.jit.to_static(function)
    text = io.StringIO()
    with contextlib.redirect_stderr(text), contextlib.redirect_stdout(io.StringIO()):
        for values in calls:
            outcome(static, values)
    return text.getvalue()


# --- around these processes ---


def write(root: Path, folder: Path, jobs: int) -> None:
    """Writes a file for each program of a checkout.

    Raises:
        SystemExit: a process failed, or the folder has files of another run.
    """
    modules = sorted(p.stem for p in (root / "tests" / "programs").glob("*.py"))
    if not modules:
        raise SystemExit(f"{root} has no programs in tests/programs")
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise SystemExit(f"{folder} is not empty: name another folder, or remove what an earlier run has written there")
    environment = {**os.environ, "DY2ST_DUMP": STAGES, "PYTHONHASHSEED": "0", "PYTHONPATH": ""}
    command = [sys.executable, __file__, "module", str(folder), "--root", str(root), "--name"]

    def run(name: str) -> int:
        # a process for each module: the counters that names are made of begin anew, whatever ran before
        return subprocess.run([*command, name], env=environment, cwd=root).returncode

    with ThreadPoolExecutor(jobs) as pool:
        failed = [name for name, code in zip(modules, pool.map(run, modules), strict=True) if code]
    if failed:
        raise SystemExit(f"the programs of {', '.join(failed)} did not run: see above")


def compare(before: Path, after: Path) -> int:
    """Prints which files are new, gone and different, and the first difference. 1 if there is any."""
    old, new = ({p.name: p for p in folder.glob("*.txt")} for folder in (before, after))
    for folder, files in ((before, old), (after, new)):
        if not files:
            raise SystemExit(f"{folder} has no files of `replay.py write`")
    gone, added = sorted(set(old) - set(new)), sorted(set(new) - set(old))
    different = [name for name in sorted(set(old) & set(new)) if old[name].read_bytes() != new[name].read_bytes()]
    for kind, names in (("gone", gone), ("new", added), ("different", different)):
        if names:
            print(f"{kind}: {len(names)}: {', '.join(names[:10])}{', ...' if len(names) > 10 else ''}")
    if different:
        name = different[0]
        lines = difflib.unified_diff(old[name].read_text().splitlines(), new[name].read_text().splitlines(),
                                     f"before/{name}", f"after/{name}", n=CONTEXT, lineterm="")  # fmt: skip
        shown = list(lines)
        print("\n".join(shown[:SHOWN]))
        if len(shown) > SHOWN:
            print(f"... {len(shown) - SHOWN} more lines")
    print(f"{len(set(old) & set(new)) - len(different)} of {len(old)} programs are the same")
    return 1 if gone or added or different else 0


def against(commit: str, folder: Path, jobs: int) -> int:
    """Writes what a commit and this checkout make of their programs, below `folder`, and compares."""
    git = ["git", "-C", str(ROOT)]
    with tempfile.TemporaryDirectory() as place:
        checkout = Path(place) / "checkout"
        subprocess.run([*git, "worktree", "add", "--quiet", "--detach", str(checkout), commit], check=True)
        try:
            write(checkout, folder / "before", jobs)
        finally:
            subprocess.run([*git, "worktree", "remove", "--force", str(checkout)], check=True)
    write(ROOT, folder / "after", jobs)
    return compare(folder / "before", folder / "after")


def main() -> int:
    parser = argparse.ArgumentParser(prog="replay.py", description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("write", "module"):
        command = commands.add_parser(name)
        command.add_argument("folder", type=Path)
        command.add_argument("--root", type=Path, default=ROOT)
    command.add_argument("--name", required=True, help="one module of the corpus: `write` starts a process for each")
    command = commands.add_parser("compare")
    command.add_argument("before", type=Path)
    command.add_argument("after", type=Path)
    command = commands.add_parser("against")
    command.add_argument("commit")
    command.add_argument("folder", type=Path, nargs="?")
    options = parser.parse_args()
    match options.command:
        case "module":
            write_module(options.root.resolve(), options.folder.resolve(), options.name)
        case "write":
            write(options.root.resolve(), options.folder.resolve(), options.jobs)
        case "compare":
            return compare(options.before, options.after)
        case "against":
            return against(options.commit, options.folder or Path(tempfile.mkdtemp(prefix="replay-")), options.jobs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
