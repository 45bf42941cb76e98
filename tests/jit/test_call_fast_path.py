"""Calls whose arguments and captured tensors are known again at sight are served as those that are looked at anew."""

import numpy as np
import pytest

import dy2st as paddle
from dy2st import jit, nn


def t(*values, dtype="float32"):
    return paddle.to_tensor(np.array(values, dtype))


def test_the_same_python_value_of_another_class_is_another_call():
    f = jit.to_static(lambda x, n: x * 2 if n is True else x * 3)
    for n, expected in ((True, 2.0), (1, 3.0), (True, 2.0), (1, 3.0), (1.0, 3.0), (None, 3.0)):
        assert f(t(1.0), n).numpy().tolist() == [expected]
    assert len(f.concrete_programs) == 4


def test_one_tensor_given_twice_is_not_two():
    def f(x, y):
        x.add_(t(1.0))
        return x + y

    static = jit.to_static(f)
    for call in (f, static, static):
        assert call(t(1.0), t(1.0)).numpy().tolist() == [3.0]
        x = t(1.0)
        assert call(x, x).numpy().tolist() == [4.0]
        assert x.numpy().tolist() == [2.0]
    assert len(static.concrete_programs) == 2


def test_keywords_in_any_order_and_defaults():
    def f(x, y, scale=2.0, shift=0.0):
        return (x - y) * scale + shift

    static = jit.to_static(f)
    for call in (lambda g: g(t(3.0), t(1.0)), lambda g: g(y=t(3.0), x=t(1.0)), lambda g: g(t(3.0), shift=1.0, y=t(1.0)),
                 lambda g: g(t(3.0), t(1.0), 3.0)):  # fmt: skip
        for _ in range(2):
            assert call(static).numpy().tolist() == call(f).numpy().tolist()
    for args, kwargs in (((t(1.0),), {}), ((t(1.0), t(1.0)), {"x": 1.0}), ((t(1.0), t(1.0)), {"other": 1.0}), ((1, 2, 3, 4, 5), {})):
        with pytest.raises(TypeError, match=r"\bf\(\) ") as error:
            static(*args, **kwargs)
        with pytest.raises(TypeError):
            f(*args, **kwargs)
        assert "argument" in str(error.value)
    f.__defaults__ = (5.0, 0.0)
    assert static(t(3.0), t(1.0)).numpy().tolist() == [10.0]


def test_what_a_tensor_is_now_counts():
    static = jit.to_static(lambda x: x + 1)
    assert static(t(1.0)).dtype == "float32"
    assert static(t(1, dtype="int64")).dtype == "int64"
    assert static(t([1.0])).shape == [1, 1]
    x = t(1.0)
    assert static(x).stop_gradient
    x.stop_gradient = False
    assert not static(x).stop_gradient
    with paddle.no_grad():
        assert static(x).stop_gradient


def test_a_captured_tensor_that_is_another_one_now():
    layer = nn.Linear(2, 1)
    static = jit.to_static(lambda x: layer(x))
    x = paddle.to_tensor(np.ones((1, 2), "float32"))
    for change in (lambda: None, lambda: layer.weight.set_value(np.ones((2, 1), "float32")), lambda: setattr(layer, "bias", None),
                   lambda: setattr(layer.weight, "stop_gradient", True)):  # fmt: skip
        change()
        for _ in range(2):
            found, expected = static(x), layer(x)
            np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-6)
            assert found.stop_gradient == expected.stop_gradient
    before = len(static.concrete_programs)
    layer.weight._value = layer.weight._value.astype("float16")
    x = x.astype("float16")
    assert static(x).dtype == layer(x).dtype == "float16"
    assert len(static.concrete_programs) == before + 1
