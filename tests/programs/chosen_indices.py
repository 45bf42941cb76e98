"""Lists of indices that only the run knows, as indices of tensors."""

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


CASES = [
    (chosen, [(P,), (M,), (N,)], 1),
    (written, [(P, 1), (M, 0), (N, 0), (M, 4)], 1),
    (beside_others, [(P, 1), (M, 0), (N, 0)], 1),
]
