"""What the tests of guards share."""

import numpy as np

from dy2st.tensor import Tensor


def tensor(*values):
    return Tensor(np.array(values, np.float32))


def check(static, eager, *changes, args=(), traces=None):
    """Calls both before and after each change, twice; `traces`: how many there must be in the end."""
    for change in (lambda: None, *changes):
        change()
        for _ in range(2):
            x = tensor(1.0, 2.0)
            expected, found = eager(x, *args), static(x, *args)
            np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-5)
    if traces is not None:
        assert len(static.concrete_programs) == traces, static.explain()


def require_same_in_turn(found, rtol=1e-5):
    """`found`: the arrays that each of some eager calls gave, and then as many static ones."""
    half = len(found) // 2
    assert len(found) == 2 * half > 0
    for eager, static in zip(found[:half], found[half:], strict=True):
        for a, b in zip(eager, static, strict=True):
            np.testing.assert_allclose(a, b, rtol=rtol)


class Box:
    """A plain object."""

    def __init__(self, **values):
        self.__dict__.update(values)


def putting(holder, **values):
    def change():
        for name, value in values.items():
            setattr(holder, name, value)

    return change


class Slots:
    __slots__ = ("__weakref__", "k")

    def __init__(self, k):
        self.k = k
