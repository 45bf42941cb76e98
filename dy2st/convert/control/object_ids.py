"""`id()` of what is met while tracing: a number that stands for the object, as only the run may know which one it is."""

from __future__ import annotations

from typing import Any

from ...errors import StagedValueError, StructureError
from ...tensor import Tensor
from ...tensor.location import user_location
from ..hub import current_tracer
from ..values.containers import is_container, is_plain_object
from ..values.one_of import OneOf
from .logical import compare


class Identity(int):
    """The `id()` of a tensor, container or plain object; two of them are compared as the objects are."""

    of: Any

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Identity):
            return bool(compare("is", self.of, other.of))
        if isinstance(other, int) and is_of_a_trace(self):
            raise StagedValueError(
                f"the id() of {called(self)} is another one while tracing", location=user_location(2), hint="compare the objects with `is`"
            )
        return int.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        tracer = current_tracer()
        if tracer is not None and (_others(tracer, self.of) or tracer.alternatives.may_be_another(self.of)):
            raise StructureError(
                "the id() of what is one of several objects, as only the run knows, cannot be looked up", location=user_location(2),
                hint="compare something else, or keep a flag that says which of them it is",
            )  # fmt: skip
        return int.__hash__(self)


def _others(tracer: Any, x: Any) -> bool:
    return isinstance(x, Tensor) and bool(tracer.aliases.of(x))


def id_(x: Any) -> int:
    """`id(x)`."""
    if isinstance(x, OneOf):
        x._dy_fail("told by its id()")
    if current_tracer() is None or not (isinstance(x, Tensor) or is_container(x) or is_plain_object(x)):
        return id(x)
    found = Identity(id(x))
    found.of = x
    return found


def is_of_a_trace(x: Any) -> bool:
    """Whether it is the `id()` of an object that is another one at each call."""
    if not isinstance(x, Identity):
        return False
    tracer = current_tracer()
    return (isinstance(x.of, Tensor) and x.of.is_symbolic) or (tracer is not None and x.of in tracer.stand_ins)


def called(x: Identity) -> str:
    """What such a number is the `id()` of."""
    return "a tensor" if isinstance(x.of, Tensor) else f"a {type(x.of).__name__} among the arguments"
