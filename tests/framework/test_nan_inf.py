"""`set_flags({"FLAGS_check_nan_inf": True})`: the first op that makes a NaN or an infinity, and its line."""

import os
import subprocess
import sys

import numpy as np
import pytest

import dy2st as paddle
from dy2st import jit, nn
from dy2st.errors import AttributeValueError, NonFiniteError
from dy2st.tensor import dispatch


@pytest.fixture(autouse=True)
def switched_off():
    yield
    paddle.set_flags({"FLAGS_check_nan_inf": False, "FLAGS_check_nan_inf_level": 0})


def in_a_loop(x, n):
    for _ in range(n):
        x = x - 1
        y = x.log() if x.sum() > -100 else x
    return y.sum()


def root(x):
    h = x * 2
    y = h.sqrt()
    return y.sum()


def message_of(call):
    with pytest.raises(NonFiniteError) as caught:
        call()
    return str(caught.value)


def gradient(f):
    x = paddle.to_tensor([0.0, 1.0], stop_gradient=False)
    f(x).backward()
    return x.grad


WAYS = [lambda f: f, jit.to_static]


@pytest.mark.parametrize("way", WAYS, ids=["eager", "static"])
def test_the_op_and_its_line_are_named(way):
    paddle.set_flags({"FLAGS_check_nan_inf": 1})
    text = message_of(lambda: way(in_a_loop)(paddle.to_tensor([2.0, 1.5]), paddle.to_tensor(2)))
    assert "log makes 1 NaN and 1 infinite of 2 values, in its output Out (float32[2])" in text
    assert "y = x.log() if x.sum() > -100 else x\n" in text
    if way is jit.to_static or sys.version_info >= (3, 11):  # before, Python knows no columns
        assert "\n        ^^^^^^^\n" in text
    assert "hint: its inputs are X from -0.5 to 0" in text


@pytest.mark.parametrize("way", WAYS, ids=["eager", "static"])
def test_gradients_have_the_line_of_their_op(way):
    paddle.set_flags({"FLAGS_check_nan_inf": True})
    text = message_of(lambda: gradient(way(root)))
    assert "elementwise_div makes 1 infinite of 2 values" in text
    assert "y = h.sqrt()" in text


def test_it_is_switched_on_and_off_between_calls():
    static, off = jit.to_static(root), type(dispatch.ops)
    assert np.isinf(gradient(static).numpy()[0])
    paddle.set_flags({"FLAGS_check_nan_inf": True})
    message_of(lambda: gradient(static))
    message_of(lambda: gradient(root))
    paddle.set_flags({"FLAGS_check_nan_inf": False})
    assert type(dispatch.ops) is off
    assert np.isinf(gradient(static).numpy()[0])
    assert np.isinf(gradient(root).numpy()[0])


@pytest.mark.parametrize("way", WAYS, ids=["eager", "static"])
def test_infinities_of_masks_are_handed_on(way):
    def masked(x, keep):
        scores = paddle.where(keep, x, paddle.full([3], float("-inf")))
        return nn.functional.softmax(scores)

    paddle.set_flags({"FLAGS_check_nan_inf": True})
    got = way(masked)(paddle.to_tensor([1.0, 1.0, 5.0]), paddle.to_tensor([True, True, False]))
    assert got.tolist() == [0.5, 0.5, 0.0]


@pytest.mark.parametrize("way", WAYS, ids=["eager", "static"])
def test_a_nan_of_the_data_is_said_to_be_one(way):
    paddle.set_flags({"FLAGS_check_nan_inf": True})
    text = message_of(lambda: way(root)(paddle.to_tensor([1.0, float("nan")])))
    assert "scale is given NaN from outside: X has 1 NaN" in text
    assert "h = x * 2" in text


def test_a_training_step_that_fails_changes_nothing():
    layer = nn.Linear(2, 2)
    optimizer = paddle.optimizer.Adam(parameters=layer.parameters())

    @jit.to_static
    def step(x):
        loss = layer(x).sum()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    step(paddle.ones([1, 2]))
    paddle.set_flags({"FLAGS_check_nan_inf": True})
    step(paddle.ones([1, 2]))
    before = layer.weight.numpy().copy()
    message_of(lambda: step(paddle.to_tensor([[float("nan"), 1.0]])))
    assert np.array_equal(layer.weight.numpy(), before)
    paddle.set_flags({"FLAGS_check_nan_inf": False})
    step(paddle.ones([1, 2]))
    assert not np.array_equal(layer.weight.numpy(), before)


def test_level_1_warns_and_goes_on():
    paddle.set_flags({"FLAGS_check_nan_inf": True, "FLAGS_check_nan_inf_level": 1})
    with pytest.warns(RuntimeWarning, match="log makes 1 infinite"):
        y = paddle.to_tensor([0.0, 1.0]).log()
    assert np.isinf(y.numpy()[0])


def test_flags_that_are_not_there():
    with pytest.raises(AttributeValueError, match="there is no flag 'FLAGS_check_nan'"):
        paddle.set_flags({"FLAGS_check_nan_inf": True, "FLAGS_check_nan": True})
    assert paddle.get_flags(["FLAGS_check_nan_inf"]) == {"FLAGS_check_nan_inf": False}
    with pytest.raises(AttributeValueError, match="FLAGS_check_nan_inf_level cannot be 3"):
        paddle.set_flags({"FLAGS_check_nan_inf_level": 3})
    with pytest.raises(AttributeValueError, match="takes a dict, not a str"):
        paddle.set_flags("FLAGS_check_nan_inf")


def test_the_environment_sets_it():
    code = "import dy2st as paddle; print(paddle.get_flags('FLAGS_check_nan_inf')); paddle.to_tensor([0.0]).log()"
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "FLAGS_check_nan_inf": "1"}, capture_output=True,
                          text=True, check=False)  # fmt: skip
    assert "{'FLAGS_check_nan_inf': True}" in done.stdout
    assert "NonFiniteError" in done.stderr
