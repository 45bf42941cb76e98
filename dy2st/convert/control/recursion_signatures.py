"""What a recursive function takes and returns, as it is found by tracing the function several times. See `recursion`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

from ...tensor import Tensor
from .. import roles
from ..effects.cells import Cell
from ..effects.gradient_needs import Need
from ..effects.may_alias import who
from ..regions.phi_leaves import Const, Node, Pattern, in_order
from ..values.staged_list import StagedList
from .recursion_objects import Given, Relation, Returned

ROLE = roles.BOOKKEEPING


@dataclass(eq=False)
class Signature:
    """What is known of a function of the Program.

    The patterns are of pairs: the arguments, or the result, and a tuple of the values outside that it changes.

    Attributes:
        params: the pattern of the arguments.
        results: the pattern of what it returns; None as long as nothing is known of that. `returned` is an instance.
        given: what is known of the objects that a call inside gives, and `given_back`: that the function returns.
        shares: (result, param) for lists, dicts and objects that may be one or have entries in common, by their positions among these.
        param_needs, result_needs: whether params and results need gradients, at their varying leaves; None: not known yet.
    """

    params: Pattern
    results: Pattern | None = None
    returned: Any = None
    given: Given = field(default_factory=Given)
    given_back: Returned = field(default_factory=Returned)
    shares: Relation = frozenset()
    param_needs: list[Need | None] | None = None
    result_needs: list[Need | None] = field(default_factory=list)

    def of_results(self) -> tuple[Any, ...]:
        """What is known of the results: whether it has grown, one trace tells."""
        return self.results, self.shares, *self.given_back.known()

    def renumber(self) -> None:
        """The results have other leaves and objects from now on: what was known by their positions is to be found again."""
        self.given_back, self.shares = Returned(), frozenset()

    def widen(self, params: Pattern) -> None:
        """The params vary in more than they did."""
        self.params, self.param_needs, self.given = params, None, Given()
        self.renumber()

    def again(self, given: Any, is_there: Callable[[Any], bool]) -> Signature:
        """What to begin with for another first call with arguments and values outside of the same kinds.

        What was there before is what stands in its place now, if that is known of all of it, and else to be found again.

        Args:
            is_there: whether something is outside of the function still, if it is none of the arguments.
        """
        now = stand_ins(self.params, given)

        def of(x: Any) -> Any:
            return _who(now[id(x)]) if id(x) in now else x if is_there(x) else None

        results = None if self.results is None else moved(self.results, now)
        new = replace(self, params=renewed(self.params, given), results=results, returned=_with(now, self.returned))
        new.given, new.given_back = copy(self.given), copy(self.given_back)
        new.given.renew(of)
        new.given_back.renew(of)
        return new


@dataclass(frozen=True)
class RecursionTypes:
    """The fixed point of a recursive function at one place.

    Another trace of the function around it begins with that, as loops do (see `LoopTypes`).

    Attributes:
        signature: what is known of it.
        cells: what it changes outside of it, by key.
    """

    signature: Signature
    cells: Mapping[tuple, Cell]


def stand_ins(p: Pattern, value: Any) -> dict[int, Any]:
    """What a value has in place of the tensors and containers that are fixed in a pattern, by their ids; None: not one thing."""
    found: dict[int, Any] = {}
    for old, new in _fixed(p, value):
        for key in {id(old), id(_who(old))}:
            found[key] = new if found.get(key, new) is new else None
    return found


def _who(x: Any) -> Any:
    return who(x) if isinstance(x, (Tensor, StagedList)) else x


def _with(now: Mapping[int, Any], value: Any) -> Any:
    """A value with others in the place of what is in its tuples, by their ids."""
    if type(value) is tuple:
        return tuple(_with(now, x) for x in value)
    new = now.get(id(value))
    return value if new is None else new


def moved(p: Pattern, now: Mapping[int, Any]) -> Pattern:
    """A pattern in which what is fixed has been replaced, by ids."""
    if isinstance(p, Const):
        return Const(_with(now, p.value))
    return Node(p.kind, p.keys, tuple(moved(child, now) for child in p.children)) if isinstance(p, Node) else p


def _fixed(p: Pattern, value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(p, Const):
        yield p.value, value
        if type(p.value) is tuple and type(value) is tuple:
            for old, new in zip(p.value, value, strict=False):
                yield from _fixed(Const(old), new)
    elif isinstance(p, Node) and p.kind in (list, tuple, dict):
        for child, x in zip(p.children, in_order(p, value), strict=True):
            yield from _fixed(child, x)


def renewed(p: Pattern, value: Any) -> Pattern:
    """A pattern in which what is fixed is as a value of this structure has it."""
    if isinstance(p, Const):
        return Const(value)
    if isinstance(p, Node) and p.kind in (list, tuple, dict):
        return Node(p.kind, p.keys, tuple(map(renewed, p.children, in_order(p, value))))
    return p
