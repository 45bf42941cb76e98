"""Arithmetic of compiled kernels, for each dtype and operator, against NumPy."""

from __future__ import annotations

import ctypes
import itertools
import operator

import numpy as np
import pytest
from dy2st_runtime import config
from dy2st_runtime.executor.executable import compiler
from dy2st_runtime.executor.objects import UncompiledKernel

INTS = ("int8", "int16", "int32", "int64", "uint8")
FLOATS = ("float32", "float64")
ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul}
BITS = {"&": operator.and_, "|": operator.or_, "^": operator.xor}
COMPARED = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne}


def numbers(dtype: str) -> np.ndarray:
    """The least, the greatest, what is between, and for floats zeros of both signs, infinities and NaN."""
    if dtype == "bool":
        return np.array([False, True])
    if dtype in FLOATS:
        return np.array([0, -0.0, 1, -1, 2.5, -2.5, 7, -7, 0.3, -1e-30, 1e30, np.inf, -np.inf, np.nan], dtype)
    info = np.iinfo(dtype)
    return np.array([info.min, info.min + 1, 0, 1, 2, 3, 7, 100, info.max - 1, info.max, *([] if info.min == 0 else [-1, -3, -7])], dtype)


def pairs(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    x = numbers(dtype)
    a, b = (np.array(side, dtype) for side in zip(*itertools.product(x, x), strict=True))
    return a, b


def computed(expression: str, out: str, *operands: np.ndarray) -> np.ndarray:
    """An expression of a, b, ... for each element, in a kernel of its own."""
    names = "abc"[: len(operands)]
    source = ["def kernel(args, start, stop):", "    out = ld_int64(args, 0)"]
    source += [f"    {name}_p = ld_int64(args, {i + 1})" for i, name in enumerate(names)]
    source.append("    for i in range(start, stop):")
    source += [f"        {name} = ld_{x.dtype.name}({name}_p, i)" for name, x in zip(names, operands, strict=True)]
    source += [f"        st_{out}(out, i, {expression})", "    return 0"]
    (address,) = compiler().addresses(["\n".join(source) + "\n"])
    result = np.zeros(operands[0].size, out)
    record = np.array([a.ctypes.data for a in (result, *operands)], np.int64)
    assert ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 3)(address)(record.ctypes.data, 0, result.size) == 0
    return result


@pytest.mark.parametrize("dtype", [*INTS, *FLOATS])
@pytest.mark.parametrize("op", ARITHMETIC)
def test_arithmetic_wraps_around_and_is_not_reordered(op: str, dtype: str) -> None:
    a, b = pairs(dtype)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(computed(f"a {op} b", dtype, a, b), ARITHMETIC[op](a, b))
        if dtype in FLOATS:
            np.testing.assert_array_equal(computed("a + b - b", dtype, a, b), a + b - b)
            np.testing.assert_array_equal(computed("a * b - b * a", dtype, a, b), a * b - b * a)


@pytest.mark.parametrize("dtype", [*INTS, "bool"])
@pytest.mark.parametrize("op", BITS)
def test_bits(op: str, dtype: str) -> None:
    a, b = pairs(dtype)
    np.testing.assert_array_equal(computed(f"a {op} b", dtype, a, b), BITS[op](a, b))
    np.testing.assert_array_equal(computed("not a" if dtype == "bool" else "~a", dtype, a), ~a)


@pytest.mark.parametrize("dtype", INTS)
def test_shifts_keep_the_sign(dtype: str) -> None:
    a = numbers(dtype)
    for count in (0, 1, 3, 7):
        b = np.full_like(a, count)
        np.testing.assert_array_equal(computed("a >> b", dtype, a, b), a >> b)
        np.testing.assert_array_equal(computed("a << b", dtype, a, b), a << b)


@pytest.mark.parametrize("dtype", [*INTS, *FLOATS, "bool"])
def test_comparisons(dtype: str) -> None:
    a, b = pairs(dtype)
    for op, of_numpy in COMPARED.items():
        np.testing.assert_array_equal(computed(f"a {op} b", "bool", a, b), of_numpy(a, b))
    np.testing.assert_array_equal(computed("a if a < b else b", dtype, a, b), np.where(a < b, a, b))
    np.testing.assert_array_equal(computed("a < b and not (b > a)", "bool", a, b), (a < b) & ~(b > a))
    np.testing.assert_array_equal(computed("a < b or a == b", "bool", a, b), (a < b) | (a == b))


@pytest.mark.parametrize("dtype", INTS)
def test_quotients_of_ints_are_floored_and_0_for_a_division_by_0(dtype: str) -> None:
    a, b = pairs(dtype)
    fits = ~((a == np.iinfo(dtype).min) & (b == np.array(-1).astype(dtype))) if dtype != "uint8" else np.full(a.shape, True)
    a, b = a[fits], b[fits]
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(computed("a // b", dtype, a, b), a // b)
        np.testing.assert_array_equal(computed("a % b", dtype, a, b), a % b)


@pytest.mark.parametrize("dtype", FLOATS)
def test_quotients_of_floats(dtype: str) -> None:
    a, b = pairs(dtype)
    with np.errstate(all="ignore"):
        for op, want in (("/", a / b), ("%", a % b), ("//", np.where(b == 0, a / b, a // b))):
            got = computed(f"a {op} b", dtype, a, b)
            np.testing.assert_array_equal(got, want)
            there = ~np.isnan(want)
            np.testing.assert_array_equal(np.signbit(got[there]), np.signbit(want[there]))  # zeros have signs


@pytest.mark.parametrize("source", [*INTS, *FLOATS, "bool"])
@pytest.mark.parametrize("target", [*INTS, *FLOATS])
def test_casts(source: str, target: str) -> None:
    a = numbers(source)
    if source in FLOATS and target in INTS:
        a = np.array([0, -0.0, 1, -1, 2.7, -2.7, 100.5, 300, -300, 70000], source)  # what does not fit is cut off, as by NumPy
        a = a[np.abs(a) <= (1e9 if target != "int64" else np.inf)]
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(computed(f"{target}(a)", target, a), a.astype(target))


@pytest.mark.parametrize("dtype", [*INTS, *FLOATS])
def test_signs_and_the_functions_of_numbers(dtype: str) -> None:
    a, b = pairs(dtype)
    np.testing.assert_array_equal(computed("-a", dtype, a), -a)
    np.testing.assert_array_equal(computed(f"abs_{dtype}(a)", dtype, a), np.abs(a))
    whole = ~(np.isnan(a) | np.isnan(b))
    np.testing.assert_array_equal(computed("min(a, b)", dtype, a, b)[whole], np.minimum(a, b)[whole])
    np.testing.assert_array_equal(computed("max(a, b)", dtype, a, b)[whole], np.maximum(a, b)[whole])
    if dtype in FLOATS:
        for name in ("isnan", "isinf", "isfinite"):
            np.testing.assert_array_equal(computed(f"{name}_{dtype}(a)", "bool", a), getattr(np, name)(a))


def test_powers_of_ints_wrap_around() -> None:
    for dtype in ("int32", "int64"):
        a, b = (np.array(side, dtype) for side in zip(*itertools.product([-3, -1, 0, 1, 2, 7, 12345], [0, 1, 2, 5, 31]), strict=True))
        np.testing.assert_array_equal(computed(f"pow_{dtype}(a, b)", dtype, a, b), a**b)


def test_loops_with_a_break_and_with_steps_of_both_signs() -> None:
    source = """def kernel(args, start, stop):
    total = 0
    for i in range(stop, start, -2):
        total = total * 10 + i
    step = stop - start
    for i in range(start, 10 * step, step):
        if i > 4 * step:
            break
        total = total + 1000 * i
    while True:
        pass
        if total % 7 == 0:
            break
        total += 1
    return total
"""

    def of_python(args: int, start: int, stop: int) -> int:
        scope: dict = {}
        exec(source, scope)
        return scope["kernel"](args, start, stop)

    (address,) = compiler().addresses([source])
    native = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 3)(address)
    for start, stop in itertools.product(range(-3, 3), range(3, 9)):
        assert native(0, start, stop) == of_python(0, start, stop)


@pytest.mark.parametrize("expression", ["a + b", "a if a > 1 else b", "a < b", "sum_float32(a, b)", "min(a, b)", "st_int32(out, 0, b)"])
def test_two_dtypes_are_refused(expression: str) -> None:
    """By our own compiler; Numba promotes one of them."""
    with config.ENGINE.override("llvm"), pytest.raises(UncompiledKernel, match="TypeError"):
        computed(expression, "int32", np.zeros(1, "int32"), np.zeros(1, "float32"))
