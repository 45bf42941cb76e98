"""Functions that switch the recording of gradients themselves, called where it is on and where it is off; and leaves that they freeze."""

import numpy as np
import pytest
from guarding import require_same_in_turn, tensor

import dy2st as paddle
from dy2st import Tensor, jit, nn
from dy2st.errors import GradientError, StagedValueError, StructureError


def leaf(*values):
    return paddle.to_tensor(np.array(values, np.float32), stop_gradient=False)


def with_enable_grad(x, w):
    y = x * w
    with paddle.enable_grad():
        z = x * x * w
    return y, z


def with_a_decorator(x, w):
    return x * w, paddle.enable_grad(lambda: x * x * w)()


def with_set_grad_enabled(x, w):
    y = x * w
    paddle.set_grad_enabled(True)
    z = x * x * w
    paddle.set_grad_enabled(False)
    return y, z


def on_one_path(x, w):
    y = x * w
    if x.sum() > 0:
        with paddle.enable_grad():
            z = x * x * w
    else:
        with paddle.enable_grad():
            z = x * w
    return y, z


@pytest.mark.parametrize("function", [with_enable_grad, with_a_decorator, with_set_grad_enabled, on_one_path])
def test_gradients_are_recorded_where_the_caller_does_not(function):
    static = jit.to_static(function)
    for values in ([1.0, 2.0], [-3.0, 1.0], [2.0, 2.0, 2.0]):
        found = []
        for f in (function, static):
            x, w = leaf(*values), leaf(2.0)
            with paddle.no_grad():
                y, z = f(x, w)
            assert y.stop_gradient
            assert not z.stop_gradient
            z.sum().backward()
            found.append((z.numpy(), x.grad.numpy(), w.grad.numpy()))
        require_same_in_turn(found, rtol=1e-6)


def test_arguments_that_want_no_gradient_still_get_none():
    static = jit.to_static(with_enable_grad)
    with paddle.no_grad():
        static(leaf(1.0), leaf(2.0))
        _, z = static(tensor(1.0), tensor(2.0))
        _, half = static(tensor(1.0), leaf(2.0))
    assert z.stop_gradient
    assert not half.stop_gradient


def test_gradients_inside_of_a_layer_that_is_evaluated():
    """As of an energy whose gradient is what a model returns, also while it is evaluated."""

    class Force(nn.Layer):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(2, 1)

        def forward(self, x):
            with paddle.enable_grad():
                x = x.detach()
                x.stop_gradient = False
                energy = (self.fc(x) ** 2).sum()
                (force,) = paddle.grad(energy, x)
            return -force

    net = Force()
    static = jit.to_static(net.forward)
    x = tensor([1.0, 2.0])
    with paddle.no_grad():
        np.testing.assert_allclose(static(x).numpy(), net(x).numpy(), rtol=1e-5)


def test_a_step_of_training_that_is_called_without_gradients():
    def stepping(w, optimizer):
        def step(x):
            with paddle.enable_grad():
                loss = ((w * x) ** 2).sum()
                loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            return loss

        return step

    found = []
    for wrap in (lambda f: f, jit.to_static):
        w = paddle.create_parameter([2], "float32")
        w.set_value(np.array([1.0, 2.0], np.float32))
        optimizer = paddle.optimizer.SGD(0.1, parameters=[w])
        call = wrap(stepping(w, optimizer))
        with paddle.no_grad():
            losses = [float(call(tensor(1.0, 0.5))) for _ in range(3)]
        found.append((losses, w.numpy()))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-5)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-5)


def test_functions_that_switch_nothing_have_one_trace_without_gradients():
    static = jit.to_static(lambda x: x * 2)
    with paddle.no_grad():
        static(leaf(1.0))
        static(tensor(1.0))
    assert len(static.concrete_programs) == 1


def test_a_function_of_which_the_gradient_is_wanted_without_any():
    static = jit.to_static(lambda x: paddle.grad((x * x).sum(), x)[0])
    with paddle.no_grad(), pytest.raises(GradientError):
        static(leaf(1.0))


def test_an_argument_whose_gradient_is_asked_for_in_the_call():
    def f(x):
        x.stop_gradient = False
        return paddle.grad([(x * x).sum()], [x])[0]

    x = paddle.to_tensor([1.0, 2.0])
    assert jit.to_static(f)(x).tolist() == f(paddle.to_tensor([1.0, 2.0])).tolist() == [2.0, 4.0]
    assert x.stop_gradient


KEPT = {}


def stops_its_argument(x):
    x.stop_gradient = True
    return x * 2


def keeps_a_leaf(x):
    w = paddle.zeros([1])
    w.stop_gradient = False
    KEPT["w"] = w
    return x + w


@pytest.mark.parametrize("function", [stops_its_argument, keeps_a_leaf])
def test_flags_that_cannot_be_set_are_refused_in_any_mode(function):
    static = jit.to_static(function)
    for record in (False, True):
        with paddle.set_grad_enabled(record), pytest.raises((StagedValueError, StructureError), match="stop_gradient"):
            static(leaf(1.0))
    assert not KEPT


def by_flags(x):
    y = x * 2
    return y * (3 if x.stop_gradient else 5) * (7 if y.stop_gradient else 11)


def test_flags_of_arguments_where_the_caller_records_nothing(capsys):
    static = jit.to_static(by_flags)
    for stop in (False, True, False):
        for record in (False, True):
            x = Tensor([1.0], stop_gradient=stop)
            with paddle.set_grad_enabled(record):
                assert static(x).item() == by_flags(x).item()

    def shown(x):
        print(x, f"{x}")
        if x.sum() > 0:
            print([x * 2, x])

    static = jit.to_static(shown)
    for stop in (False, True, False):
        texts = []
        for f in (shown, static):
            with paddle.no_grad():
                f(Tensor([1.0], stop_gradient=stop))
            texts.append(capsys.readouterr().out)
        assert texts[0] == texts[1]
        assert ("stop_gradient=False" in texts[0]) is not stop
