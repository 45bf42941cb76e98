"""In-place changes: a tensor gets another value, which all its names see."""

from __future__ import annotations

from typing import Any

from ..errors import InplaceError
from . import tape, twins
from .dispatch import array_of, current_recorder, is_grad_enabled
from .location import user_location
from .promotion import no_number
from .tensor import Tensor


def rebind(tensor: Tensor, new: Tensor, *, differentiable: bool = False) -> Tensor:
    """Gives `tensor` the value of `new`: what every in-place function ends in. All names of the tensor see it.

    Args:
        tensor: what is modified.
        new: has its new value.
        differentiable: the tensor also takes the origin of `new`, so that gradients flow through the modification. Without
            it, and under `no_grad`, gradients go where they went before.

    Raises:
        InplaceError: a leaf that needs a gradient is modified under recording.
        TypeError: it is a number; where only the run knows, then.
    """
    given = tensor
    if not isinstance(tensor, Tensor) or tensor._weak:
        tensor = _no_number(tensor)
    recorder = current_recorder()
    is_leaf = tensor._is_leaf if recorder is None else recorder.is_leaf(tensor)
    computed = differentiable and is_grad_enabled()
    if computed and is_leaf and not tensor._stops:
        raise InplaceError(
            "a leaf tensor with stop_gradient=False cannot be modified in place: its gradient would be lost",
            location=user_location(2), hint="modify a copy (x.clone()), or do it under no_grad()",
        )  # fmt: skip
    if recorder is not None:
        if computed:
            recorder.require_no_leaf(tensor)
        recorder.rebind(tensor, new if computed else recorder.keep_gradient_place(tensor, new))
        return given
    twins.require_alone(tensor)
    tensor._value = array_of(new)
    if computed and new._stop:
        # the new value depends on nothing that needs a gradient: what the old one was made of must not get one
        tensor._stop, tensor._node, tensor._index = True, None, 0
    elif differentiable and not new._stop:
        tensor._stop = False
        if new._node is None:
            tape.leaf_node(new)
        assert new._node is not None
        new._node.hand_over(new._index, tensor)
    return tensor


def _no_number(x: Any) -> Tensor:
    text = "'{}' object cannot be modified in place"
    if not isinstance(x, Tensor):
        raise TypeError(text.format(type(x).__name__))
    return no_number(x, text)
