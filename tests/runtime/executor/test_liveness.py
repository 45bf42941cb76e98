"""What the planner knows of memory: the time it takes does not grow with the square of the program; views of parameters."""

from __future__ import annotations

import numpy as np
import pytest
from dy2st_runtime import reference
from dy2st_runtime.executor import coalescing, plan
from dy2st_runtime.executor.executable import Executable
from dy2st_runtime.executor.liveness import Liveness
from dy2st_runtime.ops import registry

from hand_built import Made  # isort: skip


def f32(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def test_many_lists_are_analysed_once(monkeypatch):  # type: ignore[no-untyped-def]
    made = []

    class Counted(Liveness):
        def __init__(self, *args, **kwargs):  # type: ignore[no-untyped-def]
            made.append(self)
            super().__init__(*args, **kwargs)

    monkeypatch.setattr(coalescing, "Liveness", Counted)
    m = Made()
    x = m.data("x", [-1])
    array = m.b.op("create_array", dtype="float32", shape=[-1])
    for _ in range(30):
        array = m.b.op("array_append", Array=array, X=x)
    Executable(m.program, m.feeds, [array.name])
    assert len(made) == 1


def test_which_steps_can_fail_is_asked_once_for_all_parameters(monkeypatch):  # type: ignore[no-untyped-def]
    asked = []
    can_fail = plan._can_fail
    monkeypatch.setattr(plan, "_can_fail", lambda step: asked.append(step) or can_fail(step))
    m = Made()
    rate = m.data("rate", [1])
    for i in range(20):
        w = m.program.global_block().create_var(f"w{i}", "float32", [2], persistable=True)
        m.b.apply(registry.get("sgd"), (w, rate, m.b.scaled(w, 2.0)), {}, {"ParamOut": [w.name]})
    exe = Executable(m.program, m.feeds, [])
    assert len(exe.plan.inplace_state) == 20
    assert len(asked) < 100


def view(m, w, x):  # type: ignore[no-untyped-def]
    return m.b.op("reshape2", X=w, shape=[2, 1])


def branch(m, w, x):  # type: ignore[no-untyped-def]
    (y,) = m.cond(m.b.less_than(m.b.op("reduce_sum", X=x, dim=[], reduce_all=True), m.data("limit", [])),
                  lambda: [w], lambda: [x])  # fmt: skip
    return y


def loop(m, w, x):  # type: ignore[no-untyped-def]
    i, n = m.data("i", []), m.data("limit", [])
    outs, _ = m.loop(lambda i, y: m.b.less_than(i, n), lambda i, y: [m.b.scaled(i, 1.0, 1.0), w], [i, w])
    return outs[1]


@pytest.mark.parametrize("update", ["sgd", "assign"])
@pytest.mark.parametrize("seen", [view, branch, loop])
def test_what_shows_a_parameter_keeps_the_value_from_before_its_update(seen, update) -> None:  # type: ignore[no-untyped-def]
    """Fetched, and read by an op after the update."""
    m = Made()
    w = m.program.global_block().create_var("w", "float32", [2], persistable=True)
    x = m.data("x", [2])
    y = seen(m, w, x)
    if update == "sgd":
        m.b.apply(registry.get("sgd"), (w, m.data("rate", [1]), x), {}, {"ParamOut": ["w"]})
    else:
        m.b.apply(registry.get("assign"), (m.b.add(w, x),), {}, {"Out": ["w"]})
    late = m.b.scaled(y, 10.0)
    values = {"x": f32(1, 2), "limit": np.array(5, "f"), "i": np.array(0, "f"), "rate": f32(0.5)}
    feeds = {name: values[name] for name in m.feeds}
    state, oracle = {"w": f32(3, 4)}, {"w": f32(3, 4)}
    exe = Executable(m.program, m.feeds, [y.name, late.name, "w"])
    for _ in range(3):
        env = reference.run_program(m.program, feeds, oracle)
        got = exe.run(list(feeds.values()), state)
        for a, name in zip(got, (y.name, late.name, "w"), strict=True):
            np.testing.assert_allclose(a, env[name])
        np.testing.assert_allclose(state["w"], oracle["w"])
