"""`StagedList`: a list whose length is only known at run time, held as a TensorArray."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dy2st_runtime.ir import Variable

from ..errors import StagedValueError, StructureError
from ..tensor import Tensor, dispatch
from ..tensor.dispatch import ops
from ..tensor.kinds import meet
from ..tensor.location import user_location
from ..tensor.promotion import as_tensor, is_weak


class StagedList:
    """A list of tensors of one dtype and rank that grows or shrinks under staged control flow.

    Like a list it is an object with an identity: methods change it in place, and all names of it see that.
    """

    _value: Variable

    @staticmethod
    def wrap(v: Variable) -> StagedList:
        new = StagedList.__new__(StagedList)
        new._value = v
        return new

    @staticmethod
    def of(items: Sequence[Any], dtype: str, shape: Sequence[int]) -> StagedList:
        """A list of these tensors and numbers; `shape` is that of the entries."""
        array = ops.op("create_array", dtype=dtype, shape=list(shape))
        new = StagedList.wrap(array._value)
        for item in items:
            new._value = ops.op("array_append", Array=new._array(), X=new._element(item))._value
        return new

    def with_value(self, v: Variable) -> StagedList:
        return StagedList.wrap(v)

    # ---- what it is ----
    @property
    def dtype(self) -> str:
        return self._value.dtype

    @property
    def element_shape(self) -> tuple[int, ...]:
        return tuple(self._value.shape)

    def _array(self) -> Tensor:
        return Tensor.wrap(self._value, self._value.stop_gradient)

    def _element(self, x: Any) -> Tensor:
        if is_weak(x):
            wanted = meet(as_tensor(x).dtype, self.dtype)
            return as_tensor(x, wanted) if wanted == self.dtype else as_tensor(x)
        if not isinstance(x, Tensor):
            raise StructureError(
                f"a list that changes in a staged loop can hold tensors and numbers, not {type(x).__name__}",
                location=user_location(3),
            )  # fmt: skip
        return x

    def length(self) -> Tensor:
        """The length as a weak int."""
        n = ops.op("lod_array_length", X=self._array())
        n._weak = True
        return n

    def _set(self, array: Tensor) -> None:
        from .tracer import need_tracer

        need_tracer("a list").assign(self, array._value)  # type: ignore[arg-type]

    # ---- list methods ----
    def append(self, x: Any) -> None:
        self._set(ops.op("array_append", Array=self._array(), X=self._element(x)))

    def extend(self, xs: Any) -> None:
        if isinstance(xs, StagedList):
            self._set(ops.op("array_extend", Array=self._array(), Other=xs._array()))
            return
        for x in xs:
            self.append(x)

    def pop(self, index: Any = -1) -> Tensor:
        if not (isinstance(index, int) and index == -1):
            raise StagedValueError(
                "pop() of a list of dynamic length takes the last entry only", location=user_location(2),
                hint="read the entry by its index, and build a new list of those that stay",
            )  # fmt: skip
        array, value = ops.op("array_pop", Array=self._array())
        self._set(array)
        return value

    def clear(self) -> None:
        self._set(ops.op("create_array", dtype=self.dtype, shape=list(self.element_shape)))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(list, name):
            raise AttributeError(f"'list' object has no attribute {name!r}")
        raise StagedValueError(
            f"{name}() of a list whose length only the run knows is not supported", location=user_location(2),
            hint="append to it, or build a new list",
        )  # fmt: skip

    def copy(self) -> StagedList:
        return StagedList.wrap(self._value)

    def __getitem__(self, index: Any) -> Tensor:
        if isinstance(index, slice):
            raise StagedValueError(
                "a list of dynamic length cannot be sliced", location=user_location(2),
                hint="stack it and slice the tensor",
            )  # fmt: skip
        return ops.op("read_from_array", X=self._array(), I=as_tensor(index, "int64"))

    def __setitem__(self, index: Any, x: Any) -> None:
        self._set(ops.op("array_set", Array=self._array(), X=self._element(x), I=as_tensor(index, "int64")))

    def __len__(self) -> int:
        raise dispatch.staged_value_error(self._array(), "len()")

    def __iter__(self) -> Iterator[Tensor]:
        raise StagedValueError(
            "a list of dynamic length cannot be iterated over here", location=user_location(2),
            hint="loop over it with for, or stack it: paddle.stack(xs)",
        )  # fmt: skip

    def __add__(self, other: Any) -> StagedList:
        new = self.copy()
        new.extend(other)
        return new

    def __bool__(self) -> bool:
        raise dispatch.staged_value_error(self._array(), "the truth of a list")

    # ---- what tensors are made of it ----
    def stack(self, axis: int = 0) -> Tensor:
        return ops.op("tensor_array_to_tensor", X=self._array(), axis=axis, use_stack=True)

    def concat(self, axis: int = 0) -> Tensor:
        return ops.op("tensor_array_to_tensor", X=self._array(), axis=axis, use_stack=False)

    def __repr__(self) -> str:
        return f"StagedList({self._value.name}: {self._value.type})"


def element_type(items: Sequence[Any], what: str) -> tuple[str, tuple[int, ...]]:
    """The dtype and shape that all these tensors and numbers have in common."""
    from .types import LeafType, join, type_of

    found: LeafType | None = None
    for item in items:
        t = type_of(item)
        if t is None or t.kind != "dense":
            raise StructureError(
                f"{what} changes its length in a staged loop or branch, so it can hold tensors and numbers only, "
                f"not {type(item).__name__}",
                location=user_location(2),
            )
        found = t if found is None else join(found, t, f"an element of {what}")
    assert found is not None
    return found.dtype, found.shape
