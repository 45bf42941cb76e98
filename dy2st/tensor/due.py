"""Gradients that are due: computed by a step, or about to be, and not in the `.grad` of their tensors yet.

Nearly nobody reads the gradients of an ordinary training loop: `backward()` makes them, `step()` uses them, `clear_grad()` forgets them.
Where the steps of a loop are alike they stay where they were computed (`jit.steps`). Who reads or sets a `.grad` calls `deliver` before.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Protocol


class Debtor(Protocol):
    """What has gradients that are due."""

    def deliver(self) -> None:
        """Gives each tensor its gradient."""

    def forget(self, tensors: Collection[Any]) -> None:
        """The gradients of these tensors are forgotten; those of others are delivered."""


debtors: list[Debtor] = []
"""Those with gradients that are due, of all threads: any may read a `.grad`."""


def deliver() -> None:
    """Gives every tensor the gradient that is due."""
    for debtor in tuple(debtors):
        debtor.deliver()


def forget(tensors: Collection[Any]) -> None:
    """The gradients of these tensors are to be forgotten: those that are due need not be delivered."""
    for debtor in tuple(debtors):
        debtor.forget(tensors)
