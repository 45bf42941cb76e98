"""A leaf that wants a gradient is modified in place: the error of eager mode, wherever the leaf comes from."""

import numpy as np
import pytest
from three_ways import compare, outcome

import dy2st
from dy2st import jit, nn
from dy2st.errors import InplaceError, StagedValueError, StructureError
from dy2st.tensor import Parameter, Tensor


def leaf(*values):
    return Tensor(np.array(values, np.float32), stop_gradient=False)


def add(x, y):
    return x.add_(y) * 2


def write(x):
    x[0] = 1.0
    return x * 2


def write_alias(x):
    y = x
    y[0] = 1.0
    return x * 2


def write_in_a_list(x):
    for v in [x, x * 2]:
        v[0] = 1.0
    return x * 2


def zero(x):
    return x.zero_() + 1


def after_no_grad(x):
    with dy2st.no_grad():
        x.add_(1.0)
    x.add_(1.0)
    return x


@pytest.mark.parametrize("function", [write, write_alias, write_in_a_list, zero, after_no_grad])
def test_of_an_argument(function):
    static = jit.to_static(function)
    expected = outcome(function, ([1.0, 2.0],))
    assert expected[0] is InplaceError
    for _ in range(2):
        compare(expected, outcome(static, ([1.0, 2.0],)), function)


def test_only_leaves_that_want_a_gradient():
    static = jit.to_static(add)
    x = leaf(1.0, 2.0)
    with pytest.raises(InplaceError, match="leaf") as caught:
        static(x, leaf(3.0, 4.0))
    assert caught.value.location.line == add.__code__.co_firstlineno + 1
    np.testing.assert_array_equal(x.numpy(), [1, 2])
    on_the_way = x * 3
    static(on_the_way, leaf(3.0, 4.0)).sum().backward()
    np.testing.assert_array_equal(on_the_way.numpy(), [6, 10])
    np.testing.assert_array_equal(x.grad.numpy(), [6, 6])
    with pytest.raises(InplaceError):
        static(x, leaf(3.0, 4.0))
    with dy2st.no_grad():
        static(x, leaf(3.0, 4.0))
    np.testing.assert_array_equal(x.numpy(), [4, 6])
    plain = Tensor(np.array([1.0, 2.0], np.float32))
    static(plain, leaf(3.0, 4.0))
    np.testing.assert_array_equal(plain.numpy(), [4, 6])
    assert not plain.stop_gradient


class Scale(nn.Layer):
    def __init__(self):
        super().__init__()
        self.w = self.create_parameter([2])

    def forward(self, x):
        with dy2st.no_grad():
            self.w.set_value(x)
        self.w.add_(x)
        return self.w * x


def test_of_a_parameter_that_was_set_before():
    for net in (Scale(), jit.to_static(Scale())):  # the value has an open dim: whether it fits, the run knows
        with pytest.raises(InplaceError, match="leaf"):
            net(Tensor(np.ones(2, np.float32)))


def on_one_path_and_then_fails(x):
    y = x * 2 if x.sum() > 0 else x
    y[0] += 1.0
    raise ValueError("after it")


def test_on_one_path_of_a_call_that_fails():
    static = jit.to_static(on_one_path_and_then_fails)
    with pytest.raises(InplaceError):
        on_one_path_and_then_fails(leaf(-1.0))
    with pytest.raises(StructureError, match="on one path a leaf") as caught:
        static(leaf(-1.0))
    assert caught.value.location.line == on_one_path_and_then_fails.__code__.co_firstlineno + 2
    for f in (on_one_path_and_then_fails, static):
        with pytest.raises(ValueError, match="after it"):
            f(leaf(-1.0) * 1)


def test_argument_that_is_modified_takes_one_trace_for_each_kind():
    static = jit.to_static(write)
    x = leaf(1.0, 2.0)
    for _ in range(2):
        static(x * 2)
        static(Tensor(np.ones(2, np.float32)))
    assert len(static.concrete_programs) == 2


def told(x, w):
    y = x * 2
    z = (w * 2).detach()
    z.stop_gradient = False
    with dy2st.no_grad():
        v = x * 3
    told = [t.is_leaf for t in (x, w, y, z, v)]
    return x.sum() + sum(2**i for i, one in enumerate(told) if one)


def test_which_tensors_are_leaves():
    w = Parameter(np.array([3.0, 4.0], np.float32))
    static = jit.to_static(lambda x: told(x, w))
    for record in (True, False, True):
        for x in (leaf(1.0, 2.0), leaf(1.0, 2.0) * 1, Tensor(np.ones(2, np.float32))):
            with dy2st.set_grad_enabled(record):
                assert told(x, w).item() == static(x).item()


def test_a_tensor_outside_that_is_no_parameter():
    kept = {"w": leaf(1.0, 2.0)}
    with pytest.raises(StagedValueError, match="is_leaf of a tensor outside"):
        jit.to_static(lambda x: x * 2 if kept["w"].is_leaf else x)(leaf(1.0, 2.0))


def leaf_on_one_path(x):
    y = x if x.sum() > 0 else x * 2
    return x * 2 if y.is_leaf else x * 3


def test_a_leaf_on_one_path():
    with pytest.raises(StagedValueError, match=r"whether a tensor is a leaf \(is_leaf\) depends on a condition on tensors"):
        jit.to_static(leaf_on_one_path)(leaf(1.0, 2.0))


def test_a_tensor_whose_gradients_stop_is_a_leaf():
    y = leaf(1.0) * 2
    assert not y.is_leaf
    y.stop_gradient = True
    assert y.is_leaf
