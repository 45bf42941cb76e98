"""`StaticFunction`: what `to_static` makes of a function, with its traces."""

from __future__ import annotations

import inspect
import operator
import sys
import time
import types
import weakref
from collections import deque
from collections.abc import Collection, Sequence
from typing import Any

from dy2st_runtime import config, dims
from dy2st_runtime.executor import compiling_ahead
from dy2st_runtime.garbage import no_search_for_garbage
from dy2st_runtime.ir import Program
from dy2st_runtime.ops.message import held_back

from ..convert.calls.calls import call, convert_function
from ..convert.control.for_stmt import Unrolled
from ..convert.guards.activations import GradientsInside, Reentered, TakenForObjects, require_end, to_be_traced
from ..errors import DTypeError, FeedError, FetchError, IntegerRangeError
from ..tensor import Tensor, dispatch, random
from ..tensor.location import warn
from ..tensor.tracebacks import for_user
from ..transpiler import Converted
from . import static_call
from .as_function import signature_of
from .cached_programs import CachedPrograms
from .concrete import ConcreteProgram
from .numbers import Entry
from .pace import Pace, is_short
from .pickling import reduced
from .reasons import Reason, of_arguments
from .signature import (
    Arguments,
    Key,
    Parameters,
    TensorKey,
    UnfitError,
    admits,
    input_name,
    specs_of,
    widen,
)  # fmt: skip
from .sizes import Sizes, choices, first_that_works, shown, squeezes_decided
from .specs import arguments_from_specs, arguments_to_save
from .splits import Shared, Splits
from .traces import ByObject, Traces
from .tracing import Trace

_enabled = True


def enable_to_static(enable: bool) -> None:
    """False: decorated functions run as they are, in eager mode."""
    global _enabled
    _enabled = bool(enable)


def is_enabled() -> bool:
    """Whether decorated functions are traced."""
    return _enabled


# one entry: it is replaced without a lock, and does not keep what nobody has any more
_last: deque[weakref.ref[ConcreteProgram]] = deque(maxlen=1)


def last_called() -> ConcreteProgram | None:
    """The trace that the last successful call of a static function used."""
    return _last[0]() if _last else None


NUMBER_REFUSALS = (DTypeError, IntegerRangeError)
"""What a run raises where a number of Python would be of another kind than int or float, or beyond 64 bits."""

_STATE = "a layer, a parameter, a buffer or an optimizer, or keeps or returns an object of a library"


def _unlike(concrete: ConcreteProgram, arguments: Arguments, tensors: Sequence[Tensor]) -> Reason | None:
    """Why a trace of the same key does not serve these arguments; None if it does."""
    if concrete.state_made:
        return Reason(f"the function makes {_STATE} ({concrete.state_made}), at each call")
    sizes = [t._form.shape for t in tensors]
    if sizes != concrete.sizes:  # most calls get arguments of the sizes of the one before
        for v, shape, t in zip(concrete.inputs, concrete.shapes, tensors, strict=True):
            if not admits(shape, t):
                return Reason(f"argument {v.name!r} has shape {list(t._form.shape)}, traced was {dims.show(shape)}")
        concrete.sizes = sizes
    for i, is_leaf in concrete.leaves.items():
        if (tensors[i]._is_leaf and not tensors[i]._stops) != is_leaf:
            return Reason(f"argument {concrete.inputs[i].name!r}, which is modified in place, is {'no' if is_leaf else 'a'} leaf now")
    if concrete.told and not concrete.are_as_told(arguments):
        return Reason("an argument is another object of those that are known outside, or none of these")
    return None


def _changed(concrete: ConcreteProgram) -> Reason | None:
    """What has changed outside of the arguments since a trace was made, so that it serves no call; None if nothing has."""
    view = concrete.outside.look(concrete)
    return view if isinstance(view, Reason) else None


class StaticFunction(CachedPrograms):
    """A function that is traced at its first call, and then runs as a compiled Program.

    Attributes:
        raw, instance: the function as the user wrote it, and the object it is a method of.
        input_spec: as given.

    Args:
        function: a Python function or a bound method.
        input_spec: for each argument an InputSpec (or a nested structure of them, or a Python value).
        instance: the object that it is a method of.
        full_graph: what cannot be staged is an error; False: it runs eagerly, with a warning.
    """

    # what a trace may change of it is in its dict, where users' attributes are; its own traces, with all that these hold, are not
    __slots__ = ("_of_instances", "_traces", "input_spec", "splits")

    def __init__(self, function: Any, input_spec: Sequence[Any] | None = None, instance: Any = None, full_graph: bool = True, *,
                 splits: Splits | None = None) -> None:  # fmt: skip
        if isinstance(function, types.MethodType):
            function, instance = function.__func__, function.__self__
        if input_spec is not None and not isinstance(input_spec, (list, tuple)):
            raise FeedError(f"input_spec must be a list, got {type(input_spec).__name__}", hint="give one entry for each argument")
        super().__init__(function, instance)
        self.input_spec, self._traces, self._of_instances = input_spec, Traces(), ByObject()
        self.splits = splits if full_graph or splits is not None else Splits(function, Shared(StaticFunction))

    # ---- binding ----
    def __get__(self, instance: Any, owner: type | None = None) -> StaticFunction:
        if instance is None or self.instance is not None:
            return self
        method = object.__new__(StaticFunction)
        method.__dict__ = self.__dict__  # a method has the attributes of its function
        method.raw, method.instance, method.unbound = self.raw, instance, self
        method.input_spec, method.splits = self.input_spec, self.splits
        method._traces, method._of_instances = self._of_instances.of(instance), self._of_instances
        return method

    def bound_to(self, instance: Any) -> StaticFunction:
        """The same for another object, which has its own parameters, so its own traces."""
        if instance is self.instance:
            return self
        new = StaticFunction(self.raw, self.input_spec, instance, self.full_graph)
        new.__dict__.update(self.__dict__)
        return new

    def __deepcopy__(self, memo: dict) -> StaticFunction:
        return self.bound_to(memo.get(id(self.instance), self.instance))

    def __reduce__(self) -> Any:
        return reduced(self)

    @property
    def full_graph(self) -> bool:
        """Whether what cannot be staged is an error."""
        return self.splits is None

    @property
    def signature(self) -> inspect.Signature:
        return self.parameters.signature

    __signature__ = signature  # what `inspect.signature` finds

    @property
    def parameters(self) -> Parameters:
        """The parameters that a call gives; those of the function as it is now."""
        f, traces = self.raw, self._traces
        keywords, known = f.__kwdefaults__, traces.defaults
        defaults = (f.__code__, f.__defaults__, *keywords.values()) if keywords else (f.__code__, f.__defaults__)
        if len(known) != len(defaults) or not all(map(operator.is_, known, defaults)):
            traces.parameters = Parameters(signature_of(self.original), signature_of(self.original, follow_wrapped=True))
            traces.defaults = defaults
        assert traces.parameters is not None
        return traces.parameters

    # ---- calling ----
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not _enabled:
            return self.original(*args, **kwargs)
        if not dispatch.in_dynamic_mode():
            return call(self.original)(*args, **kwargs)  # inside another trace, or while a program is built by hand
        try:
            if self.splits is not None:
                return self.splits.call(self, args, kwargs)
            start = time.perf_counter()
            arguments = self.arguments(args, kwargs)
            concrete = self._serving(arguments, arguments.tensors())
            if concrete is not None:
                result = self.run(concrete, arguments)
            else:
                # garbage is looked for once, behind the trace and its plan
                with no_search_for_garbage(), compiling_ahead():
                    concrete = self.find(arguments)
                    result = self.run(concrete, arguments)
            if concrete.pace is not None and concrete.pace.called(time.perf_counter() - start):
                concrete.pace, self._traces.judged = None, True
            return result
        except Exception as error:
            raise for_user(error) from error.__cause__

    def arguments(self, args: Sequence[Any], kwargs: dict[str, Any], numbers: Collection[str] = ()) -> Arguments:
        """The arguments of a call; the numbers among them that these parameters get are to be inputs of the Program."""
        try:
            return Arguments(self.parameters, tuple(args), kwargs, self.__name__, numbers)
        except UnfitError:
            self.original(*args, **kwargs)  # Python says what does not fit, and does not come to the function
            raise

    @property
    def mixed(self) -> dict[Key, types.FunctionType]:
        """What runs instead of the function where it could not be staged as a whole."""
        return self._traces.mixed

    def is_one_too_many(self, arguments: Arguments, limit: int) -> bool:
        """Whether there was no call with arguments like these, and as many traces as the limit for others, which may be gone since."""
        return self._traces.count >= limit and arguments.key not in self._traces.by_key and arguments.key not in self.mixed

    def run(self, concrete: ConcreteProgram, arguments: Arguments) -> Any:
        """Calls a trace that serves the arguments; where the run could only be refused because numbers outside are inputs, one without."""
        if not concrete.changes:
            return self._run(concrete, arguments)
        traces = self._traces
        with traces.changing:
            while arguments.seen != traces.changes:  # another thread has changed since what was looked at
                concrete = self.find(arguments)
            try:
                return self._run(concrete, arguments)
            finally:
                traces.changes += 1

    def _run(self, concrete: ConcreteProgram, arguments: Arguments) -> Any:
        if not concrete.counts_on:
            result = static_call.run(concrete, arguments)
        else:
            try:
                with held_back(NUMBER_REFUSALS):
                    result = static_call.run(concrete, arguments)
            except NUMBER_REFUSALS:
                concrete = self._without_numbers(concrete, arguments)
                result = static_call.run(concrete, arguments)
        self._traces.called = concrete.mark
        concrete.called_at = self._traces.count
        _last.append(concrete.mark)
        return result

    def _without_numbers(self, concrete: ConcreteProgram, arguments: Arguments) -> ConcreteProgram:
        """A trace in the place of one, in which its numbers are what they are now."""
        with self._traces.lock:
            self._traces.numbers.leave(concrete.numbers)
            self._traces.drop(concrete)
            arguments.view = None
            return self.find(arguments)

    def find(self, arguments: Arguments) -> ConcreteProgram:
        """The trace that serves the arguments, made if there is none."""
        self._traces.stopped = {}
        while True:
            try:
                return self._find(arguments)
            except GradientsInside:
                arguments.note_gradients(self.parameters)
            except TakenForObjects as told:
                arguments.note_objects(self.parameters, told.cls)

    def _find(self, arguments: Arguments) -> ConcreteProgram:
        tensors = arguments.tensors()
        found = self._serving(arguments, tensors)
        if found is None:
            with self._traces.lock:
                found = self._serving(arguments, tensors) or self._trace(arguments, tensors)
        return found

    def _serving(self, arguments: Arguments, tensors: Sequence[Tensor]) -> ConcreteProgram | None:
        stale: ConcreteProgram | None = None
        arguments.seen = self._traces.changes
        for concrete in self._traces.by_key.get(arguments.key, ()):
            if _unlike(concrete, arguments, tensors) is None:
                view = concrete.outside.look(concrete)
                if not isinstance(view, Reason):
                    arguments.view = view
                    if stale is not None:
                        self._traces.prefer(arguments.key, concrete, stale)
                    return concrete
                stale = stale or concrete
        return None

    def _mismatch(self, concrete: ConcreteProgram, arguments: Arguments, tensors: Sequence[Tensor]) -> Reason | None:
        """Why a trace of the same key does not serve a call; None if it does."""
        return _unlike(concrete, arguments, tensors) or _changed(concrete)

    def _trace(self, arguments: Arguments, tensors: Sequence[Tensor]) -> ConcreteProgram:
        known = set(map(id, self._traces.by_key.get(arguments.key, ())))
        group = [c for c in self._traces.order if id(c) in known]  # as they were made: the last one says what has changed since
        reason = self._why(arguments, tensors, group)
        specs = None if self.input_spec is None else specs_of(self.signature, self.input_spec, arguments)
        names = [input_name(n) for n, k in zip(self.parameters.called(arguments.names()), arguments.key.leaves, strict=True)
                 if isinstance(k, TensorKey) and k.alias < 0]  # fmt: skip
        if specs is not None:
            names = [s.name or n for s, n in zip(specs, names, strict=True)]
        for captured in (c for concrete in group for c in concrete.captured) if specs is None else ():
            now, v = captured.now(), captured.variable
            if isinstance(now, Tensor) and now.ndim == len(v.shape) and not admits(v.shape, now):
                self._traces.open_capture(now, widen(v.shape, now))
        open_captures = self._traces.open_captures()
        opened = {id(t): t for concrete in group for c in concrete.captured if id(t := c.now()) in open_captures}
        def trace(sizes: Sizes) -> ConcreteProgram:
            outside = list(opened.values()) if sizes.outside else []
            return self._run_trace(arguments, sizes, names, group, outside)

        found = choices(tensors, self._like(arguments)) if specs is None else [Sizes([tuple(s.shape) for s in specs])]
        concrete, error = first_that_works(trace, found)
        if decided := squeezes_decided(concrete, trace, found[-1]):
            self._traces.squeezes |= decided
            concrete, error = first_that_works(trace, found)
        concrete.fixed = error
        if concrete.fixed is not None and any(c.fixed is not None for c in group):
            self._warn_of_sizes(concrete)
        return self._keep(concrete, arguments.key, reason)

    def _like(self, arguments: Arguments) -> list[ConcreteProgram]:
        """The traces for arguments of the same structure, dtypes and ranks, whatever Python values they have: sizes that differed
        for these may differ for others."""
        def kind(key: Key) -> list[tuple]:
            return [(k.dtype, k.rank) for k in key.leaves if isinstance(k, TensorKey) and k.alias < 0]

        return [c for c in self._traces.order if c.key is not None and c.key.tree == arguments.key.tree
                and kind(c.key) == kind(arguments.key)]  # fmt: skip

    def _warn_of_sizes(self, concrete: ConcreteProgram) -> None:
        """Says once that there will be a trace for each size."""
        if not self._traces.warned_of_sizes:
            self._traces.warned_of_sizes = True
            warn(
                f"{self.raw.__qualname__} is traced and compiled anew for each size of its tensors (now {shown(concrete)}), "
                f"because it cannot be traced for all: {concrete.fixed}"
            )

    def _run_trace(self, arguments: Any, sizes: Sizes, names: Sequence[str], group: Sequence[ConcreteProgram] | None = None,
                   opened: Sequence[Tensor] = ()) -> ConcreteProgram:  # fmt: skip
        """A trace; if it is for a call, numbers of the outside that have changed since those of the group were made are inputs."""
        recursive, unrolled = set(self._traces.recursive), self._traces.unrolled

        def run(fed: Sequence[Entry]) -> ConcreteProgram:
            while True:
                trace = Trace(self.original, self.signature, arguments.leaves, arguments.key, sizes.shapes, names,
                              self._traces.open_captures() if sizes.outside else {}, fed, opened, recursive, unrolled,
                              self.splits is not None and self.splits.exact,
                              arguments.bound if isinstance(arguments, Arguments) else None)  # fmt: skip
                if any(-1 in shape for shape in sizes.shapes):
                    trace.tracer.squeezes.decided = self._traces.squeezes
                if sizes.limit is not None:
                    trace.tracer.limit = min(sizes.limit, trace.tracer.limit)
                trace.tracer.is_piece = self.splits is not None
                trace.tracer.stops.seen = self._traces.stopped
                try:
                    return trace.run(self.raw.__qualname__)
                except Reentered as found:
                    kind = to_be_traced(recursive, found.kind)
                    recursive.add(kind)
                    if kind.leaves is None:
                        self._traces.recursive.add(kind)
                    require_end(recursive, kind)
                except Unrolled as left:
                    unrolled.add(left.location)

        if group is None:
            return run(())
        numbers, drawn = self._traces.numbers, random.state._value
        concrete = numbers.fed(run, group) or run(())
        if not numbers.changes_its_own(concrete):
            return concrete
        if concrete.state_made:
            random.state._value = drawn
        return numbers.fed(run) or concrete

    def _why(self, arguments: Arguments, tensors: Sequence[Tensor], group: Sequence[ConcreteProgram]) -> Reason:
        """Why there is a new trace, for `explain()`."""
        return self._mismatch(group[-1], arguments, tensors) or Reason("unknown") if group else of_arguments(self._traces.order, arguments)

    # ---- seeing ----
    @property
    def converted(self) -> Converted:
        """The conversion: `fn`, `code`, `filename`, `stages`."""
        return convert_function(self.raw)  # type: ignore[arg-type]

    @property
    def code(self) -> str:
        """The transformed source."""
        return self.converted.code

    def side_by_side(self) -> str:
        """The transformed source with the user's lines to its left."""
        return self.converted.side_by_side()

    @property
    def concrete_programs(self) -> list[ConcreteProgram]:
        """All traces, in the order in which they were made."""
        return list(self._traces.order)

    @property
    def concrete_program(self) -> ConcreteProgram:
        """The last trace; with an `input_spec` it is made if there is none yet.

        Raises:
            FetchError: the function was not called yet.
        """
        if not self._traces.order and self.input_spec is not None:
            return self.trace(*self.input_spec)
        if not self._traces.order and self.mixed:
            raise FetchError(f"{self.raw.__qualname__!r} has full_graph=False: it has a Program for each piece, and none as a whole",
                             hint="explain() shows the pieces; full_graph=True makes one Program")  # fmt: skip
        if not self._traces.order:
            raise FetchError(
                f"{self.raw.__qualname__!r} has no program yet", hint="call it once, or give an input_spec"
            )
        return self._traces.order[-1]

    @property
    def main_program(self) -> Program:
        """The Program of the last trace."""
        return self.concrete_program.program

    def trace(self, *specs: Any) -> ConcreteProgram:
        """Traces for arguments that InputSpecs (and Python values) describe; tensors stand for their own shapes."""
        try:
            return self._trace_specs(specs)
        except Exception as error:
            raise for_user(error) from error.__cause__

    def _trace_specs(self, specs: Sequence[Any]) -> ConcreteProgram:
        with self._traces.lock:
            arguments, shapes, names = arguments_from_specs(self.parameters, specs)
            return self._to_save(arguments, Sizes(shapes), names, Reason("asked for by input_spec"))

    def to_save(self) -> ConcreteProgram:
        """The trace that served the last call, as a file can hold it: a new one for the same arguments if what it has read outside has
        changed since, or is an input; if it was made without gradients, and they are recorded now; or if it knows one tensor as two
        arguments."""
        with self._traces.lock:
            called = self._traces.called()
            last = next((c for c in self._traces.order if c is called), None) or self.concrete_program
            assert last.key is not None
            arguments, shapes, names = arguments_to_save(self.parameters, last.key, last.shapes, last.names)
            reason = Reason("with its numbers as they are") if last.numbers else _changed(last)
            if reason is None and arguments.key == last.key:
                return last
            sizes = Sizes(shapes, outside=last.fixed is None)
            concrete = self._to_save(arguments, sizes, names, reason or Reason("to be saved"))
            concrete.fixed = last.fixed
            return concrete

    def _to_save(self, arguments: Any, sizes: Sizes, names: Sequence[str], reason: Reason) -> ConcreteProgram:
        """A trace for these arguments, sizes and names of inputs, with the numbers outside as they are now.

        One that is made for it is none of those for calls, but for the first one: an attribute that differs whenever the model is saved
        would leave a trace each time, at all of which calls would have to look.
        """
        key, traces = arguments.key, self._traces
        for concrete in (*traces.by_key.get(key, ()), *([traces.saved[key]] if key in traces.saved else [])):
            fits = [tuple(s) for s in concrete.shapes] == [tuple(s) for s in sizes.shapes] and concrete.names == list(names)
            if fits and not concrete.numbers and _changed(concrete) is None:
                return concrete
        traces.stopped = {}
        concrete = self._run_trace(arguments, sizes, names)
        if not traces.order:
            return self._keep(concrete, key, reason)
        concrete.reason = str(reason)
        traces.saved[key] = concrete
        return concrete

    def _keep(self, concrete: ConcreteProgram, key: Key, reason: Reason) -> ConcreteProgram:
        concrete.reason = str(reason)
        if self.splits is None:  # pieces of functions say for themselves that they have too many traces
            self._traces.causes.add(reason, self.raw.__qualname__)
        self._traces.makers += bool(concrete.state_made)
        if concrete.state_made and self._traces.makers == 3:  # a layer that the first call makes may be reset once
            warn(f"{self.raw.__qualname__} is traced anew at each call, because it makes {_STATE} ({concrete.state_made}), in each: make "
                 "layers in __init__, and optimizers outside")  # fmt: skip
        self._traces.keep(concrete, key)
        if not self._traces.judged and is_short(concrete):
            concrete.pace = Pace(concrete, self.raw.__qualname__)
        if config.dumping("traces"):
            print(f"# --- trace {len(self._traces.order)} of {self.raw.__qualname__}: {reason}", file=sys.stderr)
        return concrete

    def explain(self) -> str:
        """Why each `if` and loop was staged or left to Python, why there are so many traces, and what was compiled for them."""
        from .explain import explain  # which knows the native executables, and with them LLVM

        return explain(self)

    def __repr__(self) -> str:
        return f"<StaticFunction {self.raw.__qualname__}, {len(self._traces.order)} traces>"

