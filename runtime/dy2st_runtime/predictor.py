"""`Predictor`: runs a saved model."""

from __future__ import annotations

import copy
import functools
import operator
import os
import secrets
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import forks
from .errors import AttributeValueError
from .executor import Given, interprets, make_executable
from .feeds import check_feeds
from .formats import InferenceModel, load_inference_model
from .ir.program import Program, Variable
from .ir.prune import RNG
from .ir.visit import all_ops


class TensorInfo(NamedTuple):
    """Name, dtype and shape (-1 = any size) of an input or output."""

    name: str
    dtype: str
    shape: tuple[int, ...]


class Predictor:
    """A model ready to run. The first run compiles it (or loads it from the compile cache); one compilation serves all
    sizes of open dims. Several threads may call `run` at once; those of a model that draws random numbers, or updates its state,
    take turns.

    A pickle of a Predictor holds the model itself, not its path, so that it can be sent to other processes and machines (`multiprocessing`,
    joblib, Spark, Ray). Copies and pickles have the state as it is at that time, and go on from there on their own.

    Args:
        path: see `load_inference_model`; or a model that is already loaded.
        model_filename, params_filename: see `load_inference_model`.
        place: "cpu" or "cuda".
        seed: where the random numbers of a model that draws (`rand`, dropout for training) begin: the runs give what the layer
            gives after `dy2st.seed(seed)`. None: each Predictor draws other numbers, also one that is copied or unpickled. A process
            that is forked goes on with the state that it has inherited: make its Predictor there.

    Attributes:
        inputs: name, dtype and shape of each feed.
        outputs: the same of each fetch.

    Raises:
        AttributeValueError: the seed is no int of 64 bits.

    Example:
        >>> predictor = Predictor("model/net")  # doctest: +SKIP
        >>> (scores,) = predictor.run({"x": np.zeros([1, 6], "float32")})  # doctest: +SKIP
    """

    def __init__(self, path: str | os.PathLike[str] | InferenceModel, *, model_filename: str | None = None,
                 params_filename: str | None = None, place: str = "cpu", seed: int | None = None) -> None:  # fmt: skip
        self._seeded = seed is not None
        generator = _somewhere() if seed is None else np.array([_checked(seed), 0], np.int64)
        if not isinstance(path, InferenceModel):
            path = load_inference_model(path, model_filename=model_filename, params_filename=params_filename)
        self.model, self.place = path, place
        self._state: dict[str, Any] = {name: np.array(value) for name, value in self.model.params.items()}
        self._prepare(generator)

    def _prepare(self, generator: np.ndarray) -> None:
        """What follows from the model and its state; `generator` is the state of the random generator, which no file holds."""
        block = self.model.program.global_block()
        self._feeds = [block.var(name) for name in self.model.feed_names]
        self.inputs = [_info(v) for v in self._feeds]
        self.outputs = [_info(block.var(name)) for name in self.model.fetch_names]
        if RNG in block.vars:
            self._state[RNG] = generator
        self._same = object()  # stands for these arrays, as long as no run updates them
        self._lock = forks.lock()
        self._updates = _updates_of(self.model.program)
        self._executables: dict[bool, Any] = {}

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: value for name, value in vars(self).items() if name not in _MADE}
        with self._lock:
            state = {name: value.copy() if name in self._updates else value for name, value in self._state.items()}
        generator = state.pop(RNG, None)
        model = InferenceModel(self.model.program, self.model.feed_names, self.model.fetch_names, state)
        return {**kept, "model": model, "_generator": generator if self._seeded else None}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        vars(self).update({name: value for name, value in kept.items() if name != "_generator"})
        updated = _updates_of(self.model.program)
        # what unpicklers give may be memory that cannot be written, which an executable would copy at each run
        self._state = {name: np.array(value) if name in updated else np.require(value, None, ("C", "A", "W"))
                       for name, value in self.model.params.items()}  # fmt: skip
        generator = kept["_generator"]
        self._prepare(_somewhere() if generator is None else generator)

    def __copy__(self) -> Predictor:
        other = type(self).__new__(type(self))
        other.__setstate__(self.__getstate__())
        other._executables = self._executables  # compiled code has no state
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Predictor:
        memo[id(self)] = other = self.__copy__()
        of_subclass = vars(self).keys() - _OWN
        vars(other).update({name: copy.deepcopy(vars(self)[name], memo) for name in sorted(of_subclass)})
        return other

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


def _updates_of(program: Program) -> frozenset[str]:
    """The persistable variables that a run updates."""
    block = program.global_block()
    names = (name for root in program.roots for op in all_ops(root) for name in op.output_names)
    return frozenset(name for name in names if name in block.vars and block.vars[name].persistable)


def _somewhere() -> np.ndarray:
    """A state of the random generator that nobody else has."""
    return np.array([secrets.randbits(31), 0], np.int64)


def _checked(seed: Any) -> int:
    try:
        number = operator.index(seed)
    except TypeError:
        raise AttributeValueError(f"a seed is an int or None, got {seed!r}") from None
    if not -(2**63) <= number < 2**63:
        raise AttributeValueError(f"a seed has at most 64 bits, got {number}")
    return number


_MADE = {"model", "_state", "_feeds", "inputs", "outputs", "_same", "_lock", "_updates", "_executables"}
"""Attributes that are made anew from the model and its state."""
_OWN = _MADE | {"place", "_seeded"}
