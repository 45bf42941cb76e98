"""The math functions of kernels against float64, in units in the last place."""

import numpy as np
import pytest
from dy2st_runtime.codegen import cpu, layout
from dy2st_runtime.executor.executable import compiler
from dy2st_runtime.loopir import nodes as n
from dy2st_runtime.loopir.builder import KernelBuilder


def run(fn: str, x: np.ndarray) -> np.ndarray:
    """Applies a math function of the loop IR to every element, in a compiled kernel."""
    import ctypes

    k = KernelBuilder(fn)
    a, y = k.input("x", x.dtype.name, 1), k.output("y", x.dtype.name, 1)
    k.set_shape(y, a.shape)
    with k.parallel(a.size) as i:
        y[i] = n.call(fn, a[i])
    (address,) = compiler().addresses([cpu.render(k.kernel)])
    out = np.empty_like(x)
    descriptors = np.zeros((2, layout.DESCRIPTOR_WORDS), np.int64)
    buffer = np.array([out.ctypes.data, -1], np.int64)
    descriptors[:, layout.DIMS : layout.DIMS + layout.MAX_RANK] = 1  # sizes beyond the rank
    descriptors[0, [layout.DATA, layout.STATE, layout.DIMS]] = x.ctypes.data, 1, x.size
    descriptors[1, layout.BUFFER] = buffer.ctypes.data
    record = np.array([*[0] * layout.RECORD_HEAD, descriptors[0].ctypes.data, descriptors[1].ctypes.data], np.int64)
    arguments = record[layout.RECORD_HEAD :].ctypes.data
    kernel = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 3)(address)
    for stop in (-1, x.size):  # what the driver does, without sharing the work
        status = kernel(arguments, 0, stop)
        if status == layout.OK:
            return out
    raise AssertionError(f"the kernel failed with {status}")


def exact(fn: str, x: np.ndarray) -> np.ndarray:
    from scipy import special

    x = x.astype(np.float64)
    table = {"sigmoid": special.expit, "erf": special.erf, "rsqrt": lambda v: 1 / np.sqrt(v)}
    with np.errstate(all="ignore"):
        return table.get(fn, getattr(np, fn, None))(x)


def ulps(got: np.ndarray, want: np.ndarray) -> float:
    want32 = want.astype(np.float32)
    with np.errstate(all="ignore"):
        finite = np.isfinite(want32) & (np.abs(want32) > np.finfo(np.float32).tiny)
        return float(np.max(np.abs(got[finite] - want[finite]) / np.spacing(np.abs(want32[finite]))))


RANGES = {"exp": (-87, 88.7), "log": (1e-37, 1e38), "tanh": (-12, 12), "sigmoid": (-80, 80), "erf": (-6, 6), "sin": (-50, 50),
          "cos": (-50, 50), "sqrt": (0, 1e30), "rsqrt": (1e-30, 1e30), "log1p": (-0.9, 100), "expm1": (-20, 50)}  # fmt: skip


@pytest.mark.parametrize("fn", RANGES)
def test_float32_is_accurate_to_a_few_ulp(fn: str) -> None:
    low, high = RANGES[fn]
    rng = np.random.default_rng(0)
    x = rng.uniform(low, high, 200_000)
    if low > 0:
        x = np.exp(rng.uniform(np.log(low), np.log(high), x.size))
    x = np.concatenate([x, np.linspace(max(low, -1), min(high, 1), 20_001)]).astype(np.float32)
    x = x[(x >= low) & (x <= high)]
    assert ulps(run(fn, x), exact(fn, x)) <= 4


@pytest.mark.parametrize("fn", ["exp", "log", "tanh", "sigmoid", "erf"])
def test_special_values(fn: str) -> None:
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-42, -1e-42, 1e38, -1e38, -110.0, 110.0], np.float32)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(run(fn, x), exact(fn, x).astype(np.float32), rtol=1e-5, atol=1e-38)


def test_tanh_keeps_the_sign_of_zero() -> None:
    assert np.signbit(run("tanh", np.array([0.0, -0.0] * 20, np.float32))).tolist() == [False, True] * 20


def test_half_rounds_as_a_float16_in_memory() -> None:
    x = np.array([1.0, 2049.0, 65519.0, 65520.0, -1e9, 3e-8, np.inf, np.nan, -0.0, 0.1], np.float32)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(run("half", x), x.astype(np.float16).astype(np.float32))


@pytest.mark.parametrize("fn", ["exp", "tanh", "sigmoid", "log"])
def test_float64(fn: str) -> None:
    x = np.linspace(0.01, 20, 1001)
    np.testing.assert_allclose(run(fn, x), exact(fn, x), rtol=1e-14)
