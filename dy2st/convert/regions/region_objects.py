"""What has been made since a branch or a loop body began, and copies of it as it is where something is raised."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dy2st_runtime.ir import Variable

from ...tensor import Parameter, Tensor
from ..effects.cells import Cell, TensorCell
from ..effects.may_alias import is_inside, shared, who
from ..effects.region_frames import Frame, value_before
from ..values.staged_list import StagedList
from ..values.trees import build, node_type, split
from .branch_state import changed_parts, changes_of

if TYPE_CHECKING:
    from ..trace.tracer import Tracer


class RegionObjects:
    """Which objects a region has created."""

    def __init__(self, tracer: Tracer, frame: Frame):
        self.frame, self._tracer = frame, tracer
        self._frames = tracer.frames[tracer.frames.index(frame) :]

    def lasts(self, contents: Any) -> bool:
        """Whether a container was there before."""
        return contents in self.frame.containers or self._tracer.was_before(contents)

    def holds(self, x: Tensor | StagedList) -> bool:
        before = value_before(self._frames, x)
        return isinstance(before, Variable) and is_inside(before.block, self.frame.block)


class Copies:
    """Values as they are now, of which what is made in a branch or a loop body may change later.

    Args:
        cells: what has changed since, with the values that it had.
    """

    def __init__(self, made: RegionObjects, cells: dict[tuple, tuple[Cell, Any]]):
        self._region, self._cells, self._changes = made, cells, changes_of(cells.values())
        self._copies: dict[int, Any] = {}
        self._objects: dict[int, tuple[Any, Any]] = {}

    @property
    def objects(self) -> list[tuple[Any, Any]]:
        """The objects that were copied, each with its copy."""
        return [(old, new) for old, new in self._objects.values() if old is not new]

    @property
    def contents(self) -> list[Any]:
        """What holds the contents of these."""
        return [c for c in (contents_of(old) for old, _ in self.objects) if c is not None]

    def of(self, value: Any) -> Any:
        keys, children = split(value)
        if children is None:
            return self.of_tensor(value)
        contents = contents_of(value)
        if contents is not None and self._region.lasts(contents):
            return value  # its changes are known by cells
        if id(value) not in self._objects:
            self._objects[id(value)] = value, value  # which may lead back to itself
            keys, children = changed_parts(value, keys, children, self._changes)
            self._objects[id(value)] = value, build(node_type(value), keys, list(map(self.of, children)))
        return self._objects[id(value)][1]

    def of_tensor(self, x: Any) -> Any:
        if not is_changeable(x) or not self._region.holds(x):
            return x
        if id(who(x)) not in self._copies:
            _, before = self._cells.get(TensorCell(x).key, (None, x))
            self._copies[id(who(x))] = x.alike(before._value)
        return self._copies[id(who(x))]


def contents_of(x: Any) -> Any:
    return x if isinstance(x, (list, dict)) else getattr(x, "__dict__", None)


def is_changeable(x: Any) -> bool:
    """Whether a value is a tensor or list that may be modified in place."""
    return (type(x) is Tensor or isinstance(x, (Parameter, StagedList))) and shared(x)
