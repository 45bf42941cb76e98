"""A schedule that follows a metric."""

from __future__ import annotations

from typing import Any

from ..errors import AttributeValueError
from .scheduler import LRScheduler


class ReduceOnPlateau(LRScheduler):
    """Times `factor` when a metric has not become better for more than `patience` steps.

    Args:
        mode: "min" or "max": which metrics are better.
        threshold: by how much it must become better: relative (threshold_mode "rel") or absolute ("abs").
        cooldown: steps after a reduction that do not count.
        min_lr: no value is smaller.
        epsilon: smaller changes are left out.
    """

    state_keys = ("cooldown_counter", "best", "num_bad_epochs")

    def __init__(self, learning_rate: float, mode: str = "min", factor: float = 0.1, patience: int = 10,
                 threshold: float = 1e-4, threshold_mode: str = "rel", cooldown: int = 0, min_lr: float = 0.0,
                 epsilon: float = 1e-8, verbose: bool = False) -> None:  # fmt: skip
        if mode not in ("min", "max") or threshold_mode not in ("rel", "abs"):
            raise AttributeValueError(f"mode {mode!r} or threshold_mode {threshold_mode!r} is unknown")
        if factor >= 1.0:
            raise AttributeValueError(f"the factor must be below 1, got {factor}")
        self.mode, self.factor, self.patience, self.threshold = mode, factor, patience, threshold
        self.threshold_mode, self.cooldown, self.min_lr, self.epsilon = threshold_mode, cooldown, min_lr, epsilon
        self.cooldown_counter, self.num_bad_epochs = 0, 0
        self.best: float | None = None
        super().__init__(learning_rate, -1, verbose)

    def _start(self) -> None:
        self.last_epoch += 1

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Takes the metric of an epoch: a number, or an array or tensor of one element."""
        value = float(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
        elif self.best is None or self._better(value, self.best):
            self.best, self.num_bad_epochs = value, 0
        else:
            self.num_bad_epochs += 1
        if self.num_bad_epochs > self.patience:
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
            new = max(self.last_lr * self.factor, self.min_lr)
            if self.last_lr - new > self.epsilon:
                self.last_lr = new
                if self.verbose:
                    print(f"Epoch {self.last_epoch}: ReduceOnPlateau set learning rate to {new}.")

    def _better(self, value: float, best: float) -> bool:
        sign = 1 if self.mode == "min" else -1
        # PaddlePaddle's formula: below zero a relative threshold lets metrics pass that are a little worse
        margin = self.threshold * (best if self.threshold_mode == "rel" else 1)
        return sign * value < sign * best - margin

    def get_lr(self) -> float:
        return self.last_lr
