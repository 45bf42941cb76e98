"""`if` statements and ternaries: Python where the condition is a Python value, `cond` where it is a tensor."""

from __future__ import annotations

import contextlib
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from dy2st_runtime.errors import Location
from dy2st_runtime.ir import Block, Variable

from ...errors import ShapeError
from ...tensor import Tensor, dispatch
from ...tensor.dispatch import ops
from ...tensor.failures import raise_if
from ...tensor.kinds import class_of_numbers, resolved
from ...tensor.location import user_location
from .. import hub, roles
from ..effects.cells import Cell, EntryCell, ListCell, OrderCell, TensorCell, is_variable_of, variables_of
from ..effects.gradient_needs import Need
from ..effects.may_alias import Source, shared, who
from ..effects.region_frames import Growth, Side
from ..guards.activations import NoResult
from ..guards.special_methods import as_length, bound
from ..hub import current_tracer, is_staged, need_tracer
from ..pyfacts.undefined import Undefined, Unread, quiet
from ..regions.branch_state import BranchState
from ..regions.choice_mutation import note
from ..regions.list_promotion import current, gained_key, promote, reordered
from ..regions.phi_leaves import Const, Pattern, Var, coerce, extract, variables, wrap
from ..trace.kept_exceptions import KeptException, kept
from ..trace.raised import NoWayOn, Raised, scalar
from ..trace.raising import require_exception, stage_raise
from ..values.dynamic_list import DynamicList
from ..values.join_types import same_value
from ..values.lazy_iterables import Staged
from ..values.leaf_types import LeafType
from ..values.maybe_none import MaybeNone
from ..values.maybe_value import MaybeValue
from ..values.one_of import OneOf, choose
from ..values.staged_dict import StagedDict, StagedView
from .join import Fitter, place

if TYPE_CHECKING:
    from ..trace.tracer import Tracer

State = Callable[[], tuple[Any, ...]]


def _resolved(found: Any) -> Any:
    return resolved(found) if isinstance(found, Tensor) else found


@roles.calls_user_code
def truth(x: Any) -> Any:
    """What decides a condition: a bool for a Python value, a bool tensor with one element for a staged one.

    Raises:
        ShapeError: a tensor has more than one element (where that is known already).
    """
    if isinstance(x, (DynamicList, StagedDict, StagedView)):
        return truth(x.length() > 0)
    if isinstance(x, Staged):
        return x.once or truth(x.size() > 0)
    if isinstance(x, OneOf):
        return truth(choose(x, truth))
    if isinstance(x, MaybeValue):
        return _resolved(if_expr(x._dy_is_none, lambda: False, lambda: truth(x._dy_value)))
    if not is_staged(x):
        own = bound(x, "__bool__", "__len__")
        return bool(x) if own is None else truth(_checked(x, own()))
    if isinstance(x, MaybeNone):
        bare = x.bare()
        return _resolved(if_expr(x.is_none, lambda: False, lambda: truth(bare)))
    count = np.prod([d for d in x._value.shape if d != -1], dtype=int)
    if count > 1 or count == 0:
        message = f"the truth value of a tensor with {count} elements is ambiguous"
        if not need_tracer("a condition").frames:
            raise ShapeError(message, location=user_location(2), hint="reduce it first: any(), all(), mean(), ...")
        raise_if(dispatch.constant(True, "bool"), ShapeError, message)  # in the runs that get there
        return False
    x = resolved(x)
    if x.dtype != "bool":
        x = ops.op("not_equal", X=x, Y=dispatch.constant(np.zeros((), x.dtype)))
    return ops.op("as_condition", X=x) if -1 in x._value.shape else x


@roles.calls_user_code
def _checked(x: Any, found: Any) -> Any:
    """What a special method of the user's says of the truth of an object.

    Raises:
        TypeError, ValueError: it may not, in Python's words.
    """
    if not hasattr(type(x), "__bool__"):
        return found if is_staged(found) else as_length(found)
    if isinstance(found, OneOf) or (isinstance(found, Tensor) and found._kinds is not None):
        return found
    if type(found) is not bool and not (isinstance(found, Tensor) and found._weak and found.dtype == "bool"):
        name = class_of_numbers(found.dtype) if isinstance(found, Tensor) and found._weak else type(found).__name__
        raise TypeError(f"__bool__ should return bool, returned {name}")
    return found


@hub.primitive
def if_stmt(test: Any, body: Callable[[], None], orelse: Callable[[], None], get_state: State,
            set_state: Callable[[tuple], None], names: tuple[str, ...], dead: tuple[str, ...] = ()) -> None:  # fmt: skip
    """`if test: body() else: orelse()`, where both change the variables `names`.

    Args:
        test: any value; a staged tensor makes a `cond` op.
        body, orelse: run the branches; they change the variables that `get_state` and `set_state` read and write.
        names: the variables as the user wrote them, also attributes and items (`self.h`).
        dead: those of `names` whose value nobody reads afterwards; the branches need not agree on them.
    """
    decided = truth(test)
    if not isinstance(decided, Tensor):
        tracer = current_tracer()
        if tracer is not None:
            tracer.note("if", f"decided while tracing: {decided}")
        (body if decided else orelse)()
        return
    tracer = need_tracer("an if statement")
    tracer.note("if", "staged: its condition depends on a tensor")
    before, set_state = get_state(), quiet(set_state)
    tracer.watch(*before)

    def branch(run: Callable[[], None]) -> Callable[[], tuple]:
        def traced() -> tuple:
            set_state(current(tracer, before))
            run()
            certain = tracer.facts.certain
            return tuple(Unread(n) if n in dead else certain(value) for n, value in zip(names, get_state(), strict=True))

        return traced

    try:
        values = stage_cond(tracer, decided, branch(body), branch(orelse), names, own=variables_of(get_state, names))
    except BaseException:
        set_state(current(tracer, before))
        raise
    with tracer.alternatives.written():
        set_state(tuple(values))
    tracer.alternatives.settle(end_of=body)


@hub.primitive
def if_expr(test: Any, body: Callable[[], Any], orelse: Callable[[], Any], name: str = "the value of the expression") -> Any:
    """`body() if test else orelse()`; `name` is what errors call it."""
    decided = truth(test)
    if not isinstance(decided, Tensor):
        return body() if decided else orelse()
    tracer = need_tracer("a conditional expression")
    (value,) = stage_cond(tracer, decided, lambda: (body(),), lambda: (orelse(),), (name,))
    tracer.alternatives.settle()
    return value


def or_none(x: MaybeNone | MaybeValue, answer: Callable[[Any], Any]) -> Any:
    """What is asked of a value that may be None, as only the run knows: of None, or of the value."""
    return if_expr(hub.is_none(x), lambda: answer(None), lambda: answer(x.bare() if isinstance(x, MaybeNone) else x._dy_value))


def _identity(x: Any, out: Variable) -> Any:
    """What makes two values of a side the same: the object, or the value of a Python bool; nothing else."""
    if shared(x):
        return id(who(x))
    if isinstance(x, bool):
        return x
    return id(x._value) if isinstance(x, Tensor) and x.dtype == "bool" else id(out)


def _use_test(predicate: Variable, sides: list[list[Any] | None]) -> None:
    """A Python bool that is the test, or that the test is the negation of, is known on both sides: so it is after a branch that sets it
    where it is not set yet, as the flags of `break` and `return` are."""
    known = {predicate.name: (True, False)}
    maker = next((op for op in reversed(predicate.block.ops) if predicate.name in op.output_names), None)
    if maker is not None and maker.type == "logical_not":
        known[maker.input("X")[0]] = (False, True)
    for i, values in enumerate(sides):
        if values is not None:
            values[:] = [known[x._value.name][i] if _is_flag(x) and x._value.name in known else x for x in values]


def _is_flag(x: Any) -> bool:
    """Whether a value is a Python bool that only the run knows."""
    plain = isinstance(x, Tensor) and not isinstance(x, MaybeNone) and x._weak and x._kinds is None
    return plain and x.dtype == "bool" and isinstance(x._value, Variable)


@hub.primitive
def stage_cond(tracer: Tracer, test: Tensor, true: State, false: State, names: Sequence[str], *,
               own: Sequence[types.CellType] = ()) -> list[Any]:  # fmt: skip
    """Appends a `cond` op of two traced branches; returns what their results have become.

    What the branches changed of the outside (tensors modified in place, attributes, lists) becomes the op's results too, and
    is written back. `own` are the variables that the results are for.
    """
    location, predicate = user_location(), tracer.lift(test)
    while True:
        tracer.watch_locals()
        outside = set(tracer.watched)
        blocks = tracer.sub_block(), tracer.sub_block()
        sides: list[Side] = []
        errors: list[BaseException] = []
        for block, run, holds in zip(blocks, (true, false), (True, False), strict=True):
            try:
                with tracer.facts.assuming(predicate, holds):
                    sides.append(_side(tracer, block, run))
            except NoResult as nothing:
                sides.append(Side())
                errors.append(nothing)
            except Exception as error:
                stage_raise(tracer, block, error)
                sides.append(Side())
                errors.append(error)
            except BaseException as error:
                require_exception(error)
                raise
        untold = [e for e in errors if isinstance(e, NoResult)]
        if len(errors) == 2 and untold:
            raise untold[0]
        growing = _growing(tracer, sides, outside)
        for items, later in growing:
            promote(tracer, items, later)
        if not growing:
            break
    values = merge(tracer, test, blocks, sides, names, location, outside, own=own)
    raised = [r for side in sides for r in side.raised]
    if values is None:
        if raised:
            raise NoWayOn(raised)
        # there is no way on: the op raises on both sides, and an enclosing branch makes that its own
        tracer.ended[id(errors[1])] = errors[1], tracer.block
        raise errors[1]
    tracer.tries.open(*raised)
    return values


def _side(tracer: Tracer, block: Block, run: State) -> Side:
    """Traces one side of a branch."""
    if not tracer.tries.active:
        outcome = tracer.run_in(block, run)
        return Side(outcome, [], outcome.grown)
    outcome = tracer.run_in(block, lambda: tracer.tries.collect(run))
    values, raised = outcome.result
    return Side(None if values is None else replace(outcome, result=values), raised, outcome.grown if raised or values is not None else [])


@hub.primitive
def merge(tracer: Tracer, test: Tensor, blocks: tuple[Block, Block], sides: Sequence[Side], names: Sequence[str],
          location: Location | None, outside: set[int], *, own: Sequence[types.CellType] = (),
          raised: Sequence[Raised] = ()) -> list[Any] | None:  # fmt: skip
    """Appends a `cond` op of two sides, and writes back what they have changed; what their results have become.

    What the run may have raised in a side is then known by values that the current block can read. `raised` is what has been raised
    before. If no side comes to its end the result is None.
    """
    predicate = tracer.lift(test)
    outcomes = [side.outcome for side in sides]
    cells: dict[tuple, Cell] = {
        key: cell for o in outcomes if o for key, (cell, _) in o.changes.items() if not is_variable_of(cell, own)
    }
    results = [
        None if o is None else [*o.result, *(o.changes[k][1] if k in o.changes else c.read() for k, c in cells.items())]
        for o in outcomes
    ]
    _use_test(predicate, results)
    held, left = results, BranchState(outcomes)
    if results[0] is not None and results[1] is not None:
        results = list(left.pairs(results[0], results[1]))
    fitter = Fitter(tracer, f"the branch{place(location)} sets it on one side only",
                    ("the path where the condition is true", "the path where it is false"), outside)  # fmt: skip
    labels = [*names, *(c.name for c in cells.values())]
    if results[0] is not None and results[1] is not None:
        for cell, a, b in zip(cells.values(), results[0][len(names) :], results[1][len(names) :], strict=True):
            tracer.require_entry(cell, a, b, fitter.why)
    patterns: list[Pattern]
    given: list[list[Any]] = [list(r or ()) for r in results]
    if results[0] is None or results[1] is None:  # one side raises: what follows is about the other
        here = 0 if results[0] is None else 1
        end = results[1 - here] or []
        there = [Undefined(name) for name in names] + [
            _where_raised(tracer, blocks[here], raised or sides[here].raised, cell, key) for key, cell in cells.items() if end
        ]
        patterns = [fitter.alone(x) if isinstance(y, Undefined) else fitter.fit(Const(y), y, x, name)
                    for x, y, name in zip(end, there, labels, strict=False)]  # fmt: skip
        given[here] = there[: len(patterns)]
    else:
        patterns = [fitter.fit(Const(a), a, b, name) for a, b, name in zip(results[0], results[1], labels, strict=True)]
    exceptions = [_Exception(fitter, i, r) for i, side in enumerate(sides) for r in side.raised]
    kept_ones = kept(tracer, fitter, blocks, results)
    ways: list[_Exception | KeptException] = [*exceptions, *kept_ones]
    for e in ways:
        for i, values in enumerate(given):
            values += e.given(i)
    shapes = [*patterns, *(p for e in ways for p in e.patterns)]
    leaves = [v for p in shapes for v in variables(p)]
    needs: list[list[Need | None]] = []
    sources: list[list[Source]] = [[] for _ in leaves]
    for block, values, outcome in zip(blocks, given, outcomes, strict=True):
        with tracer.inside(block), outcome.in_force() if outcome else contextlib.nullcontext():
            wanted = [x for p, value in zip(shapes, values, strict=True) for x in extract(p, value)]
            coerced = [coerce(tracer, x, v, "a result") for x, v in zip(wanted, leaves, strict=True)]
            needs.append([tracer.needs.of(x) for x in wanted])
        for found, x in zip(sources, wanted, strict=True):
            found.append((block, x))
        block.results = [v.name for v in coerced]
    outs: list[Variable] = []
    if leaves or any(block.ops for block in blocks):
        outs = tracer.builder().op("cond", Cond=predicate, true_block=blocks[0], false_block=blocks[1])
    for out, *pair in zip(outs, *needs, strict=True):
        tracer.needs.give(out, tracer.needs.joined(out.kind, *pair))
    made: dict[tuple, tuple[Any, list[Source]]] = {}
    rest = iter(zip(outs, sources, strict=True))

    def make(leaf: Var) -> Any:
        v, parts = next(rest)
        # two names of one object on both sides are two names of one object, and flags that are set together stay one flag
        key = (leaf, *(_identity(s, v) for _, s in parts))
        if key not in made:
            made[key] = wrap(tracer, leaf, v), parts
        return made[key][0]

    merged = tracer.alternatives.merged(patterns, [values for values in results if values is not None], make, left.original)
    tracer.sharing.merged(patterns, merged, [(b, values) for b, values in zip(blocks, results, strict=True) if values is not None],
                          left.original)  # fmt: skip
    for e in exceptions:
        e.leave(tracer, test, make, blocks[e.side])
    for one in kept_ones:
        one.leave(tracer, make, blocks[one.side])
    if held[0] is not None and held[1] is not None:
        for a, b, value in zip(held[0], held[1], merged, strict=True):
            note(tracer, test, (a, b), value, outside)
    tracer.aliases.merge(list(made.values()), tracer.block)
    ended = [block for block, side in zip(blocks, sides, strict=True) if side.outcome is None and not (raised or side.raised)]
    tracer.aliases.leave(blocks, tracer.block, ended)
    for r in (*raised, *(e.raised for e in exceptions)):
        r.leave(blocks)
        for key, cell in cells.items():
            r.note(key, cell)
            if isinstance(cell, EntryCell) and isinstance(cell.target, dict) and id(cell.target) not in tracer.attributes:
                order = OrderCell(cell.target)  # the key may be lost, and come back for a handler
                r.note(order.key, order)
    with tracer.alternatives.written():
        for cell, value in zip(cells.values(), merged[len(names) :], strict=False):
            cell.write(value)
    return None if results[0] is None and results[1] is None else merged[: len(names)]


def _where_raised(tracer: Tracer, block: Block, raised: Sequence[Raised], cell: Cell, key: tuple) -> Any:
    """What a tensor that changes on the other side is on the one that raises: a handler may make the list that holds it one of dynamic
    length, with the values of all paths. Undefined for any other place."""
    if not raised or not isinstance(cell, TensorCell):
        return Undefined(cell.name)
    *others, found = [(r.flag, r.cells[key][1] if key in r.cells else cell.read()) for r in raised]
    value = found[1]
    with tracer.inside(block):
        for flag, earlier in reversed(others):
            value = value if same_value(value, earlier) else if_expr(flag, partial(_itself, earlier), partial(_itself, value))
    return value


def _itself(x: Any) -> Any:
    return x


class _Exception:
    """What the run may have raised in one side of a branch, on its way out: only that side knows its values."""

    def __init__(self, fitter: Fitter, side: int, raised: Raised):
        self.side, self.raised = side, raised
        self.flagged = isinstance(raised.flag, Tensor)
        held = raised.held()
        self.values = [raised.flag, *held] if self.flagged else held
        self.patterns: list[Pattern] = [*([Var(LeafType("bool", ()))] if self.flagged else []), *map(fitter.alone, held)]

    def given(self, side: int) -> list[Any]:
        """The values as a side of the branch has them."""
        if side == self.side:
            return self.values
        return [False if i == 0 and self.flagged else Undefined("") for i in range(len(self.values))]

    def leave(self, tracer: Tracer, test: Tensor, make: Callable[[Var], Any], block: Block) -> None:
        """The branch, of which this is the block, has come to its end."""
        values = tracer.alternatives.merged(self.patterns, [self.values], make)
        tracer.sharing.merged(self.patterns, values, [(block, self.values)])
        if self.flagged:
            self.raised.flag = values.pop(0)
        else:
            self.raised.flag = scalar(test if self.side == 0 else ops.op("logical_not", X=test))
        self.raised.hold(values)


def _growing(tracer: Tracer, sides: Sequence[Side], outside: set[int]) -> list[Growth]:
    """The lists whose length depends on which branch is taken, each with what it is in one of them, and the dicts that get or lose keys
    in one of them, with these keys; `outside` are the ids of those that were there before."""
    found = {id(items): (items, later) for side in sides for items, later in side.grown}
    true, false = (side.outcome for side in sides)
    if true is None or false is None:
        return list(found.values())
    pairs = list(zip(true.result, false.result, strict=True))
    for key in {**true.changes, **false.changes}:
        cell = (true.changes.get(key) or false.changes[key])[0]
        values = [o.changes[key][1] if key in o.changes else cell.read() for o in (true, false)]
        if isinstance(cell, OrderCell):
            if (moved := reordered(tracer, cell, values)) is not None:
                found.setdefault(id(moved[0]), moved)
        elif (gained := gained_key(tracer, cell, *values)) is not None:
            items, key = gained
            keys = found.get(id(items), (items, ()))[1]
            found[id(items)] = items, [*(keys.has if isinstance(keys, StagedDict) else keys), key]
        elif not isinstance(cell, ListCell):
            pairs.append((values[0], values[1]))
        elif len(values[0]) != len(values[1]):
            found.setdefault(id(cell.target), (cell.target, max(values, key=len)))
        else:
            pairs += zip(*values, strict=True)
    for a, b in _lists_within(pairs):
        # a variable, or a place in a container, is one list or the other: what changes them under other names changes it
        for one, other in ((a, b), (b, a)):
            if type(one) is list and id(one) in outside:
                found.setdefault(id(one), (one, other))
    return list(found.values())


def _lists_within(pairs: Sequence[tuple[Any, Any]]) -> Iterator[tuple[Any, Any]]:
    """The lists of different lengths, or of dynamic length, that are in the same place in two values, for each of these pairs."""
    left, seen = list(pairs), set()
    while left:
        a, b = left.pop()
        if a is b or (id(a), id(b)) in seen:
            continue
        seen.add((id(a), id(b)))
        alike = type(a) is type(b) and type(a) in (list, tuple, dict) and len(a) == len(b)
        if alike and (type(a) is not dict or a.keys() == b.keys()):
            left += [(a[key], b[key]) for key in a] if type(a) is dict else zip(a, b, strict=True)
        elif all(type(x) is list or isinstance(x, DynamicList) for x in (a, b)):
            yield a, b
