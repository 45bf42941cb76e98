"""Lists that are one of two, as only the run knows."""


def routed(x):
    pos, neg = [], []
    for v in x:
        (pos if v > 0 else neg).append(v * 2)
    return len(pos), len(neg), sum(pos) if pos else x.sum()


def routed_by_name(x):
    pos, neg = [x.sum()], []
    for v in x:
        if v > 0:
            cur = pos
        else:
            cur = neg
        cur.append(v * 2)
        cur.extend([v])
        cur[0] = cur[0] + v
    return len(pos), len(neg), sum(pos), sum(neg) if neg else x.sum()


class Bins:
    def __init__(self):
        self.a, self.b = [], []


def routed_in_an_object(x):
    bins = Bins()
    for v in x:
        dst = bins.a if v > 0 else bins.b
        dst.append(v)
    return len(bins.a), len(bins.b)


def read_only(x):
    a, b = [x, x * 2], [x * 3, x * 4]
    c = a if x.sum() > 0 else b
    return c[0] + c[1]


def forgotten(x):
    before = [x]
    buffer = before if x.sum() > 0 else []
    del before
    buffer.append(x * 2)
    return len(buffer), sum(buffer)


def dicts(x):
    a, b = {"k": x}, {"k": x * 2}
    (a if x.sum() > 0 else b).update(k=x * 7)
    return a["k"], b["k"]


def tensors_written(x):
    n = int(x.max())
    rows = [x * (k + 1) for k in range(4)]
    same = rows[2]
    rows[n % 4][0] = x[1] * 2
    rows[n % 4][1] += x[0]
    table = {0: x * 1, 1: x * 2}
    for v in x:
        table[int(v > 1)][0] = v
    one, other = x * 1, x * 2
    (one if x[0] > 0 else other)[0] = x[1]
    row = [x * 5, x * 6][n % 2]
    row[0] = 7.0
    return one, other, same * 1, table, row * 2


P, N = [1.0, 2.0], [-3.0, 1.0, 2.0, -4.0]

CASES = [
    (routed, [(P,), (N,), ([-1.0],)], 1),
    (routed_by_name, [(P,), (N,), ([-1.0],)], 1),
    (routed_in_an_object, [(P,), (N,)], 1),
    (read_only, [(P,), (N,)], 1),
    (forgotten, [(P,), (N,)], 1),
    (dicts, [(P,), (N,)], 1),
    (tensors_written, [(P,), (N,), ([2.0, 0.5],)], 1),
]
