"""Objects of the user's classes derived from dict, list, set and deque that a static function makes and gives out, or keeps: what they hold
is that of the call, also where code of their classes has run."""

import collections
import dataclasses
from typing import Any

import numpy as np
import pytest

import dy2st as paddle
from dy2st import Tensor, jit, nn, to_tensor


class AttrDict(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name, value):
        self[name] = value

    def put(self, name, value):
        self[name] = value
        return self


class Ordered(collections.OrderedDict):
    def first(self):
        return next(iter(self.values()))


class Stack(list):
    @property
    def last(self):
        return self[-1]

    def push(self, value):
        self.append(value)


class Window(collections.deque):
    def put(self, value):
        self.append(value)


@dataclasses.dataclass
class Output(collections.OrderedDict):
    """As libraries of models have them: items and fields are one."""

    loss: Any = None
    logits: Any = None

    def __post_init__(self):
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value is not None:
                self[field.name] = value

    def to_tuple(self):
        return tuple(self[key] for key in self)


class Own(dict):
    def __init__(self, **items):
        super().__init__(**items)
        self.__dict__ = self


@dataclasses.dataclass
class Items(list):
    name: Any = None


def attribute_dict(x):
    o = AttrDict(logits=x * 2)
    o.loss = x.mean()
    return o, o.logits + o.loss


def filled_by_a_method(x):
    return AttrDict(a=x).put("b", x * 2)


def changed_in_a_branch(x):
    o = AttrDict(y=x)
    if x.sum() > 0:
        o.y = x * 3
    return o


def ordered_dict(x):
    o = Ordered(y=x * 2, z=x)
    return o, o.first()


def stack(x):
    items = Stack([x])
    items.push(x * 2)
    return items, items.last


def window(x):
    items = Window([x], 2)
    items.put(x * 2)
    return list(items)


def output_of_a_model(x):
    return Output(logits=x * 2)


def parts_of_an_output(x):
    o = Output(logits=x * 2, loss=x.sum())
    return o.to_tuple(), o.logits if o.loss > 0 else o["logits"] + 1, len(o), list(o)


def dataclass_of_a_list(x):
    o = Items(name=x)
    o.append(x * 2)
    return o, o.name


def same(a, b):
    assert type(a) is type(b)
    if isinstance(a, Tensor):
        assert not b.is_symbolic
        np.testing.assert_allclose(a.numpy(), b.numpy())
        return
    if isinstance(a, dict):
        assert list(a) == list(b)
        same(list(dict.values(a)), list(dict.values(b)))
    elif isinstance(a, (list, tuple, collections.deque)):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            same(x, y)
    else:
        assert a == b
    if hasattr(a, "__dict__"):
        same(vars(a), vars(b))


@pytest.mark.parametrize("function", [
    attribute_dict, filled_by_a_method, changed_in_a_branch, ordered_dict, stack, window, output_of_a_model, parts_of_an_output,
    dataclass_of_a_list,
], ids=lambda f: f.__name__)  # fmt: skip
def test_given_out(function):
    static = jit.to_static(function)
    for values in ([1.0, 2.0], [-1.0, -2.0], [3.0, 1.0]):
        same(function(to_tensor(values)), static(to_tensor(values)))


def test_a_dict_of_its_own_attributes():
    def function(x):
        o = Own(y=x)
        o.z = x * 2
        if x.sum() > 0:
            o.y = o.y * 3
        return o, o["y"]

    x = to_tensor([1.0, 2.0])
    (found, y), (wanted, wanted_y) = jit.to_static(function)(x), function(x)
    same(y, wanted_y)
    same(list(found.values()), list(wanted.values()))
    found.w = 5
    assert list(found) == ["y", "z", "w"]


def test_kept():
    class Net(nn.Layer):
        def __init__(self):
            super().__init__()
            self.last, self.history = None, Stack()

        def forward(self, x):
            self.last = Output(logits=x * 2)
            self.history.push(AttrDict(total=x.sum()).put("y", x))
            return x + self.last.logits

    eager, static = Net(), paddle.jit.to_static(Net())
    for values in ([1.0, 2.0], [-1.0, -2.0]):
        same(eager(to_tensor(values)), static(to_tensor(values)))
        same(eager.last, static.last)
        same(eager.history, static.history)


def test_an_output_as_an_argument():
    def function(x, o):
        o["loss"] = x
        o.logits = x * 3
        return o["logits"], o.logits, o["loss"]

    given = [Output(logits=to_tensor(2.0)) for _ in range(2)]
    x = to_tensor([1.0, 2.0])
    same(function(x, given[0]), jit.to_static(function)(x, given[1]))
    same(*given)


def written(x, c):
    c.y = x * 2
    return x


def written_in_a_branch(x, c):
    if x.sum() > 0:
        c.y = x * 2
    c.n = c.n + 1
    return x * c.n


def deleted(x, c):
    c.z = x
    del c.z
    return x


@pytest.mark.parametrize("function", [written, written_in_a_branch, deleted], ids=lambda f: f.__name__)
def test_attributes_that_are_items_by_methods_of_dict(function):
    """Which code of C writes to, where nobody sees an item assigned."""

    class Dotted(dict):
        __getattr__, __setattr__, __delattr__ = dict.__getitem__, dict.__setitem__, dict.__delitem__

    given = [Dotted(n=1, y=0) for _ in range(2)]
    static = jit.to_static(lambda x: function(x, given[1]))
    for values in ([1.0, 2.0], [-1.0, -2.0], [3.0, 1.0]):
        same(function(to_tensor(values), given[0]), static(to_tensor(values)))
        same(*map(dict, given))


class LongList(list):
    def __len__(self):
        return 50


class OwnList(list):
    def __iter__(self):
        return super().__iter__()


class OwnDict(dict):
    def __iter__(self):
        return super().__iter__()

    def __len__(self):
        return 7


@pytest.mark.parametrize("function", [
    lambda x, long, own, table: x * len(long),
    lambda x, long, own, table: x * sum(own),
    lambda x, long, own, table: [x + v for v in own],
    lambda x, long, own, table: x * len(table) + sum(table[key] for key in table),
    lambda x, long, own, table: own.append(3) or x * len(own),
], ids=["len", "sum", "loop", "dict", "append"])  # fmt: skip
def test_classes_with_a_length_and_iterators_of_their_own(function):
    """What looks for containers asks these for nothing."""
    given = [(LongList([1, 2]), OwnList([1, 2]), OwnDict(a=1)) for _ in range(2)]
    static = jit.to_static(lambda x: function(x, *given[1]))
    for _ in range(2):
        same(function(to_tensor([1.0, 2.0]), *given[0]), static(to_tensor([1.0, 2.0])))
    assert list(given[0][1]) == list(given[1][1])


class LowerCase(dict):
    def get(self, key, default=None):
        return super().get(key.lower(), default)


class Counting(dict):
    hits = misses = 0

    def get(self, key, default=None):
        if key in self:
            self.hits += 1
        else:
            self.misses += 1
        return super().get(key, default)


class Everything(list):
    def __contains__(self, value):
        return True


def set_in_a_dict(x, d):
    d["b"] = x
    return x


def found_in_a_cache(x, d):
    y = d.get("a")
    if y is None:
        y = d["a"] = x * 2
    return y


def contained(x, items):
    list.append(items, x)
    return x * (1 if 5 in items else 2)


@pytest.mark.parametrize(("function", "cls"), [(set_in_a_dict, LowerCase), (found_in_a_cache, Counting), (contained, Everything)])
def test_methods_of_the_user_s_are_called_where_the_user_calls_them(function, cls):
    given = [cls() for _ in range(2)]
    static = jit.to_static(lambda x: function(x, given[1]))
    for values in ([1.0, 2.0], [-1.0, -2.0], [3.0, 1.0]):
        same(function(to_tensor(values), given[0]), static(to_tensor(values)))
        assert vars(given[0]) == vars(given[1])
