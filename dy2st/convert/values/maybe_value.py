"""`MaybeValue`: what stands for a variable that is None on one path and a tuple, list, dict or object on another: a cell's state, say."""

from __future__ import annotations

import inspect
from typing import Any, NoReturn

from ...errors import StagedValueError
from ...tensor import Tensor
from ...tensor.location import user_location
from .. import hub
from ..hub import need_tracer
from ..pyfacts.undefined import Undefined, moving


class MaybeValue:
    """A value that is put together of others, or a list of dynamic length, and is None on some path: `_dy_is_none` says when.

    What Python cannot do with None raises at run time what it raises in eager mode.
    """

    __slots__ = ("_dy_is_none", "_dy_value")  # names that no attribute of the value has
    __hash__ = None  # type: ignore[assignment]

    _dy_value: Any
    _dy_is_none: Tensor

    def __init__(self, value: Any, is_none: Tensor):
        object.__setattr__(self, "_dy_value", value)
        object.__setattr__(self, "_dy_is_none", is_none)

    def _dy_bare(self, text: str, exception: type[Exception] = TypeError) -> Any:
        """The value, where it is there; elsewhere the exception is raised."""
        if not moving.state:
            need_tracer("a value that may be None").require_not_none(self._dy_is_none, text, exception)
        return self._dy_value

    def _dy_attribute(self, name: str) -> Any:
        """The value, of which an attribute is wanted."""
        return self._dy_bare(f"'NoneType' object has no attribute {name!r}", AttributeError)

    def __getitem__(self, index: Any) -> Any:
        return hub.getitem(self._dy_bare("'NoneType' object is not subscriptable"), index)

    def __iter__(self) -> Any:
        return iter(self._dy_bare("'NoneType' object is not iterable"))

    def __len__(self) -> int:
        return len(self._dy_bare("object of type 'NoneType' has no len()"))

    def __bool__(self) -> NoReturn:  # which code asks that is not converted
        raise StagedValueError(
            "the truth of a value that is None in some runs is only known when the program runs", location=user_location(2),
            hint="ask for it in converted code",
        )  # fmt: skip

    def __getattr__(self, name: str) -> Any:
        # code of this package looks for names of its own, which must not become a check that the run does; nor may it run a property
        if name.startswith("__") or (name.startswith("_") and inspect.getattr_static(self._dy_value, name, self) is self):
            raise AttributeError(name)
        return getattr(self._dy_attribute(name), name)

    def __setattr__(self, name: str, value: Any) -> None:
        if not (moving.state and isinstance(value, Undefined)):
            setattr(self._dy_attribute(name), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._dy_attribute(name), name)

    def __eq__(self, other: object) -> Any:
        return hub.if_expr(self._dy_is_none, lambda: hub.is_none(other), lambda: hub.compare("==", self._dy_value, other))

    def _dy_shown(self, *_: Any) -> NoReturn:
        raise StagedValueError(
            f"a {type(self._dy_value).__name__} that is None on some paths has a text that only the run knows", location=user_location(2),
            hint="print its parts where it is not None",
        )  # fmt: skip

    __str__ = __repr__ = __format__ = _dy_shown


class MaybeObject:
    """A Python object (or a list, tuple, dict of tensors) that a variable holds on some paths only: `token` is absent where it does not."""

    __slots__ = ("token", "value")

    def __init__(self, value: Any, token: Any):
        self.value, self.token = value, token
