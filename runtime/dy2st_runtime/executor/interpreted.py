"""`InterpretedExecutable`: the interface of `Executable` over the NumPy reference interpreter (DY2ST_NO_JIT=1), for debugging and as
the oracle of tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import reference, signals
from ..errors import FeedError, FetchError, ScopeError
from ..feeds import check_feed
from ..ir.program import Program
from ..ir.visit import all_ops, reads
from ..ops.control import ABSENT
from .state import Commit, Given, state_of


class InterpretedExecutable:
    """See `Executable`; the program is run as it is, without passes."""

    def __init__(
        self,
        program: Program,
        feed_names: Sequence[str],
        fetch_names: Sequence[str],
        *,
        absent_feeds: Sequence[str] = (),
    ):
        self.program, self.feed_names, self.fetch_names = program, list(feed_names), list(fetch_names)
        block = program.global_block()
        for name in self.feed_names:
            if name not in block.vars:
                raise FeedError(f"the program has no variable {name!r} to feed")
        for name in self.fetch_names:
            if not block.has_var(name):
                raise FetchError(f"the program has no variable {name!r} to fetch")
        ops = [op for root in program.roots for op in all_ops(root)]
        touched = {n for op in ops for n in (*op.input_names, *op.output_names)} | set(self.fetch_names)
        touched |= {n for op in ops for sub in op.blocks for n in sub.results}
        touched |= {n for f in program.functions.values() for n in f.block.results}
        self.state_names = [v.name for v in block.vars.values() if v.persistable and v.name in touched]
        self.needed = set(self.state_names)
        read = set(self.fetch_names)
        for op in reversed(block.ops):
            read.difference_update(op.output_names)
            read.update(reads(op))
        self.needed &= read  # what is only written needs no value before

    def run(self, feeds: Sequence[Any], state: Given = None, same: object = None, commit: Commit | None = None) -> Any:
        """See `Executable.run`."""
        session = InterpretedSession(self, dict(zip(self.feed_names, feeds, strict=True)), state_of(state))
        while not session.finished:
            session.advance()
        values = session.fetch(self.fetch_names)
        return values if commit is None else signals.whole(lambda: commit(values), lambda: True)

    def start(self, feeds: Mapping[str, Any], state: dict[str, np.ndarray], same: object = None) -> InterpretedSession:
        """See `Executable.start`."""
        session = InterpretedSession(self, feeds, state)
        session.advance()
        return session


class InterpretedSession:
    """See `Session`."""

    def __init__(self, executable: InterpretedExecutable, feeds: Mapping[str, Any], state: dict[str, np.ndarray]):
        self.block, self.state = executable.program.global_block(), state
        self.state_names = executable.state_names
        missing = [name for name in self.state_names if name in executable.needed and name not in state]
        if missing:
            raise ScopeError(
                f"variable {missing[0]!r} has no value", hint="run the startup program first, or load the parameters"
            )
        self.env: dict[str, Any] = {
            name: np.copy(state[name]) if name in state else ABSENT for name in self.state_names
        }
        self.finished = False
        self._at = 0
        self._bind(feeds)

    def _bind(self, feeds: Mapping[str, Any]) -> None:
        for name, value in feeds.items():
            v = self.block.var(name)
            self.env[name] = value if value is ABSENT or v.kind == "array" else check_feed(v, value)

    def advance(self) -> None:
        """Runs to the next `suspend` or to the end; then the state is updated."""
        while self._at < len(self.block.ops):
            op = self.block.ops[self._at]
            self._at += 1
            if op.type == "suspend":
                return
            reference.run_op(op, self.env)
        for name in self.state_names:
            if self.env[name] is not ABSENT:
                self.state[name] = self.env[name]
        self.finished = True

    def resume(self, feeds: Mapping[str, Any]) -> None:
        self._bind(feeds)
        self.advance()

    def fetch(self, names: Sequence[str]) -> list[Any]:
        return [None if self.env[name] is ABSENT else self.env[name] for name in names]

    def close(self) -> None:
        self.env.clear()
