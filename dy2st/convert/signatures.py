"""What a recursive function takes and returns, as it is found by tracing the function several times. See `recursion`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .cells import Cell
from .leaves import Const, Node, Pattern, in_order
from .needs import Need

Relation = frozenset[tuple[int, int]]


@dataclass(eq=False)
class Signature:
    """What is known of a function of the Program.

    The patterns are of pairs: the arguments, or the result, and a tuple of the values outside that it changes.

    Attributes:
        params: the pattern of the arguments.
        results: the pattern of what it returns; None as long as nothing is known of that. `returned` is an instance.
        same: (result, param) for each pair that may be one object, by their positions among the leaves.
        tied: likewise, of two results.
        objects: (result, param) for lists, dicts and objects that may be one or have entries in common, by their positions among these.
        one_of: those of them that may be one.
        outside: for each leaf of the results what it may be that was there before; `around`: the same for lists, dicts and objects.
        param_needs, result_needs: whether params and results need gradients, at their varying leaves; None: not known yet.
    """

    params: Pattern
    results: Pattern | None = None
    returned: Any = None
    same: Relation = frozenset()
    tied: Relation = frozenset()
    objects: Relation = frozenset()
    one_of: Relation = frozenset()
    outside: list[dict[int, Any]] = field(default_factory=list)
    around: list[list[Any]] = field(default_factory=list)
    param_needs: list[Need | None] | None = None
    result_needs: list[Need | None] = field(default_factory=list)

    def of_results(self) -> tuple[Any, ...]:
        """What is known of the results: whether it has grown, one trace tells."""
        found = [x.keys() for x in self.outside], [set(map(id, x)) for x in self.around]
        return self.results, self.same, self.tied, self.objects, self.one_of, *found

    def renumber(self) -> None:
        """There are other leaves and objects from now on: what was known by their positions is to be found again."""
        self.same = self.tied = self.objects = self.one_of = frozenset()

    def again(self, given: Any) -> Signature:
        """What to begin with for another first call with arguments and values outside of the same kinds: all but what was there before."""
        nothing: list[dict[int, Any]] = [{} for _ in self.outside]
        return replace(self, params=renewed(self.params, given), outside=nothing, around=[[] for _ in self.around])


@dataclass(frozen=True)
class Settled:
    """What the calls of a function at one place came to: a function that is traced again, in each trace of the one around it, begins with
    that, as loops do (see `settled`).

    Attributes:
        signature: what is known of it.
        cells: what it changes outside of it, by key.
    """

    signature: Signature
    cells: Mapping[tuple, Cell]


def renewed(p: Pattern, value: Any) -> Pattern:
    """A pattern in which what is fixed is as a value of this structure has it."""
    if isinstance(p, Const):
        return Const(value)
    if isinstance(p, Node) and p.kind in (list, tuple, dict):
        return Node(p.kind, p.keys, tuple(map(renewed, p.children, in_order(p, value))))
    return p
