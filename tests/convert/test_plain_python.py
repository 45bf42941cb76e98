"""Without tensors the functions of `convert` are plain Python: same results, same order of evaluation, same exceptions."""

import pytest

from dy2st import convert as dy
from dy2st.convert.values.trees import flatten, paths, unflatten
from dy2st.errors import UndefinedError


def trace(log, value):
    def thunk():
        log.append(value)
        return value

    return thunk


@pytest.mark.parametrize("values", [(1, 0, 2), (0, 1), (1, 2, 3), ("", [], 0), (None, 1)])
def test_and_or_evaluate_as_far_as_python(values):
    for function, stop in ((dy.and_, False), (dy.or_, True)):
        log = []
        result = function(*[trace(log, v) for v in values])
        seen = []
        expected = values[0]
        for v in values:
            seen.append(v)
            expected = v
            if bool(v) is stop:
                break
        assert (result, log) == (expected, seen)


@pytest.mark.parametrize(
    ("first", "pairs", "expected", "evaluated"),
    [
        (1, [("<", 2), ("<", 3)], True, [2, 3]),
        (1, [(">", 2), ("<", 3)], False, [2]),
        (3, [("in", (3,)), ("!=", 4)], True, [(3,), 4]),
    ],
)
def test_compare_chain(first, pairs, expected, evaluated):
    log = []
    assert dy.compare_chain(first, [(op, trace(log, v)) for op, v in pairs]) is expected
    assert log == evaluated


def test_not_in_and_is_none():
    assert dy.not_([]) is True
    assert dy.in_(1, [1, 2]) is True
    assert dy.not_in("a", {"b": 1}) is True
    assert dy.is_none(None) is True
    assert dy.is_none(0) is False


def test_if_and_loops_run_what_python_runs():
    log = []
    dy.if_stmt(1, lambda: log.append("body"), lambda: log.append("else"), tuple, lambda s: None, ())
    assert dy.if_expr([], lambda: 1, lambda: 2) == 2
    count = [0]

    def body():
        count[0] += 1

    dy.while_stmt(lambda: count[0] < 3, body, tuple, lambda s: None, ())
    dy.for_stmt("ab", log.append, None, tuple, lambda s: None, ())
    dy.for_stmt([1, 2, 3], log.append, lambda: 2 not in log, tuple, lambda s: None, ())
    assert count == [3]
    assert log == ["body", "a", "b", 1, 2]


def test_undefined_names_itself():
    value = dy.Undefined("x")
    with pytest.raises(UndefinedError, match="local variable 'x' is read where it has no value"):
        dy.ld(value, "x")
    assert dy.ld(3, "x") == 3
    assert isinstance(dy.ldu(lambda: [][0], "a[0]"), dy.Undefined)
    assert dy.ldu(lambda: 5, "a") == 5


def test_lists_keep_their_identity():
    a = [1]
    assert dy.list_append(a, 2) is a
    assert dy.list_extend(a, [3, 4]) is a
    assert dy.list_insert(a, 0, 0) is a
    b, last = dy.list_pop(a)
    assert b is a
    assert dy.setitem(a, 0, 9) is a
    assert dy.delitem(a, slice(1, 3)) is a
    assert (a, last) == ([9, 3], 4)
    assert dy.list_clear(a) == []


class Recorder:
    """A class of the user with methods that are named as those of lists."""

    def __init__(self):
        self.seen = []

    def append(self, x):
        self.seen.append(x)


def test_methods_of_other_classes_are_called():
    r = Recorder()
    assert dy.list_append(r, 1) is r
    assert r.seen == [1]


def test_assert():
    dy.assert_stmt(True, None)
    with pytest.raises(AssertionError, match="why"):
        dy.assert_stmt(0, lambda: "why")


def helper(x, *, k=1):
    return x + k


class Callable:
    def __call__(self, x):
        return helper(x)

    @classmethod
    def make(cls):
        return cls()


def test_call_converts_what_is_callable():
    import functools

    assert dy.call(helper)(1, k=2) == 3
    assert dy.call(functools.partial(helper, 1))(k=5) == 6
    assert dy.call(Callable())(1) == 2
    assert isinstance(dy.call(Callable.make)(), Callable)
    assert dy.call(len)([1, 2]) == 2
    assert dy.call(max)(1, 3, 2) == 3
    assert dy.call(max)([1, 3, 2], key=lambda v: -v) == 1
    assert dy.call(sum)([1, 2], 3) == 6
    assert list(dy.call(zip)([1], [2])) == [(1, 2)]
    assert dy.call(round)(1.25, 1) == round(1.25, 1)
    assert dy.call(dict)(a=1) == {"a": 1}
    assert dy.call([].append) is not None


def test_structures():
    value = {"a": [1, (2, 3)], "b": None}
    leaves, tree = flatten(value)
    assert leaves == [1, 2, 3, None]
    assert unflatten(tree, leaves) == value
    assert paths(tree, "v") == ["v['a'][0]", "v['a'][1][0]", "v['a'][1][1]", "v['b']"]
