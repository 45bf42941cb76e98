"""`save`: static functions as inference models on disk."""

from __future__ import annotations

import inspect
import itertools
import os
import pickle
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from dy2st_runtime.formats.inference_model import PARAMS_INFO, save_inference_models
from dy2st_runtime.ir import IRBuilder, Program, clone_program
from dy2st_runtime.ir.prune import prune
from dy2st_runtime.ir.visit import all_ops
from dy2st_runtime.ops import registry
from dy2st_runtime.ops.fill import assign_value_attrs

from ..errors import (
    AttributeValueError,
    DTypeError,
    FetchError,
    InputGradientError,
    PythonGradientError,
    StagedValueError,
)
from ..nn import Layer
from ..tensor import Parameter, Tensor, autograd
from ..tensor.location import warn
from .concrete import ConcreteProgram
from .lost_state import lost_state
from .pruning import inputs_to_save, outputs_to_save
from .recipes import python_values
from .signature import InputSpec
from .static_function import StaticFunction

Model = tuple[Program, list[str], list[str], dict[str, Any]]
"""Program, feeds, fetches and parameters."""


def save(layer: Any, path: str | os.PathLike[str], input_spec: Sequence[Any] | None = None, *, output_spec: Sequence[Any] | None = None,
         input_names_after_prune: Sequence[str] | None = None, **configs: Any) -> None:  # fmt: skip
    """Writes `path.pdmodel` and `path.pdiparams`, which `load` and `dy2st_runtime.Predictor` read, and `path.pdiparams.info`, which has the
    names that `dy2st.load(path)` gives the parameters: those of the layer's state dict. Older files are replaced in one step: who loads the
    model meanwhile, or after the process was killed, has the old one or the new one.

    A saved model gives tensors, in their order in the result, also arguments, parameters and buffers, with their values after the call; a
    UserWarning names Python values that are left out. Numbers outside of the function, such as attributes, are what they are now; the hooks
    of a layer are a part of the model. Each call is like the first: a warning names state that a call leaves for the next one.

    Of a layer whose class has other static methods, these are written beside it, as `path.METHOD.pdmodel` and `path.METHOD.pdiparams`, for
    their own `input_spec` or the inputs of their last call; `load` gives a layer that has them too. A warning names those that are not
    saved.

    Args:
        layer: a Layer, a static function, or a function.
        path: path without suffix; its folder is created.
        input_spec: for each argument an InputSpec, and behind them a dict of those that are passed by name only; default: that of
            `to_static`, else the inputs of the last call. Of these, gradients flow to the arguments that wanted one.
        output_spec: only these results are saved, with the random draws that they need: tensors that a static call has returned, or
            positions of tensors in the result. If all are listed, they are saved in the order of the result.
        input_names_after_prune: only inputs with these names remain; the others must not be needed for the results that are saved.
        configs: `clip_extra` and `skip_prune_program` of PaddlePaddle's signature are accepted, without effect.

    Raises:
        DTypeError: it is none of these, or an argument is of another type than said.
        FetchError: neither an input_spec is known nor was the function called; a result that is listed is none; or it needs an input that
            is left out.
        FeedError: there is no input of a name in `input_names_after_prune`.
        FormatError: the program cannot be expressed in PaddlePaddle's format, or the path ends in a slash.

    >>> import dy2st, tempfile
    >>> from dy2st.jit import InputSpec
    >>> net = dy2st.nn.Linear(2, 1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(net, f"{folder}/net", [InputSpec([None, 2])])
    ...     dy2st.jit.load(f"{folder}/net")(dy2st.ones([3, 2])).shape
    [3, 1]
    """
    unknown = next((name for name in configs if name not in ("clip_extra", "skip_prune_program")), None)
    if unknown is not None:
        raise AttributeValueError(f"jit.save: {unknown!r} is not supported", hint="leave it out")
    function = static_function_of(layer)
    if input_spec is None:
        input_spec = function.input_spec
    if isinstance(layer, Layer) and (layer._forward_pre_hooks or layer._forward_post_hooks):
        function, input_spec = _with_hooks(layer, function, input_spec)
    concrete = concrete_of(function, input_spec)
    fetch = outputs_to_save(concrete, function.concrete_programs, output_spec)
    feed = inputs_to_save(concrete, input_names_after_prune, input_spec)
    models = {"": for_inference(concrete, feed, fetch)}
    if output_spec is None:
        _warn_of_python_values(concrete)
    _warn_of_state(concrete, models[""])
    for name, method in _other_methods(layer):
        models[f".{name}"] = for_inference(method)
        _warn_of_python_values(method)
        _warn_of_state(method, models[f".{name}"])
    save_inference_models(path, models, output_spec is None, {PARAMS_INFO: pickle.dumps(_structured_names(layer, models), 2)})


def _structured_names(layer: Any, models: Mapping[str, Model]) -> dict[str, dict[str, Any]]:
    """What PaddlePaddle notes of parameters and buffers, by their names in the files: the name in the state dict, and whether it is
    trained. What is in no state dict goes by its own name."""
    owner = layer if isinstance(layer, Layer) else getattr(layer, "instance", None)
    state = owner.state_dict() if isinstance(owner, Layer) else {}
    structured = {t.name: name for name, t in state.items()}
    found = {}
    for program, _, _, params in models.values():
        for name in params:
            v = program.global_block().var(name)
            found[name] = {"structured_name": structured.get(name, name), "stop_gradient": v.stop_gradient}
            if v.is_parameter:
                found[name]["trainable"] = not v.stop_gradient
    return found


def _with_hooks(layer: Layer, forward: StaticFunction, input_spec: Sequence[Any] | None) -> tuple[StaticFunction, list[Any]]:
    """The call of a layer with the hooks around its forward, and the `input_spec` for it.

    Raises:
        FetchError: no input_spec is known: calls with hooks have no trace.
    """
    if input_spec is None:
        raise FetchError(f"the inputs of a {type(layer).__name__} with hooks are not known", hint="give an input_spec")
    named = [
        InputSpec(s.shape, s.dtype, s.name or name, s.stop_gradient) if isinstance(s, InputSpec) else s
        for s, name in itertools.zip_longest(input_spec, [*forward.signature.parameters][: len(input_spec)])
    ]
    return StaticFunction(types.MethodType(type(layer).__call__, layer)), named


def _warn_of_python_values(concrete: ConcreteProgram) -> None:
    if left_out := python_values(concrete.recipe):
        warn(f"jit.save: a saved model gives its tensors in order; these values of {concrete.name!r} are not in it: {'; '.join(left_out)}")


def _warn_of_state(concrete: ConcreteProgram, model: Model) -> None:
    """A warning if what a call leaves behind counts for the next one: a model file holds a function of its inputs."""
    program, feeds, fetches, _ = model
    # what an op reads to update it, as the statistics of batch_norm, says nothing of its other outputs
    read = {name for op in all_ops(prune(program, feeds, fetches).global_block()) for slot, names in op.inputs.items()
            if slot not in op.record.inplace.values() for name in names}  # fmt: skip
    if lost := lost_state(concrete, read):
        warn(f"jit.save: a call of {concrete.name!r} changes what the next one reads: {', '.join(lost)}; the saved model computes with the "
             "values of now, always")  # fmt: skip


def _other_methods(layer: Any) -> Iterator[tuple[str, ConcreteProgram]]:
    """The static methods of a layer besides its forward, with the traces to save."""
    if not isinstance(layer, Layer):
        return
    for name in sorted(set(dir(type(layer))) - {"forward"}):
        function = vars(layer).get(name, inspect.getattr_static(type(layer), name, None))
        if not isinstance(function, StaticFunction):
            continue
        function = getattr(layer, name)
        if function.input_spec is None and not function.concrete_programs:
            warn(f"jit.save: the static method {function.__qualname__} is not saved, as it was not called yet and has no input_spec")
        elif (concrete := concrete_of(function, None)).effects.trains:
            warn(f"jit.save: the static method {function.__qualname__} is not saved, as it is a training step")
        elif not concrete.outputs:
            warn(f"jit.save: the static method {function.__qualname__} is not saved, as it returns no tensors")
        else:
            yield name, concrete


def static_function_of(layer: Any) -> StaticFunction:
    """What is saved of a layer or a function."""
    function = layer.forward if isinstance(layer, Layer) else layer
    if not isinstance(function, StaticFunction):
        if not isinstance(function, (types.FunctionType, types.MethodType)):
            raise DTypeError(f"jit.save takes a Layer, a static function or a function, got {type(layer).__name__}")
        function = StaticFunction(function)
    return function


def concrete_of(function: StaticFunction, input_spec: Sequence[Any] | None) -> ConcreteProgram:
    """The trace to save."""
    spec = input_spec if input_spec is not None else function.input_spec
    if spec is None and not function.concrete_programs and function.mixed:
        raise FetchError(
            f"{function.__qualname__!r} has full_graph=False: its statements may run eagerly between Programs, and a file holds one",
            hint="decorate it with full_graph=True, which names what cannot be staged; or save a layer or function inside that is static",
        )
    if spec is None and not function.concrete_programs:
        raise FetchError(
            f"{function.__qualname__!r} was not called yet, so its inputs are not known",
            hint="call it, or give an input_spec: [InputSpec([None, 784], 'float32')], say",
        )

    def traced() -> ConcreteProgram:
        return function.to_save() if spec is None else function.trace(*spec)

    try:
        with autograd.enable_grad():  # so that it is saved through which values gradients flow
            return traced()
    except (PythonGradientError, InputGradientError) as error:
        warn(f"jit.save: {function.__qualname__} is saved without gradients: {error.message}")
        with autograd.no_grad():
            return traced()


def for_inference(
    concrete: ConcreteProgram, feed: Sequence[int] | None = None, fetch: Sequence[int] | None = None
) -> Model:
    """Program, feeds, fetches and parameters of a trace, as model files hold them.

    Args:
        feed, fetch: positions of the inputs and outputs to keep; default: all.
    """
    if concrete.effects.trains:
        raise StagedValueError(
            f"{concrete.name!r} is a training step (it calls backward()), which no model file can hold",
            hint="save the model that it trains",
        )
    if concrete.drawn:
        raise StagedValueError(
            f"{concrete.name!r} calls {concrete.drawn[0].called}, which no model file can hold",
            hint="draw it with dy2st.rand, randint, uniform or normal, or make it an argument",
        )
    program = clone_program(concrete.program)
    block = program.global_block()
    for number in concrete.numbers:  # what a call would feed
        v = block.var(number.variable.name)
        v.is_data = False
        builder, record = IRBuilder(block, index=0), registry.get("assign_value")
        now = np.asarray(number.holder[number.entry], v.dtype)
        builder.apply(record, (), record.complete_attrs(assign_value_attrs(now)), {"Out": [v.name]})
    params = {c.variable.name: c.now()._value for c in concrete.captured}
    outputs: list[str] = []
    for x in concrete.outputs:
        if isinstance(x, Tensor):  # of the outside, which the program only hands on
            name = program.fresh_name(x.name) if program.has_name(x.name) else x.name
            params[name] = x._value
            x = block.create_var(name, x.dtype, x._value.shape, persistable=True, stop_gradient=x.stop_gradient,
                                 is_parameter=isinstance(x, Parameter))  # fmt: skip
        outputs.append(x.name)
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
    return program, feeds, fetches, params
