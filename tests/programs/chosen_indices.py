"""Lists of indices that only the run knows, as indices of tensors."""

import dy2st

P, N, M = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.5], [1.0, -2.0, 3.0, 0.0, 5.0]


def chosen(x):
    found = []
    for i in range(x.shape[0]):
        if x[i] > 0:
            found.append(i)
    return x[found] * 2


def written(x, n):
    found = [i for i, v in enumerate(x) if v > n]
    y = x * 1
    y[found] = 7.0
    y[[i for i in found if i > 1]] += 1.0
    return y


def beside_others(x, n):
    rows = [i for i, v in enumerate(x) if v > n]
    table = x.unsqueeze(1) * x
    return table[rows], table[rows, 0], table[rows, -1:], table[:, rows]


def made_a_tensor(x, n):
    found, halves, rows = [0], [], [x * 1]
    for i in range(x.shape[0]):
        if x[i] > n:
            found.append(i)
            halves.append(i * 0.5)
            rows.append(x * 2)
    positive = dy2st.to_tensor([v for v in x if v > 0])
    return dy2st.to_tensor(found), dy2st.to_tensor(halves), dy2st.to_tensor(rows), dy2st.to_tensor(found[1:], dtype="float32"), positive


def made_a_tensor_of_rows(x, n):
    rows, pairs, tables = [], [], [[[k, 1], [2, k]] for k in range(n + 1)]
    for k in range(n + 1):
        rows.append([1.0 if x[0] > 0 else 0.0, float(x[1]) * k])
        pairs.append((k, k * 2))
    as_they_are = dy2st.to_tensor([[v * k, x[0]] for k in range(n + 1) for v in x])
    chosen = x[[[k, 0] for k in range(n + 1)]]
    return dy2st.to_tensor(rows), dy2st.to_tensor(pairs), dy2st.to_tensor(tables, dtype="float32"), as_they_are, chosen


def made_a_tensor_of_padded_rows(x, n):
    rows = [[1, 2], [3], []]
    size = int(n) + 2
    padded = [row + [0] * (size - len(row)) for row in rows]
    mixed = [[x[0], x[1]] + [x[0] * 0] * int(n), list(x[:1]) * size]
    beside = dy2st.to_tensor([[1] * size, [0.5] * size, [3.0] * size])
    return dy2st.to_tensor(padded), dy2st.to_tensor(padded, dtype="float32"), dy2st.to_tensor(mixed), beside * 2.0


def made_a_tensor_of_entries(x, n):
    return dy2st.to_tensor([i for i, v in enumerate(x) if v > n]) * 2


def float_bounds(x, n):
    y = x * n
    return y[x[0] :]


def float_bounds_of_what_is_written(x):
    y = x * 1
    y[: x[0]] = 0.0
    return y


def bounds_of_numbers(x, n):
    return x[n * 1.0 :]


CASES = [
    (float_bounds, [(P, 1)], 0),
    (float_bounds_of_what_is_written, [(P,)], 0),
    (bounds_of_numbers, [(P, 1)], 0),
    (made_a_tensor, [(P, 1), (M, 0), (N, 0)], 1),
    (made_a_tensor_of_entries, [(P, 1), (M, 0)], 1),
    (made_a_tensor_of_rows, [(P, 1), (M, 0), (N, 2)], 1),
    (made_a_tensor_of_padded_rows, [(P, 1), (M, 0), (N, 2)], 1),
    (chosen, [(P,), (M,), (N,)], 1),
    (written, [(P, 1), (M, 0), (N, 0), (M, 4)], 1),
    (beside_others, [(P, 1), (M, 0), (N, 0)], 1),
]
