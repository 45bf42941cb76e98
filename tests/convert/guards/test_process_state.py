"""What the process, libraries and classes say of themselves, changed between calls: each call finds it as it is."""

import abc
import decimal
import enum
import gc
import inspect
import logging
import sys
import warnings

import numpy as np
import pytest

import dy2st as paddle
from dy2st import jit, nn
from dy2st.errors import EagerStatementWarning, StagedValueError

LOGGER = logging.getLogger("dy2st.tests.of_the_process")


class Meta(type):
    k = 2.0


class WithMeta(metaclass=Meta):
    pass


class Kind(enum.Enum):
    ONE = 1


class Abstract(abc.ABC):  # noqa: B024
    pass


class First:
    """First."""


class Second:
    more = 3.0


class Third(First):
    pass


class Net(nn.Layer):
    pass


IT, NET = Third(), Net()
BEFORE = []


def put(owner, name, value):
    """Sets an attribute for the rest of a test."""
    BEFORE.append((owner, name, getattr(owner, name)))
    setattr(owner, name, value)


def named(x):
    """Named."""
    return x


named.__signature__ = inspect.signature(named)


READ = {
    "metaclass": (lambda x: x * WithMeta.k, lambda put: put(Meta, "k", 5.0)),
    "member_of_an_enum": (lambda x: x * Kind.ONE.weight, lambda put: put(Kind.ONE, "weight", 5.0)),
    "member_by_its_name": (lambda x: x * Kind["ONE"].weight, lambda put: put(Kind.ONE, "weight", 5.0)),
    "member_by_its_value": (lambda x: x * Kind(1).weight, lambda put: put(Kind.ONE, "weight", 5.0)),
    "members_in_turn": (lambda x: x * sum(k.weight for k in Kind), lambda put: put(Kind.ONE, "weight", 5.0)),
    "bases": (lambda x: x * hasattr(IT, "more"), lambda put: put(Third, "__bases__", (Second,))),
    "name_of_a_function": (lambda x: x * len(named.__name__), lambda put: put(named, "__name__", "another")),
    "text_of_a_function": (lambda x: x * len(named.__doc__), lambda put: put(named, "__doc__", "Other one.")),
    "annotations": (lambda x: x * len(named.__annotations__), lambda put: put(named, "__annotations__", {"x": 1})),
    "signature": (lambda x: x * len(inspect.signature(named).parameters), lambda put: put(named, "__signature__", inspect.signature(put))),
    "name_of_a_class": (lambda x: x * len(type(IT).__name__), lambda put: put(Third, "__name__", "Fourth1")),
    "name_of_the_class_of_a_layer": (lambda x: x * len(type(NET).__name__), lambda put: put(Net, "__name__", "Other1")),
    "text_of_a_class": (lambda x: x * len(First.__doc__), lambda put: put(First, "__doc__", "Another one.")),
    "function_of_this_package": (lambda x: paddle.tanh(x), lambda put: put(paddle, "tanh", lambda x: x * 9)),
    "function_of_a_module_in_it": (lambda x: nn.functional.relu(x), lambda put: put(nn.functional, "relu", lambda x: x * 9)),
    "number_in_a_library": (lambda x: x * np.pi, lambda put: put(np, "pi", 3.0)),
    "arguments_of_the_process": (lambda x: x * len(sys.argv), lambda put: put(sys, "argv", ["a", *sys.argv, "b"])),
    "argument_that_is_added": (lambda x: x * len(sys.argv), lambda put: put(sys, "argv", [*sys.argv, "more"])),
    "level_of_a_logger": (lambda x: x * LOGGER.level, lambda put: put(LOGGER, "level", 33)),
    "level_that_counts": (lambda x: x * LOGGER.getEffectiveLevel(), lambda put: put(LOGGER.parent, "level", 33)),
    "limit_of_recursion": (lambda x: x * sys.getrecursionlimit(), lambda put: sys.setrecursionlimit(sys.getrecursionlimit() + 1)),
    "errors_of_numpy": (lambda x: x * (np.geterr()["over"] == "raise"), lambda put: np.seterr(over="raise")),
    "filters_of_warnings": (lambda x: x * len(warnings.filters), lambda put: put(warnings, "filters", warnings.filters[1:])),
    "threads": (lambda x: x * paddle.get_num_threads(), lambda put: paddle.set_num_threads(1 + paddle.get_num_threads() % 2)),
    "dtype": (lambda x: x * (paddle.get_default_dtype() == "float64"), lambda put: paddle.set_default_dtype("float64")),
}


@pytest.fixture(autouse=True)
def as_before():
    limit, threads, dtype, errors = sys.getrecursionlimit(), paddle.get_num_threads(), paddle.get_default_dtype(), np.geterr()
    Kind.ONE.weight = 2.0
    yield
    for owner, name, value in reversed(BEFORE):
        setattr(owner, name, value)
    BEFORE.clear()
    sys.setrecursionlimit(limit)
    paddle.set_num_threads(threads)
    paddle.set_default_dtype(dtype)
    np.seterr(**errors)


@pytest.mark.parametrize("name", READ)
def test_each_call_finds_what_is_there(name):
    f, change = READ[name]
    static, x = jit.to_static(f), paddle.to_tensor([1.0, 2.0])
    before = static(x).numpy()
    np.testing.assert_allclose(before, f(x).numpy(), rtol=1e-6)
    change(put)
    found = static(x).numpy()
    np.testing.assert_allclose(found, f(x).numpy(), rtol=1e-6)
    assert not np.array_equal(before, found)
    static(x)
    assert len(static.concrete_programs) == 2


def test_the_level_of_a_logger_decides():
    def f(x):
        return x * 2 if LOGGER.isEnabledFor(logging.DEBUG) else x

    static, x = jit.to_static(f), paddle.ones([1])
    assert static(x).numpy() == [1.0]
    put(LOGGER, "level", logging.DEBUG)
    LOGGER.manager._clear_cache()
    assert static(x).numpy() == [2.0]


def test_classes_that_are_registered_or_defined_between_calls():
    class Later:
        pass

    class Base:
        pass

    it = Later()

    def f(x):
        return x * (1 + isinstance(it, Abstract)), x * (1 + issubclass(Later, (int, Abstract))), x * len(Base.__subclasses__())

    static, x = jit.to_static(f), paddle.ones([1])
    assert [t.numpy().item() for t in static(x)] == [1.0, 1.0, 0.0]
    Abstract.register(Later)
    assert [t.numpy().item() for t in static(x)] == [2.0, 2.0, 0.0]
    defined = type("Defined", (Base,), {})
    assert [t.numpy().item() for t in static(x)] == [2.0, 2.0, 1.0]
    assert defined.__mro__[1] is Base


@pytest.mark.parametrize("function", ["decimal.getcontext", "gc.isenabled"])
def test_what_keeps_its_state_to_itself_is_refused(function):
    def f(x):
        return x * (decimal.getcontext().prec if function.startswith("decimal") else gc.isenabled())

    with pytest.raises(StagedValueError, match="would be called once, while tracing"):
        jit.to_static(f)(paddle.ones([1]))


def test_the_name_of_a_tensor():
    """Of what the call computes it is another one than in eager mode: docs/reference/language.md says which one."""
    outside = paddle.ones([1])
    outside.name = "first"

    def f(given):
        return (given * 2).name, outside.name

    static = jit.to_static(f)
    computed, known = static(paddle.ones([1]))
    assert known == "first"
    outside.name = "second"
    assert static(paddle.ones([1])) == (computed, "second")


def test_wide_numbers_of_numpy_become_python_s():
    """Said in docs/reference/language.md: eagerly they stay numbers of NumPy."""
    static = jit.to_static(lambda x: (np.float64(0.1) if x.sum() > 0 else np.float64(3), np.int64(2) if x.sum() > 0 else np.int64(5)))
    for values, expected in (([1.0], (0.1, 2)), ([-1.0], (3.0, 5))):
        found = static(paddle.to_tensor(values))
        assert found == expected
        assert [type(v) for v in found] == [float, int]


@pytest.mark.parametrize("full_graph", [False, True])
def test_the_name_of_an_argument(full_graph):
    def f(given):
        return given * len(given.name)

    x = paddle.ones([1])
    x.name = "four"
    static = jit.to_static(f, full_graph=full_graph)
    if full_graph:
        with pytest.raises(StagedValueError, match="the name of an argument"):
            static(x)
    else:
        with pytest.warns(EagerStatementWarning, match="the name of an argument"):
            assert static(x).item() == 4


def test_where_the_output_goes_is_no_reason_to_trace_again(capsys):
    def f(x):
        sys.stdout.write("said\n")
        return x

    static = jit.to_static(f)
    static(paddle.ones([1]))
    with capsys.disabled():
        static(paddle.ones([1]))
    static(paddle.ones([1]))
    assert len(static.concrete_programs) == 1
