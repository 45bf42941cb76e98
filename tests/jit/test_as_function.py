"""A static function is what the function is that it stands for: what it is called with, its attributes, its object, its copies."""

import copy
import dataclasses
import functools
import inspect
from typing import Any

import numpy as np
import pytest
from dy2st_runtime import config

from dy2st import Tensor, jit, nn, to_tensor
from dy2st.jit import InputSpec


@pytest.fixture(autouse=True)
def interpreted():
    with config.NO_JIT.override(True):
        yield


def both(make):
    """What `make` gives with functions as they are, and with static ones."""
    return make(lambda f: f), make(jit.to_static)


def tensor(*values):
    return to_tensor(np.array(values, "float32"))


def plain(x):
    if isinstance(x, Tensor):
        return x.numpy().tolist()
    return [plain(v) for v in x] if isinstance(x, (list, tuple)) else x


def assert_as_eager(make):
    eager, static = both(make)
    assert plain(static) == plain(eager)


def scaled(f):
    """Gives the function an argument that its caller does not."""

    @functools.wraps(f)
    def wrapper(x, *args, **kwargs):
        return f(x, 2.0, *args, **kwargs)

    return wrapper


def repeated(f):
    """Takes a keyword that the function does not have."""

    @functools.wraps(f)
    def wrapper(*args, times=1, **kwargs):
        for _ in range(times):
            args = (f(*args, **kwargs), *args[1:])
        return args[0]

    return wrapper


def told(f):
    """Tells which arguments have come by name."""

    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return f(*args, **kwargs), len(args), sorted(kwargs)

    return wrapper


def test_what_a_decorator_inside_is_called_with():
    def make(convert):
        @convert
        @scaled
        def injected(x, scale, shift=1.0):
            return x * scale if x.sum() > 0 else x + shift

        @convert
        @repeated
        def step(x, k=2.0):
            return x * k if x.sum() > 0 else x - k

        @convert
        @told
        def shown(x, k=1.0, *, bias=0.0):
            return x * k + bias if x.sum() > 0 else x

        found = []
        for x in (tensor(1.0, 2.0), tensor(-1.0, -2.0)):
            found += [injected(x), injected(x, shift=3.0), step(x), step(x, times=3), step(x, 3.0, times=2)]
            found += [shown(x), shown(x, 2.0), shown(x, k=2.0), shown(x, bias=1.0, k=3.0)]
        return found

    assert_as_eager(make)


class Told(nn.Layer):
    @jit.to_static
    @told
    def forward(self, x, mask=None):
        return x * 2 if mask is None else x * mask


def test_inputs_have_the_names_of_the_function_inside_a_decorator():
    layer = Told()
    layer(tensor(1.0), tensor(2.0))
    assert [v.name for v in layer.forward.concrete_program.inputs] == ["x", "mask"]
    static = jit.to_static(told(lambda x, y: x + y), input_spec=[InputSpec([2]), InputSpec([2])])
    assert [v.name for v in static.concrete_program.inputs] == ["x", "y"]


def test_attributes_of_the_function():
    def marked(f):
        f.is_stage, f.scale = True, 2.0
        return f

    def make(convert):
        class Net:
            @convert
            @marked
            def up(self, x):
                return x * Net.up.scale if x.sum() > 0 else x

            @convert
            def down(self, x):
                return x / 2

        net = Net()
        Net.down.cost = 3
        stages = [name for name in ("up", "down") if hasattr(getattr(net, name), "is_stage")]
        x = tensor(1.0)
        found = [net.up(x), stages, net.up.scale, net.down.cost]
        Net.up.scale = 5.0
        return [*found, net.up(x), net.up.scale]

    assert_as_eager(make)
    with pytest.raises(AttributeError, match="'plain' has no attribute 'absent'"):
        _ = jit.to_static(plain).absent


def test_methods_have_their_objects_and_are_equal_as_those_of_python():
    def make(convert):
        class Net:
            def __init__(self, k):
                self.k = k

            @convert
            def f(self, x):
                return x * self.k

            @convert
            def g(self, x):
                return x + self.k

        one, other = Net(2.0), Net(3.0)
        steps = [one.f, one.g, one.f]
        steps.remove(one.f)
        return [
            one.f == one.f, one.f == other.f, one.f == one.g, one.f != one.g, one.f in steps, len({one.f, one.g, one.f, other.f}),
            one.f.__self__ is one, one.f.__func__ is Net.f, hasattr(Net.f, "__self__"), Net.f == Net.f, Net.f == Net.g, Net.f == 1,
            [f(tensor(1.0)) for f in steps],
        ]  # fmt: skip

    assert_as_eager(make)


def test_a_method_in_a_class_is_not_bound_again():
    def make(convert):
        class Net:
            def __init__(self, k):
                self.k = k

            @convert
            def f(self, x):
                return x * self.k if x.sum() > 0 else x

        class Other:
            k = 7.0
            f = Net(2.0).f

        return [Other().f(tensor(1.0)), Other.f(tensor(3.0))]

    assert_as_eager(make)


def test_default_arguments():
    def make(convert):
        @convert
        def f(x, k=2.0):
            return x * k if x.sum() > 0 else x

        @convert
        def g(x, seen=[], k=2.0, /):  # noqa: B006
            seen.append(len(seen))
            return x * k + len(seen) if x.sum() > 0 else x

        @convert
        def h(x, seen=[], *rest):  # noqa: B006
            seen.append(len(rest))
            return x + len(seen), len(rest)

        x = tensor(1.0, 2.0)
        found = [f(x), f.__defaults__, g(x), g(x, [7]), g(x, [], 3.0), g(x), h(x), h(x, [1], 2, 3), h(x)]
        f.__defaults__ = (5.0,)
        return [*found, f(x), f.__defaults__, str(inspect.signature(f))]

    assert_as_eager(make)


class Scaled(nn.Layer):
    def __init__(self):
        super().__init__()
        self.scale = 1.0

    def forward(self, x):
        return x * self.scale if x.sum() > 0 else x - self.scale


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copies_of_a_layer(copied):
    def make(convert):
        layer = convert(Scaled())
        other = copied(layer)
        other.scale = 3.0
        return [layer(tensor(1.0)), other(tensor(1.0)), other.forward(tensor(-1.0)), layer.forward(tensor(-1.0))]

    assert_as_eager(make)


def test_a_method_of_a_dataclass_gives_its_object():
    def make(convert):
        @dataclasses.dataclass
        class State:
            h: Any
            steps: int = 0

            @convert
            def step(self, x):
                self.h = self.h + x if self.steps % 2 == 0 else self.h - x
                self.steps += 1
                return self

        state = State(tensor(0.0))
        x = tensor(2.0)
        chained = state.step(x).step(x).step(x)
        return [chained is state, State.step(state, x) is state, state.h, state.steps]

    assert_as_eager(make)


def test_what_python_says_of_arguments_that_do_not_fit():
    def make(convert):
        class Net:
            @convert
            def scaled(self, x, *, k):
                return x * k

        @convert
        def f(x, y=1):
            return x * y

        found, g = [], Net().scaled
        for function, args, kwargs in ((f, "", {}), (f, "abc", {}), (f, "a", {"z": 2}), (f, "a", {"x": 2}), (g, "a", {}), (g, "ab", {})):
            with pytest.raises(TypeError) as caught:
                function(*args, **kwargs)
            found.append(str(caught.value))
        return found

    assert_as_eager(make)
