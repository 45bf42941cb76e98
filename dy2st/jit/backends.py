"""How traced programs run: natively, or by the NumPy interpreter (`DY2ST_NO_JIT`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from dy2st_runtime import config
from dy2st_runtime.ir import Program
from dy2st_runtime.ops.control import ABSENT
from dy2st_runtime.reference import run_op


def make(program: Program, feeds: Sequence[str], fetches: Sequence[str], absent_feeds: Sequence[str] = ()) -> Any:
    """What runs a program: an `Executable`, or its equal on the interpreter."""
    if config.NO_JIT.get():
        return ReferenceExecutable(program)
    from dy2st_runtime.executor.executable import Executable

    return Executable(program, feeds, fetches, absent_feeds=absent_feeds)


class ReferenceExecutable:
    """The interface of `Executable` that static calls use, on the NumPy interpreter."""

    def __init__(self, program: Program):
        self.program = program

    def start(self, feeds: Mapping[str, Any], state: dict[str, np.ndarray]) -> ReferenceSession:
        session = ReferenceSession(self.program, {**state, **feeds}, state)
        session.advance()
        return session


class ReferenceSession:
    """One run in progress; stops at each `suspend`."""

    def __init__(self, program: Program, env: dict[str, Any], state: dict[str, np.ndarray]):
        self.program, self.env, self.state = program, env, state
        self.finished = False
        self._next = 0

    def advance(self) -> None:
        ops = self.program.global_block().ops
        while self._next < len(ops):
            op = ops[self._next]
            self._next += 1
            if op.type == "suspend":
                break
            run_op(op, self.env)
        self.finished = self._next == len(ops)
        for v in self.program.global_block().vars.values():
            if v.persistable and v.name in self.env:
                self.state[v.name] = self.env[v.name]

    def resume(self, feeds: Mapping[str, Any]) -> None:
        self.env.update(feeds)
        self.advance()

    def fetch(self, names: Sequence[str]) -> list[Any]:
        return [None if self.env[n] is ABSENT else self.env[n] for n in names]

    def close(self) -> None:
        self.env = {}
