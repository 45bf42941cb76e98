"""Sizes that only the run knows, and that do not fit: an error as in eager mode, whether or not anybody reads what they are of."""

import numpy as np
import pytest

import dy2st as paddle
from dy2st import jit
from dy2st.errors import Dy2stError
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
