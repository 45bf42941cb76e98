"""Which sizes a trace serves: all where that can be traced, else only those of the tensors that stand in the way."""

import warnings

import numpy as np
import pytest
from dy2st_runtime import config

import dy2st as paddle
from dy2st import jit
from dy2st.errors import AttributeValueError, ShapeError, StagedValueError
from dy2st.jit import sizes
from dy2st.tensor import Tensor


@pytest.fixture(autouse=True)
def interpreted():
    with config.NO_JIT.override(True):
        yield


def ones(*shape):
    return Tensor(np.ones(shape, np.float32))


def by_key(x, y):
    """Asks for the sizes of x only."""
    found = {}
    for i in range(x.shape[0]):
        found[i] = x[i] * 2
    return sum(found.values()) + y.sum()


def check(static, function, *args):
    np.testing.assert_allclose(static(*args).numpy(), function(*args).numpy())


def test_one_trace_serves_all_sizes_of_the_other_arguments():
    static = jit.to_static(by_key)
    for n in (2, 3, 5):
        check(static, by_key, ones(3, 2), ones(n))
    (trace,) = static.concrete_programs
    assert [v.shape for v in trace.inputs] == [(3, 2), (-1,)]
    assert "of these sizes only, because with open ones: a dict may get a key here" in static.explain()


def test_a_trace_for_each_size_comes_with_a_warning():
    static = jit.to_static(by_key)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(static, by_key, ones(3, 2), ones(2))
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for n in (4, 5, 3):
            check(static, by_key, ones(n, 2), ones(2))
    (warning,) = found
    assert "anew for each size of its tensors (now x: [4, 2], y: [?])" in str(warning.message)
    assert "test_sizes.py:" in str(warning.message)
    assert len(static.concrete_programs) == 3


def test_sizes_that_can_be_open_stay_so():
    def steps(x):
        parts = {t: x[:, t] for t in range(x.shape[1])}
        return sum(parts.values())

    static = jit.to_static(steps)
    for shape in [(2, 3), (4, 3), (4, 2), (5, 2)]:
        check(static, steps, ones(*shape))
    assert [v.shape for t in static.concrete_programs for v in t.inputs] == [(-1, 3), (-1, 2)]


def test_sizes_that_a_spec_leaves_open_are_not_fixed():
    static = jit.to_static(by_key, input_spec=[jit.InputSpec([None, 2], "float32"), jit.InputSpec([None], "float32")])
    with pytest.raises(StagedValueError, match="a dict may get a key"):
        static(ones(3, 2), ones(3))


def test_a_loop_that_would_be_unrolled_too_often(monkeypatch):
    monkeypatch.setattr(sizes, "_MANY_OPS", 50)
    static = jit.to_static(by_key)
    check(static, by_key, ones(3, 2), ones(1))
    with pytest.raises(StagedValueError, match="a dict may get a key"):
        static(ones(100, 2), ones(1))


def test_what_is_no_matter_of_sizes_is_reported_as_it_is():
    def frozen(x):
        return x * float(x.numpy().mean())

    with pytest.raises(StagedValueError) as first:
        jit.to_static(frozen)(ones(1, 2))
    with pytest.raises(StagedValueError) as second:
        jit.to_static(frozen)(ones(3, 2))
    assert first.value.message.replace("[1, 2]", "") == second.value.message.replace("[3, 2]", "")


def test_a_rank_that_a_size_decides():
    def summed(ids, w):
        if ids.shape[-1] == 1:
            ids = ids.squeeze(-1)
        return w * ids.sum() + ids.ndim

    static = jit.to_static(summed)
    w = Tensor([1.0, 2.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # there is a trace for each of these sizes
        for shape in ([4, 1], [4, 3], [5, 3], [6, 1], [5, 7]):
            ids = Tensor(np.ones(shape, "float32"))
            np.testing.assert_allclose(static(ids, w).numpy(), summed(ids, w).numpy())
    assert len(static.concrete_programs) == 3


@pytest.mark.parametrize(("f", "shapes", "traces"), [
    (lambda x: x.squeeze(0) * 2, [[2, 3], [1, 3], [4, 3], [1, 5], [1, 1], [2, 5]], 6),
    (lambda x: paddle.squeeze(x, [0, -1]) * 2, [[2, 1], [3, 1], [1, 1], [1, 3], [5, 3]], 5),
    (lambda x: (x + 1).squeeze(1) if x.ndim == 2 else x, [[1, 3], [2, 3], [2, 1], [3, 1]], 3),
    # no size of the arguments is one of these, so there is one program for all
    (lambda x: x[0:1].squeeze(0) * 2, [[2, 3], [4, 3], [4, 5], [7, 5]], 2),
    (lambda x: x[x[:, 0].argmax():][:1].squeeze(0) * 2, [[2, 3], [4, 3], [9, 3]], 1),
])  # fmt: skip
def test_a_squeeze_keeps_what_is_not_of_size_1(f, shapes, traces):
    static = jit.to_static(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # there is a trace for each size
        for shape in [*shapes, *shapes]:
            x = Tensor(np.arange(np.prod(shape), dtype="float32").reshape(shape))
            np.testing.assert_array_equal(static(x).numpy(), f(x).numpy())
    assert len(static.concrete_programs) == traces


def test_a_squeeze_before_what_is_raised_for_some_sizes(capsys):
    def few(x):
        print("seen")
        y = x.squeeze(0)
        if x.shape[0] > 3:
            raise ValueError("too many")
        return y * 2

    static = jit.to_static(few)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # there is a trace for each size
        for n in (5, 1, 2, 4):
            if n > 3:
                with pytest.raises(ValueError, match="too many"):
                    static(paddle.ones([n, 3]))
            else:
                assert static(paddle.ones([n, 3])).shape == few(paddle.ones([n, 3])).shape
    assert capsys.readouterr().out == "seen\n" * 6


def test_a_squeeze_of_an_open_axis_of_a_spec_is_checked_in_the_run():
    static = jit.to_static(lambda x: x.squeeze(0), input_spec=[paddle.static.InputSpec([None, 3])])
    assert static(paddle.ones([1, 3])).shape == [3]
    with pytest.raises(ShapeError, match="squeeze needs size 1 on axis 0"):
        static(paddle.ones([2, 3]))


@pytest.mark.parametrize("f", [
    lambda x: paddle.cumprod(paddle.arange(3).astype("float32") + 1, dim=0) * x.sum(),
    lambda x: paddle.arange(x.shape[1]) * x.sum(),
    lambda x: paddle.arange(5, 0, -2, dtype="float32") * x.sum(),
    lambda x: paddle.arange(3, 1) * x.sum(),
    lambda x: paddle.unbind(paddle.arange(2 * 3))[-1] * x.sum(),
    lambda x: paddle.cumprod(paddle.zeros([0, 2]), dim=0) * x.sum(),
])  # fmt: skip
def test_a_range_of_python_numbers_has_a_known_length(f):
    static = jit.to_static(f)
    for shape in ([2, 3], [4, 3]):
        x = paddle.ones(shape)
        np.testing.assert_array_equal(static(x).numpy(), f(x).numpy())


def test_a_range_without_a_step_raises_in_the_run():
    with pytest.raises(AttributeValueError, match="must not be zero"):
        jit.to_static(lambda x: paddle.arange(0, 3, 0) * x.sum())(paddle.ones([2]))
