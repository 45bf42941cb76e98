"""What follows a beam search."""

from __future__ import annotations

from typing import Any

from ...tensor.creation import arange
from ...tensor.manipulation import expand, flip, stack, take_along_axis
from ...tensor.tensor import Tensor


def gather_tree(ids: Tensor, parents: Tensor) -> Tensor:
    """The sequences that beams have found: from the last step back, the ids of each beam and of what it came from.

    Args:
        ids: Tensor of integers [steps, batch, beams]: what was chosen at each step.
        parents: Tensor like it: which beam of the step before each one continues.

    >>> ids = Tensor([[[2, 2]], [[3, 9]], [[0, 1]]])
    >>> gather_tree(ids, Tensor([[[0, 0]], [[1, 0]], [[0, 0]]])).numpy().tolist()
    [[[2, 2]], [[3, 3]], [[0, 1]]]
    """
    steps, batch, beams = ids.shape
    at: Any = expand(arange(0, beams, 1, parents.dtype), [batch, beams])
    found = []
    for i in range(steps):
        step = steps - 1 - i
        found.append(take_along_axis(ids[step], at, 1))
        at = take_along_axis(parents[step], at, 1)
    return flip(stack(found), 0)
