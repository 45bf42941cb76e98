"""The counter-based generator Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3; 2011).

A block of four 32-bit words is a function of the key (the seed) and the counter (the position) alone: numbers can be drawn in any order
and in parallel. It exists twice, on NumPy arrays and as loop IR; both compute with integers and give the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..loopir import nodes as n

MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
WEYL = (0x9E3779B9, 0xBB67AE85)
ROUNDS = 10
MASK = 0xFFFFFFFF
CHUNK = 8192
"""Counters per pass of the NumPy form: its temporaries stay in the cache."""


def words(seed: int, position: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The blocks of the counters position, position + 1, ...: four uint64 arrays with words below 2**32.

    >>> [f"{int(w[0]):08x}" for w in words(0, 0, 1)]
    ['6627e8d5', 'e169c58d', 'bc57ac4c', '9b00dbd8']
    """
    out = np.empty((4, count), np.uint64)
    for start in range(0, count, CHUNK):
        part = out[:, start : start + CHUNK]
        part[:] = _rounds(seed, np.arange(part.shape[1], dtype=np.uint64) + np.uint64((position + start) & (2**64 - 1)))
    return out[0], out[1], out[2], out[3]


def _rounds(seed: int, counter: np.ndarray) -> list[np.ndarray]:
    mask, shift = np.uint64(MASK), np.uint64(32)
    c0, c1 = counter & mask, counter >> shift
    c2, c3 = np.zeros_like(counter), np.zeros_like(counter)
    key0, key1 = seed & MASK, (seed >> 32) & MASK
    for _ in range(ROUNDS):
        p, q = c0 * np.uint64(MULTIPLIERS[0]), c2 * np.uint64(MULTIPLIERS[1])
        c0, c1, c2, c3 = (q >> shift) ^ c1 ^ np.uint64(key0), q & mask, (p >> shift) ^ c3 ^ np.uint64(key1), p & mask
        key0, key1 = (key0 + WEYL[0]) & MASK, (key1 + WEYL[1]) & MASK
    return [c0, c1, c2, c3]


def native_keys(k: Any, seed: Any) -> list[tuple[n.Expr, n.Expr]]:
    """The keys of the rounds for a seed (an int64 expression); they do not depend on the counter, so they are made once."""
    key0, key1 = k.let(seed & MASK, "key"), k.let((seed >> 32) & MASK, "key")
    return [(k.let((key0 + WEYL[0] * r) & MASK, "key"), k.let((key1 + WEYL[1] * r) & MASK, "key")) for r in range(ROUNDS)]


def native_words(k: Any, keys: list[tuple[n.Expr, n.Expr]], counter: n.Expr) -> tuple[n.Expr, n.Expr, n.Expr, n.Expr]:
    """The block of one counter, as int64 expressions below 2**32."""
    zero = n.Const(0, n.INDEX)
    c0, c1 = k.let(counter & MASK, "c"), k.let((counter >> 32) & MASK, "c")
    c2: n.Expr = zero
    c3: n.Expr = zero
    for key0, key1 in keys:
        p, p_low = _product(k, c0, MULTIPLIERS[0])
        q, q_low = _product(k, c2, MULTIPLIERS[1])
        c0, c1, c2, c3 = k.let(q ^ c1 ^ key0, "c"), q_low, k.let(p ^ c3 ^ key1, "c"), p_low
    return c0, c1, c2, c3


def _product(k: Any, a: n.Expr, m: int) -> tuple[n.Expr, n.Expr]:
    """The high and the low 32 bits of a product of two 32-bit numbers; by halves, so that nothing exceeds the signed 64 bits."""
    low, high = k.let((a & 0xFFFF) * m, "p"), k.let((a >> 16) * m, "p")
    middle = k.let(high + (low >> 16), "p")
    return k.let(middle >> 16, "hi"), k.let(((middle & 0xFFFF) << 16) | (low & 0xFFFF), "lo")
