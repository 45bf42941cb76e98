"""`try` statements: Python's, and a `cond` for each exception that only the run knows to be raised."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import (
    UndefinedError,
)
from ...transpiler import locate
from ..effects.cells import OrderCell
from ..hub import current_tracer
from ..pyfacts.undefined import Undefined, Unread, nothing, quiet
from ..regions.list_promotion import current
from ..trace.active_tries import ActiveTry
from ..trace.raised import Raised, any_of
from ..trace.raising import is_of_tracing
from .if_stmt import State, if_stmt

if TYPE_CHECKING:
    from ..trace.tracer import Tracer

COPIES = 32  # of what may be raised in a `finally`, at most, in the copies of it for what may be raised before

Kinds = Sequence[Callable[[], Any]]


def try_stmt(body: Callable[[], None], kinds: Kinds, handlers: Callable[[Any], None] | None, orelse: Callable[[], None] | None,
             final: Callable[[], None] | None, shows: bool, get_state: State, set_state: Callable[[tuple], None],
             names: tuple[str, ...], dead: tuple[str, ...] = ()) -> None:  # fmt: skip
    """`try: body() except ...: ... else: orelse() finally: final()`, where all of them change the variables `names`; see `if_stmt`.

    Args:
        kinds: give what the handlers name: classes, or tuples of these.
        handlers: raises the exception that it is given inside of a `try` with the handlers.
        shows: whether `final` does something that is seen when the whole call fails.
    """
    tracer = current_tracer()
    if tracer is None:
        _python(body, handlers, orelse, final)
        return
    frame = sys._getframe(1)
    place = locate(frame)
    line = place.line if place else 0

    def handled() -> None:
        if handlers is None:
            body()
        else:
            attempt = ActiveTry(kinds, False, get_state, names, frame, line)
            _Try(tracer, body, handlers, orelse, attempt, set_state, names, dead).run()

    if final is None:
        handled()
        return

    _Finally(tracer, handled, final, ActiveTry((), shows, get_state, names, frame, line), set_state, names).run()


def _python(body: Callable[[], None], handlers: Callable[[Any], None] | None, orelse: Callable[[], None] | None,
            final: Callable[[], None] | None) -> None:  # fmt: skip
    try:
        try:
            body()
        except BaseException as error:
            if handlers is None:
                raise
            handlers(error)
        else:
            if orelse is not None:
                orelse()
    finally:
        if final is not None:
            final()


class _Try:
    """One `try` with handlers while a function is traced."""

    def __init__(self, tracer: Tracer, body: Callable[[], None], handle: Callable[[BaseException], None] | None,
                 orelse: Callable[[], None] | None, attempt: ActiveTry, set_state: Callable[[tuple], None], names: tuple[str, ...],
                 dead: tuple[str, ...]):  # fmt: skip
        self.tracer, self.body, self.handle = tracer, body, handle
        self.orelse = orelse
        self.attempt, self.get_state = attempt, attempt.get_state
        self.set_state, self.names, self.dead = quiet(set_state), names, dead
        self._raised: list[Raised] = []

    def run(self) -> None:
        known = len(self.tracer.to_handle)
        try:
            self._run()
        finally:
            del self.tracer.to_handle[known:]

    def _run(self) -> None:
        tries = self.tracer.tries
        tries.active.append(self.attempt)
        try:
            try:
                values, raised = tries.collect(self._traced, direct=True)
            finally:
                tries.active.pop()
        except BaseException as error:
            if self.handle is None or (self.attempt.kinds and is_of_tracing(error)):
                raise
            self.handle(error)
            return
        if values is not None:
            self.set_state(values)
        self._raised = raised
        # handlers may be traced again, and change what only these know yet
        self.tracer.watch(*(value for r in raised for value in r.held()))
        for copy in (x for r in raised for x in r.lent):
            self.tracer.entries.lent(copy)
        for r in raised:
            if r.parts.is_lost():  # else code behind the `try` may go on with the exception where it is not raised
                r.parts.give()
        self._follow(raised, values)

    def _traced(self) -> tuple:
        self.body()
        return self.get_state()

    def _follow(self, raised: list[Raised], values: tuple | None) -> None:
        """What follows the body: the handlers of what it may have raised, or the `else`."""
        if not raised:
            if self.orelse is not None:
                self.orelse()
            return
        if values is not None or len(raised) > 1:
            self.tracer.note("try", "staged: only the run knows whether its body raises")
        if values is None:
            self._catch_all(raised)
        else:
            self._if(any_of(raised), lambda: self._catch_all(raised), self.orelse or nothing)

    def _catch_all(self, raised: list[Raised]) -> None:
        self._for_the_one(raised, self._catch)

    def _for_the_one(self, raised: list[Raised], then: Callable[[Raised], None]) -> None:
        """Does something with that one of these which is raised. The branches halve them: in a chain, what the last one raises again would
        pass through as many branches as there are."""
        if len(raised) == 1:
            then(raised[0])
            return
        half = len(raised) // 2
        self._if(any_of(raised[:half]), lambda: self._for_the_one(raised[:half], then), lambda: self._for_the_one(raised[half:], then))

    def _if(self, test: Any, body: Callable[[], None], orelse: Callable[[], None]) -> None:
        if_stmt(test, body, orelse, self.get_state, self.set_state, self.names, self.dead)

    def _catch(self, raised: Raised) -> None:
        assert self.handle is not None
        self._go_back(raised)
        raised.parts.give()
        self.tracer.tries.causes.catch(raised.error, self.tracer.block)
        try:
            self.handle(raised.error)
        except UndefinedError as error:
            if self._is_set_before_others(error.name):  # then only the runs in which this one comes read what has no value
                self.tracer.tries.know_place(error, error.location)
            raise

    def _is_set_before_others(self, name: str | None) -> bool:
        """Whether a variable has a value where another thing may be raised."""
        at = [i for i, n in enumerate(self.names) if n == name]
        return any(not isinstance((r.state or ())[i], Undefined) for r in self._raised for i in at)

    def _go_back(self, raised: Raised) -> None:
        """All is what it was where this was raised."""
        tracer = self.tracer
        for cell, value in sorted(raised.cells.values(), key=lambda found: isinstance(found[0], OrderCell)):
            tracer.put(cell, value)
        # behind a loop in which this was raised, what has no value has lost its name
        state = [type(v)(n) if type(v) in (Undefined, Unread) else v for n, v in zip(self.names, raised.state or (), strict=True)]
        self.set_state(current(tracer, tuple(state)))
        tracer.alternatives.settle()


class _Finally(_Try):
    """A `try` with a `finally`: a handler of everything, and an `else`.

    Each thing that may be raised has a copy of it, which knows what the variables are on this way. But a copy may raise things of its own,
    for which a `finally` around has copies again. So where copies would raise too many, there is one, behind the place where all ways
    to it meet: it does the same whatever is raised.
    """

    def __init__(self, tracer: Tracer, body: Callable[[], None], final: Callable[[], None], attempt: ActiveTry,
                 set_state: Callable[[tuple], None], names: tuple[str, ...]):  # fmt: skip
        super().__init__(tracer, body, self._leave, self._final, attempt, set_state, names, ())
        self._user = final
        self._opens: int | None = None  # how much one copy may raise

    def _final(self) -> None:
        before = self.tracer.tries.opened
        try:
            self._user()
        finally:
            self._opens = self.tracer.tries.opened - before

    def _leave(self, error: BaseException) -> None:
        try:
            raise error
        except BaseException:  # of which what the `finally` raises tells, as its context
            try:
                self._final()
            except Exception:
                if not is_of_tracing(error):  # else of what the body would have set, say: what cannot be traced is what there is to tell
                    raise
            raise

    def _catch_all(self, raised: list[Raised]) -> None:
        if self._opens is None and len(raised) > 1:  # what it may raise the first copy shows
            first, *others = raised
            self._if(first.flag, lambda: self._catch(first), lambda: self._catch_all(others))
        elif len(raised) == 1 or len(raised) * (self._opens or 0) <= COPIES:
            super()._catch_all(raised)
        else:
            self._for_the_one(raised, self._go_back)
            self._final()
            self._for_the_one(raised, _raise)


def _raise(raised: Raised) -> None:
    raised.parts.give()
    raise raised.error
