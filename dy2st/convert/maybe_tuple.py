"""`MaybeTuple`: what stands for a variable that is None on one path and a tuple on another: the state of a recurrent cell, say."""

from __future__ import annotations

from typing import Any

from ..tensor import Tensor


class MaybeTuple:
    """A tuple that is None on some path: `is_none` is the bool tensor that says when.

    What Python cannot do with None raises at run time what it raises in eager mode.
    """

    __slots__ = ("is_none", "value")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: tuple, is_none: Tensor):
        self.value, self.is_none = value, is_none

    def bare(self, text: str, exception: type[Exception] = TypeError) -> tuple:
        """The tuple, where it is there; elsewhere the exception is raised."""
        from .tracer import need_tracer

        need_tracer("a value that may be None").require_not_none(self, text, exception)
        return self.value

    def __getitem__(self, index: Any) -> Any:
        from .items import getitem

        return getitem(self.bare("'NoneType' object is not subscriptable"), index)

    def __iter__(self) -> Any:
        return iter(self.bare("'NoneType' object is not iterable"))

    def __len__(self) -> int:
        return len(self.bare("object of type 'NoneType' has no len()"))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.bare(f"'NoneType' object has no attribute {name!r}", AttributeError), name)

    def __eq__(self, other: object) -> Any:
        from .if_stmt import if_expr
        from .logical import compare

        return if_expr(self.is_none, lambda: other is None, lambda: compare("==", self.value, other))
