"""Work that threads share, however it is divided."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from unittest import mock

import numpy as np
from dy2st_runtime import threads


def alike_for_threads(run: Callable[[], np.ndarray], counts: Sequence[int] = (1, 2, 3)) -> np.ndarray:
    """The result of a call that is divided as much as it can be; it is the same to the last bit for each number of threads."""
    results = []
    try:
        with mock.patch.multiple(threads, MUCH=1, LEAST=1):
            for count in counts:
                threads.set_num_threads(count)
                results.append(run())
    finally:
        threads.set_num_threads(0)  # which reads what much work is: as it was before
    for found in results[1:]:
        np.testing.assert_array_equal(results[0], found)
    return results[0]
