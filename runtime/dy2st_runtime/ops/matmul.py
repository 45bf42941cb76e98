"""Matrix products.

The native code calls the target's product for each matrix of a batch. Integers, and float16, which that does not know, go through a plain
loop nest with an accumulator.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .. import dims, dtype
from ..dtype import widened
from ..errors import AttributeValueError, DTypeError, ShapeError
from ..loopir import nodes as n
from . import folding
from .arithmetic import NUMBERS
from .checked import remembered
from .registry import Bool, Int, OpDef, TensorType, register
from .scan import reshape_like


def check_dtypes(op: str, x: str, y: str) -> None:
    if x != y or x not in NUMBERS:
        raise DTypeError(f"{op} takes two tensors of one numeric dtype, got {x} and {y}", hint="cast one side")


@remembered
def _computed_in(x: np.dtype, y: np.dtype) -> np.dtype | None:
    """The dtype in which a product is computed, if it is not that of the operands."""
    check_dtypes("matmul", x.name, y.name)
    return None if widened(x.name) == x.name else dtype.to_numpy(widened(x.name))


def _require_rank(op: str, what: str, rank: int, wanted: int) -> None:
    if rank != wanted:
        raise ShapeError(f"{op}: {what} must have {wanted} dims, got {rank}")


def swapped(shape: Sequence[Any]) -> tuple[Any, ...]:
    """The shape of the transposed matrices."""
    return (*shape[:-2], shape[-1], shape[-2])


@register
class Matmul(OpDef):
    """X @ Y by NumPy's rules: leading axes broadcast, a vector is a row on the left and a column on the right.

    `trans_x` and `trans_y` transpose the matrices; a vector stays as it is.

    >>> Matmul.infer(TensorType("float32", (5, 2, 3)), TensorType("float32", (3, 4)), trans_x=False, trans_y=False).shape
    (5, 2, 4)
    """

    type = "matmul_v2"
    inputs = ("X", "Y")
    attrs = {"trans_x": Bool(False), "trans_y": Bool(False)}
    kernel_from = 1 << 18  # from here on NumPy's library takes threads, for which it waits where the machine is busy
    kernel_alone = False

    @classmethod
    def elements(cls, ins: tuple, attrs: dict[str, Any]) -> int:
        """Multiplications. Of what has no products of its own in registers, none count."""
        x, y = ins
        if x.dtype != y.dtype or x.dtype.char not in "fd" or not x.ndim or not y.ndim:
            return 0
        columns = 1 if y.ndim == 1 else y.shape[-2] if attrs["trans_y"] else y.shape[-1]
        rows = 1 if x.ndim == 1 else x.shape[-1] if attrs["trans_x"] else x.shape[-2]
        return max(x.size * columns, y.size * rows)

    @staticmethod
    def infer(x: TensorType, y: TensorType, *, trans_x: bool, trans_y: bool) -> TensorType:
        check_dtypes("matmul", x.dtype, y.dtype)
        return TensorType(x.dtype, Matmul.shapes(x.shape, y.shape, trans_x, trans_y))

    @staticmethod
    def shapes(x: Sequence[dims.Dim], y: Sequence[dims.Dim], trans_x: bool, trans_y: bool) -> dims.Shape:
        """The shape of the product; ShapeError if the operands do not fit."""
        if not x or not y:
            raise ShapeError(f"matmul takes no 0-d tensors, got shapes {dims.show(x)} and {dims.show(y)}", hint="use *")
        a = (1, x[0]) if len(x) == 1 else swapped(x) if trans_x else tuple(x)
        c = (y[0], 1) if len(y) == 1 else swapped(y) if trans_y else tuple(y)
        what = f"matmul of shapes {dims.show(x)} and {dims.show(y)}{_flags(trans_x, trans_y)}: the inner sizes differ"
        dims.require_equal(a[-1], c[-2], what, "the last size of the left and the first of the right matrix must be equal")
        batch = dims.broadcast(a[:-2], c[:-2], "matmul batches")
        return (*batch, *(() if len(x) == 1 else (a[-2],)), *(() if len(y) == 1 else (c[-1],)))

    @staticmethod
    def reference(x: np.ndarray, y: np.ndarray, *, trans_x: bool, trans_y: bool) -> np.ndarray:
        wide = _computed_in(x.dtype, y.dtype)
        a = x.swapaxes(-1, -2) if trans_x and x.ndim > 1 else x
        c = y.swapaxes(-1, -2) if trans_y and y.ndim > 1 else y
        if wide is not None:
            a, c = a.astype(wide), c.astype(wide)
        try:
            out = np.matmul(a, c)
        except ValueError:
            Matmul.shapes(x.shape, y.shape, trans_x, trans_y)  # says what does not fit
            raise
        return out if wide is None and type(out) is np.ndarray else np.asarray(out, x.dtype)

    @staticmethod
    def lower(cx: Any, x: Any, y: Any, out: Any, **attrs: Any) -> None:
        forward(cx, x, y, out, attrs)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, trans_x: bool, trans_y: bool) -> tuple:
        x, y = ins
        (dout,) = douts

        def operands() -> tuple[Any, Any, Any, bool, bool]:
            """All three as matrices."""
            a = b.op("unsqueeze2", X=x, axes=[0]) if len(x.shape) == 1 else x
            c = b.op("unsqueeze2", X=y, axes=[1]) if len(y.shape) == 1 else y
            d = b.op("unsqueeze2", X=dout, axes=[-1]) if len(y.shape) == 1 else dout
            d = b.op("unsqueeze2", X=d, axes=[-2]) if len(x.shape) == 1 else d
            return a, c, d, trans_x and len(x.shape) > 1, trans_y and len(y.shape) > 1

        def of_x() -> Any:
            a, c, d, tx, ty = operands()
            da = (b.matmul_v2(c, d, trans_x=ty, trans_y=True) if tx else b.matmul_v2(d, c, trans_y=not ty))
            da = b.sum_to(da, a)
            return b.op("squeeze2", X=da, axes=[0]) if len(x.shape) == 1 else da

        def of_y() -> Any:
            a, c, d, tx, ty = operands()
            if ty:
                dc = b.matmul_v2(d, a, trans_x=True, trans_y=tx)
            elif not tx and len(c.shape) == 2 and len(a.shape) > 2:
                # the batch is more rows: one product instead of one for each matrix and a sum
                dc = b.matmul_v2(_flat(b, a, len(a.shape) - 1), _flat(b, d, len(d.shape) - 1), trans_x=True)
            else:
                dc = b.matmul_v2(a, d, trans_x=not tx)
            dc = b.sum_to(dc, c)
            return b.op("squeeze2", X=dc, axes=[1]) if len(y.shape) == 1 else dc

        return of_x, of_y


def forward(cx: Any, x: Any, y: Any, out: Any, attrs: dict[str, Any], finish: Any = None) -> None:
    """The product of `matmul_v2`. `finish` (see `lowering.finish`) is done to each part of it as soon as it is there."""
    with _producing(cx, x, y, out, finish) as (k, x_ref, y_ref, o, done):
        a, c = list(x_ref.shape), list(y_ref.shape)
        trans_x, trans_y = attrs["trans_x"] and len(a) > 1, attrs["trans_y"] and len(c) > 1
        a, c = [1, *a] if len(a) == 1 else a, [*c, 1] if len(c) == 1 else c
        rows, inner = (a[-1], a[-2]) if trans_x else (a[-2], a[-1])
        columns = c[-2] if trans_y else c[-1]
        rows, inner, columns = (k.let(n.as_expr(d, n.INDEX), "n") for d in (rows, inner, columns))
        if not trans_x and len(c) == 2 and len(a) > 2:
            # one matrix on the right: the batch is just more rows
            rows, a = k.let(folding.product(a[:-1])), [1, inner]
        product(k, x_ref, y_ref, o, a[:-2], c[:-2], rows, columns, inner, trans_x, trans_y, done)


def flat_forward(cx: Any, x: Any, y: Any, out: Any, attrs: dict[str, Any], finish: Any = None) -> None:
    """The product of `mul`, likewise."""
    of_x, of_y = attrs["x_num_col_dims"], attrs["y_num_col_dims"]
    with _producing(cx, x, y, out, finish) as (k, x_ref, y_ref, o, done):
        rows, columns, inner = (k.let(n.as_expr(folding.product(s), n.INDEX), "n")
                                for s in (x_ref.shape[:of_x], y_ref.shape[of_y:], x_ref.shape[of_x:]))  # fmt: skip
        product(k, x_ref, y_ref, o, [], [], rows, columns, inner, False, False, done)


@contextlib.contextmanager
def _producing(cx: Any, x: Any, y: Any, out: Any, finish: Any) -> Iterator[tuple]:
    """The kernel of a product, its operands and output, and what finishes an element."""
    more, others = (finish.reads, finish.writes) if finish else ([], [])
    with cx.kernel([x, y, *more], [out, *others]) as (k, (x_ref, y_ref, *operands), (o, *outs)):
        if finish is None:
            yield k, x_ref, y_ref, o, None
            return
        finish.shapes(k, o, outs)
        once = finish.once(k, operands)
        yield k, x_ref, y_ref, o, lambda at, column: finish.element(k, o, operands, once, outs, at, column)


FORWARD = {"matmul_v2": forward, "mul": flat_forward}
"""The products that can be finished."""


def _flags(trans_x: bool, trans_y: bool) -> str:
    flags = [name for name, on in (("X transposed", trans_x), ("Y transposed", trans_y)) if on]
    return f" ({', '.join(flags)})" if flags else ""


def product(k: Any, x: Any, y: Any, out: Any, x_batch: Sequence[Any], y_batch: Sequence[Any], rows: Any, columns: Any, inner: Any,
            trans_x: bool, trans_y: bool, finish: Callable[[n.Expr, n.Expr], None] | None = None) -> None:  # fmt: skip
    """Emits the products of all matrices of a batch; the batches broadcast. `finish`: see `KernelBuilder.gemm`; of floats only."""
    batch = dims_of_batch(x_batch, y_batch)
    count = folding.product(batch)
    x_step, y_step, out_step = k.let(rows * inner), k.let(inner * columns), k.let(rows * columns)
    if x.dtype in ("float32", "float64"):
        if folding.is_one(count):
            k.gemm(x, y, out, rows, columns, inner, trans_a=trans_x, trans_b=trans_y, finish=finish)
            return
        with k.loop(count) as i:
            at_x, at_y = (k.let(matrix_of(i, batch, own) * step) for own, step in ((x_batch, x_step), (y_batch, y_step)))
            k.gemm(x, y, out, rows, columns, inner, trans_a=trans_x, trans_b=trans_y, a_offset=at_x, b_offset=at_y,
                   c_offset=i * out_step, finish=finish)  # fmt: skip
        return
    wide = widened(x.dtype)
    with k.parallel(count * rows * columns) as o:
        i = k.let(o // n.maximum(out_step, 1), "i")
        row, column = k.let(o // columns % rows, "row"), k.let(o % columns, "column")
        at_x, at_y = k.let(matrix_of(i, batch, x_batch) * x_step), k.let(matrix_of(i, batch, y_batch) * y_step)
        acc = k.var(n.cast(0, wide), wide)
        with k.loop(inner) as j:
            left = x[at_x + (j * rows + row if trans_x else row * inner + j)]
            right = y[at_y + (column * inner + j if trans_y else j * columns + column)]
            acc.add(n.cast(left, wide) * n.cast(right, wide))
        out[o] = n.cast(acc.get(), out.dtype)


def dims_of_batch(x: Sequence[Any], y: Sequence[Any]) -> list[Any]:
    """The broadcast sizes of two batches; that they fit is checked where the shapes are inferred."""
    rank = max(len(x), len(y))
    pairs = zip([1] * (rank - len(x)) + list(x), [1] * (rank - len(y)) + list(y), strict=True)
    return [q if folding.is_one(p) else p if folding.is_one(q) else n.select(n.as_expr(p) == 1, q, p) for p, q in pairs]


def matrix_of(i: n.Expr, batch: Sequence[Any], own: Sequence[Any]) -> Any:
    """Which of an operand's matrices belongs to matrix i of the batch."""
    if not own:
        return n.as_expr(0, n.INDEX)
    if len(own) == len(batch) and not any(folding.is_one(d) for d in own) and len(batch) == 1:
        return n.select(n.as_expr(own[0]) == 1, 0, i)
    total: Any = n.as_expr(0, n.INDEX)
    step: Any = 1
    rest: Any = i
    for axis in range(1, len(batch) + 1):
        index = rest % batch[-axis] if axis < len(batch) else rest
        rest = rest // batch[-axis]
        if axis > len(own):
            break
        d = own[-axis]
        if not folding.is_one(d):
            total = total + n.select(n.as_expr(d) == 1, 0, index) * step
            step = step * d
    return total


def _flat(b: Any, v: Any, columns_from: int) -> Any:
    """v as a matrix: the axes before `columns_from` are its rows."""
    rank = len(v.shape)
    if columns_from > 1:
        v = b.op("flatten_contiguous_range", X=v, start_axis=0, stop_axis=columns_from - 1)
    if rank - columns_from > 1:
        v = b.op("flatten_contiguous_range", X=v, start_axis=1, stop_axis=len(v.shape) - 1)
    return v


@register
class Mul(OpDef):
    """The matrix product of Paddle 1.x: X with its first `x_num_col_dims` axes as rows, Y with its first `y_num_col_dims`."""

    type = "mul"
    inputs = ("X", "Y")
    attrs = {"x_num_col_dims": Int(1), "y_num_col_dims": Int(1)}

    @staticmethod
    def infer(x: TensorType, y: TensorType, *, x_num_col_dims: int, y_num_col_dims: int) -> TensorType:
        check_dtypes("mul", x.dtype, y.dtype)
        for what, t, at in (("x", x, x_num_col_dims), ("y", y, y_num_col_dims)):
            if not 0 < at < t.rank:
                raise AttributeValueError(f"mul: {what}_num_col_dims {at} must lie between 0 and the rank {t.rank}")
        inner = (dims.product(x.shape[x_num_col_dims:]), dims.product(y.shape[:y_num_col_dims]))
        dims.require_equal(*inner, f"mul of shapes {dims.show(x.shape)} and {dims.show(y.shape)}: the inner sizes differ")
        return TensorType(x.dtype, (*x.shape[:x_num_col_dims], *y.shape[y_num_col_dims:]))

    @staticmethod
    def reference(x: np.ndarray, y: np.ndarray, *, x_num_col_dims: int, y_num_col_dims: int) -> np.ndarray:
        t = Mul.infer(TensorType.of(x), TensorType.of(y), x_num_col_dims=x_num_col_dims,
                      y_num_col_dims=y_num_col_dims)  # fmt: skip
        rows, inner = int(np.prod(x.shape[:x_num_col_dims])), int(np.prod(x.shape[x_num_col_dims:]))
        columns = int(np.prod(y.shape[y_num_col_dims:]))
        out = Matmul.reference(x.reshape(rows, inner), y.reshape(inner, columns), trans_x=False, trans_y=False)
        return out.reshape(t.shape)

    @staticmethod
    def lower(cx: Any, x: Any, y: Any, out: Any, **attrs: Any) -> None:
        flat_forward(cx, x, y, out, attrs)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, x_num_col_dims: int, y_num_col_dims: int) -> tuple:
        x, y = ins

        def flat_dout() -> Any:
            return _flat(b, douts[0], x_num_col_dims)

        def of_x() -> Any:
            return reshape_like(b, b.matmul_v2(flat_dout(), _flat(b, y, y_num_col_dims), trans_y=True), x)

        def of_y() -> Any:
            return reshape_like(b, b.matmul_v2(_flat(b, x, x_num_col_dims), flat_dout(), trans_x=True), y)

        return of_x, of_y


@register
class Bmm(OpDef):
    """The products of two batches of matrices, [B, M, K] and [B, K, N]."""

    type = "bmm"
    inputs = ("X", "Y")

    @staticmethod
    def infer(x: TensorType, y: TensorType) -> TensorType:
        _require_rank("bmm", "X", x.rank, 3)
        _require_rank("bmm", "Y", y.rank, 3)
        batch = dims.require_equal(x.shape[0], y.shape[0], "bmm: the batch sizes differ")
        t = Matmul.infer(x, y, trans_x=False, trans_y=False)
        return t.with_shape((batch, *t.shape[1:]))

    @staticmethod
    def reference(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        Bmm.infer(TensorType.of(x), TensorType.of(y))
        return Matmul.reference(x, y, trans_x=False, trans_y=False)

    @staticmethod
    def lower(cx: Any, x: Any, y: Any, out: Any) -> None:
        Matmul.lower(cx, x, y, out, trans_x=False, trans_y=False)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:
        return Matmul.grad(b, ins, outs, douts, trans_x=False, trans_y=False)


@register
class Dot(OpDef):
    """The inner product of vectors: the last axis is summed."""

    type = "dot"
    inputs = ("X", "Y")

    @staticmethod
    def infer(x: TensorType, y: TensorType) -> TensorType:
        check_dtypes("dot", x.dtype, y.dtype)
        if x.rank not in (1, 2):
            raise ShapeError(f"dot takes tensors of 1 or 2 dims, got {x.rank}")
        _require_rank("dot", "Y", y.rank, x.rank)
        message = f"dot of shapes {dims.show(x.shape)} and {dims.show(y.shape)}: the sizes differ"
        shape = [dims.require_equal(p, q, message) for p, q in zip(x.shape, y.shape, strict=True)]
        return TensorType(x.dtype, tuple(shape[:-1]))

    @staticmethod
    def reference(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        Dot.infer(TensorType.of(x), TensorType.of(y))
        wide = widened(x.dtype.name)
        total = (x.astype(wide, copy=False) * y.astype(wide, copy=False)).sum(-1)
        return np.asarray(total).astype(x.dtype)

    @staticmethod
    def lower(cx: Any, x: Any, y: Any, out: Any) -> None:
        with cx.kernel([x, y], [out]) as (k, (x_ref, y_ref), (o,)):
            wide = widened(x.dtype)
            length = k.let(n.as_expr(x_ref.shape[-1], n.INDEX), "n")
            with k.parallel(folding.product(x_ref.shape[:-1])) as i:
                acc = k.var(n.cast(0, wide), wide)
                with k.loop(length) as j:
                    at = i * length + j
                    acc.add(n.cast(x_ref[at], wide) * n.cast(y_ref[at], wide))
                o[i] = n.cast(acc.get(), o.dtype)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:
        x, y = ins

        def dout() -> Any:
            return douts[0] if len(x.shape) == 1 else b.op("unsqueeze2", X=douts[0], axes=[-1])

        return lambda: b.mul(dout(), y), lambda: b.mul(dout(), x)
