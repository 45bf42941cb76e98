"""The one table of switches.

Each switch is a `Flag`: it reads an environment variable once, can be set from Python, and can be
overridden for a block of code with ``with FLAG.override(value):``.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

from .warning import warn

T = TypeVar("T")


class Flag(Generic[T]):
    """One switch: a name (the environment variable), a default, a parser and a description."""

    table: dict[str, Flag] = {}

    def __init__(self, name: str, default: T, parse: Callable[[str], T], doc: str):
        self.name, self.default, self.doc = name, default, doc
        text = os.environ.get(name)
        try:
            self._value: T = default if text is None else parse(text)
        except ValueError as error:
            raise ValueError(f"environment variable {name}={text!r}: {error}") from None
        self._local = threading.local()
        Flag.table[name] = self

    def get(self) -> T:
        """The value in force in this thread."""
        return getattr(self._local, "value", self._value)

    def set(self, value: T) -> None:
        """Sets the value for the whole process."""
        self._value = value

    @contextlib.contextmanager
    def override(self, value: T) -> Iterator[None]:
        """Sets the value for this thread until the block ends."""
        missing = object()
        before = getattr(self._local, "value", missing)
        self._local.value = value
        try:
            yield
        finally:
            if before is missing:
                del self._local.value
            else:
                self._local.value = before


def _bool(text: str) -> bool:
    if text.lower() in ("1", "true", "yes", "on"):
        return True
    if text.lower() in ("0", "false", "no", "off", ""):
        return False
    raise ValueError("expected 0 or 1")


def _count(text: str) -> int:
    if not text.isdecimal():
        raise ValueError("expected a number, 0 or more")
    return int(text)


def _some(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ValueError("expected a number, 1 or more")
    return int(text)


def _level(text: str) -> int:
    if text not in ("0", "1"):
        raise ValueError("expected 0 or 1")
    return int(text)


STAGES = (
    "ast", "check_unsupported", "super_call", "declarations", "annotations", "match_stmt", "tests", "comprehension_walrus",
    "walrus", "handler_names", "undefined_reads", "early_return", "break_stmt", "continue_stmt", "list_mutation",
    "subscript_assign", "unpacking", "block_state", "if_stmt", "while_stmt", "for_stmt", "try_stmt", "with_stmt",
    "generator_stmts", "raise_stmt",
    "namespaces", "class_read", "subscript_read", "comprehensions", "assert_stmt", "if_expr", "logical", "compare", "texts", "calls",
    "code",
    "program", "ssa", "dce", "fold", "simplify", "layout", "retarget", "hoist", "cse", "one_shape", "fission", "split_norm",
    "attention", "sums", "fuse", "epilogue", "rows", "prologue", "loop", "source", "plan", "traces",
)  # fmt: skip
"""What `DY2ST_DUMP` can print, in order: the syntax tree, after each pass over it, the code; the Program, after each pass over it;
loop IR, generated source, the plan; and new traces with their reasons."""


def _stages(text: str) -> frozenset[str]:
    found = frozenset(name.strip() for name in text.split(",") if name.strip())
    unknown = sorted(found.difference(STAGES, ["all"]))
    if unknown:
        raise ValueError(f"{unknown[0]!r} is nothing that can be printed{_meant(unknown[0], STAGES)}; known are: all, {', '.join(STAGES)}")
    return found


def _meant(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, known, 1)
    return f", did you mean {close[0]!r}?" if close else ""


DUMP: Flag[frozenset[str]] = Flag(
    "DY2ST_DUMP",
    frozenset(),
    _stages,
    "what to print on stderr: ast, code, program, loop, source, plan, traces, or the name of any pass; all = everything",
)
CHECKS = Flag("DY2ST_CHECKS", False, _bool, "verify the Program after every pass and check bounds in kernels")
CACHE_DIR = Flag("DY2ST_CACHE_DIR", "", str, "folder of the compile cache; empty: the user's cache folder")
NO_CACHE = Flag("DY2ST_NO_CACHE", False, _bool, "compile in memory only")
NUM_THREADS = Flag(
    "DY2ST_NUM_THREADS",
    0,
    _count,
    "threads that share the work of a kernel, matrix products too; 0: as many as the process has cores (affinity and control group)",
)
RECURSION_LIMIT = Flag(
    "DY2ST_RECURSION_LIMIT",
    10_000,
    int,
    "how many calls of functions may be inside each other in a run where only the run knows when they end; beyond it is a "
    "RecursionError. The reference interpreter calls by Python, whose own limit holds as well",
)
TRACE_LIMIT = Flag(
    "DY2ST_TRACE_LIMIT",
    200_000,
    _count,
    "how many operations a trace may have: beyond it is an error, as a loop that Python counts, and that is unrolled, seems to have no end",
)
TRACES = Flag(
    "DY2ST_TRACES",
    256,
    _some,
    "how many traces a static function, or a method of one object, keeps: with a new one beyond that, the one goes that has not been "
    "called for the longest; a call that it would have served is traced again",
)
WINOGRAD = Flag(
    "DY2ST_WINOGRAD",
    True,
    _bool,
    "compute convolutions of 3x3 with strides of 1 by Winograd's transforms where that pays; 0: by plain sums, in which only the pixels of "
    "its own window round a result. Read when a kernel is made",
)
ENGINES = ("llvm", "numba")


def _engine(text: str) -> str:
    if text not in ENGINES:
        raise ValueError(f"expected {' or '.join(ENGINES)}")
    return text


ENGINE = Flag(
    "DY2ST_ENGINE",
    "llvm",
    _engine,
    "what compiles kernels for the CPU: llvm, our own compiler, or numba, which takes five times as long; the results are the same",
)
NO_JIT = Flag("DY2ST_NO_JIT", False, _bool, "run Programs by the NumPy reference interpreter")
CHECK_NAN_INF = Flag("FLAGS_check_nan_inf", False, _bool, "look at what each op makes: a NaN or an infinity is an error (`set_flags`)")
CHECK_NAN_INF_LEVEL = Flag("FLAGS_check_nan_inf_level", 0, _level, "0: that is an error; 1: it is a warning")
FULL_TRACEBACK = Flag("DY2ST_FULL_TRACEBACK", False, _bool, "show the frames of dy2st itself in tracebacks")


_OF_TESTS = "DY2ST_FUZZ"


def _warn_of_unknown() -> None:
    """A warning for each environment variable that looks like a switch and is none."""
    for name in sorted(os.environ):
        if name.startswith("DY2ST_") and name not in Flag.table and not name.startswith(_OF_TESTS):
            warn(f"environment variable {name} is no switch of dy2st{_meant(name, Flag.table)}")


def cache_folder() -> Path:
    """`DY2ST_CACHE_DIR`, else `dy2st` in the user's cache folder.

    Raises:
        RuntimeError: the user has no home folder.
    """
    if CACHE_DIR.get():
        return Path(CACHE_DIR.get())
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "dy2st"
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(base) if base else Path.home() / ".cache") / "dy2st"


def dumping(name: str) -> bool:
    """Whether `DY2ST_DUMP` asks for the stage of this name."""
    wanted = DUMP.get()
    return name in wanted or "all" in wanted


def describe() -> str:
    """The table of switches with their values, as text."""
    width = max(map(len, Flag.table))
    return "\n".join(f"{f.name:{width}}  {f.get()!r:12}  {f.doc}" for f in Flag.table.values())


_warn_of_unknown()
