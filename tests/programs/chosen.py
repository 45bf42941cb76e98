"""Lists, dicts and objects that are one of several, as only the run knows, and are changed."""


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


def routed_pairs(x):
    by_sign = {"-": [], "0": [], "+": []}
    for i, v in enumerate(x):
        sign = "+" if v > 0 else "0" if v == 0 else "-"
        by_sign[sign].append((i, v * 2))
        if len(by_sign[sign]) > 2:
            del by_sign[sign][0]
    return [len(pairs) for pairs in by_sign.values()], [
        sum(i * v for i, v in pairs) if pairs else x.sum() for pairs in by_sign.values()
    ]


def messages_of_edges(h, n):
    inbox = [[] for _ in range(3)]
    for v in h:
        inbox[n].append((v, v * n))
        n = (n + 1) % 3 if v > 0 else n
        first, second = inbox[n][0] if inbox[n] else (v, v)
        h = h + first * second
    return h, [len(messages) for messages in inbox]


class Arm:
    def __init__(self, x):
        self.visits, self.total, self.rewards, self.extremes = (
            0,
            x.sum() * 0,
            [],
            {"least": x.min() * 0, "most": x.max() * 0},
        )

    def value(self):
        return self.total / self.visits if self.visits > 0 else 0.0

    def pulled(self, reward):
        self.visits += 1
        self.total = self.total + reward
        self.rewards.append(reward)
        self.extremes["least"] = reward * 2
        if reward > self.extremes["most"]:
            self.extremes["most"] = reward
        return self


def bandit(x):
    arms = [Arm(x), Arm(x), Arm(x)]
    for v in x:
        scores = [arm.value() + 1.0 / (1 + arm.visits) for arm in arms]
        best = 0
        for i in range(1, 3):
            if scores[i] > scores[best]:
                best = i
        arms[best].pulled(v * (best + 1))
    return [(a.visits, a.total, len(a.rewards), a.extremes) for a in arms]


def changed_in_blocks(x):
    one, other = Arm(x), Arm(x * 2)
    arm = one if x[0] > 0 else other

    def reward(by):
        arm.total = arm.total + by

    for v in x:
        if v > 0:
            arm.visits += 1
            reward(v)
        arm.extremes["least"] = v
    if x[-1] > 0:
        arm.__setattr__("visits", arm.visits + 10)
    return one.visits, other.visits, one.total, other.total, one.extremes["least"], arm.extremes["least"], arm.total


def one_of_two_that_were_chosen(x):
    one, other, third = Arm(x), Arm(x * 2), Arm(x * 3)
    arm = one if x[0] > 0 else other
    again = arm if x[1] > 0 else third
    again.visits += 1
    held = [again]
    held[0].total = x.sum()
    return one.visits, other.visits, third.visits, again.visits, one.total, other.total, third.total


class Scale:
    def __init__(self):
        self._k, self.sets = 1, 0

    @property
    def k(self):
        return self._k

    @k.setter
    def k(self, k):
        self.sets += 1
        self._k = k


def logged_outside(x, n):
    for log in LOGS:
        log.entries = []
    for v in x:
        log = LOGS[n if v > 0 else 0]
        log.add(v)
        log.entries.append(v * 2)
        log.k = log.k + 1
    return [len(log.entries) for log in LOGS], sum(LOGS[0].entries) if LOGS[0].entries else x.sum(), len(LOGS[n].entries)


def by_a_property(x):
    one, other = Scale(), Scale()
    for v in x:
        scale = one if v > 0 else other
        scale.k *= 2
    return one.k, other.k, one.sets, other.sets, x * one.k


def under_all_names(x):
    one, other, third = Arm(x), Arm(x * 2), Arm(x * 3)
    arm = one if x[0] > 0 else other
    again = other if x[1] > 0 else one
    arm.visits += 1
    again.visits += 10
    one.visits += 100
    if x[-1] > 0:
        other.total = x.sum() + arm.visits
    seen = [arm.visits, again.visits, one.visits, other.visits, arm.total, again.total]
    for held in [third, one if x[1] > 0 else other]:  # a loop of Python holds it
        one.visits += 1
        seen.append(held.visits)
    return seen, one.total, other.total


def one_after_the_other(x):
    arms = [Arm(x), Arm(x)]
    for i in range(2):  # not a loop of the Program: the name holds another one each time
        arm = arms[(x[i] > 0).astype("int64")]
        arm.visits += 1
        arm.total = x.sum() * i if arm.visits == 1 else arm.total + x[0]
        arms[i].visits = arms[i].visits + arms[0].visits
    return [a.visits for a in arms], sum(a.total for a in arms)


class Log(Scale):
    def __init__(self):
        super().__init__()
        self.entries = []

    def add(self, v):
        self.entries.append(v)


OUTSIDE = [Scale(), Scale()]
LOGS = [Log(), Log(), Log()]


def of_the_outside(x):
    for scale in OUTSIDE:
        scale._k = scale.sets = 0
    scale = OUTSIDE[0] if x[0] > 0 else OUTSIDE[1]
    scale.k = 3
    for v in x:
        if v > 0:
            scale.k += 1
    return [s.k for s in OUTSIDE], [s.sets for s in OUTSIDE], scale.k * x


P, N = [1.0, 2.0], [-3.0, 1.0, 2.0, -4.0]

CASES = [
    (routed, [(P,), (N,), ([-1.0],)], 1),
    (routed_by_name, [(P,), (N,), ([-1.0],)], 1),
    (routed_in_an_object, [(P,), (N,)], 1),
    (read_only, [(P,), (N,)], 1),
    (forgotten, [(P,), (N,)], 1),
    (dicts, [(P,), (N,)], 1),
    (tensors_written, [(P,), (N,), ([2.0, 0.5],)], 1),
    (routed_pairs, [(P,), (N,), ([0.0, 0.0, 1.0],)], 1),
    (messages_of_edges, [(P, 0), (N, 1), (N, 2)], 1),
    (bandit, [([1.0, 2.0, 0.5],), ([-3.0, 1.0, -2.0],), ([0.0, 0.1, 0.2],)], 1),
    (changed_in_blocks, [(P,), (N,), ([3.0, -1.0],)], 1),
    (one_of_two_that_were_chosen, [(P,), (N,), ([3.0, -1.0],)], 1),
    (under_all_names, [(P,), (N,), ([3.0, -1.0],)], 1),
    (one_after_the_other, [(P,), (N,)], 1),
    (logged_outside, [(P, 1), (N, 2), (N, 0)], 3),  # the lists that a call leaves have other lengths
    (by_a_property, [(P,), (N,)], 1),
    (of_the_outside, [(P,), (N,), ([3.0, -1.0],)], 1),
]
