"""The only door to ops: `ops.op("scale", X=x, scale=2.0)`.

Eager, an op runs at once (its NumPy reference) and is recorded on the tape if a gradient may be asked for. While a
`Recorder` is active (a program is built by hand, or a function is traced), every op goes to it instead.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import FrameType
from typing import Any, ClassVar

import dy2st_runtime.ops  # noqa: F401  (registers the ops)
import numpy as np
from dy2st_runtime import dims, quiet
from dy2st_runtime import dtype as _dtype
from dy2st_runtime.ir import Variable
from dy2st_runtime.ops import registry
from dy2st_runtime.ops.builder import OpBuilder
from dy2st_runtime.ops.registry import OpDef, results

from ..errors import (
    AttributeValueError,
    DTypeError,
    Dy2stError,
    IntegerRangeError,
    ShapeError,
    StagedValueError,
    with_location,
)
from . import due, heavy, tape, watching
from .location import user_location
from .recorders import current_recorder as current_recorder
from .recorders import recording as recording
from .recorders import set_default_recorder as set_default_recorder
from .tensor import Parameter, Tensor


class Recorder:
    """What ops go to while a program is built. Subclasses give `apply` and `constant`; the rest has defaults."""

    advice = (
        "use tensor operations (where, cond, while_loop), or decorate the function with to_static, which converts Python's "
        "if, while, bool(), int()"
    )
    """What to do where Python asks for a value that only the run knows."""
    remedies: dict[str, str] = {}
    """The same for some of what asks (`.numpy()`), where more can be said."""

    def advise(self, what: str) -> str:
        """What to do where `what` asks for a value that only the run knows."""
        return self.remedies.get(what, self.advice)

    def apply(self, op: type[OpDef], ins: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[Any, ...]:
        """Records an op. `ins`: Tensors in the order of the input slots (a list for a `*` slot, None for an absent
        one), some
        of them concrete: these become variables of the program (`attrs` is complete). Returns the Tensors of the
            output slots.
        A persistable Tensor in an in-place slot is updated (`rebind`) and returned as the output."""
        raise NotImplementedError

    def constant(self, value: np.ndarray) -> Tensor:
        """A tensor with this constant value."""
        raise NotImplementedError

    def ask(self, owner: Any, name: str) -> None:
        """This package reads an attribute of a user's object, on which what is recorded depends."""

    def on_mutate(self, tensor: Tensor) -> None:
        """Called before the value of a tensor is replaced."""

    def is_leaf(self, tensor: Tensor) -> bool:
        """Whether a tensor is one of the caller's that no recorded op has made."""
        return tensor._is_leaf and not tensor.is_symbolic

    def tell_leaf(self, tensor: Tensor) -> bool:
        """`tensor.is_leaf` of a tensor that gradients flow to, for the user's code."""
        v = tensor._value
        return tensor._is_leaf and (not isinstance(v, Variable) or v.is_data or v.persistable)

    def require_no_leaf(self, tensor: Tensor) -> None:
        """Error if a tensor, which gradients flow through and which is modified, is a leaf on some paths."""

    def may_need_gradient(self, tensor: Tensor) -> bool:
        """Whether gradients may flow to a tensor: variables of loops say so in any case, but nothing that is known may want one."""
        return not tensor._stops

    def rebind(self, tensor: Tensor, new: Tensor) -> None:
        """Gives `tensor` the value of `new`."""
        self.on_mutate(tensor)
        tensor._value = new._value

    def parameter(self, name: str, shape: list[int], dtype: str, make: Callable[[list[int], str], Tensor],
                  trainable: bool) -> Parameter | None:  # fmt: skip
        """A new parameter with the initial value `make(shape, dtype)`; None: it is made eagerly."""
        return None

    def on_state_created(self, name: str) -> None:
        """Called when something is made that calls change and keep: a parameter, a buffer, an optimizer."""

    def on_layer_created(self, layer: Any) -> None:
        """Called when a layer is made."""

    def on_state_read(self, state: dict) -> None:
        """Called when somebody asks for all that an optimizer keeps so far."""

    def require_known_gradient(self, tensor: Tensor) -> None:
        """Called where somebody asks whether a tensor needs a gradient: an error if only the run knows."""

    def on_enable_grad(self) -> None:
        """Called before gradients are recorded again."""

    def require_known_name(self, tensor: Tensor) -> None:
        """Called where somebody asks for the name of a tensor that is not known before the run: an error if that would be another one."""

    def on_name_read(self, tensor: Tensor, frame: FrameType) -> None:
        """Called where code, of this frame, asks for the name of a tensor."""

    def require_name_of_its_own(self, tensor: Tensor, name: Any) -> None:
        """Error if a tensor cannot get a name while recording."""
        if tensor.is_symbolic:
            raise StagedValueError(f"variable {tensor.name!r} of a program cannot get another name", location=user_location(2),
                                   hint="fetch the variable itself; the name of an input is given to static.data()")  # fmt: skip

    def options_of(self, value: Any) -> tuple[Any, ...]:
        """The objects one of which a value is, as only the run knows."""
        return (value,)

    def switch_gradient(self, tensor: Tensor, stop: bool) -> None:
        """`tensor.stop_gradient = stop` while recording."""
        tensor.set_stop(stop)

    def keep_gradient_place(self, tensor: Tensor, new: Tensor) -> Tensor:
        """The value of `new` as that of `tensor` for a `rebind` that is no part of the computation: where gradients go stays as
        it is."""
        return new

    def on_squeeze(self, tensor: Tensor, axis: int) -> None:
        """Called for an axis that `squeeze` is to drop and that is open, or not of size 1."""

    def open_dim(self, tensor: Tensor, axis: int) -> Any:
        """What `tensor.shape[axis]` is for an open dim."""
        return -1

    def read(self, tensor: Tensor, what: str) -> np.ndarray:
        """The value of a tensor for Python, which `what` (`bool()`, `.numpy()`) asks for; StagedValueError if there
        is none yet."""
        if isinstance(tensor._value, Variable):
            raise staged_value_error(tensor, what)
        return tensor._value

    def register_hook(self, tensor: Tensor, hook: Callable[[Tensor], Tensor | None]) -> Any:
        """`tensor.register_hook(hook)` while recording."""
        raise StagedValueError(
            "a gradient hook cannot be registered while a program is built", location=user_location(2),
            hint="register it on a tensor outside the static function",
        )  # fmt: skip

    trains = False
    """Whether optimizers make their steps as part of what is recorded, with the gradients that this knows."""

    def gradient(self, tensor: Tensor) -> Tensor | None:
        """`tensor.grad` while recording."""
        return tensor._grad

    def set_gradient(self, tensor: Tensor, value: Tensor | None) -> None:
        """`tensor.grad = value` while recording."""
        tensor._grad = value

    def gradients_of(self, params: Sequence[Tensor]) -> list[tuple[Tensor, Tensor]]:
        """The parameters that have a gradient, with it."""
        return _with_gradients(params)

    def step(self, state: Sequence[dict], required: Sequence[Tensor],
             settings: Iterable[tuple[Any, Sequence[str]]]) -> contextlib.AbstractContextManager[None]:  # fmt: skip
        """The ops of an optimizer's step are recorded in this `with`.

        Args:
            state: dicts with its tensors, to which some may be added, or go from one to the other.
            required: the gradients that must be there in all runs.
            settings: the objects that say what a step does, each with the names of its attributes that do.
        """
        return contextlib.nullcontext()

    def start_random(self, state: Tensor, value: np.ndarray) -> bool:
        """The generator is given a state while recording. Whether that is recorded; else it happens now."""
        return False

    def on_random_state(self) -> None:
        """Python asks for the state of the generator while recording."""

    def text(self, tensor: Tensor, spec: str) -> str | None:
        """What stands for a tensor in a text that is made now (`str(x)`, `f"{x:.2f}"`); None: what is known of it."""
        return None

    def repeated(self, items: list | tuple, times: Tensor, frame: FrameType) -> Any:
        """`items * times`, which code of this frame says, of a number that only the run knows."""
        raise StagedValueError(f"a {type(items).__name__} is repeated as often as only the run knows", location=user_location(2),
                               hint="append to a list in a loop: for _ in range(n): out.append(x)")  # fmt: skip

    def backward(self, tensors: Sequence[Tensor], grads: Sequence[Tensor | None], retain_graph: bool, create_graph: bool) -> None:
        """`backward()` while recording."""
        raise StagedValueError(
            "backward() cannot be called while a program is built",
            location=user_location(), hint="use append_backward or gradients, or call it outside the static function",
        )  # fmt: skip

    def grad(self, outputs: Sequence[Tensor], inputs: Sequence[Tensor], grad_outputs: Sequence[Tensor | None],
             no_grad_vars: Sequence[Tensor], create_graph: bool) -> list[Tensor | None]:  # fmt: skip
        """`grad()` while recording."""
        raise StagedValueError(
            "grad() cannot be called while a program is built", location=user_location(), hint="use static.gradients"
        )


def trains() -> bool:
    """Whether the step of an optimizer becomes a part of what is being recorded."""
    recorder = current_recorder()
    return recorder is not None and recorder.trains


def gradients_of(params: Sequence[Tensor]) -> list[tuple[Tensor, Tensor]]:
    """The parameters that have a gradient, with it."""
    recorder = current_recorder()
    return _with_gradients(params) if recorder is None else recorder.gradients_of(params)


def _with_gradients(params: Sequence[Tensor]) -> list[tuple[Tensor, Tensor]]:
    due.deliver()
    return [(p, g) for p in params if (g := p._grad) is not None and not p._stops]


class _State(threading.local):
    def __init__(self) -> None:
        self.grad = True


_state = _State()
_blocks, _watched = watching.blocks, watching.state


def options_of(value: Any) -> tuple[Any, ...]:
    """The objects one of which a value is, as only the run knows: while a program is built, several are one."""
    recorder = current_recorder()
    return (value,) if recorder is None else recorder.options_of(value)


def eager() -> contextlib.AbstractContextManager[Recorder | None]:
    """Runs ops eagerly until the end of the block, whatever is active."""
    return recording(None)


def in_dynamic_mode() -> bool:
    """Whether ops run eagerly."""
    return current_recorder() is None


def is_grad_enabled() -> bool:
    """Whether ops are recorded for gradients."""
    return _state.grad


def set_grad(enabled: bool) -> bool:
    """Switches the recording for gradients in this thread; returns what it was."""
    before, _state.grad = _state.grad, enabled
    return before


@contextlib.contextmanager
def grad_as_before(otherwise: str) -> Iterator[None]:
    """The recording for gradients is after the block what it was before.

    Raises:
        StagedValueError: the block has switched it without switching it back; `otherwise` says so.
    """
    before = _state.grad
    try:
        yield
        if _state.grad is not before:
            raise StagedValueError(otherwise, location=user_location(2), hint="use `with paddle.no_grad():` around what it is meant for")
    finally:
        _state.grad = before


class Dispatcher(OpBuilder):
    """The `OpBuilder` of the front end: values are Tensors. Gradient rules run on it too."""

    replays: ClassVar[bool] = True
    """Whether what a rule has made is made again without it (see `replay`)."""

    def apply(self, op: type[OpDef], ins: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[Any, ...]:
        if _blocks:
            recorder = current_recorder()
            if recorder is not None:
                return recorder.apply(op, ins, attrs)
            watch = _watched.watch
            if watch is not None:
                watcher = watch()
                if watcher is not None:
                    made = watcher.apply(op, ins, attrs)
                    if made is not None:
                        return made
        arrays: list[Any] = []
        requires = False
        for x in ins:
            if x is None:
                arrays.append(None)
            elif type(x) is list:
                if not x:  # as nearly all lists of optional inputs are
                    arrays.append(x)
                    continue
                each = []
                for t in x:
                    value = t._value
                    each.append(value if type(value) is ndarray else array_of(t))
                    if not t._stop:
                        requires = True
                arrays.append(each)
            else:
                value = x._value
                arrays.append(value if type(value) is ndarray else array_of(x))
                if not x._stop:
                    requires = True
        values = tuple(arrays)
        try:
            function = op.quick
            if op.kernel_from and heavy.pays(op, values, attrs):
                given = heavy.run(op, values, attrs)
            elif function is None:
                given = op.compute(values, attrs)
            elif op.only_moves:
                given = function(values, attrs)
            else:
                try:
                    place = places.pop()
                except IndexError:
                    place = quiet.new_place()
                try:
                    given = place.run(function, values, attrs)
                finally:
                    places.append(place)
        except Exception as error:
            raise _explained(op, values, attrs, error) from error.__cause__
        requires = requires and op.differentiable and _state.grad
        if type(given) is ndarray:
            out = new(Tensor)
            out._value = given
            out._stop = not requires or given.dtype.kind != "f"
            outs: tuple[Any, ...] = (out,)
            given = (given,)
        else:
            found: list[Any] = []
            for value in given if type(given) is tuple else (given,):
                if type(value) is ndarray:
                    out = new(Tensor)
                    out._value = value
                    out._stop = not requires or value.dtype.kind != "f"
                    found.append(out)
                elif value is None:
                    found.append(None)
                else:  # there are lists, or scalars of NumPy
                    given = results(given)
                    found = [_tensors(value, requires) for value in given]
                    break
            outs = tuple(found)
        if requires:
            tape.record(op, ins, values, outs, given, attrs)
        return _update(op, ins, outs, attrs) if op.inplace else outs

    def constant(self, value: float, dtype: str, shape: Sequence[int] = ()) -> Any:
        return super().constant(value, dtype, shape) if shape or current_recorder() is not None else constant(float(value), dtype)

    def shape_of(self, x: Tensor) -> tuple[int, ...]:
        return x._value.shape


@functools.cache
def plain(op_type: str) -> tuple[type[OpDef], dict[str, Any]]:
    """The record of an op and its attributes where none is given, for `ops.apply`: `ops.of` takes a third of an op's time in eager mode
    to find the two."""
    op = registry.get(op_type)
    return op, op.complete_attrs({})


ndarray, new, places = np.ndarray, Tensor.__new__, quiet.places
ops = tape.OpNode.builder = Dispatcher()


def _explained(op: type[OpDef], arrays: tuple[Any, ...], attrs: dict[str, Any], error: Exception) -> BaseException:
    """The exception of an op with the user's location. Where the shapes or dtypes do not fit, that is what `infer`
    says: the same error as while tracing, not what NumPy happens to stumble over."""
    if isinstance(error, (ShapeError, DTypeError, AttributeValueError)):
        error = error.of(op.operands(arrays))
    elif not isinstance(error, Dy2stError):
        try:
            op.infer_types(heavy.types(arrays), attrs)
        except Dy2stError as better:
            error = better
    return with_location(error, user_location(3))


def array_of(t: Tensor) -> np.ndarray:
    """The array of an eager tensor."""
    v = t._value
    if isinstance(v, Variable):
        raise StagedValueError(
            f"variable {v.name!r} belongs to a program; it has no value here", location=user_location(3),
            hint="run the program with an Executor and fetch it",
        )  # fmt: skip
    return v


def _tensors(value: Any, requires: bool) -> Any:
    """What is in an output slot: a tensor around the array, or a list of them, or None."""
    if isinstance(value, list):
        return [_tensors(v, requires) for v in value]
    return None if value is None else Tensor.wrap(value, not requires or value.dtype.kind != "f")


def _update(op: type[OpDef], ins: tuple[Any, ...], outs: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[Any, ...]:
    """Writes the outputs of in-place slots to the tensors in the corresponding input slots, and returns these
    instead."""
    sources = {slot.name: x for slot, x in zip(op.input_slots, ins, strict=True)}
    changes = op.changes(attrs)
    results = []
    for slot, out in zip(op.output_slots, outs, strict=True):
        target = sources.get(op.inplace.get(slot.name, ""))
        if target is None or out is None:
            results.append(out)
            continue
        if slot.name in changes:
            for t, new in zip(target if slot.many else [target], out if slot.many else [out], strict=True):
                t._value = new._value
        results.append(target)
    return tuple(results)


def read(tensor: Tensor, what: str) -> np.ndarray:
    """The value of a tensor for Python; see `Recorder.read`."""
    recorder = current_recorder()
    if recorder is not None:
        return recorder.read(tensor, what)
    if isinstance(tensor._value, Variable):
        raise staged_value_error(tensor, what)
    watcher = watching.current()
    if watcher is not None:
        watcher.read(tensor)
    return tensor._value


def staged_value_error(tensor: Tensor, what: str) -> StagedValueError:
    """What is raised where Python asks for a value that is only known at run time."""
    about = f"({tensor.dtype}{dims.show(tensor._value.shape)})"
    recorder = current_recorder() or Recorder()
    return StagedValueError(
        f"{what} needs the value of a tensor {about} that is only known when the program runs",
        location=user_location(2),
        hint=recorder.advise(what),
    )


def as_array(value: Any, dtype: str | None, hint: str) -> np.ndarray:
    """A value as an array.

    Raises:
        IntegerRangeError: the dtype does not hold a number.
    """
    try:
        return np.asarray(value, dtype=None if dtype is None else _dtype.to_numpy(dtype))
    except OverflowError:
        raise IntegerRangeError(f"{value} is out of range for {dtype or 'int64'}", location=user_location(2), hint=hint) from None


def constant(value: Any, dtype: str | None = None, *, weak: bool = False) -> Tensor:
    """A tensor with a constant value, eager or recorded; `weak`: as a Python number, it takes the dtype of what it
    meets."""
    array = as_array(value, dtype, "cast the tensor it meets to a wider dtype")
    recorder = current_recorder()
    t = Tensor.wrap(array) if recorder is None else recorder.constant(array)
    if weak:
        t._weak = True
    return t
