"""Schedules of the learning rate. `step()` after each epoch (or batch) moves to the next value."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import AttributeValueError
from ..missing_names import explain_missing as _explain_missing
from .plateau import ReduceOnPlateau as ReduceOnPlateau
from .scheduler import LRScheduler as LRScheduler


class NoamDecay(LRScheduler):
    """learning_rate * d_model ** -0.5 * min(n ** -0.5, n * warmup_steps ** -1.5)."""

    def __init__(self, d_model: float, warmup_steps: float, learning_rate: float = 1.0, last_epoch: int = -1,
                 verbose: bool = False) -> None:  # fmt: skip
        self.d_model, self.warmup_steps = d_model, warmup_steps
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        n = self.last_epoch
        first = 1.0 if n == 0 else n**-0.5
        return self.base_lr * self.d_model**-0.5 * min(first, self.warmup_steps**-1.5 * n)


class PiecewiseDecay(LRScheduler):
    """values[i] up to boundaries[i].

    >>> s = PiecewiseDecay([1, 2], [0.1, 0.01, 0.001]); rates = []
    >>> for _ in range(3): rates.append(s()); s.step()
    >>> rates
    [0.1, 0.01, 0.001]
    """

    def __init__(self, boundaries: Sequence[int], values: Sequence[float], last_epoch: int = -1, verbose: bool = False):
        if len(values) != len(boundaries) + 1:
            raise AttributeValueError(
                f"{len(boundaries)} boundaries need {len(boundaries) + 1} values, got {len(values)}"
            )
        self.boundaries, self.values = list(boundaries), [float(v) for v in values]
        super().__init__(self.values[0], last_epoch, verbose)

    def get_lr(self) -> float:
        return self.values[sum(self.last_epoch >= b for b in self.boundaries)]


class NaturalExpDecay(LRScheduler):
    """learning_rate * exp(-gamma * n)."""

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False):
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr * math.exp(-self.gamma * self.last_epoch)


class InverseTimeDecay(LRScheduler):
    """learning_rate / (1 + gamma * n)."""

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False):
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr / (1 + self.gamma * self.last_epoch)


class PolynomialDecay(LRScheduler):
    """(learning_rate - end_lr) * (1 - n / decay_steps) ** power + end_lr; with `cycle`, decay_steps grows to the next
    multiple."""

    def __init__(self, learning_rate: float, decay_steps: int, end_lr: float = 0.0001, power: float = 1.0,
                 cycle: bool = False, last_epoch: int = -1, verbose: bool = False) -> None:  # fmt: skip
        if decay_steps <= 0:
            raise AttributeValueError(f"decay_steps must be positive, got {decay_steps}")
        self.decay_steps, self.end_lr, self.power, self.cycle = decay_steps, end_lr, power, cycle
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        n, steps = self.last_epoch, self.decay_steps
        if self.cycle:
            steps *= max(math.ceil(n / steps), 1)
        else:
            n = min(n, steps)
        return (self.base_lr - self.end_lr) * (1 - n / steps) ** self.power + self.end_lr


class LinearWarmup(LRScheduler):
    """From start_lr to end_lr in warmup_steps, then `learning_rate`: a number or a schedule that starts there."""

    def __init__(self, learning_rate: float | LRScheduler, warmup_steps: int, start_lr: float, end_lr: float,
                 last_epoch: int = -1, verbose: bool = False) -> None:  # fmt: skip
        self.after = learning_rate
        self.warmup_steps, self.start_lr, self.end_lr = warmup_steps, start_lr, end_lr
        super().__init__(start_lr, last_epoch, verbose)

    def get_lr(self) -> float:
        n = self.last_epoch
        if n < self.warmup_steps:
            return (self.end_lr - self.start_lr) * n / self.warmup_steps + self.start_lr
        if isinstance(self.after, LRScheduler):
            if n > self.warmup_steps:
                self.after.step(n - self.warmup_steps)
            return self.after()
        return self.after

    def state_dict(self) -> dict[str, Any]:
        state = super().state_dict()
        if isinstance(self.after, LRScheduler):
            state["LinearWarmup_LR"] = self.after.state_dict()
        return state

    def check_state(self, state_dict: dict[str, Any]) -> None:
        super().check_state(state_dict)
        if isinstance(self.after, LRScheduler):
            if "LinearWarmup_LR" not in state_dict:
                raise AttributeValueError(
                    "the state of LinearWarmup lacks 'LinearWarmup_LR', that of the schedule after it"
                )
            self.after.check_state(state_dict["LinearWarmup_LR"])

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().set_state_dict(state_dict)
        if isinstance(self.after, LRScheduler):
            self.after.set_state_dict(state_dict["LinearWarmup_LR"])


class ExponentialDecay(LRScheduler):
    """learning_rate * gamma ** n."""

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False):
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr * self.gamma**self.last_epoch


class MultiStepDecay(LRScheduler):
    """learning_rate * gamma for each milestone that is reached."""

    def __init__(self, learning_rate: float, milestones: Sequence[int], gamma: float = 0.1, last_epoch: int = -1,
                 verbose: bool = False) -> None:  # fmt: skip
        if list(milestones) != sorted(set(milestones)):
            raise AttributeValueError(f"milestones must increase, got {list(milestones)}")
        self.milestones, self.gamma = list(milestones), gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr * self.gamma ** sum(self.last_epoch >= m for m in self.milestones)


class StepDecay(LRScheduler):
    """learning_rate * gamma ** (n // step_size).

    >>> s = StepDecay(1.0, 2, 0.5); rates = []
    >>> for _ in range(5): rates.append(s()); s.step()
    >>> rates
    [1.0, 1.0, 0.5, 0.5, 0.25]
    """

    def __init__(self, learning_rate: float, step_size: int, gamma: float = 0.1, last_epoch: int = -1,
                 verbose: bool = False) -> None:  # fmt: skip
        if step_size <= 0:
            raise AttributeValueError(f"step_size must be positive, got {step_size}")
        self.step_size, self.gamma = step_size, gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr * self.gamma ** (self.last_epoch // self.step_size)


class LambdaDecay(LRScheduler):
    """learning_rate * lr_lambda(n)."""

    def __init__(self, learning_rate: float, lr_lambda: Callable[[int], float], last_epoch: int = -1,
                 verbose: bool = False) -> None:  # fmt: skip
        self.lr_lambda = lr_lambda
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr * self.lr_lambda(self.last_epoch)


class MultiplicativeDecay(LRScheduler):
    """The value before times lr_lambda(n)."""

    def __init__(self, learning_rate: float, lr_lambda: Callable[[int], float], last_epoch: int = -1,
                 verbose: bool = False) -> None:  # fmt: skip
        self.lr_lambda = lr_lambda
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        rate = self.base_lr
        for n in range(1, self.last_epoch + 1):
            rate *= self.lr_lambda(n)
        return rate


class CosineAnnealingDecay(LRScheduler):
    """eta_min + (learning_rate - eta_min) * (1 + cos(pi * n / T_max)) / 2."""

    def __init__(self, learning_rate: float, T_max: float, eta_min: float = 0.0, last_epoch: int = -1,
                 verbose: bool = False) -> None:  # fmt: skip
        self.T_max, self.eta_min = T_max, float(eta_min)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.eta_min + (self.base_lr - self.eta_min) * (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2


class OneCycleLR(LRScheduler):
    """Up to max_learning_rate, and down again to end_learning_rate, in total_steps.

    Args:
        divide_factor: the start is max_learning_rate / divide_factor.
        phase_pct: the part of the steps that goes up.
        anneal_strategy: "cos" or "linear".
        three_phase: down to the start first, then to the end.
    """

    def __init__(self, max_learning_rate: float, total_steps: int, divide_factor: float = 25.0,
                 end_learning_rate: float = 0.0001, phase_pct: float = 0.3, anneal_strategy: str = "cos",
                 three_phase: bool = False, last_epoch: int = -1, verbose: bool = False) -> None:  # fmt: skip
        if anneal_strategy not in ("cos", "linear"):
            raise AttributeValueError(f"anneal_strategy must be 'cos' or 'linear', got {anneal_strategy!r}")
        self.total_steps, self.anneal_strategy = total_steps, anneal_strategy
        start = max_learning_rate / divide_factor
        up = phase_pct * total_steps
        last = total_steps - 1
        ends = [(0.0, start), (up - 1, max_learning_rate), (last, end_learning_rate)]
        if three_phase:
            ends.insert(2, (2 * up - 2, start))
        self.points = ends
        super().__init__(start, last_epoch, verbose)

    def get_lr(self) -> float:
        n = self.last_epoch
        if n > self.total_steps:
            raise AttributeValueError(f"OneCycleLR has {self.total_steps} steps, this is step {n}")
        for (a, low), (b, high) in zip(self.points, self.points[1:], strict=False):
            if n <= b or b == self.points[-1][0]:
                part = (n - a) / (b - a) if b > a else 1.0
                if self.anneal_strategy == "linear":
                    return low + (high - low) * part
                return high + (low - high) / 2 * (1 + math.cos(math.pi * part))
        raise AssertionError("the last phase takes every step")


class CyclicLR(LRScheduler):
    """Up and down between base_learning_rate and max_learning_rate.

    Args:
        step_size_up, step_size_down: lengths of the two halves of a cycle.
        mode: "triangular", "triangular2" (each cycle half as high) or "exp_range" (times exp_gamma ** n).
        scale_fn: instead of a mode: a function of the cycle or (scale_mode "iterations") of the step.
    """

    def __init__(self, base_learning_rate: float, max_learning_rate: float, step_size_up: int,
                 step_size_down: int | None = None, mode: str = "triangular", exp_gamma: float = 1.0,
                 scale_fn: Callable[[float], float] | None = None, scale_mode: str = "cycle", last_epoch: int = -1,
                 verbose: bool = False) -> None:  # fmt: skip
        if scale_fn is None and mode not in ("triangular", "triangular2", "exp_range"):
            raise AttributeValueError(f"mode {mode!r} is unknown")
        self.amplitude = max_learning_rate - base_learning_rate
        down = step_size_up if step_size_down is None else step_size_down
        self.cycle_size, self.up_part = step_size_up + down, step_size_up / (step_size_up + down)
        self.mode, self.exp_gamma, self.scale_fn, self.scale_mode = mode, exp_gamma, scale_fn, scale_mode
        super().__init__(base_learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        n = self.last_epoch
        cycle = 1 + n // self.cycle_size
        place = n / self.cycle_size - (cycle - 1)
        height = place / self.up_part if place <= self.up_part else (1 - place) / (1 - self.up_part)
        if self.scale_fn is not None:
            factor = self.scale_fn(cycle if self.scale_mode == "cycle" else n)
        else:
            factor = {"triangular": 1.0, "triangular2": 0.5 ** (cycle - 1), "exp_range": self.exp_gamma**n}[self.mode]
        return self.base_lr + self.amplitude * height * factor


_explain_missing(__name__)
