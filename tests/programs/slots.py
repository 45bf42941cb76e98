"""Special methods of Python's numbers and texts that are called by their names, and the subclasses that call those of their base."""

import functools
import itertools
import operator

import numpy as np


class Key(str):
    def __eq__(self, other):
        return bool(super().__eq__(other))

    __hash__ = str.__hash__


class Near(float):
    def __eq__(self, other):
        return bool(super().__eq__(other))

    def __lt__(self, other):
        return not super().__ge__(other)

    __hash__ = float.__hash__


def compared(x):
    n, v = int(x), float(x)
    y = x * 10 if (3).__eq__(n) else x
    z = y + 1 if (2.5).__lt__(v) and n.__ne__(4) else y
    return z, (0).__lt__(n), v.__ge__(2), n.__gt__(True)


def computed(x):
    n, v = int(x), float(x)
    return (2).__mul__(n), n.__add__(1), v.__rsub__(2), (2).__rsub__(n), (-n).__abs__(), n.__neg__(), int.__add__(n, 1), n.__and__(True)


def of_bools(x):
    n, b = int(x), bool(x.sum() > 0)
    return True.__and__(b), b.__or__(False), int.__and__(True, b), b.__xor__(n), (1).__and__(b), b.__eq__(True), b.__add__(b)


def not_implemented(x):
    n = int(x)
    return x * 2 if n.__add__(1.5) is NotImplemented else x, (3).__lt__(float(x)) is NotImplemented


def handed_on(x):
    n = int(x)
    found = list(filter((0).__lt__, [n, 1])), list(map((2).__mul__, [n, 3])), any(map((3).__eq__, [n, 4]))
    return found, functools.reduce(int.__add__, [n, 2, 3]), functools.partial(int.__mul__, 2)(n), sorted([n, 2], key=int.__neg__)


def of_a_chosen_text(x):
    mode = "ab" if x > 0 else "c"
    y = x * 10 if "ab".__eq__(mode) else x
    return y, list(filter("ab".__eq__, ["ab" if x > 0 else "c", "c"])), list(itertools.starmap(operator.eq, [(mode, "c")]))


def of_subclasses(x):
    y = x * 10 if Key("ab") == ("ab" if x > 0 else "c") else x
    z = y * 3 if Near(3) == float(x) else y
    return z + 1 if Near(2) < float(x) else z


def asked_by_numpy(x):
    n = float(x)
    return x * n if np.isscalar(n) else x, np.shape(int(x)) == (), np.ndim(n), np.isscalar(x), np.iterable(n)


CASES = [(f, [([3.0],), ([-2.0],), ([2.0],), ([4.0],)], 1) for f in (
    compared, computed, of_bools, not_implemented, handed_on, of_a_chosen_text, of_subclasses, asked_by_numpy)]  # fmt: skip
