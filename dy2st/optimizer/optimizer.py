"""`Optimizer`: what all optimizers share.

A step is a list of update ops, one for each parameter, made through dispatch: an eager `step()` compiles them and runs them as one
(`compiled`), or one by one where it cannot; while a program is built they become part of it. So there is one definition of each optimizer.
"""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .. import unique_name
from ..errors import AttributeValueError, DTypeError, StagedValueError, StateDictError
from ..nn.clip import ClipGradBase, ClipGradByGlobalNorm, ClipGradByNorm, ClipGradByValue
from ..nn.parameter import make_buffer
from ..nn.state import fit
from ..regularizer import L1Decay, L2Decay, WeightDecay
from ..tensor import Tensor, autograd, dispatch, manipulation, math, scaling, watching
from ..tensor.location import user_location
from ..tensor.promotion import as_tensor
from .compiled import CompiledSteps
from .lr import LRScheduler

ParamsGrads = list[tuple[Tensor, Tensor]]


class Optimizer:
    """Base of optimizers. Subclasses name their accumulators and give `update`.

    Args:
        learning_rate: a number or an `lr.LRScheduler`.
        parameters: the parameters to train, each once; or dicts with "params" and, for these, other values of "learning_rate"
            (a factor), "weight_decay", "grad_clip" and what `group_options` names.
        weight_decay: a number (L2Decay), an L1Decay or L2Decay; a parameter's own regularizer goes before it.
        grad_clip: a `nn.ClipGradBy...`.

    Raises:
        DTypeError: an argument is of another type.
        AttributeValueError: a parameter is there twice, two have one name, or a group sets something unknown.
    """

    accumulators: dict[str, float] = {}
    """Name → initial value of the state that each parameter has, of its shape."""
    scalars: dict[str, float] = {}
    """The same for state of one element."""
    skips_absent = True
    """Whether the ops for a parameter change nothing where its gradient is absent."""
    group_options: tuple[str, ...] = ()
    """Hyperparameters that a parameter group can set too: read them by `option`."""

    def __init__(self, learning_rate: Any = 0.001, parameters: Iterable[Any] | None = None, weight_decay: Any = None,
                 grad_clip: Any = None, name: str | None = None) -> None:  # fmt: skip
        if isinstance(parameters, Tensor) or not isinstance(parameters, (Iterable, type(None))):
            raise DTypeError(f"parameters must be a list of parameters, got {type(parameters).__name__}",
                             hint="use layer.parameters()")  # fmt: skip
        if not isinstance(learning_rate, (int, float, LRScheduler)):
            raise DTypeError(f"learning_rate must be a number or an LRScheduler, got {type(learning_rate).__name__}")
        if grad_clip is not None and not isinstance(grad_clip, ClipGradBase):
            raise DTypeError(f"grad_clip must be a nn.ClipGradBy..., got {type(grad_clip).__name__}",
                             hint="use nn.ClipGradByGlobalNorm(1.0), say")  # fmt: skip
        self._learning_rate = learning_rate
        self._grad_clip = grad_clip
        self.regularization = self._decay(weight_decay)
        self._name = name or unique_name.generate(type(self).__name__.lower())
        if (recorder := dispatch.current_recorder()) is not None:
            recorder.on_state_created(self._name)
        self._groups: list[dict[str, Any]] = []
        self._options: dict[int, dict[str, Any]] = {}
        self._own_options: list[dict[str, Any]] = []
        self._names: set[str] = set()
        self._state: dict[tuple[str, str], Tensor] = {}
        self._loaded: dict[str, Any] = {}
        self._lr_tensor: Tensor | None = None
        self._compiled = CompiledSteps()
        for p in list(parameters or ()):
            self._add_group(p if isinstance(p, dict) else {"params": [p]})

    def _decay(self, weight_decay: Any) -> WeightDecay | None:
        if weight_decay is None or isinstance(weight_decay, WeightDecay):
            return weight_decay
        if isinstance(weight_decay, (int, float)):
            return L2Decay(weight_decay)
        raise DTypeError(f"weight_decay must be a number or an L1Decay or L2Decay, got {type(weight_decay).__name__}")

    def _add_group(self, group: dict[str, Any]) -> None:
        params = group["params"]
        options = {k: v for k, v in group.items() if k != "params"}
        if options:
            self._own_options.append(options)
        known = ("learning_rate", "weight_decay", "grad_clip", *self.group_options)
        for name in options:
            if name not in known:
                raise AttributeValueError(
                    f"a parameter group of {type(self).__name__} cannot set {name!r}",
                    hint=f"it can set {', '.join(known)}",
                )
        if "weight_decay" in options:
            options["weight_decay"] = self._decay(options["weight_decay"])
        for p in [params] if isinstance(params, Tensor) else params:
            if not isinstance(p, Tensor):
                raise DTypeError(f"parameters must be Tensors, got {type(p).__name__}", hint="use layer.parameters()")
            if id(p) in self._options:
                raise AttributeValueError(
                    f"parameter {p.name!r} is there twice; it would be updated twice in a step", hint="give it once"
                )
            # the state of a parameter goes by its name, here and in files
            if p.name in self._names:
                raise AttributeValueError(
                    f"two parameters have the name {p.name!r}; they would share their state",
                    hint="give them different names, or leave the names to the layers",
                )
            self._names.add(p.name)
            self._options[id(p)] = options
            self._groups.append({"param": p, **options})

    @property
    def _parameter_list(self) -> list[Tensor]:
        return [g["param"] for g in self._groups]

    # ---- one step ----
    def step(self) -> None:
        """Updates all parameters that have a gradient, in place.

        Raises:
            AttributeValueError: the optimizer was made without parameters.
        """
        if not self._groups:
            raise AttributeValueError("the optimizer has no parameters", hint="pass parameters=layer.parameters()")
        watcher = watching.current() if dispatch.in_dynamic_mode() else None
        if watcher is not None and watcher.step(self):
            return
        self.apply_gradients(dispatch.gradients_of(self._parameter_list))

    def _record(self, params_grads: ParamsGrads, rate: Any) -> None:
        """A step as a part of what a static function does; the learning rate may be what only the run knows."""
        recorder = dispatch.current_recorder()
        assert recorder is not None
        shared = manipulation.reshape(manipulation.cast(as_tensor(rate), "float32"), [1])
        required = () if self.skips_absent else [g for _, g in params_grads]
        with recorder.step([self._state, self._loaded], required, self._settings([p for p, _ in params_grads])):
            self.updates(params_grads, shared)

    _record._dy2st_not_to_static = True  # type: ignore[attr-defined]

    def apply_gradients(self, params_grads: Sequence[tuple[Tensor, Tensor]]) -> None:
        """Clips and regularizes the gradients and updates the parameters; as ops of the program while one is built."""
        pairs = list(params_grads)
        if dispatch.trains():
            self._record(pairs, self.get_lr())
            return
        if dispatch.in_dynamic_mode() and self._compiled.run(self, pairs):
            return
        self.updates(pairs)

    def updates(self, params_grads: ParamsGrads, rate: Tensor | None = None) -> None:
        """The ops of a step; `rate`: the learning rate, if the program that is built has it."""
        with autograd.no_grad():
            for p, g in self._regularized(self._clipped(params_grads)):
                self.update(p, g, self._rate(p, rate))

    def _settings(self, params: Sequence[Tensor]) -> Iterator[tuple[Any, Sequence[str]]]:
        """What says what a step does: objects, with the names of their attributes that do.

        Raises:
            StagedValueError: code of the user's is among it, which would run once, while a static function is traced.
        """
        yield self, [f"_{name}" for name in self.group_options]
        yield from ((p, ["need_clip", "regularizer", "optimize_attr"]) for p in params)
        groups = [self._options.get(id(p), {}) for p in params]
        for clip in {id(c): c for c in (self._grad_clip, *(g.get("grad_clip") for g in groups))}.values():
            if type(clip) not in _CLIPS:
                raise StagedValueError(
                    f"the step of an optimizer whose gradients are clipped by a class of your own, {type(clip).__name__}",
                    location=user_location(), hint="make the step outside of the static function, or clip by one of nn.ClipGradBy...",
                )  # fmt: skip
            yield clip, [] if clip is None else list(vars(clip))
        decays = (self.regularization, *(g.get("weight_decay") for g in groups), *(getattr(p, "regularizer", None) for p in params))
        for decay in {id(d): d for d in decays if d is not None}.values():
            yield decay, list(vars(decay))

    def recipe(self, params: Sequence[Tensor]) -> Any:
        """All that the ops of a step depend on besides the values of tensors; None if code of the user's is among it."""
        cls: Any = type(self)
        if not _is_ours(cls):
            return None
        decays = [self.regularization, *(getattr(p, "regularizer", None) for p in params)]
        clips = [self._grad_clip]
        for group in self._own_options:
            decays.append(group.get("weight_decay"))
            clips.append(group.get("grad_clip"))
        if not all(type(d) in _DECAYS for d in decays) or not all(type(c) in _CLIPS for c in clips):
            return None
        return (
            [getattr(self, f"_{name}") for name in self.group_options],
            [list(group.items()) for group in self._own_options],
            [None if d is None else (type(d), d.coeff) for d in decays],
            [(c, None if c is None else list(vars(c).values())) for c in clips],
            [self._recipe_of(p) for p in params],
        )

    def decisive(self, params: Sequence[Tensor]) -> list[dict]:
        """The dicts without whose change the recipe stays what it is."""
        objects: list[Any] = [self, *params, self.regularization, self._grad_clip, *(getattr(p, "regularizer", None) for p in params)]
        for group in self._own_options:
            objects += [group.get("weight_decay"), group.get("grad_clip")]
        found = [vars(x) for x in objects if x is not None] + [getattr(p, "optimize_attr", {}) for p in params]
        return [*{id(d): d for d in (*found, *self._own_options)}.values()]

    def _recipe_of(self, p: Tensor) -> tuple:
        """The part of a recipe that is about one parameter."""
        return id(p), p._value.shape, p._value.dtype, self._factor(p), getattr(p, "need_clip", True)

    def _clipped(self, params_grads: ParamsGrads) -> ParamsGrads:
        """Each group with a clip of its own is clipped by itself, the rest together."""
        clips = [self._options.get(id(p), {}).get("grad_clip", self._grad_clip) for p, _ in params_grads]
        out = list(params_grads)
        for clip in {id(c): c for c in clips if c is not None}.values():
            chosen = [i for i, c in enumerate(clips) if c is clip]
            for i, pair in zip(chosen, clip([params_grads[i] for i in chosen]), strict=True):
                out[i] = pair
        return out

    def _regularized(self, params_grads: ParamsGrads) -> ParamsGrads:
        out = []
        for p, g in params_grads:
            own = getattr(p, "regularizer", None)
            decay = own if own is not None else self._options.get(id(p), {}).get("weight_decay", self.regularization)
            out.append((p, g if decay is None or decay.coeff == 0 else math.add(g, decay.gradient(p))))
        return out

    def update(self, param: Tensor, grad: Tensor, rate: Tensor) -> None:
        """The update op of one parameter. Subclasses define it."""
        raise NotImplementedError

    def option(self, param: Tensor, name: str) -> Any:
        """The value of a hyperparameter for a parameter: that of its group, or the optimizer's."""
        return self._options.get(id(param), {}).get(name, getattr(self, f"_{name}"))

    def state(self, name: str, param: Tensor) -> Tensor:
        """The accumulator of a parameter, made when first needed."""
        key = (name, param.name)
        if key not in self._state:
            shape = [1] if name in self.scalars else [int(d) for d in param.shape]
            t = make_buffer(shape, self.initial(name, param), param.dtype, state_name(param, name))
            if t.name in self._loaded:
                # it is no part of the step that is being made a program of
                with contextlib.nullcontext() if t.is_symbolic else dispatch.eager():
                    t.set_value(self._loaded.pop(t.name))
            self._state[key] = t
        return self._state[key]

    def initial(self, name: str, param: Tensor) -> float:
        """The initial value of an accumulator."""
        return self.scalars[name] if name in self.scalars else self.accumulators[name]

    # ---- the learning rate ----
    def get_lr(self) -> float:
        """The learning rate of the next step."""
        rate = self._learning_rate
        return float(rate()) if isinstance(rate, LRScheduler) else float(rate)

    def set_lr(self, value: float) -> None:
        """Sets the learning rate.

        Raises:
            AttributeValueError: it is scheduled.
        """
        if isinstance(self._learning_rate, LRScheduler):
            raise AttributeValueError("the learning rate is scheduled; it cannot be set", hint="use the scheduler")
        self._learning_rate = float(value)

    def set_lr_scheduler(self, scheduler: LRScheduler) -> None:
        """Replaces the learning rate by a schedule."""
        self._learning_rate = scheduler

    def _factor(self, p: Tensor) -> float:
        """What the learning rate is multiplied by for a parameter."""
        own: dict[str, float] = getattr(p, "optimize_attr", {})
        return own.get("learning_rate", 1.0) * self._options.get(id(p), {}).get("learning_rate", 1.0)

    def _rate(self, p: Tensor, shared: Tensor | None = None) -> Tensor:
        """The learning rate of a parameter as a tensor of one element; `shared`: that of the optimizer, if there is one already."""
        factor = self._factor(p)
        if dispatch.in_dynamic_mode():
            return dispatch.constant(self._rate_array(factor))
        shared = self.learning_rate_variable() if shared is None else shared
        return shared if factor == 1.0 else scaling.scale(shared, factor)

    def learning_rate_variable(self) -> Tensor:
        """The learning rate in the program being built: a persistable variable of one element that is set to `get_lr()`
        before each run (`Program.before_run`)."""
        t = self._lr_tensor
        recorder = dispatch.current_recorder()
        if t is None or not recorder_has(recorder, t):
            t = make_buffer([1], self.get_lr(), "float32", unique_name.generate("learning_rate"))
            if t.is_symbolic:
                name, program = t.name, t.block.program
                program.before_run.append(lambda scope: scope.var(name).get_tensor().set(self._rate_array()))
            self._lr_tensor = t
        return t

    def _rate_array(self, factor: float = 1.0) -> np.ndarray:
        return np.array([self.get_lr() * factor], np.float32)

    # ---- gradients ----
    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Forgets the gradients of all parameters; see `Tensor.clear_grad`."""
        autograd.forget(self._parameter_list)

    clear_gradients = clear_grad

    def backward(self, loss: Tensor, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None,
                 callbacks: Any = None) -> ParamsGrads:  # fmt: skip
        """The parameters with their gradients: eager, those that `loss.backward()` computed before; for the loss of a
        program, gradient ops are appended to it."""
        if loss.is_symbolic and not dispatch.trains():
            from ..static.gradient import append_backward

            wrt = parameters if parameters is not None else (self._parameter_list or None)
            return append_backward(loss, wrt, no_grad_set)
        params = self._parameter_list if parameters is None else list(parameters)
        return dispatch.gradients_of(params)

    def minimize(self, loss: Tensor, startup_program: Any = None, parameters: Any = None,
                 no_grad_set: Any = None) -> tuple[list, ParamsGrads]:  # fmt: skip
        """`backward` and one update. Eager, `loss.backward()` must have been called before.

        Returns:
            an empty list (the ops of Paddle's API), and the parameters with their gradients.
        """
        where: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
        if loss.is_symbolic and not dispatch.trains():
            from ..static.program import building

            where = building(loss, startup_program)
        with where:
            params_grads = self.backward(loss, startup_program, parameters, no_grad_set)
            self.apply_gradients(params_grads)
        return [], params_grads

    # ---- state ----
    def state_dict(self) -> dict[str, Any]:
        """All accumulators by name (`linear_0.w_0_moment1_0`), and the schedule's state under "LR_Scheduler"."""
        if (recorder := dispatch.current_recorder()) is not None:
            recorder.on_state_read(self._state)
        state: dict[str, Any] = {t.name: t for t in self._state.values()}
        state.update(self._loaded)
        if isinstance(self._learning_rate, LRScheduler):
            state["LR_Scheduler"] = self._learning_rate.state_dict()
        return state

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restores what `state_dict` gave. Names that belong to none of the parameters, and state that is not restored, are
        warned about.

        Raises:
            StateDictError: a shape differs, or something is no dict or no array of numbers. Nothing is changed then.
            AttributeValueError: the schedule's state is incomplete. Nothing is changed then.
        """
        if not isinstance(state_dict, Mapping):
            raise StateDictError(f"a state dict must be a dict, got {type(state_dict).__name__}")
        given = {k: v for k, v in state_dict.items() if k not in ("LR_Scheduler", "master_weights")}
        shapes = {state_name(p, a): [1] if a in self.scalars else list(p._value.shape) for p in self._parameter_list
                  for a in (*self.accumulators, *self.scalars)}  # fmt: skip
        made = {t.name: t for t in self._state.values()}
        values = {}
        for name, value in given.items():
            if name in made:
                values[name] = fit(name, value, made[name], "optimizer")
            elif name in shapes and list(np.shape(value)) != shapes[name]:
                raise StateDictError(
                    f"{name!r} has shape {list(np.shape(value))} in the state dict, not {shapes[name]}"
                )
        if isinstance(self._learning_rate, LRScheduler) and "LR_Scheduler" in state_dict:
            self._learning_rate.set_state_dict(state_dict["LR_Scheduler"])
        for name, value in values.items():
            made[name].set_value(value)
        # accumulators that are not made yet get theirs when they are; what is given may go on changing until then
        self._loaded = {k: v.detach().clone() if isinstance(v, Tensor) else v for k, v in given.items() if k not in made}
        lacking = [n for n in made if n not in given]
        if isinstance(self._learning_rate, LRScheduler) and "LR_Scheduler" not in state_dict:
            lacking.append("LR_Scheduler")
        foreign = [n for n in self._loaded if n not in shapes] if shapes else []
        for names, what in ((lacking, "missing in the state"), (foreign, "belongs to no parameter of the optimizer")):
            if names:
                warnings.warn(f"{', '.join(map(repr, names))}: {what}", stacklevel=2)

    set_dict = set_state_dict


_DECAYS = (type(None), L1Decay, L2Decay)
_CLIPS = (type(None), ClipGradByValue, ClipGradByNorm, ClipGradByGlobalNorm)


@functools.cache
def _is_ours(cls: Any) -> bool:
    """Whether all that makes the ops of a step is defined here, not in a class of the user's."""
    parts = ("update", "updates", "option", "state", "initial", "_clipped", "_regularized", "_rate", "_slots", "recipe", "_recipe_of")
    return all(getattr(cls, name).__module__.startswith(f"{__package__}.") for name in parts if hasattr(cls, name))


def state_name(param: Tensor, accumulator: str) -> str:
    """What the state of a parameter is called, as in PaddlePaddle's files."""
    return f"{param.name}_{accumulator}_0"


def recorder_has(recorder: Any, t: Tensor) -> bool:
    """Whether a tensor belongs to the program that is being built, or to none."""
    if not t.is_symbolic:
        return True
    block = getattr(recorder, "block", None)
    return block is not None and t.block.program is block.program
