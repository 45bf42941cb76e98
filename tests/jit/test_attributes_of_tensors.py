"""Attributes that users set on tensors: read at each call, and state of the functions that set them."""

import numpy as np
import pytest
from guarding import tensor

from dy2st import Parameter, jit, nn
from dy2st.errors import StagedValueError


def values(x):
    return x.numpy().tolist()


def test_attributes_are_read_at_each_call():
    w = Parameter(np.array([1.0, 2.0], np.float32))
    w.rate, w.options = 2.0, {"scale": 1.0}

    @jit.to_static
    def f(x):
        return x * w.rate * w.options["scale"] * w.mask if w.need_clip else x * w.rate

    w.mask = tensor(1.0, 0.0)
    assert values(f(tensor(1.0, 1.0))) == [2.0, 0.0]
    w.rate, w.options["scale"] = 3.0, 2.0
    assert values(f(tensor(1.0, 1.0))) == [6.0, 0.0]
    w.mask = tensor(0.0, 1.0)
    assert values(f(tensor(1.0, 1.0))) == [0.0, 6.0]
    w.need_clip = False
    assert values(f(tensor(1.0, 1.0))) == [3.0, 3.0]


def test_an_attribute_of_a_parameter_of_a_layer():
    class Scaled(nn.Layer):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(2, 2)
            self.fc.weight.scale = 2.0

        def forward(self, x):
            return self.fc(x) * self.fc.weight.scale

    eager = Scaled()
    static = Scaled()
    static.set_state_dict(eager.state_dict())
    static = jit.to_static(static)
    x = tensor([1.0, 2.0])
    for scale in (2.0, 3.0, 4.0, 3.0):
        eager.fc.weight.scale = static.fc.weight.scale = scale
        np.testing.assert_allclose(static(x).numpy(), eager(x).numpy(), rtol=1e-5)


def test_attributes_that_are_set_are_state():
    def make():
        w = Parameter(np.array([1.0, 2.0], np.float32))
        w.count, w.last = 0, None

        def f(x):
            w.count = w.count + 1
            if x.sum() > 0:
                w.last = x * 2
            return x * w.count

        return w, f

    eager, f = make()
    static, g = make()
    g = jit.to_static(g)
    for x in (tensor(1.0, 2.0), tensor(-1.0, -2.0), tensor(3.0, 4.0)):
        assert values(f(x)) == values(g(x))
        assert static.count == eager.count
        assert values(static.last) == values(eager.last)


def test_a_new_attribute_with_a_value_of_the_run_is_refused():
    w = Parameter(np.array([1.0, 2.0], np.float32))

    @jit.to_static
    def f(x):
        w.last = x * 2
        return x * w

    with pytest.raises(StagedValueError, match="the attribute 'last', which a tensor outside does not have yet") as caught:
        f(tensor(1.0, 2.0))
    assert caught.value.location is not None
    assert not hasattr(w, "last")
    w.last = None
    f(tensor(1.0, 2.0))
    assert values(w.last) == [2.0, 4.0]
