"""A script: what a loop does between a call of a static function and the step of an optimizer, or what else ends a step.

The tensors of a step have numbers, their *slots*: first what the call computes, then the results of the ops behind it.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from dy2st_runtime.ops.registry import OpDef

from ...errors import Location
from ...tensor import Tensor

SLOT, INPUT, PARAM, GIVEN = "slot", "input", "param", "given"
Operand = tuple[str, int] | None
"""What an op gets: a slot, an input of the call, a parameter (by its position in `Script.params`), or what the loop brings along, by its
number. None: nothing."""


@dataclass(frozen=True)
class Line:
    """An op of a script.

    Attributes:
        attrs: all attributes.
        ins: for each input slot its operand, or a list of such.
        outs: for each output its slot; None: absent.
        grad: whether gradients were recorded.
        location: of the user's code; those of two steps are the same, or do not matter.
        checked: behind 0, which input decides whether the op fails because of values; 0: it does not fail.
        zeros: the names of the attributes that are, or have among them, a zero with a sign.
        slots: of an op that gets nothing but slots, as most do, and need not be checked, their numbers; else None.
    """

    op: type[OpDef]
    attrs: dict[str, Any]
    ins: tuple[Operand | list[Operand], ...]
    outs: tuple[int | None, ...]
    grad: bool
    checked: int = 0
    location: Location | None = field(default=None, compare=False)
    zeros: tuple[str, ...] = field(init=False, compare=False)
    slots: tuple[int, ...] | None = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "zeros", tuple([name for name, value in self.attrs.items() if _has_zero(value)]))
        plain = not self.checked and all(type(x) is tuple and x[0] is SLOT for x in self.ins)
        object.__setattr__(self, "slots", tuple([x[1] for x in self.ins]) if plain else None)  # type: ignore[index, misc]

    def has(self, attrs: dict[str, Any]) -> bool:
        """Whether the attributes of another op are these. -0.0 is another number than 0.0, which `==` does not tell."""
        own = self.attrs
        return attrs is own or (attrs == own and not (self.zeros and any(str(attrs[name]) != str(own[name]) for name in self.zeros)))


def _has_zero(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_has_zero, value))
    return isinstance(value, float) and value == 0.0


@dataclass(frozen=True)
class Span:
    """The lines of one call of a function of the API (`tensor.composite`). It gives what the last line computes.

    Attributes:
        function: what is called.
        args, kwargs: what it gets: operands, and constants.
        begin, end: the lines.
        slots: how many slots they compute; nobody has any but the last when the step ends.
    """

    function: Callable[..., Any]
    args: tuple[Operand | Literal, ...]
    kwargs: dict[str, Operand | Literal]
    begin: int
    end: int
    slots: int


@dataclass(frozen=True)
class Literal:
    """A constant of Python's among the arguments of a call.

    Attributes:
        text: tells 0.0 from -0.0, which are equal.
    """

    value: Any = field(compare=False)
    kind: type
    text: str

    @staticmethod
    def of(value: Any) -> Literal | None:
        """None: it is no constant."""
        return Literal(value, type(value), repr(value)) if type(value) in (str, bool, int, float, type(None)) else None

    def is_same(self, value: Any) -> bool:
        return value is self.value or (type(value) is self.kind and repr(value) == self.text)


@dataclass(frozen=True)
class Kind:
    """What the loop brings along.

    Attributes:
        dtype: of the array.
        sizes: its shape, but for the first dim: batches differ in that.
        weak: whether it stands for a number of Python's.
    """

    dtype: str
    sizes: tuple[int, ...]
    weak: bool


@dataclass
class Script:
    """What happens in one step.

    Attributes:
        results: how many slots the call has.
        lines: the ops, in order.
        spans: calls of functions of the API that several of the lines are, by their first lines.
        given: the kinds of what the loop brings along.
        params: parameters that the ops read.
        root: the slot whose `backward()` is called, or which `grad()` differentiates.
        kept: the slots whose tensors are alive when the step ends.
        trained: the parameters that have got a gradient then.
        reached: the inputs of the call that have got one, by their numbers.
        by: what `grad()` differentiates by, whose call ends the step; None: `backward()` is called.
        optimizer: whose step it is; None: it ends with the call of `grad()`, or where somebody asks for the gradients.
    """

    results: int
    lines: list[Line]
    spans: dict[int, Span]
    given: list[Kind]
    params: list[Tensor]
    root: int
    kept: list[int]
    trained: list[Tensor]
    reached: list[int]
    by: list[tuple[str, int]] | None
    optimizer: weakref.ref[Any] | None

    @property
    def whose(self) -> Any:
        """The optimizer, while it is there."""
        return None if self.optimizer is None else self.optimizer()

    def is_like(self, other: Script) -> bool:
        """Whether both say the same of the same objects."""
        compared = ("results", "lines", "spans", "given", "root", "kept", "reached", "by", "optimizer")
        alike = all(getattr(self, name) == getattr(other, name) for name in compared)
        return alike and _are(self.params, other.params) and _are(self.trained, other.trained)


def _are(some: Sequence[Any], others: Sequence[Any]) -> bool:
    return len(some) == len(others) and all(x is y for x, y in zip(some, others, strict=True))


def wanting(inputs: Sequence[Tensor]) -> list[Tensor]:
    """The inputs of a call that want a gradient and can have one."""
    return [t for t in inputs if not t._stop and t.dtype.startswith("float")]


def are_leaves_apart(wanting: Sequence[Tensor], others: Set[int]) -> bool:
    """Whether inputs that want a gradient are leaves, each another one and known by nothing else that a step reads: all of the gradient of
    each is that of one variable, and goes nowhere else.

    Args:
        others: the ids of the tensors that a step reads besides.
    """
    ids = [*map(id, wanting)]
    return len({*ids}) == len(ids) and others.isdisjoint(ids) and all(t._is_leaf and not t._ties for t in wanting)


def kind_of(t: Tensor) -> Kind:
    """The kind of a tensor that is there."""
    shape = t._form.shape
    return Kind(t.dtype, (-1, *shape[1:]) if shape and shape[0] != 1 else shape, t._weak)
