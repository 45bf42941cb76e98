"""`tolist()`: the values of a tensor as lists of Python numbers."""


def decoded(x):
    out = []
    for i in x.argmax(-1).tolist():
        if i == 2:
            break
        out.append(i)
    return out


def of_floats(x):
    total, values = 0.0, x[0].tolist()
    for v in values:
        if v > 1:
            total = total + v * 2
    return total, len(values), x * max(values)


def of_bools(x):
    return [1 if v else 0 for v in (x[0] > 1).tolist()]


def chosen(x):
    ids = x[0].astype("int64")
    found = ids[ids > 0].tolist()
    return found, sum(found), x.sum() * len(found)


def one_number(x):
    return x.sum().tolist() + 1


def of_rows(x):
    rows = x.tolist()
    return rows, rows[0][1] - 1, len(rows), x * rows[-1][0]


def of_matrices(x):
    return (x.unsqueeze(0) * 2).tolist()


A, B, C = [[0.0, 1.0, 0.5], [1.0, 0.0, 0.25], [0.0, 0.0, 3.0]], [[4.0, 1.0, 2.0], [3.0, 0.0, 1.0]], [[-1.0, -2.0, -3.0]]

CASES = [(function, [(A,), (B,), (C,)], 1)
         for function in (decoded, of_floats, of_bools, chosen, one_number, of_rows, of_matrices)]  # fmt: skip
