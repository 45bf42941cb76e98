"""What `explain()` says of kernels."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from dy2st_runtime import config
from dy2st_runtime.executor import executable
from dy2st_runtime.executor.cache import ObjectCache
from dy2st_runtime.executor.compile import KernelCompiler

import dy2st as paddle

KEPT: list[KernelCompiler] = []
"""The code of a compiler goes with it, and what is made once for a process (who objects are) may have been made by one of these."""


def doubled_twice(x):
    y = paddle.matmul(x, x)
    return paddle.matmul(y, y).sum(1)


def test_what_was_compiled_is_named_with_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = []
    for _ in range(2):  # a process, and a later one
        own = KernelCompiler(ObjectCache(tmp_path))
        KEPT.append(own)
        monkeypatch.setattr(executable, "compiler", lambda own=own: own)
        static = paddle.jit.to_static(doubled_twice)
        static(paddle.ones([2, 2]))
        texts.append(static.explain())
    line = doubled_twice.__code__.co_firstlineno
    assert "forward: 2 kernels for 3 launches; 2 compiled by this process in" in texts[0]
    assert re.search(rf"matmul_v2 \(\S*test_explain_kernels\.py:{line + 1}\): ", texts[0])
    assert "forward: 2 kernels for 3 launches, all compiled before (engine: llvm)" in texts[1]


def test_the_backward_part_and_the_interpreter() -> None:
    static = paddle.jit.to_static(doubled_twice)
    x = paddle.ones([2, 2])
    x.stop_gradient = False
    static(x).sum().backward()
    assert "forward and backward: " in static.explain()
    with config.NO_JIT.override(True):
        static = paddle.jit.to_static(doubled_twice)
        static(paddle.ones([2, 2]))
        assert "forward: run by the reference interpreter" in static.explain()
