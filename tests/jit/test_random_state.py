"""The state of the random generator in static functions: `seed()` starts it anew at each call, on the paths that call it."""

import numpy as np
import pytest
from dy2st_runtime import config

import dy2st
import dy2st.nn.functional as F
from dy2st import jit
from dy2st.errors import AttributeValueError
from dy2st.jit import InputSpec
from dy2st.tensor import Tensor


def at_the_beginning(x, n):
    dy2st.seed(5)
    return x + dy2st.rand([2]), dy2st.randint(0, 9, [3])


def on_one_path(x, n):
    a = dy2st.rand([2])
    if n > 0:
        dy2st.seed(3)
    return x * dy2st.rand([2]), a


def in_a_loop(x, n):
    for i in range(n):
        if i == 1:
            dy2st.seed(9)
        x = x + dy2st.rand([2]) * x
    return x, dy2st.rand([1])


def in_a_loop_and_on_one_path(x, n):
    for i in range(n):
        x = x * (1 + dy2st.rand([2]))
        if i == 1:
            x = x * (1 + dy2st.rand([2]))
    return x, dy2st.rand([1])


def in_a_loop_and_in_one_within(x, n):
    for i in range(n):
        for _ in range(i):
            x = F.dropout(x * 2, 0.2)
        x = x * dy2st.rand([1]) + F.dropout(x, 0.3)
    return x, dy2st.rand([1])


def without_a_draw(x, n):
    dy2st.seed(11)
    return x, x * 2


SEEDED = [at_the_beginning, on_one_path, in_a_loop, in_a_loop_and_on_one_path, in_a_loop_and_in_one_within, without_a_draw]


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("function", SEEDED)
def test_seed(function, native):
    with config.NO_JIT.override(not native):
        compare(function, jit.to_static(function))


def compare(function, static):
    for n in (0, 3, 1):
        found = []
        for f in (function, static):
            dy2st.seed(7)
            x = Tensor(np.array([1.0, 2.0], np.float32), stop_gradient=False)
            results = f(x, Tensor(n))
            results[0].sum().backward()
            found.append([*results, x.grad, dy2st.rand([1])])
        for a, b in zip(*found, strict=True):
            np.testing.assert_allclose(b.numpy(), a.numpy(), rtol=1e-6)
    assert len(static.concrete_programs) == 1


@pytest.mark.parametrize("function", [at_the_beginning, on_one_path, in_a_loop])
def test_seed_in_a_saved_model(function, tmp_path):
    with config.NO_JIT.override(True):
        jit.save(jit.to_static(function), tmp_path / "model", [InputSpec([2], "float32", "x"), InputSpec([], "int64", "n")])
        loaded = jit.load(tmp_path / "model")
        for n in (0, 3, 1):
            found = []
            for f in (function, loaded):
                dy2st.seed(7)
                found.append(f(Tensor(np.array([1.0, 2.0], np.float32)), Tensor(n)))
            for a, b in zip(*found, strict=True):
                np.testing.assert_allclose(b.numpy(), a.numpy(), rtol=1e-6)


def test_a_permutation_of_as_many_numbers_as_the_run_knows():
    def mixed(x):
        return 0.25 * x + 0.75 * dy2st.index_select(x, dy2st.randperm(x.shape[0]))

    static = jit.to_static(mixed)
    for n in (4, 6, 5, 0):
        x = dy2st.arange(float(n)).reshape([n, 1])
        dy2st.seed(n)
        found = static(x).numpy()
        dy2st.seed(n)
        np.testing.assert_array_equal(found, mixed(x).numpy())
    assert len(static.concrete_programs) == 1
    with pytest.raises(AttributeValueError, match="negative"):
        jit.to_static(lambda n: dy2st.randperm(n))(dy2st.to_tensor(-2))
