"""Attributes of objects outside that some calls set or delete: what is there after each call, and what the next one finds."""

import contextlib
import threading
import warnings
from functools import partial
from types import ModuleType, SimpleNamespace

import pytest
from dy2st_runtime import config

from dy2st import jit, nn, to_tensor
from dy2st.errors import EagerStatementWarning, StructureError


class Kept:
    shared = 1

    def put(self, value):
        self.value = value


class Slots:
    __slots__ = ("value",)


def calls(function, numbers=(1.0, -1.0, 2.0, -3.0)):
    """What each call of a function gives, or raises."""
    found = []
    for number in numbers:
        try:
            found.append(function(to_tensor([number])))
        except AttributeError as error:
            found.append(str(error))
    return [float(v) if hasattr(v, "numpy") else v for v in found]


def assert_as_eager(make, state):
    """Eager and static calls of what `make` gives with an object, and the object after each."""
    outcomes = []
    for convert in (lambda f: f, jit.to_static):
        it, seen = make.__defaults__[0](), []
        function = convert(make(it))
        with config.NO_JIT.override(True):
            for number in (-1.0, 2.0, -3.0, 1.0):
                seen.append((calls(function, (number,)), state(it)))
        outcomes.append(seen)
    assert outcomes[0] == outcomes[1]


def attributes(it):
    return {name: float(value) for name, value in vars(it).items()}


def test_an_attribute_that_some_calls_set():
    def make(it=Kept):
        def f(x):
            if x.sum() > 0:
                it.put(x.sum())
            return it.value

        return f

    assert_as_eager(make, attributes)


def test_an_attribute_that_some_calls_delete():
    def make(it=Kept):
        def f(x):
            it.value = 1.0
            if x.sum() > 0:
                del it.value
            return hasattr(it, "value")

        return f

    assert_as_eager(make, attributes)


def test_the_attribute_of_the_class_is_no_attribute_of_the_object():
    def make(it=Kept):
        def f(x):
            if x.sum() > 1:
                it.shared += 1
            return it.shared

        return f

    assert_as_eager(make, attributes)


def test_a_slot_that_some_calls_set():
    def make(it=Slots):
        def f(x):
            if x.sum() > 1:
                it.value = x.sum()
            return getattr(it, "value", 0.5)

        return f

    assert_as_eager(make, lambda it: float(getattr(it, "value", -1)))


def test_an_attribute_that_is_set_under_a_computed_name():
    def make(it=Kept):
        def f(x):
            for name in ("a", "b"):
                setattr(it, name, x.sum() if x.sum() > 0 else x.max() * 2)
            return it.a + it.b

        return f

    assert_as_eager(make, attributes)


def test_a_layer_that_keeps_its_last_input():
    class Keeping(nn.Layer):
        def forward(self, x):
            if x.sum() > 0:
                self.last = x.sum()
            return getattr(self, "last", 9.0)

    outcomes = []
    for convert in (lambda f: f, jit.to_static):
        with config.NO_JIT.override(True):
            outcomes.append(calls(convert(Keeping()), (-1.0, 2.0, -3.0)))
    assert outcomes[0] == outcomes[1] == [9.0, 2.0, 2.0]


def helper(x):
    return x


space = SimpleNamespace()


def test_objects_that_python_cannot_ask_refuse():
    def of_a_class(x):
        if x.sum() > 0:
            Kept.new = 1
        return x

    def of_a_function(x):
        if x.sum() > 0:
            helper.new = 1
        return x

    def of_a_namespace(x):
        if x.sum() > 0:
            space.new = x
        return x

    for function in (of_a_class, of_a_function, of_a_namespace):
        with pytest.raises(StructureError, match="gets or loses the attribute 'new' under a condition"):
            jit.to_static(function)(to_tensor([1.0]))
    assert not hasattr(Kept, "new")
    assert not hasattr(helper, "new")
    assert not hasattr(space, "new")


class Bare:
    def note(self, x):
        type(self).new = x

    @classmethod
    def note_of_class(cls, x):
        cls.new = x


bare = Bare()


def give(owner, value):
    owner.new = value


def without_new(*owners):
    """Those that have no attribute `new`; the others lose it."""
    having = [o for o in owners if hasattr(o, "new")]
    for o in having:
        del o.new
    return [o for o in owners if o not in having]


def test_what_a_helper_gives_classes_modules_and_functions_in_some_runs():
    def of_a_class(x):
        if x.sum() > 0:
            give(Bare, True)
        return x + 1 if hasattr(Bare, "new") else x

    def in_a_loop(x):
        i = x.sum() * 0
        while i < x.sum():
            give(Bare, i)
            i = i + 1
        return x

    def of_an_object(x):
        if x.sum() > 0:
            bare.note(x)
        return x

    def by_a_class_method(x):
        if x.sum() > 0:
            Bare.note_of_class(x)
        return x

    def of_one_in_a_list(x):
        for c in kept:
            if x.sum() > 0:
                give(c, x)
        return x

    def of_a_module(x):
        if x.sum() > 0:
            give(module, x)
        return x + getattr(module, "new", 0)

    def of_a_function_inside(x):
        def inner():
            return x

        if x.sum() > 0:
            give(inner, True)
        return x + 1 if hasattr(inner, "new") else inner()

    kept, module = [Bare], ModuleType("module")
    for function in (of_a_class, in_a_loop, of_an_object, by_a_class_method, of_one_in_a_list, of_a_module, of_a_function_inside):
        with pytest.raises(StructureError, match=r"(gets or loses the attribute|the global variable) 'new' .*under a condition"):
            jit.to_static(function)(to_tensor([1.0]))
        assert without_new(Bare, module) == [Bare, module]
        for number in (-1.0, 2.0, -1.0):
            found = []
            for called in (function, jit.to_static(function, full_graph=False)):
                with warnings.catch_warnings(), config.NO_JIT.override(True):
                    warnings.simplefilter("ignore", EagerStatementWarning)
                    found.append((called(to_tensor([number])).tolist(), without_new(Bare, module)))
            assert found[0] == found[1], function.__name__


@pytest.mark.parametrize("owner", [
    Bare, bare, helper, space, partial(helper), bare.note, ModuleType("module"), to_tensor([1.0]), ValueError("x"), threading.local(),
])  # fmt: skip
def test_what_is_missing_at_one_call_is_found_at_the_next(owner):
    def asked(x):
        return x + 1 if hasattr(owner, "new") else x

    def with_a_default(x):
        return x + getattr(owner, "new", 0)

    def tried(x):
        try:
            return x + owner.new
        except AttributeError:
            return x

    def suppressed(x):
        with contextlib.suppress(AttributeError):
            x = x + owner.new
        return x

    holder = getattr(owner, "__func__", owner)
    for function in (asked, with_a_default, tried, suppressed):
        static = jit.to_static(function)
        with config.NO_JIT.override(True):
            for _ in range(2):
                assert static(to_tensor([1.0])).item() == 1
                holder.new = 1
                assert static(to_tensor([1.0])).item() == 2
                del holder.new


@pytest.mark.parametrize("later", [False, True])
def test_what_the_caller_has_given_an_argument_is_not_seen(later):
    def asked(x):
        return x + 1 if hasattr(x, "new") else x

    def with_a_default(x):
        return x + getattr(x, "new", 0)

    def read(x):
        return x + x.new

    def tried(x):
        try:
            return x + x.new
        except AttributeError:
            return x

    x = to_tensor([1.0])
    x.new = 1
    for function in (asked, with_a_default, tried) if later else (asked, with_a_default, tried, read):
        static = jit.to_static(function)
        with config.NO_JIT.override(True):
            if later:
                assert static(to_tensor([1.0])).item() == 1
            with pytest.raises(StructureError, match="argument 'x' has an attribute 'new', which the static function") as caught:
                static(x)
            assert caught.value.location.text.strip() == "static(x)"
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", EagerStatementWarning)
                assert jit.to_static(function, full_graph=False)(x).item() == 2


def give_a_value():
    global given
    given = 1


def test_a_global_that_some_calls_would_give_its_value():
    def f(x):
        if x.sum() > 0:
            give_a_value()
        return x

    with pytest.raises(StructureError, match="the global variable 'given' gets or loses its value under a condition"):
        jit.to_static(f)(to_tensor([1.0]))
    assert "given" not in globals()


def test_the_class_is_as_before_afterwards():
    before = dict(vars(Kept))

    def f(x):
        it = Kept()
        if x.sum() > 0:
            it.put(x)
        return hasattr(it, "value")

    with config.NO_JIT.override(True):
        assert jit.to_static(f)(to_tensor([1.0]))
    assert dict(vars(Kept)) == before


def test_defaults_of_a_function_that_a_branch_sets():
    @jit.to_static
    def f(x):
        def scaled(y=x, *, by=1):
            return y * by

        if x.sum() > 0:
            scaled.__defaults__ = (x * 2,)
        else:
            scaled.__kwdefaults__ = {"by": x}
        return scaled()

    assert f(to_tensor([1.0, 2.0])).tolist() == [2.0, 4.0]
    assert f(to_tensor([-1.0, -2.0])).tolist() == [1.0, 4.0]
