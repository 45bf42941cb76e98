"""`load`: inference models from disk, as layers."""

from __future__ import annotations

import contextlib
import copy
import inspect
import itertools
import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from dy2st_runtime import forks
from dy2st_runtime.formats import InferenceModel, program_from_bytes, program_to_bytes
from dy2st_runtime.formats.inference_model import PARAMS_INFO, PARAMS_SUFFIX, PROGRAM_SUFFIX, load_inference_models
from dy2st_runtime.ir import Program, Variable, clone_ops, clone_program
from dy2st_runtime.ir.visit import all_ops
from dy2st_runtime.ops.check import UNKNOWN

from ..convert.hub import current_tracer, need_tracer
from ..convert.trace.raising import raise_where
from ..errors import FeedError, InputGradientError, ModeError, StagedValueError
from ..nn import Layer
from ..tensor import Parameter, Tensor, dispatch
from ..tensor.location import user_location, warn
from ..tensor.promotion import as_tensor
from ..tensor.random import STATE_NAME, state
from . import static_call
from .captures import Captured
from .concrete import ConcreteProgram, Effects
from .guards import Guards
from .recipes import Fetched, Rebuilt
from .signature import Arguments, Parameters

# PaddlePaddle's names of the ends of the files' names
INFER_MODEL_SUFFIX, INFER_PARAMS_SUFFIX, INFER_PARAMS_INFO_SUFFIX = PROGRAM_SUFFIX, PARAMS_SUFFIX, PARAMS_INFO

# what a program raises that code of the user's has raised
_RAISING = ("raise_if", "raise_object", "assert")


class LoadedFunction:
    """A saved program that can be called, with the tensors of a layer as its parameters.

    Args:
        name: what errors call it.
        tensors: its parameters, by their names in the program.
    """

    def __init__(self, name: str, program: Program, feeds: Sequence[str], fetches: Sequence[str], tensors: Mapping[str, Tensor]):
        self.name, self.program, self.feeds, self.fetches, self._tensors = name, program, list(feeds), list(fetches), dict(tensors)
        block = self.program.global_block()
        captured = []
        for parameter, t in tensors.items():
            v = block.var(parameter)
            v.stop_gradient = t.stop_gradient
            captured.append(Captured(t, v))
        for op in (op for root in self.program.roots for op in all_ops(root)):
            if op.type == "raise_object":
                op.attrs["number"] = UNKNOWN  # also for the trace that it is copied into, which numbers exceptions of its own
        inputs = [block.var(name) for name in self.feeds]
        effects, computed = Effects(), list(self.fetches)
        if (random_state := block.vars.get(STATE_NAME)) is not None:
            # a model that was saved for training draws from the generator, as the layer did
            captured.append(Captured(state, random_state))
            effects.captures.append((state, len(computed)))
            computed.append(STATE_NAME)
        parts = tuple(Fetched(i) for i in range(len(self.fetches)))
        recipe = parts[0] if len(parts) == 1 else Rebuilt(tuple, (), parts)
        self._takes = Parameters(
            inspect.Signature([inspect.Parameter(f"input_{i}", inspect.Parameter.POSITIONAL_ONLY) for i in range(len(inputs))])
        )
        self._changing = forks.reentrant_lock()  # as `Traces.changing`
        self._concrete = ConcreteProgram(name, None, self.program, inputs, captured, computed, recipe, effects, Guards(()), [])

    def __deepcopy__(self, memo: dict[int, Any]) -> LoadedFunction:
        return LoadedFunction(self.name, clone_program(self.program), self.feeds, self.fetches, copy.deepcopy(self._tensors, memo))

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_bytes, (self.name, program_to_bytes(self.program, self.feeds, self.fetches), self._tensors)

    def __call__(self, *inputs: Any) -> Any:
        self._require_no_gradient(inputs)
        if dispatch.in_dynamic_mode():
            self._require_tensors(inputs)
            arguments = Arguments(self._takes, _each_its_own(inputs), {}, "forward")
            with self._changing if self._concrete.changes else contextlib.nullcontext():
                return static_call.run(self._concrete, arguments)
        return self._inline(inputs)

    def _require_no_gradient(self, inputs: Sequence[Any]) -> None:
        """InputGradientError for an input that wants a gradient, if only in some runs, where the file does not say through which values it
        flows."""
        for t, v in zip(inputs, self._concrete.inputs, strict=False):
            if (
                isinstance(t, Tensor)
                and dispatch.is_grad_enabled()
                and v.stop_gradient
                and not t._stops  # in a branch or a loop only the run may know, so nobody asks for `stop_gradient`
                and v.dtype.startswith("float")
            ):
                raise InputGradientError(
                    f"input {v.name!r} of {self.name} wants a gradient, but the model was saved without gradients of its inputs",
                    location=user_location(2),
                    hint="save it with InputSpec(..., stop_gradient=False), or pass x.detach()",
                )

    def _require_tensors(self, inputs: Sequence[Any]) -> None:
        if len(inputs) != len(self.feeds):
            takes = ", ".join(map(repr, self.feeds)) or "nothing"
            raise FeedError(f"{self.name} takes {takes}; got {len(inputs)} arguments", location=user_location(3),
                            hint="pass a tensor for each")  # fmt: skip
        for name, x in zip(self.feeds, inputs, strict=True):
            if not isinstance(x, (Tensor, np.ndarray)):
                raise FeedError(f"input {name!r} of {self.name} is no tensor, but {'None' if x is None else f'of {type(x).__name__}'}",
                                location=user_location(3), hint="make it one: paddle.to_tensor(x)")  # fmt: skip

    def _inline(self, inputs: Sequence[Any]) -> Any:
        """Copies the program into the one that is being traced."""
        tracer = current_tracer()
        if tracer is None:
            raise ModeError("a loaded model cannot be called while a program is built by hand")
        self._require_tensors(inputs)
        block = self.program.global_block()
        if tracer.tries.active and any(op.type in _RAISING for op in all_ops(block)):
            raise StagedValueError(
                f"{self.name} may raise an exception of its own, and is called inside of `try`", location=user_location(2),
                hint="call it outside of the static function, or check before it what it checks",
            )  # fmt: skip
        tensors = [x if isinstance(x, Tensor) else Tensor(x) for x in inputs]
        for t, v in zip(tensors, self._concrete.inputs, strict=True):
            _require_type(t, v)
        names = {name: tracer.lift(t).name for name, t in zip(self.feeds, tensors, strict=True)}
        names |= {c.variable.name: tracer.lift(c.tensor).name for c in self._concrete.captured}
        names = clone_ops(block.ops, block, tracer.block, names, fresh=True)
        outs: list[Variable] = [tracer.block.var(names[name]) for name in self.fetches]
        results = tuple(Tensor.wrap(v, v.stop_gradient) for v in outs)
        return results[0] if len(results) == 1 else results


def _from_bytes(name: str, data: bytes, tensors: Mapping[str, Tensor]) -> LoadedFunction:
    """What a pickle of a `LoadedFunction` calls; the bytes are read and checked as those of a model file."""
    loaded = program_from_bytes(data)
    return LoadedFunction(name, loaded.program, loaded.feed_names, loaded.fetch_names, tensors)


def _each_its_own(inputs: Sequence[Any]) -> tuple[Any, ...]:
    """Inputs of which none is another one: a copy for a tensor that was there before, through which gradients flow."""
    given: set[int] = set()
    found = []
    for x in inputs:
        found.append(x.clone() if id(x) in given and isinstance(x, Tensor) else x)
        given.add(id(x))
    return tuple(found)


def _require_type(t: Tensor, v: Variable) -> None:
    """FeedError, while tracing or in the run, unless a tensor is of the type that the saved program has for an input."""

    def error() -> FeedError:
        return FeedError(f"feed {v.name!r} is {t.dtype}{list(t.shape)}, the program expects {v.type}", location=user_location(4))

    static = need_tracer("a loaded model").lift(t).shape
    if t.dtype != v.dtype or len(static) != len(v.shape):
        raise error()
    for axis, (wanted, known) in enumerate(zip(v.shape, static, strict=True)):
        if -1 not in (wanted, known) and wanted != known:
            raise error()
        if wanted != -1 and known == -1:
            raise_where(as_tensor(t.shape[axis] != wanted), error())


class TranslatedLayer(Layer):
    """A loaded model: its parameters can be trained on, its forward is the saved program, and so are the other methods that were saved.
    A pickle of it holds the programs and the parameters themselves, not the path.

    Args:
        models: by the names of methods; parameters of one name are one tensor.
    """

    def __init__(self, models: Mapping[str, InferenceModel]):
        super().__init__("translated_layer")
        self._functions: dict[str, LoadedFunction] = {}
        tensors: dict[str, Tensor] = {}
        for method, model in models.items():
            block = model.program.global_block()
            # files of PaddlePaddle do not say which are parameters; what ops update, as batch_norm its statistics, is none
            known = any(v.is_parameter or v.stop_gradient for v in map(block.var, model.params))
            ops = [op for root in model.program.roots for op in all_ops(root)]
            updated = {name for op in ops for slot in op.record.inplace.values() for name in op.inputs.get(slot, ())}
            for name, value in model.params.items():
                if name in tensors:
                    continue
                v, attribute = block.var(name), self._attribute_for(name, models)
                stop = v.stop_gradient or name in updated or not v.dtype.startswith("float")
                if name not in updated and (v.is_parameter or not known):
                    parameter = tensors[name] = Parameter(value, name=name, trainable=not stop)
                    self.add_parameter(attribute, parameter)
                else:
                    tensors[name] = Tensor(value, stop_gradient=stop)
                    tensors[name]._name = name
                    self.register_buffer(attribute, tensors[name])
            called = "the loaded model" if method == "forward" else f"{method!r} of the loaded model"
            own = {name: tensors[name] for name in model.params}
            self._functions[method] = LoadedFunction(called, model.program, model.feed_names, model.fetch_names, own)
            if method != "forward":
                object.__setattr__(self, method, self._functions[method])

    def _attribute_for(self, name: str, methods: Collection[str]) -> str:
        """The attribute for a parameter: its name, without dots, and none that there is."""
        stem = name.replace(".", "_")
        names = itertools.chain([stem], (f"{stem}_{i}" for i in itertools.count(1)))
        return next(n for n in names if n not in methods and not hasattr(self, n))

    def forward(self, *inputs: Any) -> Any:
        return self._functions["forward"](*inputs)

    def train(self) -> TranslatedLayer:
        """Training mode, of which the saved program knows nothing: a warning says so if it was saved for evaluation."""
        super().train()
        self._warn_of_mode()
        return self

    def eval(self) -> TranslatedLayer:
        """Evaluation mode; likewise."""
        super().eval()
        self._warn_of_mode()
        return self

    def _warn_of_mode(self) -> None:
        ops = (op for f in self._functions.values() for block in f.program.blocks for op in block.ops)
        if any(bool(op.attrs.get("is_test", not self.training)) is self.training for op in ops):
            saved, wanted = ("evaluation", "train()") if self.training else ("training", "eval()")
            warn(f"the loaded model was saved for {saved}, and computes so after {wanted} too, as its program does (dropout, batch "
                 f"normalization): save it after model.{wanted}")  # fmt: skip

    def program(self, method_name: str = "forward") -> Program:
        """The saved program of a method."""
        return self._functions[method_name].program


def load(path: str | os.PathLike[str], **configs: Any) -> TranslatedLayer:
    """The model that `save` (or PaddlePaddle) wrote, as a layer; with the methods that were saved beside its forward, in
    `path.METHOD.pdmodel`.

    Args:
        path: path without suffix, as given to `save`; or the `.pdmodel` file, or a folder.

    Raises:
        FileNotFoundError: there is no such model.
        FormatError: the files are damaged or no model.
    """
    found, _ = load_inference_models(path)
    models = {"forward": found.pop("")}
    params = dict(models["forward"].params)
    for method, model in found.items():
        other = [name for name, value in model.params.items() if name in params and not np.array_equal(params[name], value, equal_nan=True)]
        reason = f"another value of {other[0]!r}" if other else "a name that layers have" if hasattr(TranslatedLayer, method) else None
        if reason is not None:
            warn(f"jit.load: {os.fspath(path)}.{method} has {reason}, so it is no method of the model {os.fspath(path)} and is left out")
            continue
        params.update(model.params)
        models[method] = model
    return TranslatedLayer(models)
