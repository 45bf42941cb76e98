"""Steps that end otherwise: where gradients are read, by a signal, with the model; and what shows them."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest
from dy2st_runtime.executor.executable import Session
from loops import STEPS, Dropping, Loop, Normalized, Plain, Recurrent, batches, run, same, squared

from dy2st import nn, profiler

F = nn.functional


# ---- loops that end with the gradients ----
def asked(loop: Loop, i: int, x: Any, y: Any, labels: Any) -> None:
    loss = F.mse_loss(loop.model(x), y)
    loss.backward()
    loop.note(*[p.grad for p in loop.layer.parameters()])
    loop.layer.clear_gradients()
    loop.note(loss)


@pytest.mark.parametrize("model", [Plain, Dropping, Recurrent])
def test_gradients_without_an_optimizer(model: type[nn.Layer]) -> None:
    loop = same(asked, model)
    assert loop.steps.joined.script.optimizer is None


def test_gradients_that_are_looked_at_before_each_step() -> None:
    def body(loop: Loop, i: int, x: Any, y: Any, labels: Any) -> None:
        loss = F.mse_loss(loop.model(x), y)
        loss.backward()
        loop.note(sum(float((p.grad**2).sum()) for p in loop.layer.parameters()) ** 0.5)
        for p in loop.layer.parameters():
            p.grad = p.grad * 0.5
        loop.optimizer.step()
        loop.optimizer.clear_grad()
        loop.note(loss)

    same(body)


def test_minimize() -> None:
    def body(loop: Loop, i: int, x: Any, y: Any, labels: Any) -> None:
        loss = F.mse_loss(loop.model(x), y)
        loss.backward()
        _, pairs = loop.optimizer.minimize(loss)
        loop.note(*[g for _, g in pairs])
        loop.layer.clear_gradients()
        loop.note(loss)

    same(body)


# ---- looking inside ----
def test_explain_names_the_steps() -> None:
    loop = run(squared)
    assert "  steps of the loop: " in loop.layer.forward.explain()


def test_the_profiler_shows_the_lines_of_a_joined_step(capsys: pytest.CaptureFixture[str]) -> None:
    loop = run(squared)
    with profiler.Profiler() as prof:
        for i, batch in zip(range(3), batches(""), strict=False):
            squared(loop, i, *batch)
    prof.summary(time_unit="us")
    shown = capsys.readouterr().out
    assert loop.joined
    assert "loss = F.mse_loss(loop.model(x), y)" in shown
    assert "loop.optimizer.step()" in shown


def test_a_loop_that_has_ended_leaves_nothing_behind() -> None:
    loop = run(squared)
    trace = loop.layer.forward._traces.order[0]
    known = [weakref.ref(x) for x in (trace, loop.steps.joined, loop.layer, loop.layer.first.weight, loop.optimizer)]
    del loop, trace
    gc.collect()
    assert [ref() for ref in known] == [None] * 5


# ---- signals ----
@pytest.mark.parametrize("late", [True, False])
@pytest.mark.parametrize("model", [Plain, Normalized, Recurrent])
def test_a_step_that_is_interrupted_is_made_or_not(model: type[nn.Layer], late: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    of = "images" if model is Normalized else ""
    finish, raised = Session.finish, []

    def interrupted(session: Session) -> None:
        if late:
            finish(session)
        if not raised:
            raised.append(1)
            raise KeyboardInterrupt
        if not late:
            finish(session)

    def body(loop: Loop, i: int, x: Any, y: Any, labels: Any) -> None:
        loss = F.mse_loss(loop.model(x), y)
        loss.backward()
        if i == 8 and loop.joined:
            with monkeypatch.context() as m:
                m.setattr(Session, "finish", interrupted)
                with pytest.raises(KeyboardInterrupt):
                    loop.optimizer.step()
            if not late:
                loop.optimizer.step()
        else:
            loop.optimizer.step()
        loop.optimizer.clear_grad()
        loop.note(loss)

    class Eager(Loop):
        joined = False  # type: ignore[assignment]

    eager, static = Eager(model, False), Loop(model, True)
    for loop in (eager, static):
        for i, batch in zip(range(STEPS), batches(of), strict=False):
            body(loop, i, *batch)
    assert raised
    for a, b in zip(eager.end(), static.end(), strict=True):
        np.testing.assert_allclose(b, a, 2e-4, 2e-5)
