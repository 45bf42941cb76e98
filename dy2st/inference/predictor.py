"""`Predictor`: a model that runs on what its input handles hold."""

from __future__ import annotations

import copy
import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from dy2st_runtime import Predictor as Runner
from dy2st_runtime.dtype import name_of
from dy2st_runtime.predictor import TensorInfo

from ..errors import AttributeValueError, DTypeError, FeedError, FetchError
from ..tensor import Tensor as EagerTensor
from .config import Config
from .kinds import DataType, data_type


class Tensor:
    """The handle of an input or output of a Predictor; `get_input_handle` and `get_output_handle` give it.

    Attributes:
        name: of the input or output.
    """

    def __init__(self, info: TensorInfo):
        self.name = info.name
        self._dtype, self._shape = info.dtype, [0]
        self._array: np.ndarray | None = None

    def reshape(self, shape: Sequence[int] | int) -> None:
        """Says which shape the next value has. What `copy_from_cpu` gets has one of its own, so this is only for `shape()`."""
        sizes = [shape] if isinstance(shape, int) else shape
        self._shape = [operator.index(size) for size in sizes]

    def copy_from_cpu(self, data: np.ndarray) -> None:
        """Sets the value of an input to a copy.

        Args:
            data: an array of the input's dtype and shape; both are checked when the model runs.

        Raises:
            DTypeError: it is no array.
        """
        if not isinstance(data, np.ndarray):
            raise DTypeError(f"copy_from_cpu takes a NumPy array, got {type(data).__name__}")
        self._set(data.copy(order="C"))

    def share_external_data(self, data: np.ndarray | EagerTensor) -> None:
        """Sets the value of an input without a copy: who changes the array before `run` changes the input.

        Args:
            data: an array or a Tensor.

        Raises:
            DTypeError: it is neither.
        """
        if not isinstance(data, (np.ndarray, EagerTensor)):
            raise DTypeError(f"share_external_data takes a NumPy array or a Tensor, got {type(data).__name__}")
        self._set(data.numpy() if isinstance(data, EagerTensor) else data)

    def _set(self, value: np.ndarray | None) -> None:
        self._array = value
        if value is not None:
            self._dtype, self._shape = name_of(value), list(value.shape)

    def copy_to_cpu(self) -> np.ndarray:
        """The value, as an array of its own.

        Raises:
            FetchError: there is none: the model has not run, or the path that it took yields no value.
        """
        if self._array is None:
            raise FetchError(f"{self.name!r} has no value", hint="run the predictor first")
        return self._array.copy()

    def shape(self) -> list[int]:
        """The shape of the value; before there is one, what `reshape` was given, or [0]."""
        return list(self._shape)

    def type(self) -> DataType:
        """The dtype of the value; before there is one, that of the input or output."""
        return data_type(self._dtype)

    def lod(self) -> list[list[int]]:
        """Levels of detail: none."""
        return []

    def set_lod(self, lod: Iterable[Sequence[int]]) -> None:
        """Sets levels of detail.

        Raises:
            AttributeValueError: there are some. Tensors have none here: pad the sequences, and feed their lengths.
        """
        if levels := [list(level) for level in lod]:
            raise AttributeValueError(f"tensors have no levels of detail, got {levels}", hint="pad the sequences, and feed their lengths")


class Predictor:
    """A model that runs on what its input handles hold. One thread uses it at a time: others take a `clone`.

    `dy2st_runtime.Predictor` is what runs it, and the shorter way for new code.

    Args:
        config: which model, and where.

    Raises:
        FileNotFoundError, FormatError: see `dy2st_runtime.load_inference_model`.

    Example:
        >>> predictor = create_predictor(Config("model/net.pdmodel", "model/net.pdiparams"))  # doctest: +SKIP
        >>> predictor.get_input_handle("x").copy_from_cpu(np.zeros([1, 6], "float32"))  # doctest: +SKIP
        >>> predictor.run()  # doctest: +SKIP
        >>> scores = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()  # doctest: +SKIP
    """

    def __init__(self, config: Config):
        if not isinstance(config, Config):
            raise DTypeError(f"a Predictor is made of a Config, got {type(config).__name__}")
        self._attach(config.runner())

    def _attach(self, runner: Runner) -> None:
        self._runner = runner
        self._inputs = {info.name: Tensor(info) for info in runner.inputs}
        self._outputs = {info.name: Tensor(info) for info in runner.outputs}

    def get_input_names(self) -> list[str]:
        """The names of the inputs, in order."""
        return list(self._inputs)

    def get_output_names(self) -> list[str]:
        """The names of the outputs, in order."""
        return list(self._outputs)

    def get_input_handle(self, name: str) -> Tensor:
        """The handle of an input.

        Raises:
            FeedError: there is none of this name.
        """
        if name not in self._inputs:
            raise FeedError(f"the model has no input {name!r}, it has: {', '.join(self._inputs)}")
        return self._inputs[name]

    def get_output_handle(self, name: str) -> Tensor:
        """The handle of an output.

        Raises:
            FetchError: there is none of this name.
        """
        if name not in self._outputs:
            raise FetchError(f"the model has no output {name!r}, it has: {', '.join(self._outputs)}")
        return self._outputs[name]

    def run(self, inputs: Sequence[Any] | None = None) -> list[EagerTensor] | None:
        """Runs the model once.

        Args:
            inputs: Tensors or arrays in the order of the inputs; None: what the input handles hold.

        Returns:
            with `inputs`, the outputs as Tensors, in order. The output handles have them in any case.

        Raises:
            FeedError: an input is missing, or has another dtype or shape.
        """
        if inputs is None:
            empty = [name for name, handle in self._inputs.items() if handle._array is None]
            if empty:
                raise FeedError(f"not fed: {', '.join(empty)}", hint="call copy_from_cpu of its handle")
            arrays: list[Any] = [handle._array for handle in self._inputs.values()]
        else:
            arrays = [x.numpy() if isinstance(x, EagerTensor) else x for x in inputs]
        results = self._runner.run(arrays)
        for handle, value in zip(self._outputs.values(), results, strict=True):
            handle._set(value)
        if inputs is None:
            return None
        return [EagerTensor.wrap(handle.copy_to_cpu()) for handle in self._outputs.values()]

    def clone(self) -> Predictor:
        """Another Predictor of this model, for another thread, with handles of its own. Compiled code and parameters are shared."""
        other = type(self).__new__(type(self))
        other._attach(copy.copy(self._runner))
        return other

    def clear_intermediate_tensor(self) -> None:
        """Nothing: memory between runs is kept by nobody."""

    def try_shrink_memory(self) -> int:
        """0: the bytes that were given back."""
        return 0


class PredictorPool:
    """Predictors of one model, one for each thread.

    Args:
        config: which model, and where.
        size: how many.
    """

    def __init__(self, config: Config, size: int = 1):
        if size < 1:
            raise AttributeValueError(f"a pool has 1 predictor or more, got {size!r}")
        first = Predictor(config)
        self._predictors = [first, *(first.clone() for _ in range(size - 1))]

    def retrieve(self, index: int) -> Predictor:
        """The predictor of a number.

        Raises:
            AttributeValueError: there is none.
        """
        if not 0 <= index < len(self._predictors):
            raise AttributeValueError(f"the pool has the predictors 0 to {len(self._predictors) - 1}, not {index!r}")
        return self._predictors[index]

    retrive = retrieve  # its name in PaddlePaddle 2


def create_predictor(config: Config) -> Predictor:
    """The Predictor of a Config."""
    return Predictor(config)
