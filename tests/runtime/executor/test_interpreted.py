"""DY2ST_NO_JIT: the reference interpreter behind the executor's interface."""

from __future__ import annotations

import numpy as np
import pytest
from dy2st_runtime import config
from dy2st_runtime.executor import make_executable
from dy2st_runtime.executor.executable import Executable
from dy2st_runtime.executor.interpreted import InterpretedExecutable

from hand_built import Made  # isort: skip


@pytest.mark.parametrize("kind", [Executable, InterpretedExecutable])
def test_state_and_two_phases(kind) -> None:  # type: ignore[no-untyped-def]
    m = Made()
    block = m.program.global_block()
    block.create_var("w", "float32", [2], persistable=True)
    x, g = m.data("x", [2]), m.data("g", [2])
    y = m.b.mul(x, block.var("w"))
    m.b.op("suspend")
    new = m.b.add(block.var("w"), m.b.mul(y, g))
    from dy2st_runtime.ops import registry

    m.b.apply(registry.get("assign"), (new,), {}, {"Out": ["w"]})
    exe = kind(m.program, m.feeds, [y.name])
    state = {"w": np.array([2, 3], "f")}
    session = exe.start({"x": np.array([1, 2], "f")}, state)
    assert session.fetch([y.name])[0].tolist() == [2, 6]
    assert state["w"].tolist() == [2, 3]
    session.resume({"g": np.array([1, 1], "f")})
    session.close()
    assert state["w"].tolist() == [4, 9]


def test_the_switch() -> None:
    m = Made()
    y = m.b.scaled(m.data("x", [-1]), 3.0)
    with config.NO_JIT.override(True):
        exe = make_executable(m.program, m.feeds, [y.name])
    assert isinstance(exe, InterpretedExecutable)
    assert exe.run([np.ones(2, "f")])[0].tolist() == [3, 3]
    assert isinstance(make_executable(m.program, m.feeds, [y.name]), Executable)
