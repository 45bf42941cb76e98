"""Which values need a gradient: in all runs that come to them, in none, or in some, as the paths or iterations decide."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from dy2st_runtime.ir import Variable

from ...errors import StagedValueError
from ...tensor import Tensor
from ...tensor.kinds import kinds_of
from ...tensor.location import user_location
from ..values.staged_list import StagedList

if TYPE_CHECKING:
    from ..regions.phi_leaves import Var


class Need(enum.Enum):
    """Whether a value needs a gradient; STOPPED: it has stopped one (`stop_gradient = True`), which eagerly could be let through again."""

    NEVER = "never"
    STOPPED = "stopped"
    SOMETIMES = "sometimes"
    ALWAYS = "always"


def either(*needs: Need | None) -> Need | None:
    """That of a value which is one of several; None stands for what nobody asks, as a number."""
    found = {n for n in needs if n is not None}
    if found == {Need.NEVER, Need.STOPPED}:
        return Need.STOPPED
    return Need.SOMETIMES if len(found) > 1 else next(iter(found), None)


class Needs:
    """The needs of the variables of a trace. `stop_gradient` of a variable says where gradients may flow, which is all that the backward
    pass has to know; here is in which of these only some runs, or some iterations, would have one in eager mode."""

    def __init__(self) -> None:
        self._sometimes: set[str] = set()
        self._stopped: set[str] = set()

    def of_variable(self, v: Variable) -> Need:
        if v.stop_gradient:
            return Need.STOPPED if v.name in self._stopped else Need.NEVER
        return Need.SOMETIMES if v.name in self._sometimes else Need.ALWAYS

    def of(self, x: Any) -> Need | None:
        """That of what a value has at a leaf that varies; None for numbers, codes, and where there is no value."""
        if isinstance(x, Tensor):
            v = x._value
            if all(k.weak for k in kinds_of(x)):
                return None
            if isinstance(v, Variable):
                return self.of_variable(v)
            return Need.NEVER if x._stop or not x.dtype.startswith("float") else Need.ALWAYS
        if isinstance(x, StagedList):
            return self._of_entries([self.of_variable(x._value)])
        return self._of_entries(map(self.of, x)) if isinstance(x, list) else None

    def _of_entries(self, needs: Iterable[Need | None]) -> Need:
        # a list has one variable for all its entries, and one without entries says nothing of those that it gets
        found = set(needs) - {Need.NEVER, None}
        return (Need.STOPPED if found else Need.NEVER) if found <= {Need.STOPPED} else Need.ALWAYS

    def joined(self, kind: str, *needs: Need | None) -> Need | None:
        """That of what is one of these; `kind` is "array" for lists."""
        return self._of_entries(needs) if kind == "array" else either(*needs)

    def all(self, leaves: Iterable[Var], *sides: Sequence[Need | None]) -> list[Need | None]:
        """Those of the leaves of a pattern that vary, each of which is what it is on one of the sides."""
        return [self.joined(leaf.type.kind, *each) for leaf, *each in zip(leaves, *sides, strict=True)]

    def give(self, v: Variable, need: Need | None) -> None:
        """Gives a new variable what it needs."""
        v.stop_gradient = need in (None, Need.NEVER, Need.STOPPED) or not v.dtype.startswith("float")
        if need is Need.SOMETIMES:
            self._sometimes.add(v.name)
        elif need is Need.STOPPED:
            self._stopped.add(v.name)

    def moved(self, inputs: Iterable[Variable], outputs: Iterable[Variable]) -> None:
        """Variables that have others, which no gradient flows to, as entries, or are such entries."""
        if self._stopped and any(self.of_variable(v) is Need.STOPPED for v in inputs):
            self._stopped.update(v.name for v in outputs)

    def computed(self, inputs: Sequence[Variable], outputs: Iterable[Variable]) -> None:
        """Variables that an op has made of others: they need a gradient where one of those does."""
        if self._sometimes and not any(self.of_variable(v) is Need.ALWAYS for v in inputs):
            self._sometimes.update(v.name for v in outputs if not v.stop_gradient)

    def require_known(self, tensor: Tensor) -> None:
        """StagedValueError if only the run knows whether a tensor needs a gradient, which is asked for."""
        v = tensor._value
        if isinstance(v, Variable) and self.of_variable(v) is Need.SOMETIMES:
            raise StagedValueError(
                "whether a gradient flows to the tensor (stop_gradient) depends on the path or the iteration, so that only the run knows",
                location=user_location(3),
                hint="use y.detach(), where it does not matter; or give the loop or branch a value that needs a gradient to begin with",
            )  # fmt: skip
