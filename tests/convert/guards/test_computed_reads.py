"""Ways to read what is outside without its name in an expression: texts, functions for each class, modules and patterns that compute."""

import functools
import gc
import sys
import types
import weakref

import numpy as np
from guarding import Box, check, putting

from dy2st import Tensor, jit


def test_getattribute_with_a_name():
    class Scaled:
        def __init__(self):
            self.k = 1.0

        def __getattribute__(self, name):
            return object.__getattribute__(self, "k") * 2 if name == "scaled" else super().__getattribute__(name)

    class Plain:
        pass

    it, other = Scaled(), Plain()
    other.v = 1.0

    def f(x):
        return x * it.scaled * other.__getattribute__("v") * object.__getattribute__(other, "v")

    check(jit.to_static(f), f, putting(it, k=3.0), putting(other, v=5.0))


def test_super_getattribute_with_a_name():
    class Doubled:
        k = 1.0

        def __getattribute__(self, name):
            return super().__getattribute__("k") * 2 if name == "doubled" else super().__getattribute__(name)

    it = Doubled()

    def f(x):
        return x * it.doubled

    check(jit.to_static(f), f, putting(it, k=3.0), putting(Doubled, k=4.0), lambda: vars(it).clear())


def test_classes_that_get_a_function_of_their_own():
    @functools.singledispatch
    def of(value):
        return 1.0

    class Methods:
        @functools.singledispatchmethod
        def of(self, value):
            return 1.0

    it, table, methods = Box(v=1), {"k": 5.0}, Methods()
    methods.k = 2.0

    def f(x):
        return x * of(it.v) * methods.of(it.v)

    check(
        jit.to_static(f), f,
        lambda: of.register(int, lambda value: table["k"]),
        lambda: table.update(k=6.0),
        lambda: vars(Methods)["of"].register(int, lambda self, value: self.k),
        putting(methods, k=3.0),
        putting(it, v=True),
        lambda: of.register(bool, lambda value: 9.0),
        putting(it, v="text"),
    )  # fmt: skip


def test_a_module_that_computes_what_it_has_not(monkeypatch):
    module = types.ModuleType("computing")
    exec("table = {'k': 1.0}\ndef __getattr__(name):\n    return table[name]\n", vars(module))
    monkeypatch.setitem(sys.modules, "computing", module)

    def f(x):
        return x * module.k

    def other():
        module.__getattr__ = lambda name: 8.0

    check(jit.to_static(f), f, lambda: module.table.update(k=2.0), putting(module, k=3.0), lambda: delattr(module, "k"), other)


def test_which_attributes_positional_patterns_are_for():
    class Pair:
        __match_args__ = ("a", "b")

        def __init__(self):
            self.a, self.b = 2.0, 3.0

    pair = Pair()

    def f(x):
        match pair:
            case Pair(first):
                return x * first
        return x

    check(jit.to_static(f), f, putting(Pair, __match_args__=("b",)), putting(Pair, __match_args__=("a", "b")))


def test_what_a_weak_reference_refers_to_is_gone():
    class It:
        k = 2.0

    kept = [It()]
    reference = weakref.ref(kept[0])

    def f(x):
        it = reference()
        return x if it is None else x * it.k

    def leave():
        kept.clear()
        gc.collect()

    check(jit.to_static(f), f, lambda: setattr(kept[0], "k", 3.0), leave)


def test_a_module_that_takes_the_place_of_another(monkeypatch):
    first, second = types.ModuleType("exchanged"), types.ModuleType("exchanged")
    first.k, second.k = 1.0, 2.0
    monkeypatch.setitem(sys.modules, "exchanged", first)

    def f(x):
        import exchanged

        return x * exchanged.k

    check(jit.to_static(f), f, putting(first, k=3.0), lambda: monkeypatch.setitem(sys.modules, "exchanged", second))


def test_the_mask_of_an_array():
    a = np.ma.array([1.0, 2.0], mask=[False, True])

    def f(x):
        return x * float(a.sum())

    check(jit.to_static(f), f, lambda: setattr(a, "mask", [False, False]), lambda: a.__setitem__(0, 3.0))


def test_methods_of_tensors_that_are_replaced(monkeypatch):
    def f(x):
        return x.mean() * x.shape[0]

    check(
        jit.to_static(f), f,
        lambda: monkeypatch.setattr(Tensor, "mean", lambda self: self.sum() * 7),
        monkeypatch.undo,
        traces=2,
    )  # fmt: skip


def test_what_getattr_computes_until_there_is_something():
    class Base:
        table = {"k": 1.0}

        def __getattr__(self, name):
            return self.table[name]

    class It(Base):
        pass

    it = It()

    def f(x):
        return x * it.k

    check(
        jit.to_static(f), f,
        putting(It, k=7.0), lambda: delattr(It, "k"), putting(Base, k=3.0), putting(it, k=5.0), lambda: delattr(it, "k"),
        lambda: delattr(Base, "k"), putting(Base, table={"k": 9.0}),
    )  # fmt: skip
