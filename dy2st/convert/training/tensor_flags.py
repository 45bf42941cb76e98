"""What a function asks of tensors, and sets, besides their values: `stop_gradient`, `is_leaf`, `name`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

from dy2st_runtime.errors import Location
from dy2st_runtime.ir import Block, Variable

from ...errors import StagedValueError, StructureError
from ...tensor import Tensor, dispatch
from ...tensor.location import user_location
from ..effects.cells import TensorCell
from ..effects.gradient_needs import Need, Needs
from ..effects.may_alias import Aliases, is_inside
from ..effects.region_frames import Frame
from ..guards.activations import GradientsInside
from ..hub import TracerBase
from ..values.original_variables import first_value

if TYPE_CHECKING:
    from .created_state import CreatedState


class Flags(TracerBase):
    """The part of a `Tracer` that knows which tensors are leaves, and where gradients stop.

    Attributes:
        may_record: whether the arguments say which of them want a gradient; where they do not, to look at a flag begins the trace anew.
        records_gradients: whether gradients were recorded for any op.
        is_piece: what is traced may be a part of a function, whose other parts know the same tensors.
        arguments: for each tensor that is fed, by id, whether it is a leaf that wants a gradient; `asked_leaves`: those where that matters.
        new_leaves: the variables of tensors that are leaves with a gradient since the function made them so, by name, each with the line;
            `leaves_made`: these tensors.
        detached: the tensors of which `stop_gradient` was set, by id: each with its variable before, and that from then on.
        freed: those outside that begin with gradients stopped and are used so, by id: each with its variable before they were let through,
            and that from then on.
        switched: the tensors outside whose `stop_gradient` is set, each with what it was, and where that is done first.
        named: the tensors whose names code of the user's has read, by id.
        needs: which variables need a gradient in which runs.
    """

    frames: list[Frame]
    originals: dict[int, tuple[Tensor, Any]]
    captures: dict[int, tuple[Tensor, Variable]]
    placeholders: Sequence[Tensor]
    inputs: Sequence[Variable]
    aliases: Aliases
    state_made: CreatedState

    def __init__(self, block: Callable[[], Block]):
        super().__init__(block)
        self.may_record = True
        self.records_gradients = self.is_piece = False
        self.arguments: dict[int, bool] = {}
        self.asked_leaves: dict[int, bool] = {}
        self.new_leaves: dict[str, Location | None] = {}
        self.leaves_made: list[Tensor] = []
        self.detached: dict[int, tuple[Any, Any, Any]] = {}
        self.freed: dict[int, tuple[Variable, Variable]] = {}
        self.switched: dict[int, tuple[Tensor, bool, Location | None]] = {}
        self.named: dict[int, Tensor] = {}
        self.needs = Needs()

    # ---- leaves ----
    def is_leaf(self, tensor: Tensor) -> bool:
        if id(tensor) in self.arguments:
            # calls with tensors of the other kind need another trace, but only now that this matters
            self.asked_leaves[id(tensor)] = is_leaf = self.arguments[id(tensor)]
            return is_leaf
        # what was modified here before, in `no_grad()` say, is symbolic by now, but no other tensor
        known = not tensor.is_symbolic or id(tensor) in self.originals
        return known and tensor._is_leaf and not tensor._stop

    def was_leaf(self, tensor: Tensor) -> bool:
        """Whether a tensor is one of the outside, and a leaf there, with or without a gradient."""
        return (not tensor.is_symbolic or id(tensor) in self.originals) and tensor._is_leaf

    def takes_gradients(self, tensor: Tensor) -> bool:
        """Whether the gradients of a tensor that was given stay with it: it is a leaf, be it that the function has made it one."""
        if id(tensor) in self.arguments:
            return self.is_leaf(tensor) or self.is_new_leaf(tensor)
        return self.was_leaf(tensor)

    def tell_leaf(self, tensor: Tensor) -> bool:
        if type(tensor) is Tensor and not tensor.is_symbolic:
            raise StagedValueError("is_leaf of a tensor outside, which could be another one at the next call", location=user_location(2),
                                   hint="ask outside of the static function")  # fmt: skip
        answers = {self.is_leaf(t) or self.is_new_leaf(t) for t in (tensor, *self.aliases.of(tensor).values()) if isinstance(t, Tensor)}
        if len(answers) > 1:
            raise StagedValueError("whether a tensor is a leaf (is_leaf) depends on a condition on tensors", location=user_location(2))
        return answers.pop()

    def is_new_leaf(self, tensor: Tensor) -> bool:
        """Whether the function has made it a leaf, and it still is."""
        is_new = bool(self.new_leaves) and not tensor._stop and isinstance(tensor._value, Variable)
        return is_new and self.origin(tensor).name in self.new_leaves

    def origin(self, tensor: Tensor) -> Variable:
        """The variable that a tensor of the trace had before it was modified in place, in the loops around too."""
        assert isinstance(tensor._value, Variable)
        first, key = first_value(tensor._value), TensorCell(tensor).key
        for frame in reversed(self.frames):
            if first.name in frame.block.params and key in frame.tensors:
                first = first_value(frame.tensors[key][1])
        return first

    def require_no_leaf(self, tensor: Tensor) -> None:
        for other in self.aliases.of(tensor).values():
            if isinstance(other, Tensor) and not other._stops and self.is_leaf(other):
                raise StructureError(
                    "what is modified in place here is on one path a leaf tensor with stop_gradient=False, whose gradient would be lost, "
                    "and on another path is not", location=user_location(3), hint="modify a copy (x.clone()), or do it under no_grad()",
                )  # fmt: skip

    def may_need_gradient(self, tensor: Tensor) -> bool:
        if tensor._stop or id(tensor) in self.arguments:
            return not tensor._stop
        known = (*self.placeholders, *(t for t, _ in self.captures.values()))
        return self.records_gradients and any(not t._stop and t.dtype.startswith("float") for t in known)

    # ---- what the user's code asks and sets ----
    def on_enable_grad(self) -> None:
        if not self.may_record:
            raise GradientsInside

    def require_known_gradient(self, tensor: Tensor) -> None:
        if not self.may_record:
            raise GradientsInside
        self.needs.require_known(tensor)

    def require_known_name(self, tensor: Tensor) -> None:
        if id(tensor) in self.arguments:
            raise StagedValueError("the name of an argument is that of the tensor which each call gives", location=user_location(2),
                                   hint="pass the name as an argument")  # fmt: skip

    def on_name_read(self, tensor: Tensor, frame: FrameType) -> None:
        if str(frame.f_globals.get("__name__")).partition(".")[0] != "dy2st":
            self.named[id(tensor)] = tensor

    def require_name_of_its_own(self, tensor: Tensor, name: Any) -> None:
        is_new = (tensor.is_symbolic or self.state_made.name) and id(tensor) not in self.arguments and id(tensor) not in self.originals
        if not (is_new and isinstance(name, str)) or (self.frames and not self._is_of_this_block(tensor)):
            raise StagedValueError("a tensor outside gets a name, or one gets it under a condition on tensors: it would get it once, while "
                                   "tracing", location=user_location(2), hint="set names outside of the static function")  # fmt: skip

    def _is_of_this_block(self, tensor: Tensor) -> bool:
        """Whether a tensor was made in the branch or loop that is being traced."""
        v = tensor._value
        return isinstance(v, Variable) and is_inside(v.block, self.frames[-1].block)

    def switch_gradient(self, tensor: Tensor, stop: bool) -> None:
        if not self.may_record:
            raise GradientsInside
        if stop is False:
            self.needs.require_known(tensor)
        v = tensor._value
        outside = bool(self.frames) and not self._is_of_this_block(tensor)
        if isinstance(stop, Tensor) or (outside and tensor._stops is not bool(stop)):
            raise StagedValueError("whether gradients stop at a tensor (stop_gradient) would depend on a condition on tensors",
                                   location=user_location(2), hint="use y.detach() in the branch")  # fmt: skip
        if id(tensor) in self.arguments and tensor._stops is not bool(stop) and (stop or self.is_piece):
            raise StagedValueError("stop_gradient of an argument is set, which the caller's tensor would not know",
                                   location=user_location(2), hint="use x = x.detach()")  # fmt: skip
        switches = tensor._stops is not bool(stop) and tensor.dtype.startswith("float")
        if switches:
            self.aliases.mutated(tensor, self.block)  # what may be it gets the flag in some runs
        computed = isinstance(v, Variable) and not (v.is_data or v.persistable) and id(tensor) not in self.originals
        if not computed or not switches:
            if not stop and tensor._stops and id(tensor) in self.arguments and isinstance(v, Variable):
                # gradients may be asked for in the call; of what is left behind nobody could ask for them
                self.new_leaves[v.name] = user_location(2)
            if id(tensor) not in self.arguments:
                self.switched.setdefault(id(tensor), (tensor, tensor._stops, user_location(2)))
            if id(tensor) in self.captures and switches:
                self._switch_used(tensor, bool(stop))
            else:
                tensor.set_stop(stop)
            return
        # what was computed from it before keeps its way, so another variable stands for the tensor from now on
        _, attached, detached = self.detached.get(id(tensor), (None, None, None))
        if not stop and detached is v:
            tensor._value = attached
            return
        if self.needs.of(tensor) is Need.STOPPED:
            raise StagedValueError(
                "gradients stop at the tensor since a branch, a loop or a list (stop_gradient = True), and cannot be let through again",
                location=user_location(2), hint="use y.detach() where gradients are to stop, and y where they are to flow",
            )  # fmt: skip
        before = dispatch.set_grad(False)
        try:
            new = dispatch.ops.op("assign", X=tensor)
        finally:
            dispatch.set_grad(before)
        if stop:
            self.detached[id(tensor)] = tensor, v, new._value
            self.needs.give(new._value, Need.STOPPED)
        else:
            assert isinstance(new._value, Variable)
            self.new_leaves[new._value.name] = user_location(2)
            self.leaves_made.append(tensor)
        new.set_stop(stop)
        tensor._value, tensor._stop = new._value, bool(stop)

    def _switch_used(self, tensor: Tensor, stop: bool) -> None:
        """Gradients are to stop, or not any more, at a tensor outside. What was computed from it before keeps its way here, too."""
        self.on_mutate(tensor)
        v = tensor._value
        assert isinstance(v, Variable)
        _, attached, detached = self.detached.pop(id(tensor), (None, None, None))
        if not stop and attached is not None:
            again = Tensor.wrap(attached, False)
            new = again if detached is v else self.keep_gradient_place(again, tensor)
        else:
            before = dispatch.set_grad(False)
            try:
                new = dispatch.ops.op("assign", X=tensor)
            finally:
                dispatch.set_grad(before)
            new.set_stop(stop)
            assert isinstance(new._value, Variable)
            if stop:
                self.detached[id(tensor)] = tensor, v, new._value
                self.needs.give(new._value, Need.STOPPED)
            else:
                self.new_leaves[new._value.name], self.freed[id(tensor)] = user_location(3), (v, new._value)
        tensor._value, tensor._stop = new._value, stop

    def kept_value(self, tensor: Tensor) -> Variable:
        """The variable of a tensor outside; of those that have one value, as gradients stop or are let through there, the first."""
        v = tensor._value
        assert isinstance(v, Variable)
        _, attached, detached = self.detached.get(id(tensor), (None, None, None))
        v = attached if detached is v else v
        before, freed = self.freed.get(id(tensor), (None, None))
        return before if before is not None and freed is v else v

    def keep_gradient_place(self, tensor: Tensor, new: Tensor) -> Tensor:
        before = dispatch.set_grad(True)
        try:
            if not tensor._stops:
                # eagerly the tensor keeps its place in the graph: what is computed from it now counts for it
                return dispatch.ops.op("replaced_value", X=tensor, Value=new)
            if not self.lift(new).stop_gradient:
                new = dispatch.ops.op("assign", X=new)
                new.set_stop(True)
            return new
        finally:
            dispatch.set_grad(before)
