"""Functions of tensors that are given a number: one that only the run knows does what a number of Python does in eager mode."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dy2st_runtime import config

import dy2st
import dy2st.nn.functional as F
from dy2st import jit
from dy2st.errors import AttributeValueError, DTypeError, IntegerRangeError, ShapeError, StagedValueError
from dy2st.tensor import Tensor

FLOATS = [[0.5, -1.5, 2.0, -0.0], [3.0, 0.25, -4.0, 1.0]]
INTS = [[1, -2, 3, 0], [4, 5, -6, 7]]
NAN, INF = float("nan"), float("inf")


def written(x, v):
    h = x * 1
    h[0, 1] = v
    h[1] = v
    return h


def written_under_a_mask(x, v):
    h = x * 1
    h[h > 1] = v
    return h


OF_ALL_DTYPES: list[Callable[[Tensor, Any], Any]] = [
    lambda x, v: x.scale(v),
    lambda x, v: x.scale(2.0, bias=v),
    lambda x, v: x.scale(v, 1.0, False),
    lambda x, v: x.scale(2, v, False),
    lambda x, v: (x * 1).scale_(v),
    lambda x, v: dy2st.increment(x[0, 0:1], v),
    lambda x, v: x.clip(v),
    lambda x, v: x.clip(max=v),
    lambda x, v: x.clip(v, 2.5),
    lambda x, v: x.clip(0.5, v),
    lambda x, v: x.clip(v, v + 1),
    lambda x, v: (x * 1).clip_(v),
    lambda x, v: (x * 1).fill_(v),
    lambda x, v: dy2st.full([2], v, x.dtype),
    lambda x, v: dy2st.full_like(x, v),
    lambda x, v: dy2st.masked_fill(x, x > 0, v),
    written,
    written_under_a_mask,
    lambda x, v: dy2st.where(x > 0, x, v),
    lambda x, v: dy2st.tril(x, v),
    lambda x, v: dy2st.roll(x, v),
    lambda x, v: dy2st.tile(x, [v, 1]),
    lambda x, v: dy2st.topk(x, v)[0],
    lambda x, v: x.reshape([v, -1]),
    lambda x, v: dy2st.arange(v, 6),
    lambda x, v: dy2st.addmm(x[:, :2], x, x.t(), alpha=v),
    lambda x, v: dy2st.addmm(x[:, :2], x, x.t(), beta=v),
    lambda x, v: F.pad(x, [1, 0, 0, 0], value=v),
    lambda x, v: Tensor(v) + x,
    lambda x, v: Tensor([v, 1]),
]  # fmt: skip
OF_FLOATS: list[Callable[[Tensor, Any], Any]] = [
    lambda x, v: dy2st.nan_to_num(x / 0.0, v, 1.0, v),
    lambda x, v: F.leaky_relu(x, v),
    lambda x, v: F.hardsigmoid(x, v),
    lambda x, v: F.hardsigmoid(x, 0.2, v),
    lambda x, v: F.hardtanh(x, v, 1.0),
    lambda x, v: F.hardtanh(x, -1, v),
    lambda x, v: F.softplus(x, 1.0, v),
    lambda x, v: F.label_smooth(x, epsilon=v),
    lambda x, v: dy2st.normal(v, 2.0, [3]),
    lambda x, v: dy2st.normal(0.0, v, [3]),
    lambda x, v: dy2st.uniform([3], "float32", v, 3.0),
    lambda x, v: (x * 1).uniform_(-5.0, v),
    lambda x, v: (x * 1).normal_(v, 1.0),
    lambda x, v: dy2st.randint(0, v, [3]),
    lambda x, v: dy2st.randint(v, 9, [3]),
    lambda x, v: dy2st.eye(v),
]  # fmt: skip
OF_FINITE_ONES: list[Callable[[Tensor, Any], Any]] = [
    lambda x, v: F.elu(x, v),
    lambda x, v: F.selu(x, 1.0, v),
    lambda x, v: F.softplus(x, v),
]
CASES = [(f, dtype) for f in OF_ALL_DTYPES for dtype in ("float32", "int64", "int8")] + [(f, "float32") for f in OF_FLOATS]


def name_of(value: Any) -> str:
    if not inspect.isfunction(value):
        return str(value)
    return value.__name__ if value.__name__ != "<lambda>" else inspect.getsource(value).partition("v: ")[2].strip(" ,\n")


def outcome(f, x, number):
    dy2st.seed(3)
    x = Tensor(x, stop_gradient=x.dtype.kind != "f")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = f(x, number)
    except Exception as error:
        return type(error)
    if not result.stop_gradient:
        result.sum().backward()
    return result.dtype, result.numpy(), None if x.grad is None else x.grad.numpy()


def same(eager, static, number=0.0):
    if abs(number) > 2.0**63 and static is IntegerRangeError:
        return  # an int of Python that leaves 64 bits
    if isinstance(eager, type) or isinstance(static, type):
        assert eager is static
        return
    assert static[0] == eager[0]
    np.testing.assert_allclose(static[1], eager[1], rtol=1e-6)
    np.testing.assert_array_equal(np.signbit(static[1]) | np.isnan(static[1]), np.signbit(eager[1]) | np.isnan(eager[1]))
    assert (static[2] is None) == (eager[2] is None)
    if eager[2] is not None:
        np.testing.assert_allclose(static[2], eager[2], rtol=1e-5)


@pytest.mark.parametrize(("f", "dtype"), CASES, ids=name_of)
def test_it_does_what_a_number_of_python_does(f: Callable[[Tensor, Any], Any], dtype: str) -> None:
    def of_int(x, number):
        return f(x, int(number))

    def of_float(x, number):
        return f(x, float(number))

    x = np.array(FLOATS if dtype == "float32" else INTS).astype(dtype)
    for program, numbers in ((of_float, [0.5, 2.0, -1.5, 0.0, NAN, INF, 300.5, 1e20]), (of_int, [1, 2, 0, -1, 5, 300])):
        with config.NO_JIT.override(True):
            static = jit.to_static(program)
            for number in numbers:
                given = Tensor(np.array(number))
                same(outcome(program, x, given), outcome(static, x, given), number)


@pytest.mark.parametrize("f", OF_FINITE_ONES, ids=name_of)
def test_the_parameter_of_an_activation(f: Callable[[Tensor, Any], Any]) -> None:
    def program(x, number):
        return f(x, float(number))

    x, static = np.array(FLOATS, "float32"), jit.to_static(program)
    for number in map(Tensor, (0.5, 2.0, 30.0)):
        same(outcome(program, x, number), outcome(static, x, number))


@pytest.mark.parametrize("f", [*OF_ALL_DTYPES, *OF_FLOATS, *OF_FINITE_ONES], ids=name_of)
def test_of_a_tensor_the_same_is_asked_and_gradients_go_where_they_go_in_eager_mode(f: Callable[[Tensor, Any], Any]) -> None:
    def given(function: Any, value: Any) -> Any:
        dy2st.seed(3)
        v = Tensor(np.array(value, "float32"), stop_gradient=False)
        try:
            result = function(Tensor(FLOATS), v)
        except (StagedValueError, DTypeError, ShapeError, AttributeValueError) as error:
            return type(error)
        if not result.stop_gradient:
            result.sum().backward()
        return result.dtype, result.numpy(), None if v.grad is None else v.grad.numpy()

    with config.NO_JIT.override(True):
        for value in (0.5, [0.5]):
            same(given(f, value), given(jit.to_static(f), value))
        eager, static = (given(g, [0.5, 0.25, 2.0, 1.0]) for g in (f, jit.to_static(f)))
        if isinstance(eager, type) and isinstance(static, type):
            return  # one may say that there are several elements, and the other one that they are floats
        same(eager, static)


NATIVE = (written, OF_ALL_DTYPES[1], OF_ALL_DTYPES[8])
NATIVE_CASES = [*((f, d) for d in ("float32", "int64") for f in NATIVE), *((f, "float32") for f in (OF_FLOATS[1], OF_FLOATS[9]))]


@pytest.mark.parametrize(("f", "dtype"), NATIVE_CASES, ids=name_of)
def test_native_code_does(f: Callable[[Tensor, Any], Any], dtype: str) -> None:
    def program(x, number):
        return f(x, float(number))

    x, static = np.array(FLOATS if dtype == "float32" else INTS).astype(dtype), jit.to_static(program)
    for number in (0.5, 2.0, NAN, 2.0**63, -(2.0**63), 1e20):
        same(outcome(program, x, Tensor(np.array(number))), outcome(static, x, Tensor(np.array(number))))


def test_what_the_errors_say() -> None:
    def filled(n, v):
        return n.fill_(float(v))

    def scaled(n, v):
        return n.scale(float(v))

    def tiled(n, v):
        return n.tile([float(v)])

    for program, number, error, text in (
        (filled, NAN, DTypeError, "nan cannot be an int64"), (filled, 1e20, IntegerRangeError, "1e+20 is out of range for int64"),
        (scaled, 2.5, AttributeValueError, "scale: scale=2.5 is not a whole number, but X is int64"),
        (tiled, 2.5, DTypeError, "repeat_times must be integers, got 2.5"),
    ):  # fmt: skip
        for f in (program, jit.to_static(program)):
            with pytest.raises(error) as caught:
                f(Tensor([1, 2]), Tensor(np.array(number)))
            assert caught.value.message == text
            assert caught.value.location is not None
            assert caught.value.location.line == program.__code__.co_firstlineno + 1


def test_a_handler_catches_them() -> None:
    def program(n, v):
        k = 1
        try:
            n[0] = float(v)
        except DTypeError:
            k = 2
        except IntegerRangeError:
            k = 3
        return n * k

    static = jit.to_static(program)
    for number in (2.7, NAN, 1e20, -INF, -(2.0**63), 2.0**63):
        eager, found = (f(Tensor([1, 2]), Tensor(np.array(number))) for f in (program, static))
        assert found.tolist() == eager.tolist()


@pytest.mark.parametrize("f", [
    lambda x, v: F.dropout(x, v),
    lambda x, v: F.smooth_l1_loss(x, x * 2, delta=v),
    lambda x, v: F.rrelu(x, v, 0.9, training=False),
    lambda x, v: F.max_pool2d(x.reshape([1, 1, 2, 4]), v),
], ids=name_of)  # fmt: skip
def test_what_must_be_known_is_refused(f: Callable[[Tensor, Any], Any]) -> None:
    with pytest.raises(StagedValueError, match="is only known when the program runs; it must be known while it is traced"):
        jit.to_static(lambda x: f(x, float(x[0, 0])))(Tensor(FLOATS))


def test_it_is_not_rounded_beside_a_half() -> None:
    def program(x, number):
        h, v = x.astype("float16"), float(number)
        return h * v, v * h, h + v, h - v, v - h, h / v, h.scale(v, 0.3), h.scale(0.3, v), h.clip(v)

    with config.NO_JIT.override(True):
        static = jit.to_static(program)
        for number in (0.7, 1.3, 1e-3, 0.0):
            given = Tensor([0.7, 1.3, 77.7, -0.013]), Tensor(np.array(number))
            for eager, found in zip(program(*given), static(*given), strict=True):
                np.testing.assert_array_equal(found.numpy(), eager.numpy())
