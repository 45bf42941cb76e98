"""Copies of tensors by Python's own means: `copy.copy`, `copy.deepcopy`, `pickle`.

A tensor that ops made has a graph behind it, which belongs to the tensor it was made for. A shallow copy shares it; a deep
copy or a pickle would have to leave it behind, so that gradients would stop there without a word: that is an error.
"""

from __future__ import annotations

from typing import Any

from .. import unique_name
from ..errors import GradientError, InplaceError, StagedValueError
from . import dispatch, due
from .kinds import resolved
from .location import user_location
from .tensor import Parameter, Tensor


def shallow(self: Tensor) -> Tensor:
    """Another tensor with the same value, attributes and origin.

    Args:
        self: any tensor; a leaf's copy is a leaf of its own, with the same `.grad` to begin with.

    >>> import copy
    >>> x = Tensor([1.0], stop_gradient=False); y = copy.copy(x)
    >>> y.set_value([2.0]); x.numpy()
    array([1.], dtype=float32)
    """
    recorder = dispatch.current_recorder()
    if recorder is not None and self.is_symbolic and not self._stop and recorder.is_leaf(self):
        return _of_its_own(self)
    due.deliver()
    value = self._value  # first: a tensor that waits for it is of another class until then
    new = type(self).__new__(type(self))
    new._value, new._stop = value, self._stop
    new.__dict__.update(self.__dict__)
    if self.is_leaf:
        # the node of a leaf is where the gradient of that very tensor goes
        new._node, new._index = None, 0
    return new


def deep(self: Tensor, memo: dict) -> Tensor:
    """A leaf with the same value and a gradient of its own; a parameter with a name gets another unique one.

    Raises:
        InplaceError: the tensor is no leaf.
        StagedValueError: a parameter, while a function is traced: the copy would be that of the first call.
    """
    recorder = dispatch.current_recorder()
    is_leaf = self.is_leaf if recorder is None or self._stop else recorder.is_leaf(self) or not recorder.may_need_gradient(self)
    if not is_leaf:
        raise InplaceError("only leaf tensors can be deep-copied", location=user_location(2), hint="copy tensor.detach()")
    if self.is_symbolic or not dispatch.in_dynamic_mode():
        new = memo[id(self)] = _of_its_own(self)
        return new
    new = shallow(self)
    memo[id(self)] = new
    new._name = None
    new._grad = None if self._grad is None else self._grad.detach()
    if isinstance(self, Parameter):
        new.__dict__["optimize_attr"] = dict(self.optimize_attr)
        if self._name is not None:
            new._name = unique_name.generate(self._name)
    return new


def _of_its_own(self: Tensor) -> Tensor:
    """The copy of a leaf where ops are recorded: a value of its own, whose gradient ends with it."""
    if isinstance(self, Parameter):
        raise StagedValueError(
            f"parameter {self.name!r} would be copied once, while tracing, and not by each call", location=user_location(3),
            hint="copy it outside of the function, or compute with parameter.clone()",
        )  # fmt: skip
    before = dispatch.set_grad(False)
    try:
        new = dispatch.ops.op("assign", X=resolved(self))
        new = dispatch.ops.op("assign", X=new)  # the first one hands no gradient on
    finally:
        dispatch.set_grad(before)
    new.set_stop(self._stops)
    new._weak, new._kinds = self._weak, self._kinds
    return new


def state(self: Tensor) -> dict[str, Any]:
    """What a pickle holds: the value and the attributes, without what refers to the graph and without the gradient.

    Raises:
        GradientError: the tensor is no leaf.
        StagedValueError: the value is only known when a program runs.
    """
    if self.is_symbolic:
        raise StagedValueError(
            "a tensor whose value is only known when the program runs cannot be pickled", location=user_location(2)
        )
    if not self.is_leaf:
        raise GradientError(
            "only leaf tensors can be pickled: the graph behind this one would be lost", location=user_location(2),
            hint="pickle tensor.detach()",
        )  # fmt: skip
    kept = {k: v for k, v in self.__dict__.items() if k not in ("_node", "_index", "_grad", "_result_of")}
    return {"_value": self._value, "_stop": self._stop, **kept}


def restore(self: Tensor, state: dict[str, Any]) -> None:
    """Makes an empty tensor what a pickle holds."""
    attributes = dict(state)
    self._value, self._stop = attributes.pop("_value"), attributes.pop("_stop")
    self.__dict__.update(attributes)
