"""Functions of tensors that take a size, an offset or a bound that only the run knows, as sizes are under open dims."""

import numpy as np

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


def padding_of_a_table(x, n):
    ids = paddle.stack([n, n * 0, n * 0 + 1])
    first, last = F.embedding(ids, x, padding_idx=0), F.embedding(ids, x, padding_idx=-1)
    if n > 1:
        last = last + F.embedding(ids, x, padding_idx=int(n))
    return first, last


def count_by_numpy(x, n):
    k = int(np.prod(x.shape))
    flat = x.reshape([np.prod(x.shape)])
    return flat * k + np.prod([x.shape[0], 0.5, int(n)]), np.prod((2, 3))


def products_of_rows(x, n):
    y = paddle.cumprod(x, dim=0)
    if n > 0:
        y = y + x.cumprod(0) * n
    return y, paddle.cumprod(x.t(), 1, "float64").sum(), paddle.cumprod(x), paddle.cumprod(x[x[:, 0] > 2.0], 0)


SMALL = [[1.0, 2.0, -1.0], [0.5, 4.0, 3.0]]
WIDE = [[1.0, -2.0, 0.25, 5.0, 2.0], [3.0, 1.0, 0.5, -4.0, 1.5], [0.1, 0.2, 0.3, 0.4, 0.5]]

CASES = [
    *((function, [(SMALL, 2), (WIDE, 3), (WIDE, 1)], 2)
      for function in (identity, ones_at_places, triangles, rolled, diagonals, smoothed, slices, distinct, count_by_numpy,
                       products_of_rows)),
    (padding_of_a_table, [(SMALL, 1), (WIDE, 2), (WIDE, 1), (WIDE, 3)], 2),
]  # fmt: skip
