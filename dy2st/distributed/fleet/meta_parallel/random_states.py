"""Named states of the random generator: what is drawn alike in all processes, and what is not."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from ....errors import AttributeValueError
from ....tensor import random

MODEL_PARALLEL_RNG = "model_parallel_rng"
"""The state for what each process draws for itself."""


class RNGStatesTracker:
    """States of the random generator under names, each with a stream of its own.

    Example:
        >>> tracker = RNGStatesTracker()
        >>> tracker.add("local_seed", 7)
        >>> with tracker.rng_state("local_seed"):
        ...     first = random.rand([2])
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forgets all states."""
        self.states_: dict[str, Any] = {}
        self.seeds_: set[int] = set()

    def add(self, name: str, seed: int) -> None:
        """Adds a state that begins with a seed.

        Raises:
            AttributeValueError: the name or the seed is taken.
        """
        if seed in self.seeds_:
            raise AttributeValueError(f"seed {seed!r} is that of another state")
        if name in self.states_:
            raise AttributeValueError(f"there is a state {name!r} already")
        before = random.get_rng_state()
        random.seed(seed)
        self.states_[name] = random.get_rng_state()
        self.seeds_.add(seed)
        random.set_rng_state(before)

    def get_states_tracker(self) -> dict[str, Any]:
        """All states by their names, to be saved."""
        return dict(self.states_)

    def set_states_tracker(self, states: dict[str, Any]) -> None:
        """Sets states to what `get_states_tracker` gave.

        Raises:
            AttributeValueError: there is no such state here.
        """
        for name, state in states.items():
            if name not in self.states_:
                raise AttributeValueError(f"there is no state {name!r}", hint="add it, with a seed")
            self.states_[name] = state

    @contextlib.contextmanager
    def rng_state(self, name: str = MODEL_PARALLEL_RNG) -> Iterator[None]:
        """Draws from a state until the end of the block, and then from where the generator was before.

        Raises:
            AttributeValueError: there is no such state.
            StagedValueError: in a static function, as only the run knows where the generator is.
        """
        if name not in self.states_:
            raise AttributeValueError(f"there is no state {name!r}", hint="add it, with a seed")
        before = random.get_rng_state()
        random.set_rng_state(self.states_[name])
        try:
            yield
        finally:
            self.states_[name] = random.get_rng_state()
            random.set_rng_state(before)


_tracker = RNGStatesTracker()


def get_rng_state_tracker() -> RNGStatesTracker:
    """The tracker of this process."""
    return _tracker


def model_parallel_random_seed(seed: int | None = None) -> None:
    """Begins the generator with a seed, and the state "model_parallel_rng" with the next one.

    Args:
        seed: any int; None: one that NumPy draws.
    """
    first = int(np.random.randint(0, 10000)) if seed is None else seed
    _tracker.reset()
    _tracker.add(MODEL_PARALLEL_RNG, first + 1)
    random.seed(first)
