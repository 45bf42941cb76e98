"""Whoever looks at a step that waits, or changes something in the middle of it, finds what eager mode has."""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from loops import Body, Dropping, Loop, Plain, Recurrent, batches, classified, run, same, squared

import dy2st as paddle
from dy2st import nn

F = nn.functional


# ---- who looks, and when ----
LOOKS: dict[str, Callable[[Loop, Any, Any], None]] = {
    "value of the output": lambda loop, out, loss: loop.note(out),
    "value of the loss": lambda loop, out, loss: loop.note(loss),
    "both": lambda loop, out, loss: loop.note(out, loss, float(loss)),
    "an op on the output": lambda loop, out, loss: loop.note(paddle.argmax(out, 1), (out * 2).sum()),
    "gradients": lambda loop, out, loss: loop.note(*[p.grad for p in loop.layer.parameters()]),
    "a gradient of the output": lambda loop, out, loss: loop.note(out.grad),
    "a gradient of the loss": lambda loop, out, loss: loop.note(loss.grad),
    "parameters": lambda loop, out, loss: loop.note(*loop.layer.parameters()),
    "state": lambda loop, out, loss: loop.note(*loop.layer.state_dict().values()),
    "optimizer": lambda loop, out, loss: loop.note(*[v for v in loop.optimizer.state_dict().values() if isinstance(v, paddle.Tensor)]),
    "leaf": lambda loop, out, loss: loop.note(out.is_leaf, loss.is_leaf, loss.stop_gradient),
    "detach": lambda loop, out, loss: loop.note(out.detach() + 1.0),
    "clone": lambda loop, out, loss: loop.note(loss.clone()),
    "in place": lambda loop, out, loss: loop.note(out.detach().add_(paddle.ones([1]))),
    "copies": lambda loop, out, loss: loop.note(copy.deepcopy(out.detach()), copy.deepcopy(loop.layer.parameters()[0])),
    "pickle": lambda loop, out, loss: loop.note(pickle.loads(pickle.dumps(loss.detach()))),
    "random numbers": lambda loop, out, loss: loop.note(paddle.rand([2])),
    "garbage": lambda loop, out, loss: gc.collect() and None,
    "text": lambda loop, out, loss: loop.note(str(loss)[:30]),
    "evaluation": lambda loop, out, loss: loop.note(evaluated(loop)),
}
PLACES = ("behind the call", "behind backward", "behind the step", "behind clear_grad")


def evaluated(loop: Loop) -> Any:
    with paddle.no_grad():
        return loop.model(paddle.ones([2, 6]))


def is_there(what: str, place: str) -> bool:
    """Whether there is something to look at: gradients come and go."""
    return not ("gradient" in what and place == "behind the call") and not (what == "gradients" and place == "behind clear_grad")


MODELS = [(Plain, False), *(pytest.param(*row, marks=pytest.mark.slow) for row in [(Dropping, False), (Recurrent, False), (Plain, True)])]


@pytest.mark.parametrize(("model", "always"), MODELS)
@pytest.mark.parametrize(("what", "place"), [(what, place) for what in LOOKS for place in PLACES if is_there(what, place)])
def test_looks(what: str, place: str, always: bool, model: type[nn.Layer]) -> None:
    def body(loop: Loop, i: int, x: Any, y: Any, labels: Any) -> None:
        def look(here: str) -> None:
            if here == place and (always or i in (7, 10)):
                LOOKS[what](loop, out, loss)

        out = loop.model(x)
        loss = F.mse_loss(out, y)
        look("behind the call")
        loss.backward()
        look("behind backward")
        loop.optimizer.step()
        look("behind the step")
        loop.optimizer.clear_grad()
        look("behind clear_grad")

    eager, static = (run(body, model, static=static) for static in (False, True))
    for a, b in zip(eager.end(), static.end(), strict=True):
        if isinstance(a, str):
            assert a == b
        else:
            np.testing.assert_allclose(b, a, 2e-4, 2e-5)


@pytest.mark.parametrize("when", ["behind the call", "behind backward", "behind the step"])
@pytest.mark.parametrize("what", ["set_value", "gradient", "rate", "freeze", "hook", "stop", "decay"])
@pytest.mark.parametrize("model", [Plain, Recurrent])
def test_changes(what: str, when: str, model: type[nn.Layer]) -> None:
    def change(loop: Loop, loss: Any) -> None:
        w = loop.layer.parameters()[0]
        if what == "set_value":
            w.set_value(w.numpy() * 0.5)
        elif what == "gradient" and w.grad is not None:
            w.grad = paddle.ones_like(w)
        elif what == "rate":
            loop.optimizer.set_lr(0.001)
        elif what == "freeze":
            w.stop_gradient = not w.stop_gradient
        elif what == "hook":
            loop.hook = w.register_hook(lambda g: g * 0.0) if when == "behind the call" else None  # type: ignore[attr-defined]
        elif what == "stop" and when == "behind the step":
            loss.stop_gradient = True
        elif what == "decay":
            loop.optimizer.regularization = paddle.regularizer.L2Decay(0.1)

    def body(loop: Loop, i: int, x: Any, y: Any, labels: Any) -> None:
        loss = F.mse_loss(loop.model(x), y)
        if i == 8 and when == "behind the call":
            change(loop, loss)
        loss.backward()
        if i == 8 and when == "behind backward":
            change(loop, loss)
        loop.optimizer.step()
        if i == 8 and when == "behind the step":
            change(loop, loss)
        loop.optimizer.clear_grad()
        loop.note(loss)

    eager, static = (run(body, model, static=static).end() for static in (False, True))
    for a, b in zip(eager, static, strict=True):
        np.testing.assert_allclose(b, a, 2e-4, 2e-5)


# ---- calls that may fail because of values run when they are made ----
@pytest.mark.parametrize("body", [squared, classified])
def test_calls_that_may_fail(body: Body) -> None:
    loop = same(body, Recurrent)
    assert loop.steps.joined.split


def test_parameters_that_somebody_has_taken_are_not_written_to() -> None:
    loop = run(squared, Recurrent)
    x, y, _ = next(batches(""))
    loss = F.mse_loss(loop.model(x), y)
    taken = loop.layer.out.weight.detach()
    before = taken.numpy()
    loss.backward()
    loop.optimizer.step()
    loop.optimizer.clear_grad()
    np.testing.assert_array_equal(taken.numpy(), before)
    assert (loop.layer.out.weight.numpy() != before).any()
