"""`save` and `load`: static functions as inference models on disk."""

from __future__ import annotations

import inspect
import os
import types
from collections.abc import Sequence
from typing import Any

from dy2st_runtime.formats import load_inference_model, save_inference_model
from dy2st_runtime.ir import IRBuilder, Program, Variable, clone_ops, clone_program

from ..convert.tracer import current_tracer
from ..errors import DTypeError, FeedError, FetchError, GradientError, ModeError, StagedValueError
from ..nn import Layer
from ..tensor import Parameter, Tensor, autograd, dispatch
from ..tensor.location import user_location, warn
from ..tensor.random import STATE_NAME, state
from . import static_call
from .captures import Captured
from .concrete import ConcreteProgram, Effects
from .guards import Guards
from .recipes import Fetched, Rebuilt, python_values
from .signature import Arguments, Parameters
from .static_function import StaticFunction


def save(layer: Any, path: str | os.PathLike[str], input_spec: Sequence[Any] | None = None, **configs: Any) -> None:
    """Writes `path.pdmodel` and `path.pdiparams`, which `load` and `dy2st_runtime.Predictor` read.

    A saved model gives tensors, in their order in the result; a UserWarning names Python values that are left out.

    Args:
        layer: a Layer, a static function, or a function.
        path: path without suffix; its folder is created.
        input_spec: for each argument an InputSpec; default: that of `to_static`, else the inputs of the last call.

    Raises:
        FetchError: neither an input_spec is known nor was the function called.
        FormatError: the program cannot be expressed in PaddlePaddle's format.

    >>> import dy2st, tempfile
    >>> from dy2st.jit import InputSpec
    >>> net = dy2st.nn.Linear(2, 1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(net, f"{folder}/net", [InputSpec([None, 2])])
    ...     dy2st.jit.load(f"{folder}/net")(dy2st.ones([3, 2])).shape
    [3, 1]
    """
    concrete = concrete_of(layer, input_spec)
    program, feeds, fetches, params = for_inference(concrete)
    if left_out := python_values(concrete.recipe):
        warn(f"jit.save: a saved model gives its tensors in order; these values of {concrete.name!r} are not in it: {'; '.join(left_out)}")
    save_inference_model(path, program, feeds, fetches, params)


def concrete_of(layer: Any, input_spec: Sequence[Any] | None) -> ConcreteProgram:
    """The trace to save."""
    function = layer.forward if isinstance(layer, Layer) else layer
    if not isinstance(function, StaticFunction):
        if not isinstance(function, (types.FunctionType, types.MethodType)):
            raise DTypeError(f"jit.save takes a Layer, a static function or a function, got {type(layer).__name__}")
        function = StaticFunction(function)
    spec = input_spec if input_spec is not None else function.input_spec
    if spec is not None:
        with autograd.enable_grad():  # so that it is saved through which values gradients flow
            return function.trace(*spec)
    if not function.concrete_programs:
        raise FetchError(
            f"{function.__qualname__!r} was not called yet, so its inputs are not known",
            hint="call it, or give an input_spec: [InputSpec([None, 784], 'float32')], say",
        )
    with autograd.enable_grad():
        return function.to_save()


def for_inference(
    concrete: ConcreteProgram, feed: Sequence[int] | None = None, fetch: Sequence[int] | None = None
) -> tuple[Program, list[str], list[str], dict[str, Any]]:
    """Program, feeds, fetches and parameters of a trace, as model files hold them.

    Args:
        feed, fetch: positions of the inputs and outputs to keep; default: all.
    """
    if concrete.effects.trains:
        raise StagedValueError(
            f"{concrete.name!r} is a training step (it calls backward()), which no model file can hold",
            hint="save the model that it trains",
        )
    program = clone_program(concrete.program)
    block = program.global_block()
    outputs = [v.name for v in concrete.outputs]
    if not outputs:
        raise FetchError(f"{concrete.name!r} returns no tensors: there is nothing to save")
    for position in fetch or ():
        if not -len(outputs) <= position < len(outputs):
            raise FetchError(f"fetch={position}: the function has {len(outputs)} outputs")
    fetches: list[str] = []
    for name in outputs if fetch is None else [outputs[i] for i in fetch]:
        v = block.var(name)
        if name in fetches or v.is_data or v.persistable:  # each output is a variable of its own
            name = IRBuilder(block).op("assign", X=v).name
        fetches.append(name)
    inputs = [v.name for v in concrete.inputs]
    feeds = inputs if feed is None else [inputs[i] for i in feed]
    params = {c.variable.name: c.now()._value for c in concrete.captured}
    return program, feeds, fetches, params


class TranslatedLayer(Layer):
    """A loaded model: its parameters can be trained on, its forward is the saved program."""

    def __init__(self, program: Program, feeds: Sequence[str], fetches: Sequence[str], params: dict[str, Any]):
        super().__init__("translated_layer")
        self._program, self._feeds, self._fetches = program, list(feeds), list(fetches)
        block = program.global_block()
        captured = []
        known = any(block.var(name).is_parameter for name in params)  # older files do not say which are parameters
        for name, value in params.items():
            v = block.var(name)
            t = Parameter(value, name=name, trainable=v.dtype.startswith("float") and (v.is_parameter or not known))
            self.add_parameter(name.replace(".", "_"), t)
            v.stop_gradient = t.stop_gradient
            captured.append(Captured(t, v))
        inputs = [block.var(name) for name in feeds]
        effects, computed = Effects(), list(fetches)
        if (random_state := block.vars.get(STATE_NAME)) is not None:
            # a model that was saved for training draws from the generator, as the layer did
            captured.append(Captured(state, random_state))
            effects.captures.append((state, len(computed)))
            computed.append(STATE_NAME)
        parts = tuple(Fetched(i) for i in range(len(fetches)))
        recipe = parts[0] if len(parts) == 1 else Rebuilt(tuple, (), parts)
        self._takes = Parameters(
            inspect.Signature([inspect.Parameter(f"input_{i}", inspect.Parameter.POSITIONAL_ONLY) for i in range(len(inputs))])
        )
        self._concrete = ConcreteProgram("the loaded model", None, program, inputs, captured, computed, recipe,
                                         effects, Guards(()), [])  # fmt: skip

    def forward(self, *inputs: Any) -> Any:
        self._require_no_gradient(inputs)
        if dispatch.in_dynamic_mode():
            if len(inputs) != len(self._feeds):
                takes = ", ".join(map(repr, self._feeds)) or "nothing"
                raise FeedError(f"the loaded model takes {takes}; got {len(inputs)} arguments", hint="pass a tensor for each")
            return static_call.run(self._concrete, Arguments(self._takes, inputs, {}, "forward"))
        return self._inline(inputs)

    def _require_no_gradient(self, inputs: Sequence[Any]) -> None:
        """GradientError for an input that wants a gradient where the file does not say through which values it flows."""
        for t, v in zip(inputs, self._concrete.inputs, strict=False):
            if (
                isinstance(t, Tensor)
                and dispatch.is_grad_enabled()
                and not t.stop_gradient
                and v.stop_gradient
                and v.dtype.startswith("float")
            ):
                raise GradientError(
                    f"input {v.name!r} of the loaded model wants a gradient, but the model was saved without gradients of its inputs",
                    location=user_location(2),
                    hint="save it with InputSpec(..., stop_gradient=False), or pass x.detach()",
                )

    def program(self) -> Program:
        """The saved program."""
        return self._program

    def _inline(self, inputs: Sequence[Tensor]) -> Any:
        """Copies the program into the one that is being traced."""
        tracer = current_tracer()
        if tracer is None:
            raise ModeError("a loaded model cannot be called while a program is built by hand")
        block = self._program.global_block()
        names = {name: tracer.lift(t).name for name, t in zip(self._feeds, inputs, strict=True)}
        names |= {c.variable.name: tracer.lift(c.tensor).name for c in self._concrete.captured}
        names = clone_ops(block.ops, block, tracer.block, names, fresh=True)
        outs: list[Variable] = [tracer.block.var(names[name]) for name in self._fetches]
        results = tuple(Tensor.wrap(v, v.stop_gradient) for v in outs)
        return results[0] if len(results) == 1 else results


def load(path: str | os.PathLike[str], **configs: Any) -> TranslatedLayer:
    """The model that `save` (or PaddlePaddle) wrote, as a layer.

    Args:
        path: path without suffix, or a folder.

    Raises:
        FormatError: the files are damaged or no model.
    """
    model = load_inference_model(path)
    return TranslatedLayer(model.program, model.feed_names, model.fetch_names, model.params)
