"""What a trace has read of Python values outside never goes stale, wherever it stands; and what it has not read is no reason to retrace."""

import argparse
import dataclasses
import enum
import functools
import sys
import types

import numpy as np
import pytest
from guarding import Box, Slots, check, putting, tensor

import dy2st
from dy2st import jit, nn


@dataclasses.dataclass
class Options:
    k: float = 2.0
    unread: int = 0


CFG = Box(k=2.0, unread=0, opt=Box(k=3.0), w=tensor(1.0, 2.0))
SPACE = types.SimpleNamespace(k=2.0)
OPTIONS = Options()
TABLE = {"a": Box(k=2.0), "rate": 0.5}
LIST = [Box(k=2.0), 3.0]
PAIR = (Box(k=2.0), tensor(1.0, 1.0))
SETTINGS = types.ModuleType("settings")
SETTINGS.k, SETTINGS.helper = 2.0, lambda x: x * 2
sys.modules["settings_of_this_test"] = SETTINGS


def of_an_object(x):
    return x * CFG.k * CFG.opt.k


def of_a_namespace(x):
    return x * SPACE.k


def of_a_dataclass(x):
    return x * OPTIONS.k


def of_containers(x):
    return x * TABLE["a"].k * TABLE["rate"] * LIST[0].k * LIST[1] + PAIR[0].k


def of_a_module(x):
    import settings_of_this_test

    return x * settings_of_this_test.k + SETTINGS.k


def by_name(x):
    return x * getattr(CFG, "k") * getattr(CFG, "".join(["o", "pt"])).k + getattr(CFG, "bias", 0.0)  # noqa: B009


def of_vars(x):
    return x * vars(CFG)["k"]


def all_values(x):
    for value in TABLE.values():
        x = x * (value if isinstance(value, float) else value.k)
    return x


@pytest.mark.parametrize(
    ("function", "changes"),
    [
        (of_an_object, [putting(CFG, k=5.0), putting(CFG.opt, k=7.0), putting(CFG, opt=Box(k=11.0))]),
        (of_a_namespace, [putting(SPACE, k=5.0)]),
        (of_a_dataclass, [putting(OPTIONS, k=5.0)]),
        (of_containers, [lambda: TABLE.update(rate=0.25), putting(TABLE["a"], k=5.0), putting(LIST[0], k=7.0),
                         lambda: LIST.__setitem__(1, 4.0), putting(PAIR[0], k=9.0)]),
        (of_a_module, [putting(SETTINGS, k=5.0)]),
        (by_name, [putting(CFG, k=13.0), putting(CFG, opt=Box(k=1.5)), putting(CFG, bias=4.0)]),
        (of_vars, [putting(CFG, k=17.0)]),
        (all_values, [lambda: TABLE.update(rate=0.125), lambda: TABLE.update(more=3.0), lambda: TABLE.pop("more")]),
    ],
)  # fmt: skip
def test_what_is_reached_through_globals(function, changes):
    # the last change of the last function undoes the one before it
    check(jit.to_static(function), function, *changes, traces=1 + len(changes) - (function is all_values))


def test_what_is_reached_through_arguments():
    def f(x, cfg, more):
        return x * cfg.k * cfg.opt.k * more["cfg"].k

    cfg, other = Box(k=2.0, opt=Box(k=3.0)), Box(k=1.0)
    args = (cfg, {"cfg": other})
    check(jit.to_static(f), f, putting(cfg, k=5.0), putting(cfg.opt, k=7.0), putting(other, k=4.0), args=args, traces=4)


class Net(nn.Layer):
    scale = 2.0
    table = {"a": 1.0}

    def __init__(self):
        super().__init__()
        self.cfg, self.cfgs, self.fc = Box(k=2.0), [Box(k=3.0)], nn.Linear(2, 2)
        self.fc.weight.set_value(np.eye(2, dtype=np.float32))
        self.note = 0

    def helper(self, x):
        return x + 1

    def forward(self, x):
        return self.helper(self.fc(x) * self.cfg.k * self.cfgs[0].k * self.scale * self.table["a"] * type(self).scale)


class SubNet(Net):
    def forward(self, x):
        return super().forward(x) * SubNet.scale


def test_what_is_reached_through_a_layer():
    net = Net()
    static = jit.to_static(Net.forward)
    check(lambda x: static(net, x), functools.partial(Net.forward, net), putting(net.cfg, k=5.0), putting(net.cfgs[0], k=7.0),
          lambda: net.cfgs.__setitem__(0, Box(k=1.5)), putting(net, cfg=Box(k=1.25)))  # fmt: skip
    assert len(static.concrete_programs) == 5


@pytest.mark.parametrize("cls", [Net, SubNet])
def test_attributes_of_classes(cls, monkeypatch):
    net = cls()
    static = jit.to_static(cls.forward)
    changes = [
        lambda: monkeypatch.setattr(Net, "scale", 3.0),
        lambda: monkeypatch.setattr(cls, "scale", 3.5),
        lambda: monkeypatch.setitem(Net.table, "a", 5.0),
        putting(net, scale=7.0),
        lambda: monkeypatch.setattr(Net, "helper", lambda self, x: x - 1),
        putting(net, helper=lambda x: x * 10),
    ]
    check(lambda x: static(net, x), functools.partial(cls.forward, net), *changes)
    if cls is SubNet:
        check(lambda x: static(net, x), functools.partial(cls.forward, net),
              lambda: monkeypatch.setattr(Net, "forward", lambda self, x: x * 3))  # fmt: skip
    # the scale of Net, the same place the first two times, is an input from the second trace on
    assert len(static.concrete_programs) == (len(changes) if cls is Net else 2 + len(changes))


class Tight(Slots):
    __slots__ = ("n",)

    @jit.to_static
    def scaled(self, x):
        return x * self.k * self.n


def test_attributes_in_slots():
    slots, tight = Slots(2.0), Tight(2.0)
    tight.n = 3

    def f(x):
        return x * slots.k

    check(jit.to_static(f), f, putting(slots, k=5.0), traces=2)
    check(tight.scaled, lambda x: x * tight.k * tight.n, putting(tight, k=5.0), putting(tight, n=7))
    assert len(tight.scaled.concrete_programs) == 3


def scaled(x, by=2.0, *, plus=1.0):
    return x * by * scaled.k + plus


scaled.k = 1.5


def calls_scaled(x):
    return scaled(x)


@pytest.mark.parametrize("function", [calls_scaled, scaled])
def test_default_arguments_and_attributes_of_functions(function, monkeypatch):
    static = jit.to_static(function)

    def defaults():
        scaled.__defaults__ = (5.0,)

    changes = [defaults, lambda: monkeypatch.setitem(scaled.__kwdefaults__, "plus", 7.0),
               lambda: monkeypatch.setattr(scaled, "k", 3.0)]  # fmt: skip
    try:
        check(static, function, *changes, traces=4)
    finally:
        scaled.__defaults__ = (2.0,)


def replaceable(x):
    return x * 2


def replacement(x):
    return x * 3


def calls_functions(x):
    return replaceable(x) + SETTINGS.helper(x)


def test_replaced_functions(monkeypatch):
    changes = [lambda: monkeypatch.setattr(SETTINGS, "helper", lambda x: x * 7),
               lambda: monkeypatch.setattr(replaceable, "__code__", replacement.__code__),
               lambda: monkeypatch.setitem(globals(), "replaceable", lambda x: x * 5)]  # fmt: skip
    check(jit.to_static(calls_functions), calls_functions, *changes, traces=4)


class Computing:
    """Its values come from code that no call names."""

    def __init__(self):
        self.side, self._extra, self.unread = 2.0, {"bonus": 3.0}, 0

    @property
    def area(self):
        return self.side * GLOBAL_FACTOR

    @functools.cached_property
    def cached(self):
        return self.side + 1

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return self._extra[name]

    def __getitem__(self, key):
        return self._extra[key] * self.side

    def __len__(self):
        return int(self.side)


GLOBAL_FACTOR = 2.0


def test_properties_and_special_methods(monkeypatch):
    it = Computing()

    def f(x):
        return x * it.area + it.bonus + it["bonus"] + len(it) + it.cached

    changes = [putting(it, side=5.0), lambda: monkeypatch.setitem(globals(), "GLOBAL_FACTOR", 4.0),
               lambda: it._extra.update(bonus=7.0), putting(it, cached=1.0),
               lambda: monkeypatch.setattr(Computing, "area", 1.0)]  # fmt: skip
    check(jit.to_static(f), f, *changes, traces=6)


def test_tensors_are_read_where_they_stand(monkeypatch):
    pair = [tensor(1.0, 1.0)]

    def f(x):
        return x * CFG.w + SETTINGS.w + pair[0] + Net.bias

    SETTINGS.w = tensor(1.0, 1.0)
    monkeypatch.setattr(Net, "bias", tensor(2.0, 2.0), raising=False)
    changes = [putting(CFG, w=tensor(5.0, 6.0)), putting(SETTINGS, w=tensor(7.0, 8.0)),
               lambda: pair.__setitem__(0, tensor(9.0, 9.0)), lambda: monkeypatch.setattr(Net, "bias", tensor(4.0, 4.0))]  # fmt: skip
    check(jit.to_static(f), f, *changes, traces=1)


def test_values_that_are_not_read_are_no_reason_to_retrace():
    net, it, options = Net(), Computing(), Options()

    def f(x):
        return net(x) * it.side * options.k

    step = 0

    def unrelated():
        nonlocal step
        step += 1
        net.note = net.other = CFG.unread = it.unread = options.unread = SETTINGS.unread = Net.unread = step
        net.cfg.seen = f"step {step}"

    check(jit.to_static(f), f, unrelated, unrelated, putting(net.cfg, k=2.0), putting(options, k=float("2")), traces=1)


def test_imports_inside_a_function(tmp_path, monkeypatch):
    package = tmp_path / "package_of_this_test"
    (package / "inner").mkdir(parents=True)
    for file, text in {
        "__init__.py": "", "inner/__init__.py": "", "options.py": "k = 2.0\n", "more.py": "k = 3.0\n",
        "inner/model.py": "def f(x):\n    from .. import more\n    from ..options import k\n    return x * k * more.k\n",
    }.items():  # fmt: skip
        (package / file).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    from package_of_this_test import more, options
    from package_of_this_test.inner.model import f

    check(jit.to_static(f), f, putting(options, k=5.0), putting(more, k=7.0), traces=3)


@pytest.mark.parametrize("given", [None, [jit.InputSpec([2], "float32")]])
def test_what_is_saved_is_not_stale(given, tmp_path):
    net = Net()
    static = jit.to_static(net)
    x = tensor(1.0, 2.0)
    static(x)
    for k in (2.0, 5.0):
        net.cfg.k = k
        jit.save(static, str(tmp_path / "net"), given)
        expected = Net.forward(net, x)
        np.testing.assert_allclose(jit.load(str(tmp_path / "net"))(x).numpy(), expected.numpy(), rtol=1e-5)


def test_explain_names_what_has_changed(monkeypatch):
    static = jit.to_static(of_an_object)
    monkeypatch.setattr(CFG, "k", 2.0)
    static(tensor(1.0))
    monkeypatch.setattr(CFG, "k", 3.0)
    static(tensor(1.0))
    assert "attribute 'k' of Box was 2.0, is 3.0" in static.explain()


def test_negative_zero_and_nan():
    it = Box(k=0.0, n=float("nan"))

    @jit.to_static
    def f(x):
        return x if it.n == it.n else 1.0 / (x * it.k)

    assert f(tensor(1.0)).numpy() == [np.inf]
    it.n = float("nan")
    assert f(tensor(1.0)).numpy() == [np.inf]
    it.k = -0.0
    assert f(tensor(1.0)).numpy() == [-np.inf]
    assert len(f.concrete_programs) == 2


@pytest.mark.parametrize("value", [3, 2.0, "a", b"a", 1j])
def test_attributes_of_numbers_and_texts_of_the_user_s_classes(value):
    def make():
        class Own(type(value)):
            rate = 1.0

            def method(self):
                return 2.0

        it = Own(value)
        it.count, it.total = 0, None

        def function(x):
            it.count += 1
            if x.sum() > 0:
                it.total = x.sum()
            return x * it.count * it.rate * it.method()

        return it, Own, function

    (it, own, function), (wanted, own_wanted, eager) = make(), make()
    static = jit.to_static(function)
    for change in (
        lambda it, own: None, lambda it, own: setattr(own, "rate", 5.0), lambda it, own: setattr(own, "method", lambda self: 7.0),
        lambda it, own: setattr(it, "count", 100), lambda it, own: setattr(it, "rate", 9.0),
    ):  # fmt: skip
        change(it, own)
        change(wanted, own_wanted)
        for sign in (1.0, -1.0):
            np.testing.assert_array_equal(static(tensor(sign)).numpy(), eager(tensor(sign)).numpy())
        assert it.count == wanted.count
        assert float(it.total) == float(wanted.total)


@pytest.mark.parametrize("cls", [types.SimpleNamespace, argparse.Namespace])
@pytest.mark.parametrize("read", [
    lambda a, b: len(str(a)), lambda a, b: len(f"{a}"), lambda a, b: len(str({"k": a})), lambda a, b: 2 if a == b else 3,
    lambda a, b: 2 if a in [b] else 3,
], ids=["str", "f-string", "inside", "equal", "in"])  # fmt: skip
def test_namespaces_as_a_whole(cls, read):
    a, b = cls(k=1), cls(k=1)
    static = jit.to_static(lambda x: x * read(a, b))
    for name, value in (("k", 1), ("k", 12345), ("k", 1), ("more", 2)):
        setattr(a, name, value)
        assert static(tensor(1.0)).numpy() == read(a, b)


def test_keys_of_an_argument_that_are_equal_and_not_the_same():
    static = jit.to_static(lambda x, d: x.astype("int32") * next(iter(d)))
    for d in ({1: 0}, {1.0: 0}, {True: 0}):
        assert static(tensor(2.0), d).dtype == (tensor(2.0).astype("int32") * next(iter(d))).dtype


def test_flags_that_a_call_changes():
    class Mode(enum.Flag):
        A = 1
        B = 2
        C = 4

    def function(x, it):
        if it.mode & Mode.B:
            x = x + 1
        if Mode.A in it.mode:
            x = x + 10
        it.mode ^= Mode.B
        if x.sum() > 5:
            it.mode = ~it.mode
        return x

    found, wanted = Box(mode=None), Box(mode=None)
    static = jit.to_static(lambda x: function(x, found))
    for mode in (Mode.A, Mode.A | Mode.C, Mode.C, Mode.B, None):
        if mode is not None:
            found.mode = wanted.mode = mode
        np.testing.assert_array_equal(static(tensor(1.0)).numpy(), function(tensor(1.0), wanted).numpy())
        assert found.mode is wanted.mode


def test_what_super_finds():
    class First:
        rate = 1.0

        def method(self):
            return self.rate

        @property
        def prop(self):
            return 2.0

        @classmethod
        def of_class(cls):
            return 3.0

    class Between(First):
        pass

    class Last(Between):
        def method(self):
            return super().method() + 1

        @property
        def prop(self):
            return super().prop + 1

        @classmethod
        def of_class(cls):
            return super().of_class() + 1

    it = Last()

    def f(x):
        return x * it.method() + it.prop * Last.of_class()

    static = jit.to_static(f)
    for change in (
        lambda: None, lambda: setattr(First, "method", lambda self: 5.0), lambda: setattr(First, "prop", property(lambda self: 7.0)),
        lambda: setattr(First, "of_class", classmethod(lambda cls: 9.0)), lambda: setattr(Between, "method", lambda self: 11.0),
    ):  # fmt: skip
        change()
        np.testing.assert_array_equal(static(tensor(1.0)).numpy(), f(tensor(1.0)).numpy())
    assert len(static.concrete_programs) == 5


@pytest.mark.parametrize(("first", "second", "read"), [
    (range(0, 3, 2), range(0, 4, 2), lambda v: v.stop),
    (frozenset({1}), frozenset({1.0}), lambda v: next(iter(v)) / 2 if isinstance(next(iter(v)), float) else 7),
    (slice(0, 2), slice(False, 2), lambda v: 1 if v.start is False else 2),
    (0j, -0j, lambda v: np.copysign(1.0, v.real)),
    (np.float32(0.0), np.float32(-0.0), lambda v: float(np.copysign(1.0, v))),
    (np.zeros(2), -np.zeros(2), lambda v: float(np.copysign(1.0, v[0]))),
    ({1}, {True}, lambda v: 3 if next(iter(v)) is True else 5),
], ids=["range", "frozenset", "slice", "complex", "float32", "array", "set"])  # fmt: skip
def test_values_that_are_equal_and_not_the_same(first, second, read):
    it = Box(k=first)
    static = jit.to_static(lambda x: x * read(it.k))
    for value in (first, second, first):
        it.k = value
        assert static(tensor(1.0)).numpy() == read(value)


def test_eager_mode_is_as_before():
    jit.enable_to_static(False)
    try:
        check(jit.to_static(of_an_object), of_an_object, putting(CFG, k=4.0), traces=0)
    finally:
        jit.enable_to_static(True)
    assert dy2st.in_dynamic_mode()
