"""Attributes that users set on tensors: read at each call, and state of the functions that set them."""

import argparse

import numpy as np
import pytest
from guarding import require_same_in_turn, tensor

from dy2st import Parameter, Tensor, jit, nn
from dy2st.errors import StagedValueError, StructureError
from dy2st.static import InputSpec


def values(x):
    return x.numpy().tolist()


def test_attributes_are_read_at_each_call():
    w = Parameter(np.array([1.0, 2.0], np.float32))
    w.rate, w.options = 2.0, {"scale": 1.0}

    @jit.to_static
    def f(x):
        return x * w.rate * w.options["scale"] * w.mask if w.need_clip else x * w.rate

    w.mask = tensor(1.0, 0.0)
    assert values(f(tensor(1.0, 1.0))) == [2.0, 0.0]
    w.rate, w.options["scale"] = 3.0, 2.0
    assert values(f(tensor(1.0, 1.0))) == [6.0, 0.0]
    w.mask = tensor(0.0, 1.0)
    assert values(f(tensor(1.0, 1.0))) == [0.0, 6.0]
    w.need_clip = False
    assert values(f(tensor(1.0, 1.0))) == [3.0, 3.0]


def test_an_attribute_of_a_parameter_of_a_layer():
    class Scaled(nn.Layer):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(2, 2)
            self.fc.weight.scale = 2.0

        def forward(self, x):
            return self.fc(x) * self.fc.weight.scale

    eager = Scaled()
    static = Scaled()
    static.set_state_dict(eager.state_dict())
    static = jit.to_static(static)
    x = tensor([1.0, 2.0])
    for scale in (2.0, 3.0, 4.0, 3.0):
        eager.fc.weight.scale = static.fc.weight.scale = scale
        np.testing.assert_allclose(static(x).numpy(), eager(x).numpy(), rtol=1e-5)


def test_attributes_that_are_set_are_state():
    def make():
        w = Parameter(np.array([1.0, 2.0], np.float32))
        w.count, w.last = 0, None

        def f(x):
            w.count = w.count + 1
            if x.sum() > 0:
                w.last = x * 2
            return x * w.count

        return w, f

    eager, f = make()
    static, g = make()
    g = jit.to_static(g)
    for x in (tensor(1.0, 2.0), tensor(-1.0, -2.0), tensor(3.0, 4.0)):
        assert values(f(x)) == values(g(x))
        assert static.count == eager.count
        assert values(static.last) == values(eager.last)


def test_a_new_attribute_with_a_value_of_the_run():
    w = Parameter(np.array([1.0, 2.0], np.float32))

    @jit.to_static
    def f(x):
        w.last = x * 2
        return x * w

    for numbers in ([1.0, 2.0], [3.0, 4.0]):
        assert values(f(tensor(*numbers))) == values(tensor(*numbers) * w)
        assert values(w.last) == [2 * n for n in numbers]


def test_a_new_attribute_under_a_name_that_no_code_has_is_refused():
    w, parts = Parameter(np.array([1.0, 2.0], np.float32)), ["la", "st"]

    @jit.to_static
    def f(x):
        object.__setattr__(w, "".join(parts), x * 2)
        return x * w

    with pytest.raises(StagedValueError, match="the attribute 'last', which a tensor outside does not have yet") as caught:
        f(tensor(1.0, 2.0))
    assert caught.value.location is not None
    assert not hasattr(w, "last")


# ---- tensors of the call ----
def mark(t, value=3):
    t.flag = value


class Marking(nn.Layer):
    def mark(self, t):
        t.flag = 2

    def forward(self, x):
        y = x * 2
        if x.sum() > 0:
            self.mark(y)
        return y


marking = Marking()


def given_a_result(x):
    y = x * 2
    y.flag, y.mask = 3, x > 0
    return [y, y], {"mask": y.mask}


def given_a_result_by_a_helper_in_some_runs(x):
    y = x * 2
    if x.sum() > 0:
        mark(y)
    return y, hasattr(y, "flag")


def given_a_result_by_a_method_in_some_runs(x):
    return marking(x)


def given_an_argument(x):
    mark(x, x * 2)
    return x.flag + 1


def given_an_argument_in_some_runs(x):
    if x.sum() > 0:
        mark(x, 5)
    return x * 2


def set_in_some_runs(x):
    x.flag = None
    if x.sum() > 0:
        mark(x, x.sum())
    return x * 2


def given_a_local_of_a_branch(x):
    y = x * 2
    for i in range(3):
        if y.sum() > i:
            z = y + i
            mark(z, i)
            y = y + z.flag
    return y


def changed_in_a_loop(x):
    y = x.clone()
    y.flag = 1
    for v in x:
        if v > 0:
            y.flag = y.flag + 1
            break
    return y


def by_names_of_the_run(x):
    y = x * 2
    setattr(y, "fl" + "ag", 7)
    if x.sum() > 0:
        delattr(y, "flag")
    return y, hasattr(y, "flag")


def given_to_an_item_by_a_helper(x):
    rows = [x * 2, x]
    if x.sum() > 0:
        mark_first(rows)
    return hasattr(rows[0], "flag")


def mark_first(rows):
    rows[0].flag = True


def given_by_a_function_inside(x):
    y = x * 2

    def inner():
        y.flag = True

    if x.sum() > 0:
        inner()
    return hasattr(y, "flag")


class Holding:
    def __init__(self, t):
        self.t = t

    def mark(self):
        self.t.flag = True


def given_to_an_attribute(x):
    held = Holding(x * 2)
    if x.sum() > 0:
        held.mark()
    return hasattr(held.t, "flag")


def given_in_a_python_loop(x):
    rows = {"a": (x * 2, x * 3)}
    if x.sum() > 0:
        for t in rows["a"]:
            t.flag = True
    return [hasattr(t, "flag") for t in rows["a"]]


def shown(result):
    if isinstance(result, (list, tuple)):
        return [shown(r) for r in result]
    if isinstance(result, dict):
        return {k: shown(v) for k, v in result.items()}
    if not isinstance(result, Tensor):
        return result
    return values(result), {n: shown(getattr(result, n)) for n in ("flag", "mask") if hasattr(result, n)}


@pytest.mark.parametrize("f", [
    given_a_result, given_a_result_by_a_helper_in_some_runs, given_a_result_by_a_method_in_some_runs, given_an_argument,
    given_an_argument_in_some_runs, set_in_some_runs, given_a_local_of_a_branch, changed_in_a_loop, by_names_of_the_run,
    given_to_an_item_by_a_helper, given_by_a_function_inside, given_to_an_attribute, given_in_a_python_loop,
])  # fmt: skip
def test_what_tensors_of_the_call_are_given(f):
    static = jit.to_static(f)
    for numbers in ([1.0, 2.0], [-1.0, -2.0], [4.0, 1.0]):
        seen = []
        for g in (f, static):
            x = tensor(*numbers)
            seen.append((shown(g(x)), shown(x)))
        assert seen[0] == seen[1]


def test_results_with_attributes_are_saved_without_them(tmp_path):
    @jit.to_static
    def f(x):
        y = x * 2
        y.mask = x > 0
        return y

    jit.save(f, str(tmp_path / "f"), input_spec=[InputSpec([2], "float32", "x")])
    loaded = jit.load(str(tmp_path / "f"))
    assert values(loaded(tensor(1.0, -2.0))) == [2.0, -4.0]


def test_a_tensor_outside_that_a_helper_gives_an_attribute_in_some_runs():
    kept = tensor(1.0)

    @jit.to_static
    def f(x):
        if x.sum() > 0:
            mark(kept)
        return x * kept

    f(tensor(-1.0))
    assert not hasattr(kept, "flag")
    f(tensor(1.0))
    assert kept.flag == 3


KEPT = tensor(1.0)


def mark_kept():
    KEPT.flag = 3


def given_a_global(x):
    if x.sum() > 0:
        KEPT.flag = 3
    return hasattr(KEPT, "flag")


def given_a_global_by_a_helper(x):
    if x.sum() > 0:
        mark_kept()
    return hasattr(KEPT, "flag")


@pytest.mark.parametrize("f", [given_a_global, given_a_global_by_a_helper])
@pytest.mark.parametrize("numbers", [(1.0, -1.0, 1.0), (-1.0, 1.0, -1.0)])
def test_a_global_tensor_that_is_given_an_attribute_in_some_runs(f, numbers):
    seen = []
    for g in (f, jit.to_static(f)):
        vars(KEPT).pop("flag", None)
        seen.append([(g(tensor(n)), getattr(KEPT, "flag", None)) for n in numbers])
    vars(KEPT).pop("flag", None)
    assert seen[0] == seen[1]


def test_a_class_of_a_library_that_a_helper_gives_an_attribute_in_some_runs():
    @jit.to_static
    def f(x):
        if x.sum() > 0:
            mark(argparse.Namespace)
        return x

    with pytest.raises(StructureError, match="class 'Namespace' gets or loses the attribute 'flag' under a condition on tensors"):
        f(tensor(-1.0))
    assert not hasattr(argparse.Namespace, "flag")


def mark_in_place(t, by):
    t.add_(by)
    t.mark = t.sum() * 2


def marked_behind_a_change_in_place(x):
    y = x * 2
    y.mark = y.sum()
    if x.sum() > 0:
        mark_in_place(y, x)
    return y, y.mark


def marked_in_a_loop(x):
    y = x * 2
    y.mark = y.sum()
    for row in x:
        mark_in_place(y, row)
        if row > 1:
            del y.mark
            y.mark = row
    return y, y.mark


def marked_by_name_of_another(x):
    ys = [x * 2, x * 3]
    for y in ys:
        y.mark = x.sum()
    if x.sum() > 0:
        mark_in_place(ys[1], x)
    return ys[0].mark, ys[1].mark, ys[1]


@pytest.mark.parametrize("function", [marked_behind_a_change_in_place, marked_in_a_loop, marked_by_name_of_another])
def test_what_functions_give_tensors_that_they_have_changed_in_place(function):
    static = jit.to_static(function)
    for x in (tensor(1.0, 2.0), tensor(-1.0, -2.0), tensor(0.5, 2.0, 3.0)):
        for a, b in zip(function(x), static(x), strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-6)


def marking_in_some_runs(kept):
    def f(x):
        if x.sum() > 0:
            mark_in_place(kept, x)
        return kept * 1

    return f


def test_a_tensor_outside_that_is_changed_in_place_and_given_an_attribute():
    found = []
    for wrap in (lambda f: f, jit.to_static):
        kept = tensor(1.0, 2.0)
        kept.mark = kept.sum()
        f = wrap(marking_in_some_runs(kept))
        for x in (tensor(1.0, 2.0), tensor(-1.0, -2.0), tensor(3.0, 2.0)):
            found.append((f(x).numpy(), kept.numpy(), kept.mark.numpy()))
    require_same_in_turn(found, rtol=1e-6)


def test_an_attribute_of_the_caller_s_that_only_some_runs_set():
    @jit.to_static
    def f(x):
        if x.sum() > 0:
            mark(x)
        return x * 2

    f(tensor(-1.0))
    x = tensor(-1.0)
    x.flag = 1
    with pytest.raises(StructureError, match="has an attribute 'flag', which the static function"):
        f(x)
    assert x.flag == 1


def test_tensors_have_their_own_way_to_be_set_when_a_trace_has_ended():
    @jit.to_static
    def f(x):
        y = x * 2
        y.mark = 1
        return y * y.mark

    f(tensor(1.0))
    assert not {"__setattr__", "__delattr__"} & vars(Tensor).keys()


def named_inside(x):
    y = x * 2
    y.name = "twice"
    return x * len(y.name)


def test_names_of_tensors_of_the_call():
    for _ in range(2):
        np.testing.assert_array_equal(jit.to_static(named_inside)(tensor(1.0, 2.0)).numpy(), [5, 10])


OUTSIDE = tensor(1.0, 2.0)


def names_one_outside(x):
    OUTSIDE.name = "fresh"
    return x * OUTSIDE


def names_one_outside_on_a_path(x):
    if x.sum() > 0:
        OUTSIDE.name = "fresh"
    return x * OUTSIDE


def names_an_argument(x):
    x.name = "fresh"
    return x * 2


@pytest.mark.parametrize("function", [names_one_outside, names_one_outside_on_a_path, names_an_argument])
def test_names_of_tensors_outside(function):
    before = OUTSIDE.name
    with pytest.raises(StagedValueError, match="a tensor outside gets a name"):
        jit.to_static(function)(tensor(1.0, 2.0))
    assert OUTSIDE.name == before


def kept_beside_it(x):
    if not hasattr(x, "cached"):
        x.cached = x * 2
    return x + x.cached


def counted(x):
    x.seen = getattr(x, "seen", 0) + 1
    return x * x.seen


@pytest.mark.parametrize("function", [kept_beside_it, counted], ids=lambda f: f.__name__)
def test_what_an_earlier_call_has_given_an_argument(function):
    """The trace has asked for it where it was not there yet."""
    static = jit.to_static(function)
    x = tensor(1.0)
    np.testing.assert_array_equal(static(x).numpy(), function(tensor(1.0)).numpy())
    with pytest.raises(StructureError, match=r"has an attribute '(cached|seen)', which the static function"):
        static(x)
    np.testing.assert_array_equal(static(tensor(2.0)).numpy(), function(tensor(2.0)).numpy())
