"""Methods of Python's containers that code finds by another name than their own: what they change outside is state all the same."""

import collections
import operator
import types

import numpy as np
import pytest

from dy2st import jit, to_tensor


class Stack(list):
    push = list.append


def helper(owner, name, *args):
    return getattr(owner, name)(*args)


def by_getattr(x, c):
    getattr(c, "append")(x)  # noqa: B009
    return x * len(c)


def by_getattr_in_a_branch(x, c):
    if x.sum() > 0:
        getattr(c, "append")(2)  # noqa: B009
    return x * len(c)


def by_a_helper(x, c):
    helper(c, "append", 4)
    return x * len(c)


def by_the_class(x, c):
    vars(list)["append"](c, 3)
    getattr(list, "extend")(c, [4, 5])  # noqa: B009
    return x * len(c)


def by_operator(x, c):
    operator.methodcaller("append", 3)(c)
    operator.attrgetter("append")(c)(3)
    return x * len(c)


def mapped(x, c):
    list(map(getattr(c, "append"), [1, 2]))  # noqa: B009
    return x * len(c)


def by_an_alias(x, c):
    c.push(x)
    return x * len(c)


def of_a_dict(x, c):
    getattr(c, "update")(k=x)  # noqa: B009
    getattr(dict, "setdefault")(c, "m", 5)  # noqa: B009
    return x * len(c)


def of_a_set(x, c):
    getattr(c, "add")(len(c))  # noqa: B009
    return x * len(c)


@pytest.mark.parametrize(("function", "make"), [
    *((f, lambda: [1]) for f in (by_getattr, by_getattr_in_a_branch, by_a_helper, by_the_class, by_operator, mapped)),
    (by_getattr, lambda: collections.deque([1])), (by_an_alias, Stack), (of_a_dict, lambda: {"a": 1}), (of_a_set, lambda: {5}),
])  # fmt: skip
def test_each_call_does_what_eager_mode_does(function, make):
    c, wanted = make(), make()
    static = jit.to_static(lambda x: function(x, c))
    for value in (1.0, -1.0, 2.0):
        np.testing.assert_array_equal(static(to_tensor([value])).numpy(), function(to_tensor([value]), wanted).numpy())
        found, expected = ([np.asarray(v).tolist() for v in (d.values() if isinstance(d, dict) else d)] for d in (c, wanted))
        assert found == expected


@pytest.mark.parametrize("write", [
    lambda a: np.multiply(a, 2, out=a), lambda a: np.negative(a, out=a), lambda a: np.cumsum(a + 1, out=a), lambda a: np.sqrt(a + 1, a),
    lambda a: a.cumsum(out=a), lambda a: np.concatenate([a[:1] + 1, a[1:] * 2], out=a), lambda a: np.place(a, a > 0, [a[0] + 1]),
    lambda a: a.fill(float(a[0]) + 1),
], ids=["multiply", "negative", "cumsum", "by position", "method", "concatenate", "place", "fill"])  # fmt: skip
def test_arrays_outside_that_numpy_writes_to(write):
    def function(x, a):
        write(a)
        return x * float(a[0])

    found, wanted = np.ones(2, "float32"), np.ones(2, "float32")
    static = jit.to_static(lambda x: function(x, found))
    for value in (1.0, -1.0, 2.0):
        np.testing.assert_array_equal(static(to_tensor([value])).numpy(), function(to_tensor([value]), wanted).numpy())
        np.testing.assert_array_equal(found, wanted)


def test_a_dict_of_attributes_that_is_written_to():
    def function(x, o):
        if x.sum() > 0:
            o.__dict__["k"] = x.sum()
        return x * o.k

    given = [types.SimpleNamespace(k=1.0) for _ in range(2)]
    static = jit.to_static(lambda x: function(x, given[1]))
    for value in (-1.0, 2.0, -3.0):
        np.testing.assert_array_equal(static(to_tensor([value])).numpy(), function(to_tensor([value]), given[0]).numpy())
        assert float(given[0].k) == float(given[1].k)
