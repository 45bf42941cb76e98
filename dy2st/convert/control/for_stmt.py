"""`for` loops: unrolled over Python iterables, `while_loop` over what has a length that only the run knows."""

from __future__ import annotations

import gc
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ...errors import Dy2stError, Location, StagedValueError, StructureError
from ...library.iteration import require_keys
from ...library.queues import Deque
from ...tensor import Tensor, dispatch
from ...tensor.kinds import as_number
from ...tensor.location import user_location
from .. import hub, roles
from ..hub import current_tracer, need_tracer
from ..iteration.outer_iterators import Onward, fresh, is_known, leave, next_
from ..iteration.staged_iterables import StagedRange
from ..iteration.underlying import Opened, underlying_containers, walks
from ..pyfacts.checked_iterators import Walk
from ..pyfacts.iterable_sources import variables_of
from ..pyfacts.undefined import Undefined, nothing
from ..regions.list_promotion import current
from ..values.containers import differ
from ..values.lazy_iterables import Staged, staged
from .generators import Generator
from .if_stmt import State, if_stmt, truth
from .logical import and_
from .try_stmt import try_stmt
from .while_stmt import Loop, probe, while_stmt

if TYPE_CHECKING:
    from ..trace.tracer import Tracer

_UNROLL_LIMIT = 100_000
_UNROLL_LIMIT_WITHOUT_END = 1_000
"""So many items of what has no length, and so may have no end, are unrolled where a tensor decides whether the loop goes on."""
UNROLLED_EXITS = 16
"""So many items of a range are unrolled where a tensor decides whether the loop goes on: more cost less as a loop of the Program, if it can
be one."""
_NO_END = 2**62
_END = object()  # what stands for an item where there is none any more


UNROLLED_ROWS = 32
"""So many items of a tensor are unrolled where the loop cannot be one of the Program."""


class Unrolled(BaseException):
    """A loop over a range, or over few rows, cannot be one of the Program: the trace is to begin anew, and to unroll it."""

    def __init__(self, location: Location | None):
        super().__init__(location)
        self.location = location


@hub.primitive
def for_stmt(iterable: Any, body: Callable[[Any], None], extra_test: Callable[[], Any] | None, get_state: State,
             set_state: Callable[[tuple], None], names: tuple[str, ...], called: str = "") -> None:  # fmt: skip
    """`for item in iterable: body(item)`, as long as `extra_test()` holds, which is asked before each item.

    Over a tensor, a `range` of tensors and the like it is one `while_loop`; over any other iterable it is unrolled, with
    a `cond` around each iteration from where `extra_test` depends on a tensor. What is left then of a long `range` is one `while_loop`.
    `called` is what explain() names the iterable, if that is not its class.
    """
    tracer = current_tracer()
    iterable = current(tracer, iterable)
    if type(iterable) is Deque:
        _over_deque(iterable, body, extra_test, get_state, set_state, names)
        return
    if tracer is not None and (found := _underlying_dict(iterable)) is not None:
        _over_dict(tracer, *found, body, extra_test, get_state, set_state, names)
        return
    iterable = fresh(iterable)
    while isinstance(iterable, Generator):
        iterable, body = iterable.looped(body, extra_test, get_state, set_state, names)
        iterable = fresh(iterable)  # which may be one too
    if tracer is not None and type(iterable) is Opened:
        _over_own(tracer, iterable, body, extra_test, get_state, set_state, names)
        return
    over = staged(iterable)
    around = partial(_run, tracer, iterable if over is None else over, called=called)
    looked = [w for w in walks(iterable if over is None else over) if not w.is_second]
    if tracer is None or not looked:
        around(body, extra_test, get_state, set_state, names)
        return
    for walk in looked:
        walk.in_loop = True
    _looking(around, body, partial(_look_at, tracer, looked), extra_test, get_state, set_state, names)


def _run(tracer: Tracer | None, iterable: Any, body: Callable[[Any], None], extra_test: Callable[[], Any] | None, get_state: State,
         set_state: Callable[[tuple], None], names: tuple[str, ...], called: str) -> None:  # fmt: skip
    """A loop over what is `Staged`, or over what Python iterates over."""
    if isinstance(iterable, Staged):
        _staged_or_unrolled(need_tracer("a for loop"), iterable, body, extra_test, get_state, set_state, names)
        return
    if tracer is not None:
        tracer.note("for", f"unrolled while tracing: it runs over a Python {called or type(iterable).__name__}")
    _unrolled(tracer, iterable, body, extra_test, get_state, set_state, names)


@roles.calls_user_code
def _unrolled(tracer: Tracer | None, iterable: Any, body: Callable[[Any], None], extra_test: Callable[[], Any] | None, get_state: State,
              set_state: Callable[[tuple], None], names: tuple[str, ...]) -> None:  # fmt: skip
    """A loop over what Python iterates over."""
    if extra_test is None:
        lists = [] if tracer is None else underlying_containers(iterable)
        for item in iterable:
            body(item)
            for items in lists:
                _require_same(tracer, items)
        return
    _with_exit(tracer, iterable, body, extra_test, get_state, set_state, names)


def _staged_or_unrolled(tracer: Tracer, over: Staged, body: Callable[[Any], None], extra_test: Callable[[], Any] | None, get_state: State,
                        set_state: Callable[[tuple], None], names: tuple[str, ...]) -> None:  # fmt: skip
    """A loop of the Program; one that cannot be, over few items of a fixed number, is unrolled by the next trace."""
    at = user_location()
    few = not isinstance(over.length, Tensor) and over.length <= UNROLLED_ROWS and not isinstance(over, StagedRange)
    in_turn = few and over.live is None and not over.sources.run and not over.sources.effect  # no items are made before the loop
    if in_turn and at in tracer.unrolled:
        tracer.note("for", f"unrolled while tracing, for this size only: over {over.what} it cannot be a loop of the Program")
        before = _underlying_entries(over)
        _unrolled(tracer, over, body, extra_test, get_state, set_state, names)
        _end(tracer, over, before, extra_test, get_state, set_state, names)
        return
    try:
        _staged_for(tracer, over, body, extra_test, get_state, set_state, names)
    except Dy2stError as error:
        if in_turn:
            raise Unrolled(at) from error
        raise


def _underlying_dict(iterable: Any) -> tuple[dict, Callable[[Any], Any]] | None:
    """The dict whose keys, values or pairs Python would iterate over, and what it gives for a key."""
    kind = type(iterable)
    if kind is dict:
        return iterable, lambda key: key
    if kind not in _OF_VIEWS:
        return None
    (found,) = gc.get_referents(iterable)
    return None if type(found) is not dict else (found, partial(_OF_VIEWS[kind], found))


def _value(d: dict, key: Any) -> Any:
    return current(current_tracer(), d)[key]


_OF_VIEWS: dict[type, Callable[[dict, Any], Any]] = {
    type({}.keys()): lambda d, key: key, type({}.values()): _value, type({}.items()): lambda d, key: (key, _value(d, key)),
}  # fmt: skip


def _over_dict(tracer: Tracer, d: dict, item: Callable[[Any], Any], body: Callable[[Any], None], extra_test: Callable[[], Any] | None,
               get_state: State, set_state: Callable[[tuple], None], names: tuple[str, ...]) -> None:  # fmt: skip
    """Over the keys that it has; like Python, it looks whether these have changed where the next one is asked for, also where a branch
    may have changed them."""
    keys = list(d)
    there = set(keys)

    def look() -> None:
        now = current(tracer, d)
        if type(now) is not dict:
            hub.call(require_keys)(now, keys)
        elif now.keys() != there:
            raise RuntimeError(f"dictionary {'keys changed' if len(now) == len(keys) else 'changed size'} during iteration")

    def visit(key: Any) -> None:
        body(item(key))

    _looking(partial(for_stmt, keys, called="dict"), visit, look, extra_test, get_state, set_state, names)


def _over_deque(xs: Deque, body: Callable[[Any], None], extra_test: Callable[[], Any] | None,
                get_state: State, set_state: Callable[[tuple], None], names: tuple[str, ...]) -> None:  # fmt: skip
    """Over the entries; like Python's, it looks whether it has changed where the next one is asked for, or whether there is one."""
    around = partial(for_stmt, xs._entries, called="deque")
    _looking(around, body, partial(hub.call(xs.require_unchanged), xs._changes), extra_test, get_state, set_state, names)


def _over_own(tracer: Tracer, own: Opened, body: Callable[[Any], None], extra_test: Callable[[], Any] | None,
              get_state: State, set_state: Callable[[tuple], None], names: tuple[str, ...]) -> None:  # fmt: skip
    """Over an iterator of a class of the user's, as Python does: `try: item = next(it)`, and the body in its `else`. From where only the
    run knows whether it has come to its end, or whether the loop goes on, it is one loop of the Program."""
    state: list[Any] = [True, None]

    def get_all() -> tuple:
        return (*state, *get_state())

    def set_all(values: tuple) -> None:
        state[:] = values[:2]
        set_state(values[2:])

    def set_going(values: tuple) -> None:
        state[0] = values[0]
        set_state(values[1:])

    def take() -> None:
        state[1] = next_(own.iterator)

    def end(error: BaseException) -> None:
        if not isinstance(error, StopIteration):
            raise error
        state[0] = False

    def step() -> None:
        state[1] = Undefined("the next item")
        named = ("its end", "the next item", *names)
        try_stmt(take, (lambda: StopIteration,), end, lambda: body(state[1]), None, False, get_all, set_all, named)
        state[1] = None

    def goes_on() -> Any:
        return state[0] if extra_test is None else and_(lambda: state[0], extra_test)

    tracer.note("for", f"it takes items from a {type(own.iterator).__name__} as long as that gives some")
    while True:
        go = state[0] if extra_test is None else probe(tracer, goes_on, get_state, set_state)
        if isinstance(go, Tensor) and extra_test is not None and state[0] is True and not is_known(tracer, own.iterator):
            _with_exit(tracer, own, body, extra_test, get_state, set_state, names)
            return
        if isinstance(go, Tensor):
            while_stmt(goes_on, step, lambda: (state[0], *get_state()), set_going, ("its end", *names))
            return
        if not go:
            return
        step()


def _look_at(tracer: Tracer, looked: Sequence[Walk]) -> None:
    tracer.walks.count()
    for walk in looked:
        hub.call(walk.of.require_unchanged)(walk.changes)


def _looking(around: Callable[..., None], body: Callable[[Any], None], look: Callable[[], None], extra_test: Callable[[], Any] | None,
             get_state: State, set_state: Callable[[tuple], None], names: tuple[str, ...]) -> None:  # fmt: skip
    """A loop, `around` a body, that looks at something where it asks for the next item, or whether there is one."""

    def looking(item: Any) -> None:
        if extra_test is None:
            body(item)
            look()
        else:  # which may leave the loop
            look()
            body(item)

    around(looking, extra_test, get_state, set_state, names)
    if extra_test is not None:
        if_stmt(extra_test(), look, nothing, get_state, set_state, names)


def _with_exit(tracer: Tracer | None, iterable: Iterable[Any], body: Callable[[Any], None], extra_test: Callable[[], Any],
               get_state: State, set_state: Callable[[tuple], None], names: tuple[str, ...]) -> None:  # fmt: skip
    lists = [] if tracer is None else underlying_containers(iterable)
    items: Iterator[Any] = iter(iterable)
    onward: Onward | None = None
    for count in itertools.count():
        go = extra_test() if tracer is None else probe(tracer, extra_test, get_state, set_state)
        if not isinstance(go, Tensor) and not go:
            return
        if isinstance(go, Tensor) and type(items) is itertools.count:
            # which has no end that Python could come to
            first, second = next(items), next(items)
            if isinstance(first, int) and isinstance(second, int):
                assert tracer is not None
                leave(tracer, items)
                _staged_for(tracer, _counted(first, second - first), body, extra_test, get_state, set_state, names)
                return
            items = itertools.chain((first, second), items)
        if isinstance(go, Tensor):
            assert tracer is not None
            if isinstance(iterable, range) and len(iterable) - count > UNROLLED_EXITS and user_location() not in tracer.unrolled:
                rest = iterable[count:]
                try:
                    _staged_for(tracer, StagedRange(rest.start, rest.stop, rest.step), body, extra_test, get_state, set_state, names)
                except Exception as error:  # a body that needs the number while it is traced, or changes what it leaves to the next
                    raise Unrolled(user_location()) from error
                return
            onward = onward or Onward(tracer, items)
        item = next(items, _END) if onward is None else onward.next(_END)
        if item is _END:
            return
        if not isinstance(go, Tensor):
            body(item)
            for found in lists:
                _require_same(tracer, found)
            continue
        assert tracer is not None
        limit = _UNROLL_LIMIT if hasattr(type(iterable), "__len__") else _UNROLL_LIMIT_WITHOUT_END
        if count > limit:
            raise StagedValueError(
                f"a loop over a Python iterable with a break that depends on a tensor has more than {limit} "
                "iterations; each is traced",
                location=user_location(), hint="loop over a tensor, or range(tensor), or use while",
            )  # fmt: skip
        if_stmt(extra_test(), partial(body, item), nothing, get_state, set_state, names)
        for found in lists:
            _require_same(tracer, found)


def _counted(start: int, step: int) -> Staged:
    return Staged(_weak_int(_NO_END), lambda i: as_number(i * step + start), "itertools.count()")


def _require_same(tracer: Tracer | None, iterable: Any, entries: list | None = None) -> None:
    """StructureError if the loop has made the container over which it runs one of dynamic length; or it has not these entries any more."""
    if current(tracer, iterable) is not iterable or (entries is not None and differ(_entries(iterable), entries)):
        raise StructureError(
            f"the {type(iterable).__name__} over which the loop runs changes under a condition on tensors, or in a loop that only the run "
            "knows to end",
            location=user_location(),
            hint="loop over a copy of it: for x in list(xs), or take its entries out of it in a while loop",
        )  # fmt: skip


def _entries(container: Any) -> list[Any]:
    return [x for pair in container.items() for x in pair] if isinstance(container, dict) else list(container)


def _require_unchanged_sources(over: Staged, changed: Sequence[str]) -> None:
    """StructureError if a loop changes what may have been read for its items, all of which were made before it."""
    if changed:
        raise StructureError(
            f"the items of {over.what} are made before the loop, which changes {changed[0]}: functions that make them may read it",
            location=user_location(), hint="make a list of them before the loop: list(...)",
        )  # fmt: skip


def _staged_for(tracer: Tracer, over: Staged, body: Callable[[Any], None], extra_test: Callable[[], Any] | None,
                get_state: State, set_state: Callable[[tuple], None], names: tuple[str, ...]) -> None:  # fmt: skip
    tracer.note("for", f"staged: {over.what} has a length that only the run knows")
    if over.sources.effect:
        raise StagedValueError(
            f"to take the items of {over.what} {over.sources.effect}, which would be done for all of them before the loop",
            location=user_location(), hint="make a list of them before the loop: list(...)",
        )  # fmt: skip
    index, before = [_weak_int(0)], _underlying_entries(over)
    length = over.length if isinstance(over.length, Tensor) else _weak_int(over.length)

    def test() -> Any:
        if extra_test is None:
            return has_more()
        return and_(extra_test, has_more)

    def has_more() -> Any:
        return index[0] < (length if over.live is None else over.live())

    def run() -> None:
        with tracer.sharing.in_turn():
            item = over.item(index[0])
        body(item)
        index[0] = index[0] + 1

    def set_all(values: tuple) -> None:
        index[0] = values[0]
        set_state(values[1:])

    loop = Loop(tracer, lambda: truth(test()), run, lambda: (index[0], *get_state()), set_all, ("the index", *names))
    loop.stage()
    if over.sources.run:
        read = variables_of(over.sources.run)
        kept = (name for name in names if name in read or "." in name or "[" in name)  # a variable, an attribute or an item
        _require_unchanged_sources(over, [*kept, *(cell.name for cell in loop.cells.values())])
    _end(tracer, over, before, extra_test, get_state, set_state, names)


def _underlying_entries(over: Staged) -> list[tuple[Any, list]]:
    """The containers from which the items come, with what is in them."""
    return [(c, _entries(c)) for c in over.sources.containers]


def _end(tracer: Tracer, over: Staged, before: list[tuple[Any, list]], extra_test: Callable[[], Any] | None, get_state: State,
         set_state: Callable[[tuple], None], names: tuple[str, ...]) -> None:  # fmt: skip
    """What Python does where a loop has come to the end; StructureError if the loop has changed what it runs over."""
    if over.finish is not None:
        if_stmt(extra_test is None or extra_test(), over.finish, nothing, get_state, set_state, names)
    for items, entries in before:
        _require_same(tracer, items, entries)
    for walk in walks(over):
        if not walk.in_loop:
            walk.require_same()


def _weak_int(value: int) -> Tensor:
    return dispatch.constant(value, "int64", weak=True)
