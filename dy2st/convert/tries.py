"""`try` statements: Python's, and a `cond` for each exception that only the run knows to be raised."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import CompileError, GradientError, LeakError, ModeError, StagedValueError, StructureError, VerifyError
from ..transpiler import ConversionError, locate
from .cells import OrderCell
from .growing import current
from .if_stmt import State, if_stmt
from .raised import Attempt, Raised
from .raising import refusal
from .tracer import TooLongError, Tracer, current_tracer
from .undefined import quiet

# what cannot be traced; all else is raised eagerly too
_OF_TRACING = (
    CompileError, ConversionError, GradientError, LeakError, ModeError, StagedValueError, StructureError, TooLongError, VerifyError,
)  # fmt: skip

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
            attempt = Attempt(kinds, False, get_state, frame, line)
            _Try(tracer, body, handlers, orelse, attempt, set_state, names, dead).run()

    if final is None:
        handled()
        return

    def leave(error: BaseException) -> None:
        try:
            final()
        except Exception:
            if not is_of_tracing(error):  # else of what the body would have set, say: what cannot be traced is what there is to tell
                raise
        raise error

    _Try(tracer, handled, leave, final, Attempt((), shows, get_state, frame, line), set_state, names, ()).run()


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


def is_of_tracing(error: BaseException) -> bool:
    """Whether eager mode knows nothing of an exception, so that no handler of the user's is meant."""
    own = not isinstance(error, Exception) and type(error).__module__.startswith("dy2st.")
    return own or isinstance(error, _OF_TRACING) or "of_tracing" in vars(error) or refusal(error) is not None


class _Try:
    """One `try` with handlers, or with a `finally` as the handler of everything, while a function is traced."""

    def __init__(self, tracer: Tracer, body: Callable[[], None], handle: Callable[[BaseException], None] | None,
                 orelse: Callable[[], None] | None, attempt: Attempt, set_state: Callable[[tuple], None], names: tuple[str, ...],
                 dead: tuple[str, ...]):  # fmt: skip
        self.tracer, self.body, self.handle = tracer, body, handle
        self.orelse = orelse
        self.attempt, self.get_state = attempt, attempt.get_state
        self.set_state, self.names, self.dead = quiet(set_state), names, dead

    def run(self) -> None:
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
        first, *others = raised
        if values is None and not others:
            self._catch(first)
            return
        self.tracer.note("try", "staged: only the run knows whether its body raises")
        if_stmt(first.flag, lambda: self._catch(first), lambda: self._follow(others, values), self.get_state, self.set_state,
                self.names, self.dead)  # fmt: skip

    def _catch(self, raised: Raised) -> None:
        assert self.handle is not None
        tracer = self.tracer
        for cell, value in sorted(raised.cells.values(), key=lambda found: isinstance(found[0], OrderCell)):
            tracer.put(cell, value)
        self.set_state(current(tracer, raised.state))
        tracer.alternatives.settle()
        self.handle(raised.error)
