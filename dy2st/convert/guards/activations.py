"""Which functions are being traced, and how a call that is inside another of the same function is recognized as recursion."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

from ...errors import Location, RecursionLimitError, UndefinedError
from ...tensor import Tensor, dispatch
from ...tensor.promotion import NUMBERS
from ...transpiler import place_of
from ...transpiler.loader import CONVERSION
from .. import roles
from ..effects.cells import Cell, EntryCell, contents_of, defaults_of
from ..effects.snapshot import Snapshot
from ..values.join_types import same
from ..values.one_of import OneOf, Options, values_of
from ..values.staged_list import StagedList
from ..values.symbolic_texts import StagedText
from ..values.trees import Tree, flatten, split

ROLE = roles.BOOKKEEPING

UNROLLED = 16
"""So many calls inside each other, each under a condition of the one around, are traced one by one where what Python knows differs
between them (a number that counts down, a static shape): it may come to an end. Beyond it only the run knows when it ends."""

UNROLLED_IN_ALL = 150
"""So many calls inside one, under conditions, are traced one by one: where each makes two, 16 inside each other would be 65,536."""

OTHERS = 30
"""So many calls with other values that only Python knows become functions of the Program inside one that is such a function."""

OTHER_NUMBERS = 8
"""So many kinds of calls that differ in nothing but numbers of Python become functions of the Program of their own. Each is found by a
trace that is given up, so beyond it any numbers make one function."""

MOST_LEAVES = 2_000
"""So many parts may the arguments of a call have before it is asked whether they grow from call to call."""

Arguments = tuple[tuple[Any, ...], dict[str, Any]]


class Reentered(BaseException):
    """A function was called again, under a condition of its own on tensors, with arguments of the same kinds: the trace is to begin
    anew, with calls of this kind as calls of a function of the Program."""

    def __init__(self, kind: Kind):
        super().__init__(kind)
        self.kind = kind


class GradientsInside(BaseException):
    """The function records gradients, which its caller does not, or looks at flags of tensors, or sets them: the trace is to begin anew,
    with arguments that may want a gradient."""


class TakenForObjects(BaseException):
    """The function tells arguments of this class from all other objects, as keys say, so each of them has a trace of its own: that is to
    begin anew, with these as what they are."""

    def __init__(self, cls: type):
        super().__init__(cls)
        self.cls = cls


def require_end(recursive: Collection[Kind], found: Kind) -> None:
    """RecursionLimitError if each new trace finds calls of another kind: they are given what each trace makes anew."""
    if sum(kind.code is found.code for kind in recursive) > OTHERS:
        code = found.code
        place = place_of(code, -1, code.co_firstlineno) or Location(code.co_filename, code.co_firstlineno)
        raise RecursionLimitError(
            f"{code.co_name!r} calls itself, in each trace with other objects", location=place,
            hint="give it tensors, numbers and texts, or objects that are there before the call",
        )  # fmt: skip


class NoResult(BaseException):
    """A call of a function of which it is not known yet what it returns: the path that it is on tells nothing of that."""


class NotYet(NoResult):
    """A variable of a loop is read which has no value before it, and nothing is known yet of the one that an iteration leaves to the next.

    Args:
        error: what it is if no path of the iteration comes to its end without it.
    """

    def __init__(self, error: UndefinedError):
        super().__init__(error)
        self.error = error


@dataclass(frozen=True)
class Kind:
    """The calls that become calls of a function of the Program: of this code, with arguments that have this structure and leaves of
    these kinds; any arguments, if `leaves` is None."""

    code: CodeType
    tree: Tree | None = None
    leaves: tuple[Any, ...] | None = None

    @property
    def general(self) -> Kind:
        """The same with any arguments."""
        return Kind(self.code)

    @property
    def without_numbers(self) -> Kind:
        """What is left of it if it is not asked which numbers of Python it is called with."""
        leaves = None if self.leaves is None else tuple(k[0] if _is_number(k) else k for k in self.leaves)
        return Kind(self.code, self.tree, leaves)


def _is_number(kind: Any) -> bool:
    return isinstance(kind, tuple) and isinstance(kind[0], type) and issubclass(kind[0], NUMBERS)


def to_be_traced(known: Collection[Kind], found: Kind) -> Kind:
    """The calls that become calls of a function of the Program when some are found to be recursive, others being known: these, or those
    with any numbers."""
    others = sum(kind.leaves is not None and kind.without_numbers == found.without_numbers for kind in known)
    return found.general if others >= OTHER_NUMBERS else found


@dataclass(eq=False)
class Activation:
    """A call that is being traced.

    Attributes:
        function: the user's.
        arguments: keeps them alive, so that what is known of them by id holds.
        kind: what the trace decides by.
        objects: the ids of the arguments that are no tensors or plain values.
        level: how many branches and loops were being traced when it began.
        before: the contents of what is watched at its begin; None if it is not inside another call of the same function.
        inside: how many calls of the same function were traced inside it, under conditions.
    """

    function: FunctionType
    arguments: Arguments
    kind: Kind
    objects: tuple[int, ...]
    level: int
    before: Snapshot | None
    inside: int = 0

    @staticmethod
    def of(function: FunctionType, arguments: Arguments, level: int) -> Activation:
        leaves, tree = flatten(arguments)
        kinds = tuple(map(_kind_of_leaf, leaves))
        objects = tuple(id(x) for x, k in zip(leaves, kinds, strict=True) if k is type(x))
        kind = Kind(function.__code__, _in_any_trace(tree), (dispatch.is_grad_enabled(), *kinds))
        return Activation(function, arguments, kind, objects, level, None)

    def has_grown(self, around: Sequence[Activation]) -> bool:
        """Whether it has far more to look at than the first call around it: lists in its arguments that double would fill the memory."""
        first, own = (len(a.kind.leaves or ()) for a in (around[0], self))
        return own > max(MOST_LEAVES, 2 * first) and self.level > around[0].level

    def repeats(self, other: Activation) -> bool:
        """Whether it is another call of the function all over again, as far as Python can tell, but under a condition on tensors: no
        argument and nothing outside has changed that Python could decide by."""
        return (
            other.level < self.level and other.kind == self.kind and other.objects == self.objects
            and other.before is not None and not any(_decides(cell, other.before) for cell in other.before.changed())
        )  # fmt: skip


def is_same(one: FunctionType, other: FunctionType, seen: frozenset[tuple[int, int]] = frozenset()) -> bool:
    """Whether two functions are one, or were made of one text with the same around them, so that they do the same. Those that a function
    makes for other values (`gate(gate(f, 1), 2)`) have the same text, but call each other without being recursive."""
    if one is other or (id(one), id(other)) in seen:
        return True
    if one.__code__ is not other.__code__:
        return False
    seen |= {(id(one), id(other))}

    def alike(a: Any, b: Any) -> bool:
        return is_same(a, b, seen) if isinstance(a, FunctionType) and isinstance(b, FunctionType) else same(a, b)

    held, others = _held_by(one), _held_by(other)
    return len(held) == len(others) and all(map(alike, held, others))


def _held_by(f: FunctionType) -> list[Any]:
    """What a function finds around it, in its defaults and in its attributes, with the names of what has one here."""
    attributes = [x for item in vars(f).items() if item[0] != CONVERSION for x in item]
    return [*map(contents_of, f.__closure__ or ()), *(f.__kwdefaults__ or ()), *defaults_of(f), *attributes]


def _decides(cell: Cell, before: Snapshot) -> bool:
    """Whether Python may decide otherwise by what a cell has now: not if that is one tensor in place of another one like it."""
    if not isinstance(cell, EntryCell):
        return True
    old, now = before.entry(cell.target, cell.entry), cell.read()
    return not (isinstance(old, Tensor) and isinstance(now, Tensor) and _kind_of_leaf(old) == _kind_of_leaf(now))


def under_conditions(calls: Iterable[Activation]) -> int:
    """How many calls, each inside the one before, are under a condition or in a loop of the one around."""
    return sum(inner.level > outer.level for outer, inner in itertools.pairwise(calls))


def _in_any_trace(tree: Tree) -> Tree:
    """The tree with what the options of values are, as each trace has lists of options of its own."""
    if tree.kind is None:
        return tree
    keys = tuple(tuple(map(_kind_of_option, k.values)) if isinstance(k, Options) else k for k in tree.keys)
    return Tree(tree.kind, keys, tuple(map(_in_any_trace, tree.children)), tree.twin, tree.of)


def _kind_of_option(x: Any) -> Any:
    if isinstance(x, (*NUMBERS, str, bytes)) and not isinstance(x, StagedText):
        return type(x), x
    return x.__code__ if isinstance(x, FunctionType) else id(x)


def _kind_of_leaf(x: Any) -> Any:
    if isinstance(x, Tensor):
        return ("tensor", x.dtype, tuple(x._value.shape), x._weak, x._kinds)
    if isinstance(x, StagedList):
        return ("list", x.dtype, x.element_shape)
    if isinstance(x, (*NUMBERS, str, bytes, type(None))) and not isinstance(x, StagedText):
        return (type(x), x)
    return type(x)


def admits(known: Any, new: Any, numbers: bool) -> bool:
    """Whether a call with `new` as an argument can be one of a function whose param has the value `known`: what varies are tensors,
    with `numbers` also numbers of Python and lengths of lists."""
    if isinstance(known, Tensor):
        if known._weak and isinstance(new, NUMBERS):
            return True
        return isinstance(new, Tensor) and (known.dtype, known.ndim, known._weak) == (new.dtype, new.ndim, new._weak)
    if isinstance(known, StagedList):
        return isinstance(new, (StagedList, list))
    if isinstance(known, OneOf):  # what a call inside picks of others comes in too
        return isinstance(new, OneOf) or any(new is x for x in values_of(known))
    if isinstance(known, NUMBERS):
        return same(known, new) or (numbers and (isinstance(new, NUMBERS) or (isinstance(new, Tensor) and new._weak)))
    (keys, parts), (others, news) = split(known), split(new)
    if parts is None or news is None:
        return same(known, new) or (type(known) is list and numbers and isinstance(new, StagedList))
    if type(known) is not type(new) or keys != others:
        return False
    if len(parts) != len(news):
        return type(known) is list and numbers
    return all(admits(a, b, numbers) for a, b in zip(parts, news, strict=True))
