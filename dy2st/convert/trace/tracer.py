"""`Tracer`: the recorder of a traced function: what was met, asked and changed while it ran, and in which block."""

from __future__ import annotations

import contextlib
import sys
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dy2st_runtime.errors import Location
from dy2st_runtime.ir import Block, Program, Variable

from ...errors import StructureError
from ...tensor import Tensor, dispatch
from ...tensor.kinds import Kind
from ...tensor.location import in_own_layer, user_location
from .. import hub, roles
from ..alias.alternatives import Alternatives
from ..alias.list_entries import Entries
from ..alias.list_sharing import Sharing
from ..effects.cells import Cell, EntryCell, ListCell, OrderCell, TensorCell
from ..effects.may_alias import is_inside
from ..effects.region_frames import Frame, Note, Outcome
from ..effects.snapshot import Snapshot
from ..guards.activations import Activation, NotYet
from ..guards.activations import Kind as CallKind
from ..guards.namespaces import Spaces
from ..iteration.outer_iterators import iterators_around
from ..pyfacts.breakpoints import Stops
from ..pyfacts.checked_iterators import OuterWalks
from ..pyfacts.safe_repr import shown
from ..pyfacts.undefined import NoAttribute, Undefined
from ..regions.choice_mutation import Chosen
from ..regions.list_promotion import current, grown, repeated, take_back
from ..regions.recording import Recording
from ..regions.write_journal import Watcher
from ..training.created_state import CreatedState
from ..training.traced_gradients import gradients
from ..training.tracer_training import Trained
from ..training.training_step import Gradients
from ..values.dynamic_list import DynamicList
from ..values.maybe_attribute import MaybeAttribute
from ..values.maybe_none import MaybeNone
from ..values.maybe_value import MaybeObject, MaybeValue
from ..values.one_of import Options, values_of
from ..values.record_list import RecordList, parts_of
from ..values.staged_dict import StagedDict
from ..values.staged_list import StagedList
from .active_tries import ActiveTries

if TYPE_CHECKING:
    from types import FrameType

    from ..control.loop_cache import LoopTypes
    from ..control.recursion import StagedFunction
    from ..control.recursion_signatures import RecursionTypes
    from ..control.while_stmt import Loop
    from ..purity.python_random import Drawn
    from ..purity.world_reads import Question
    from .exception_objects import Again

ROLE = roles.BOOKKEEPING

_UNDER_A_CONDITION = "the recording of gradients is switched under a condition on tensors, for what follows too"


class Tracer(Watcher, Trained, Recording):
    """All that is known of a function while it is traced, and the blocks that its branches and loops are traced into.

    What it records, and which variable stands for a tensor, is said in `Recording`, what it watches in `Watcher`.

    Args:
        program: what is built.
        open_captures: shapes with open dims of captured tensors whose size has changed between calls, by id.
        recursive: the calls that are calls of functions of the Program.
        unrolled: the loops over ranges that cannot be loops of the Program, by where they are.

    Attributes:
        lacking: the tensors that did not have an attribute when code asked for it; `__class__`: that are of no subclass of Tensor.
        left: the iterators over which a loop ran that ended where only the run knows, by id.
        onward: the iterators from which loops take items now that only some runs take, by id.
        grew: the lists of Python that got entries in branches and loops, by id, each with the last one and where it got that.
        read_keys: the numbers under which items of dicts were read, by the ids of both: each with its dict, the keys of that, and where.
        drawn: the numbers that each call draws before its run.
        swept: the objects of the outside of which all attributes are read.
        spaces: the namespaces that are read by keys.
        activations: the calls of functions that are being traced, from the outside in.
        staged: the functions of the Program that are being traced.
        trying: whether operands of an `and` or `or` are traced to see whether they can do without a branch.
        ended: the exceptions that the last op of a block raises, whatever the run does there, by id, with the block.
        tries: the `try` statements whose bodies are being traced.
        loop_types: what fixed points loops have, by their places and variables; signatures: likewise, what the calls of recursive
            functions did.
        objects: those that are entries, or parts of entries, of lists of dynamic length.
        readings: what was read of files, by what was asked.
        opened: the files that the functions have opened.
        filters, stdout, stderr: those of `warnings` and `sys` when the trace began.
    """

    def __init__(self, program: Program, open_captures: dict[int, tuple[int, ...]] | None = None, recursive: Iterable[CallKind] = (),
                 unrolled: Iterable[Location | None] = ()) -> None:  # fmt: skip
        Recording.__init__(self, program, open_captures or {})
        Watcher.__init__(self)
        self.entry_kinds: dict[str, frozenset[Kind]] = {}
        self.entry_codes: dict[str, Variable] = {}
        self.replaced: dict[int, tuple[Any, Any]] = {}
        self.notes: dict[Note, None] = {}
        self.asked: list[tuple[Any, str]] = []
        self.lacking: list[tuple[Tensor, str]] = []
        self.given: list[Any] = []
        self.swept: list[Any] = []
        self.drawn: list[Drawn] = []
        self.spaces = Spaces()
        self.used_iterators: dict[int, Any] = {}
        self.onward: list[dict[int, Any]] = []
        self.raised: list[Again] = []
        self.readings: dict[Question, Any] = {}
        self.filters = warnings.filters
        self.opened: weakref.WeakSet[Any] = weakref.WeakSet()
        self.stdout, self.stderr = sys.stdout, sys.stderr
        self.tries = ActiveTries(self)
        self.ended: dict[int, tuple[BaseException, Block]] = {}
        self.alternatives = Alternatives(self)
        self.entries = Entries(self)
        self.sharing = Sharing(self)
        self.walks = OuterWalks(self)
        self.gradients = Gradients(self)
        self.state_made = CreatedState(self)
        self.placeholders: Sequence[Tensor] = ()
        self.inputs: Sequence[Variable] = ()
        self.objects = Options(())
        self.chosen: dict[int, Chosen] = {}
        self.grew: dict[int, tuple[list, Any, Location | None]] = {}
        self.read_keys: dict[tuple[int, int], tuple[dict, Any, tuple, Block]] = {}
        self.loop_types: dict[tuple[Location | None, tuple[str, ...]], LoopTypes] = {}
        self.signatures: dict[tuple, RecursionTypes] = {}
        self.recursive, self.unrolled = frozenset(recursive), frozenset(unrolled)
        self.activations: list[Activation] = []
        self.staged: list[StagedFunction] = []
        self.trying = False
        self.loops: list[Loop] = []
        self.stops = Stops()

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

    def _require_none_or_defined(self, value: MaybeNone, name: str) -> None:
        flag, bare = self.defined(value.is_none, name), value.bare()
        if getattr(bare._value, "name", None) in self.absent:
            hub.stage_cond(self, flag, lambda: (), lambda: (self.defined(bare, name),)[:0], ())

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

    def grad(self, outputs: Sequence[Tensor], inputs: Sequence[Tensor], grad_outputs: Sequence[Tensor | None],
             no_grad_vars: Sequence[Tensor], create_graph: bool) -> list[Tensor | None]:  # fmt: skip
        return gradients(self, outputs, inputs, grad_outputs, no_grad_vars, create_graph)

    def repeated(self, items: list | tuple, times: Tensor, frame: FrameType) -> Any:
        return repeated(self, items, times, frame) if type(items) is list else super().repeated(items, times, frame)

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
                f"a dict gets or loses the key {shown(cell.entry)} under a condition on tensors ({why}), so that only the run "
                "knows whether it has it",
                location=user_location(), hint="give it the key on all paths, with None say",
            )  # fmt: skip

    # ---- blocks ----
    @contextlib.contextmanager
    def frame(self, block: Block) -> Iterator[Frame]:
        """Traces into a block; at the end of the `with` everything that was changed outside has its old value again."""
        self.walks.count()
        found, held, met, walks = self.alternatives.mark(), len(self.entries), len(self.encountered), len(self.walks)
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
        """Remembers a decision for `explain()`, but for those in the layers of dy2st itself."""
        if location is None and in_own_layer():
            return
        self.notes.setdefault(Note(location or user_location(2), what, why))

    def ask(self, owner: Any, name: str) -> None:
        """Code asks whether an object has an attribute."""
        self.asked.append((owner, name))
        if name == "name" and isinstance(owner, Tensor):
            self.named[id(owner)] = owner
        if isinstance(owner, Tensor) and name not in vars(owner) and not hasattr(type(owner), name):
            self.lacking.append((owner, name))

    def note_class(self, t: Tensor) -> None:
        """Code looks at the class of a tensor: what a trace has of an argument is of no subclass."""
        self.lacking.append((t, "__class__"))

    def note_missing(self, error: BaseException | None) -> None:
        """Code goes on behind an exception that says that an object has no attribute of some name: the next call may find it there."""
        if isinstance(error, AttributeError) and error.name is not None:
            self.ask(error.obj, error.name)
