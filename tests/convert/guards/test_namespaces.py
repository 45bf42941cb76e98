"""Variables of modules and what classes have, read and set by a key, in a list of names, through a reference: `convert.spaces`."""

import sys

import by_keys
import numpy as np
import pytest
from by_keys import called, put_back

import dy2st as paddle
from dy2st import jit
from dy2st.convert.guards.namespaces import Spaces
from dy2st.errors import Dy2stError, StagedValueError, StructureError


@pytest.fixture(autouse=True)
def as_it_was():
    put_back()
    yield
    put_back()


@pytest.mark.parametrize("name", by_keys.READ)
def test_what_is_read_in_another_way_than_by_its_name(name):
    f, change = by_keys.READ[name]
    found = called(jit.to_static(f), change)
    assert found == called(f, change)
    assert found[0] != found[-1]


@pytest.mark.parametrize("f", by_keys.CHANGING)
def test_what_is_changed_in_another_way_than_by_its_name(f):
    assert called(jit.to_static(f), lambda: None) == called(f, lambda: None)


@pytest.mark.parametrize("f", [by_keys.new_variable, by_keys.new_variable_on_a_path, by_keys.deleted])
def test_variables_that_come_and_go(f):
    assert called(jit.to_static(f), lambda: None) == called(f, lambda: None)
    assert hasattr(by_keys.MODULE, "EXTRA") == (f is not by_keys.deleted)


def test_to_set_one_variable_is_no_reason_to_trace_again_when_another_one_changes():
    static = jit.to_static(by_keys.counted)
    for value in (1.0, 2.0):
        vars(by_keys.MODULE)["EXTRA"] = value
        static(paddle.ones([2]))
        assert 2.0 + value == by_keys.SCALE
    assert len(static.concrete_programs) <= 2  # the variable itself becomes an input with the second one


@pytest.mark.parametrize(("f", "variable"), [(by_keys.executed, "SCALE"), (by_keys.executed_anew, "EXTRA")])
def test_what_a_call_would_not_set_is_refused(f, variable):
    before = dict(vars(by_keys.MODULE))
    with pytest.raises(StagedValueError, match=f"variable '{variable}' of module by_keys is set, or deleted") as caught:
        jit.to_static(f)(paddle.ones([2]))
    assert "by_keys.py" in str(caught.value)
    assert dict(vars(by_keys.MODULE)) == before


@pytest.mark.parametrize("f", [by_keys.keeps_from_globals, by_keys.keeps_from_a_name, by_keys.keeps_from_modules])
def test_a_list_is_not_kept_as_a_copy(f):
    with pytest.raises(StructureError, match="kept elsewhere too"):
        jit.to_static(f)(paddle.ones([2]))


def test_a_number_that_has_become_an_input():
    """The second trace has an input for it, which stands in the module while the function is traced."""
    static = jit.to_static(by_keys.evaluated)
    for value in (2.0, 3.0, 4.0, 5.0):
        vars(by_keys.MODULE)["SCALE"] = value
        assert static(paddle.ones([1])).numpy() == [value]
    assert by_keys.SCALE == 5.0


def test_a_key_that_only_the_run_knows():
    with pytest.raises(Dy2stError):
        jit.to_static(by_keys.key_of_the_run)(paddle.zeros([2]))


WITHOUT_SOURCE = """
def attribute(k, x):
    return x * (2 if hasattr(k, "flag") else 1)

def caught(k, x):
    try:
        return x * k.flag
    except AttributeError:
        return x

def listed(k, x):
    return x * len([n for n in dir(k) if n == "flag"])

def truth(k, x):
    return x * (2 if k else 1)

class Without:
    pass
"""


@pytest.mark.parametrize(("name", "attribute"), [("attribute", "flag"), ("caught", "flag"), ("listed", "flag"), ("truth", "__len__")])
@pytest.mark.parametrize("named", [True, False])
def test_attributes_of_classes_in_code_without_source(name, attribute, named):
    space = {"__name__": "of_a_text"} if named else {}
    exec(WITHOUT_SOURCE, space)
    function, it = space[name], space["Without"]()

    def f(x):
        return function(it, x)

    static = jit.to_static(f)
    expected = [f(paddle.ones([1])).numpy(), static(paddle.ones([1])).numpy()]
    setattr(space["Without"], attribute, (lambda self: 0) if attribute == "__len__" else 3)
    found = [f(paddle.ones([1])).numpy(), static(paddle.ones([1])).numpy()]
    assert expected[0] == expected[1]
    assert found[0] == found[1]
    assert not np.array_equal(expected, found)


def test_an_import_in_the_function_sets_no_variable():
    namespace, spaces = {"__name__": "package", "a": 1}, Spaces()
    spaces.note(namespace)
    namespace["inner"] = sys
    namespace["__annotations__"] = {}
    assert spaces.put_back([]) is None
    assert namespace["inner"] is sys
    namespace.update(a=2, b=3)
    assert spaces.put_back([(id(namespace), "a")]) == "variable 'b' of module package"
    assert "b" not in namespace
    assert namespace["a"] == 2
    assert spaces.put_back([]) == "variable 'a' of module package"
    assert namespace["a"] == 1


def test_an_attribute_that_is_called_as_a_namespace():
    class Net(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.modules = paddle.nn.LayerList([paddle.nn.Linear(2, 2), paddle.nn.ReLU(), paddle.nn.Tanh()])
            self.vars = {"k": 2.0}

        def forward(self, x, n):
            vars = self.vars
            for i in range(n):
                x = self.modules[i](x)
            return self.modules[0](x) * vars["k"] * self.__dict__["vars"].get("k") * len(self.modules[1:])

    paddle.seed(0)  # with two weights of seven hundred a result near zero is a difference of large numbers
    net, x = Net(), paddle.to_tensor([[1.0, -2.0]])
    static = jit.to_static(net.forward)
    for n in (0, 2, 3):
        np.testing.assert_allclose(static(x, paddle.to_tensor(n)).numpy(), Net.forward(net, x, n).numpy(), rtol=1e-6)


def _kept():
    count = 0

    def put():
        nonlocal count
        count += 1

    return put, lambda: count


PUT, COUNT = _kept()


def test_a_variable_of_a_function_that_a_generator_sets():
    put, count = _kept()

    @jit.to_static
    def f(x):
        def items():
            yield 1
            put()
            yield 2

        for i in items():
            x = x + i
        return x

    for calls in (1, 2, 3):
        assert f(paddle.to_tensor([1.0])).tolist() == [4.0]
        assert count() == calls


@jit.not_to_static
def _putting():
    yield 1
    PUT()
    yield 2


def test_a_variable_of_a_function_that_code_sets_which_runs_as_it_is_is_refused():
    @jit.to_static
    def f(x):
        for i in _putting():
            x = x + i
        return x

    with pytest.raises(StagedValueError, match="variable 'count' of the function around '_kept"):
        f(paddle.to_tensor([1.0]))
    assert COUNT() == 0
