"""Lists with numbers and tensors that only the run knows in them, where a tensor is meant: operands, indices, values."""

import numpy as np

import dy2st as paddle
import dy2st.nn.functional as F


def swapped(x, n):
    h = x * 1
    i, j = int(x.argmax()), int(n)
    h[[i, j]] = h[[j, i]]
    k = x.argmin()
    g = x * 2
    g[[0, k]] = g[[k, 0]]
    return h, g, h[[0, i, -1]], h[[i == 0, True, j > 0]]


def beside_other_indices(x, n):
    k = int(n)
    h = x * 1
    h[[0, 1], [k, 1 - k]] = h[[1, 0], [k, k]] * 10
    h[k, [0, k]] += 1
    return h, x[[[0, k], [k, 1]]], x[..., [k, 0]]


def as_values(x, n):
    k = float(x[0, 0])
    h = x * 1
    h[0] = [k, n]
    if k > 0:
        h[1] = (2, k)
    ids = paddle.zeros([2], "int64")
    ids[:] = [k, 1.5]
    ids.set_value([n, k])
    return h, ids, h * [k, 1], [[k, 2], [3, n]] - x, x > [k, 1.0], paddle.where(x > 0, x, [k, 1.0]), paddle.assign([k, 1])


def of_tensors(x, n):
    h = x * 1
    h[0] = [x[0, 1], 1.0]  # without a gradient, as a copy of the values has none
    return h * [x.max(), x.min()], [n, 2] * h, [n, int(n)] * n


def eliminated(x, n):
    m, sign = x * 1, 1.0
    size = x.shape[0]
    for c in range(size):
        pivot = int(m[c:, c].abs().argmax()) + c
        if pivot != c:
            m[[c, pivot]] = m[[pivot, c]]
            sign = -sign
        for r in range(c + 1, size):
            m[r] = m[r] - m[c] * (m[r, c] / m[c, c])
    return m.diagonal().prod() * sign


def that_may_be_none(x, n):
    k = None
    if n > 0:
        k = int(n)
    return x * [k, 1]


def of_entries_with_dims(x, n):
    row = x[0]
    rows = paddle.to_tensor([row, [1, n]]), paddle.to_tensor([range(2), row]), paddle.to_tensor([[[0.5, n], row], [row, [True, 2]]])
    return *rows, paddle.to_tensor([np.array([1, 2]), row]), paddle.to_tensor([np.array(1.0), row[0]]), paddle.to_tensor([[], row[:0]])


def of_any_length(x, n):
    found = [x[0, 1]]
    for i in range(n):
        found.append(x[1, i % 2] * i)
    counts = [k for k in range(n) if k != 1]
    of_found = paddle.sum(found), paddle.stack([found, found]), F.relu(found), paddle.maximum(found, x[0, 0])
    return *of_found, paddle.numel(counts), paddle.tile(counts, 2)


def out_of_range(x, n):
    return x[[0, int(n)]]


P, N, S = [[1.0, 2.0], [3.0, 4.0]], [[-1.0, 2.0], [3.0, -4.0]], [[0.0, 2.0], [3.0, 4.0]]
CASES = [
    (swapped, [([3.0, 1.0, 2.0], 0), ([1.0, 2.0, 3.0], 1), ([2.0, 0.0, 9.0], 2), ([2.0, 0.0, 9.0], 3)], 1),
    (beside_other_indices, [(P, 0), (N, 1), (P, 5)], 1),
    (as_values, [(P, 0), (N, 3)], 1),
    (of_tensors, [(P, 0), (N, 3)], 1),
    (eliminated, [(P, 0), (S, 0)], 1),
    (that_may_be_none, [(P, 1), (P, 2)], 1),
    (of_entries_with_dims, [(P, 1), (N, 2)], 1),
    (of_any_length, [(P, 1), (N, 3)], 1),
    (out_of_range, [(P, 1), (P, 2), (N, -3)], 1),
]
