"""What `Model.fit` calls as it goes on: progress, checkpoints, schedules, and when to stop (`paddle.callbacks`)."""

from __future__ import annotations

import importlib.util
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import AttributeValueError
from ..optimizer import lr as _lr


class Callback:
    """Base of what is called in training, evaluation and prediction; a subclass has the methods that it needs.

    `params` and `model` are set before. `logs` are dicts: the name of each metric → its value so far, "loss" → a list of the losses of
    this batch, "step" and "batch_size".

    >>> class Count(Callback):
    ...     epochs = 0
    ...     def on_epoch_end(self, epoch, logs=None):
    ...         self.epochs += 1
    """

    def __init__(self) -> None:
        self.model: Any = None
        self.params: dict[str, Any] = {}

    def set_params(self, params: dict[str, Any]) -> None:
        """Takes "epochs", "steps", "verbose" and "metrics" of this run."""
        self.params = params

    def set_model(self, model: Any) -> None:
        """Takes the Model."""
        self.model = model

    def on_train_begin(self, logs: Any = None) -> None:
        """Before the first epoch."""

    def on_train_end(self, logs: Any = None) -> None:
        """After the last epoch."""

    def on_eval_begin(self, logs: Any = None) -> None:
        """Before an evaluation; logs have "steps" and "metrics"."""

    def on_eval_end(self, logs: Any = None) -> None:
        """After an evaluation."""

    def on_predict_begin(self, logs: Any = None) -> None:
        """Before a prediction; logs have "steps"."""

    def on_predict_end(self, logs: Any = None) -> None:
        """After a prediction."""

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Before an epoch, counted from 0."""

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """After an epoch, and before its evaluation."""

    def on_train_batch_begin(self, step: int, logs: Any = None) -> None:
        """Before a batch, counted from 0."""

    def on_train_batch_end(self, step: int, logs: Any = None) -> None:
        """After a batch."""

    def on_eval_batch_begin(self, step: int, logs: Any = None) -> None:
        """Before a batch, counted from 0."""

    def on_eval_batch_end(self, step: int, logs: Any = None) -> None:
        """After a batch."""

    def on_predict_batch_begin(self, step: int, logs: Any = None) -> None:
        """Before a batch, counted from 0."""

    def on_predict_batch_end(self, step: int, logs: Any = None) -> None:
        """After a batch."""

    def _looks(self, mode: str, step: int) -> bool:
        """Whether the loss of this batch is looked at: reading it ends the deferral of a joined step."""
        name = f"on_{mode}_batch_end"
        return getattr(type(self), name) is not getattr(Callback, name)


class ProgBarLogger(Callback):
    """Prints losses and metrics: a bar on a terminal if `tqdm` is installed (`pip install dy2st[train]`), else lines.

    Args:
        log_freq: after how many batches a line.
        verbose: 0 prints nothing, 1 a bar where there can be one, 2 and 3 lines.
    """

    def __init__(self, log_freq: int = 1, verbose: int = 2) -> None:
        super().__init__()
        self.log_freq, self.verbose = log_freq, verbose
        self._bar: Any = None

    def _looks(self, mode: str, step: int) -> bool:
        return bool(self.verbose) and (step + 1) % self.log_freq == 0

    def _start(self, steps: int | None, title: str) -> None:
        self._steps = steps
        if self.verbose == 1 and sys.stdout.isatty() and importlib.util.find_spec("tqdm") is not None:
            from tqdm import tqdm

            self._bar = tqdm(total=steps, desc=title, file=sys.stdout)
        elif self.verbose:
            print(title)

    def _show(self, step: int, logs: Any) -> None:
        found = {k: v[0] if isinstance(v, list) else v for k, v in (logs or {}).items() if k not in ("step", "batch_size")}
        texts = [f"{k}: {v:.4f}" for k, v in found.items()]
        if self._bar is not None:
            self._bar.update(step + 1 - self._bar.n)
            self._bar.set_postfix_str(" - ".join(texts))
        elif self.verbose:
            print(" - ".join([f"step {step + 1}/{self._steps or 'Unknown'}", *texts]))

    def _finish(self, logs: Any) -> None:
        if logs and "step" in logs and (self._bar is not None or (logs["step"] + 1) % self.log_freq):
            self._show(logs["step"], logs)
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def _after(self, mode: str, step: int, logs: Any) -> None:
        if self._looks(mode, step):
            self._show(step, logs)

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._start(self.params.get("steps"), f"Epoch {epoch + 1}/{self.params.get('epochs')}")

    def on_train_batch_end(self, step: int, logs: Any = None) -> None:
        self._after("train", step, logs)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self._finish(logs)

    def on_eval_begin(self, logs: Any = None) -> None:
        self._start((logs or {}).get("steps"), "Eval begin...")

    def on_eval_batch_end(self, step: int, logs: Any = None) -> None:
        self._after("eval", step, logs)

    def on_eval_end(self, logs: Any = None) -> None:
        self._finish(logs)

    def on_predict_begin(self, logs: Any = None) -> None:
        self._start((logs or {}).get("steps"), "Predict begin...")

    def on_predict_batch_end(self, step: int, logs: Any = None) -> None:
        self._after("predict", step, logs)

    def on_predict_end(self, logs: Any = None) -> None:
        self._finish(logs)


class ModelCheckpoint(Callback):
    """Saves the model as `save_dir/EPOCH` after each `save_freq`-th epoch, from 0 on, and as `save_dir/final` at the end."""

    def __init__(self, save_freq: int = 1, save_dir: str | None = None) -> None:
        super().__init__()
        self.save_freq, self.save_dir = save_freq, save_dir

    def _save(self, name: str) -> None:
        if self.save_dir:
            path = os.path.join(self.save_dir, name)
            print(f"save checkpoint at {os.path.abspath(path)}")
            self.model.save(path)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if epoch % self.save_freq == 0:
            self._save(str(epoch))

    def on_train_end(self, logs: Any = None) -> None:
        self._save("final")


class LRScheduler(Callback):
    """Steps the schedule of the learning rate, after each batch or each epoch. `fit` has one of its own, by batch.

    Raises:
        AttributeValueError: both are asked for.
    """

    def __init__(self, by_step: bool = True, by_epoch: bool = False) -> None:
        super().__init__()
        if by_step and by_epoch:
            raise AttributeValueError("LRScheduler steps by_step or by_epoch: set one of them to False")
        self.by_step, self.by_epoch = by_step, by_epoch

    def _looks(self, mode: str, step: int) -> bool:
        return False

    def _step(self) -> None:
        schedule = self.model._optimizer._learning_rate
        if isinstance(schedule, _lr.LRScheduler):
            schedule.step()

    def on_train_batch_end(self, step: int, logs: Any = None) -> None:
        if self.by_step:
            self._step()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if self.by_epoch:
            self._step()


class _Monitor(Callback):
    """Follows a value of the evaluations."""

    def __init__(self, monitor: str, mode: str, min_delta: float) -> None:
        super().__init__()
        if mode not in ("auto", "min", "max"):
            raise AttributeValueError(f"mode is 'auto', 'min' or 'max', got {mode!r}")
        self.monitor, self.min_delta = monitor, abs(min_delta)
        self._sign = 1.0 if mode == "max" or (mode == "auto" and "acc" in monitor) else -1.0

    def _value(self, logs: Any) -> float | None:
        if not logs or self.monitor not in logs:
            warnings.warn(f"{type(self).__name__} monitors {self.monitor!r}, which is neither the loss nor a metric", stacklevel=2)
            return None
        value = logs[self.monitor]
        return float(value[0] if isinstance(value, (list, tuple)) else value)

    def _is_better(self, value: float, best: float) -> bool:
        return self._sign * (value - best) > self.min_delta


class EarlyStopping(_Monitor):
    """Ends the training once a value of the evaluations has not got better `patience` times.

    Args:
        monitor: "loss", or the name of a metric.
        mode: "min" or "max" is better; "auto": max if "acc" is in the name.
        patience: evaluations without a better value that end the training.
        verbose: 0 prints nothing.
        min_delta: by how much a better value is better.
        baseline: the value to get better than at first.
        save_best_model: save the best as `best_model` in the `save_dir` of `fit`.
    """

    def __init__(self, monitor: str = "loss", mode: str = "auto", patience: int = 0, verbose: int = 1, min_delta: float = 0,
                 baseline: float | None = None, save_best_model: bool = True) -> None:  # fmt: skip
        super().__init__(monitor, mode, min_delta)
        self.patience, self.verbose, self.baseline, self.save_best_model = patience, verbose, baseline, save_best_model
        self.save_dir: str | None = None

    def on_train_begin(self, logs: Any = None) -> None:
        self.wait_epoch = self._seen = 0
        self.best_value = -self._sign * np.inf if self.baseline is None else self.baseline

    def on_eval_end(self, logs: Any = None) -> None:
        value = self._value(logs)
        if value is None:
            return
        self._seen += 1
        if self._is_better(value, self.best_value):
            self.best_value, self.wait_epoch = value, 0
            if self.save_best_model and self.save_dir is not None:
                self.model.save(os.path.join(self.save_dir, "best_model"))
        else:
            self.wait_epoch += 1
        if self.wait_epoch >= self.patience:
            self.model.stop_training = True
            if self.verbose:
                print(f"Evaluation {self._seen}: early stopping.")


class ReduceLROnPlateau(_Monitor):
    """Multiplies the learning rate by `factor` once a value of the evaluations has not got better `patience` times.

    Args:
        monitor, mode, min_delta: as of EarlyStopping.
        factor: below 1.
        cooldown: evaluations after a change that do not count.
        min_lr: the lowest learning rate.

    Raises:
        AttributeValueError: the factor is 1 or more; in an evaluation, the optimizer has a schedule.
    """

    def __init__(self, monitor: str = "loss", factor: float = 0.1, patience: int = 10, verbose: int = 1, mode: str = "auto",
                 min_delta: float = 1e-4, cooldown: int = 0, min_lr: float = 0) -> None:  # fmt: skip
        super().__init__(monitor, mode, min_delta)
        if factor >= 1.0:
            raise AttributeValueError(f"ReduceLROnPlateau takes a factor below 1, got {factor}")
        self.factor, self.patience, self.verbose, self.cooldown, self.min_lr = factor, patience, verbose, cooldown, min_lr
        self.on_train_begin()

    def on_train_begin(self, logs: Any = None) -> None:
        self.wait = self.cooldown_counter = 0
        self.best = -self._sign * np.inf

    def on_eval_end(self, logs: Any = None) -> None:
        value = self._value(logs)
        if value is None:
            return
        optimizer = self.model._optimizer
        if isinstance(optimizer._learning_rate, _lr.LRScheduler):
            raise AttributeValueError("ReduceLROnPlateau takes an optimizer whose learning_rate is a number, not a schedule")
        if self.cooldown_counter:
            self.cooldown_counter -= 1
            self.wait = 0
        if self._is_better(value, self.best):
            self.best, self.wait = value, 0
        elif not self.cooldown_counter:
            self.wait += 1
            if self.wait >= self.patience and optimizer.get_lr() > self.min_lr:
                optimizer.set_lr(max(optimizer.get_lr() * self.factor, self.min_lr))
                if self.verbose:
                    print(f"ReduceLROnPlateau: the learning rate is {optimizer.get_lr()} now.")
                self.wait, self.cooldown_counter = 0, self.cooldown


class CallbackList:
    """The callbacks of a run; what `fit` always has is added where it is not given."""

    def __init__(self, given: Any, model: Any, log_freq: int, verbose: int, save_freq: int = 1, save_dir: str | None = None,
                 **params: Any) -> None:  # fmt: skip
        own: list[Callback] = list(given) if isinstance(given, Sequence) else [given] if given is not None else []
        if verbose and not any(isinstance(c, ProgBarLogger) for c in own):
            own.insert(0, ProgBarLogger(log_freq, verbose))
        if not any(isinstance(c, ModelCheckpoint) for c in own):
            own.append(ModelCheckpoint(save_freq, save_dir))
        if not any(isinstance(c, LRScheduler) for c in own):
            own.append(LRScheduler())
        self.callbacks = own
        for one in own:
            if isinstance(one, EarlyStopping):
                one.save_dir = save_dir
            one.set_model(model)
            one.set_params({**params, "verbose": verbose})

    def call(self, name: str, *args: Any) -> None:
        for one in self.callbacks:
            getattr(one, name)(*args)

    def look(self, mode: str, step: int) -> bool:
        """Whether one of them looks at the loss of this batch."""
        return any(one._looks(mode, step) for one in self.callbacks)


