"""`Executor`: runs hand-built programs."""

from __future__ import annotations

import contextlib
import difflib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from dy2st_runtime import forks, ir, signals
from dy2st_runtime.executor import interprets, make_executable
from dy2st_runtime.feeds import check_feeds
from dy2st_runtime.ir.prune import prune
from dy2st_runtime.ir.visit import all_ops, reads
from dy2st_runtime.reference import run_program
from dy2st_runtime.scope import Scope, ScopeVariable

from ..errors import DeviceError, FeedError, FetchError, ModeError, ScopeError
from ..framework.place import CPUPlace, CUDAPlace, Place, current_place
from ..tensor import Tensor, random
from ..tensor.location import warn
from ..tensor.tracebacks import for_user
from .compiled_program import CompiledProgram
from .program import default_main_program
from .scope import global_scope

_KEPT = 64
"""Executables that an Executor keeps: one for each program, version of it, feeds and fetches."""

_T = TypeVar("_T")


class Executor:
    """Runs programs on a place.

    Args:
        place: default: the place that `set_device` chose.

    Raises:
        DeviceError: the place is a CUDA device, and none can be used.

    Example:
        >>> import numpy as np
        >>> from dy2st import static
        >>> main = static.Program()
        >>> with static.program_guard(main):
        ...     x = static.data("x", [None, 2])
        ...     y = x * 2.0
        >>> Executor().run(main, feed={"x": np.ones([1, 2], "float32")}, fetch_list=[y])
        [array([[2., 2.]], dtype=float32)]
    """

    def __init__(self, place: Place | None = None):
        self.place = current_place() if place is None else place
        if isinstance(self.place, CUDAPlace):
            from dy2st_runtime.executor.cuda import require_device  # numba-cuda may not be installed

            require_device()
        elif not isinstance(self.place, CPUPlace):
            raise DeviceError(f"{self.place!r} is no place that programs can run on", hint="use CPUPlace()")
        self._executables: _Recent[Any] = _Recent()
        self._prunings: _Recent[ir.Program] = _Recent()
        self._uses: _Recent[_Uses] = _Recent()

    def run(self, program: ir.Program | CompiledProgram | None = None, feed: Mapping[str, Any] | None = None,
            fetch_list: Sequence[Any] | None = None, feed_var_name: str = "feed", fetch_var_name: str = "fetch",
            scope: Scope | None = None, return_numpy: bool = True, use_program_cache: bool = True,
            return_merged: bool = True, use_prune: bool = False) -> list[Any]:  # fmt: skip
        """Runs a program once: all of its ops, with its control flow.

        Args:
            program: default: the default main program.
            feed: an array for each data variable that the program reads, by name. Once all of these are there, any other
                name is left out, with a warning.
            fetch_list: variables, or their names, whose values to return; lists of them are taken apart.
            scope: holds the persistable variables; default: the global scope.
            return_numpy: False: Tensors instead of arrays.
            feed_var_name, fetch_var_name, use_program_cache, return_merged: kept for PaddlePaddle's signature; they change nothing.
            use_prune: only the ops run that the fetches need; others, such as updates of parameters, are left out.

        Returns:
            a value for each fetch; None where the path taken gives it none.

        Raises:
            FeedError: a feed is missing, or has another dtype or shape.
            FetchError: a fetch is no variable of the program.
            ScopeError: a persistable variable that the program reads has no value.

        A run that raises leaves the scope as it was.
        """
        try:
            return self._run(program, feed, fetch_list, scope, return_numpy, use_prune)
        except Exception as error:
            raise for_user(error) from error.__cause__

    def _run(self, program: ir.Program | CompiledProgram | None, feed: Mapping[str, Any] | None, fetch_list: Any, scope: Scope | None,
             return_numpy: bool, use_prune: bool) -> list[Any]:  # fmt: skip
        program = default_main_program() if program is None else program
        if isinstance(program, CompiledProgram):
            program = program.program
        if not isinstance(program, ir.Program):
            raise ModeError(f"Executor.run takes a Program, got {type(program).__name__}")
        if feed is not None and not isinstance(feed, Mapping):
            raise FeedError(f"feed must be a dict of name and array, got {type(feed).__name__}")
        if scope is not None and not isinstance(scope, Scope):
            raise ScopeError(f"scope must be a Scope, got {type(scope).__name__}")
        scope = global_scope() if scope is None else scope
        fetches = [_fetch_name(program, f) for f in _listed([] if fetch_list is None else fetch_list)]
        if use_prune:
            known = program.global_block().vars
            program = self._pruned(program, [*(feed or {})], fetches)
            feed = {n: v for n, v in (feed or {}).items() if n not in known or n in program.global_block().vars}
        uses = self._uses_of(program)
        with scope.changing if uses.written else contextlib.nullcontext():
            return self._run_in(program, feed, fetches, scope, uses, return_numpy)

    def _run_in(self, program: ir.Program, feed: Mapping[str, Any] | None, fetches: list[str], scope: Scope, uses: _Uses,
                return_numpy: bool) -> list[Any]:  # fmt: skip
        block = program.global_block()
        wanted = {*uses.data, *(feed or {}), *fetches}
        variables = [v for v in block.vars.values() if v.is_data and v.name in wanted]
        given = {name: _array(value) for name, value in _without_surplus(variables, feed or {}).items()}
        feeds = check_feeds(variables, given)
        for prepare in getattr(program, "before_run", ()):
            prepare(scope)
        fetched = (n for n in fetches if block.vars[n].persistable and n not in uses.written)
        state = _State(program, scope, [*uses.read, *fetched], uses.written)
        uses.runs += 1
        if not (variables or fetches) and uses.runs == 1:
            # a startup program runs once: compiling its kernels would cost more than it saves
            run_program(program, {}, state.values)
            return signals.whole(lambda: state.written_back([]), lambda: True)
        executable = self._executable(program, [v.name for v in variables], fetches)
        results = executable.run(feeds, state.values, commit=state.written_back)
        return [_result(value, return_numpy) for value in results]

    def close(self) -> None:
        """Forgets what was compiled."""
        for kept in (self._executables, self._prunings, self._uses):
            kept.clear()

    def _pruned(self, program: ir.Program, feeds: Sequence[str], fetches: Sequence[str]) -> ir.Program:
        key = (program.id, program.version, tuple(feeds), tuple(fetches))
        return self._prunings.get(
            key, lambda: prune(program, [n for n in feeds if n in program.global_block().vars], fetches)
        )

    def _uses_of(self, program: ir.Program) -> _Uses:
        return self._uses.get((program.id, program.version), lambda: _Uses(program))

    def _executable(self, program: ir.Program, feeds: list[str], fetches: list[str]) -> Any:
        key = (program.id, program.version, tuple(feeds), tuple(fetches), interprets())
        place = "cuda" if isinstance(self.place, CUDAPlace) else "cpu"
        return self._executables.get(key, lambda: make_executable(program, feeds, fetches, place=place))


class _Recent(Generic[_T]):
    """What was made last, by key; safe in several threads, which may make the same thing twice."""

    def __init__(self) -> None:
        self._entries: OrderedDict[tuple, _T] = OrderedDict()
        self._lock = forks.lock()

    def get(self, key: tuple, make: Callable[[], _T]) -> _T:
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
                return self._entries[key]
        made = make()  # outside of the lock: compiling takes seconds
        with self._lock:
            made = self._entries.setdefault(key, made)
            while len(self._entries) > _KEPT:
                self._entries.popitem(last=False)
        return made

    def __len__(self) -> int:
        return len(self._entries)

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()


class _Uses:
    """What the ops of a version of a program use: data variables, the persistable variables that are read before they are
    assigned, those that are assigned; and how often it was run."""

    def __init__(self, program: ir.Program):
        self.runs = 0
        self.data: set[str] = set()
        self.read: dict[str, None] = {}  # in the order of the program, which errors follow
        self.written: dict[str, None] = {}
        block = program.global_block()
        for op in block.ops:
            for name in reads(op):
                v = block.vars.get(name)
                if v is not None and v.is_data:
                    self.data.add(name)
                elif v is not None and v.persistable and name not in self.written:
                    self.read[name] = None
            assigned = [*op.output_names, *(n for sub in op.blocks for inner in all_ops(sub) for n in inner.output_names)]
            self.written.update((n, None) for n in assigned if n in block.vars and block.vars[n].persistable)


class _State:
    """The persistable variables of a run: taken from the scope or from eager tensors, written back where they came
    from."""

    def __init__(self, program: ir.Program, scope: Scope, read: list[str], written: Iterable[str]):
        self.scope = scope
        self.captured: dict[str, Tensor] = getattr(program, "captured", {})
        self.values: dict[str, Any] = {}
        self.sources: dict[str, ScopeVariable | Tensor] = {}
        for name in dict.fromkeys([*read, *written]):
            slot = scope.find_var(name)
            if name == random.STATE_NAME:
                self._random(program, slot)
                continue
            if slot is not None and slot.value is not None:
                self.sources[name], self.values[name] = slot, slot.value
            elif name in self.captured:
                tensor = self.captured[name]
                # runs write to their state in place; the array of an eager tensor may be shared
                self.values[name] = tensor.numpy() if name in written else tensor._value
                self.sources[name] = tensor
            elif name in read:
                location = program.global_block().vars[name].info.get("location")
                raise ScopeError(f"variable {name!r} has no value in the scope", location=location,
                                 hint="run the startup program first, or load the parameters")  # fmt: skip

    def _random(self, program: ir.Program, slot: ScopeVariable | None) -> None:
        """The generator is that of eager mode, unless the program has a seed of its own."""
        name = random.STATE_NAME
        if program.random_seed == 0:
            self.sources[name], self.values[name] = random.state, random.state.numpy()
            return
        if slot is None or slot.value is None:
            self.values[name] = np.array([program.random_seed, 0], np.int64)
        else:
            self.sources[name], self.values[name] = slot, slot.value

    def written_back(self, results: list[Any]) -> list[Any]:
        """Writes the new values where the old ones are from; gives the results of the run."""
        for name, value in self.values.items():
            source = self.sources.get(name)
            if source is None:
                source = self.scope.var(name)
            if isinstance(source, Tensor):
                source._value = value
            else:
                source.value = value
        return results


def _listed(fetch_list: Any) -> list[Any]:
    """What to fetch, in order: the entries of nested lists."""
    return [f for part in fetch_list for f in _listed(part)] if isinstance(fetch_list, (list, tuple)) else [fetch_list]


def _without_surplus(variables: Sequence[ir.Variable], feed: Mapping[str, Any]) -> Mapping[str, Any]:
    """The feeds that a program has variables for. A name too many beside one that is missing stays: it may be a slip."""
    names = {v.name for v in variables}
    if not names <= feed.keys() or len(feed) == len(names):
        return feed
    warn(f"the program takes no feed {', '.join(repr(name) for name in feed if name not in names)}, which is left out")
    return {name: feed[name] for name in feed if name in names}


def _fetch_name(program: ir.Program, fetch: Any) -> str:
    block = program.global_block()
    variable = fetch._value if isinstance(fetch, Tensor) else fetch
    if isinstance(variable, np.ndarray):
        raise FetchError("an eager tensor cannot be fetched: it has its value already", hint="use its .numpy()")
    if isinstance(variable, ir.Variable):
        name = variable.name
        if name in block.vars:
            return name
        raise FetchError(f"variable {name!r} is not in the global block of the program that is run",
                         location=variable.info.get("location"),
                         hint="fetch the results of cond and while_loop, not what is inside; run the program that was built",
                         )  # fmt: skip
    if not isinstance(variable, str):
        raise FetchError(f"fetch_list takes variables and names, got {type(fetch).__name__}")
    if variable not in block.vars:
        close = difflib.get_close_matches(variable, block.vars, 3)
        raise FetchError(f"the program has no variable {variable!r} to fetch",
                         hint=f"similar names: {', '.join(close)}" if close else "pass the variable itself, as the layer "
                         "returned it, or its name")  # fmt: skip
    return variable


def _array(value: Any) -> Any:
    return value.numpy() if isinstance(value, Tensor) else value


def _result(value: Any, return_numpy: bool) -> Any:
    if return_numpy or not isinstance(value, np.ndarray):
        return value
    return Tensor.wrap(value)
