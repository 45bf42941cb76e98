"""What a function changes in containers that are no lists or dicts: deques, sets, counters, arrays, users' own."""

import collections
import dataclasses

import numpy as np
import pytest
from dy2st_runtime import config

from dy2st import jit, nn
from dy2st.errors import StructureError
from dy2st.tensor import Tensor


def tensor(*values):
    return Tensor(np.array(values, np.float32))


def plain(x):
    """A value without tensors, to compare."""
    if isinstance(x, Tensor):
        return np.round(x.numpy(), 4).tolist()
    if isinstance(x, (dict, set)):
        return {k: plain(v) for k, v in x.items()} if isinstance(x, dict) else sorted(x)
    if isinstance(x, (list, tuple, collections.deque)):
        return [plain(v) for v in x]
    return x.tolist() if isinstance(x, np.ndarray) else x


class Own(dict):
    __getattr__ = dict.__getitem__

    def __setattr__(self, name, value):
        self[name] = value

    def update(self, *args):
        raise AssertionError("only the user's code calls this")


class Words(list):
    def total(self):
        return sum(self)


class Keeper(nn.Layer):
    """Each method changes one kind of container; `kept` is what it is."""

    def __init__(self, kind):
        super().__init__()
        self.kind = kind
        self.kept = {
            "ring": collections.deque(maxlen=2), "seen": set(), "counts": collections.Counter(), "logs": collections.defaultdict(list),
            "own": Own(n=1), "words": Words(), "array": np.zeros(2), "bytes": bytearray(2),
        }[kind]  # fmt: skip

    def forward(self, x, i):
        return getattr(self, self.kind)(x, i)

    def ring(self, x, i):
        self.kept.append(x)
        s = x * 0
        for v in self.kept:
            s = s + v
        return s / len(self.kept)

    def seen(self, x, i):
        self.kept.add(i)
        return x * len(self.kept)

    def counts(self, x, i):
        self.kept["calls"] += 1
        if x.sum() > 0:
            self.kept["positive"] += x.sum()
        return x * self.kept["calls"]

    def logs(self, x, i):
        self.kept[f"log {i}"].append(x.sum())
        return x + len(self.kept)

    def own(self, x, i):
        self.kept.n += 1
        return x * self.kept.n

    def words(self, x, i):
        self.kept.append(x.sum())
        return x * self.kept.total()

    def array(self, x, i):
        self.kept[i] += 1
        return x * float(self.kept[0])

    def bytes(self, x, i):
        self.kept[i] += 2
        return x * self.kept[0]


@pytest.mark.parametrize("kind", ["ring", "seen", "counts", "logs", "own", "words", "array", "bytes"])
def test_container_of_a_layer(kind):
    eager, static = Keeper(kind), jit.to_static(Keeper(kind))
    if kind == "counts":
        eager.kept["positive"], static.kept["positive"] = 0.0, 0.0
    with config.NO_JIT.override(True):
        for n, i in enumerate([0, 0, 1, 0, 1]):
            x = tensor(1.0 + n, -n * 0.7)
            assert plain(static(x, i)) == plain(eager(x, i))
            assert plain(static.kept) == pytest.approx(plain(eager.kept)) if kind == "counts" else plain(static.kept) == plain(eager.kept)
            assert type(static.kept) is type(eager.kept)


def rotate(x, n):
    q = collections.deque([x, x + 1, x * 2])
    s = x * 0
    for _ in range(n):
        v = q.popleft()
        s = s + v
        q.append(v * 2)
    return s, list(q)


def under_a_condition(x, n):
    q = collections.deque([x, x + 1], maxlen=2)
    if x.sum() > n:
        q.append(x * 3)
    return list(q)


@pytest.mark.parametrize("function", [rotate, under_a_condition])
def test_container_that_changes_under_a_staged_condition(function):
    static = jit.to_static(function)
    with config.NO_JIT.override(True):
        for n in (0, 2, 5):
            assert plain(static(tensor(1.0, 2.0), Tensor(n))) == plain(function(tensor(1.0, 2.0), n))
    assert len(static.concrete_programs) == 1


WAITING = collections.deque()


def grows(x):
    while x.sum() < 10:
        WAITING.append(x)
        x = x * 2
    return len(WAITING)


def marks(x):
    a = np.zeros(2)
    if x.sum() > 0:
        a[0] = 1
    return x * a[0]


def remembers(x):
    seen = {"a"}
    if x.sum() > 0:
        seen.add("b")
    return x * len(seen)


class Queues:
    kept = None


def queues(x, keeps):
    last, every = collections.deque(maxlen=2), collections.deque()
    for v in x:
        last.append(v)
        if v > 0:
            every.appendleft(v)
    keeps.kept = every
    return last, every, {"q": every}


@pytest.mark.parametrize("native", [False, True])
def test_deques_as_results(native):
    eager, static = Queues(), Queues()
    call = jit.to_static(lambda x: queues(x, static))
    with config.NO_JIT.override(not native):
        for x in (tensor(1.0, -2.0, 3.0), tensor(-1.0), tensor(1.0, 2.0)):
            wanted, found = queues(x, eager), call(x)
            assert [type(q) for q in found[:2]] == [collections.deque] * 2
            assert plain(found) == plain(wanted)
            assert [q.maxlen for q in found[:2]] == [2, None]
            assert found[1] is found[2]["q"] is static.kept


@pytest.mark.parametrize("function", [grows, marks, remembers])
def test_contents_that_only_the_run_knows(function):
    with pytest.raises(StructureError, match="the contents of a"):
        jit.to_static(function)(tensor(1.0, 2.0))


@dataclasses.dataclass(frozen=True)
class Affine:
    w: Tensor
    b: Tensor

    def __call__(self, x):
        return x * self.w + self.b


def replaced(f, x):
    if x.sum() > 0:
        f = dataclasses.replace(f, b=f.b * 2)
    return f(x)


def test_callable_dataclasses_are_not_compared():
    static = jit.to_static(replaced)
    with config.NO_JIT.override(True):
        for x in (tensor(1.0, 2.0), tensor(-1.0, 0.0)):
            f = Affine(tensor(3.0, 4.0), tensor(1.0, 1.0))
            assert plain(static(f, x)) == plain(replaced(f, x))
def test_ring_that_is_full_needs_no_more_traces():
    static = jit.to_static(Keeper("ring"))
    with config.NO_JIT.override(True):
        for n in range(7):
            static(tensor(n, 1.0), 0)
    assert len(static.forward.concrete_programs) == 3




class Moves(nn.Layer):
    """Hands on tensors and containers of its own: to its caller, and from one attribute to another."""

    def __init__(self):
        super().__init__()
        self.log = []
        self.now, self.before, self.first = tensor(0.0, 0.0), tensor(1.0, 1.0), None
        self.boxes = {"new": [tensor(5.0, 6.0)], "old": []}

    def forward(self, x):
        if self.first is None:
            self.first = self.now
        self.log.append(x.sum())
        self.before, self.now = self.now, x
        self.boxes["old"], self.boxes["new"] = self.boxes["new"], [x * 2]
        return self.log, self.before, self.boxes, self.first


def test_what_is_handed_on_is_the_same_object():
    eager, static = Moves(), jit.to_static(Moves())
    with config.NO_JIT.override(True):
        for n in range(7):
            seen = []
            for net in (eager, static):
                now, new = net.now, net.boxes["new"]
                log, before, boxes, first = net(tensor(n, 1.0))
                same = (log is net.log, before is now, before is net.before, boxes is net.boxes, boxes["old"] is new, first is net.first)
                seen.append((same, plain(log), plain(before), plain(boxes), plain(first), plain(net.now)))
            assert seen[0] == seen[1]
            assert all(seen[1][0])


class Window(nn.Layer):
    def __init__(self):
        super().__init__()
        start = tensor(0.0, 0.0)
        self.kept = [start, start]

    def forward(self, x):
        self.kept.append(x)
        self.kept.pop(0)
        return self.kept[0] + x


def test_one_tensor_in_two_places_may_be_two_later():
    eager, static = Window(), jit.to_static(Window())
    with config.NO_JIT.override(True):
        for n in range(6):
            assert plain(static(tensor(n, 1.0))) == plain(eager(tensor(n, 1.0)))
            assert plain(static.kept) == plain(eager.kept)
    assert len(static.forward.concrete_programs) == 2


def own_iterators(x):
    rates = iter([1.0, 2.0])
    total = x * next(rates)
    if x.sum() > 0:
        inner = iter((3.0, 4.0))
        total = total + next(inner) * next(inner)
    for a, b in zip(rates, enumerate("ab"), strict=False):
        total = total * a + b[0]
    return total


def test_iterators_of_the_function_s_own():
    static = jit.to_static(own_iterators)
    with config.NO_JIT.override(True):
        for x in (tensor(1.0, 2.0), tensor(-1.0, 0.0)):
            assert plain(static(x)) == plain(own_iterators(x))


class Pair(nn.Layer):
    """Keeps a container that it has made under two names, and returns it."""

    def __init__(self):
        super().__init__()
        self.a = self.b = None
        self.last = [tensor(0.0)]

    def forward(self, x):
        if self.a is None:
            self.a = self.b = {"h": x, "parts": []}
        self.a["h"] = self.a["h"] + x
        self.b["parts"].append(x)
        if x.sum() > 2:
            self.last = [x * 2]
        return self.a, self.b["h"], self.last


def test_a_container_that_was_made_is_one_object_wherever_it_is():
    eager, static = Pair(), jit.to_static(Pair())
    with config.NO_JIT.override(True):
        for n in range(4):
            seen = []
            for net in (eager, static):
                a, h, last = net(tensor(n))
                seen.append((a is net.a, net.a is net.b, last is net.last, plain(a), plain(h), plain(last)))
                last.append(tensor(n))
                assert len(net.last) == len(last)
                net.last = last[:1]
            assert seen[0] == seen[1]


class Registry:
    found = {}


class Derived(Registry):
    pass


def key_in_a_dict_of_a_class(x):
    if x.sum() > 0:
        Registry.found["k"] = x * 2
    return Registry.found.get("k", 7), "k" in Derived.found


def keys_of_each_path(x):
    if x.sum() > 0:
        Derived.found["k"] = 1
    else:
        Derived.found["m"] = 2
    Registry.found["l"] = 3
    return len(Registry.found)


@pytest.mark.parametrize("function", [key_in_a_dict_of_a_class, keys_of_each_path], ids=lambda f: f.__name__)
def test_a_dict_of_a_class_gets_keys_on_one_path(function):
    with config.NO_JIT.override(True):
        static = jit.to_static(function)
        for values in ((3.0, 1.0), (-3.0, 1.0), (2.0, 1.0)):
            outcomes = []
            for f in (function, static):
                held = Registry.found = {}
                result = f(tensor(*values))
                assert Registry.found is held
                outcomes.append((plain(list(result) if isinstance(result, tuple) else result), plain(held)))
            assert outcomes[1] == outcomes[0]


class Kept:
    def __init__(self):
        self.last, self.before = [1], [2]

    def follow(self, x):
        if x.sum() > -5:
            self.before, self.last = self.last, [v * 2 for v in x if v > 0.5]
            self.last.append(1)
        self.first, self.more = self.before[0] // 2, [v + 1 for v in self.before]
        return x * self.before[0]


def test_a_number_in_a_list_that_might_have_got_tensors_keeps_its_class():
    eager, static = Kept(), Kept()
    follow = jit.to_static(static.follow)
    with config.NO_JIT.override(True):
        for x in (tensor(-1.0, 0.0), tensor(-9.0), tensor(0.0, 0.25), tensor(0.5, 0.0)):
            assert plain(follow(x)) == plain(eager.follow(x))
            for name in vars(eager):
                assert repr(plain(getattr(static, name))) == repr(plain(getattr(eager, name)))  # 1 is not 1.0
