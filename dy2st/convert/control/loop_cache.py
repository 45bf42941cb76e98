"""What loops came to: which of their variables vary, and of what type they are.

An inner loop is traced again in each trace of the outer one, and the loops of a function in each of its calls. Such a loop starts from
what it came to before, and one trace is enough where that holds: so the work grows with the depth of loops, and is not multiplied by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

from ...errors import Location, StructureError
from ...tensor.location import is_own_code
from ...transpiler import is_generated
from .. import roles
from ..effects.cells import Cell
from ..effects.gradient_needs import Need
from ..pyfacts.code_names import codes_in
from ..regions.phi_leaves import Const, Node, Pattern, Var, extract
from ..values.join_types import same
from ..values.leaf_types import LeafType, type_of
from ..values.one_of import OneOf
from ..values.record_layout import Choice, Layout, Parts
from ..values.record_list import RecordList
from .join import Fitter, said

ROLE = roles.BOOKKEEPING

TRIALS = 20
"""How often a loop is traced before it is an error that it does not settle."""


@dataclass(frozen=True)
class LoopTypes:
    """The fixed point of one loop: the types of its phis.

    Attributes:
        kinds: those of the values that its variables had before it.
        patterns: those of its variables, and then of the cells.
        cells: what else varies, by key.
        named: the cells that are variables, by key.
        needs: what the leaves that vary need.
    """

    kinds: Sequence[LeafType | type]
    patterns: Sequence[Pattern]
    cells: Mapping[tuple, Cell]
    named: Mapping[tuple, Cell]
    needs: Sequence[Need | None]


def keeps_length(pattern: Pattern) -> bool:
    """Whether a variable that is a list before the loop is one of Python in it."""
    return isinstance(pattern, Const) or (isinstance(pattern, Node) and pattern.kind is list)


def widened_by_new_functions(before: Sequence[Pattern], after: Sequence[Pattern], body: Any) -> bool:
    """Whether the patterns have become wider, and only by functions that the body of the loop defines: each iteration makes others."""
    codes = _codes_in(body)

    def made(x: Any) -> bool:
        return isinstance(x, FunctionType) and id(x.__code__) in codes

    if len(before) != len(after):
        return False
    wider = [(p, q) for p, q in zip(before, after, strict=True) if not alike(p, q)]
    return bool(wider) and all(_wider_by(made, p, q) for p, q in wider)


def _wider_by(made: Callable[[Any], bool], p: Pattern, q: Pattern) -> bool:
    if not (isinstance(p, Node) and isinstance(q, Node) and p.kind is q.kind and len(p.children) == len(q.children)):
        return alike(p, q)
    if p.kind is OneOf:
        return all(made(x) for x in q.keys[0].values if p.keys[0].place(x) is None)
    return p.keys == q.keys and all(_wider_by(made, c, d) for c, d in zip(p.children, q.children, strict=True))


def _codes_in(body: Any) -> dict[int, CodeType]:
    """The code of the functions that are defined in a body of the user's, by id; functions of this package may be around it."""
    if not isinstance(body, FunctionType):
        return {}
    if is_own_code(body.__code__):
        return {key: code for cell in body.__closure__ or () for key, code in _codes_in(cell.cell_contents).items()}
    if not is_generated(body.__code__):
        return {}
    return {id(code): code for code in codes_in(body.__code__) if code is not body.__code__}


def kinds_of(values: Iterable[Any]) -> list[LeafType | type]:
    return [type_of(x) or type(x) for x in values]


def widening_error(wider: Mapping[str, Pattern], objects: Sequence[Any], location: Location | None) -> StructureError:
    """The error of a loop of which these variables may be more with each trial; `objects` are those in lists of dynamic length."""
    found = {name: list(_last_options(p, objects)) for name, p in wider.items()}
    made = [x for options in found.values() for x in options]
    what, hint = "value of another kind", "let it be a tensor, a number, or a container of these, of one kind in all iterations"
    if made and all(isinstance(x, FunctionType) for x in made):
        what, hint = "function", "define it before the loop, and give it what varies as an argument, or keep that instead"
    elif made and all(isinstance(x, BaseException) for x in made):
        what, hint = "exception", "keep a flag or a number that says what has happened, and raise the exception behind the loop"
    elif made:
        what = f"object ({type(made[0]).__name__})"
    names = ", ".join(said(name) for name in wider if found[name] or not made)
    return StructureError(
        f"what the loop leaves in {names} does not settle: each iteration makes another {what}",
        location=location, hint=hint,
    )  # fmt: skip


def _last_options(p: Pattern | Layout, objects: Sequence[Any]) -> Iterator[Any]:
    """The objects that were found last of those that a value may be."""
    if isinstance(p, Choice):
        yield objects[p.places[-1]]
    elif isinstance(p, Node) and p.kind is OneOf:
        yield p.keys[0].values[-1]
    elif isinstance(p, (Node, Parts)):
        for child in p.keys if isinstance(p, Node) and p.kind is RecordList else p.children:
            yield from _last_options(child, objects)
    elif isinstance(p, Const) and isinstance(p.value, RecordList):
        yield from _last_options(p.value.layout, objects)


def is_least(fitter: Fitter, pattern: Pattern, initial: Any, before: Any, after: Any, name: str) -> bool:
    """Whether a variable of a loop has to be as wide as this pattern, and no wider.

    Args:
        initial: its value before the loop.
        before, after: at the begin and at the end of an iteration that was traced with this pattern.
    """
    if isinstance(pattern, Const):
        return same(before, after)
    if any(map(same, extract(pattern, before), extract(pattern, after))):
        return False
    return alike(fitter.fit(Const(initial), initial, after, name), pattern) and alike(fitter.fit(pattern, before, after, name), pattern)


def alike(p: Pattern, q: Pattern) -> bool:
    """Whether two patterns say the same of a value."""
    if isinstance(p, Const) and isinstance(q, Const):
        return same(p.value, q.value)
    if isinstance(p, Node) and isinstance(q, Node):
        return p.kind is q.kind and p.keys == q.keys and all(map(alike, p.children, q.children))
    # why a variable may have no value is said in other words where another loop or branch is around
    return isinstance(p, Var) and isinstance(q, Var) and (p.type, not p.why) == (q.type, not q.why)
