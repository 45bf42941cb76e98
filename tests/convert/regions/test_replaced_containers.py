"""Lists and dicts in attributes, items and globals that are replaced on some paths, and changed behind that: caches that are reset."""

import numpy as np
import pytest

import dy2st as paddle
from dy2st import Tensor, jit, nn
from dy2st.errors import StructureError


class Model(nn.Layer):
    def __init__(self):
        super().__init__()
        self.cache, self.maybe, self.table, self.rows, self.entry = [], None, {"a": []}, [[], []], {"n": paddle.zeros([2])}


class Reset(Model):
    def forward(self, x, reset):
        if reset:
            self.cache = []
        self.cache.append(x)
        return paddle.stack(self.cache).sum(0)


class MadeOrReset(Model):
    def forward(self, x, reset):
        if reset or self.maybe is None:
            self.maybe = []
        self.maybe.append(x)
        return paddle.stack(self.maybe).sum(0)


class Shortened(Model):
    def forward(self, x, reset):
        if reset:
            self.cache = self.cache[-1:]
        self.cache.append(x)
        return len(self.cache), paddle.stack(self.cache).sum(0)


class OnTwoPaths(Model):
    def forward(self, x, reset):
        if reset:
            self.cache = [x]
        else:
            self.cache = [*self.cache, x]
        self.cache.append(x * 2)
        return self.cache.pop(0)


class InADict(Model):
    def forward(self, x, reset):
        if reset:
            self.table["a"] = []
        self.table["a"].append(x)
        return paddle.stack(self.table["a"]).sum(0)


class InAList(Model):
    def forward(self, x, reset):
        if reset:
            self.rows[0] = []
        self.rows[0].append(x)
        return paddle.stack(self.rows[0]).sum(0), len(self.rows[1])


class ADict(Model):
    def forward(self, x, reset):
        if reset:
            self.entry = {"n": x}
        self.entry["n"] = self.entry["n"] + x
        return self.entry["n"]


class InALoop(Model):
    def forward(self, x, reset):
        for v in x:
            if v > 1:
                self.cache = []
            self.cache.append(v)
        return paddle.stack(self.cache).sum()


class Nested(Model):
    def forward(self, x, reset):
        if x.sum() > 0:
            if reset:
                self.cache = []
            self.cache.append(x)
        self.cache.append(x * 2)
        return paddle.stack(self.cache).sum(0)


KEPT = []


class Global(Model):
    def forward(self, x, reset):
        global KEPT
        if reset:
            KEPT = []
        KEPT.append(x)
        return paddle.stack(KEPT).sum(0)


def plain(x):
    if isinstance(x, Tensor):
        return x.tolist()
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    return [plain(v) for v in x] if isinstance(x, (list, tuple)) else x


@pytest.mark.parametrize("cls", [Reset, MadeOrReset, Shortened, OnTwoPaths, InADict, InAList, ADict, InALoop, Nested, Global])
@pytest.mark.filterwarnings("ignore:.*traced")
def test_each_call_leaves_what_eager_mode_leaves(cls):
    found = []
    for make in (lambda f: f, jit.to_static):
        KEPT[:] = []
        model = cls()
        call = make(model)
        states = []
        for i, reset in enumerate((False, True, False, False, True, False)):
            x = Tensor(np.float32([i + 1, i - 2]))
            result = plain(call(x, Tensor(np.array(reset))))
            states.append((result, plain([model.cache, model.maybe, model.table, model.rows, model.entry, KEPT])))
        found.append(states)
    assert found[0] == found[1]


class HeldTwice(Model):
    def forward(self, x, reset):
        self.rows[0] = self.cache
        if reset:
            self.cache = []
        self.cache.append(x)
        return len(self.rows[0])


class InAnExpression(Model):
    def forward(self, x, reset):
        return self.cache + self.step(x, reset)

    def step(self, x, reset):
        if reset:
            self.cache = []
        self.cache.append(x)
        return [x]


class InAComprehension(InAnExpression):
    def forward(self, x, reset):
        return self.cache + [self.step(v * x, reset)[0] for v in x]


class OverTheList(InAnExpression):
    def forward(self, x, reset):
        self.cache.append(x)
        return [v for v in self.cache if len(self.cache) > 3 or self.step(v, reset)]


class InAManager(Model):
    def forward(self, x, reset):
        found = []

        class Manager:
            def __init__(self, items):
                self.items = items

            def __enter__(self):
                return self

            def __exit__(self, *args):
                found.append(len(self.items))
                return False

        with Manager(self.cache):
            if reset:
                self.cache = []
            self.cache.append(x)
        return found


def of_the_caller(cache, x, reset):
    if reset:
        cache = []
    cache.append(x)
    return len(cache)


@pytest.mark.parametrize("cls", [HeldTwice, InAnExpression, InAComprehension, OverTheList, InAManager])
def test_what_something_else_holds_is_not_changed_unseen(cls):
    for reset in (False, True):
        with pytest.raises(StructureError, match=r"changed in place after|modified in place here|over which the loop runs"):
            jit.to_static(cls())(Tensor([1.0, 2.0]), Tensor(np.array(reset)))


def test_what_the_caller_holds_is_not_changed_unseen():
    x = Tensor([1.0, 2.0])
    with pytest.raises(StructureError, match="changed in place after this, which is one or another one, as only the run knows"):
        jit.to_static(of_the_caller)([x], x, Tensor(np.array(True)))


class LastOfAHistory(nn.Layer):
    """The dict that a call changes is the one that the call before has made."""

    def __init__(self):
        super().__init__()
        self.history = [{"sum": paddle.zeros([2]), "count": 0}]

    def forward(self, x):
        last = self.history[-1]
        last["sum"] = last["sum"] + x
        last["count"] += 1
        self.history = [last, {"sum": x * 1, "count": 0}]
        return x


class DictThatStays(nn.Layer):
    """The list around it is another one after each call, and the dict the same."""

    def __init__(self):
        super().__init__()
        self.history = [{"sum": paddle.zeros([2]), "count": 0}, {"sum": paddle.zeros([2]), "count": 0}]

    def forward(self, x):
        last = self.history[-1]
        last["sum"] = last["sum"] + self.history[0]["sum"]
        self.history = [{"sum": x * 2, "count": 1}, last]
        return x


@pytest.mark.filterwarnings("ignore:.*is traced and compiled anew for each value")
@pytest.mark.parametrize(("cls", "traces"), [(LastOfAHistory, 12), (DictThatStays, 2)])
def test_a_dict_in_a_list_that_each_call_replaces(cls, traces):
    eager, static = cls(), cls()
    jit.to_static(static)
    for i in range(12):
        x = Tensor([float(i), 1.0])
        eager(x)
        static(x)
        left = [[(e["sum"].numpy().tolist(), int(e["count"])) for e in net.history] for net in (eager, static)]
        assert left[0] == left[1], i
    assert static.forward.explain().count("trace ") == traces
