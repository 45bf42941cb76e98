"""Values whose kind only the run knows: an int on one path and a float on the other, a number here and a tensor there.

Eager Python decides the dtype of a result by the kind of its operands. Where all kinds that a value may have lead to the same
dtype, nothing is to be known; where they do not, it is an error: a Program has one dtype for each value.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dy2st_runtime import dtype as _dtype

from ..errors import DTypeError, of_tracing
from ..framework.dtype import get_default_dtype

if TYPE_CHECKING:
    from .tensor import Tensor


CODES = {"bool": 1, "int64": 2, "float64": 3}
"""The codes of classes of numbers, by the dtypes that hold them; 0 is a tensor."""


@dataclass(frozen=True, order=True)
class Kind:
    """A dtype; `weak`: of a Python number, which takes the dtype of the tensor that it meets."""

    dtype: str
    weak: bool

    def __str__(self) -> str:
        if not self.weak:
            return f"a {self.dtype} tensor"
        return {"bool": "a Python bool", "int64": "a Python int"}.get(self.dtype, "a Python float")


@dataclass(frozen=True)
class Kinds:
    """What a value may be: on one path the one, on another the other. `why` says of which value and where.

    `number`: of a value that is a Python number or a tensor, the bool tensor that says whether it is a number. The number is held in
    the rank of the tensor, with one element. `code`: where there are several classes of numbers, which of them it is (`CODES`; 0: it is a
    tensor), as far as it is known.
    """

    all: frozenset[Kind]
    why: str
    number: Tensor | None = field(default=None, compare=False)
    code: Tensor | None = field(default=None, compare=False)

    @property
    def mixed(self) -> bool:
        """Whether it may be a number, and may be a tensor."""
        return {k.weak for k in self.all} == {True, False}

    @property
    def classes(self) -> int:
        """How many classes of numbers it may be of."""
        return sum(k.weak for k in self.all)

    @property
    def told(self) -> Tensor | None:
        """What says in the run what it is: its code, or whether it is a number of its only class; None if nothing does."""
        return self.number if self.classes == 1 else self.code

    @property
    def class_dtype(self) -> str:
        """The dtype of the number that it may be, of the widest class if there are several."""
        found = {k.dtype for k in self.all if k.weak}
        return "float64" if "float64" in found else "int64" if "int64" in found else "bool"

    @property
    def class_name(self) -> str:
        """The class of Python that it is where it is a number."""
        return class_of_numbers(self.class_dtype)

    def fail(self, use: str) -> DTypeError:
        """The error of a use for which the kind matters."""
        return of_tracing(DTypeError(
            f"{self.why}; {use}",
            hint="make it the same kind of value on all paths: 1.0 instead of 1, say, or a tensor on both, with astype()",
        ))  # fmt: skip


def meet(weak: str, other: str) -> str:
    """The dtype that a weak operand gets beside a tensor of dtype `other`: see the table in `promotion`.

    >>> meet("float64", "int32"), meet("int64", "float64"), meet("int64", "bool")
    ('float32', 'float64', 'int64')
    """
    if weak == "float64":
        return other if _dtype.is_float(other) else get_default_dtype()
    if weak == "int64":
        return "int64" if other == "bool" else other
    return other


def kinds_of(x: Tensor) -> frozenset[Kind]:
    """All that a tensor may be."""
    return x._kinds.all if x._kinds is not None else frozenset((Kind(x.dtype, x._weak),))


def beside_scalar(scalar: str, other: str) -> str:
    """The dtype of an operation on a 0-d tensor and one with dims, as in PaddlePaddle 3: that of the latter, if both are ints or floats.

    >>> beside_scalar("float64", "float32"), beside_scalar("int64", "int32"), beside_scalar("float64", "int32")
    ('float32', 'int32', 'float64')
    """
    alike = (_dtype.is_float(scalar) and _dtype.is_float(other)) or (_dtype.is_int(scalar) and _dtype.is_int(other))
    return other if alike else _dtype.promote(scalar, other)


def together(a: Kind, b: Kind, scalar: Kind | None = None) -> Kind:
    """The kind of both operands of an elementwise op, after promotion.

    Args:
        scalar: the one that has no dims where the other one has some, if that matters to the op.
    """
    if a.weak != b.weak:
        weak, strong = (a, b) if a.weak else (b, a)
        return Kind(meet(weak.dtype, strong.dtype), False)
    if scalar is not None and not a.weak:
        return Kind(beside_scalar(scalar.dtype, (b if scalar is a else a).dtype), False)
    return Kind(_dtype.promote(a.dtype, b.dtype), a.weak)


def storage(kinds: Iterable[Kind]) -> str | None:
    """The dtype that can hold a value of any of these kinds; None if there is none."""
    strong = {k.dtype for k in kinds if not k.weak}
    weak = {k.dtype for k in kinds if k.weak}
    if len(strong) > 1:
        return None
    if strong:
        (dtype,) = strong
        return dtype if all(meet(w, dtype) == dtype for w in weak) else None
    found = "bool"
    for w in weak:
        found = _dtype.promote(found, w)
    return found


def joined(a: Iterable[Kind], b: Iterable[Kind], why: str, *known: Kinds | None) -> Kinds | None:
    """What a value of these kinds on one path and of those on another may be; None for one kind only.

    Args:
        known: what is known of the two already: the first of them keeps its reason.
    """
    both = frozenset((*a, *b))
    if len(both) == 1:
        return None
    return Kinds(both, next((k.why for k in known if k is not None), why))


def combine(x: Tensor, y: Tensor, by_rank: bool) -> tuple[str, bool, Kinds | None]:
    """The dtype for two operands of which one is of several kinds; whether the result may be weak, and its kinds.

    Args:
        by_rank: whether a 0-d tensor takes the dtype of one with dims; see `beside_scalar`.

    Raises:
        DTypeError: it depends on the path.
    """
    known = x._kinds or y._kinds
    assert known is not None
    is_scalar = [by_rank and t.ndim == 0 < other.ndim for t, other in ((x, y), (y, x))]
    results = frozenset(
        together(a, b, a if is_scalar[0] else b if is_scalar[1] else None) for a in kinds_of(x) for b in kinds_of(y)
    )
    dtype = storage(results)
    if dtype is None:
        names = " or ".join(sorted({k.dtype for k in results}))
        raise known.fail(f"its dtype beside the other operand would be {names}")
    for t in (x, y):
        require_exact(t, dtype)
    if len(results) == 1:
        return dtype, next(iter(results)).weak, None
    return dtype, any(k.weak for k in results), Kinds(results, known.why)


def without_bool(kinds: Kinds) -> Kinds:
    """The kinds of `abs(x)` and `-x`: a bool counts as an int there."""
    return replace(kinds, all=frozenset(Kind("int64", True) if k == Kind("bool", True) else k for k in kinds.all), code=None)


def divided(kind: bool | Kinds) -> bool | Kinds:
    """The kind of the quotient of two operands of such a kind: a float. True for a number."""
    if not isinstance(kind, Kinds):
        return kind
    floats = frozenset(
        Kind("float64" if k.weak else k.dtype if _dtype.is_float(k.dtype) else get_default_dtype(), k.weak)
        for k in kind.all
    )
    return replace(kind, all=floats) if len(floats) > 1 else next(iter(floats)).weak


def as_number(t: Tensor) -> Tensor:
    """A new tensor with one element, made what stands for a Python number: weak, and without a gradient."""
    t.set_stop(True)
    t._weak = True
    return t


def require_exact(t: Tensor, dtype: str) -> None:
    """DTypeError if a number of t may have been rounded on its way to a wider dtype: t holds it beside a narrower tensor."""
    if t._kinds is None or not _dtype.is_float(dtype) or t.dtype in (dtype, "float64", "bool"):
        return
    if _dtype.is_float(t.dtype) and any(k.weak and k.dtype != "bool" for k in t._kinds.all):
        raise t._kinds.fail(f"as {dtype} the number would have lost digits")


def python_dtype(dtype: str) -> str:
    """The dtype that holds what `.item()` of a tensor of this dtype is."""
    return "bool" if dtype == "bool" else "float64" if _dtype.is_float(dtype) else "int64"


def class_of_numbers(dtype: str) -> str:
    """The class of the Python numbers that a tensor of this dtype stands for."""
    return {"bool": "bool", "int32": "int", "int64": "int"}.get(dtype, "float")


def is_number(t: Tensor) -> Tensor | bool | None:
    """Whether a tensor stands for a Python number; None if only the run would know, and that was not kept."""
    if t._kinds is None or not t._kinds.mixed:
        return t._weak
    return t._kinds.number


def with_number(t: Tensor, told: Tensor | None) -> Tensor:
    """The same value, of which a bool tensor says whether it is a number, or a code what it is."""
    assert t._kinds is not None
    new = t.alike(t._value)
    number, code = told, None
    if told is not None and told.dtype != "bool":
        from .dispatch import ops

        number, code = ops.op("cast", X=told, in_dtype=told.dtype, out_dtype="bool"), told
    new._kinds = replace(t._kinds, number=number, code=code)
    return new


def number_or(t: Tensor, class_name: str, number: Tensor) -> Tensor:
    """A tensor that is a Python number of this class where the bool tensor `number` says so."""
    new = t.alike(t._value)
    weak = {"bool": "bool", "int": "int64"}.get(class_name, "float64")
    new._kinds = Kinds(frozenset((Kind(t.dtype, False), Kind(weak, True))), f"a value is a Python {class_name} or a tensor", number)
    new._weak = True
    return new


def resolved(t: Tensor) -> Tensor:
    """The same value as one of a single kind: for uses that do not ask for it."""
    if t._kinds is None:
        return t
    plain = t.alike(t._value)
    plain._kinds, plain._weak = None, all(k.weak for k in t._kinds.all)
    return plain


def require_whole(t: Tensor) -> None:
    """DTypeError if a tensor, which is to be an index or a size, may be a float in some runs only."""
    if t._kinds is not None and _dtype.is_float(t.dtype):
        raise t._kinds.fail("an index is an integer")


def require_one_kind(t: Tensor, use: str) -> None:
    """DTypeError if a tensor may be of several kinds."""
    if t._kinds is not None:
        raise t._kinds.fail(use)
