"""What is random about dropout: how much it keeps, and that no two draws are the same."""

import numpy as np
import pytest
from dy2st_runtime.ops import registry

DROPOUT = registry.get("dropout")


def mask(state: np.ndarray, **attrs: object) -> tuple[np.ndarray, np.ndarray]:
    """The mask of 20,000 elements, and the next state."""
    _, found, after = DROPOUT.run_reference((np.ones(20_000, np.float32), state), DROPOUT.complete_attrs(attrs))
    return found, after


@pytest.mark.parametrize("probability", [0.1, 0.5, 0.8])
def test_keeps_each_element_with_the_probability(probability: float) -> None:
    found, _ = mask(np.array([1, 0]), dropout_prob=probability)
    assert abs(found.mean() - (1 - probability)) < 0.015


def test_draws_anew_each_time_and_the_same_again_from_the_same_state() -> None:
    first, after = mask(np.array([1, 0]))
    second, _ = mask(after)
    assert after.tolist() == [1, 20_000]
    assert 0.4 < (first == second).mean() < 0.6
    np.testing.assert_array_equal(mask(np.array([1, 0]))[0], first)


def test_a_fixed_seed_draws_the_same_and_leaves_the_state() -> None:
    first, after = mask(np.array([1, 7]), fix_seed=True, seed=9)
    assert after.tolist() == [1, 7]
    np.testing.assert_array_equal(mask(np.array([2, 0]), fix_seed=True, seed=9)[0], first)
