"""`Executable`: a Program ready to run natively."""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import config, dims, reference, signals, threads
from ..codegen import layout
from ..errors import CompileError, FeedError, FetchError, ScopeError, with_location
from ..feeds import check_feed
from ..garbage import no_search_for_garbage
from ..ir.program import Operator, Program, Variable
from ..ops.control import ABSENT
from . import engines, kept, profile
from .compile import ENTRY, compiler
from .frame import Frame
from .objects import UncompiledCustom, UncompiledKernel
from .plans import Plan
from .state import Commit, Given, State, state_of

if TYPE_CHECKING:
    from ..lowering.schedule import Launch

RNG = "@RNG@"


class Executable:
    """A Program compiled for given feeds and fetches; serves all sizes of open dims, and several threads at once.

    Args:
        program: not changed; a copy is optimized.
        feed_names: data variables, in the order of `run`'s list.
        fetch_names: variables to return.
        absent_feeds: feeds that may be `ABSENT`.
        most_kept: buffers of more bytes are freed after a run; None: all are kept for the next one.

    Attributes:
        state_names: the persistable variables that a run reads or updates.
        engine: who has compiled the kernels.
    """

    @no_search_for_garbage()
    def __init__(self, program: Program, feed_names: Sequence[str], fetch_names: Sequence[str], *,
                 absent_feeds: Sequence[str] = (), most_kept: int | None = None) -> None:  # fmt: skip
        self.most_kept = most_kept
        self.feed_names, self.fetch_names = list(feed_names), list(fetch_names)
        block = program.global_block()
        for name in self.fetch_names:
            if not block.has_var(name):
                raise FetchError(f"the program has no variable {name!r} to fetch")
        for name in self.feed_names:
            if name not in block.vars:
                raise FeedError(f"the program has no variable {name!r} to feed")
        self.engine = engines.current()
        self._plan(program, absent_feeds)
        self._driver: Callable[[int], int] = self._plain_driver
        index, in_place = self.plan.index, self.plan.inplace_state
        self._places = {}
        for name, (dtype, shape, kind) in self._planned.places.items():
            v = Variable(block, name, dtype, shape, kind=kind)
            v.info = block.vars[name].info if name in block.vars else {}
            self._places[name] = _Place(index[name], v)
        self._feeds = [self._places[name] for name in self.feed_names]
        # what is fetched, but for persistables, which have their new values elsewhere
        self._outputs = [None if name in self.updates else self.plan.descriptor(name) for name in self.fetch_names]
        self.arrays = [name for name in self.state_names if name != RNG]
        self.draws = RNG in self.state_names
        # of the descriptors of new values in the memory of old ones both, of the generator's state apart: that is another array in each run
        self._written = [(d, index[name]) for d, name in in_place.items() if name != RNG]
        self._written_rng = [(d, index[name]) for d, name in in_place.items() if name == RNG]
        finals = {name: self.plan.descriptor(final) for name, final in self.updates.items()}
        self._replaced = {name: d for name, d in finals.items() if d not in in_place}
        # threads take from its end and give to it without a lock: each of these is one step to Python
        self._frames: list[Frame] = []

    def _plan(self, program: Program, absent_feeds: Sequence[str]) -> None:
        """Takes the Program through the passes, lowering, plan and compiler, as far as no process has done that before."""
        folder = compiler().cache.folder
        asked = program, self.feed_names, self.fetch_names, absent_feeds, compiler().fingerprint(self.engine)
        name = None if folder is None else kept.symbol(*asked)
        planned = None if name is None or folder is None else kept.get(folder.parent, name)
        linked = None if planned is None else compiler().linked(planned.symbols, planned.called, ["driver"])
        if planned is None or linked is None:
            # who has a plan needs neither passes nor a compiler
            from . import routines
            from .planning import planned_anew

            with compiler().beginning(routines.expected(program)):
                planned = planned_anew(program, self.feed_names, self.fetch_names, absent_feeds, self.engine)
                linked = self._compiled(planned)
            if name is not None and folder is not None:
                kept.put(folder.parent, name, planned)
        *self._entries, entry = linked
        self._planned, self._plain_driver = planned, ENTRY(entry)
        self.plan: Plan = planned.plan
        self.updates, self.state_names, self._only_written = planned.updates, planned.state_names, planned.only_written
        self._types = [(np.dtype(dtype), rank, is_array) for dtype, rank, is_array in planned.types]
        if config.dumping("plan"):
            print(self.describe(), file=sys.stderr)

    def _compiled(self, planned: kept.Planned) -> list[int]:
        """The addresses of the kernels and of the driver."""
        plan, sources = planned.plan, planned.details.sources
        try:
            return compiler().addresses(sources, ["driver"], self.engine)
        except UncompiledKernel as error:
            op = next((k.op for k, source in zip(plan.kernels, sources, strict=True) if source == error.source), None)
            what = "the driver" if op is None else f"the kernel of {op.type}"
            raise CompileError(f"{what} does not compile: {error.reason}", location=op.location if op else None,
                               hint="this is a bug in dy2st: please report it with what DY2ST_DUMP=source prints; DY2ST_NO_JIT=1 runs "
                               "without kernels") from error.__cause__  # fmt: skip
        except UncompiledCustom as error:
            op = next(k.op for k, source in zip(plan.kernels, sources, strict=True) if f"call_{error.name}(" in source)
            raise with_location(error.error, op.location) from None

    @property
    def program(self) -> Program:
        """The optimized Program."""
        return self._planned.details.program

    @property
    def sources(self) -> list[str]:
        """The source of each kernel that is launched."""
        return self._planned.details.sources

    @functools.cached_property
    def written(self) -> frozenset[str]:
        """The persistable variables whose arrays a run writes to; others get new arrays."""
        return frozenset(self.plan.inplace_state.values())

    @functools.cached_property
    def changes_state(self) -> bool:
        """Whether a run may change its state, or has a copy of a part of it."""
        return bool(self.written or self._replaced or self.draws)

    # ---- running ----
    def run(self, feeds: Sequence[Any], state: Given = None, same: object = None, commit: Commit | None = None) -> Any:
        """Runs to the end.

        Args:
            feeds: arrays in the order of `feed_names`, of the declared dtype and shape.
            state: persistable arrays by name; updated if the run succeeds, untouched if it raises. Or what gives them, which is asked if a
                run looks at them; they stay alive meanwhile.
            same: one object for all runs with the same arrays as state, but for that of the random generator; None: nothing is known.
            commit: called with a fresh array for each fetch, a list of arrays for a TensorArray, None for an absent value, when the run has
                succeeded. What the handler of a signal raises once state may have changed is raised when this is done; it may then have
                been called several times (`signals.whole`).

        Returns:
            what `commit` returns; without one the list of what it would be given.
        """
        session = Session(self, feeds, state, same)
        try:
            if commit is not None:
                return signals.whole(lambda: commit(session.complete()), session.has_begun)
            return signals.whole(session.complete, session.has_begun) if self.changes_state else session.complete()
        finally:
            session.close()

    def start(self, feeds: Mapping[str, Any], state: State, same: object = None) -> Session:
        """Runs up to the `suspend` op; `Session.resume` goes on. Feeds that are needed later may be left out."""
        session = Session(self, [feeds.get(name, _LATER) for name in self.feed_names], state, same)
        try:
            session.advance()
        except BaseException:
            session.close()
            raise
        return session

    def begin(self, feeds: Sequence[Any], state: State, same: object = None) -> Session:
        """A run that has not begun: `Session.finish` runs it, then `fetch` gives what is asked for. A feed that is None comes later."""
        return Session(self, [_LATER if x is None else x for x in feeds], state, same)

    def take_frame(self) -> Frame:
        try:
            return self._frames.pop()
        except IndexError:
            return Frame(self.plan, self._entries, self._types)

    def give_frame(self, frame: Frame) -> None:
        frame.release_inputs()
        if not frame.alive:
            return  # it was part of a cycle of garbage
        if self.most_kept is not None and frame.allocated > self.most_kept:
            return
        self._frames.append(frame)

    def free(self) -> None:
        """Frees the memory that is kept for the next run."""
        self._frames.clear()

    def call_driver(self, frame: Frame) -> None:
        """Runs natively until something needs Python; where and what is in the frame."""
        recording = profile.active()
        if recording is None:
            self._driver(frame.arguments_address)
            return
        with recording.noting(self.plan, self.engine.name, frame):
            profiling_driver()(frame.arguments_address)

    def note_native_time(self, note: Callable[[float], None] | None) -> None:
        """`note` gets the seconds of each native part of a run from now on; nobody does with None."""
        plain = self._plain_driver

        def timed(address: int) -> int:
            start = time.perf_counter()
            result = plain(address)
            note(time.perf_counter() - start)  # type: ignore[misc]
            return result

        self._driver = plain if note is None else timed

    def kernels(self) -> list[tuple[Launch, float | None]]:
        """The kernels, each once, with the seconds that this process took to compile them (0: a second one did it for this one); None: it
        was compiled before."""
        first: dict[str, Launch] = {}
        for source, launch in zip(self.sources, self.plan.kernels, strict=True):
            first.setdefault(source, launch)
        return [(launch, compiler().took.get(compiler().symbol(source, self.engine))) for source, launch in first.items()]

    def describe(self) -> str:
        """The plan as text: descriptors with their buffers, then the instructions."""
        lines = [f"plan: {len(self.plan.names)} descriptors, {self.plan.buffers} buffers, {len(self.plan.code)} instructions, "
                 f"{len(set(self.sources))} kernels"]  # fmt: skip
        for d, name in enumerate(self.plan.names):
            where = "bound" if self.plan.buffer_of[d] < 0 else f"buffer {self.plan.buffer_of[d]}"
            if d in self.plan.inplace_state:
                where = f"memory of {self.plan.inplace_state[d]}"
            lines.append(f"  d{d} {name}: {where}")
        for i, (row, op) in enumerate(zip(self.plan.code, self.plan.ops, strict=True)):
            text = layout.INSTRUCTION_NAMES[row[0]]
            if row[0] == layout.CALL:
                record = self.plan.records[row[1]]
                label = self.plan.kernels[record.kernel].kernel.label
                text += f" {label}({', '.join(f'd{d}' for d in record.descriptors)})"
            else:
                text += " " + " ".join(map(str, row[1:3]))
            lines.append(f"  {i}: {text}" + (f"    # {op.location}" if op is not None and op.location else ""))
        return "\n".join(lines) + "\n"


_LATER = object()


@functools.cache
def profiling_driver() -> Any:
    """The driver that notes what it launches. Who starts a recording asks for it first, so that compiling it takes no time of a run."""
    return ENTRY(compiler().addresses([], ["profiling_driver"])[0])


class _Place:
    """Where what is fed, or state, goes.

    Attributes:
        descriptor, variable, dtype: what shows it, what it is called, and its dtype.
    """

    __slots__ = ("_shape", "descriptor", "dtype", "variable")

    def __init__(self, descriptor: int, variable: Variable):
        self.descriptor, self.variable, self.dtype = descriptor, variable, np.dtype(variable.dtype)
        self._shape: tuple[int, ...] | None = None

    def admits(self, shape: tuple[int, ...]) -> bool:
        """Whether an array of this shape fits; most have that of the one before."""
        if shape == self._shape:
            return True
        if self.variable.kind == "array" or not dims.admits(self.variable.shape, shape):
            return False
        self._shape = shape
        return True


class Session:
    """One run in progress, with its frame.

    Attributes:
        given: the state that it has begun with.
        state: the same, while the run looks at it or changes it.
    """

    def __init__(self, executable: Executable, feeds: Sequence[Any], state: Given, same: object = None):
        self.executable = executable
        self.frame = executable.take_frame()
        self._words = self.frame.argument_words
        self._closed = False
        self._begin(feeds, state, same)

    def again(self, feeds: Sequence[Any], state: State, same: object) -> None:
        """Begins another run in the same memory, behind `release`; None stands for a feed that comes later."""
        self._begin([_LATER if x is None else x for x in feeds], state, same)

    def release(self) -> None:
        """Lets go of what was bound; nothing is fetched any more."""
        self.frame.release_inputs()
        self.state: State = {}

    def _begin(self, feeds: Sequence[Any], state: Given, same: object) -> None:
        executable = self.executable
        self.same = same
        self._shown = self.frame.has_same(same)
        if not self._shown or executable.changes_state:
            self.state = state_of(state)
        self.given = state  # what it has stays alive
        if executable.plan.calls:
            self.frame.restart()
        self.finished = False
        self._words[layout.START], self._words[layout.STATUS] = 0, layout.READY
        self._rng: np.ndarray | None = None
        try:
            for place, value in zip(executable._feeds, feeds, strict=True):
                self._bind(place, value)
            if executable.state_names:
                self._bind_state()
        except BaseException:
            self.close()
            raise

    def _bind(self, place: _Place, value: Any) -> None:
        d, v, dtype = place.descriptor, place.variable, place.dtype
        if type(value) is np.ndarray and value.dtype == dtype and place.admits(value.shape):
            flags = value.flags
            if not flags.c_contiguous or not flags.aligned:
                value = np.require(value, dtype, ("C", "A"))  # kernels read plain memory
            self.frame.bind(d, value)
        elif value is ABSENT:
            self.frame.bind_absent(d)
        elif v.kind == "array" and value is not _LATER:
            self.frame.bind_list(d, value)
        elif value is not _LATER:
            self.frame.bind(d, np.require(check_feed(v, value), dtype, ("C", "A")))

    def _bind_state(self) -> None:
        executable, frame = self.executable, self.frame
        if self._shown and not executable.changes_state:
            return  # who runs it has the arrays, for as long as this run
        state = self.state
        known = self._shown or frame.has_state([*map(state.get, executable.arrays)])
        if not known or False in [state[name].flags.carray for name in executable.written]:
            self._bind_arrays()
        if executable.draws:
            self._rng = self._array(RNG).copy()  # a run that fails must not advance the generator
            frame.bind(executable._places[RNG].descriptor, self._rng)
            for final, d in executable._written_rng:
                frame.write_to(final, d)

    def _bind_arrays(self) -> None:
        executable, frame, state = self.executable, self.frame, self.state
        frame.note_state([])
        as_given = True
        for name in executable.arrays:
            place = executable._places[name]
            d, v, dtype = place.descriptor, place.variable, place.dtype
            if state.get(name) is None and name in executable._only_written:
                frame.bind_absent(d)
                continue
            array = self._array(name)
            if not array.flags.carray or array.dtype != dtype:
                # kernels read plain memory, and an optimizer step writes it
                array = state[name] = np.require(array, dtype, ("C", "A", "W"))
                as_given = False
            if not dims.admits(v.shape, array.shape):
                raise ScopeError(f"variable {name!r} has shape {dims.show(array.shape)} in the scope, the program expects "
                                 f"{dims.show(v.shape)}")  # fmt: skip
            frame.bind(d, array)
        for final, d in executable._written:
            frame.write_to(final, d)
        # last: what a signal's handler raises may end this anywhere
        arrays = [a for name in executable.arrays if (a := state.get(name)) is not None]
        if len(arrays) == len(executable.arrays):
            frame.note_state(arrays, self.same if as_given else None)

    def _array(self, name: str) -> np.ndarray:
        array = self.state.get(name)
        if array is None:
            raise ScopeError(
                f"variable {name!r} has no value", hint="run the startup program first, or load the parameters"
            )
        return array

    def advance(self) -> None:
        """Runs to the next `suspend` or to the end; then `finished` is true and the state is updated."""
        words = self._words
        while True:
            status = words[layout.STATUS]
            if status == layout.READY:
                self.executable.call_driver(self.frame)
                status = words[layout.STATUS]
            if status == layout.DONE:
                self._commit()
                self.finished = True
                return
            pc = words[layout.START]
            if status == layout.SUSPENDED:
                self._go_on(pc + 1)
                return
            if status == layout.THREADS:
                threads.pool().start(compiler().serving())
                self._go_on(pc)
                continue
            if status == layout.INTERRUPTED:
                signals.raise_kept()
            op = self.executable.plan.ops[pc]
            if status == layout.HOST:
                assert op is not None
                self._host(op)
                self._go_on(pc + 1)
                continue
            self._raise(op, status)

    def _go_on(self, pc: int) -> None:
        """Lets the driver start at this instruction next."""
        self._words[layout.START] = pc
        self._words[layout.STATUS] = layout.READY

    def complete(self) -> list[Any]:
        """What is to be fetched, after going on to the end."""
        self.finish()
        return self.outputs()

    def finish(self) -> None:
        """Runs to the end."""
        while not self.finished:
            self.advance()

    def has_begun(self) -> bool:
        """Whether state has been written to, or would be next."""
        first = self.executable.plan.first_write
        return self._words[layout.STATUS] == layout.DONE or (first is not None and self._words[layout.START] > first)

    def resume(self, feeds: Mapping[str, Any]) -> None:
        """Binds further feeds and runs on."""
        self.feed(feeds)
        self.advance()

    def feed(self, feeds: Mapping[str, Any]) -> None:
        """Binds further feeds."""
        for name, value in feeds.items():
            self._bind(self.executable._places[name], value)

    def fetch(self, names: Sequence[str]) -> list[Any]:
        """The present values of variables; None where absent. A persistable has its new value once the run is finished."""
        return [self._fetched(name) for name in names]

    def outputs(self) -> list[Any]:
        """What is to be fetched of a run that is finished."""
        values = []
        for name, d in zip(self.executable.fetch_names, self.executable._outputs, strict=True):
            value = self._fetched(name) if d is None else self.frame.value(d)
            values.append(None if value is ABSENT else value)
        return values

    def _fetched(self, name: str) -> Any:
        value = self._final(name) if self.finished else ABSENT
        value = self._value(name) if value is ABSENT else value
        return None if value is ABSENT else value

    def _value(self, name: str) -> Any:
        return self.frame.value(self.executable.plan.descriptor(name))

    def _final(self, name: str) -> Any:
        """What a persistable is updated with; absent, if it is not."""
        final = self.executable.updates.get(name)
        return ABSENT if final is None else self._value(final)

    def close(self) -> None:
        """Gives the frame back."""
        if not self._closed:
            self._closed = True
            self.executable.give_frame(self.frame)

    def _commit(self) -> None:
        for name, d in self.executable._replaced.items():
            value = self.frame.value(d)
            if value is not ABSENT:
                self.state[name] = value  # the old array stays as it is: what is fetched may be a view of it
        if self._rng is not None:
            np.copyto(self.state[RNG], self._rng)

    def _values(self, op: Operator) -> dict[str, Any]:
        from ..ir.visit import reads

        return {name: self._value(name) for name in reads(op) if name in self.executable.plan.canonical}

    def _host(self, op: Operator) -> None:
        env = self._values(op)
        reference.run_op(op, env)
        for name in op.output_names:
            d = self.executable.plan.descriptor(name)
            self.frame.bind(d, np.ascontiguousarray(env[name]))

    def _raise(self, op: Operator | None, status: int) -> None:
        """Replays the op in the reference, which raises what eager raises."""
        if op is None:
            raise CompileError("the native program failed outside of any op: this is a bug in dy2st")
        if status == layout.NO_MEMORY:
            raise with_location(MemoryError(f"no memory for the result of {op.type}"), op.location)
        if status == layout.TOO_DEEP:
            assert op is not None
            raise reference.recursion_error(int(self.frame.arguments[layout.DEPTH_LIMIT]), op.location)
        if status == layout.OUT_OF_BOUNDS:
            raise CompileError(f"the kernel of {op.type} left its tensor: this is a bug in dy2st", location=op.location)
        env = self._values(op)
        if op.type == "cond" or op.type == "while_loop":
            from ..ops.control import scalar_bool

            name = op.input("Cond")[0] if op.type == "cond" else op.attrs["cond_block"].results[0]
            if self.executable.plan.holds(name):  # not within a kernel that does all of the op on scalars
                scalar = self.frame.value(self.executable.plan.descriptor(name))
                try:
                    scalar_bool(scalar, "a tensor")
                except Exception as error:
                    raise with_location(error, op.location) from None
        reference.run_op(op, env)
        raise CompileError(f"the kernel of {op.type} reports a failure that the reference does not", location=op.location,
                           hint="arrays that are fed must not change while the run reads them; if none does, this is a bug")  # fmt: skip
