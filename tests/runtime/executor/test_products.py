"""The routine of matrix products: against NumPy, in parts, on matrices inside of larger ones."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dy2st_runtime.codegen import layout
from dy2st_runtime.executor import compile as compiling
from dy2st_runtime.executor import objects, products, routines, symbols, tiles

SIZES = [
    (1, 1, 1), (1, 5, 3), (1, 200, 70), (1, 400, 300), (3, 1, 40), (65, 1, 300), (4, 50, 33), (5, 50, 33), (7, 48, 16), (8, 96, 1),
    (20, 100, 40), (33, 31, 29), (64, 129, 257), (257, 47, 64), (300, 20, 513), (40, 24, 0),
    (97, 7, 300), (48, 2, 520), (16, 3, 5), (150, 13, 40), (30, 5, 0),
    (1, 517, 300), (530, 1, 301), (1, 4100, 37),
]  # fmt: skip


@functools.cache
def routine(dtype: str) -> Callable[..., int]:
    linker = compiling.Linker()
    address = 0
    for name in routines.called([f"    call_product_{dtype}()"]):
        address = linker.link({f"test_{name}": objects.compile_routine(name, f"test_{name}")})[f"test_{name}"]
        symbols.provide(name, address)
    kept.append(linker)
    return ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * routines.arguments(f"product_{dtype}"))(address)


kept: list[Any] = []  # what is linked lives as long as its linker


class Product:
    """C (+)= op(A) @ op(B); each matrix is a piece of a larger one, whose rest is NaN."""

    def __init__(self, m: int, n: int, k: int, trans_a: bool, trans_b: bool, dtype: str, room: int):
        rng = np.random.default_rng(m * n + k)
        self.sizes, self.trans, self.dtype = (m, n, k), (trans_a, trans_b), dtype
        self.shapes = (k, m) if trans_a else (m, k), (n, k) if trans_b else (k, n), (m, n)
        self.a, self.b, self.c = (np.full((rows + 1, columns + room), np.nan, dtype) for rows, columns in self.shapes)
        for whole, (rows, columns) in zip((self.a, self.b, self.c), self.shapes, strict=True):
            whole[:rows, :columns] = rng.normal(size=(rows, columns))

    def expected(self, add: bool) -> np.ndarray:
        inside = zip((self.a, self.b, self.c), self.shapes, strict=True)
        a, b, c = (whole[:rows, :columns].astype("float64") for whole, (rows, columns) in inside)
        return (a.T if self.trans[0] else a) @ (b.T if self.trans[1] else b) + (c if add else 0)

    def run(self, add: bool, cuts: tuple[int, ...] = ()) -> np.ndarray:
        """C and what is around it; done in so many pieces."""
        m, n, k = self.sizes
        out, parts = self.c.copy(), -(-max(m, n) // layout.PRODUCT_PART)
        for first, last in zip((0, *cuts), (*cuts, parts), strict=True):
            routine(self.dtype)(*map(int, self.trans), m, n, k, self.a.ctypes.data, self.a.shape[1], self.b.ctypes.data, self.b.shape[1],
                                int(add), out.ctypes.data, out.shape[1], parts, first, last)  # fmt: skip
        return out


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("trans_a", "trans_b"), [(False, False), (True, False), (False, True), (True, True)])
def test_products(trans_a: bool, trans_b: bool, dtype: str) -> None:
    for sizes in SIZES:
        for room in (0, 3):
            product = Product(*sizes, trans_a, trans_b, dtype, room)
            m, n, k = sizes
            for add in (False, True):
                got = product.run(add)
                tolerance = {"float32": 1e-6, "float64": 1e-14}[dtype] * (k + 1)
                np.testing.assert_allclose(got[:m, :n], product.expected(add), rtol=0, atol=tolerance, err_msg=f"{sizes}, {room}, {add}")
                assert np.isnan(got[m:]).all()
                assert np.isnan(got[:, n:]).all()


@pytest.mark.parametrize(("trans_a", "trans_b"), [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("sizes", [(5, 300, 300), (300, 5, 300), (1, 200, 70), (200, 1, 300), (97, 64, 520), (65, 65, 40), (1, 700, 203),
                                   (700, 1, 203)])  # fmt: skip
def test_the_division_changes_no_bit(sizes: tuple[int, int, int], trans_a: bool, trans_b: bool) -> None:
    product = Product(*sizes, trans_a, trans_b, "float32", 0)
    parts = -(-max(sizes[:2]) // layout.PRODUCT_PART)
    for add in (False, True):
        whole = product.run(add)
        for cuts in ((1,), (parts - 1,), tuple(range(1, parts))):
            np.testing.assert_array_equal(product.run(add, cuts), whole)


def test_the_sizes_reach_every_path() -> None:
    lanes = tiles.lanes("float32")
    assert any(m > products.MAX_ROWS for m, _, _ in SIZES)
    assert any(k > products.REDUCTION for _, _, k in SIZES)
    assert any(n % lanes and n > lanes * tiles.VECTORS for _, n, _ in SIZES)
    assert any(1 < m <= products.DOTS for m, _, _ in SIZES)
    assert any(m == 1 and n * k * 4 > products.STREAMED and n % lanes and k % products.TOGETHER for m, n, k in SIZES)
    assert any(1 < n < tiles.lanes("float64") and m > lanes * tiles.VECTORS and k > products.REDUCTION for m, n, k in SIZES)
