"""What loops came to: which of their variables vary, and of what type they are.

An inner loop is traced again in each trace of the outer one, and the loops of a function in each of its calls. Such a loop starts from
what it came to before, and one trace is enough where that holds: so the work grows with the depth of loops, and is not multiplied by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .cells import Cell
from .patterns import Const, Fitter, Node, Pattern, Var, extract
from .types import LeafType, same, type_of

TRIALS = 20
"""How often a loop is traced before it is an error that it does not settle."""


@dataclass(frozen=True)
class Settled:
    """What one loop came to.

    Attributes:
        kinds: those of the values that its variables had before it.
        patterns: those of its variables, and then of the cells.
        cells: what else varies, by key.
        named: the cells that are variables, by key.
    """

    kinds: Sequence[LeafType | type]
    patterns: Sequence[Pattern]
    cells: Mapping[tuple, Cell]
    named: Mapping[tuple, Cell]


def kinds_of(values: Iterable[Any]) -> list[LeafType | type]:
    return [type_of(x) or type(x) for x in values]


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
    return _alike(fitter.fit(Const(initial), initial, after, name), pattern) and _alike(fitter.fit(pattern, before, after, name), pattern)


def _alike(p: Pattern, q: Pattern) -> bool:
    if isinstance(p, Const) and isinstance(q, Const):
        return same(p.value, q.value)
    if isinstance(p, Node) and isinstance(q, Node):
        return p.kind is q.kind and p.keys == q.keys and all(map(_alike, p.children, q.children))
    # why a variable may have no value is said in other words where another loop or branch is around
    return isinstance(p, Var) and isinstance(q, Var) and (p.type, not p.why) == (q.type, not q.why)
