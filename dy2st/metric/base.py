"""What all metrics have."""

from __future__ import annotations

from typing import Any


class Metric:
    """Base of metrics that add up over batches: `compute`, `update`, `accumulate`, `reset`."""

    def reset(self) -> None:
        """Starts anew."""
        raise NotImplementedError(f"{type(self).__name__} defines no reset()")

    def update(self, *args: Any) -> Any:
        """Takes the results of a batch."""
        raise NotImplementedError(f"{type(self).__name__} defines no update()")

    def accumulate(self) -> Any:
        """The value so far."""
        raise NotImplementedError(f"{type(self).__name__} defines no accumulate()")

    def compute(self, *args: Any) -> Any:
        """What `update` takes, from the outputs and labels of a batch."""
        return args

    def name(self) -> Any:
        """The name of the value, or a list of names."""
        raise NotImplementedError(f"{type(self).__name__} defines no name()")
