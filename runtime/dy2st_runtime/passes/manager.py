"""Runs passes: times each, verifies after each where checks are on, prints what `DY2ST_DUMP` asks for."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Sequence

from .. import config
from ..errors import VerifyError
from ..ir.program import Program
from ..ir.verify import verify

Pass = Callable[[Program, frozenset[str]], bool]
"""Rewrites a Program in place; its second argument names the variables that must keep their names (fetches). Returns
whether anything changed."""


class PassManager:
    """Runs a list of passes.

    Args:
        passes: (name, pass), in order.

    Attributes:
        times: (name, seconds) of each pass that was run.

    Example:
        >>> from dy2st_runtime.passes.dce import dce
        >>> manager = PassManager([("dce", dce)])
        >>> manager.run(Program(), [])
        >>> [name for name, _ in manager.times]
        ['dce']
    """

    def __init__(self, passes: Sequence[tuple[str, Pass]]):
        self.passes = list(passes)
        self.times: list[tuple[str, float]] = []

    def run(self, program: Program, keep: Iterable[str]) -> None:
        """Rewrites the Program.

        Args:
            program: is changed.
            keep: names of variables that must still be there afterwards.

        Raises:
            VerifyError: under `DY2ST_CHECKS`, a pass broke a rule of the IR; the message names the pass.
        """
        names = frozenset(keep)
        for name, one in self.passes:
            start = time.perf_counter()
            changed = one(program, names)
            self.times.append((name, time.perf_counter() - start))
            if config.dumping(name):
                print(f"# after {name}{'' if changed else ' (no change)'}\n{program}", file=sys.stderr)
            if config.CHECKS.get():
                try:
                    verify(program)
                except VerifyError as error:
                    error.message = f"after the pass {name}: {error.message}"
                    raise

    def report(self) -> str:
        """The times as text, one line a pass."""
        return "\n".join(f"{name:12} {1e3 * seconds:8.2f} ms" for name, seconds in self.times)
