"""Products of matrices and vectors."""

from __future__ import annotations

import re
from typing import Any

from dy2st_runtime import dims
from dy2st_runtime import dtype as _dtype

from ..errors import AttributeValueError, ShapeError
from . import dispatch, math, reduction, scaling
from .attribute import dynamic_size
from .creation import tensor_of
from .dispatch import ops, plain
from .failures import raise_if
from .manipulation import transpose, unsqueeze
from .promotion import as_tensor, cast
from .tensor import Tensor


def matmul(x: Any, y: Any, transpose_x: bool = False, transpose_y: bool = False, name: str | None = None) -> Tensor:
    """The matrix product, batched over leading axes, which broadcast; vectors as in NumPy.

    Args:
        x: Tensor [..., m, k] or [k]; y: Tensor [..., k, n] or [k].
        transpose_x, transpose_y: whether the last two axes of an operand are exchanged first.

    Returns:
        Tensor [..., m, n], without the axis of an operand that is a vector.

    Raises:
        ShapeError: the inner sizes differ.

    >>> matmul(Tensor([[1.0, 2.0]]), Tensor([3.0, 4.0])).numpy()
    array([11.], dtype=float32)
    """
    if not (isinstance(x, Tensor) and isinstance(y, Tensor)):
        x, y = as_tensor(x), as_tensor(y)
    if x._form.dtype != y._form.dtype:  # a name, or a dtype of NumPy, which is equal to its name
        common = _dtype.promote(x.dtype, y.dtype)
        x, y = cast(x, common), cast(y, common)
    if transpose_x or transpose_y:
        return ops.of("matmul_v2", x, y, trans_x=transpose_x, trans_y=transpose_y)
    op, attrs = plain("matmul_v2")
    return ops.apply(op, (x, y), attrs)[0]


def mm(input: Any, mat2: Any, name: str | None = None) -> Tensor:
    """The matrix product of two matrices."""
    return matmul(input, mat2)


def bmm(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The matrix product of two batches: [b, m, k] and [b, k, n].

    Raises:
        ShapeError: not 3 dims.
    """
    x, y = as_tensor(x), as_tensor(y)
    if x.ndim != 3 or y.ndim != 3:
        raise ShapeError(f"bmm takes tensors of 3 dims, got shapes {dims.show(x._form.shape)} and {dims.show(y._form.shape)}",
                         hint="use matmul")  # fmt: skip
    return matmul(x, y)


def mv(x: Any, vec: Any, name: str | None = None) -> Tensor:
    """A matrix times a vector."""
    return matmul(x, vec)


def dot(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The inner product of two vectors, or of the rows of two matrices.

    >>> dot(Tensor([1.0, 2.0]), Tensor([3.0, 4.0])).numpy()
    array(11., dtype=float32)
    """
    return reduction.sum(math.multiply(x, y), axis=-1)


def inner(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The inner product over the last axes."""
    x, y = as_tensor(x), as_tensor(y)
    if x.ndim == 0 or y.ndim == 0:
        return tensor_of(math.multiply(x, y))
    if y.ndim <= 1:
        return matmul(x, y)
    flat = matmul(x.reshape([-1, x.shape[-1]]), y.reshape([-1, y.shape[-1]]), transpose_y=True)
    return flat.reshape([*x.shape[:-1], *y.shape[:-1]])


def outer(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The products of all elements of x with all of y.

    >>> outer(Tensor([1, 2]), Tensor([3, 4])).numpy()
    array([[3, 4],
           [6, 8]])
    """
    x, y = as_tensor(x), as_tensor(y)
    return math.multiply(x.reshape([-1, 1]), y.reshape([1, -1]))


def addmm(input: Any, x: Any, y: Any, beta: float = 1.0, alpha: float = 1.0, name: str | None = None) -> Tensor:
    """beta * input + alpha * (x @ y)."""
    product = matmul(x, y)
    product = scaling.scale(product, alpha) if isinstance(alpha, Tensor) or alpha != 1.0 else product
    return math.add(scaling.scale(input, beta) if isinstance(beta, Tensor) or beta != 1.0 else input, product)


def cross(x: Any, y: Any, axis: int | None = None, name: str | None = None) -> Tensor:
    """The cross product along an axis of size 3 (default: the first such axis)."""
    x, y = as_tensor(x), as_tensor(y)
    if axis is None:
        sizes = x._form.shape
        axis = next((a for a, d in enumerate(sizes) if d == 3), None)
        if axis is None:
            raise ShapeError(f"cross needs an axis of size 3, got shape {list(sizes)}", hint="give the axis")
        for earlier in range(axis):
            if sizes[earlier] == -1:  # the first axis of size 3 would be this one then
                is_3 = ops.op("equal", X=dynamic_size(x, earlier), Y=dispatch.constant(3, "int64"))
                text = f"cross: axis {earlier}, whose size is open, has size 3 as axis {axis} has; give the axis"
                raise_if(is_3, ValueError, text)
    a, b = math.multiply(x.roll(-1, axis), y.roll(-2, axis)), math.multiply(x.roll(-2, axis), y.roll(-1, axis))
    return math.subtract(a, b)


def einsum(equation: str, *operands: Any) -> Tensor:
    """A sum of products, in Einstein's notation: `einsum("bij,bjk->bik", x, y)`.

    Args:
        equation: a letter for each axis of each operand, and for each of the result (without `->`: those that occur
            once, in alphabetical order); `...` stands for leading axes that all share. No letter twice in one operand.
        operands: Tensors.

    Raises:
        AttributeValueError: the equation is malformed, or does not fit the operands.

    >>> einsum("ij,j->i", Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([1.0, 1.0])).numpy()
    array([3., 7.], dtype=float32)
    """
    xs = [
        as_tensor(x)
        for x in (operands[0] if len(operands) == 1 and isinstance(operands[0], (list, tuple)) else operands)
    ]
    terms, result = _equation(equation, xs)
    letters = [*result, *dict.fromkeys(c for term in terms for c in term if c not in result)]
    total: Tensor | None = None
    held: list[str] = []
    for i, (x, term) in enumerate(zip(xs, terms, strict=True)):
        if total is None:
            total, held = x, list(term)
        else:
            total, held = _product(total, held, x, list(term), result, [c for t in terms[i + 1 :] for c in t])
    assert total is not None
    gone = [a for a, c in enumerate(held) if c not in result]
    if gone:
        total = reduction.sum(total, gone)
        held = [c for c in held if c in result]
    order = [held.index(c) for c in letters if c in result]
    return transpose(total, order) if order != sorted(order) else total


def _equation(equation: str, xs: list[Tensor]) -> tuple[list[str], str]:
    """The letters of each operand and of the result, with `...` replaced by letters of its own."""
    text = equation.replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if not re.fullmatch(r"[A-Za-z.,]*(->[A-Za-z.]*)?", text) or len(terms) != len(xs):
        raise AttributeValueError(f"einsum: {equation!r} does not fit {len(xs)} operands")
    spare = iter("".join(c for c in map(chr, range(0x3B1, 0x3C9))))
    ranks = [x.ndim - len(term.replace("...", "")) for x, term in zip(xs, terms, strict=True) if "..." in term]
    dots = "".join(next(spare) for _ in range(max(ranks, default=0)))
    full = []
    for x, term in zip(xs, terms, strict=True):
        rank = x.ndim - len(term.replace("...", ""))
        expanded = term.replace("...", dots[len(dots) - rank :] if rank > 0 else "")
        if len(expanded) != x.ndim or len(set(expanded)) != len(expanded) or "." in expanded:
            raise AttributeValueError(
                f"einsum: {term!r} does not fit an operand with {x.ndim} dims, or repeats a letter"
            )
        full.append(expanded)
    everything = "".join(full)
    if arrow:
        result = right.replace("...", dots)
    else:
        result = dots + "".join(sorted(c for c in set(everything) - set(dots) if everything.count(c) == 1))
    if set(result) - set(everything) or len(set(result)) != len(result):
        raise AttributeValueError(f"einsum: the result {right!r} has letters that no operand has, or one twice")
    return full, result


def _product(
    x: Tensor, xs: list[str], y: Tensor, ys: list[str], result: str, later: list[str]
) -> tuple[Tensor, list[str]]:
    """The product of two operands, summed over the letters that nothing needs any more: one batched matrix product."""
    keep = set(result) | set(later)
    for letters, other in ((xs, ys), (ys, xs)):
        gone = [a for a, c in enumerate(letters) if c not in keep and c not in other]
        if gone and letters is xs:
            x, xs = reduction.sum(x, gone), [c for a, c in enumerate(xs) if a not in gone]
        elif gone:
            y, ys = reduction.sum(y, gone), [c for a, c in enumerate(ys) if a not in gone]
    batch = [c for c in xs if c in ys and c in keep]
    inner_ = [c for c in xs if c in ys and c not in keep]
    only_x, only_y = [c for c in xs if c not in ys], [c for c in ys if c not in xs]
    if not inner_:
        # no sum: an elementwise product of broadcast operands
        order = batch + only_x + only_y
        return math.multiply(_aligned(x, xs, order), _aligned(y, ys, order)), order
    x = transpose(x, [xs.index(c) for c in batch + only_x + inner_])
    y = transpose(y, [ys.index(c) for c in batch + inner_ + only_y])
    sizes_x, sizes_y = x.shape, y.shape
    b, m = len(batch), len(only_x)
    left = x.reshape([*sizes_x[:b], _joined(sizes_x[b : b + m]), _joined(sizes_x[b + m :])])
    right = y.reshape([*sizes_y[:b], _joined(sizes_y[b : b + len(inner_)]), _joined(sizes_y[b + len(inner_) :])])
    out = matmul(left, right).reshape([*sizes_x[: b + m], *sizes_y[b + len(inner_) :]])
    return out, batch + only_x + only_y


def _joined(sizes: list[Any]) -> Any:
    total: Any = 1
    for s in sizes:
        total = s * total
    return total


def _aligned(x: Tensor, letters: list[str], order: list[str]) -> Tensor:
    x = transpose(x, [letters.index(c) for c in order if c in letters])
    missing = [a for a, c in enumerate(order) if c not in letters]
    return unsqueeze(x, missing) if missing else x
