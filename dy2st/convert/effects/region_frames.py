"""What is known of a branch or loop body while it is traced, and what it leaves behind."""

from __future__ import annotations

import contextlib
import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dy2st_runtime.errors import Location
from dy2st_runtime.ir import Block, Variable

from .. import roles
from .cells import Cell, TensorCell
from .snapshot import Snapshot

if TYPE_CHECKING:
    from ..trace.raised import Raised

ROLE = roles.BOOKKEEPING

# a list, and what it has become; or a dict, and the keys that it may get
Growth = tuple[Any, Any]
Changes = dict[tuple, tuple[Cell, Any]]


@dataclass
class Outcome:
    """What a block of traced code left behind: its result, each outer cell that it changed with the new value, the lists from
    outside that have become lists of dynamic length, and the values that it gave to tensors of the outside."""

    result: Any
    changes: Changes
    grown: list[Growth]
    tensors: list[tuple[Any, Variable]]

    @contextlib.contextmanager
    def in_force(self) -> Iterator[None]:
        """Within this `with`, tensors of the outside have the values that the block gave them."""
        before = [(t, t._value) for t, _ in self.tensors]
        try:
            for t, v in self.tensors:
                t._value = v
            yield
        finally:
            for t, v in before:
                t._value = v


@dataclass
class Side:
    """One side of a branch: what it left behind (None: it raises), and what the run may have raised in it.

    Attributes:
        grown: the lists from outside that have become lists of dynamic length in it, for the code behind or for handlers.
    """

    outcome: Outcome | None = None
    raised: list[Raised] = field(default_factory=list)
    grown: list[Growth] = field(default_factory=list)


@dataclass
class Frame:
    """A branch or a loop body being traced, with what it has changed of the outside so far.

    Attributes:
        promoted: the lists that have become lists of dynamic length in it.
        renamed: the variables that got the new lists, with the old ones.
        given: what puts the old ones back into other values that hold them: closures, say.
        iterators: those that are held at its begin, by id.
    """

    block: Block
    tensors: dict[tuple, tuple[Cell, Any]] = field(default_factory=dict)
    containers: Snapshot = field(default_factory=Snapshot)
    promoted: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    renamed: list[tuple[types.FrameType, str, Any]] = field(default_factory=list)
    given: list[Callable[[], None]] = field(default_factory=list)
    iterators: dict[int, Any] = field(default_factory=dict)


def value_before(frames: Iterable[Frame], tensor: Any) -> Any:
    """The value that a tensor (or staged list) had before these blocks, from the outside in, have modified it."""
    key = TensorCell(tensor).key
    return next((f.tensors[key][1] for f in frames if key in f.tensors), tensor._value)


@dataclass(frozen=True)
class Note:
    """A decision of the tracer, for `explain()`."""

    location: Location | None
    what: str
    why: str
