"""Training loops whose joined steps were once wrong."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from alarms import Stop, alarm, stop
from dy2st_runtime import signals
from dy2st_runtime.executor.executable import Session
from loops import STEPS, Loop, Normalized, run, same, squared

import dy2st as paddle
from dy2st import nn
from dy2st.errors import StagedValueError
from dy2st.jit.steps import joined
from dy2st.jit.steps.joined import JoinedStep

F = nn.functional


class Twins(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(6, 6), nn.Linear(6, 6)

    def forward(self, x: Any) -> Any:
        return self.second(F.tanh(self.first(x)))


def tied_later(loop: Loop, i: int, x: Any, y: Any, labels: Any) -> None:
    """The trace knows two weights; they are one from the second step on."""
    if i == 1:
        loop.layer.second.weight = loop.layer.first.weight
    loss = loop.model(x).square().mean()
    loss.backward()
    loop.optimizer.step()
    loop.optimizer.clear_grad()
    loop.note(loss)


def test_weights_that_are_tied_after_the_trace() -> None:
    same(tied_later, Twins, joined=False, optimizer=lambda params: paddle.optimizer.SGD(0.1, parameters=params))


@pytest.mark.parametrize("wrong", [lambda t: t - None, lambda t: t(), lambda t: t.no_such, lambda t: "a" + t])
def test_python_names_a_waiting_tensor_as_any_other(wrong: Callable[[Any], Any]) -> None:
    said: list[str] = []

    def body(loop: Loop, i: int, x: Any, y: Any, labels: Any) -> None:
        loss = F.mse_loss(loop.model(x), y)
        try:
            wrong(loss)
        except (AttributeError, TypeError) as error:
            said.append(str(error))
        loss.backward()
        loop.optimizer.step()
        loop.optimizer.clear_grad()

    assert run(body).joined
    assert len(said) == STEPS
    assert len({*said}) == 1


LOOKS = ["loss", "gradient", "weight", "buffer", "other"]


@pytest.mark.parametrize(("model", "what"), [*((m, what) for m in (Twins, Normalized) for what in LOOKS), (Twins, "again")])
def test_a_handler_that_looks_behind_the_run_of_a_step(model: type[nn.Layer], what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python calls it before the step is noted; parameters are changed already."""
    commit, waiting, looked, kept = Session._commit, [], [], []
    other = nn.Linear(2, 2)

    def handled(session: Session) -> None:
        if waiting:
            loop, x, loss = waiting.pop()
            looked.append(what)
            if what == "loss":
                loss.numpy()
            elif what == "gradient":
                assert all(p.grad.numpy().any() for p in loop.layer.parameters())
            elif what in ("weight", "buffer"):
                assert all(t.numpy().any() for t in (loop.layer.parameters() if what == "weight" else loop.layer.buffers()))
            elif what == "other":  # as it is called, what this thread has waited for is to be there
                paddle.jit.to_static(other)(paddle.ones([1, 2])).sum().backward()
            else:
                kept.append(loop.model(x))
        commit(session)

    monkeypatch.setattr(Session, "_commit", handled)

    def body(loop: Loop, i: int, x: Any, y: Any, labels: Any) -> None:
        loss = loop.model(x).square().mean()
        loss.backward()
        if i in (8, 10) and hasattr(loop.layer.forward, "_traces"):
            waiting.append((loop, x, loss))
        loop.optimizer.step()
        loop.note(*(p.grad for p in loop.layer.parameters()) if i in (8, 11) else ())
        loop.optimizer.clear_grad()
        loop.note(loss)

    same(body, model, "images" if model is Normalized else "")
    assert looked == [what] * 2


@pytest.mark.parametrize("model", [Twins, Normalized])
def test_a_handler_that_looks_before_the_run_of_a_step(model: type[nn.Layer], monkeypatch: pytest.MonkeyPatch) -> None:
    start, waiting = JoinedStep.start, []

    def handled(*args: Any) -> Any:
        if waiting:
            waiting.pop().numpy()
        return start(*args)

    monkeypatch.setattr(JoinedStep, "start", handled)

    def body(loop: Loop, i: int, x: Any, y: Any, labels: Any) -> None:
        loss = loop.model(x).square().mean()
        loss.backward()
        if i in (8, 10) and hasattr(loop.layer.forward, "_traces"):
            waiting.append(loss)
        loop.optimizer.step()
        loop.optimizer.clear_grad()
        loop.note(loss, *loop.layer.buffers())

    same(body, model, "images" if model is Normalized else "")
    assert not waiting


class Turning(nn.Layer):
    """A loop before what changes the weight; `n` says how long."""

    def __init__(self) -> None:
        super().__init__()
        self.out, self.n = nn.Linear(6, 6), paddle.to_tensor(2)

    def forward(self, x: Any) -> Any:
        i, turned = paddle.zeros([], "int64"), x.detach()
        while i < self.n:
            turned = (turned @ turned.t() @ turned) / 64
            i = i + 1
        return self.out(x + turned * 0.0)


def in_a_long_step(handler: Callable[[Any], object], raised: type[BaseException], iterations: int) -> float:
    """Joins a loop, then calls the handler in the middle of a step that takes long, with its loss; the seconds until it is over."""
    layer = Turning()
    before, model = layer.out.weight.numpy(), paddle.jit.to_static(layer)
    optimizer = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
    x = paddle.ones([64, 6]) * 0.1
    for i in range(12):
        layer.n.set_value(paddle.to_tensor(2 if i < 11 else iterations))
        loss = model(x).square().mean()
        loss.backward()
        if i == 11:
            before = layer.out.weight.numpy()
            begun = time.perf_counter()
            with alarm(lambda *_: handler(loss), 0.1), pytest.raises(raised):  # noqa: B023
                optimizer.step()
            assert (layer.out.weight.numpy() == before).all()
            return time.perf_counter() - begun
        optimizer.step()
        optimizer.clear_grad()
    raise AssertionError


def test_a_long_loop_of_a_step_ends_when_a_handler_raises() -> None:
    assert in_a_long_step(stop, Stop, 2_000_000) < 2  # of some five seconds


def test_a_handler_that_looks_in_a_loop_of_a_step_is_told_to_wait() -> None:
    in_a_long_step(lambda loss: loss.numpy(), StagedValueError, 300_000)


def test_native_loops_behind_the_first_change_call_no_handlers(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that looked at the loss in the middle would find some of the parameters changed."""
    finish, found = Session.finish, []

    def noting(session: Session) -> None:
        found.append(int(signals._words()[signals.LOOKED]))
        finish(session)

    monkeypatch.setattr(Session, "finish", noting)
    monkeypatch.setattr(joined, "LOOPS", {"sgd", "adam"})
    loop = run(squared)
    assert loop.joined
    assert found[-3:] == [signals.NEVER] * 3
    assert signals._words()[signals.LOOKED] < signals.NEVER
