"""The order of the keys of dicts outside, and of what layers and objects have: a call leaves it as it is eagerly, and the next finds it."""

from types import SimpleNamespace

import pytest
from dy2st_runtime import config

from dy2st import jit, nn, to_tensor

NUMBERS = (-1.0, 2.0, 3.0, -2.0)


def orders(make, convert):
    d = {"a": 1.0, "b": 2.0}
    f, found = convert(make(d)), []
    with config.NO_JIT.override(True):
        for number in NUMBERS:
            result = f(to_tensor([number]))
            found.append((list(d), float(result)))
    return found


def assert_as_eager(make):
    assert orders(make, jit.to_static) == orders(make, lambda f: f)


def test_a_key_that_is_moved():
    def make(d):
        def f(x):
            d["a"] = d.pop("a")
            return x * 1

        return f

    assert_as_eager(make)


def test_a_key_that_is_moved_on_one_path():
    def make(d):
        def f(x):
            if x.sum() > 0:
                d["a"] = d.pop("a")
            else:
                d["b"] = d.pop("b")
            return x * 1

        return f

    assert_as_eager(make)


def test_a_dict_that_is_filled_anew():
    def make(d):
        def f(x):
            d.clear()
            d.update({"b": 1.0, "a": 2.0})
            return x * 1

        return f

    assert_as_eager(make)


def test_a_key_that_comes_before_a_raise_is_behind_the_others():
    def make(d):
        def f(x):
            try:
                try:
                    if x.sum() > 2:
                        d["new"] = 3.0
                        raise ValueError
                    d["b"] = 4.0
                    if x.sum() > 1:
                        raise KeyError
                except ValueError:
                    d["b"] = 5.0
                    raise
            except (ValueError, KeyError):
                x = x * 2
            return x * 1

        return f

    assert_as_eager(make)


def test_an_order_that_changes_between_calls_is_another_trace():
    d = {"a": 1.0, "b": 2.0}

    def first(x):
        return x * next(iter(d.values()))

    with config.NO_JIT.override(True):
        f = jit.to_static(first)
        assert float(f(to_tensor(1.0))) == 1.0
        d["a"] = d.pop("a")
        assert float(f(to_tensor(1.0))) == 2.0


def test_explain_names_what_a_loop_runs_over():
    @jit.to_static
    def f(x):
        for key in {"a": 1}:
            x = x + len(key)
        return x

    f(to_tensor([1.0]))
    assert "it runs over a Python dict" in f.explain()


class Step(nn.Layer):
    def __init__(self, factor, summand):
        super().__init__()
        self.factor, self.summand = factor, summand

    def forward(self, x):
        return x * self.factor + self.summand


class Parts(nn.Layer):
    def __init__(self):
        super().__init__()
        self.one, self.two = Step(2.0, 1.0), Step(3.0, 5.0)
        self.p, self.q = (self.create_parameter([1], default_initializer=nn.initializer.Constant(v)) for v in (2.0, 7.0))
        self.k, self.m = 2.0, 3.0
        self.named = nn.LayerDict({"k": Step(2.0, 1.0), "m": Step(3.0, 5.0)})
        self.listed = nn.Sequential(("k", Step(2.0, 1.0)), ("m", Step(3.0, 5.0)))
        self.said = SimpleNamespace(k=1, m=2)

    def forward(self, x, way):
        return way(self, x)

    def change(self):
        for name in ("one", "p", "k"):
            value = getattr(self, name)
            delattr(self, name)
            setattr(self, name, value)
        self.named["k"] = self.named.pop("k")
        step = self.listed["k"]
        del self.listed["k"]
        self.listed.add_sublayer("k", step)
        self.said.__dict__["k"] = self.said.__dict__.pop("k")


def sublayers_in_turn(parts, x):
    for name, layer in parts.named_children():
        x = layer(x) if name in ("one", "two") else x
    return x


def parameters_in_turn(parts, x):
    for p in parts.parameters():
        x = x * 2 + p
    return x


def attributes_in_turn(parts, x):
    for value in vars(parts).values():
        x = x * 2 + value if type(value) is float else x
    return x


def layers_of_a_dict(parts, x):
    for key in parts.named:
        x = parts.named[key](x)
    return x


def layers_of_a_sequence(parts, x):
    return parts.listed(x)


def text_of_an_object(parts, x):
    return x, str(parts.said)


WAYS = [sublayers_in_turn, parameters_in_turn, attributes_in_turn, layers_of_a_dict, layers_of_a_sequence, text_of_an_object]


@pytest.mark.parametrize("way", WAYS, ids=lambda f: f.__name__)
def test_what_a_layer_has_changes_its_order_between_calls(way):
    found = []
    for convert in (lambda f: f, jit.to_static):
        parts = Parts()
        f = convert(parts)
        with config.NO_JIT.override(True):
            found.append([])
            for _ in range(3):
                found[-1].append(repr(f(to_tensor([1.0]), way)))
                parts.change()
    assert found[0] == found[1]
    assert len(set(found[0])) == 2
