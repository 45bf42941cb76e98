"""The persistable variables that a run is given, and who gets its results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

State = dict[str, np.ndarray]
Given = State | Callable[[], State] | None
"""A state, or what gives it, which is called if a run looks at it; None: it is empty."""
Commit = Callable[[list[Any]], Any]
"""What is done with the values of a run that has succeeded."""


def state_of(given: Given) -> State:
    """The state itself."""
    return {} if given is None else given() if callable(given) else given
