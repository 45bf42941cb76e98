"""The base of schedules of the learning rate."""

from __future__ import annotations

from typing import Any

from ..errors import AttributeValueError, DTypeError


class LRScheduler:
    """Base of schedules. Subclasses define `get_lr`, the value for `self.last_epoch`.

    Args:
        learning_rate: the base value.
        last_epoch: -1: from the start.
        verbose: prints each change.

    Attributes:
        base_lr, last_epoch, last_lr: the base, the number of steps taken, the current value.
    """

    # what `state_dict` holds besides last_epoch and last_lr
    state_keys: tuple[str, ...] = ()

    def __init__(self, learning_rate: float = 0.1, last_epoch: int = -1, verbose: bool = False) -> None:
        if not isinstance(learning_rate, (int, float)):
            raise DTypeError(f"learning_rate must be a number, got {type(learning_rate).__name__}")
        self.base_lr = float(learning_rate)
        self.last_lr = float(learning_rate)
        self.last_epoch = last_epoch
        self.verbose = verbose
        self._start()

    def _start(self) -> None:
        """The first value."""
        self.step()

    def __call__(self) -> float:
        return self.last_lr

    def step(self, epoch: int | None = None) -> None:
        """Moves to the next value, or to that of a given epoch."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        self.last_lr = float(self.get_lr())
        if self.verbose:
            print(f"Epoch {self.last_epoch}: {type(self).__name__} set learning rate to {self.last_lr}.")

    def get_lr(self) -> float:
        """The value for `self.last_epoch`."""
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """What `set_state_dict` needs to go on from here."""
        return {key: getattr(self, key) for key in ("last_epoch", "last_lr", *self.state_keys)}

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from a saved state.

        Raises:
            AttributeValueError: a value is missing.
        """
        self.check_state(state_dict)
        for key in ("last_epoch", "last_lr", *self.state_keys):
            setattr(self, key, state_dict[key])

    def check_state(self, state_dict: dict[str, Any]) -> None:
        """Looks at a saved state before anything is changed.

        Raises:
            AttributeValueError: a value is missing.
        """
        for key in ("last_epoch", "last_lr", *self.state_keys):
            if key not in state_dict:
                raise AttributeValueError(f"the state of {type(self).__name__} lacks {key!r}")

    set_dict = set_state_dict
