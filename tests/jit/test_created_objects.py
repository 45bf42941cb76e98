"""Objects of Python that a call makes and returns or keeps: each call makes its own, whatever was done to that of the call before."""

import collections
import io
import types
from array import array

import numpy as np
import pytest

from dy2st import jit, to_tensor
from dy2st.errors import StagedValueError, StructureError


class Slotted:
    __slots__ = ("mode", "value")

    def __init__(self, value):
        self.value = value


class Rows(list):
    pass


class Named(collections.OrderedDict):
    def __new__(cls, name):
        return super().__new__(cls)

    def __init__(self, name):
        super().__init__()
        self.name = name


def slotted(x):
    return Slotted(x * 2)


def slotted_on_one_path(x):
    found = Slotted(x * 2)
    if x.sum() > 0:
        found.mode = x
    if x.sum() > 5:
        del found.value
    return found


def slotted_without_tensors(x):
    return Slotted(3)


def named(x):
    found = Named("n")
    found["b"], found["a"] = x * 2, 1
    return found


def rows(x):
    found = Rows([x * 2, 1])
    found.total = x.sum()
    return found


def by_default(x):
    found = collections.defaultdict(list)
    found["a"].append(x * 2)
    return found


# what makes it, and what the caller does to it
MADE = {
    "set": (lambda x: {1, 2}, lambda r: r.add(3)),
    "bytearray": (lambda x: bytearray(b"ab"), lambda r: r.append(3)),
    "array of numpy": (lambda x: np.zeros(2), lambda r: r.__setitem__(0, 5)),
    "array": (lambda x: array("i", [1]), lambda r: r.append(2)),
    "file": (lambda x: io.StringIO("ab"), lambda r: r.read(1)),
    "counter": (lambda x: collections.Counter("aab"), lambda r: r.update("a")),
    "defaultdict": (by_default, lambda r: r["b"].append(1)),
    "namespace": (lambda x: types.SimpleNamespace(a=x * 2, b={1}), lambda r: r.b.add(2)),
    "dict of the user": (named, lambda r: r.move_to_end("b")),
    "list of the user": (rows, lambda r: r.append(2)),
    "slots": (slotted, lambda r: setattr(r, "mode", 2)),
    "slots on one path": (slotted_on_one_path, lambda r: setattr(r, "mode", 2)),
    "slots without tensors": (slotted_without_tensors, lambda r: setattr(r, "mode", 2)),
    "in a tuple in a list": (lambda x: [({1, 2}, x)], lambda r: r[0][0].add(3)),
}


def shown(r):
    if isinstance(r, (list, tuple)):
        return type(r), [shown(v) for v in r], vars(r).keys() if hasattr(r, "__dict__") else None
    if isinstance(r, dict):
        return type(r), [(k, shown(v)) for k, v in r.items()], getattr(r, "__dict__", None), getattr(r, "default_factory", None)
    if isinstance(r, types.SimpleNamespace):
        return type(r), shown(vars(r))
    if isinstance(r, Slotted):
        return type(r), shown(r.value), hasattr(r, "mode")
    if isinstance(r, io.StringIO):
        return r.tell(), r.getvalue()
    return type(r), r.tolist() if hasattr(r, "tolist") else r


class Keeper:
    kept = None


@pytest.mark.parametrize(("make", "change"), MADE.values(), ids=MADE)
def test_each_call_makes_its_own(make, change):
    keeper = Keeper()

    def kept(x):
        keeper.kept = (make(x), x.sum())
        return x

    for function, found in ((make, lambda r: r), (kept, lambda r: keeper.kept[0])):
        static = jit.to_static(function)
        earlier = []
        for _ in range(3):
            x = to_tensor([1.0, 2.0])
            expected = shown(found(function(x)))
            result = found(static(x))
            assert shown(result) == expected
            assert all(result is not other for other in earlier)
            earlier.append(result)
            change(result)


def test_two_names_of_one_are_one():
    def f(x):
        found = {1, 2}
        return found, [found], x * 2

    first, (second,), _ = jit.to_static(f)(to_tensor([1.0]))
    assert first is second


def test_what_is_outside_is_handed_on():
    outside, names = np.zeros(2), {1}

    def f(x):
        return outside, names, x * 2

    found = jit.to_static(f)(to_tensor([1.0]))
    assert found[0] is outside
    assert found[1] is names


def iterator(x):
    return x * 2, iter([1, 2])


def iterator_over_tensors(x):
    return map(abs, [x, x * 2])


def function_with_a_list(x):
    rows = [x, x * 2]
    return lambda i: rows[i]


def set_of_tensors(x):
    return {x * 2}


def function_that_counts(x):
    count = 0

    def add():
        nonlocal count
        count += 1
        return count

    return add, x * 2


def function_with_a_list_of_its_own(x):
    seen = []
    return seen.append, x * 2


def class_of_its_own(x):
    class Config:
        scale = 1.0

    return Config, x * 2


def object_of_a_class_with_a_tensor(x):
    class Config:
        scale = 1.0

    if x.sum() > 0:
        Config.scale = 2.0
    return Config(), x * 2


def function_of_a_text_of_a_path(x):
    name = "a" if x.sum() > 0 else "b"
    return lambda: name, x * 2


def function_of_what_a_path_chooses(x):
    def added(f):
        return lambda v: f(v) + 1

    f = lambda v: v * 2  # noqa: E731
    if x.sum() > 0:
        f = added(f)
    if x.max() > 2:
        f = added(f)
    return f, x * 2


def function_of_rows(x):
    rows = [(v, 1) for v in x if v > 0]
    return lambda: rows, x * 2


def function_of_a_filled_text(x):
    name = f"the sum is {x.sum()}"
    return lambda: name, x * 2


@pytest.mark.parametrize(("function", "error", "text"), [
    (function_of_a_text_of_a_path, StagedValueError, "a function with tensors in it cannot be the result of a static function"),
    (function_of_what_a_path_chooses, StagedValueError, "a function with tensors in it cannot be the result of a static function"),
    (function_of_rows, StagedValueError, "a function with tensors in it cannot be the result of a static function"),
    (function_of_a_filled_text, StagedValueError, "a function with tensors in it cannot be the result of a static function"),
    (function_that_counts, StructureError, "a function that is made while tracing would be the same object at each call"),
    (function_with_a_list_of_its_own, StructureError, "would be the same object at each call"),
    (class_of_its_own, StructureError, "class 'Config' that is made while tracing would be the same object at each call"),
    (object_of_a_class_with_a_tensor, StagedValueError, "class 'Config' with tensors in it cannot be the result of a static function"),
    (iterator, StructureError, "an iterator (list_iterator) that a static function makes cannot be its result"),
    (iterator_over_tensors, StagedValueError, "a map with tensors in it cannot be the result of a static function"),
    (function_with_a_list, StagedValueError, "a function with tensors in it cannot be the result of a static function"),
    (set_of_tensors, StagedValueError, "a set with tensors in it cannot be the result of a static function"),
])  # fmt: skip
def test_what_cannot_be_a_result(function, error, text):
    with pytest.raises(error) as caught:
        jit.to_static(function)(to_tensor([1.0, 2.0]))
    assert text in str(caught.value)
    assert function.__name__ in str(caught.value)


def test_a_function_of_a_trace_that_has_got_an_attribute_since():
    def f(x):
        def double(v):
            return v * 2

        return double, x * 2

    static = jit.to_static(f)
    double, _ = static(to_tensor([1.0]))
    assert static(to_tensor([1.0]))[0] is double
    double.name = "mine"
    with pytest.raises(StructureError, match=r"the function 'double', which '.*f' makes and leaves behind, has got attributes"):
        static(to_tensor([1.0]))


def test_a_function_whose_default_tensor_is_another_one_since():
    """It is told by identity: two tensors have no one truth value."""
    weight = to_tensor(np.ones(2, "f"))

    @jit.to_static
    def f(x):
        def add(v, *, by=weight):
            return v + by

        return add, x * 2

    add, _ = f(weight)
    assert f(weight)[0] is add
    add.__kwdefaults__ = {"by": to_tensor(np.ones(2, "f"))}
    with pytest.raises(StructureError, match="has got attributes or other default arguments"):
        f(weight)
