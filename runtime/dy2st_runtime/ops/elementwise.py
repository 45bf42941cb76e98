"""The bases of elementwise ops.

An elementwise op states `array`, its NumPy formula, and `scalar`, its result for one element as a loop IR expression.
Both get their operands cast to the dtype of the computation. Lowering and fusion are built on `scalar`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from .. import dims, dtype
from ..dtype import widened
from ..errors import AttributeValueError, DTypeError
from ..loopir import nodes as n
from .calling import written_out
from .checked import remembered
from .registry import Int, OpDef, TensorType

Plan = Callable[[tuple[np.ndarray, ...], dict[str, Any]], np.ndarray]
ndarray = np.ndarray
PLANS = 256
"""So many plans of an op are remembered."""


class Elementwise(OpDef):
    """Output element i depends on element i of the (broadcast) inputs only.

    Subclasses give `array(*arrays, **attrs)` and `scalar(k, *elements, **attrs) -> Expr`, the operands already cast to the
    dtype that `compute_dtype` names (arrays of float16: to float32, in which float16 is computed). `array` gets the attributes that its
    parameters name. `k.attr(value, dtype)` makes an attribute a run-time argument.
    """

    accepts: ClassVar[tuple[str, ...]] = dtype.ALL
    """The dtypes of the inputs (after promotion)."""
    dtype_attr: ClassVar[str | None] = None
    """The attribute that `compute_dtype` and `result_dtype` look at."""
    as_they_are: ClassVar[int] = 0
    """So many of the first operands `array` gets without a cast: those that are no numbers of the computation."""
    _plans: ClassVar[dict[tuple[Any, ...], Plan]]
    """By the dtypes of the inputs, followed by that attribute."""

    array: ClassVar[Callable[..., np.ndarray]]
    scalar: ClassVar[Callable[..., n.Expr]]

    def __init_subclass__(cls) -> None:
        cls._plans = {}

    @classmethod
    def compute_dtype(cls, in_dtypes: tuple[str, ...], attrs: dict[str, Any]) -> str:
        """The dtype that the inputs are cast to before `scalar`."""
        result = in_dtypes[0]
        for d in in_dtypes[1:]:
            result = dtype.promote(result, d)
        if result not in cls.accepts:
            raise DTypeError(f"{cls.title} does not take {' and '.join(in_dtypes)}", hint=f"cast to one of {', '.join(cls.accepts)}")
        return result

    @classmethod
    def result_dtype(cls, compute: str, attrs: dict[str, Any]) -> str:
        """The dtype of the output, given the dtype of the computation."""
        return compute

    @classmethod
    def infer(cls, *ins: TensorType, **attrs: Any) -> TensorType:
        compute = cls.compute_dtype(tuple(t.dtype for t in ins), attrs)
        shape = ins[0].shape
        for t in ins[1:]:
            shape = dims.broadcast(shape, t.shape, cls.title)
        return TensorType(cls.result_dtype(compute, attrs), shape)

    @classmethod
    def reference(cls, *ins: np.ndarray, **attrs: Any) -> np.ndarray:
        return cls.evaluate(ins, attrs)

    @classmethod
    def evaluate(cls, ins: tuple[np.ndarray, ...], attrs: dict[str, Any]) -> np.ndarray:
        plan = cls.plan(tuple([a.dtype for a in ins]), attrs)
        check_broadcast(cls.title, *[a.shape for a in ins])
        return plan(ins, attrs)

    @classmethod
    def plan(cls, dtypes: tuple[np.dtype, ...], attrs: dict[str, Any]) -> Plan:
        """The reference for operands of these dtypes, which broadcast; it is made once."""
        name = cls.dtype_attr
        key = dtypes if name is None else (*dtypes, attrs[name])
        try:
            return cls._plans[key]
        except KeyError:
            if len(cls._plans) >= PLANS:
                cls._plans.clear()  # an attribute that changes from call to call is in the key
            found = cls._plans[key] = _planned(cls, dtypes, {} if name is None else {name: attrs[name]})
            return found

    @classmethod
    def settled(cls, ins: tuple[np.ndarray, ...], attrs: dict[str, Any]) -> Plan:
        return cls.plan(tuple([a.dtype for a in ins]), attrs)

    @classmethod
    def lower(cls, cx: Any, *values: Any, **attrs: Any) -> None:
        cx.elementwise(cls, values[:-1], values[-1], attrs)


def _planned(op: type[Elementwise], dtypes: Sequence[np.dtype], attrs: dict[str, Any]) -> Plan:
    """The reference of an op for operands of these dtypes, which broadcast: all that depends on the dtypes only is decided here.

    Args:
        attrs: the one that decides dtypes too.
    """
    names = tuple([d.name for d in dtypes])
    compute = op.compute_dtype(names, attrs)
    wide, kept, array = widened(compute), op.as_they_are, op.array
    result = dtype.to_numpy(op.result_dtype(compute, attrs))
    parameters = {} if isinstance(array, np.ufunc) else inspect.signature(array).parameters
    named = [p.name for p in parameters.values() if p.kind is p.KEYWORD_ONLY]

    def settle(out: Any) -> np.ndarray:
        """What `array` gave as an array of the dtype of the result: NumPy makes scalars of 0-d operands."""
        return np.asarray(out).astype(result, copy=False)

    call = written_out(array, len(dtypes), tuple(named), op.type) if named else None

    def plain(ins: tuple[np.ndarray, ...], attrs: dict[str, Any]) -> np.ndarray:
        out = array(*ins) if call is None else call(ins, attrs)
        return out if type(out) is ndarray and out.dtype is result else settle(out)

    def widening(ins: tuple[np.ndarray, ...], attrs: dict[str, Any]) -> np.ndarray:
        return plain((*ins[:kept], *[dtype.as_dtype(a, wide) for a in ins[kept:]]), attrs)

    return widening if any(name != wide for name in names[kept:]) else plain


class Unary(Elementwise):
    """One input; Out has its shape. The gradient is `dout * derivative(b, x, out, **attrs)`."""

    inputs = ("X",)
    derivative: ClassVar[Callable[..., Any]]

    @classmethod
    def evaluate(cls, ins: tuple[np.ndarray, ...], attrs: dict[str, Any]) -> np.ndarray:
        dtypes = (ins[0].dtype,)
        plan = (cls._plans.get(dtypes) if cls.dtype_attr is None else None) or cls.plan(dtypes, attrs)
        return plan(ins, attrs)

    @classmethod
    def grad(cls, b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        x, out, dout = ins[0], outs[0], douts[0]
        return (lambda: b.cast_to(b.mul(dout, cls.derivative(b, x, out, **attrs)), x.dtype),)


class FloatUnary(Unary):
    """A function of real numbers: integers are computed in float32."""

    accepts = (*dtype.FLOATS, *dtype.INTS)

    @classmethod
    def compute_dtype(cls, in_dtypes: tuple[str, ...], attrs: dict[str, Any]) -> str:
        result = super().compute_dtype(in_dtypes, attrs)
        return result if dtype.is_float(result) else "float32"


class Binary(Elementwise):
    """X and Y, broadcast. `axis` is Paddle's 1.x alignment: Y's first axis is X's axis `axis` (-1: NumPy's rule).

    `grad_x` and `grad_y` give the gradients of the broadcast operands; `grad` sums them to the operands' own shapes. An op with the
    attribute `checked` says in `check_numbers` what it does not do with Python's numbers.
    """

    inputs = ("X", "Y")
    attrs = {"axis": Int(-1)}
    grad_x: ClassVar[Callable[..., Any]]
    grad_y: ClassVar[Callable[..., Any]]
    check_numbers: ClassVar[Callable[[Any, Any], None]]

    @classmethod
    def infer(cls, x: TensorType, y: TensorType, *, axis: int) -> TensorType:  # type: ignore[override]
        return super().infer(x, align(x, y, axis), axis=axis)

    @classmethod
    def evaluate(cls, ins: tuple[np.ndarray, ...], attrs: dict[str, Any]) -> np.ndarray:
        x, y = ins
        if attrs.get("checked"):
            cls.check_numbers(x.item(), y.item())
        if attrs["axis"] != -1:
            ins = x, y = x, align_array(x, y, attrs["axis"])
        dtypes = x.dtype, y.dtype
        plan = cls._plans.get(dtypes) or cls.plan(dtypes, attrs)
        try:
            return plan(ins, attrs)
        except Exception:
            check_broadcast(cls.title, x.shape, y.shape)  # if that is what NumPy raises for, there is a better message
            raise

    @classmethod
    def settled(cls, ins: tuple[np.ndarray, ...], attrs: dict[str, Any]) -> Plan:
        return cls.evaluate if attrs.get("checked") or attrs["axis"] != -1 else super().settled(ins, attrs)

    @classmethod
    def grad(cls, b: Any, ins: tuple, outs: tuple, douts: tuple, *, axis: int, **_: Any) -> tuple:
        x, y = ins
        out, dout = outs[0], douts[0]

        def of_x() -> Any:
            return b.cast_to(b.sum_to(cls.grad_x(b, x, aligned(b, x, y, axis), out, dout), x), x.dtype)

        def of_y() -> Any:
            full = aligned(b, x, y, axis)
            dy = b.cast_to(b.sum_to(cls.grad_y(b, x, full, out, dout), full), y.dtype)
            return dy if axis == -1 else unalign(b, dy, y)

        return of_x, of_y


def widened_array(x: np.ndarray) -> np.ndarray:
    """An array in the dtype in which it is computed."""
    return x.astype(np.float32) if x.dtype.char == "e" else x


def stretched(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """A copy of an array broadcast to a shape."""
    out = np.empty(shape, x.dtype)
    out[...] = x
    return out


@remembered
def check_broadcast(op_type: str, *shapes: tuple[int, ...]) -> None:
    """ShapeError if arrays of these shapes do not broadcast: the message that tracing gives."""
    shape: dims.Shape = shapes[0]
    for other in shapes[1:]:
        shape = dims.broadcast(shape, other, op_type)


def _trailing(x: int, y: int, axis: int) -> int:
    """How many axes of size 1 the second of two ranks gets at its end so that its first axis meets the other's axis `axis`."""
    if axis == -1 or y >= x:
        return 0
    if not 0 <= axis <= x - y:
        raise AttributeValueError(f"axis must be -1 or from 0 to {x - y} where tensors of {x} and {y} dims meet, got {axis}")
    return x - axis - y


def trailing(ranks: Sequence[int], attrs: dict[str, Any]) -> list[int]:
    """How many axes of size 1 each operand of an elementwise op gets at its end, by the attribute `axis` if it has one."""
    return [0] + [_trailing(ranks[0], rank, attrs.get("axis", -1)) for rank in ranks[1:]]


def full_rank(shape: Sequence[int], offset: int, rank: int) -> list[int]:
    """The sizes of an operand for so many axes, of which it gets `offset` of size 1 at its end and the others at its front."""
    return [1] * (rank - len(shape) - offset) + [*shape] + [1] * offset


def align(x: TensorType, y: TensorType, axis: int) -> TensorType:
    """Y's type with trailing axes of size 1 so that its first axis meets X's axis `axis`."""
    return y.with_shape(y.shape + (1,) * _trailing(x.rank, y.rank, axis))


def align_array(x: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
    """The same for arrays."""
    missing = _trailing(x.ndim, y.ndim, axis)
    return y.reshape(y.shape + (1,) * missing) if missing else y


def aligned(b: Any, x: Any, y: Any, axis: int) -> Any:
    """Y reshaped as `align` says, as an op."""
    if axis == -1:
        return y
    missing = _trailing(len(x.shape), len(y.shape), axis)
    if missing == 0:
        return y
    return b.op("unsqueeze2", X=y, axes=list(range(len(y.shape), len(y.shape) + missing)))


def unalign(b: Any, dy: Any, y: Any) -> Any:
    """The gradient of an aligned Y back in Y's own shape."""
    if len(dy.shape) == len(y.shape):
        return dy
    return b.op("squeeze2", X=dy, axes=list(range(len(y.shape), len(dy.shape))))
