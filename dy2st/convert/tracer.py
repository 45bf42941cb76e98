"""`Tracer`: the recorder of a traced function. It knows which tensors of the outside are met and what is changed where."""

from __future__ import annotations

import contextlib
import sys
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from dy2st_runtime import config
from dy2st_runtime.errors import Location
from dy2st_runtime.ir import Block, IRBuilder, Program, Variable
from dy2st_runtime.ops.registry import OpDef

from ..errors import Dy2stError, LeakError, StagedValueError, StructureError, of_tracing
from ..static.recorder import ProgramRecorder
from ..tensor import Parameter, Tensor, dispatch
from ..tensor.attribute import dynamic_size
from ..tensor.failures import raise_if
from ..tensor.kinds import Kind, require_one_kind
from ..tensor.location import asked_by_debugger, user_code, user_location, user_path
from ..tensor.promotion import as_plain_tensor
from ..tensor.random import STATE_NAME
from .activations import Activation, GradientsInside, NotYet
from .activations import Kind as CallKind
from .aliases import ON_LISTS, Aliases, is_inside, who
from .cells import Cell, EntryCell, ListCell, OrderCell, TensorCell
from .chosen import Chosen
from .dicts import StagedDict
from .dynamic import DynamicList
from .facts import Facts
from .flags import Flags
from .frames import Frame, Note, Outcome
from .growing import current, grown, take_back
from .lists import StagedList
from .maybe_attribute import MaybeAttribute, NoAttribute
from .maybe_value import MaybeValue
from .optional import MaybeNone
from .options import Options, values_of
from .raised import Attempts
from .records import RecordList, parts_of
from .snapshot import Snapshot
from .structure import MaybeObject
from .texts import StagedText
from .undefined import Undefined
from .watching import Watcher

if TYPE_CHECKING:
    from .exceptions import Again
    from .loops import Loop
    from .readings import Question
    from .recursion import StagedFunction
    from .settled import Settled
    from .signatures import Settled as SettledCalls

Captured = tuple[Tensor, Variable]

_UNDER_A_CONDITION = "the recording of gradients is switched under a condition on tensors, for what follows too"


class TooLongError(Dy2stError):
    """More ops than a trace may have that unrolls loops over sizes; whoever set the limit catches it."""


class Tracer(Watcher, Flags):
    """Sends ops to the current block of a Program.

    Concrete tensors that ops meet become persistable variables, one for each Tensor object; `captures` lists them. Their values are
    read at each call. Values are never updated in place: a tensor that is modified takes a new variable, and
    the journal of the innermost branch or loop notes that it did.

    Args:
        program: what is built.
        open_captures: shapes with open dims of captured tensors whose size has changed between calls, by id.
        recursive: the calls that are calls of functions of the Program.
        unrolled: the loops over ranges that cannot be loops of the Program, by where they are.

    Attributes:
        compared: the tensors outside that were told from others, by id; `compares_arguments`: from arguments too.
        left: the iterators over which a loop ran that ended where only the run knows, by id.
        onward: the iterators from which loops take items now that only some runs take, by id.
        read_keys: the numbers under which items of dicts were read, by the ids of both: each with its dict, the keys of that, and where.
        swept: the objects of the outside of which all attributes are read.
        spaces: the namespaces that are read by keys.
        values: the tensors that got a variable as their value when they were modified in place, by its name.
        limit: the number of ops beyond which tracing fails: with TooLongError if it is less than `config.TRACE_LIMIT`.
        activations: the calls of functions that are being traced, from the outside in.
        staged: the functions of the Program that are being traced.
        ended: the exceptions that the last op of a block raises, whatever the run does there, by id, with the block.
        tries: the `try` statements whose bodies are being traced.
        settled: what loops came to, by where they are and the names of their variables; signatures: likewise, what the calls of recursive
            functions did.
        objects: those that are entries, or parts of entries, of lists of dynamic length.
        readings: what was read of files, by what was asked.
        opened: the files that the functions have opened.
        filters, stdout, stderr: those of `warnings` and `sys` when the trace began.
    """

    advice = (
        "use tensor operations on it, or if, while, for, int(), float(), min(), max() and the functions of math in a function "
        "with source code, where they are converted"
    )
    remedies = {
        ".numpy()": (
            "leave it out in conditions, indices and arithmetic (if x[0] > 5), use functions of tensors instead of NumPy's (exp(x), not "
            "np.exp(x)), or return the tensor and do it outside"
        ),
        "numpy.asarray()": "use functions of tensors instead of NumPy's (exp(x), not np.exp(x)), or return the tensor and do it outside",
        ".tolist()": "it is traced for up to three dims: loop over the tensor, and list each part",
        "an index (or chr(), hex() and the like)": (
            "index a tensor made of the values (to_tensor(values)[n]), or choose with if and elif; a text like chr(n) or hex(n) is made "
            "outside, of what is returned"
        ),
        "hash() (a lookup in a dict or set)": "choose with if and elif, or with match; or index a tensor made of the values",
    }

    def __init__(self, program: Program, open_captures: dict[int, tuple[int, ...]] | None = None, recursive: Iterable[CallKind] = (),
                 unrolled: Iterable[Location | None] = ()) -> None:  # fmt: skip
        from .alternatives import Alternatives
        from .entries import Entries
        from .sharing import Sharing
        from .spaces import Spaces
        from .state_made import StateMade
        from .training import Gradients
        from .walks import OuterWalks

        Flags.__init__(self, program.global_block)
        Watcher.__init__(self)
        self.program = program
        self.captures: dict[int, Captured] = {}
        self.compared: dict[int, Tensor] = {}
        self.compares_arguments = False
        self.absent: dict[str, str] = {}
        self.entry_kinds: dict[str, frozenset[Kind]] = {}
        self.entry_codes: dict[str, Variable] = {}
        self.replaced: dict[int, tuple[Any, Any]] = {}
        self.notes: dict[Note, None] = {}
        self.asked: list[tuple[Any, str]] = []
        self.lacking: list[tuple[Tensor, str]] = []  # tensors that did not have it then; `__class__`: that are of no subclass
        self.given: list[Any] = []
        self.swept: list[Any] = []
        self.spaces = Spaces()
        self.left: dict[int, Any] = {}
        self.onward: list[dict[int, Any]] = []
        self.marked: list[tuple[Tensor, str]] = []
        self.raised: list[Again] = []
        self.readings: dict[Question, Any] = {}
        self.filters = warnings.filters
        self.opened: weakref.WeakSet[Any] = weakref.WeakSet()
        self.stdout, self.stderr = sys.stdout, sys.stderr
        self.tries = Attempts(self)
        self.ended: dict[int, tuple[BaseException, Block]] = {}
        self.aliases = Aliases()
        self.alternatives = Alternatives(self)
        self.entries = Entries(self)
        self.sharing = Sharing(self)
        self.walks = OuterWalks(self)
        self.gradients = Gradients(self)
        self.state_made = StateMade(self)
        self.facts = Facts()
        self.placeholders: Sequence[Tensor] = ()
        self.values: dict[str, Any] = {}
        self.objects = Options(())
        self.chosen: dict[int, Chosen] = {}
        self.read_keys: dict[tuple[int, int], tuple[dict, Any, tuple, Block]] = {}
        self.limit = config.TRACE_LIMIT.get()
        self.settled: dict[tuple[Location | None, tuple[str, ...]], Settled] = {}
        self.signatures: dict[tuple, SettledCalls] = {}
        self.recursive, self.unrolled = frozenset(recursive), frozenset(unrolled)
        self.activations: list[Activation] = []
        self.staged: list[StagedFunction] = []
        self.loops: list[Loop] = []
        self.shown = 0  # how many effects that others see there were
        self._open = open_captures or {}
        self._count = 0

    def advise(self, what: str) -> str:
        from .calls import why_unconverted

        return why_unconverted(user_code()) or ProgramRecorder.advise(self, what)

    # ---- ops ----
    def _end(self) -> NoReturn:
        if self.limit < config.TRACE_LIMIT.get():
            raise TooLongError(f"a trace of more than {self.limit} ops", location=user_location(4))
        raise StagedValueError(
            f"more than {self.limit} operations are recorded in one trace: a loop that Python counts is unrolled, and seems to have no end",
            location=user_location(4), hint="loop over a tensor, or a `range` of one, which is recorded once; or set DY2ST_TRACE_LIMIT",
        )  # fmt: skip

    def apply(self, op: type[OpDef], ins: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[Any, ...]:
        self._count += 1
        if self._count > self.limit:
            self._end()
        if op.may_raise and (self.tries.active or self.tries.onlookers) and self.tries.intercept(op, ins, attrs):
            return ()
        values = tuple(
            [self.lift(t) for t in x] if isinstance(x, list) else (None if x is None else self.lift(x)) for x in ins
        )
        inputs = {slot.name: (t, v) for slot, t, v in zip(op.input_slots, ins, values, strict=True)}
        # the state of the generator is an ordered effect, which the program updates itself
        drawn = {
            o: [v.name]
            for o, i in op.inplace.items()
            if isinstance(v := inputs[i][1], Variable) and v.name == STATE_NAME
        }
        if self.gradients.stepping:
            for o, i in op.inplace.items():
                t, v = inputs[i]
                if v is not None:  # what an optimizer does not keep
                    assert isinstance(v, Variable)
                    self.gradients.note_written(t, v)
                    drawn[o] = [v.name]
        try:
            outs = self._builder().apply(op, values, attrs, self._named(op, dict(drawn)))
        except Dy2stError as error:
            if op.type in ON_LISTS:
                of_tracing(error)
            raise
        flat = [v for x in values for v in (x if isinstance(x, list) else [x]) if v is not None]
        # what is put into a list or taken out of it in `no_grad()` stays what it was
        self.records_gradients |= dispatch.is_grad_enabled()
        recorded = dispatch.is_grad_enabled() or op.type in ON_LISTS
        requires = recorded and op.differentiable and any(not v.stop_gradient for v in flat)
        results: list[Any] = []
        changes = op.changes(attrs)
        for slot, out in zip(op.output_slots, outs, strict=True):
            target = inputs.get(op.inplace.get(slot.name, ""), (None, None))[0]
            if slot.name in drawn or out is None or (target is not None and slot.name not in changes):
                results.append(target)
            elif target is not None:
                for t, v in zip(target if slot.many else [target], out if slot.many else [out], strict=True):
                    v.stop_gradient = True
                    self.assign(t, v)
                results.append(target)
            else:
                results.append([self.wrap(v, requires) for v in out] if slot.many else self.wrap(out, requires))
        made = [v for out in outs for v in (out if isinstance(out, list) else [out]) if v is not None]
        if requires:
            self.needs.computed(flat, made)
        if op.type in ON_LISTS:
            self.needs.moved(flat, made)
            self.aliases.passed(op.type, {slot.name: t for slot, t in zip(op.input_slots, ins, strict=True)}, results)
        return tuple(results)

    def _named(self, op: type[OpDef], names: dict[str, Sequence[str]]) -> dict[str, Sequence[str]]:
        """`mean_0.tmp_0`, counted by the Program: tracing must not move the counters that name the user's layers."""
        stem = self.program.fresh_name(op.type)
        for i, slot in enumerate(op.output_slots):
            name = f"{stem}.tmp_{i}"
            if slot.name not in names and not slot.many and not self.program.has_name(name):
                names[slot.name] = [name]
        return names

    def builder(self) -> IRBuilder:
        """A builder for the current block, with the user's location."""
        return IRBuilder(self.block, user_path(2))

    # ---- values ----
    def lift(self, t: Tensor) -> Variable:
        self.aliases.require_fresh(t, self.block)
        return self.carry(t)

    def carry(self, t: Tensor) -> Variable:
        """`lift` without a look at the value: it is only handed on under another name."""
        v = t._value
        if not isinstance(v, Variable):
            return self.capture(t)
        if isinstance(t, MaybeNone):
            self.require_not_none(t.is_none, "unsupported operand: the value is None here, an operation on a tensor was expected")
        if t._kinds is not None and t._kinds.number is not None:
            t = as_plain_tensor(t)
        require_one_kind(t, "what is done with it depends on that")
        return self.visible(super().lift(t))

    def visible(self, v: Variable) -> Variable:
        """The variable, or what it is after a check that it has a value, if the current block can read it; LeakError otherwise."""
        if self.can_read(v):
            return self._checked(v) or v
        made = next((op.location for op in v.block.ops if v.name in op.output_names), None)
        raise LeakError(
            "a tensor that was computed inside a branch or a loop is used outside of it"
            + (f"; it was computed at {made}" if made else ""),
            location=user_location(2),
            hint="assign it to a local variable or an attribute of self in the same function, so that it is carried out",
        )

    def can_read(self, v: Variable) -> bool:
        """Whether a variable is of the current block or one around it."""
        return self.is_around(v.block)

    def is_around(self, outer: Block) -> bool:
        """Whether a block is the current one or one around it."""
        return is_inside(self.block, outer)

    def capture(self, t: Tensor) -> Variable:
        known = self.captures.get(id(t))
        if known is not None:
            return known[1]
        block = self.program.global_block()
        shape = self._open.get(id(t), tuple(t._value.shape))
        name = t.name if not self.program.has_name(t.name) else self.program.fresh_name(t.name)
        stop = t._stop or t.dtype not in ("float16", "float32", "float64")
        v = block.create_var(
            name, t.dtype, shape, persistable=True, stop_gradient=stop, is_parameter=isinstance(t, Parameter)
        )
        self.captures[id(t)] = (t, v)
        return v

    def note_compared(self, *values: Any) -> None:
        """Whether these are one object is about to be decided, for all calls that the trace serves."""
        outside = [x for x in values if isinstance(x, Tensor) and (not x.is_symbolic or id(x) in self.originals)]
        self.compared.update((id(x), x) for x in outside)
        self.compares_arguments |= bool(outside) and any(id(x) in self.arguments for x in values)

    def open_dim(self, tensor: Tensor, axis: int) -> Any:
        return dynamic_size(tensor, axis)

    def read(self, tensor: Tensor, what: str) -> np.ndarray:
        # also the value of a concrete tensor is one that may be another at the next call
        raise dispatch.staged_value_error(tensor, what)

    def text(self, tensor: Tensor, spec: str) -> str | None:
        from .calls import is_called_unconverted

        if asked_by_debugger():
            return None
        if is_called_unconverted():  # what it does with the text nobody sees: look at its characters, say
            raise dispatch.staged_value_error(tensor, "its text")
        if tensor._kinds is None or tensor._kinds.number is None or sum(k.weak for k in tensor._kinds.all) > 1:
            require_one_kind(tensor, "its text depends on that")
        return self.mark(tensor, f":{spec}" if spec else "")

    def mark(self, tensor: Tensor, shown: str) -> StagedText:
        """What stands for the text of a tensor, shown as an f-string says with this conversion and format."""
        if not self.may_record and tensor.dtype.startswith("float") and any(
                id(t) in self.arguments for t in (who(tensor), *self.aliases.of(tensor).values())):  # fmt: skip
            raise GradientsInside  # the text says whether an argument wants a gradient, whatever the caller's mode
        # cannot be part of a text of the user; `printing.texts` puts the tensor in its place
        self.marked.append((tensor, shown))
        return StagedText(f"\0{len(self.marked) - 1}\0")

    def require_not_none(self, is_none: Tensor, text: str, exception: type[Exception] = TypeError) -> None:
        """Raises at run time, as eager would, if a value is None."""
        if self.facts.of(is_none) is not False:
            raise_if(is_none, exception, text)

    def effect(self, op_type: str, **slots_and_attrs: Any) -> None:
        """An op that is run for its effect."""
        self.shown += op_type != "assert"
        dispatch.ops.op(op_type, **slots_and_attrs)

    # ---- undefined values ----
    def defined(self, value: Any, name: str) -> Any:
        """The value of a variable that may have none: checked at run time where only that can tell. It stays the same object, and what
        reads it here from now on reads what was checked."""
        if isinstance(value, Undefined):
            error = value.error()
            waiting = [loop for loop in self.loops if loop.waits_for(value, error)]
            raise NotYet(error) if waiting else error
        if isinstance(value, MaybeObject):
            self.defined(value.token, name)
            return value.value
        if isinstance(value, MaybeNone):
            self._require_none_or_defined(value, name)
        elif isinstance(value, MaybeValue):
            self.defined(value._dy_is_none, name)
        elif isinstance(value, RecordList):
            for column in value.columns:
                self.defined(column, name)
        elif isinstance(value, (Tensor, StagedList)) and isinstance(v := value._value, Variable) and (why := self.why_absent(v)):
            self.facts.present[v.name] = out = self.builder().op("ensure_defined", X=v, name=name, why=why)
            self.needs.give(out, self.needs.of_variable(v))
        return value

    def why_absent(self, v: Variable) -> str:
        """Why a variable may have no value here; "" if it has one."""
        return "" if self._checked(v) is not None else self.absent.get(v.name, "")

    def _checked(self, v: Variable) -> Variable | None:
        """The variable, as it is known to have a value here."""
        found = self.facts.present.get(v.name)
        return found if found is not None and self.can_read(found) else None

    def _require_none_or_defined(self, value: MaybeNone, name: str) -> None:
        from .if_stmt import stage_cond

        flag, bare = self.defined(value.is_none, name), value.bare()
        if getattr(bare._value, "name", None) in self.absent:
            stage_cond(self, flag, lambda: (), lambda: (self.defined(bare, name),)[:0], ())

    # ---- mutation ----
    def on_mutate(self, tensor: Any) -> None:
        """Notes the value that a tensor (or staged list) has before it is modified."""
        if not isinstance(tensor._value, Variable):
            v = self.capture(tensor)
            self.originals.setdefault(id(tensor), (tensor, tensor._value))
            tensor._value = v
        if self.frames and not is_inside(tensor._value.block, self.frames[-1].block):
            cell = TensorCell(tensor)
            self.frames[-1].tensors.setdefault(cell.key, (cell, tensor._value))

    def assign(self, tensor: Any, v: Variable) -> None:
        """A tensor (or staged list) is modified in place: it gets another variable."""
        self.aliases.mutated(tensor, self.block)
        self.carry_on(tensor, v)
        whole = tensor._whole if isinstance(tensor, Tensor) else None
        while whole is not None:
            if whole._kinds is not None and v.dtype != whole.dtype:
                raise whole._kinds.fail(f"modified in place, the tensor becomes {v.dtype}")
            self.carry_on(whole, v)
            whole = whole._whole

    def put(self, cell: Cell, value: Any) -> None:
        """Writes a cell, of which its list or dict, or a list in its list, may have become one that only the run knows since then."""
        if isinstance(cell, ListCell):
            value = [current(self, v) for v in value]
        staged = self.replaced.get(id(cell.target), (None, None))[1]
        if isinstance(staged, StagedDict) and isinstance(cell, OrderCell):
            staged.put_in_order(value)
        elif isinstance(staged, StagedDict) and isinstance(cell, EntryCell):
            staged.put_back(cell.entry, current(self, value))
        elif isinstance(staged, DynamicList) and isinstance(value, list):
            new = staged.listed(value)
            for target, part in zip(parts_of(staged), parts_of(new), strict=True):
                TensorCell(target).write(part)
                self.aliases.replaced(target, part)
            self.sharing.replaced(staged, new)
        else:
            cell.write(current(self, value))

    def carry_on(self, tensor: Any, v: Variable) -> None:
        """Gives a tensor the variable that stands for its value from now on."""
        self.on_mutate(tensor)
        self.values.setdefault(v.name, tensor)
        tensor._value = v

    def grad(self, outputs: Sequence[Tensor], inputs: Sequence[Tensor], grad_outputs: Sequence[Tensor | None],
             no_grad_vars: Sequence[Tensor], create_graph: bool) -> list[Tensor | None]:  # fmt: skip
        from .gradients import gradients

        return gradients(self, outputs, inputs, grad_outputs, no_grad_vars, create_graph)

    trains = True

    def gradient(self, tensor: Tensor) -> Tensor | None:
        return self.gradients.get(tensor)

    def set_gradient(self, tensor: Tensor, value: Tensor | None) -> None:
        self.gradients.set(tensor, value)

    def gradients_of(self, params: Sequence[Tensor]) -> list[tuple[Tensor, Tensor]]:
        return self.gradients.pairs(params)

    def step(self, state: Sequence[dict], required: Sequence[Tensor],
             settings: Iterable[tuple[Any, Sequence[str]]]) -> contextlib.AbstractContextManager[None]:  # fmt: skip
        return self.gradients.step(state, required, settings)

    def backward(self, tensors: Sequence[Tensor], grads: Sequence[Tensor | None], retain_graph: bool, create_graph: bool) -> None:
        if create_graph:
            raise StagedValueError("backward(create_graph=True) in a static function", location=user_location(3),
                                   hint="use paddle.grad(..., create_graph=True) there")  # fmt: skip
        self.gradients.backward(tensors, grads, retain_graph)

    def parameter(self, name: str, shape: list[int], dtype: str, make: Callable[[list[int], str], Tensor],
                  trainable: bool) -> Parameter | None:  # fmt: skip
        if not self.gradients.stepping:  # else it is state of the optimizer, which keeps it
            self.state_made.note_parameter(name)
        return None

    def on_state_made(self, name: str) -> None:
        self.state_made.note(name)

    def on_layer_made(self, layer: Any) -> None:
        self.state_made.layers[id(layer)] = layer

    def on_state_read(self, state: dict) -> None:
        self.state_made.read.setdefault(id(state), (state, len(state)))

    def start_random(self, state: Tensor, value: np.ndarray) -> bool:
        dispatch.ops.op("rng_restore", State=state, X=dispatch.constant(value))
        return True

    def on_random_state(self) -> None:
        raise StagedValueError("the state of the random generator is only known when the program runs", location=user_location(2),
                               hint="call get_rng_state() outside of the static function")  # fmt: skip

    def rebind(self, tensor: Tensor, new: Tensor) -> None:
        self.assign(tensor, self.lift(new))

    def options_of(self, value: Any) -> tuple[Any, ...]:
        if isinstance(value, MaybeNone):
            return None, value.bare()
        if isinstance(value, MaybeValue):
            return None, value._dy_value
        if isinstance(value, MaybeAttribute):
            return NoAttribute(""), value.value
        return tuple(self.aliases.of(value).values()) or (value,) if isinstance(value, Tensor) else values_of(value)

    def require_entry(self, cell: Cell, before: Any, after: Any, why: str) -> None:
        """StructureError if a dict has an entry on one path only: it could not say then which keys it has."""
        if (isinstance(cell, EntryCell) and isinstance(before, Undefined) != isinstance(after, Undefined)
                and isinstance(cell.target, dict) and id(cell.target) not in self.attributes
                and (id(cell.target) not in self.partial or cell.target is self.partial[id(cell.target)].has)):  # fmt: skip
            raise StructureError(
                f"a dict gets or loses the key {cell.entry!r} under a condition on tensors ({why}), so that only the run "
                "knows whether it has it",
                location=user_location(), hint="give it the key on all paths, with None say",
            )  # fmt: skip

    # ---- blocks ----
    @contextlib.contextmanager
    def frame(self, block: Block) -> Iterator[Frame]:
        """Traces into a block; at the end of the `with` everything that was changed outside has its old value again."""
        from .iterators import iterators_around

        self.walks.count()
        found, held, met, walks = self.alternatives.mark(), len(self.entries), len(self.met), len(self.walks)
        frame = Frame(block, containers=self.snapshot(), iterators=iterators_around(self))
        self.frames.append(frame)
        try:
            with self.inside(block):
                yield frame
            self.alternatives.require_unchanged()
            self.entries.require_unchanged()
        finally:
            self.alternatives.leave(found)
            self.entries.leave(frame, held)
            self.frames.pop()
            for cell, old in frame.tensors.values():
                cell.target._value = old
            frame.containers.restore()
            self.walks.leave(walks)
            take_back(frame)
            self.forget(met)
            for key in frame.promoted:
                del self.replaced[key]

    def run_in(self, block: Block, thunk: Callable[[], Any]) -> Outcome:
        """Traces a function into a block."""
        with self.whole_frame(block) as frame:
            return self.outcome(thunk(), frame)

    @contextlib.contextmanager
    def whole_frame(self, block: Block) -> Iterator[Frame]:
        """`frame` for code that begins and ends as one in the user's source, so that the modes at its end are those at its begin."""
        with dispatch.grad_as_before(_UNDER_A_CONDITION), self.frame(block) as frame:
            yield frame

    def outcome(self, result: Any, frame: Frame) -> Outcome:
        """What the code in a frame leaves behind, at its end."""
        tensors = [(c.target, c.target._value) for c, _ in frame.tensors.values()]
        return Outcome(result, self.changes(frame), grown(frame), tensors)

    def changes(self, frame: Frame) -> dict[tuple, tuple[Cell, Any]]:
        """The cells outside that the frame has changed, or one of those in it that are open, with their present values."""
        self.walks.count()
        found: dict[tuple, tuple[Cell, Any]] = {}
        before = dict(frame.tensors)
        for inner in self.frames[self.frames.index(frame) + 1 :]:
            for key, (cell, old) in inner.tensors.items():
                if not is_inside(old.block, frame.block):
                    before.setdefault(key, (cell, old))
        for key, (cell, old) in before.items():
            if cell.target._value is not old:
                found[key] = (cell, cell.read())
        for cell in frame.containers.changed():
            if isinstance(cell, OrderCell) and (id(cell.target) in self.attributes or id(cell.target) in self.partial):
                continue
            found[cell.key] = (cell, cell.read())
        return found

    def snapshot(self) -> Snapshot:
        """The present contents of everything that is watched."""
        return Snapshot.of(self._containers.values())

    def sub_block(self) -> Block:
        return Block(self.program, self.block)

    def note(self, what: str, why: str, location: Location | None = None) -> None:
        """Remembers a decision for `explain()`."""
        self.notes.setdefault(Note(location or user_location(2), what, why))

    def ask(self, owner: Any, name: str) -> None:
        """Code asks whether an object has an attribute."""
        self.asked.append((owner, name))
        if name == "name" and isinstance(owner, Tensor):
            self.named[id(owner)] = owner
        if isinstance(owner, Tensor) and name not in vars(owner) and not hasattr(type(owner), name):
            self.lacking.append((owner, name))

    def note_missing(self, error: BaseException | None) -> None:
        """Code goes on behind an exception that says that an object has no attribute of some name: the next call may find it there."""
        if isinstance(error, AttributeError) and error.name is not None:
            self.ask(error.obj, error.name)


def current_tracer() -> Tracer | None:
    """The active tracer of this thread; None outside of traced functions."""
    recorder = dispatch.current_recorder()
    return recorder if isinstance(recorder, Tracer) else None


def is_staged(x: Any) -> bool:
    """Whether a value is only known when the program runs: a symbolic tensor, or any tensor while tracing."""
    return isinstance(x, Tensor) and (x.is_symbolic or not dispatch.in_dynamic_mode())


def renamed(t: Tensor, stop_gradient: bool = True) -> Tensor:
    """Another object for the value that a staged tensor has now. One of the outside becomes a variable first, whose value each run reads:
    its array in another object would be that of the first call for ever."""
    recorder = dispatch.current_recorder()
    assert isinstance(recorder, ProgramRecorder)
    return Tensor.wrap(t._value if t.is_symbolic else recorder.lift(t), stop_gradient)


def need_tracer(what: str) -> Tracer:
    """The active tracer; StagedValueError if a symbolic tensor met Python control flow outside of one."""
    tracer = current_tracer()
    if tracer is None:
        raise StagedValueError(
            f"{what} depends on a tensor of a program that is built by hand", location=user_location(2),
            hint="use static.cond and static.while_loop, or call a function decorated with to_static",
        )  # fmt: skip
    return tracer
