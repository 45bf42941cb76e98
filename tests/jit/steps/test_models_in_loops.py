"""Training loops whose steps run as one Program: the same numbers as eager mode, for models and optimizers of all kinds."""

from __future__ import annotations

import gc
import threading
from typing import Any

import numpy as np
import pytest
from loops import Body, Branch, Dropping, Loop, Normalized, Plain, Two, Words, batches, classified, run, same, squared

import dy2st as paddle
from dy2st import nn
from dy2st.errors import GradientError, OutOfRangeError
from dy2st.tensor import due
from dy2st.tensor.deferred import is_deferred

F = nn.functional


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
    assert is_deferred(loss)
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
    assert "test_models_in_loops.py" in str(caught.value)
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


def test_ops_behind_a_call_are_named_apart_from_those_in_its_branches() -> None:
    class Named(Plain):
        def forward(self, x: Any) -> Any:
            h = super().forward(x)
            if x.mean() > 0:
                h = h * (h - x[:, :3]).square().mean()
            else:
                h = h + (h * 2.0).square().sum()
            return h

    def body(loop: Loop, i: int, x: Any, y: Any, labels: Any) -> None:
        h = loop.model(x)
        loss = (h - y).square().mean() + (h * 2.0).square().sum() * 0.1
        loss.backward()
        loop.optimizer.step()
        loop.optimizer.clear_grad()
        loop.note(loss)

    same(body, Named)
