"""Runs a function eagerly, statically, and statically on the reference interpreter, and compares results and gradients."""

from __future__ import annotations

import numpy as np
from dy2st_runtime import config

from dy2st import jit
from dy2st.convert.values.trees import flatten
from dy2st.errors import Dy2stError
from dy2st.tensor import Tensor


def arguments(values):
    """Lists become tensors that want a gradient, ints integer tensors; the rest stays."""
    made = []
    for v in values:
        if isinstance(v, list):
            made.append(Tensor(np.array(v, np.float32), stop_gradient=False))
        else:
            made.append(Tensor(v) if type(v) is int else v)
    return made


def outcome(function, values):
    """The results and gradients of a call, or its exception."""
    args = arguments(values)
    try:
        result = function(*args)
    except Exception as error:
        return type(error), getattr(error, "message", str(error)), held(error)
    leaves, tree = flatten(result)
    loss = None
    for i, leaf in enumerate(leaves):
        if isinstance(leaf, Tensor) and not leaf.stop_gradient:
            term = (leaf * leaf * (i + 1)).sum()
            loss = term if loss is None else loss + term
    if loss is not None:
        loss.backward()
    grads = [None if not isinstance(a, Tensor) or a.grad is None else a.grad.numpy() for a in args]
    return [x.numpy() if isinstance(x, Tensor) else x for x in leaves], tree, grads


def held(error):
    """What an exception of a user's class holds, as text, and what it was raised from."""
    if isinstance(error, Dy2stError):
        return None
    attributes = {name: str(value) for name, value in vars(error).items() if name != "__notes__"}
    return [str(x) for x in error.args], attributes, repr(error.__cause__)


def check(function, calls, traces):
    """Compares all calls, with one static function; `traces` is how many traces it may make."""
    native = jit.to_static(function)
    with config.NO_JIT.override(True):
        interpreted = jit.to_static(function)
        for values in calls:
            compare(outcome(function, values), outcome(interpreted, values), values)
        assert len(interpreted.concrete_programs) == traces, interpreted.explain()
    for values in calls:
        compare(outcome(function, values), outcome(native, values), values)
    assert len(native.concrete_programs) == traces, native.explain()


def compare(expected, found, values):
    assert found[1] == expected[1], (values, expected, found)
    if isinstance(expected[0], type):
        assert found[0] is expected[0]
        assert found[2] == expected[2]
        return
    for a, b in zip([*expected[0], *expected[2]], [*found[0], *found[2]], strict=True):
        assert type(a) is type(b), (values, a, b)
        if isinstance(a, np.ndarray):
            assert a.dtype == b.dtype
            assert a.shape == b.shape
            np.testing.assert_allclose(b, a, rtol=2e-5, atol=1e-6, err_msg=str(values))
        elif isinstance(a, float):
            np.testing.assert_allclose(b, a, rtol=1e-6)
        else:
            assert a == b, (values, a, b)
