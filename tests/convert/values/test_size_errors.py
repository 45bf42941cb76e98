"""Sizes that only the run knows, and that do not fit: an error as in eager mode, whether or not anybody reads what they are of."""

import math

import numpy as np
import pytest

import dy2st as paddle
from dy2st import jit
from dy2st.errors import Dy2stError, ShapeError
from dy2st.jit import InputSpec
from dy2st.nn import functional as F
from dy2st.tensor import Tensor

# each with values of n that fit and that do not, for three elements
CASES = {
    "ones": (lambda x, n: paddle.ones([n, 2]), [2, -1]),
    "eye": (lambda x, n: paddle.eye(n), [2, -1]),
    "a size less n": (lambda x, n: paddle.zeros([x.shape[0] - n]), [2, 4]),
    "broadcast": (lambda x, n: paddle.broadcast_to(x, [n]), [3, 4]),
    "reshape": (lambda x, n: x.reshape([n, -1]), [3, 2]),
    "tile": (lambda x, n: paddle.tile(x, [n]), [0, -1]),
    "repeat": (lambda x, n: paddle.repeat_interleave(x, n), [2, -1]),
    "split": (lambda x, n: paddle.split(x, [1, n])[0], [2, 3]),
    "strides": (lambda x, n: paddle.strided_slice(x, [0], [0], [3], [n]), [2, 0]),
    "rows of a slice": (lambda x, n: x[:n].reshape([3]), [3, 2]),
    "times ones": (lambda x, n: x * paddle.ones(n), [3, 2]),
    "times ones that stretch": (lambda x, n: x[:2] * paddle.ones(n), [1, 3]),
    "nothing times ones": (lambda x, n: x[3:] * paddle.ones(n), [1, 3]),
    "plus zeros": (lambda x, n: x + paddle.zeros(n) * -1.0, [3, 2]),
    "to the power of ones": (lambda x, n: x ** paddle.ones(n), [3, 2]),
    "to the power of twos": (lambda x, n: x ** paddle.full(n, 2.0), [3, 2]),
}
USES = {
    "unread": lambda make: lambda x, n: (make(x, n), x * 1)[1],
    "read": lambda make: lambda x, n: make(x, n) * 2,
    "in a branch": lambda make: lambda x, n: (x * 1, make(x, n))[0] if x.sum() > 0 else x * 2,
}


def outcome(function, n):
    try:
        return function(Tensor(np.ones(3, np.float32)), Tensor(n)).numpy()
    except Dy2stError as error:
        return type(error)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("name", CASES)
def test_what_does_not_fit_is_an_error_as_in_eager_mode(name, use):
    make, sizes = CASES[name]
    function = USES[use](make)
    for order in (sizes, sizes[::-1]):
        static = jit.to_static(function)
        for n in order:
            wanted = outcome(function, n)
            assert isinstance(wanted, np.ndarray) is (n == sizes[0])
            found = outcome(static, n)  # natively: what is computed by the interpreter alone has been through no pass
            assert type(found) is type(wanted)
            np.testing.assert_array_equal(found, wanted)


# each with two shapes of x and y that fit, so that both dims are open, and one that does not
OPEN = {
    "broadcast to one": (lambda x, y: paddle.broadcast_to(x, [1, 3]), [((1, 3), (1, 1))], ((2, 3), (1, 1))),
    "expand as": (lambda x, y: x.expand_as(y), [((2, 3), (2, 3)), ((1, 4), (5, 4))], ((2, 3), (1, 3))),
    "a loss": (F.binary_cross_entropy, [((2, 3), (2, 3)), ((4, 2), (4, 2))], ((1, 1), (2, 3))),
    "layer_norm": (lambda x, y: F.layer_norm(x, [3]), [((2, 3), (1, 1)), ((4, 3), (1, 1))], ((2, 4), (1, 1))),
    "layer_norm of two": (lambda x, y: F.layer_norm(x.unsqueeze(0), [2, 3]), [((2, 3), (1, 1))], ((3, 2), (1, 1))),
    "unfold": (lambda x, y: F.unfold(x.unsqueeze([0, 1]), 2), [((2, 3), (1, 1)), ((3, 2), (1, 1))], ((1, 3), (1, 1))),
    "fold": (lambda x, y: F.fold(x.unsqueeze(0), [3, 3], 2), [((4, 4), (1, 1)), ((8, 4), (1, 1))], ((2, 8), (1, 1))),
    "conv3d": (lambda x, y: F.conv3d(x.reshape([1, 1, -1, 1, 1]), paddle.ones([1, 1, 2, 1, 1])), [((2, 2), (1, 1)), ((1, 3), (1, 1))],
               ((1, 1), (1, 1))),
    "filters without elements": (lambda x, y: F.conv1d(x.unsqueeze(0), y.unsqueeze(0)), [((2, 3), (2, 1)), ((1, 2), (1, 2))],
                                 ((2, 3), (2, 0))),
    "lengths": (lambda x, y: lstm(x.unsqueeze(1), sequence_length=(y[:, 0] * 0 + 1).astype("int64"))[0],
                [((2, 3), (2, 1)), ((4, 3), (4, 1))], ((2, 3), (1, 1))),
    "weights of classes": (lambda x, y: F.cross_entropy(x, paddle.zeros([x.shape[0]], "int64"), weight=y[0]),
                           [((2, 3), (1, 3)), ((4, 2), (1, 2))], ((2, 3), (1, 4))),
    "a gradient to start with": (lambda x, y: started(x, y), [((2, 3), (2, 3)), ((4, 2), (4, 2))], ((2, 3), (1, 3))),
    "states of an LSTM": (lambda x, y: lstm(x.unsqueeze(1), (y.unsqueeze(0), y.unsqueeze(0)))[0], [((2, 3), (2, 2)), ((4, 3), (4, 2))],
                          ((2, 3), (1, 2))),
}  # fmt: skip
lstm = paddle.nn.LSTM(3, 2)


def started(x, y):
    x = x * 1
    x.stop_gradient = False
    return paddle.grad(x.tanh(), x, grad_outputs=y)[0]


def outcome_of(function, shapes):
    x, y = (Tensor(np.linspace(0.1, 0.9, math.prod(s), dtype=np.float32).reshape(s)) for s in shapes)
    try:
        return function(x, y).numpy()
    except Dy2stError as error:
        return type(error)


@pytest.mark.parametrize("use", ["unread", "read"])
@pytest.mark.parametrize("name", OPEN)
def test_open_sizes_that_do_not_fit(name, use):
    make, fit, other = OPEN[name]
    function = make if use == "read" else lambda x, y: (make(x, y), x * 1)[1]
    static = jit.to_static(function, input_spec=[InputSpec([None, None]), InputSpec([None, None])])
    for shapes in [*fit, other, fit[0]]:
        wanted, found = outcome_of(function, shapes), outcome_of(static, shapes)
        assert isinstance(wanted, np.ndarray) is (shapes in fit)
        assert type(found) is type(wanted)
        if shapes in fit:
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)


def of_a_size_that_one_path_does_not_have(x):
    v = x * 2
    if x.sum() > 0:
        v = (x * x).sum().reshape([-1])
    return paddle.split(v, [1, 1])[1]


def test_the_gradient_of_what_fits_on_one_path_only():
    static = jit.to_static(of_a_size_that_one_path_does_not_have)
    found = []
    for function in (of_a_size_that_one_path_does_not_have, static):
        x = Tensor([-1.0, -2.0], stop_gradient=False)
        function(x).sum().backward()
        found.append(x.grad.numpy())
        with pytest.raises(ShapeError):
            function(Tensor([1.0, 2.0], stop_gradient=False))
    np.testing.assert_array_equal(found[1], found[0])
