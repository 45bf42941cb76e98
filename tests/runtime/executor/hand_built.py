"""Small hand-built Programs for the tests of the executor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import dy2st_runtime.ops  # noqa: F401
import numpy as np
from dy2st_runtime import reference
from dy2st_runtime.executor.executable import Executable
from dy2st_runtime.ir import IRBuilder, Program, Variable, verify


class Made:
    """A Program with a builder: `x = m.data("x", [-1, 3])`, `m.b.relu(x)`."""

    def __init__(self) -> None:
        self.program = Program()
        self.b = IRBuilder(self.program.global_block())
        self.feeds: list[str] = []

    def data(self, name: str, shape: Sequence[int], dtype: str = "float32") -> Variable:
        self.feeds.append(name)
        return self.program.global_block().create_var(name, dtype, shape, is_data=True)

    def cond(self, pred: Variable, true_fn: Callable[[], Any], false_fn: Callable[[], Any]) -> list[Variable]:
        blocks = []
        for fn in (true_fn, false_fn):
            block = self.b.sub_block()
            with self.b.inside(block):
                block.results = [v.name for v in fn()]
            blocks.append(block)
        return self.b.cond(pred, true_block=blocks[0], false_block=blocks[1])

    def loop(
        self,
        test: Callable[..., Variable],
        body: Callable[..., list[Variable]],
        xs: Sequence[Variable],
        shapes: Sequence[Sequence[int]] | None = None,
        saved: Sequence[int] = (),
    ) -> tuple[list[Variable], list[Variable]]:
        blocks = []
        for fn in (test, body):
            block = self.b.sub_block()
            params = []
            for i, x in enumerate(xs):
                shape = shapes[i] if shapes else x.shape
                params.append(block.create_var(None, x.dtype, shape, stem="p", kind=x.kind))
            block.params = [p.name for p in params]
            with self.b.inside(block):
                out = fn(*params)
                block.results = [v.name for v in out] if isinstance(out, list) else [out.name]
            blocks.append(block)
        names = [blocks[1].results[i] for i in saved]
        return self.b.while_loop(list(xs), cond_block=blocks[0], body_block=blocks[1], saved=names)

    def compare(
        self, fetches: Sequence[Variable], feeds: dict[str, np.ndarray], exe: Executable | None = None
    ) -> list[Any]:
        """Runs natively and in the reference interpreter, and compares."""
        verify(self.program)
        names = [v.name for v in fetches]
        exe = exe or Executable(self.program, self.feeds, names)
        got = exe.run([feeds[name] for name in self.feeds])
        env = reference.run_program(self.program, feeds, {})
        for name, value in zip(names, got, strict=True):
            same(value, env[name])
        return got


def same(got: Any, want: Any) -> None:
    from dy2st_runtime.ops.control import ABSENT

    if want is ABSENT:
        assert got is None
    elif isinstance(want, list):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            same(g, w)
    else:
        assert got.dtype == want.dtype
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
