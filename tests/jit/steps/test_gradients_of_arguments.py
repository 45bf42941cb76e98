"""Steps that end with the gradient of an argument: by `grad()`, or by `backward()` and a look at its `.grad`."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import dy2st as paddle
from dy2st import nn
from dy2st.errors import GradientError
from dy2st.tensor import due
from dy2st.tensor.deferred import is_deferred

F = nn.functional
STEPS = 12


class Curve(nn.Layer):
    """A function of its arguments and of a parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        for p in self.linear.parameters():
            p.set_value(np.linspace(-0.5, 0.7, int(np.prod(p.shape)), dtype="float32").reshape(p.shape))

    def forward(self, x: Any, y: Any) -> Any:
        n = 0
        while n < 2:
            x = F.tanh(self.linear(x)) * y
            n += 1
        return x


class Stopping(Curve):
    """May fail because of values, so the call runs when it is made."""

    def forward(self, x: Any, y: Any) -> Any:
        t, h = paddle.zeros([], "int64"), x * y
        while t < 3 and h.abs().mean() < 5.0:
            h = F.tanh(self.linear(h) + x[t])
            t = t + 1
        return h


class Run:
    def __init__(self, static: bool, model: type[Curve] = Curve) -> None:
        self.layer = model()
        self.model: Any = paddle.jit.to_static(self.layer) if static else self.layer
        self.seen: list[Any] = []
        rng = np.random.default_rng(0)
        self.rows = [rng.normal(size=(2, 3, 4)).astype("float32") for _ in range(STEPS)]
        self.x, self.y = (paddle.to_tensor(a, stop_gradient=False) for a in self.rows[0])

    def note(self, *tensors: Any) -> None:
        self.seen += [None if t is None else t.numpy().copy() for t in tensors]

    @property
    def joined(self) -> Any:
        (trace,) = self.layer.forward._traces.order
        return trace.steps.joined


Body = Callable[[Run, int], None]


def run(body: Body, static: bool = True, model: type[Curve] = Curve, steps: int = STEPS) -> Run:
    found = Run(static, model)
    for i in range(steps):
        body(found, i)
    return found


def same(body: Body, model: type[Curve] = Curve, joined: bool = True) -> Run:
    """Runs a loop in eager mode and static: both see the same."""
    eager, static = (run(body, s, model) for s in (False, True))
    assert (static.joined is not None) is joined
    equal(eager.seen, static.seen)
    return static


def equal(some: Sequence[Any], others: Sequence[Any]) -> None:
    for a, b in zip(some, others, strict=True):
        assert (a is None) is (b is None)
        if a is not None:
            np.testing.assert_allclose(b, a, 2e-5, 1e-6)


# ---- loops that are joined ----
def of_x(loop: Run, i: int) -> None:
    out = loop.model(loop.x, loop.y)
    (g,) = paddle.grad(out.sum(), loop.x)
    loop.note(out, g)


def of_both(loop: Run, i: int) -> None:
    out = loop.model(loop.x, loop.y)
    loop.note(*paddle.grad((out * out).mean(), [loop.y, loop.x, loop.y]))


def of_new_tensors(loop: Run, i: int) -> None:
    x, y = (paddle.to_tensor(a, stop_gradient=False) for a in loop.rows[i])
    loop.note(*paddle.grad((loop.model(x, y) * x).sum() + (y * 2.0).sum(), [x, y]))


def of_weights(loop: Run, i: int) -> None:
    out = loop.model(loop.x, loop.y)
    w = loop.layer.linear.weight
    loop.note(*paddle.grad((out * w.sum()).sum(), [w, loop.x]))


def of_the_result(loop: Run, i: int) -> None:
    out = loop.model(loop.x, loop.y)
    loop.note(*paddle.grad((out * out).sum(), [out]))


def unused(loop: Run, i: int) -> None:
    out = loop.model(loop.x, loop.y)
    loop.note(*paddle.grad((loop.x * 3.0).sum() + 0.0 * loop.x.sum(), [loop.x, loop.y], allow_unused=True), out.detach())


def by_hand(loop: Run, i: int) -> None:
    """Descends along the gradient of the argument."""
    x = paddle.to_tensor(loop.rows[0][0] if i == 0 else loop.seen[-1], stop_gradient=False)
    (g,) = paddle.grad(loop.model(x, loop.y).square().sum(), x)
    loop.note(x.detach() - 0.1 * g)


def by_backward(loop: Run, i: int) -> None:
    out = loop.model(loop.x, loop.y)
    out.sum().backward()
    loop.note(loop.x.grad, loop.y.grad, loop.layer.linear.weight.grad, out, out.grad)
    loop.x.clear_grad()
    loop.y.clear_grad()
    loop.layer.clear_gradients()


def adversarial(loop: Run, i: int) -> None:
    """Two calls: the gradient of the input, then a step with an input that has moved along it."""
    x = paddle.to_tensor(loop.rows[i][0], stop_gradient=False)
    loop.model(x, loop.y.detach()).sum().backward()
    moved = x.detach() + 0.1 * paddle.sign(x.grad)
    loop.layer.clear_gradients()
    loop.note(moved)


@pytest.mark.parametrize("model", [Curve, Stopping])
@pytest.mark.parametrize("body", [of_x, of_both, of_new_tensors, of_weights, of_the_result, by_hand, by_backward, adversarial])
def test_loops(body: Body, model: type[Curve]) -> None:
    loop = same(body, model)
    assert loop.joined.split is (model is Stopping)
    assert due.debtors == []


def test_an_input_that_the_result_does_not_use() -> None:
    same(unused, joined=False)  # the graph of the call is not freed then


def test_a_training_loop_whose_input_wants_a_gradient_too() -> None:
    def body(loop: Run, i: int) -> None:
        if i == 0:
            loop.optimizer = paddle.optimizer.Adam(0.05, parameters=loop.layer.parameters())  # type: ignore[attr-defined]
        x = paddle.to_tensor(loop.rows[i][0], stop_gradient=False)
        loss = loop.model(x, loop.y.detach()).square().mean()
        loss.backward()
        loop.optimizer.step()  # type: ignore[attr-defined]
        if i % 3:
            loop.optimizer.clear_grad()  # type: ignore[attr-defined]
            loop.note(x.grad)
        else:
            loop.note(x.grad)
            loop.optimizer.clear_grad()  # type: ignore[attr-defined]
        loop.note(loss, *loop.layer.parameters())

    same(body)


def test_an_input_that_is_trained_in_one_step() -> None:
    def body(loop: Run, i: int) -> None:
        if i == 0:
            constant = nn.initializer.Constant(0.5)
            loop.own = paddle.create_parameter([3, 4], "float32", default_initializer=constant)  # type: ignore[attr-defined]
            loop.optimizer = paddle.optimizer.SGD(0.1, parameters=[*loop.layer.parameters(), loop.own])  # type: ignore[attr-defined]
        x = loop.own if i == 8 else paddle.to_tensor(loop.rows[i][0], stop_gradient=False)  # type: ignore[attr-defined]
        loop.model(x, loop.y.detach()).square().mean().backward()
        loop.optimizer.step()  # type: ignore[attr-defined]
        loop.optimizer.clear_grad()  # type: ignore[attr-defined]
        loop.note(loop.own, *loop.layer.parameters())  # type: ignore[attr-defined]

    same(body)


def test_an_integer_that_wants_a_gradient() -> None:
    class Picking(Curve):
        def forward(self, x: Any, y: Any) -> Any:
            return self.linear(x) * y.astype("float32")

    def body(loop: Run, i: int) -> None:
        y = paddle.to_tensor(np.ones([3, 4], "int64"), stop_gradient=False)
        loop.note(*paddle.grad((loop.model(loop.x, y) * y.astype("float32")).sum(), loop.x))

    eager, static = (run(body, s, Picking) for s in (False, True))
    equal(eager.seen, static.seen)


def test_the_call_waits_and_one_program_runs() -> None:
    loop = run(of_x)
    out = loop.model(loop.x, loop.y)
    assert is_deferred(out)
    (g,) = paddle.grad(out.sum(), loop.x)
    assert type(g) is paddle.Tensor
    assert g.stop_gradient
    assert loop.x.grad is None
    assert out.grad is None
    assert not out.is_leaf


# ---- looks and changes in the middle ----
def change(loop: Run, what: str, out: Any) -> Any:
    x = loop.x
    if what == "value":
        loop.note(out)
    elif what == "another op":
        loop.note((out * 2.0).sum(), (x * 2.0).sum())
    elif what == "set_value":
        x.set_value(x * 0.5)
    elif what == "stop":
        x.stop_gradient = True
        x.stop_gradient = False
    elif what == "hook":
        loop.hook = x.register_hook(lambda g: g * 3.0)  # type: ignore[attr-defined]
    elif what == "hook of the result":
        out.register_hook(lambda g: g * 3.0)
    elif what == "hook of the other":
        loop.y.register_hook(lambda g: loop.note(g))
    elif what == "gradient":
        x.grad = paddle.ones_like(x)
    elif what == "weight":
        loop.layer.linear.weight.set_value(loop.layer.linear.weight * 0.5)
    elif what == "freeze":
        loop.layer.linear.weight.stop_gradient = True
    elif what == "nested":
        loop.note(*paddle.grad((x * x).sum(), x))
    elif what == "thread":
        thread = threading.Thread(target=lambda: loop.note(out))
        thread.start()
        thread.join()
    elif what == "garbage":
        gc.collect()
    elif what == "in place":
        with pytest.raises(Exception, match="leaf"):
            x.add_(paddle.ones_like(x))
    return out


CHANGES = ["value", "another op", "set_value", "stop", "hook", "hook of the result", "hook of the other", "gradient", "weight", "freeze",
           "nested", "thread", "garbage", "in place"]  # fmt: skip


@pytest.mark.parametrize("model", [Curve, Stopping])
@pytest.mark.parametrize("by", ["grad", "backward"])
@pytest.mark.parametrize("what", CHANGES)
def test_changes(what: str, by: str, model: type[Curve]) -> None:
    def body(loop: Run, i: int) -> None:
        out = loop.model(loop.x, loop.y)
        if i == 8:
            change(loop, what, out)
        s = out.sum()
        if i == 9 and what == "value":
            change(loop, what, s)
        if by == "grad":
            loop.note(*paddle.grad(s, loop.x))
        else:
            s.backward()
        loop.note(loop.x.grad, loop.layer.linear.weight.grad, out)
        loop.x.clear_grad()
        loop.y.clear_grad()
        loop.layer.clear_gradients()

    eager, static = (run(body, s, model) for s in (False, True))
    equal(eager.seen, static.seen)


def backward_instead(loop: Run, s: Any) -> None:
    s.backward()
    loop.note(loop.x.grad)
    loop.x.clear_grad()
    loop.y.clear_grad()
    loop.layer.clear_gradients()


OTHER_CALLS: dict[str, Callable[[Run, Any], None]] = {
    "retained": lambda loop, s: loop.note(*paddle.grad(s, loop.x, retain_graph=True), *paddle.grad(s, loop.x)),
    "backward instead": backward_instead,
    "seed": lambda loop, s: loop.note(*paddle.grad(s, loop.x, paddle.full([], 2.0))),
    "blocked": lambda loop, s: loop.note(*paddle.grad(s, [loop.x, loop.y], no_grad_vars=[loop.y], allow_unused=True)),
    "other inputs": lambda loop, s: loop.note(*paddle.grad(s, [loop.y, loop.x])),
    "fewer inputs": lambda loop, s: loop.note(*paddle.grad(s, loop.y)),
    "two roots": lambda loop, s: loop.note(*paddle.grad([s, s], loop.x)),
    "a weight": lambda loop, s: loop.note(*paddle.grad(s, loop.layer.linear.bias)),
    "of itself": lambda loop, s: loop.note(*paddle.grad(s, [s, loop.x])),
    "what is not reached": lambda loop, s: loop.note(*paddle.grad(s, paddle.to_tensor([1.0], stop_gradient=False), allow_unused=True)),
}


@pytest.mark.parametrize("always", [False, True])
@pytest.mark.parametrize("what", OTHER_CALLS)
def test_other_calls(what: str, always: bool) -> None:
    def body(loop: Run, i: int) -> None:
        s = loop.model(loop.x, loop.y).sum()
        if always or i in (7, 9):
            OTHER_CALLS[what](loop, s)
        else:
            loop.note(*paddle.grad(s, loop.x))

    eager, static = (run(body, s) for s in (False, True))
    equal(eager.seen, static.seen)


def test_gradients_of_gradients_are_the_same_error() -> None:
    loop = run(of_x)
    with pytest.raises(GradientError, match="cannot be differentiated again"):
        paddle.grad(loop.model(loop.x, loop.y).sum(), loop.x, create_graph=True)


def test_errors_are_the_same() -> None:
    def unreached(loop: Run, i: int) -> None:
        out = loop.model(loop.x, loop.y)
        with pytest.raises(GradientError, match="input 1 of grad\\(\\) is not used"):
            paddle.grad(out.sum(), [loop.x, paddle.ones([1])])
        with pytest.raises(GradientError, match="input 0 of grad\\(\\) is not used"):  # the call is freed
            paddle.grad(out.sum(), loop.x)

    for static in (False, True):
        run(unreached, static)

    def twice(loop: Run, i: int) -> None:
        s = loop.model(loop.x, loop.y).sum()
        loop.note(*paddle.grad(s, loop.x))
        with pytest.raises(GradientError, match="was freed by an earlier backward"):
            paddle.grad(s, loop.x)

    same(twice)


# ---- arguments that a script cannot have ----
def test_gradients_that_are_accumulated() -> None:
    def body(loop: Run, i: int) -> None:
        loop.model(loop.x, loop.y).sum().backward()
        loop.note(loop.x.grad)

    same(body, joined=False)


def test_a_gradient_from_before_in_a_joined_loop() -> None:
    def body(loop: Run, i: int) -> None:
        loop.model(loop.x, loop.y).sum().backward()
        loop.note(loop.x.grad, loop.y.grad, loop.layer.linear.weight.grad)
        if i != 8:
            loop.x.clear_grad()
        loop.y.clear_grad()
        loop.layer.clear_gradients()

    same(body)


@pytest.mark.parametrize("always", [False, True])
def test_computed_arguments(always: bool) -> None:
    def body(loop: Run, i: int) -> None:
        x = loop.x * 2.0 if always or i == 8 else loop.x
        loop.note(*paddle.grad(loop.model(x, loop.y).sum(), loop.x))

    same(body, joined=not always)


@pytest.mark.parametrize("always", [False, True])
def test_an_argument_that_is_the_parameter(always: bool) -> None:
    class Square(Curve):
        def forward(self, x: Any, y: Any) -> Any:
            return (x @ self.linear.weight) * y

    def body(loop: Run, i: int) -> None:
        x = loop.layer.linear.weight if always or i == 8 else loop.x
        x = x if x is loop.layer.linear.weight else paddle.to_tensor(np.ones([4, 4], "float32"), stop_gradient=False)
        y = paddle.ones([4, 4])
        loop.note(*paddle.grad(loop.model(x, y).sum(), x))

    eager, static = (run(body, s, Square) for s in (False, True))
    equal(eager.seen, static.seen)


@pytest.mark.parametrize("always", [False, True])
def test_one_tensor_for_two_arguments(always: bool) -> None:
    def body(loop: Run, i: int) -> None:
        y = loop.x if always or i == 8 else loop.y
        loop.note(*paddle.grad((loop.model(loop.x, y) * y).sum(), loop.x))

    eager, static = (run(body, s) for s in (False, True))
    equal(eager.seen, static.seen)


def test_what_is_kept_and_was_not_differentiated_can_be_later() -> None:
    def body(loop: Run, i: int) -> None:
        w = loop.layer.linear.weight
        out = loop.model(loop.x, loop.y)
        other = (w * w).sum()
        loop.note(*paddle.grad(out.sum(), loop.x), *paddle.grad(other, w))

    same(body, joined=False)


# ---- threads, and what is left behind ----
def test_several_threads() -> None:
    loop, errors, found = run(of_x), [], {}
    wanted = run(of_new_tensors, False).seen

    def work(which: int) -> None:
        try:
            own = Run(False)
            own.model, own.layer = loop.model, loop.layer
            for _ in range(5):
                own.seen = []
                for i in range(STEPS):
                    of_new_tensors(own, i) if which % 2 else of_x(own, i)
                found[which] = own.seen
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert errors == []
    equal(wanted, found[1])
    equal(wanted, found[3])
    equal(loop.seen, found[0])


@pytest.mark.parametrize("body", [of_new_tensors, adversarial])
def test_arguments_that_are_dropped_are_freed(body: Body) -> None:
    loop = run(body)
    x = paddle.to_tensor(loop.rows[0][0], stop_gradient=False)
    s = loop.model(x, loop.y if body is of_new_tensors else loop.y.detach()).sum()
    if body is adversarial:
        s.backward()
        _ = loop.layer.linear.weight.grad
    known = weakref.ref(x)
    del x, s
    gc.collect()
    loop.layer.clear_gradients()
    body(loop, 0)
    gc.collect()
    assert known() is None
    assert due.debtors == []
