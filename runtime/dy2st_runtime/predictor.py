"""`Predictor`: runs a saved model."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .executor import Given, interprets, make_executable
from .feeds import check_feeds
from .formats import InferenceModel, load_inference_model
from .ir.program import Program, Variable
from .ir.visit import all_ops


class TensorInfo(NamedTuple):
    """Name, dtype and shape (-1 = any size) of an input or output."""

    name: str
    dtype: str
    shape: tuple[int, ...]


class Predictor:
    """A model ready to run. The first run compiles it (or loads it from the compile cache); one compilation serves all
    sizes of open dims. Several threads may call `run` at once.

    Args:
        path: see `load_inference_model`; or a model that is already loaded.
        model_filename, params_filename: see `load_inference_model`.
        place: "cpu" or "cuda".

    Attributes:
        inputs: name, dtype and shape of each feed.
        outputs: the same of each fetch.

    Example:
        >>> predictor = Predictor("model/net")  # doctest: +SKIP
        >>> (scores,) = predictor.run({"x": np.zeros([1, 6], "float32")})  # doctest: +SKIP
    """

    def __init__(self, path: str | os.PathLike[str] | InferenceModel, *, model_filename: str | None = None,
                 params_filename: str | None = None, place: str = "cpu") -> None:  # fmt: skip
        if not isinstance(path, InferenceModel):
            path = load_inference_model(path, model_filename=model_filename, params_filename=params_filename)
        self.model, self.place = path, place
        block = self.model.program.global_block()
        self._feeds = [block.var(name) for name in self.model.feed_names]
        self.inputs = [_info(v) for v in self._feeds]
        self.outputs = [_info(block.var(name)) for name in self.model.fetch_names]
        self._state: dict[str, Any] = {name: np.array(value) for name, value in self.model.params.items()}
        self._same = object()  # stands for these arrays, as long as no run updates them
        self._lock = threading.Lock()
        self._updates = _updates_state(self.model.program)
        self._executables: dict[bool, Any] = {}

    def run(self, feeds: Mapping[str, Any] | Sequence[Any]) -> list[Any]:
        """Runs the model once.

        Args:
            feeds: an array for each input, by name or in the order of `inputs`.

        Returns:
            an array for each output, in order (None where the path taken yields no value).

        Raises:
            FeedError: a feed is missing, unknown, or has another dtype or shape.
        """
        arrays = check_feeds(self._feeds, feeds)
        if not self._updates:
            # a run that updates nothing gets its own dict, if any: what it adds to it is nobody else's business
            return self._run(arrays, functools.partial(dict, self._state), self._same)
        with self._lock:
            return self._run(arrays, self._state, None)

    def _run(self, arrays: list[np.ndarray], state: Given, same: object) -> list[Any]:
        interpreted = interprets()
        executable = self._executables.get(interpreted)
        if executable is None:
            executable = make_executable(self.model.program, self.model.feed_names, self.model.fetch_names, place=self.place)
            self._executables[interpreted] = executable  # two threads may compile at once; either result will do
        return executable.run(arrays, state, same)


def _info(v: Variable) -> TensorInfo:
    return TensorInfo(v.name, v.dtype, v.shape)


def _updates_state(program: Program) -> bool:
    block = program.global_block()
    names = (name for op in all_ops(block) for name in op.output_names)
    return any(name in block.vars and block.vars[name].persistable for name in names)
