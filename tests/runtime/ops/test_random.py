"""The generator: known answers, the distributions, and that draws advance the state."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dy2st_runtime.ops import philox, random, registry
from scipy import special, stats

# of the authors' library Random123: seed, counter, the four words
KNOWN = [(0, 0, "6627e8d5 e169c58d bc57ac4c 9b00dbd8")]


def draw(op: str, state: np.ndarray, **attrs: Any) -> tuple[np.ndarray, np.ndarray]:
    record = registry.get(op)
    values: list[Any] = [state, None] if op == "randperm" else [state, None, []]
    out, after = record.run_reference(tuple(values), record.complete_attrs(attrs))
    return out, after


@pytest.mark.parametrize(("seed", "position", "words"), KNOWN)
def test_known_answers(seed: int, position: int, words: str) -> None:
    assert " ".join(f"{int(w[0]):08x}" for w in philox.words(seed, position, 1)) == words


def test_elements_depend_on_their_position_only() -> None:
    state = np.array([42, 10])
    whole, after = draw("uniform_random", state, shape=[20])
    assert after.tolist() == [42, 30]
    rest, _ = draw("uniform_random", np.array([42, 15]), shape=[15])
    np.testing.assert_array_equal(whole[5:], rest)
    other, _ = draw("uniform_random", np.array([43, 10]), shape=[20])
    assert (whole != other).all()


def test_chunks_do_not_show() -> None:
    count = philox.CHUNK + 3
    whole = philox.words(5, 2**32 - 7, count)
    for i in (0, 6, 7, philox.CHUNK - 1, philox.CHUNK, count - 1):
        assert [int(w[i]) for w in whole] == [int(w[0]) for w in philox.words(5, 2**32 - 7 + i, 1)]


@pytest.mark.parametrize(
    ("op", "attrs", "distribution"),
    [
        ("uniform_random", {"min": -1.0, "max": 3.0}, stats.uniform(-1, 4)),
        ("gaussian_random", {"mean": 1.0, "std": 2.0}, stats.norm(1, 2)),
        ("truncated_gaussian_random", {"std": 0.5}, stats.truncnorm(-2, 2, 0, 0.5)),
    ],
)  # fmt: skip
def test_distributions(op: str, attrs: dict[str, float], distribution: Any) -> None:
    values, _ = draw(op, np.array([7, 0]), shape=[20000], dtype="float64", **attrs)
    assert stats.kstest(values, distribution.cdf).pvalue > 0.01


def test_integers_and_permutations_are_uniform() -> None:
    values, _ = draw("randint", np.array([7, 0]), shape=[30000], low=-2, high=4)
    counts = np.bincount(values + 2, minlength=6)
    assert len(counts) == 6
    assert stats.chisquare(counts).pvalue > 0.01
    orders = {tuple(draw("randperm", np.array([7, 4 * i]), n=3)[0].tolist()) for i in range(60)}
    assert len(orders) == 6


def test_a_draw_below_one() -> None:
    ones = tuple(np.full(1, 2**32 - 1, np.uint64) for _ in range(4))
    for name in ("float16", "float32", "float64"):
        assert random.uniform(ones, name).astype(name)[0] < 1
    assert np.isfinite(random.normal(tuple(np.zeros(1, np.uint64) for _ in range(4)), np.log, np.sqrt, np.cos)).all()


def test_the_normal_quantile() -> None:
    q = np.linspace(-0.4772, 0.4772, 2001)
    np.testing.assert_allclose(random.normal_quantile(q, np.where, np.log, np.sqrt, np.abs), special.ndtri(0.5 + q), rtol=1e-13, atol=1e-14)
