"""Training loops whose steps run as one Program: the same numbers as eager mode, whatever the loop looks at, and when."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from dy2st_runtime.executor.executable import Session

import dy2st as paddle
from dy2st import nn, profiler
from dy2st.errors import GradientError, OutOfRangeError
from dy2st.jit.steps import learning
from dy2st.tensor import due, watching

F = nn.functional
STEPS = 12


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Steps are joined as soon as they are known to be alike, however little time they take."""
    monkeypatch.setattr(learning, "SHARE", 0.0)
    yield
    watching.end()
    assert not watching.blocks


class Plain(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(6, 8), nn.Linear(8, 3)

    def forward(self, x: Any) -> Any:
        return self.second(F.relu(self.first(x)))


class Branch(Plain):
    def forward(self, x: Any) -> Any:
        h = F.relu(self.first(x))
        if h.mean() > 0.3:
            h = h * 2.0
        n = 0
        while n < 3:
            h = F.tanh(h)
            n += 1
        return self.second(h)


class Normalized(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm, self.out = nn.Conv2D(1, 4, 3, bias_attr=False), nn.BatchNorm2D(4), nn.Linear(4 * 16, 3)

    def forward(self, x: Any) -> Any:
        h = F.relu(self.norm(self.conv(x.reshape([-1, 1, 6, 6]))))
        return self.out(h.flatten(1))


class Dropping(Plain):
    def forward(self, x: Any) -> Any:
        return self.second(F.dropout(F.relu(self.first(x)), 0.5, training=self.training))


class Words(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.table, self.out = nn.Embedding(20, 6), nn.Linear(6, 3)

    def forward(self, ids: Any) -> Any:
        return self.out(self.table(ids).mean(1))


class Two(Plain):
    def forward(self, x: Any) -> Any:
        h = F.relu(self.first(x))
        return {"logits": self.second(h), "hidden": [h]}


class Recurrent(nn.Layer):
    """Reads one row after the other, as long as the values say so."""

    def __init__(self) -> None:
        super().__init__()
        self.cell, self.out = nn.Linear(2, 4), nn.Linear(4, 3)

    def forward(self, x: Any) -> Any:
        rows = x.reshape([-1, 3, 2])
        hidden, t, states = paddle.zeros([rows.shape[0], 4]), paddle.zeros([], "int64"), []
        while t < 3 and hidden.abs().mean() < 5.0:
            hidden = F.tanh(self.cell(rows[:, t]) + hidden)
            states.append(hidden)
            t = t + 1
        return self.out(paddle.stack(states).sum(0))


def batches(of: str) -> Iterator[tuple[Any, Any, Any]]:
    rng, n = np.random.default_rng(0), 8
    for _ in range(40):
        x = rng.integers(0, 20, (n, 5)) if of == "words" else rng.normal(size=(n, 36 if of == "images" else 6)).astype("float32")
        yield paddle.to_tensor(x), paddle.to_tensor(rng.normal(size=(n, 3)).astype("float32")), paddle.to_tensor(rng.integers(0, 3, n))


class Loop:
    """A model with its optimizer, in eager mode or static, and what was seen of them."""

    def __init__(self, model: type[nn.Layer], static: bool, optimizer: Callable[[Any], Any] | None = None) -> None:
        paddle.seed(3)
        self.layer = model()
        rng = np.random.default_rng(1)
        for p in self.layer.parameters():
            p.set_value((rng.normal(size=p.shape) * 0.3).astype("float32"))
        make = optimizer or (lambda params: paddle.optimizer.Adam(0.05, parameters=params))
        self.optimizer = make(self.layer.parameters())
        self.model = paddle.jit.to_static(self.layer) if static else self.layer
        self.seen: list[Any] = []

    def note(self, *values: Any) -> None:
        self.seen += [np.array(v.numpy()) if isinstance(v, paddle.Tensor) else v for v in values]

    def end(self) -> list[Any]:
        self.note(*self.layer.parameters(), *self.layer.buffers())
        return self.seen

    @property
    def steps(self) -> Any:
        (trace,) = self.layer.forward._traces.order
        return trace.steps

    @property
    def joined(self) -> bool:
        return self.steps is not None and self.steps.joined is not None


Body = Callable[[Loop, int, Any, Any, Any], None]


def run(body: Body, model: type[nn.Layer] = Plain, of: str = "", static: bool = True, steps: int = STEPS, **options: Any) -> Loop:
    loop = Loop(model, static, **options)
    for i, batch in zip(range(steps), batches(of), strict=False):
        body(loop, i, *batch)
    return loop


def same(body: Body, model: type[nn.Layer] = Plain, of: str = "", joined: bool = True, **options: Any) -> Loop:
    """Runs a loop in eager mode and static: both see the same."""
    eager, static = (run(body, model, of, static, **options) for static in (False, True))
    assert static.joined is joined
    for a, b in zip(eager.end(), static.end(), strict=True):
        np.testing.assert_allclose(b, a, 2e-4, 2e-5)
    return static


def squared(loop: Loop, i: int, x: Any, y: Any, labels: Any) -> None:
    loss = F.mse_loss(loop.model(x), y)
    loss.backward()
    loop.optimizer.step()
    loop.optimizer.clear_grad()
    loop.note(loss)


def classified(loop: Loop, i: int, x: Any, y: Any, labels: Any) -> None:
    loss = F.cross_entropy(loop.model(x), labels)
    loss.backward()
    loop.optimizer.step()
    loop.optimizer.clear_grad()
    loop.note(loss)


@pytest.mark.parametrize("body", [squared, classified])
@pytest.mark.parametrize(("model", "of"), [(Plain, ""), (Branch, ""), (Normalized, "images"), (Dropping, ""), (Words, "words")])
def test_models(model: type[nn.Layer], of: str, body: Body) -> None:
    same(body, model, of)


OPTIMIZERS = {
    "sgd": lambda p: paddle.optimizer.SGD(0.1, parameters=p),
    "momentum": lambda p: paddle.optimizer.Momentum(0.05, 0.9, parameters=p, weight_decay=0.01),
    "adamw": lambda p: paddle.optimizer.AdamW(0.01, parameters=p, weight_decay=0.1),
    "clip": lambda p: paddle.optimizer.Adam(0.05, parameters=p, grad_clip=nn.ClipGradByGlobalNorm(0.1)),
    "schedule": lambda p: paddle.optimizer.SGD(paddle.optimizer.lr.StepDecay(0.1, 2), parameters=p),
    "groups": lambda p: paddle.optimizer.Adam(0.05, parameters=[{"params": p[:2], "learning_rate": 0.1}, {"params": p[2:]}]),
}


@pytest.mark.parametrize("which", OPTIMIZERS)
def test_optimizers(which: str) -> None:
    def body(loop: Loop, i: int, x: Any, y: Any, labels: Any) -> None:
        squared(loop, i, x, y, labels)
        if which == "schedule":
            loop.optimizer._learning_rate.step()

    same(body, optimizer=OPTIMIZERS[which])


def test_nothing_runs_before_the_step() -> None:
    loop = run(squared)
    x, y, _ = next(batches(""))
    loss = F.mse_loss(loop.model(x), y)
    loss.backward()
    assert "Deferred" in repr(type(loss))
    before = [p.numpy() for p in loop.layer.parameters()]
    loop.optimizer.step()
    assert all((p.numpy() != b).any() for p, b in zip(loop.layer.parameters(), before, strict=True))
    assert float(loss) > 0
    assert type(loss) is paddle.Tensor
    loop.optimizer.clear_grad()


def test_what_is_known_of_a_waiting_tensor_needs_no_run() -> None:
    loop = run(squared)
    x, _, _ = next(batches(""))
    out = loop.model(x)
    assert (out.shape, out.dtype, out.ndim, out.stop_gradient, out.is_symbolic) == ([8, 3], "float32", 2, False, False)
    assert isinstance(out, paddle.Tensor)
    assert out.__class__ is paddle.Tensor
    assert type(out) is not paddle.Tensor
    np.testing.assert_allclose(out.numpy(), loop.layer.forward.raw(loop.layer, x).numpy(), 1e-5)


def test_arrays_of_parameters_are_written_in_place() -> None:
    loop = run(squared)
    arrays = [id(p._value) for p in loop.layer.parameters()]
    for i, batch in zip(range(3), batches(""), strict=False):
        squared(loop, i, *batch)
    assert arrays == [id(p._value) for p in loop.layer.parameters()]


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
    "copies": lambda loop, out, loss: loop.note(copy.deepcopy(out.detach()), copy.deepcopy(loop.layer.first.weight)),
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


def needs_gradient(what: str) -> bool:
    return "gradient" in what


@pytest.mark.parametrize(("model", "always"), [(Plain, False), (Dropping, False), pytest.param(Plain, True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("what", LOOKS)
def test_looks(what: str, place: str, always: bool, model: type[nn.Layer]) -> None:
    if (needs_gradient(what) and place == "behind the call") or (what == "gradients" and place == "behind clear_grad"):
        pytest.skip("there is none")

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
    if what == "text":
        assert len(eager.end()) == len(static.end())
        return
    for a, b in zip(eager.end(), static.end(), strict=True):
        np.testing.assert_allclose(b, a, 2e-4, 2e-5)


# ---- loops of other kinds ----
def test_structures_of_results() -> None:
    def body(loop: Loop, i: int, x: Any, y: Any, labels: Any) -> None:
        out = loop.model(x)
        loss = F.mse_loss(out["logits"], y) + 0.1 * out["hidden"][0].abs().mean()
        loss.backward()
        loop.optimizer.step()
        loop.optimizer.clear_grad()
        loop.note(loss, out["hidden"][0])

    same(body, Two)


def test_the_last_batch_is_smaller() -> None:
    def body(loop: Loop, i: int, x: Any, y: Any, labels: Any) -> None:
        n = 5 if i % 4 == 3 else 8
        squared(loop, i, x[:n], y[:n], labels[:n])

    same(body, steps=20)


def test_labels_of_another_shape() -> None:
    def body(loop: Loop, i: int, x: Any, y: Any, labels: Any) -> None:
        squared(loop, i, x, y if i % 3 else y[:1], labels)

    same(body, steps=30, joined=False)


def test_gradients_cleared_at_the_begin() -> None:
    def body(loop: Loop, i: int, x: Any, y: Any, labels: Any) -> None:
        loop.optimizer.clear_grad()
        loss = F.mse_loss(loop.model(x), y)
        loss.backward()
        loop.optimizer.step()
        loop.note(loss)

    loop = same(body)
    assert not any(p.grad is None for p in loop.layer.parameters())


def test_gradients_cleared_by_the_layer() -> None:
    def body(loop: Loop, i: int, x: Any, y: Any, labels: Any) -> None:
        loss = F.mse_loss(loop.model(x), y)
        loss.backward()
        loop.optimizer.step()
        loop.layer.clear_gradients()
        loop.note(loss)

    same(body)


def test_gradients_that_nobody_clears() -> None:
    def body(loop: Loop, i: int, x: Any, y: Any, labels: Any) -> None:
        loss = F.mse_loss(loop.model(x), y)
        loss.backward()
        loop.optimizer.step()
        if i % 5 != 4:
            loop.optimizer.clear_grad()

    same(body, joined=True, steps=18)


def test_accumulation() -> None:
    def body(loop: Loop, i: int, x: Any, y: Any, labels: Any) -> None:
        for k in range(2):
            (F.mse_loss(loop.model(x + float(k)), y) / 2).backward()
        loop.optimizer.step()
        loop.optimizer.clear_grad()

    same(body, joined=False)


def test_two_optimizers() -> None:
    class Pair(Loop):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)

    def body(loop: Loop, i: int, x: Any, y: Any, labels: Any) -> None:
        if i == 0:
            loop.optimizer = paddle.optimizer.SGD(0.1, parameters=loop.layer.first.parameters())
            loop.other = paddle.optimizer.Adam(0.02, parameters=loop.layer.second.parameters())  # type: ignore[attr-defined]
        loss = F.mse_loss(loop.model(x), y)
        loss.backward()
        for o in (loop.optimizer, loop.other):  # type: ignore[attr-defined]
            o.step()
            o.clear_grad()
        loop.note(loss)

    same(body, joined=False)


def test_another_optimizer_from_some_step_on() -> None:
    def body(loop: Loop, i: int, x: Any, y: Any, labels: Any) -> None:
        if i == 8:
            loop.optimizer = paddle.optimizer.SGD(0.1, parameters=loop.layer.parameters())
        squared(loop, i, x, y, labels)

    same(body, joined=True, steps=14)


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


def test_inputs_changed_behind_the_call() -> None:
    def body(loop: Loop, i: int, x: Any, y: Any, labels: Any) -> None:
        out = loop.model(x)
        loss = F.mse_loss(out, y)
        if i == 8:
            x.set_value(np.zeros([8, 6], "float32"))
            y.set_value(np.zeros([8, 3], "float32"))
        loss.backward()
        loop.optimizer.step()
        loop.optimizer.clear_grad()
        loop.note(loss)

    same(body)


def test_a_call_whose_result_nobody_uses() -> None:
    def body(loop: Loop, i: int, x: Any, y: Any, labels: Any) -> None:
        if i == 7:
            loop.model(x)
        squared(loop, i, x, y, labels)

    same(body)
    same(body, Normalized, "images")  # which notes means of all that it has seen


def test_buffers_between_call_and_step() -> None:
    def body(loop: Loop, i: int, x: Any, y: Any, labels: Any) -> None:
        loss = F.mse_loss(loop.model(x), y)
        if i == 8:
            loop.note(*loop.layer.buffers())
        if i == 9:
            loop.layer.norm._mean.set_value(np.zeros(4, "float32"))
        loss.backward()
        loop.optimizer.step()
        loop.optimizer.clear_grad()
        loop.note(loss, *loop.layer.buffers())

    same(body, Normalized, "images")


def test_backward_twice_is_the_same_error() -> None:
    loop = run(squared)
    x, y, _ = next(batches(""))
    out = loop.model(x)
    loss = F.mse_loss(out, y)
    loss.backward()
    loop.optimizer.step()
    for t in (loss, out.sum()):
        with pytest.raises(GradientError, match="was freed by an earlier backward"):
            t.backward()


def test_a_label_out_of_range_is_raised_where_it_is_used() -> None:
    loop = run(classified)
    x, _, labels = next(batches(""))
    wrong = paddle.to_tensor(np.full(8, 7))
    before = [p.numpy() for p in loop.layer.parameters()]
    out = loop.model(x)
    with pytest.raises(OutOfRangeError, match="label 7 is out of range") as caught:
        F.cross_entropy(out, wrong)
    assert "test_joined_steps.py" in str(caught.value)
    assert all((p.numpy() == b).all() for p, b in zip(loop.layer.parameters(), before, strict=True))
    classified(loop, 0, x, None, labels)


def test_an_id_out_of_range_is_raised_by_the_call() -> None:
    loop = run(squared, Words, "words")
    with pytest.raises(OutOfRangeError, match="20"):
        loop.model(paddle.to_tensor(np.full((8, 5), 20)))
    for i, batch in zip(range(3), batches("words"), strict=False):
        squared(loop, i, *batch)
    assert loop.joined


def test_values_that_decide_are_no_joined_steps() -> None:
    def body(loop: Loop, i: int, x: Any, y: Any, labels: Any) -> None:
        loss = F.mse_loss(loop.model(x), y)
        if float(loss) > 0.0:
            loss.backward()
            loop.optimizer.step()
            loop.optimizer.clear_grad()

    same(body, joined=False)


def test_a_loop_that_goes_other_ways_is_left() -> None:
    def body(loop: Loop, i: int, x: Any, y: Any, labels: Any) -> None:
        loss = F.mse_loss(loop.model(x), y)
        if i > 8:
            loop.note(loss)
        loss.backward()
        loop.optimizer.step()
        loop.optimizer.clear_grad()

    same(body, steps=30, joined=False)


def test_another_thread_looks() -> None:
    loop, eager = run(squared), run(squared, static=False)
    x, y, _ = next(batches(""))
    found: list[Any] = []
    for each in (loop, eager):
        loss = F.mse_loss(each.model(x), y)
        loss.backward()
        thread = threading.Thread(target=lambda loss=loss, each=each: found.append((loss.numpy(), each.layer.first.weight.grad.numpy())))
        thread.start()
        thread.join()
        each.optimizer.step()
        each.optimizer.clear_grad()
    for a, b in zip(found[0], found[1], strict=True):
        np.testing.assert_allclose(a, b, 1e-4, 1e-5)
    for a, b in zip(loop.end(), eager.end(), strict=True):
        np.testing.assert_allclose(a, b, 2e-4, 2e-5)


def test_several_threads_train_models_of_their_own() -> None:
    loops: dict[int, Loop] = {}

    def train(which: int) -> None:
        loops[which] = run(squared, Normalized, "images", steps=30)

    threads = [threading.Thread(target=train, args=(k,)) for k in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    wanted = run(squared, Normalized, "images", static=False, steps=30)
    for loop in loops.values():
        assert len(loop.seen) == 30
        for a, b in zip(loop.end()[-1:], wanted.end()[-1:], strict=True):
            np.testing.assert_allclose(a, b, 2e-3, 2e-4)


def test_an_optimizer_that_is_gone() -> None:
    loop = run(squared)
    loop.optimizer = paddle.optimizer.SGD(0.1, parameters=loop.layer.parameters())
    gc.collect()
    for i, batch in zip(range(6), batches(""), strict=False):
        squared(loop, i, *batch)
    assert all(np.isfinite(v).all() for v in loop.end())


def test_gradients_of_a_step_are_there_until_they_are_cleared() -> None:
    def body(loop: Loop, i: int, x: Any, y: Any, labels: Any) -> None:
        loss = F.mse_loss(loop.model(x), y)
        loss.backward()
        loop.optimizer.step()
        if i % 4 == 3:
            loop.note(*[p.grad for p in loop.layer.parameters()])
        loop.optimizer.clear_grad()
        assert all(p.grad is None for p in loop.layer.parameters())

    same(body, Normalized, "images")


def test_no_gradients_are_due_in_the_end() -> None:
    run(squared)
    assert due.debtors == []


# ---- calls that may fail because of values run when they are made ----
@pytest.mark.parametrize("body", [squared, classified])
def test_calls_that_may_fail(body: Body) -> None:
    loop = same(body, Recurrent)
    assert loop.steps.joined.split


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("what", LOOKS)
def test_looks_at_calls_that_may_fail(what: str, place: str) -> None:
    if what in ("text", "copies", "evaluation"):
        pytest.skip("tested with calls that do not")
    test_looks(what, place, False, Recurrent)


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
