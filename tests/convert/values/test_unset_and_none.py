"""What has no value, or is None or a number, raises what it raises in eager mode where it is used."""

# ruff: noqa: B007, F821, F841 (that is what it is about)

import heapq
import sys

import pytest

from dy2st import Tensor, jit


def read_first_on_both_paths_of_a_loop(x):
    for v in x:
        if v > 0:
            return found
        found.append(v)
    found = x


def two_that_wait_for_each_other(x):
    for v in x:
        one = other if v > 0 else one
        other = one


def none_or_a_list_or_nothing(x):
    best = None
    for v in x:
        last = last if x.sum() > 0 else best
        best = []


def list_or_nothing(x):
    if x.sum() > 100:
        found = []
    elif x.sum() > 0:
        pass
    else:
        found = [1] if x.max() > -1 else []
    same = found


def records_or_nothing(x):
    if x.sum() > 100:
        found = [(x, 1)] if x.max() > 0 else []
    elif x.sum() < 0:
        found = [(x * 2, 2)]
    return len(found)


def state_of_a_recursion(x):
    if x.sum() > 100:
        y = x * 2

    def visit(k):
        if k > 0:
            y[0] = 1.0
            visit(k - 1)

    visit(x.shape[0] + x.argmax())


def global_that_is_appended_to(x):
    if x.sum() > 0:
        nobody.append(x)


def global_whose_item_is_set(x):
    for v in x:
        nobody["k"] = v


def global_that_is_added_to(x):
    global nobody
    for v in x:
        nobody += v


def global_whose_item_is_added_to(x):
    for v in x:
        nobody[0] += v


def global_whose_attribute_is_set(x):
    for v in x:
        nobody.h = v


READERS = [
    read_first_on_both_paths_of_a_loop, two_that_wait_for_each_other, none_or_a_list_or_nothing, list_or_nothing, records_or_nothing,
    state_of_a_recursion, global_that_is_appended_to, global_whose_item_is_set, global_that_is_added_to, global_whose_item_is_added_to,
    global_whose_attribute_is_set,
]  # fmt: skip


@pytest.mark.parametrize("function", READERS, ids=lambda f: f.__name__)
def test_reading_it_is_a_name_error(function):
    for f in (function, jit.to_static(function)):
        with pytest.raises(NameError):
            f(Tensor([1.0, 2.0]))
    assert "nobody" not in globals()


def number_that_is_indexed(x):
    return int(x.sum())[0]


def loop_variable_that_is_indexed(x, n):
    for i in range(n):
        pass
    return i[0]


def number_whose_item_is_set(x):
    total = float(x.sum())
    if x.max() > 0:
        total[0] = 1.0
    return x


@pytest.mark.parametrize("function", [number_that_is_indexed, loop_variable_that_is_indexed, number_whose_item_is_set])
def test_numbers_have_no_items(function):
    arguments = [Tensor([1.0, 2.0]), Tensor(2)][: function.__code__.co_argcount]
    messages = []
    for f in (function, jit.to_static(function)):
        with pytest.raises(TypeError) as caught:
            f(*arguments)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def perhaps(x):
    return x if x.sum() > 100 else None


def ndim_of_none(x):
    return perhaps(x).ndim


def dtype_of_none(x):
    return x * (perhaps(x).dtype == x.dtype)


def stop_gradient_of_none(x):
    return x * perhaps(x).stop_gradient


def named_attribute_of_none(x):
    return getattr(perhaps(x), "ndim")  # noqa: B009


def length_of_none(x):
    return x * len(perhaps(x))


def loop_over_none(x):
    for v in perhaps(x):
        x = x + v
    return x


def items_of_a_set(x):
    rows = [v for v in x if v > 0]
    return {rows}


def heap_of_a_tensor(x):
    heapq.heapify(x)


ERRORS = [
    ndim_of_none, dtype_of_none, stop_gradient_of_none, named_attribute_of_none, length_of_none, loop_over_none, heap_of_a_tensor,
    # since Python 3.14 the text tells of the class of what is no key, which is ours while a function is traced: refused
    *([items_of_a_set] if sys.version_info < (3, 14) else []),
]  # fmt: skip


@pytest.mark.parametrize("function", ERRORS, ids=lambda f: f.__name__)
def test_the_error_is_that_of_python(function):
    messages = []
    for f in (function, jit.to_static(function)):
        with pytest.raises((TypeError, AttributeError)) as caught:
            f(Tensor([1.0, 2.0]))
        messages.append((type(caught.value), str(caught.value)))
    assert messages[0] == messages[1]
