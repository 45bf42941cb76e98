"""Functions of tensors that take a size, an offset or a bound that only the run knows, as sizes are under open dims."""

import dy2st as paddle
from dy2st.nn import functional as F


def identity(x, n):
    return paddle.eye(x.shape[0]), paddle.eye(n, x.shape[1], dtype="int64"), paddle.eye(2, n)


def ones_at_places(x, n):
    places = paddle.arange(n)
    return F.one_hot(places, n), F.one_hot(places.reshape([1, -1]), x.shape[0] + n), paddle.fluid.layers.one_hot(places, n + 1)


def triangles(x, n):
    return paddle.tril(x, n - 2), paddle.triu(x, x.shape[0] - 2), x.tril(-n), paddle.triu(x.reshape([1, x.shape[0], -1]), n)


def rolled(x, n):
    return paddle.roll(x, n), paddle.roll(x, [n, 1], axis=[0, 1]), paddle.roll(x, -n, axis=-1), paddle.roll(x, x.shape[0] - 1, 0)


def diagonals(x, n):
    return paddle.diagonal(x, n - 2), paddle.diagonal(x, 1 - x.shape[0]), paddle.trace(x, n - 1), F.diag_embed(x)


def smoothed(x, n):
    return F.label_smooth(x, epsilon=0.25)


def slices(x, n):
    squares = paddle.stack([row * row for row in x.unbind(0)])
    return squares, paddle.unbind(x, 1)[-1], len(paddle.unbind(x, -1)), paddle.stack(x.unbind(0)[::-1])


def distinct(x, n):
    values, first, inverse, counts = paddle.unique((x * n).floor(), return_index=True, return_inverse=True, return_counts=True)
    return values, first, inverse, counts, paddle.unique(x.astype("int64"), return_counts=True, dtype="int32")


SMALL = [[1.0, 2.0, -1.0], [0.5, 4.0, 3.0]]
WIDE = [[1.0, -2.0, 0.25, 5.0, 2.0], [3.0, 1.0, 0.5, -4.0, 1.5], [0.1, 0.2, 0.3, 0.4, 0.5]]

CASES = [(function, [(SMALL, 2), (WIDE, 3), (WIDE, 1)], 2)
         for function in (identity, ones_at_places, triangles, rolled, diagonals, smoothed, slices, distinct)]  # fmt: skip
