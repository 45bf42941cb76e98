"""Schedules of the learning rate. `step()` after each epoch (or batch) moves to the next value."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
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
        for key in ("last_epoch", "last_lr", *self.state_keys):
            if key not in state_dict:
                raise AttributeValueError(f"the state of {type(self).__name__} lacks {key!r}")
            setattr(self, key, state_dict[key])

    set_dict = set_state_dict


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

    def step(self, metrics: Any = None, epoch: int | None = None) -> None:  # type: ignore[override]
        """Takes the metric of an epoch (a number or a tensor of one element)."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if metrics is None:
            return
        value = float(metrics)
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
        margin = self.threshold * (abs(best) if self.threshold_mode == "rel" else 1)
        return sign * value < sign * best - margin

    def get_lr(self) -> float:
        return self.last_lr
