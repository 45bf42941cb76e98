"""What `to_static` takes besides functions and layers, and what it leaves as it is."""

import functools
import sys
import types
import warnings

import numpy as np
import pytest

from dy2st import jit
from dy2st.convert.pyfacts import foreign
from dy2st.errors import DTypeError, InplaceError, StagedValueError
from dy2st.jit import InputSpec
from dy2st.tensor import Tensor


def scaled(factor, x, power=1.0):
    if x.sum() > 0:
        x = x * factor
    return x**power


class Scale:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return x * self.factor if x.sum() > 0 else x


def test_a_partial_of_a_function_is_one_of_the_static_function():
    static = jit.to_static(functools.partial(scaled, 3.0, power=2.0))
    for values in ([1.0, 2.0], [-1.0, -2.0]):
        expected = scaled(3.0, Tensor(values), 2.0)
        np.testing.assert_allclose(static(Tensor(values)).numpy(), expected.numpy())
    assert len(static.func.concrete_programs) == 1
    with pytest.raises(DTypeError, match="partial") as caught:
        jit.to_static(functools.partial(scaled, 3.0), [InputSpec([None])])
    assert "partial(to_static(f, input_spec), ...)" in caught.value.hint


def test_an_object_is_static_by_its_call():
    scale = Scale(2.0)
    static = jit.to_static(scale)
    assert static(Tensor([1.0])).item() == 2
    assert static(Tensor([-1.0])).item() == -1
    assert len(static.concrete_programs) == 1
    scale.factor = 5.0
    assert static(Tensor([1.0])).item() == 5


NOT_STATIC = [(functools.lru_cache(scaled), "without lru_cache"), (len, "function of your own"), (Scale, "__call__")]


@pytest.mark.parametrize(("what", "hint"), NOT_STATIC)
def test_what_cannot_be_static_is_an_error_with_a_hint(what, hint):
    with pytest.raises(DTypeError, match="to_static takes") as caught:
        jit.to_static(what)
    assert hint in caught.value.hint


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "left_alone.py").write_text(
        "def sign(x):\n    return x if x.sum() > 0 else -x\n\n\ndef double(x):\n    return x * 2\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(foreign, "ignored_modules", set())
    import left_alone

    yield left_alone
    del sys.modules["left_alone"]


@pytest.mark.parametrize("by_name", [False, True])
def test_functions_of_ignored_modules_run_as_they_are(module, by_name):
    def f(x):
        return module.sign(module.double(x))

    assert jit.to_static(f)(Tensor([-1.0])).item() == 2
    jit.ignore_module([module.__name__ if by_name else module])
    fresh = types.FunctionType(f.__code__, f.__globals__, "fresh", closure=f.__closure__)

    def g(x):
        return module.double(x) + 1

    assert jit.to_static(g)(Tensor([-1.0])).item() == -1
    # what was converted before stays so; what is met now runs as Python, where a condition needs a value
    module.sign.__dict__.pop("_dy2st_converted", None)
    with pytest.raises(StagedValueError):
        jit.to_static(fresh)(Tensor([-1.0]))


def test_ignoring_a_package_ignores_what_is_in_it(monkeypatch):
    monkeypatch.setattr(foreign, "ignored_modules", set())
    jit.ignore_module(["some_package"])
    assert foreign.is_foreign("some_package.models.parts")
    assert not foreign.is_foreign("some_package_of_another_name")


def python_values(x):
    return x * 2, 5, {"name": "a", "x": x + 1}


def test_saving_names_the_python_values_that_are_left_out(tmp_path):
    with pytest.warns(UserWarning, match="jit.save") as caught:
        jit.save(python_values, tmp_path / "m", [InputSpec([None, 2])])
    assert len(caught) == 1
    assert "result[1] = 5; result[2]['name'] = 'a'" in str(caught[0].message)
    assert caught[0].filename == __file__
    outs = jit.load(tmp_path / "m")(Tensor([[1.0, 2.0]]))
    assert [o.numpy().tolist() for o in outs] == [[[2.0, 4.0]], [[2.0, 3.0]]]


def test_saving_tensors_only_warns_of_nothing(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jit.save(lambda x: (x * 2, [x + 1]), tmp_path / "m", [InputSpec([None, 2])])


class Holder:
    def __init__(self):
        self.weight = None


def test_a_parameter_is_not_copied_while_tracing():
    import copy

    from dy2st.tensor import Parameter

    held = Holder()
    held.weight = Parameter(np.ones(2, "float32"))
    with pytest.raises(StagedValueError, match="would be copied once"):
        jit.to_static(lambda x: x * copy.deepcopy(held.weight))(Tensor([1.0, 2.0]))


def test_deep_copies_in_a_loop_where_no_gradient_can_flow():
    import copy

    from dy2st.tensor import Parameter
    from dy2st.tensor.autograd import no_grad

    weight = Parameter(np.full(2, 2.0, "float32"))

    @jit.to_static
    def search(x, n):
        state, best, rows = {"h": x * 1}, None, []
        for _ in range(n):
            state["h"] = state["h"] * weight
            rows.append(state["h"])
            if best is None or state["h"].sum() < 5:
                best = copy.deepcopy(state)
        state["h"] += 1
        return best, state, copy.deepcopy(rows)

    x, n = Tensor([0.5, 1.0]), Tensor(np.array(3))
    with no_grad():
        best, state, rows = search(x, n)
    np.testing.assert_array_equal(best["h"].numpy(), [1.0, 2.0])
    np.testing.assert_array_equal(state["h"].numpy(), [5.0, 9.0])
    np.testing.assert_array_equal([r.numpy() for r in rows], [[1.0, 2.0], [2.0, 4.0], [4.0, 8.0]])
    with pytest.raises(InplaceError, match="only leaf tensors can be deep-copied"):
        search(x, n)
