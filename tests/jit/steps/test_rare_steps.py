"""What joined steps once got wrong: rare numbers, code of the user's within a step, signals, threads, models that are dropped."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dy2st_runtime.executor.executable import Session
from loops import Plain, run

import dy2st as paddle
from dy2st import nn
from dy2st.jit.steps import deferral
from dy2st.tensor import due, watching

F = nn.functional


class Normalized(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm, self.second = nn.Linear(6, 8, bias_attr=False), nn.BatchNorm1D(8), nn.Linear(8, 3)

    def forward(self, x: Any) -> Any:
        return self.second(F.relu(self.norm(self.first(x))))


class Loop:
    def __init__(self, static: bool = True, rate: Any = 0.05) -> None:
        self.layer = Normalized()
        rng = np.random.default_rng(1)
        for p in self.layer.parameters():
            p.set_value((rng.normal(size=p.shape) * 0.3).astype("float32"))
        self.optimizer = paddle.optimizer.Momentum(rate, parameters=self.layer.parameters())
        self.model = paddle.jit.to_static(self.layer) if static else self.layer
        self.x = paddle.to_tensor(rng.normal(size=(8, 6)).astype("float32"))
        self.y = paddle.to_tensor(rng.normal(size=(8, 3)).astype("float32"))

    def loss(self, of: Callable[[Any], Any] = lambda out: out) -> Any:
        return F.mse_loss(of(self.model(self.x)), self.y)

    def step(self, of: Callable[[Any], Any] = lambda out: out) -> Any:
        loss = self.loss(of)
        loss.backward()
        self.optimizer.step()
        self.optimizer.clear_grad()
        return loss

    def steps(self, n: int = 8) -> Loop:
        for _ in range(n):
            self.step()
        return self

    @property
    def state(self) -> list[np.ndarray]:
        return [t.numpy() for t in (*self.layer.parameters(), *self.layer.buffers())]


def same(some: Loop, other: Loop) -> None:
    for a, b in zip(some.state, other.state, strict=True):
        np.testing.assert_allclose(a, b, 2e-4, 2e-5)


def test_minus_zero_is_another_number() -> None:
    loop = Loop()
    for sign in [0.0] * 6 + [-0.0]:
        found: list[Any] = []
        loop.step(lambda out, sign=sign, found=found: found.append(out * sign) or found[0])  # type: ignore[misc]
    out = loop.model(loop.x).numpy()
    np.testing.assert_array_equal(np.signbit(found[0].numpy()), ~np.signbit(out))


def test_a_schedule_that_looks_at_what_waits() -> None:
    class Looking(paddle.optimizer.lr.LRScheduler):
        looks: Any = None

        def get_lr(self) -> float:
            return 0.05

        def __call__(self) -> float:
            if self.looks is not None:
                float(self.looks)
            return 0.05

    loops = []
    for static in (False, True):
        loop = Loop(static, Looking(0.05)).steps()
        loss = loop.loss()
        loss.backward()
        loop.optimizer._learning_rate.looks = loss  # type: ignore[attr-defined]
        loop.optimizer.step()
        loops.append(loop)
    same(*loops)


class Signal(BaseException):
    """What the handler of a signal raises."""


def test_a_signal_behind_a_step_leaves_it_made(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, eager = Loop().steps(), Loop(False).steps()
    finish, raised = Session.finish, []

    def interrupted(session: Session) -> None:
        finish(session)
        if not raised:
            raised.append(True)
            raise Signal

    eager.loss().backward()
    loop.loss().backward()
    with monkeypatch.context() as patch:
        patch.setattr(Session, "finish", interrupted)
        with pytest.raises(Signal):
            loop.optimizer.step()
    eager.optimizer.step()
    for p, q in zip(loop.layer.parameters(), eager.layer.parameters(), strict=True):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), 2e-4, 2e-5)
    same(loop, eager)


def test_a_signal_before_a_run_leaves_the_call_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, eager = Loop().steps(), Loop(False).steps()
    loss = loop.loss()
    loss.backward()

    def interrupted(*_: object) -> None:
        raise Signal

    with monkeypatch.context() as patch:
        patch.setattr(deferral.Deferral, "_take_back", interrupted)  # a second one, in the middle of undoing
        patch.setattr("dy2st.jit.steps.joined.JoinedStep.start", interrupted)
        with pytest.raises(Signal):
            loop.optimizer.step()
    np.testing.assert_allclose(loss.numpy(), eager.loss().numpy(), 1e-4)
    loop.optimizer.step()
    loop.optimizer.clear_grad()
    loop.steps(4)


def test_a_signal_in_a_call_leaves_buffers_that_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = Loop().steps()
    real, calls = deferral.defer, []

    def interrupted(*args: Any) -> None:
        real(*args)
        calls.append(args)
        raise Signal

    with monkeypatch.context() as patch:
        patch.setattr(deferral, "defer", interrupted)
        with pytest.raises(Signal):
            loop.model(loop.x)
    assert calls
    assert all(np.isfinite(a).all() for a in loop.state)
    loop.steps(4)


def test_a_gradient_that_was_interrupted_is_not_added_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, eager = Loop().steps(), Loop(False).steps()
    for each in (eager, loop):
        each.loss().backward()
    real, times = deferral.autograd.accumulate, []

    def interrupted(root: Any) -> None:
        real(root)
        times.append(root)
        raise Signal

    with monkeypatch.context() as patch:
        patch.setattr(deferral.autograd, "accumulate", interrupted)
        with pytest.raises(Signal):
            _ = loop.layer.second.weight.grad
    assert times
    np.testing.assert_allclose(loop.layer.second.weight.grad.numpy(), eager.layer.second.weight.grad.numpy(), 2e-4, 2e-5)


@pytest.mark.parametrize("steps", [2, 3, 8])
@pytest.mark.parametrize("last", ["call", "loss", "step"])
def test_a_model_that_is_dropped_is_freed(last: str, steps: int) -> None:
    loop = Loop().steps(steps)
    known = [weakref.ref(loop.layer), weakref.ref(loop.layer.first.weight), weakref.ref(loop.optimizer)]
    if last == "call":
        loop.model(loop.x)
    elif last == "loss":
        loop.loss()
    else:
        loop.loss().backward()
        loop.optimizer.step()
    del loop
    gc.collect()
    assert [ref() for ref in known] == [None] * 3
    assert due.debtors == []


def test_gradients_are_owed_as_long_as_there_are_parameters() -> None:
    loop, eager = Loop().steps(), Loop(False).steps()
    for each in (loop, eager):
        each.loss().backward()
        each.optimizer.step()
    kept, wanted = loop.layer.second.weight, eager.layer.second.weight
    del loop
    gc.collect()
    np.testing.assert_allclose(kept.grad.numpy(), wanted.grad.numpy(), 2e-4, 2e-5)


def test_threads_that_end_leave_one_watch_at_most() -> None:
    loop = Loop()
    for _ in range(5):
        thread = threading.Thread(target=loop.model, args=(loop.x,))
        thread.start()
        thread.join()
    assert len(watching.blocks) <= 1
    del loop
    gc.collect()
    assert not watching.blocks


@pytest.mark.filterwarnings("ignore:.*a static call takes")  # threads wait for each other, and a busy machine for all of them
def test_threads_that_train_one_model_at_once() -> None:
    loop, errors = Loop(rate=0.001), []

    def train(which: int) -> None:
        try:
            for i in range(100):
                loss = loop.loss()
                if i % 5 == which:
                    float(loss)
                loss.backward()
                loop.optimizer.step()
                loop.optimizer.clear_grad()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=train, args=(k,)) for k in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert errors == []
    assert all(np.isfinite(a).all() for a in loop.state)


def test_results_that_are_none_in_some_runs() -> None:
    class Maybe(Plain):
        def forward(self, x: Any) -> Any:
            h = super().forward(x)
            if x.sum() > 0:
                return h
            return None

    def body(loop: Any, i: int, x: Any, y: Any, labels: Any) -> None:
        found = loop.model(x)
        loop.note(found is None)
        if found is not None:
            loss = F.mse_loss(found, y)
            loss.backward()
            loop.optimizer.step()
            loop.optimizer.clear_grad()
            loop.note(loss)

    eager, static = (run(body, Maybe, static=static, steps=20) for static in (False, True))
    assert static.steps is None
    assert {True, False} <= {x for x in eager.seen if isinstance(x, bool)}
    for a, b in zip(eager.end(), static.end(), strict=True):
        np.testing.assert_allclose(b, a, 2e-4, 2e-5)
