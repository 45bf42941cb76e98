"""Arguments that are ints or lists of ints to the user, and may be tensors: shapes, axes, bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import AttributeValueError, DTypeError, Dy2stError, ShapeError, StagedValueError
from . import dispatch
from .failures import raise_if
from .kinds import as_number, python_dtype, resolved
from .location import user_location
from .promotion import as_tensor, cast
from .tensor import Tensor


class Entries:
    """A list of tensors of which only the run knows how many there are: it joins them itself."""

    __slots__ = ()

    def stack(self, axis: int = 0) -> Tensor:
        raise NotImplementedError

    def concat(self, axis: int = 0) -> Tensor:
        raise NotImplementedError


def staged(x: Any) -> bool:
    """Whether x is a tensor whose value belongs to the program being built."""
    return isinstance(x, Tensor) and (x.is_symbolic or not dispatch.in_dynamic_mode())


def known(value: Any, what: str) -> Any:
    """A number that decides what is traced, as it is.

    Raises:
        StagedValueError: only the run knows it.
    """
    if staged(value):
        raise StagedValueError(
            f"{what} is a number that is only known when the program runs; it must be known while it is traced",
            location=user_location(), hint="give a number, or fix the sizes that it is computed from in the InputSpec",
        )  # fmt: skip
    return value


def ints(values: Any, slot: str, what: str = "shape") -> tuple[Sequence[int], dict[str, Any]]:
    """A list of sizes as attribute, and as input slots where tensors give some of them.

    Args:
        values: an int, a list of ints and one-element tensors, or one 1-d tensor.
        slot: the slot of the list of tensors.
        what: names the argument in errors.

    Returns:
        the attribute (-1 where only a tensor knows; it may be what was given), and {slot: tensors} or {}.

    Raises:
        DTypeError: an entry is no integer.
    """
    if type(values) is list or type(values) is tuple:
        for v in values:
            if type(v) is not int:
                break
        else:
            return values, {}
    if isinstance(values, Tensor):
        if not staged(values):
            require_integers(values, what)
            return [int(v) for v in values.numpy().reshape(-1)], {}
        if values.ndim == 0:
            return [-1], {slot: [_index(values, what)]}
        count = values.shape[0]
        if not isinstance(count, int) or count == -1:
            raise AttributeValueError(
                f"{what}: a tensor of sizes must have a known number of them", location=user_location(3)
            )
        return [-1] * count, {slot: [_index(values[i], what) for i in range(count)]}
    entries = list(values) if isinstance(values, (list, tuple, np.ndarray)) else [values]
    if not any(staged(v) for v in entries):
        return [integer(v, what) for v in entries], {}
    attr = [-1 if staged(v) else integer(v, what) for v in entries]
    tensors = [_index(v, what) if staged(v) else dispatch.constant(integer(v, what), "int64") for v in entries]
    return attr, {slot: tensors}


def numbers(values: Any, what: str, count: int, kind: type = int) -> list[Any]:
    """One number for each of some axes.

    Args:
        values: a number for all of them, a list of numbers and one-element tensors, or a tensor.
        kind: int or float, of which the numbers are made.

    Returns:
        numbers, and tensors without dims for those that only the run knows.

    Raises:
        AttributeValueError: there are not `count` of them.
    """
    if isinstance(values, Tensor):
        several = values.ndim > 0
        entries = list(values.numpy().reshape(-1)) if not staged(values) else _entries(values, what) if several else [values]
    else:
        several = isinstance(values, (list, tuple, np.ndarray))
        entries = list(values) if several else [values]
    entries = entries if several else entries * count
    if len(entries) != count:
        raise AttributeValueError(f"{what}: expected {count} numbers, got {values!r}")
    return [(truncated(v) if kind is int else scalar(v)) if staged(v) else kind(v.item() if isinstance(v, Tensor) else v) for v in entries]


def _entries(t: Tensor, what: str) -> list[Tensor]:
    count = t._form.shape[0]
    if t.ndim != 1 or count == -1:
        raise AttributeValueError(f"{what}: a tensor of sizes must have one dim, and a known number of elements")
    return [t[i] for i in range(count)]


def scalar(v: Any) -> Any:
    """A number as it is; one that only the run knows as a tensor without dims. The run fails if it has several elements."""
    if not staged(v):
        return v
    v = resolved(v)  # as an int and as a tensor it says the same
    return v if v.ndim == 0 else dispatch.ops.op("reshape2", X=v, shape=[])


def as_python(v: Any) -> Any:
    """A number as it is; of a tensor whose value only the run knows what `v.item()` would be: no gradient goes to it."""
    if not staged(v) or v._weak:
        return scalar(v)
    return as_number(dispatch.ops.op("cast", X=scalar(v), in_dtype=v.dtype, out_dtype=python_dtype(v.dtype)))


def truncated(v: Any) -> Any:
    """`int(v)` of a number; one that only the run knows becomes a tensor without dims."""
    v = scalar(v)
    if not isinstance(v, Tensor):
        return int(v)
    return cast(v, "int64") if v.dtype == "bool" else dispatch.ops.op("python_int", X=v) if v.dtype.startswith("float") else v


def whole(v: Any, what: str, exception: type[Dy2stError] = DTypeError) -> Any:
    """A number, as an int if it is a float that only the run knows; a tensor of integers as it is.

    Args:
        what: begins the message: "{what} must be integers, got 0.5", or is all of it but the number.
        exception: what is raised for a tensor of another dtype, and by the run if the number is not whole.
    """
    text = what if what.endswith(" ") else f"{what} must be integers, got "
    if staged(v) and not v._weak and not v.dtype.startswith(("int", "uint")):
        raise exception(f"{text}a {v.dtype} tensor", location=user_location(3))
    if not staged(v) or not _is_float(v):
        return v
    number, op = scalar(v), dispatch.ops.op
    if exception is DTypeError:
        op("python_int", X=number)  # which says so of NaN and infinity
    fits = op("equal", X=op("trunc", X=number), Y=number)
    raise_if(op("logical_not", X=fits), exception, text, "", data=(number,))
    return as_number(op("python_int", X=number))


def _is_float(v: Tensor) -> bool:
    """Whether v is a float of Python, or on some paths an int."""
    return v._weak and v.dtype.startswith("float") and (v._kinds is None or not v._kinds.mixed)


def integer(v: Any, what: str) -> int:
    """An int given as an int, a NumPy integer or an eager one-element integer tensor."""
    if type(v) is int:
        return v
    if isinstance(v, Tensor):
        require_integers(v, what)
    if isinstance(v, (bool, float)) and v != int(v):
        raise DTypeError(f"{what} must be integers, got {v!r}", location=user_location(3))
    try:
        return int(v) if isinstance(v, float) else v.__index__()
    except StagedValueError:
        raise  # it is one, but not yet
    except (AttributeError, TypeError):
        raise DTypeError(f"{what} must be integers, got {v!r}", location=user_location(3)) from None


def require_integers(t: Tensor, what: str) -> None:
    """DTypeError for a tensor of floats or bools; a number of Python, which only the run knows, may be whole."""
    if not t._weak and not t.dtype.startswith(("int", "uint")):
        raise DTypeError(f"{what} must be integers, got a {t.dtype} tensor", location=user_location(4))


def index(v: Any) -> Any:
    """The index of an element as an int; one that only the run knows as a tensor without dims."""
    return _index(v, "indices") if staged(v) else integer(v, "indices")


def _index(t: Tensor, what: str) -> Tensor:
    t = as_number(cast(t, "int64")) if t._weak and t.dtype == "bool" else whole(t, what)
    if not t.dtype.startswith(("int", "uint")):
        raise DTypeError(f"{what} must be integers, got a {t.dtype} tensor", location=user_location(3))
    # of a tensor with several elements nobody would take but the first
    return cast(t if all(d == 1 for d in t._form.shape) else dispatch.ops.op("reshape2", X=t, shape=[]), "int64")


def axes(axis: Any) -> Sequence[int]:
    """One axis or several as a sequence, which may be what was given; None is the empty one."""
    if axis is None:
        return ()
    if type(axis) is int:
        return (axis,)
    if type(axis) is list or type(axis) is tuple:
        for a in axis:
            if type(a) is not int:
                break
        else:
            return axis
    if isinstance(axis, Tensor):
        require_integers(axis, "axis")
        return [int(a) for a in dispatch.read(axis, "an axis").reshape(-1)]
    return [integer(a, "axis") for a in (axis if isinstance(axis, (list, tuple)) else [axis])]


def number(x: Any, what: str) -> float:
    """A float given as a Python or NumPy number or an eager one-element tensor."""
    if isinstance(x, (str, bytes)):
        raise DTypeError(f"{what} must be a number, got {x!r}", location=user_location(3))
    try:
        return float(x)
    except (StagedValueError, ShapeError):
        raise  # it says itself why it is none, or none yet
    except (TypeError, ValueError):
        raise DTypeError(f"{what} must be a number, got {x!r}", location=user_location(3)) from None


def axis_number(axis: Any) -> int:
    """One axis as an int."""
    return axis if type(axis) is int else integer(axis, "axis")


def tensors(xs: Sequence[Any], what: str) -> list[Tensor]:
    """A list of tensors; AttributeValueError if it is empty."""
    found = [x if isinstance(x, Tensor) else as_tensor(x) for x in xs]
    if not found:
        raise AttributeValueError(f"{what} needs at least one tensor", location=user_location(3))
    return found
