"""Objects that are not to change, and of which the trace has others for the same: frozen dataclasses, and tuples of users' classes.

A branch or a loop makes a new one of two, a list of dynamic length of what is put in. As long as they do not change nobody can tell. But
Python lets them: `object.__setattr__(self, ...)` in a method of a frozen dataclass, an attribute of a named tuple. Then eager mode would
show the change in all places that have the object.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dy2st_runtime.errors import Location

from ...errors import StructureError
from ...tensor.location import user_location
from .. import roles
from ..guards.places import members_of
from ..pyfacts.attribute_lookup import MISSING, defined
from ..values.join_types import describe
from ..values.trees import is_frozen, is_slotted, split

ROLE = roles.BOOKKEEPING


class FrozenState:
    """Objects that must not change from some moment on, with the attributes that they have then."""

    def __init__(self) -> None:
        self._known: list[tuple[Any, dict[str, Any], Location | None]] = []
        self._new: list[Any] = []

    def merged(self, objects: Iterable[Any]) -> None:
        """These have become one of several, or are one of these. They are sealed when the branch or loop has left all in its place."""
        self._new += [x for x in objects if is_frozen_class(type(x))]

    def settle(self) -> None:
        new, self._new = self._new, []
        for x in new:
            self.add(x)

    def add(self, x: Any) -> None:
        if is_frozen_class(type(x)):
            self._known.append((x, members_of(x), user_location()))

    def argument(self, value: Any) -> None:
        """Of the dataclasses with slots in an argument the trace has some of its own, as it has of tuples."""
        _, children = split(value)
        if children is not None and is_slotted(type(value)):
            self.add(value)
        for child in children or ():
            self.argument(child)

    def require_unchanged(self) -> None:
        """StructureError if one of these has got another attribute; one that its class computes once (`cached_property`) is none."""
        for x, before, location in self._known:
            now = members_of(x)
            if any(now.get(name, MISSING) is not value for name, value in before.items()) or any(
                name not in before and defined(type(x), name) is MISSING for name in now
            ):
                raise StructureError(
                    f"{describe(x)}, which is not to change, gets another attribute after this; in eager mode another would too, "
                    "which it is in some runs, or a copy of", location=location,
                    hint="make a new one with this value (dataclasses.replace, _replace)",
                )  # fmt: skip

    def leave(self, count: int) -> None:
        """A branch or loop body has come to its end: what was found in it ends with it."""
        del self._known[count:]

    def __len__(self) -> int:
        return len(self._known)


def is_frozen_class(cls: type) -> bool:
    """Whether objects of a class are not to change, but can."""
    return is_frozen(cls) or (issubclass(cls, tuple) and cls is not tuple)
