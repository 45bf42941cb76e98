"""The bodies of `try` statements while they are traced: behind what the run may raise in one, what follows is traced into the other branch,
up to the end of the body.

A raise that only the run knows is a jump, like `break` and early `return`: behind it code goes on in a block (`Continuation`) that runs
unless the exception is raised. That block ends where the code that is traced as one does: at the end of a branch or of a loop body,
which hands on whether it raises, or of the `try`, where the handlers follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from types import CellType, FrameType
from typing import TYPE_CHECKING, Any

from dy2st_runtime import dims
from dy2st_runtime.errors import Location
from dy2st_runtime.ir import Block
from dy2st_runtime.ops.registry import OpDef, TensorType

from ...errors import StructureError
from ...tensor import Tensor
from ...tensor.dispatch import ops
from ...tensor.kinds import number_or
from ...tensor.location import is_own, path_of, user_location
from .. import hub
from ..effects.cells import Cell, TensorCell, is_variable_of, variables_of
from ..effects.region_frames import Frame, Side
from ..pyfacts.breakpoints import is_quit
from ..pyfacts.enclosing_handlers import EnclosingHandler
from ..pyfacts.raise_context import refused_by
from ..regions.failure_predicates import is_power_of_floats, tests
from ..regions.list_promotion import grown
from ..regions.region_objects import Copies, RegionObjects, contents_of
from ..values.maybe_none import MaybeNone
from ..values.one_of import OneOf
from ..values.symbolic_texts import text
from .kept_exceptions import Causes
from .raised import MayRaise, NoWayOn, Raised, any_of, exceptions_of, refused, scalar
from .raising import append_raise, is_of_tracing, raised_at

if TYPE_CHECKING:
    from .tracer import Tracer


def known_kinds(named: Any) -> Any:
    """What a handler names.

    Raises:
        StagedValueError: only the run knows which exceptions these are.
    """
    for kind in named if isinstance(named, tuple) else (named,):
        if isinstance(kind, OneOf):
            kind._dy_fail("named by a handler")
    return named


def _asked(named: Callable[[], Any]) -> Any:
    """The same before an exception has come, until when Python does not ask for it.

    Raises:
        StructureError: it is not there.
    """
    try:
        found = named()
    except Exception as error:
        text = str(error).partition("\n")[0]
        raise StructureError(
            f"what a handler names is not there ({type(error).__name__}: {text}), and only the run knows "
            "whether Python asks for it",
            location=path_of(error),
            hint="let handlers name classes that are there, whether an exception comes or not",
        ) from error
    return known_kinds(found)


@dataclass
class ActiveTry:
    """A `try` whose body is being traced.

    Attributes:
        kinds: give the classes that the handlers name; Python asks for them where something is raised, and not before.
        shows: whether it does something that is seen whatever is raised.
        names: the variables, attributes and items that it reads.
        own: those of them that are variables of functions.
        frame, line: where it is.
    """

    kinds: Sequence[Callable[[], Any]]
    shows: bool
    get_state: Callable[[], tuple]
    names: Sequence[str]
    frame: FrameType
    line: int

    @property
    def own(self) -> Sequence[CellType]:
        return variables_of(self.get_state, self.names)

    def takes(self, kind: type[Exception]) -> bool:
        """Whether it matters to it that an exception of this class is raised."""
        return self.shows or any(issubclass(kind, _asked(named)) for named in self.kinds)

    def is_for(self, kind: type[Exception]) -> bool:
        """Whether a handler is for exceptions of this very class, and not for those of a wider one."""
        asked = map(_asked, self.kinds)
        return any(kind in (named if isinstance(named, tuple) else (named,)) for named in asked)


@dataclass
class Continuation:
    """The no-throw continuation: the block of what follows an op that may raise, or one op of several."""

    raised: Sequence[Raised]
    block: Block
    context: AbstractContextManager
    frame: Frame
    location: Location | None
    outside: set[int]


@dataclass
class _Scope:
    """Code that is traced as one, with the continuations that have begun in it; `direct`: the body of a `try`."""

    frame: Frame | None
    direct: bool
    carried: dict[tuple, Cell]
    continuations: list[Continuation] = field(default_factory=list)


class ActiveTries:
    """The `try`s of a trace whose bodies are being traced, from the outside in.

    Attributes:
        opened: how often something was raised so far that only the run knows.
        causes: which exceptions have been raised from others.
    """

    def __init__(self, tracer: Tracer):
        self.tracer = tracer
        self.opened = 0
        self.causes = Causes()
        self.active: list[ActiveTry] = []
        self.enclosing_handlers: list[EnclosingHandler] = []
        self._scopes: list[_Scope] = []
        self._certain = 0
        self._places: dict[int, tuple[Exception, Location | None]] = {}

    def wants(self, *kinds: type[Exception]) -> bool:
        """Whether a `try` may catch one of these exceptions."""
        return any(a.takes(kind) for a in self.active for kind in kinds)

    def require_unobserved(self, location: Location | None, *kinds: type[Exception], by_size: bool = False) -> None:
        """StructureError if an enclosing handler would see one of these before a `try` catches it; see `EnclosingHandler.sizes`."""
        if location is not None and is_own(location.file):  # in a layer of ours, say
            location = user_location(2)
        for handler in reversed(self.enclosing_handlers):
            for kind in kinds:
                if (by_size and not handler.sizes) or any(a.takes(kind) for a in self.active[handler.depth :]):
                    continue
                matters = handler.takes(kind)
                if matters:
                    raise handler.refusal(kind, location)
                if matters is None and handler.passed is None:
                    handler.passed = kind, location

    @contextmanager
    def certain(self) -> Iterator[None]:
        """Within this `with`, no op fails because of values: the row of a loop is there."""
        self._certain += 1
        try:
            yield
        finally:
            self._certain -= 1

    def place(self, error: Exception) -> Location | None:
        """Where the user's code raises an exception; None if something else does."""
        if is_quit(error):
            return None
        return self._places[id(error)][1] if id(error) in self._places else raised_at(error)

    def know_place(self, error: Exception, location: Location | None) -> None:
        """An exception is about to be raised for the user's code, which is there."""
        self._places[id(error)] = error, location

    # ---- scopes ----
    def collect(self, thunk: Callable[[], tuple], carried: dict[tuple, Cell] | None = None, *,
                direct: bool = False) -> tuple[tuple | None, list[Raised]]:  # fmt: skip
        """Traces code as one; what it gives (None if it raises for sure), and what the run may raise in it.

        Args:
            carried: the cells that change from one iteration of a loop to the next, if it is the body of one.
            direct: what is raised for sure before anything else may be is raised here too.
        """
        scope = _Scope(self.tracer.frames[-1] if self.tracer.frames else None, direct, carried or {})
        self._scopes.append(scope)
        values: tuple | None = None
        ended: list[Raised] = []
        try:
            try:
                values = thunk()
            except NoWayOn as end:
                ended = end.raised
                for raised in ended:
                    self._save(scope, raised)
            except Exception as error:
                self.tracer.note_missing(error)
                ended = self._ended(scope, error)
            values, ended = self._closed(scope, values, ended)
            if scope.frame is not None and not direct:
                for raised in ended:
                    raised.forget(scope.frame)
            return values, ended
        except BaseException as error:
            for rest in reversed(scope.continuations):
                rest.context.__exit__(type(error), error, error.__traceback__)
            raise
        finally:
            self._scopes.pop()

    def tried(self, thunk: Callable[[], Any]) -> Any:
        """What code gives whose trace is thrown away; MayRaise if the run may raise something in it that matters."""
        if not self.active:
            return thunk()
        values, raised = self.collect(lambda: (thunk(),), direct=True)
        if raised or values is None:
            raise MayRaise
        return values[0]

    def _ended(self, scope: _Scope, error: Exception) -> list[Raised]:
        """What is raised for sure, where that ends a rest or a branch."""
        location = self.place(error)
        if location is None and self.wants(type(error)) and not is_of_tracing(error):
            location = path_of(error)  # raised by a function of ours, as eagerly
        if location is None or (not scope.continuations and (scope.direct or not self.wants(type(error)))):
            raise error
        self.require_unobserved(location, type(error))
        if not self.wants(type(error)):
            append_raise(self.tracer, self.tracer.block, error, location)
            return []
        self._require_passable(location)
        raised = Raised(self.tracer, error, True)
        self._save(scope, raised)
        return [raised]

    def _closed(self, scope: _Scope, values: tuple | None, ended: list[Raised]) -> tuple[tuple | None, list[Raised]]:
        """Ends the continuations, from the inside out."""
        tracer = self.tracer
        while scope.continuations:
            rest = scope.continuations[-1]
            outcome = None if values is None else tracer.outcome(values, rest.frame)
            growing = grown(rest.frame)
            rest.context.__exit__(None, None, None)
            scope.continuations.pop()
            # a handler gets a list of dynamic length as a value, but a dict by what its parts have become
            if growing and (outcome is not None or (ended and any(isinstance(items, dict) for items, _ in growing))):
                raise StructureError(
                    "a list or dict that is there before something in a try statement may raise changes its length or keys behind that, "
                    "in a loop or branch that depends on a tensor",
                    location=rest.location, hint="make it behind what may raise, or move the loop or branch to before the try statement",
                )  # fmt: skip
            flag = any_of(rest.raised)
            sides = [Side(), Side(outcome, ended)]
            own = self.active[-1].own if scope.direct and self.active else ()  # `values` are theirs then
            merged = hub.merge(tracer, flag, (tracer.sub_block(), rest.block), sides, [""] * len(values or ()), rest.location,
                           rest.outside, own=own, raised=rest.raised)  # fmt: skip
            values = None if merged is None else tuple(merged)
            ended = [*rest.raised, *ended]
        return values, ended

    # ---- what is raised ----
    def open(self, *raised: Raised) -> None:
        """What follows is traced into a block that runs unless one of these is raised."""
        if not raised:
            return
        tracer = self.tracer
        scope = self._scopes[-1] if self._scopes else None
        around = None if scope is None else scope.continuations[-1].frame if scope.continuations else scope.frame
        if scope is None or around is not (tracer.frames[-1] if tracer.frames else None):
            raise refused("in this place (in a function of the Program, say)", user_location())
        for r in raised:
            self._save(scope, r)
        self.opened += len(raised)
        tracer.watch_locals()
        block = tracer.sub_block()
        context = tracer.frame(block)
        scope.continuations.append(Continuation(raised, block, context, context.__enter__(), user_location(), set(tracer.watched)))

    def _save(self, scope: _Scope, raised: Raised) -> None:
        """Notes what there is where something is raised."""
        tracer, attempt = self.tracer, self.active[-1]
        base = scope.frame if not scope.direct else scope.continuations[0].frame if scope.continuations else None
        changes = tracer.changes(base) if base is not None else {}
        changes |= {key: (cell, cell.read()) for key, cell in scope.carried.items() if key not in changes}
        for key, found in changes.items():
            if not is_variable_of(found[0], attempt.own):
                raised.cells.setdefault(key, found)
        if raised.state is None:
            raised.state = attempt.get_state()
        if base is not None:
            # what is made in the branch, or behind another raise, may change behind this one, where nobody else sees it
            copies = Copies(RegionObjects(tracer, base), raised.cells)
            raised.state = tuple(map(copies.of, raised.state))
            raised.parts.values = list(map(copies.of, raised.parts.values))
            raised.copied += copies.contents
            more = {key: found for key, found in self._of_rests(scope).items() if not is_variable_of(found[0], attempt.own)}
            raised.cells = {key: (cell, copies.of(value)) for key, (cell, value) in (more | raised.cells).items()
                            if not raised.has_copy(cell)}  # fmt: skip
            tracer.alternatives.copied(copies.objects)
            raised.lent += [new for old, new in copies.objects if tracer.entries.holds(contents_of(old))]

    def _of_rests(self, scope: _Scope) -> dict[tuple, tuple[Cell, Any]]:
        """What has changed behind raises of what was made behind another one, or in the branch."""
        found: dict[tuple, tuple[Cell, Any]] = {}
        for rest in scope.continuations[1:] if scope.direct else scope.continuations:
            found = self.tracer.changes(rest.frame) | found
        return {key: (cell, value) for key, (cell, value) in found.items() if not isinstance(cell, TensorCell)}

    def intercept(self, op: type[OpDef], ins: tuple[Any, ...], attrs: dict[str, Any]) -> bool:
        """An op may fail because of values, inside of a `try`; True if what it would raise is known and the op is not needed.

        Raises:
            StructureError: a `try` would catch what it raises, and there is no test for that.
        """
        if self._certain:
            return False
        kinds = exceptions_of(op.type, attrs.get("exception"))
        tensors = [t for x in ins for t in (x if isinstance(x, list) else [x]) if t is not None]
        types = [TensorType(t.dtype, dims.from_static(t._value.shape)) for t in tensors]
        if not op.may_raise_for(types, attrs) and not is_power_of_floats(op, types, attrs):
            return False
        if self.enclosing_handlers:
            self.require_unobserved(user_location(4), *kinds, by_size=_by_size(op, ins))
        if not self.wants(*kinds):
            return False
        location = user_location(4)
        self._require_passable(location)
        if op.type not in ("raise_if", "assert"):
            found = tests(op, ins, attrs)
            if found is None:
                raise refused(f"by an operation that fails because of values, without a test for that ({op.type})", location)
            for flag, error in found:
                if self.wants(type(error)):
                    self._places[id(error)] = error, location
                    if flag is True:
                        raise error
                    self.open(Raised(self.tracer, error, scalar(flag)))
            return False
        cond, data = ins
        args = [self._message(attrs["parts"], attrs["specs"], data)] if attrs["parts"] else []
        return self.caught(cond if op.type == "raise_if" else ops.op("logical_not", X=cond), kinds[0](*args), location)

    def caught(self, flag: Tensor, error: Exception, location: Location | None) -> bool:
        """Whether a `try` may catch an exception that is raised where a flag is true; what follows is traced behind it then."""
        self.require_unobserved(location, type(error))
        if not self.wants(type(error)):
            return False
        self._require_passable(location)
        self._places[id(error)] = error, location
        self.open(Raised(self.tracer, error, scalar(flag)))
        return True

    def _message(self, parts: Sequence[str], specs: Sequence[str], data: Sequence[Tensor]) -> Any:
        said, is_none, number = parts[0], None, None
        for part, spec, t in zip(parts[1:], specs, data, strict=True):
            if spec == "?":
                is_none = t
            elif spec.startswith("#"):
                number = spec[1:], t
            else:
                value = t if number is None else number_or(t, *number)
                value = value if is_none is None else MaybeNone.of(value, is_none)
                said += str.__str__(self.tracer.mark(value, spec[1:] if spec[:1] in "=^" else spec)) + part
                is_none = number = None
        return text(said)

    def _require_passable(self, location: Location | None) -> None:
        what = refused_by(self.active[-1].frame, self.active[-1].line)
        if what:
            raise refused(what, location)


def _by_size(op: type[OpDef], ins: Sequence[Any]) -> bool:
    """Whether an op has numbers as indices, so that it fails only where a dim of another size comes."""
    indices = (x for slot, x in zip(op.input_slots, ins, strict=True) if slot.name.startswith("Starts"))
    return op.type in ("slice", "strided_slice", "set_value") and not any(indices)
