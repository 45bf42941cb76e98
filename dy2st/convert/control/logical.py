"""`and`, `or`, `not`, chained comparisons, `in`: Python on Python values, short-circuit `cond`s on tensors."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from dy2st_runtime.ir import Block
from dy2st_runtime.ir.visit import has_effect, may_raise

from ...errors import ShapeError, StagedValueError, StructureError
from ...tensor import Tensor, dispatch
from ...tensor.dispatch import ops
from ...tensor.kinds import as_number, is_number, require_one_kind
from ...tensor.location import user_location
from ...tensor.logic import equal
from .. import hub, roles
from ..effects.region_frames import Outcome
from ..guards.activations import NoResult
from ..hub import current_tracer, is_staged, need_tracer, renamed
from ..iteration.staged_iterables import StagedRange
from ..trace.raised import MayRaise
from ..trace.raising import require_exception
from ..values.dynamic_list import DynamicList
from ..values.maybe_none import MaybeNone
from ..values.maybe_value import MaybeValue
from ..values.one_of import OneOf, choose
from ..values.path_conditions import none_flag
from ..values.record_list import parts_of
from ..values.trees import flatten
from .if_stmt import if_expr, or_none, stage_cond, truth

if TYPE_CHECKING:
    from ..trace.tracer import Tracer

ROLE = roles.ACTING

Thunk = Callable[[], Any]

_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "is": operator.is_, "is not": operator.is_not,
}  # fmt: skip
_ORDERS = ("<", "<=", ">", ">=")
_CHEAP = 8
_OF_ITEMS = ("__getitem__", "__lt__", "__le__", "__gt__", "__ge__")


@hub.primitive
def and_(*operands: Thunk) -> Any:
    """`a and b and ...`: the first operand that is false, or the last one; operands are evaluated as far as needed."""
    return _chain(operands, stop_on=False)


def or_(*operands: Thunk) -> Any:
    """`a or b or ...`: the first operand that is true, or the last one."""
    return _chain(operands, stop_on=True)


def and_test(*operands: Thunk) -> Any:
    """`a and b and ...` where only its truth counts."""
    return _chain([_truth_of(o) for o in operands], stop_on=False)


@hub.primitive
def or_test(*operands: Thunk) -> Any:
    """`a or b or ...` where only its truth counts."""
    return _chain([_truth_of(o) for o in operands], stop_on=True)


def _truth_of(operand: Thunk) -> Thunk:
    return lambda: python_bool(truth(operand()))


def _chain(operands: Sequence[Thunk], stop_on: bool) -> Any:
    value = operands[0]()
    for i, operand in enumerate(operands[1:], start=1):
        decided = truth(value)
        if isinstance(decided, Tensor):
            return _staged(value, decided, operands[i:], stop_on)
        if decided is stop_on:
            return value
        value = operand()
    return value


def _staged(value: Any, decided: Tensor, rest: Sequence[Thunk], stop_on: bool) -> Any:
    name = "or" if stop_on else "and"
    tracer = need_tracer(repr(name))

    def others() -> Any:
        return _chain(rest, stop_on)

    tracer.watch_locals()
    block = tracer.sub_block()
    tried = _tried(tracer, block, others, value)
    both_bool = tried is not None and _is_bool(value) and _is_bool(tried.result)
    if tried is not None and value is decided and not tried.changes:
        other = tried.result
        if type(other) is bool and value._weak and not any(has_effect(op) or may_raise(op, block) for op in block.ops):
            # of two Python bools one is known: it decides, or the other one does
            return other if other is stop_on else value
        if both_bool and _kind(value) == _kind(other) is not None and _cheap(block):
            # nothing can fail in it, and it costs less than a branch: no short circuit needed
            _inline(tracer, block)
            both = ops.op(f"logical_{name}", X=_scalar(value), Y=_scalar(other))
            both._weak = value._weak
            return both
    if tracer.trying:
        raise NeedsBranch

    def first() -> tuple:
        return (_scalar(value) if both_bool else value,)

    def second() -> tuple:
        result = others()
        return (_scalar(result) if both_bool else result,)

    branches = (first, second) if stop_on else (second, first)
    (result,) = stage_cond(tracer, decided, *branches, (f"the value of {name!r}",))
    return result


class NeedsBranch(BaseException):
    """In what is tried out is an `and` or `or` that needs a branch, so that what is around it needs one, too. To trace it to its end would
    take twice as long with each operand."""


def _tried(tracer: Tracer, block: Block, others: Thunk, value: Any) -> Outcome | None:
    """The other operands, traced into a block; None if that cannot do without a branch: the run raises something in it, where it comes
    there, or this trace tells nothing of it.

    Args:
        value: the operand before them. Of one with dims, the shape of the result depends on theirs, so they are traced to their end.
    """
    around, tracer.trying = tracer.trying, not (_is_bool(value) and value.ndim > 0)
    try:
        return tracer.run_in(block, lambda: tracer.tries.tried(others))
    except (Exception, NoResult) as error:
        if not isinstance(error, (MayRaise, NoResult)) and tracer.tries.place(error) is None:
            raise
        return None
    except NeedsBranch:
        return None
    except BaseException as error:
        require_exception(error)
        raise
    finally:
        tracer.trying = around


def _is_bool(x: Any) -> bool:
    return isinstance(x, Tensor) and x.dtype == "bool"


def _kind(x: Tensor) -> bool | None:
    """Whether a truth is a bool of Python; None where only the run knows."""
    return x._weak if x._kinds is None else None


def _scalar(t: Tensor) -> Tensor:
    """A condition as a 0-d tensor."""
    return t if t.ndim == 0 else ops.op("reshape2", X=t, shape=[])


def _cheap(block: Block) -> bool:
    if len(block.ops) > _CHEAP:
        return False
    for op in block.ops:
        if op.blocks or has_effect(op) or may_raise(op, block) or op.type == "absent":
            return False
        if any(-1 in block.var(n).shape or len(block.var(n).shape) > 1 for n in op.output_names):
            return False  # shapes may turn out not to fit
    return True


def _inline(tracer: Tracer, block: Block) -> None:
    """Moves what was traced into a block to the current one."""
    target = tracer.block
    for v in block.vars.values():
        v.block = target
        target.vars[v.name] = v
    target.ops += block.ops
    target.program.version += 1


@hub.primitive
def not_(x: Any) -> Any:
    """`not x`."""
    decided = truth(x)
    return python_bool(ops.op("logical_not", X=decided)) if isinstance(decided, Tensor) else not decided


def python_bool(x: Any) -> Any:
    """A truth that is a Python bool in eager mode: a 0-d weak tensor where it is staged."""
    if isinstance(x, Tensor):
        return as_number(renamed(_scalar(x)))  # an object of its own: a tensor stays a tensor
    return x


def compare_chain(first: Any, pairs: Sequence[tuple[str, Thunk]]) -> Any:
    """`a < b() <= c()`: each operand is evaluated at most once, and none after a comparison that fails."""
    left = [first]

    def step(op: str, operand: Thunk) -> Thunk:
        def evaluate() -> Any:
            right = operand()
            value = compare(op, left[0], right)
            left[0] = right
            return value

        return evaluate

    steps = [step(op, operand) for op, operand in pairs]
    value = steps[0]()
    for i, one in enumerate(steps[1:], start=1):
        decided = truth(value)
        if isinstance(decided, Tensor):
            held = left[0]

            def rest(i: int = i, held: Any = held) -> Any:
                # the branch may be traced more than once
                left[0] = held
                return compare_chain(held, pairs[i:])

            return _staged(value, decided, [rest], stop_on=False)
        if not decided:
            return value
        value = one()
    return value


@hub.primitive
def compare(op: str, a: Any, b: Any) -> Any:
    """One comparison: `compare("<", a, b)` is `a < b`."""
    if isinstance(a, OneOf):
        return choose(a, lambda one: compare(op, one, b))
    if isinstance(b, OneOf):
        return choose(b, lambda one: compare(op, a, one))
    if b is None and op in ("is", "is not"):
        return is_none(a) if op == "is" else not_(is_none(a))
    if op in ("is", "is not") and current_tracer() is not None:
        same = _one_object(a, b)
        return same if op == "is" else not_(same)
    if op in _ORDERS and isinstance(a, MaybeValue):
        return or_none(a, lambda one: compare(op, one, b))
    if op in _ORDERS and isinstance(b, MaybeValue):
        return or_none(b, lambda one: compare(op, a, one))
    if (kind := _compared_as(a)) is not None and kind is _compared_as(b) and _hold_what_runs_know(a, b):
        if op in _ORDERS and kind is not dict:
            return _ordered_items(op, a, b)
        if op in ("==", "!="):
            same = _equal_dicts(a, b) if kind is dict else _equal_items(a, b)
            return same if op == "==" else not_(same)
    if op in ("==", "!=") and (isinstance(a, DynamicList) or isinstance(b, DynamicList)):
        if any(isinstance(x, Tensor) and is_number(x) is not True for x in (a, b)):
            raise StagedValueError("a list whose length only the run knows is compared with a tensor, which compares the entries",
                                   location=user_location(2), hint="make a tensor of it first: stack(items)")  # fmt: skip
        same = _equal_lists(a, b)
        return same if op == "==" else not_(same)
    if op in ("==", "!=") and (isinstance(a, StagedRange) or isinstance(b, StagedRange)):
        same = _equal_ranges(a, b)
        return same if op == "==" else not_(same)
    if op == "in":
        return hub.in_(a, b)
    if op == "not in":
        return not_(hub.in_(a, b))
    return _COMPARE[op](a, b)


def _compared_as(x: Any) -> type | None:
    """The class of Python's whose comparison compares a value item by item, if that is a list, a tuple or a dict."""
    for kind, more in ((list, _OF_ITEMS), (tuple, _OF_ITEMS), (dict, ("keys", "items"))):
        if isinstance(x, kind):
            return kind if all(getattr(type(x), name) is getattr(kind, name) for name in ("__eq__", "__iter__", "__len__", *more)) else None
    return None


def _hold_what_runs_know(*values: Any) -> bool:
    items = [list(x.values()) if isinstance(x, dict) else list(x) for x in values]
    return any(is_staged(x) or isinstance(x, DynamicList) for x in flatten(items)[0])


def _one_object(a: Any, b: Any) -> Any:
    """`a is b` while tracing, of values that may be None too.

    Raises:
        StructureError: only the run knows.
    """
    if a is b or not any(isinstance(x, (MaybeNone, MaybeValue)) for x in (a, b)):
        return _identical(a, b)
    none_a, none_b = is_none(a), is_none(b)
    # of numbers Python has one object, or another one, by their values
    there = [x.bare() if isinstance(x, MaybeNone) and x._weak else x for x in (a, b)]
    return if_expr(none_a, lambda: none_b, lambda: if_expr(none_b, lambda: False, lambda: _identical(*there)))


def _identical(a: Any, b: Any) -> Any:
    """`a is b` while tracing, of what is not None.

    Raises:
        StructureError: only the run knows.
    """
    if isinstance(a, bool):
        a, b = b, a
    if a is b or not (isinstance(a, Tensor) and a._weak):
        tracer = current_tracer()
        if tracer is not None:
            tracer.note_compared(a, b)
        if a is not b and tracer is not None and _may_be_one(tracer, a, b):
            raise StructureError(
                "whether the two are one object depends on a condition on tensors", location=user_location(2),
                hint="compare something else, or keep a flag that says which of the two it is",
            )  # fmt: skip
        return a is b or (tracer is not None and tracer.stand_ins.is_one(a, b, tracer.was_before))
    if isinstance(b, bool) and a._kinds is not None and a._kinds.classes == 1 and a._kinds.number is not None:
        return _is_bool_in_the_run(a, b)
    require_one_kind(a, "what it is depends on that")
    if isinstance(b, bool):
        if a.dtype != "bool":
            return False
        return python_bool(a) if b else not_(a)
    if is_staged(b) and b._weak and b._kinds is None and "bool" in (a.dtype, b.dtype):  # of which Python has two
        return python_bool(a == b) if a.dtype == b.dtype else False
    if isinstance(b, (int, float)) or is_staged(b):
        raise StructureError(
            "whether two numbers are one object only Python knows, of a number that depends on tensors",
            location=user_location(2), hint="compare them with ==",
        )  # fmt: skip
    return False


def _is_bool_in_the_run(x: Tensor, wanted: bool) -> Any:
    """`x is True` or `x is False` of what is a number in some runs, and a tensor, which is neither, in others."""
    assert x._kinds is not None
    if x._kinds.class_name != "bool":
        return False
    value = Tensor.wrap(x._value, True)
    if value.dtype == "bool":
        same = value if wanted else ops.op("logical_not", X=value)
    else:
        same = equal(value, float(wanted))
    return python_bool(ops.op("logical_and", X=x._kinds.number, Y=ops.op("reduce_all", X=same, reduce_all=True)))


def is_one(a: Any, b: Any) -> bool:
    """`a is b` where Python asks it before it compares values."""
    tracer = current_tracer()
    if tracer is None:
        return a is b
    tracer.note_compared(a, b)
    return a is b or tracer.stand_ins.is_one(a, b, tracer.was_before)


def _may_be_one(tracer: Tracer, a: Any, b: Any) -> bool:
    """Whether two are one object in some runs, and two in others."""
    a, b = (x._dy_value if isinstance(x, MaybeValue) else x for x in (a, b))
    if isinstance(a, DynamicList) and isinstance(b, DynamicList):
        return any(tracer.aliases.may_be_one(x, y) for x, y in zip(parts_of(a), parts_of(b), strict=False))
    if is_staged(a) and is_staged(b):
        return tracer.aliases.may_be_one(a, b)
    return tracer.alternatives.may_be_one(a, b)


def _equal_items(a: Any, b: Any) -> Any:
    """`a == b` of two lists or two tuples with tensors in them."""
    if len(a) != len(b):
        return False
    if not a:
        return True
    pairs = enumerate(zip(a, b, strict=True))
    return python_bool(and_(*[lambda x=x, y=y, i=i: _if_compared(partial(_is_same, x, y), i == 0)[0] for i, (x, y) in pairs]))


def _equal_dicts(a: dict, b: dict) -> Any:
    """`a == b` of two dicts with tensors in them."""
    if a.keys() != b.keys():
        return False
    return python_bool(and_(*[lambda x=x, y=b[k]: truth(_is_same(x, y)) for k, x in a.items()]))


def _is_same(x: Any, y: Any) -> Any:
    """Whether two items of tuples or lists are one object, or equal."""
    return True if is_one(x, y) else truth(compare("==", x, y))


def _if_compared(comparison: Thunk, surely: bool) -> tuple[Any, bool]:
    """What a comparison gives, and whether it can be made: of vectors it cannot, nor the order of lists of dynamic length.

    Args:
        surely: each run makes it, else only those in which all items before are equal: these fail.
    """
    try:
        return comparison(), True
    except (ShapeError, StagedValueError) as error:
        if surely:
            raise
        hub.raise_where(dispatch.constant(True), error)
        return False, False


def _ordered_items(op: str, a: Any, b: Any, *, surely: bool = True) -> Any:
    """`a < b` of two lists or two tuples with tensors in them: the first items that differ decide. For `surely` see `_if_compared`."""
    if not a or not b:
        return _COMPARE[op](len(a), len(b))
    first, second = a[0], b[0]
    if len(a) == len(b) == 1 and type(first) is type(second) and type(first) in (list, tuple) and not is_one(first, second):
        return _ordered_items(op, first, second, surely=surely)  # without looking first whether they are equal
    same, is_compared = _if_compared(partial(_is_same, first, second), surely)
    if not is_compared:
        return False
    rest = partial(_ordered_items, op, a[1:], b[1:], surely=surely and same is True)

    def decided() -> Any:
        found = compare(op, first, second)
        if not surely and isinstance(found, Tensor) and found.ndim:
            raise StagedValueError(
                f"{op!r} of two tuples or lists compares tensors with dims in some runs, and gives such a tensor then",
                location=user_location(), hint="put a number before them that tells the tuples apart, as a counter does",
            )  # fmt: skip
        return found

    return if_expr(same, rest, lambda: _if_compared(decided, surely)[0], f"the value of {op!r}")


def _equal_lists(a: Any, b: Any) -> Any:
    """`a == b`, where one of the two is a list of dynamic length.

    Raises:
        StagedValueError: its entries have more than one element, or are put together of others.
    """
    if a is b:
        return True
    if not isinstance(a, DynamicList):
        a, b = b, a
    if not isinstance(b, (list, DynamicList)):
        return False
    for x in (a, b):
        if isinstance(x, DynamicList):
            x.require_scalars("'=='")
    other = a.listed(b)

    def equal() -> Any:
        return python_bool(ops.op("reduce_all", X=a.flat() == other.flat(), reduce_all=True))

    same_length = a.length() == other.length()
    return and_(lambda: same_length, lambda: if_expr(a.length() > 0, equal, lambda: True))


def _equal_ranges(a: Any, b: Any) -> Any:
    """`a == b`, where one of the two is a range whose end only the run knows: whether they have the same items."""
    if not all(isinstance(x, (range, StagedRange)) for x in (a, b)):
        return False

    n, m = (x.size() if isinstance(x, StagedRange) else len(x) for x in (a, b))

    def alike() -> Any:
        return and_(lambda: a.start == b.start, lambda: or_(lambda: n == 1, lambda: a.step == b.step))

    return python_bool(truth(and_(lambda: n == m, lambda: or_(lambda: n == 0, alike))))


@hub.primitive
def is_none(x: Any) -> Any:
    """`x is None`."""
    if isinstance(x, OneOf):
        return choose(x, is_none)
    if not isinstance(x, (MaybeNone, MaybeValue)):
        return x is None
    flag = none_flag(x)
    known = need_tracer("a value that may be None").facts.of(flag)
    return python_bool(flag) if known is None else known
