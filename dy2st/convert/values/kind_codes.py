"""Which entries of a list of dynamic length are tensors and which are numbers of Python: a list of codes beside one with several kinds.

Such a list holds its numbers as tensors. Where the codes are not known an entry is a tensor or a number, as only the run could tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dy2st_runtime.ir import Variable

from ...tensor import Tensor
from ...tensor.dispatch import ops
from ...tensor.kinds import CODES, Kind
from ...tensor.promotion import weak_dtype
from .dynamic_list import list_tracer
from .list_indices import integer

if TYPE_CHECKING:
    from .staged_list import StagedList

CLASSES = {1: bool, 2: int, 3: float}
"""The classes of numbers by their codes; 0 is a tensor."""

def _code(kind: Kind) -> int:
    return CODES[kind.dtype] if kind.weak else 0


def known(x: Any) -> bool:
    """Whether it is known, in the run at least, what a value is, or each entry of a list, of Python or of dynamic length."""
    if isinstance(x, (list, tuple)):
        return all(map(known, x))
    if isinstance(x, Tensor):
        return x._kinds is None or x._kinds.told is not None
    return not hasattr(x, "codes") or x.codes is not None or len(x.kinds) < 2


def code_of(x: Any) -> Variable | None:
    """The code of a value, in the current block; None if it is not known."""
    b = list_tracer().builder()
    if not isinstance(x, Tensor) or x._kinds is None:
        return b.constant(_code(Kind(x.dtype, x._weak)) if isinstance(x, Tensor) else CODES[weak_dtype(x)], "int64")
    if x._kinds.told is None:
        return None
    told = x._kinds.told._value
    assert isinstance(told, Variable)
    return b.mul(b.cast_to(told, "int64"), b.constant(CODES[x._kinds.class_dtype], "int64")) if told.dtype == "bool" else told


def codes_of(items: StagedList) -> Variable | None:
    """The codes of the entries of a list; None if they are not known."""
    if items.codes is not None or len(items.kinds) > 1:
        return items.codes
    # not by `ops`: what these could raise they do not, so that no `try` has to know of it
    b = list_tracer().builder()
    count = b.op("range", Start=b.constant(0, "int64"), End=b.op("lod_array_length", X=items._value), Step=b.constant(1, "int64"))
    code = b.constant(max(map(_code, items.kinds), default=0), "int64")
    return b.op("tensor_to_array", X=b.add(b.mul(count, b.constant(0, "int64")), code), axis=0)


def flag(code: Variable) -> Tensor:
    """Whether a code is that of a number."""
    return ops.op("not_equal", X=Tensor.wrap(code), Y=integer(0))


def all_numbers(codes: Variable) -> Tensor:
    """Whether the codes of a list that is not empty are those of numbers."""
    both = list_tracer().builder().op("tensor_array_to_tensor", X=codes, axis=0, use_stack=True)
    return ops.op("reduce_all", X=ops.op("not_equal", X=Tensor.wrap(both), Y=integer(0)), reduce_all=True)


def decoded(values: Sequence[Any], codes: Sequence[Tensor]) -> list[Any]:
    """The entries of a list that a run has computed, of their values and codes."""
    found = zip(values, [code.item() for code in codes], strict=True)
    return [CLASSES[code](x.item() if isinstance(x, Tensor) else x) if code else x for x, code in found]


class MaybeNumbers:
    """The kind of node that patterns have of a list of dynamic length with entries of several kinds: the list, and its codes."""


@dataclass(frozen=True, eq=False)
class Codes:
    """The code of a value, or the codes beside a list (of Python or of dynamic length), to be made where they are needed."""

    of: Any

    def variable(self) -> Variable:
        if isinstance(self.of, (list, tuple)):
            builder = list_tracer().builder()
            found: Variable | None = builder.op("create_array", dtype="int64", shape=[])
            for x in self.of:
                found = builder.op("array_append", Array=found, X=code_of(x))
        else:
            found = codes_of(self.of) if hasattr(self.of, "codes") else code_of(self.of)
        assert found is not None
        return found
