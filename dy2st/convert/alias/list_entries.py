"""Lists, dicts and objects in entries of lists of dynamic length: these hold what was in them, and give out new ones.

In eager mode they would be one object. As long as nobody changes one of them in place nobody can tell; who does gets an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dy2st_runtime.errors import Location

from ...errors import StructureError
from ...tensor.location import user_location
from ..values.containers import copied
from ..values.staged_list import StagedList
from ..values.trees import split
from .alternatives import changed, contents_of

if TYPE_CHECKING:
    from ..effects.region_frames import Frame
    from ..trace.tracer import Tracer


@dataclass
class _Held:
    """The contents that a container had when it was put into a list, or taken out."""

    contents: Any
    before: Any
    location: Location | None


class Entries:
    """What is in lists of dynamic length by value.

    Attributes:
        widened: how often entries have come for which the layout of a list had to be widened.
    """

    def __init__(self, tracer: Tracer):
        self.widened = 0
        self._tracer = tracer
        self._held: list[_Held] = []
        self._alive: dict[int, Any] = {}

    def lent(self, entry: Any) -> Any:
        """The entry, which is put into a list, or was taken out, and must stay as it is.

        Raises:
            StructureError: a loop or branch around has changed a part of it that was there before; another iteration may do so again.
        """
        if isinstance(entry, StagedList):
            self._tracer.aliases.hold(entry, self._tracer.block)
            return entry
        _, children = split(entry)
        for child in children or ():
            self.lent(child)
        contents = contents_of(entry) if children is not None else None
        if contents is not None:
            for frame in self._tracer.frames:
                before = frame.containers.saved(contents)
                if before is not None and changed(self._tracer, contents, before):
                    raise _error(user_location())
            self._alive[id(contents)] = contents
            self._held.append(_Held(contents, copied(contents), user_location()))
        elif children is not None:
            self._tracer.alternatives.sealed.add(entry)
        return entry

    def holds(self, contents: Any) -> bool:
        """Whether these are the contents of something that is in a list, or was taken out."""
        return id(contents) in self._alive

    def require_unchanged(self) -> None:
        """StructureError if what is in a list has changed."""
        for held in self._held:
            if changed(self._tracer, held.contents, held.before):
                raise _error(held.location)

    def leave(self, frame: Frame, count: int) -> None:
        """A branch or loop body has come to its end, and with it what was made in it; `count` is the length at its begin."""
        self._held[count:] = [h for h in self._held[count:] if h.contents in frame.containers]

    def __len__(self) -> int:
        return len(self._held)


def _error(location: Location | None) -> StructureError:
    return StructureError(
        "what is put into a list of dynamic length here, or taken out of it, is changed in place; in eager mode the entry of the list "
        "would change too", location=location,
        hint="put a new one into the list (xs[i] = ..., or a copy before: xs.append(list(x))), or build a new list",
    )  # fmt: skip
