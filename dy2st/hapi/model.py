"""`paddle.Model`: a network with its optimizer, loss and metrics, and the loops over data."""

from __future__ import annotations

import inspect
import os
import warnings
from typing import Any

import numpy as np

from ..errors import AttributeValueError, StateDictError
from ..framework.io import load, save
from ..io import DataLoader, Dataset, IterableDataset
from ..metric import Metric
from ..tensor import Tensor, api
from ..tensor.autograd import no_grad
from ..utils import flatten
from .callbacks import CallbackList, EarlyStopping


def _as_list(x: Any) -> list[Any]:
    return [] if x is None else list(x) if isinstance(x, (list, tuple)) else [x]


class Model:
    """A network that is trained, evaluated and run over data sets (`paddle.Model`).

    A static network (`paddle.jit.to_static`) takes part in the loops as in one's own: steps that are alike run as one Program each. The
    loss is read only when a callback looks at it, so that a high `log_freq` lets them run ahead.

    Args:
        network: a Layer.
        inputs: InputSpec, or a list: how many of the tensors of a sample are arguments; default: as many as `forward` has arguments.
        labels: InputSpec, or a list; kept for saving and reading.

    Raises:
        AttributeValueError: there is no `inputs`, and `forward` takes any number of arguments.

    >>> from dy2st import io, nn, optimizer
    >>> data = io.TensorDataset([np.ones((8, 2), "float32"), np.ones((8, 1), "float32")])
    >>> model = Model(nn.Linear(2, 1))
    >>> model.prepare(optimizer.SGD(0.1, parameters=model.parameters()), nn.MSELoss())
    >>> model.fit(data, batch_size=4, epochs=20, verbose=0)
    >>> model.evaluate(data, batch_size=8, verbose=0)["loss"][0] < 1e-3
    True
    """

    def __init__(self, network: Any, inputs: Any = None, labels: Any = None) -> None:
        self.network, self.mode, self.stop_training = network, "train", False
        self._inputs, self._labels = _as_list(inputs), _as_list(labels)
        self._count = len(self._inputs) or _arguments(network)
        self._optimizer: Any = None
        self._loss: Any = None
        self._metrics: list[Metric] = []

    def prepare(self, optimizer: Any = None, loss: Any = None, metrics: Any = None, amp_configs: Any = None) -> None:
        """Sets what the loops need.

        Args:
            optimizer: for training.
            loss: callable of the outputs and the labels; several losses are added.
            metrics: a `paddle.metric.Metric`, or a list.
            amp_configs: None, "O0" or {"level": "O0"}.

        Raises:
            AttributeValueError: another level, which is not supported; or a metric that is none.
        """
        level = amp_configs.get("level", "O1") if isinstance(amp_configs, dict) and amp_configs else amp_configs
        if level not in (None, "O0") and amp_configs != {}:
            raise AttributeValueError(f"Model trains in the dtypes of the network: leave out amp_configs={amp_configs!r}")
        metrics = _as_list(metrics)
        for m in metrics:
            if not isinstance(m, Metric):
                raise AttributeValueError(f"a metric is a paddle.metric.Metric, got {type(m).__name__}")
        self._optimizer, self._loss, self._metrics = optimizer, loss, metrics

    def parameters(self, *args: Any, **kwargs: Any) -> list[Any]:
        """The parameters of the network."""
        return self.network.parameters(*args, **kwargs)

    def train_batch(self, inputs: Any, labels: Any = None, update: bool = True) -> Any:
        """A step on a batch: forward, loss, backward, and with `update` the step of the optimizer.

        Returns:
            [the losses as arrays], with metrics a pair of that and the list of what their `update` gave.

        Raises:
            AttributeValueError: `prepare` had no optimizer or loss.
        """
        losses, found = self._train(_tensors(inputs), _tensors(labels), update)
        values = [loss.numpy() for loss in losses]
        return (values, found) if self._metrics else values

    def eval_batch(self, inputs: Any, labels: Any = None) -> Any:
        """The losses and metrics of a batch, in the form of `train_batch`; without a loss the metrics alone."""
        losses, found = self._eval(_tensors(inputs), _tensors(labels))
        values = [loss.numpy() for loss in losses]
        return (values, found) if self._metrics and self._loss is not None else values if self._loss is not None else found

    def predict_batch(self, inputs: Any) -> list[np.ndarray]:
        """The outputs for a batch, as arrays."""
        self._enter("test")
        with no_grad():
            return [out.numpy() for out in _as_list(self.network(*_tensors(inputs)))]

    def _enter(self, mode: str) -> None:
        if mode != self.mode or self.network.training != (mode == "train"):
            self.network.train() if mode == "train" else self.network.eval()
        self.mode = mode

    def _train(self, inputs: list[Any], labels: list[Any], update: bool) -> tuple[list[Tensor], list[Any]]:
        if self._optimizer is None or self._loss is None:
            raise AttributeValueError("call prepare(optimizer, loss) before training")
        self._enter("train")
        outputs = _as_list(self.network(*inputs))
        losses = _as_list(self._loss(*outputs, *labels))
        total = losses[0] if len(losses) == 1 else api.add_n(losses)
        total.backward()
        if update:
            self._optimizer.step()
            self._optimizer.clear_grad()
        return losses, self._measure(outputs, labels)

    def _eval(self, inputs: list[Any], labels: list[Any]) -> tuple[list[Tensor], list[Any]]:
        self._enter("eval")
        with no_grad():
            outputs = _as_list(self.network(*inputs))
            losses = [] if self._loss is None else _as_list(self._loss(*outputs, *labels))
            return losses, self._measure(outputs, labels)

    def _measure(self, outputs: list[Any], labels: list[Any]) -> list[Any]:
        with no_grad():
            computed = [_as_list(m.compute(*outputs, *labels)) for m in self._metrics]
        arrays = [[x.numpy() if isinstance(x, Tensor) else x for x in values] for values in computed]
        return [m.update(*values) for m, values in zip(self._metrics, arrays, strict=True)]

    def fit(self, train_data: Any = None, eval_data: Any = None, batch_size: Any = 1, epochs: int = 1, eval_freq: int = 1,
            log_freq: int = 10, save_dir: str | None = None, save_freq: int = 1, verbose: int = 2, drop_last: bool = False,
            shuffle: bool = True, num_workers: int = 0, callbacks: Any = None, accumulate_grad_batches: int = 1,
            num_iters: int | None = None) -> None:  # fmt: skip
        """Trains.

        Args:
            train_data, eval_data: Dataset or DataLoader; batches are the inputs and then the labels.
            batch_size: a number, or a pair for training and evaluation; of a Dataset, as drop_last, shuffle and num_workers.
            eval_freq: epochs from one evaluation to the next, which are after the first epoch and so on.
            log_freq: batches from one line of the log to the next.
            save_dir, save_freq: see `paddle.callbacks.ModelCheckpoint`.
            verbose: see `paddle.callbacks.ProgBarLogger`.
            callbacks: a `paddle.callbacks.Callback`, or a list.
            accumulate_grad_batches: batches whose gradients are added up for a step; the last of an epoch ends with one.
            num_iters: that many batches, whatever `epochs` is.

        Raises:
            AttributeValueError: no data, or no optimizer and loss.
        """
        if train_data is None or (num_iters is not None and num_iters <= 0):
            raise AttributeValueError("fit takes train_data, and num_iters above 0")
        sizes = (batch_size, batch_size) if isinstance(batch_size, int) else tuple(batch_size)
        train = _loader(train_data, sizes[0], num_workers, shuffle, drop_last)
        test = None if eval_data is None else _loader(eval_data, sizes[1], num_workers)
        steps = _length(train)
        if num_iters is not None and steps is not None:
            epochs, steps = -(-num_iters // steps), min(num_iters, steps)
        calls = CallbackList(callbacks, self, log_freq, verbose, save_freq, save_dir, epochs=epochs, steps=steps, metrics=self._names())
        if test is None and any(isinstance(c, EarlyStopping) for c in calls.callbacks):
            warnings.warn("EarlyStopping needs eval_data", stacklevel=2)
        self.stop_training, left = False, num_iters
        logs: dict[str, Any] = {}
        calls.call("on_train_begin")
        for epoch in range(epochs):
            calls.call("on_epoch_begin", epoch)
            logs = self._epoch(train, calls, "train", accumulate_grad_batches, left)
            left = None if left is None else left - logs["step"] - 1
            calls.call("on_epoch_end", epoch, logs)
            if test is not None and epoch % eval_freq == 0:
                self._evaluate(test, calls, None)
            if self.stop_training or left == 0:
                break
        calls.call("on_train_end", logs)

    def evaluate(self, eval_data: Any, batch_size: int = 1, log_freq: int = 10, verbose: int = 2, num_workers: int = 0,
                 callbacks: Any = None, num_iters: int | None = None) -> dict[str, Any]:  # fmt: skip
        """Evaluates; the arguments are those of `fit`.

        Returns:
            "loss" → a list of the losses of the last batch, as in PaddlePaddle; the name of each metric → its value over all.
        """
        calls = CallbackList(callbacks, self, log_freq, verbose, metrics=self._names())
        logs = self._evaluate(_loader(eval_data, batch_size, num_workers), calls, num_iters)
        return {name: logs[name] for name in self._names()}

    def predict(self, test_data: Any, batch_size: int = 1, num_workers: int = 0, stack_outputs: bool = False, verbose: int = 1,
                callbacks: Any = None) -> list[Any]:  # fmt: skip
        """Runs the network over data; what samples have beside the inputs is not looked at.

        Returns:
            for each output a tuple of the arrays of all batches; with `stack_outputs` one array.
        """
        loader = _loader(test_data, batch_size, num_workers)
        calls = CallbackList(callbacks, self, 1, verbose)
        calls.call("on_predict_begin", {"steps": _length(loader)})
        found: list[Any] = []
        logs: dict[str, Any] = {}
        for step, batch in enumerate(loader):
            data = flatten(batch)
            calls.call("on_predict_batch_begin", step, logs)
            found.append(self.predict_batch(data[: self._count]))
            logs = {"step": step, "batch_size": data[0].shape[0]}
            calls.call("on_predict_batch_end", step, logs)
        calls.call("on_predict_end", logs)
        outputs = list(zip(*found, strict=True))
        return [np.vstack(parts) for parts in outputs] if stack_outputs else outputs

    def _evaluate(self, loader: Any, calls: CallbackList, num_iters: int | None) -> dict[str, Any]:
        steps = _length(loader)
        steps = steps if num_iters is None or steps is None else min(steps, num_iters)
        calls.call("on_eval_begin", {"steps": steps, "metrics": self._names()})
        logs = self._epoch(loader, calls, "eval", 1, num_iters)
        calls.call("on_eval_end", logs)
        return logs

    def _epoch(self, loader: Any, calls: CallbackList, mode: str, accumulate: int, limit: int | None) -> dict[str, Any]:
        logs: dict[str, Any] = {}
        losses: list[Tensor] = []
        total = _length(loader)
        for m in self._metrics:
            m.reset()
        for step, batch in enumerate(loader):
            data = flatten(batch)
            calls.call(f"on_{mode}_batch_begin", step, logs)
            inputs, labels = data[: self._count], data[self._count :]
            if mode == "train":
                losses, _ = self._train(inputs, labels, (step + 1) % accumulate == 0 or step + 1 == total)
            else:
                losses, _ = self._eval(inputs, labels)
            logs.update(step=step, batch_size=data[0].shape[0])
            if calls.look(mode, step):
                self._log(logs, losses)
            calls.call(f"on_{mode}_batch_end", step, logs)
            if step + 1 == limit:
                break
        if not logs:
            raise AttributeValueError("the data has no batches")
        self._log(logs, losses)
        return logs

    def _log(self, logs: dict[str, Any], losses: list[Tensor]) -> None:
        if self._loss is not None:
            logs["loss"] = [float(loss) for loss in losses]
        for m in self._metrics:
            logs.update(zip(_as_list(m.name()), _as_list(m.accumulate()), strict=True))

    def _names(self) -> list[str]:
        return [*(["loss"] if self._loss is not None else []), *(n for m in self._metrics for n in _as_list(m.name()))]

    def save(self, path: str, training: bool = True) -> None:
        """Writes `path.pdparams`, and with an optimizer `path.pdopt`; with `training=False` a model for inference, by `paddle.jit.save`."""
        if not training:
            from .. import jit

            jit.save(self.network, path, self._inputs or None)
            return
        save(self.network.state_dict(), path + ".pdparams")
        if self._optimizer is not None:
            save(self._optimizer.state_dict(), path + ".pdopt")

    def load(self, path: str, skip_mismatch: bool = False, reset_optimizer: bool = False) -> None:
        """Reads what `save` wrote.

        Args:
            path: with or without a suffix.
            skip_mismatch: warn of parameters that are not in the file, or have another shape there, and leave them and the optimizer.
            reset_optimizer: do not read the state of the optimizer.

        Raises:
            StateDictError: a parameter is not in the file, or has another shape there.
        """
        root, suffix = os.path.splitext(path)
        path = root if suffix in (".pdparams", ".pdopt", ".pdmodel") else path
        given, fitting = load(path + ".pdparams"), []
        for name, own in self.network.state_dict().items():
            if name in given and list(given[name].shape) == list(own.shape):
                fitting.append((own, given[name]))
                continue
            said = f"{name} {'has another shape' if name in given else 'is not'} in {path}.pdparams"
            if not skip_mismatch:
                raise StateDictError(said)
            warnings.warn(f"{said}, and is left as it is", stacklevel=2)
            reset_optimizer = True
        for own, value in fitting:
            own.set_value(value)
        if self._optimizer is not None and not reset_optimizer and os.path.exists(path + ".pdopt"):
            self._optimizer.set_state_dict(load(path + ".pdopt"))


def _arguments(network: Any) -> int:
    """How many arguments `forward` takes."""
    forward = inspect.signature(type(network).forward).parameters.values()
    if any(p.kind is p.VAR_POSITIONAL for p in forward):
        raise AttributeValueError("forward takes any number of arguments: pass `inputs` to Model, an InputSpec for each of them")
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in forward) - 1


def _tensors(given: Any) -> list[Any]:
    return [x if isinstance(x, Tensor) else api.to_tensor(x) for x in _as_list(given)]


def _loader(data: Any, batch_size: int, num_workers: int, shuffle: bool = False, drop_last: bool = False) -> Any:
    if not isinstance(data, Dataset):
        return data
    shuffle = shuffle and not isinstance(data, IterableDataset)
    return DataLoader(data, batch_size=batch_size, shuffle=shuffle, drop_last=drop_last, num_workers=num_workers)


def _length(loader: Any) -> int | None:
    """How many batches there are; None if only the loop knows."""
    if not hasattr(loader, "__len__") or (isinstance(loader, DataLoader) and isinstance(loader.dataset, IterableDataset)):
        return None
    return len(loader)
