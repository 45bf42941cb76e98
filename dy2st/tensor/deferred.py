"""Tensors whose values are computed later.

A `Deferred` is a result of a step that waits for more of it to be known (`jit.steps`). Its dtype and shape are known; whoever asks for more
gets a plain tensor: the first look at its value, its place on the tape or its gradient lets what it waits for compute it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from dy2st_runtime.dtype import name_of

from .tensor import Tensor


class Source(Protocol):
    """What a deferred tensor waits for."""

    def settle(self, t: Tensor) -> None:
        """Makes it a plain tensor, by `become`, if it still waits for this."""


class Form:
    """Shape and dtype of an array that is not there yet."""

    __slots__ = ("dtype", "ndim", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype):
        self.shape, self.dtype, self.ndim = shape, dtype, len(shape)


class Deferred(Tensor):
    """A tensor that waits; it tells no one but `type()`.

    Attributes:
        _source, _slot: what it waits for, and which of its results it is.
        _expected: its shape and dtype.
    """

    __slots__ = ()

    __class__ = property(lambda self: Tensor)  # type: ignore[assignment]

    @property
    def _value(self) -> Any:
        _settle(self)
        return self._value

    @_value.setter
    def _value(self, value: Any) -> None:
        _settle(self)
        self._value = value

    def __reduce_ex__(self, protocol: Any) -> Any:
        _settle(self)
        return self.__reduce_ex__(protocol)

    @property
    def _node(self) -> Any:
        _settle(self)
        return self._node

    @_node.setter
    def _node(self, node: Any) -> None:
        _settle(self)
        self._node = node

    @property
    def _grad(self) -> Any:
        _settle(self)
        return self._grad

    @_grad.setter
    def _grad(self, grad: Any) -> None:
        _settle(self)
        self._grad = grad

    @property
    def _form(self) -> Any:
        expected = self._expected
        return self._value if expected is None else expected  # another thread may just have settled it

    @property
    def is_symbolic(self) -> bool:
        return False

    @property
    def _stops(self) -> bool:
        return self._stop

    @property
    def stop_gradient(self) -> bool:
        return self._stop

    @stop_gradient.setter
    def stop_gradient(self, stop: bool) -> None:
        _settle(self)
        self.stop_gradient = stop

    @property
    def dtype(self) -> str:
        return name_of(self._form)

    @property
    def ndim(self) -> int:
        return self._form.ndim


Deferred.__name__ = Deferred.__qualname__ = Tensor.__name__  # Python's own messages name the class: "'Tensor' object is not callable"
Deferred.__module__ = Tensor.__module__


def _settle(t: Tensor) -> None:
    source = t._source
    if source is not None:  # else another thread has just done it
        source.settle(t)


raw_value: Callable[[Tensor], Any] = Tensor.__dict__["_value"].__get__
"""The value that a tensor has had last; that of a deferred one is out of date. It takes three times as long as to ask for the attribute."""
_set_value: Callable[[Tensor, Any], None] = Tensor.__dict__["_value"].__set__
_set_class = object.__dict__["__class__"].__set__
new = Tensor.__new__


def deferred(source: Source, slot: int, form: Form, stop_gradient: bool) -> Tensor:
    """A new tensor that waits."""
    t = new(Deferred)
    t._source, t._slot, t._expected, t._stop = source, slot, form, stop_gradient
    return t


def defer(t: Tensor, source: Source, slot: int, form: Form) -> None:
    """Makes a tensor, which may be a buffer of the user's, one that waits for its next value."""
    t._source, t._slot, t._expected = source, slot, form
    _set_class(t, Deferred)


def is_deferred(t: Any) -> bool:
    """Whether a tensor waits."""
    return type(t) is Deferred


def become(t: Tensor, value: Any, stop_gradient: bool) -> None:
    """Makes a tensor that has waited a plain one, a leaf with this value."""
    # in this order: what the handler of a signal raises in between leaves no tensor that waits for nothing
    _set_value(t, value)
    t._stop = stop_gradient
    _set_class(t, Tensor)
    attributes = t.__dict__
    for name in ("_source", "_slot", "_expected"):
        attributes.pop(name, None)
