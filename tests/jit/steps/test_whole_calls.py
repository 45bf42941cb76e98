"""Calls of functions of the API that joined steps compare as a whole, instead of op by op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from loops import Body, Loop, Plain, batches, run, same

import dy2st as paddle
from dy2st import nn
from dy2st.jit.steps.deferral import Deferral
from dy2st.jit.steps.script import Literal

F = nn.functional


def loop_of(loss_of: Callable[[int, Any, Any], Any]) -> Body:
    def body(loop: Loop, i: int, x: Any, y: Any, labels: Any) -> None:
        loss = loss_of(i, loop.model(x), y)
        loss.backward()
        loop.optimizer.step()
        loop.optimizer.clear_grad()
        loop.note(loss)

    return body


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ops that joined steps are asked for, one by one."""
    found: list[str] = []
    apply = Deferral.apply

    def noting(self: Any, op: Any, ins: Any, attrs: Any) -> Any:
        found.append(op.type)
        return apply(self, op, ins, attrs)

    monkeypatch.setattr(Deferral, "apply", noting)
    return found


WHOLE = {
    "mse": lambda i, z, y: F.mse_loss(z, y),
    "by name": lambda i, z, y: F.mse_loss(label=y, input=z, reduction="sum"),
    "layer": lambda i, z, y: nn.MSELoss()(z, y),
    "l1": lambda i, z, y: F.l1_loss(z, y),
    "smooth": lambda i, z, y: F.smooth_l1_loss(z, y, delta=0.5),
    "behind another op": lambda i, z, y: F.l1_loss(F.sigmoid(z), y) * 2.0,
    "logits": lambda i, z, y: F.binary_cross_entropy_with_logits(z, y),
}


@pytest.mark.parametrize("which", WHOLE)
def test_a_call_is_compared_as_a_whole(which: str, asked: list[str]) -> None:
    static = same(loop_of(WHOLE[which]))
    (span,) = static.steps.joined.script.spans.values()
    assert span.end - span.begin > 1
    asked.clear()
    x, y, _ = next(batches(""))
    WHOLE[which](0, static.model(x), y).backward()
    outside = static.steps.joined.script.lines[: span.begin] + static.steps.joined.script.lines[span.end :]
    assert asked == [line.op.type for line in outside]


def test_two_calls_in_a_step() -> None:
    static = same(loop_of(lambda i, z, y: F.mse_loss(z, y) + 0.1 * F.l1_loss(z, y)))
    assert len(static.steps.joined.script.spans) == 2


OTHERWISE = {
    "reduction": lambda i, z, y: F.mse_loss(z, y, "sum" if i in (8, 9) else "mean"),
    "number": lambda i, z, y: F.smooth_l1_loss(z, y, delta=0.5 if i < 8 else 0.25),
    "number of another class": lambda i, z, y: F.smooth_l1_loss(z, y, delta=1 if i < 8 else 1.0),
    "function": lambda i, z, y: (F.l1_loss if i in (8, 9) else F.mse_loss)(z, y),
    "target": lambda i, z, y: F.mse_loss(z, z.detach() if i in (8, 9) else y),
    "order": lambda i, z, y: F.l1_loss(*((y, z) if i in (8, 9) else (z, y))),
    "keyword": lambda i, z, y: F.mse_loss(z, label=y) if i in (8, 9) else F.mse_loss(z, y),
    "an array": lambda i, z, y: F.mse_loss(z, y.numpy() if i in (8, 9) else y),
    "an op before": lambda i, z, y: F.mse_loss(F.tanh(z) if i in (8, 9) else z, y),
    "ops in its place": lambda i, z, y: (z - y).square().mean() if i in (8, 9) else F.mse_loss(z, y),
}


@pytest.mark.parametrize("which", OTHERWISE)
def test_calls_that_change(which: str) -> None:
    same(loop_of(OTHERWISE[which]))


def test_batches_of_other_sizes() -> None:
    def body(loop: Loop, i: int, x: Any, y: Any, labels: Any) -> None:
        n = 8 if i % 3 else 5
        loop_of(WHOLE["mse"])(loop, i, x[:n], y[:n], labels)

    same(body, steps=20)


def test_targets_that_are_spread_over_the_rows() -> None:
    same(loop_of(lambda i, z, y: F.mse_loss(z, y if i % 4 else y[:1])), steps=20)


def test_without_gradients_a_call_is_another() -> None:
    def shown(i: int, z: Any, y: Any) -> Any:
        if i in (8, 9):
            with paddle.no_grad():
                F.mse_loss(z, y)
        return F.mse_loss(z, y)

    same(loop_of(shown))


def test_a_constant_within_a_call_is_brought_along_each_time() -> None:
    def kept(i: int, z: Any, y: Any) -> Any:
        return F.kl_div(F.log_softmax(z), F.softmax(y), "sum")

    same(loop_of(kept))


def test_what_is_wrong_is_said_as_without() -> None:
    static = run(loop_of(WHOLE["mse"]))
    x, y, _ = next(batches(""))
    with pytest.raises(ValueError, match="reduction 'most' is unknown"):
        F.mse_loss(static.model(x), y, "most")
    with pytest.raises(TypeError, match="mse_loss"):
        F.mse_loss(static.model(x), y, "mean", None, 3)


def test_a_step_that_ends_in_the_middle_of_what_follows_a_call() -> None:
    seen = []
    for static in (False, True):
        loop = run(loop_of(WHOLE["mse"]), static=static)
        x, y, _ = next(batches(""))
        loss = F.mse_loss(loop.model(x), y)
        seen.append([loss.numpy(), (loss * 2.0).numpy()])
        loss.backward()
        seen[-1] += [p.grad.numpy() for p in loop.layer.parameters()]
    for a, b in zip(*seen, strict=True):
        np.testing.assert_allclose(b, a, 2e-5, 2e-6)


def test_literals() -> None:
    assert Literal.of(0.0).is_same(0.0)
    assert not Literal.of(0.0).is_same(-0.0)
    assert not Literal.of(1).is_same(True)
    assert not Literal.of(1).is_same(1.0)
    assert Literal.of(float("nan")).is_same(float("nan"))
    assert Literal.of([1]) is None
    assert Literal.of(0.0) != Literal.of(-0.0)


def test_functions_keep_their_names() -> None:
    assert F.mse_loss.__name__ == "mse_loss"
    assert "label" in F.mse_loss.__doc__
    assert run(loop_of(WHOLE["mse"]), Plain).joined
