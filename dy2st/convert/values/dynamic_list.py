"""`DynamicList`: what a list whose length is only known at run time is to the user, whatever it holds."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

from ...errors import StagedValueError, StructureError
from ...tensor import Tensor, dispatch
from ...tensor.arguments import Entries
from ...tensor.location import instruction, user_location
from .. import hub
from ..hub import need_tracer
from .list_indices import bounds, chosen, counted, integer, repeated

if TYPE_CHECKING:
    from ..trace.tracer import Tracer


class DynamicList(Entries):
    """A list that grows or shrinks under staged control flow, as the user sees it.

    Like a list it is an object with an identity: methods change it in place, and all names of it see that.

    Attributes:
        columns: the staged lists that carry it in the Program.
        layout: how an entry is put together of theirs; None if the entries are tensors and numbers.
    """

    __slots__ = ()
    columns: Sequence[Any]
    layout: Any

    def length(self) -> Tensor:
        """The length as a weak int."""
        raise NotImplementedError

    def array(self) -> Tensor:
        """What stands for it, or for a part of it, in the Program."""
        raise NotImplementedError

    def append(self, x: Any) -> None:
        raise NotImplementedError

    def and_one(self, x: Any) -> Any:
        """A list of its entries and one more."""
        raise NotImplementedError

    def taken(self, order: Tensor) -> Any:
        """A list of the entries that an int64 vector names."""
        raise NotImplementedError

    def become(self, other: Any) -> None:
        """It gets the entries of another list of the same kind."""
        raise NotImplementedError

    def listed(self, items: Any) -> Any:
        """A list of the same kind with these entries."""
        raise NotImplementedError

    def joined(self, other: Any) -> Any:
        """A list of its entries and those of another list of the same kind."""
        raise NotImplementedError

    def equal_to(self, value: Any, what: str) -> Tensor:
        """Which entries are equal to a value."""
        raise NotImplementedError

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise StagedValueError(
            "an array of NumPy cannot be made of a list whose length only the run knows", location=user_location(2),
            hint="make a tensor of it: paddle.to_tensor(items)",
        )  # fmt: skip

    # ---- list methods ----
    def extend(self, xs: Any) -> None:
        if isinstance(xs, DynamicList):
            self.become(self.joined(self.listed(xs)))
            return
        for x in xs:
            self.append(x)

    def reverse(self) -> None:
        self.become(self[::-1])

    def sort(self, *, key: Any = None, reverse: Any = False) -> None:
        hub.list_sort(self, key=key, reverse=reverse)

    def clear(self) -> None:
        self.become(self.listed([]))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(list, name):
            raise AttributeError(f"'list' object has no attribute {name!r}")
        raise StagedValueError(
            f"{name}() of a list whose length only the run knows is not supported", location=user_location(2),
            hint="loop over it with for, and build a new list",
        )  # fmt: skip

    def _spliced(self, key: slice, between: Any = None) -> Any:
        """The entries before and behind a slice, with others between them."""
        if key.step is not None and not (isinstance(key.step, int) and key.step == 1):
            raise StagedValueError(
                "of a list of dynamic length only a slice without a step can be replaced or deleted",
                location=user_location(2), hint="build a new list of the entries that stay",
            )  # fmt: skip
        length = self.length()
        start, stop = bounds(key, length)
        head = self.taken(counted(integer(0), start))
        if between is not None:
            head = head.joined(between)
        return head.joined(self.taken(counted(stop, length)))

    def _at(self, index: Any) -> Any:
        """The entry at an index."""
        raise NotImplementedError

    def visited(self, index: Any) -> Any:
        """The entry at an index that is another one each time."""
        return self._at(index)

    def _put(self, index: Any, x: Any) -> None:
        """Sets the entry at an index."""
        raise NotImplementedError

    def _remove(self, index: Any) -> None:
        """Removes the entry at an index."""
        raise NotImplementedError

    def __getitem__(self, index: Any) -> Any:
        return self.taken(chosen(index, self.length())) if isinstance(index, slice) else self._at(index)

    def __setitem__(self, index: Any, x: Any) -> None:
        if isinstance(index, slice):
            self.become(self._spliced(index, self.listed(x)))
        else:
            self._put(index, x)

    def __delitem__(self, index: Any) -> None:
        if isinstance(index, slice):
            self.become(self._spliced(index))
        else:
            self._remove(index)

    def __len__(self) -> int:
        raise dispatch.staged_value_error(self.array(), "len()")

    def __iter__(self) -> Iterator[Any]:
        raise StagedValueError(
            "a list of dynamic length cannot be iterated over here", location=user_location(2),
            hint="loop over it with for, or stack it: paddle.stack(xs)",
        )  # fmt: skip

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, (list, DynamicList)):
            return NotImplemented
        return self.joined(self.listed(other))

    def __radd__(self, other: Any) -> Any:
        if not isinstance(other, list):
            return NotImplemented
        if is_in_place(sys._getframe(1)):
            return hub.promote(list_tracer(), other, self).__iadd__(self)
        return self.listed(other).joined(self)

    def __iadd__(self, other: Any) -> Any:
        self.extend(other)
        return self

    def __mul__(self, times: Any) -> Any:
        if isinstance(times, Tensor) and not times._weak:  # eagerly that makes a tensor of the list
            raise StagedValueError(
                "a list of dynamic length cannot be multiplied by a tensor", location=user_location(2),
                hint="stack it: paddle.stack(xs) * t; to repeat the list, use int(t)",
            )  # fmt: skip
        if not isinstance(times, (int, Tensor)):
            return NotImplemented
        return self.taken(repeated(times, self.length()))

    __rmul__ = __mul__

    def __imul__(self, times: Any) -> Any:
        self.become(self * times)
        return self

    def __eq__(self, other: object) -> Any:
        return hub.compare("==", self, other)

    def __ne__(self, other: object) -> Any:
        return hub.compare("!=", self, other)

    def __hash__(self) -> int:
        raise TypeError("unhashable type: 'list'")

    def __lt__(self, other: Any) -> Any:
        raise self._refuse_order("<")

    def __gt__(self, other: Any) -> Any:
        raise self._refuse_order(">")

    __le__, __ge__ = __lt__, __gt__

    def _refuse_order(self, sign: str) -> StagedValueError:
        return StagedValueError(
            f"{sign!r} of lists of dynamic length is not supported", location=user_location(3),
            hint="compare their entries in a loop",
        )  # fmt: skip

    def __bool__(self) -> bool:
        raise dispatch.staged_value_error(self.array(), "the truth of a list")

    def __str__(self) -> str:
        raise StagedValueError(
            "the text of a list of dynamic length is only known when the program runs", location=user_location(2),
            hint="print its entries one by one in a loop, or return it and print it outside",
        )  # fmt: skip

    __repr__ = __str__


def is_in_place(frame: FrameType) -> bool:
    """Whether the instruction that a frame executes is a `+=` or the like, for which a list of Python asks as for a `+`."""
    name = instruction(frame)
    return name.startswith("INPLACE_") or (name.startswith("BINARY_OP ") and name.endswith("="))


def list_tracer() -> Tracer:
    """The tracer that a list of dynamic length is of."""
    return need_tracer("a list")


def unlike_entries() -> StructureError:
    """The error of entries that are put together of others where a list holds tensors or numbers, or the other way round."""
    return StructureError(
        "the entries of one list are tensors or numbers, those of another are put together of others", location=user_location(3),
        hint="make all entries of one structure",
    )  # fmt: skip
