"""An offset that begins as an int of Python and is a sum of lengths, which are tensors, afterwards: as a bound, a size, a count."""

import dy2st

X, TABLE = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [1.0, 2.0, 3.0, 4.0, 5.0]


def cut(x, lens):
    out, begin = [], 0
    for n in lens.astype("int64"):
        out.append(x[begin : begin + n].sum())
        begin = begin + n
    return dy2st.stack(out)


def bounds(x, lens):
    total, k, rows = 0.0, 0, dy2st.stack([x, x * 2])
    for n in lens.astype("int64"):
        total = total + x[k:].sum() + x[: k + 1].sum() * 2 + x[k:6:2].sum() * 3 + x[: -k - 1].sum() * 4 + rows[:, k : k + 1].sum()
        k = k + n
    return total


def written(x, lens):
    y, begin = x * 1, 0
    for n in lens.astype("int64"):
        y[begin : begin + n] = y[begin : begin + 1] * 10
        begin = begin + n
    return y


def ranges(x, lens):
    total, begin = 0.0, 0
    for n in lens.astype("int64"):
        for i in range(begin, begin + n):
            total = total + x[i] * i
        begin = begin + n
    return total


def until_enough(x, lens):
    k = 1
    while x[:k].sum() < 5:
        k = k + lens.astype("int64")[1]
    return x[:k].sum()


def of_a_list(x, lens):
    total, begin = 0.0, 0
    for n in lens.astype("int64"):
        for v in TABLE[begin : begin + n]:
            total = total + v
        begin = begin + n
    return x + total


def of_functions(x, lens):
    total, k = 0.0, 0
    for n in lens.astype("int64"):
        total = total + dy2st.topk(x, k + 1)[0].sum() + dy2st.slice(x, [0], [k], [k + n]).sum() + x.clip(min=k).sum()
        total = total + dy2st.nn.functional.one_hot(lens.astype("int64"), k + 5).sum() + dy2st.zeros([k + 1, 2]).sum()
        total = total + dy2st.full([2], k, "float32").sum()
        k = k + n
    return total


def named(x, lens):
    k = 0
    for n in lens.astype("int64"):
        k = k + n
    return x[:k], k.shape, k.size


def no_tensor_yet(x, lens):
    k = 0
    for n in lens.astype("int64"):
        if x[0] > 1:
            k = k + n
    return k.shape


LENS = [([2, 1],), ([1, 0],), ([1, 4],)]

CASES = [
    (cut, [(X, *lens) for lens in LENS], 1),
    (bounds, [(X, *lens) for lens in LENS], 1),
    (written, [(X, *lens) for lens in LENS], 1),
    (ranges, [(X, *lens) for lens in LENS], 1),
    (until_enough, [(X, [2, 1]), (X, [1, 4])], 1),
    (of_a_list, [(X, *lens) for lens in LENS], 1),
    (of_functions, [(X, *lens) for lens in LENS], 1),
    (named, [(X, *lens) for lens in LENS], 1),
    (no_tensor_yet, [(X, [2, 1]), ([2.0], [2, 1])], 1),
]
