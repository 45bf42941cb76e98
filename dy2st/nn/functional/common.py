"""Linear maps, dropout, embedding, padding, similarities."""

from __future__ import annotations

from typing import Any

import numpy as np
from dy2st_runtime import dims
from dy2st_runtime.dtype import is_int

from ...errors import AttributeValueError, DTypeError, ShapeError, StagedValueError
from ...tensor import Tensor, creation, dispatch, linalg, logic, manipulation, math, random, reduction, scaling, search
from ...tensor.arguments import as_python, known, numbers, staged, whole
from ...tensor.attribute import size_of
from ...tensor.dispatch import ops
from ...tensor.failures import raise_if
from ...tensor.kinds import as_number
from ...tensor.location import user_location
from ...tensor.promotion import NUMBERS, as_tensor, cast, require_in_range


def linear(x: Any, weight: Tensor, bias: Tensor | None = None, name: str | None = None) -> Tensor:
    """x @ weight + bias.

    Args:
        x: Tensor [..., in].
        weight: Tensor [in, out].
        bias: Tensor [out], or None.

    Returns:
        Tensor [..., out].

    Raises:
        ShapeError: the last size of x is not `in`.

    >>> linear(Tensor([[1.0, 2.0]]), Tensor([[1.0], [1.0]]), Tensor([0.5])).numpy()
    array([[3.5]], dtype=float32)
    """
    out = linalg.matmul(x, weight)
    return out if bias is None else math.add(out, bias)


def dropout(x: Any, p: float = 0.5, axis: Any = None, training: bool = True, mode: str = "upscale_in_train",
            name: str | None = None) -> Tensor:  # fmt: skip
    """Sets elements to zero at random.

    Args:
        x: Tensor of a floating-point dtype.
        p: the probability of zero. With 0 the result is x itself, and no random numbers are drawn.
        axis: whole slices become zero: the choice is made once for each position on these axes.
        training: without it nothing is dropped.
        mode: "upscale_in_train" divides what is kept by 1 - p in training; "downscale_in_infer" multiplies by 1 - p
            otherwise.

    Raises:
        AttributeValueError: p is not in 0 ... 1, the mode is unknown, or an axis is out of range.
    """
    if not 0 <= known(p, "dropout: the probability") <= 1:
        raise AttributeValueError(f"dropout: the probability must be in 0 ... 1, got {p}")
    modes = {"upscale_in_train": "upscale_in_train", "downscale_in_infer": "downgrade_in_infer"}
    if mode not in modes:
        raise AttributeValueError(f"dropout: the mode {mode!r} is unknown", hint=f"use one of {', '.join(modes)}")
    x = as_tensor(x)
    if p == 0:
        return x
    if axis is None:
        return ops.op("dropout", X=x, State=random.state if training else None, dropout_prob=float(p), is_test=not training,
                      dropout_implementation=modes[mode])[0]  # fmt: skip
    if not training:
        return x if mode == "upscale_in_train" else scaling.scale(x, 1 - p)
    kept = [dims.normalize_axis(a, x.ndim) for a in (axis if isinstance(axis, (list, tuple)) else [axis])]
    shape = [d if a in kept else 1 for a, d in enumerate(x.shape)]
    mask = cast(random.uniform(shape, x.dtype, 0.0, 1.0) >= p, x.dtype)
    if mode == "upscale_in_train" and p < 1:
        mask = scaling.scale(mask, 1 / (1 - p))
    return math.multiply(x, mask)


def dropout2d(
    x: Any, p: float = 0.5, training: bool = True, data_format: str = "NCHW", name: str | None = None
) -> Tensor:
    """Sets whole channels of images to zero at random."""
    return dropout(x, p, [0, 1] if data_format == "NCHW" else [0, 3], training)


def dropout3d(x: Any, p: float = 0.5, training: bool = True, data_format: str = "NCDHW",
              name: str | None = None) -> Tensor:  # fmt: skip
    """Sets whole channels of volumes to zero at random."""
    return dropout(x, p, [0, 1] if data_format == "NCDHW" else [0, 4], training)


def alpha_dropout(x: Any, p: float = 0.5, training: bool = True, name: str | None = None) -> Tensor:
    """Dropout for `selu`: what is dropped gets its smallest value, and the whole is scaled so that mean and variance stay.

    Raises:
        AttributeValueError: p is not in 0 ... 1.
    """
    if not 0 <= known(p, "alpha_dropout: the probability") <= 1:
        raise AttributeValueError(f"alpha_dropout: the probability must be in 0 ... 1, got {p}")
    x = as_tensor(x)
    if not training or p == 0:
        return x
    if p == 1:
        return scaling.scale(x, 0.0)
    smallest = -1.0507009873554804934193349852946 * 1.6732632423543772848170429916717
    a = ((1 - p) * (1 + p * smallest**2)) ** -0.5
    kept = random.uniform(x.shape, x.dtype, 0.0, 1.0) >= p
    return scaling.scale(logic.where(kept, x, smallest), a, -a * smallest * p)


def embedding(
    x: Any, weight: Tensor, padding_idx: int | None = None, sparse: bool = False, name: str | None = None
) -> Tensor:
    """The rows of `weight` that x names.

    Args:
        x: Tensor of integers, of any shape.
        weight: Tensor [count, size].
        padding_idx: this row gives zeros and gets no gradient; negative: from the end.
        sparse: without effect: gradients are dense.

    Returns:
        Tensor `[*x.shape, size]`.

    Raises:
        OutOfRangeError: an index is out of range.
    """
    weight, row = as_tensor(weight), -1
    if padding_idx is not None:
        count = weight.shape[0]
        if staged(count) or staged(padding_idx):
            return _embedding_with_padding(as_tensor(x), weight, padding_idx, count)
        if not -count <= padding_idx < count:
            raise AttributeValueError(f"embedding: padding_idx {padding_idx} is out of range for {count} rows")
        row = padding_idx + count if padding_idx < 0 else padding_idx
    return ops.op("lookup_table_v2", W=weight, Ids=as_tensor(x), padding_idx=row)


def _embedding_with_padding(ids: Tensor, weight: Tensor, padding_idx: Any, count: Any) -> Tensor:
    """The rows of `weight`, zeros for a row of which only the run knows which one it is, or whether there is one."""
    row = whole(padding_idx, "lookup_table_v2: attribute 'padding_idx' must be INT, got ", AttributeValueError)
    row, count = as_tensor(row, "int64"), as_tensor(count, "int64")
    inside = logic.logical_and(row >= -count, row < count)
    raise_if(logic.logical_not(inside), AttributeValueError, "embedding: padding_idx ", " is out of range for ", " rows",
             data=(as_number(row.clone()), as_number(count.clone())))  # fmt: skip
    rows = ops.op("lookup_table_v2", W=weight, Ids=ids)
    padded = ids == logic.where(row < 0, row + count, row)
    return logic.where(manipulation.unsqueeze(padded, -1), 0.0, rows)


def one_hot(x: Any, num_classes: int, name: str | None = None) -> Tensor:
    """1 at the place that x names on a new last axis, else 0; see `dy2st.tensor.search.one_hot`."""
    return search.one_hot(x, num_classes)


def label_smooth(label: Any, prior_dist: Tensor | None = None, epsilon: float = 0.1, name: str | None = None) -> Tensor:
    """(1 - epsilon) * label + epsilon * prior, the prior by default uniform.

    >>> label_smooth(Tensor([[0.0, 1.0]])).numpy()
    array([[0.05, 0.95]], dtype=float32)
    """
    label = as_tensor(label)
    if prior_dist is None:
        share = epsilon / label.shape[-1]
        return scaling.scale(label, 1 - epsilon, share)
    return math.add(scaling.scale(label, 1 - epsilon), scaling.scale(prior_dist, epsilon))


def normalize(x: Any, p: float = 2, axis: int = 1, epsilon: float = 1e-12, name: str | None = None) -> Tensor:
    """x / max(norm(x, p), epsilon) along an axis.

    >>> normalize(Tensor([[3.0, 4.0]])).numpy()
    array([[0.6, 0.8]], dtype=float32)
    """
    x = as_tensor(x)
    length = reduction.norm(x, float(p), 0 if x.ndim == 1 else axis, keepdim=True)
    return math.divide(x, math.maximum(length, epsilon))


def cosine_similarity(x1: Any, x2: Any, axis: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along an axis."""
    product = reduction.sum(math.multiply(x1, x2), axis)
    lengths = math.multiply(reduction.norm(x1, 2.0, axis), reduction.norm(x2, 2.0, axis))
    return math.divide(product, math.maximum(lengths, eps))


def pairwise_distance(x: Any, y: Any, p: float = 2.0, epsilon: float = 1e-6, keepdim: bool = False,
                      name: str | None = None) -> Tensor:  # fmt: skip
    """The p-norm of x - y + epsilon over the last axis."""
    return reduction.norm(math.add(math.subtract(x, y), epsilon), float(p), -1, keepdim)


def bilinear(x1: Any, x2: Any, weight: Tensor, bias: Tensor | None = None, name: str | None = None) -> Tensor:
    """x1 @ weight[k] @ x2 for each output k: [n, in1], [n, in2], [out, in1, in2] → [n, out]."""
    out = linalg.einsum("ni,oij,nj->no", x1, weight, x2)
    return out if bias is None else math.add(out, bias)


def pad(x: Any, pad: Any, mode: str = "constant", value: float = 0.0, data_format: str | None = None,
        name: str | None = None) -> Tensor:  # fmt: skip
    """Adds elements around a tensor.

    Args:
        x: Tensor.
        pad: two ints for each axis, first axis first; or, fewer, for the spatial axes, last axis first: [left, right,
            top, bottom]; a list of ints and one-element tensors, or a tensor. One number is for all sides of the spatial axes.
        mode: "constant", "reflect", "replicate" or "circular".
        value: for "constant".
        data_format: which axes are spatial: "NCL", "NCHW", "NCDHW" (default), "NLC", "NHWC", "NDHWC".

    Raises:
        AttributeValueError: the mode is unknown, or `pad` does not fit.

    >>> pad(Tensor([[1.0, 2.0]]), [0, 0, 1, 0]).numpy()
    array([[0., 1., 2.]], dtype=float32)
    """
    x = as_tensor(x)
    if pad is None or isinstance(pad, str):
        raise DTypeError(f"pad must be numbers, got {pad!r}")
    is_one = isinstance(pad, NUMBERS) or (isinstance(pad, Tensor) and pad.ndim == 0)
    if is_one and x.ndim < 3:
        raise AttributeValueError(f"pad: one number is for the spatial axes, of which a tensor with {x.ndim} dims has none",
                                  hint="give two numbers for each axis")  # fmt: skip
    amounts, value = numbers(pad, "pad", 2 * (x.ndim - 2) if is_one else len(pad)), as_python(value)
    per_axis = _per_axis(amounts, x.ndim, data_format)
    if any(map(staged, amounts)):
        if mode != "constant":
            raise StagedValueError(f"pad: only the run knows how much; with mode {mode!r} it must be known while it is traced",
                                   location=user_location(), hint="give numbers, or pad with mode='constant'")  # fmt: skip
        return _padded_in_the_run(x, per_axis, value)
    if mode == "constant":
        flat = [n for pair in per_axis for n in pair]
        if staged(value):
            inside = ops.op("pad", X=creation.ones_like(x, "bool"), paddings=flat)
            return logic.where(inside, ops.op("pad", X=x, paddings=flat), as_tensor(value, x.dtype))
        if is_int(x.dtype):
            require_in_range(value, x.dtype)
        return ops.op("pad", X=x, paddings=flat, pad_value=float(value))
    if mode not in ("reflect", "replicate", "circular"):
        raise AttributeValueError(
            f"pad: the mode {mode!r} is unknown", hint="use constant, reflect, replicate or circular"
        )
    numpy_mode = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}[mode]
    for axis, pair in enumerate(per_axis):
        if pair != (0, 0):
            size = known_size(x, axis, f"pad with mode {mode!r}")
            if mode == "reflect" and max(pair) >= size:
                raise AttributeValueError(f"pad: {max(pair)} is too much to reflect an axis of size {size}")
            places = np.pad(np.arange(size), pair, mode=numpy_mode)  # type: ignore[call-overload]
            x = ops.op("gather", X=x, Index=dispatch.constant(places), axis=axis)
    return x


def _padded_in_the_run(x: Tensor, per_axis: list[tuple[Any, Any]], value: float) -> Tensor:
    for axis, amounts in enumerate(per_axis):
        sides = []
        for n in amounts:
            shape = [n if a == axis else size_of(x, a) for a in range(x.ndim)]
            sides.append(None if type(n) is int and n == 0 else creation.full(shape, value, x.dtype))
        parts = [part for part in (sides[0], x, sides[1]) if part is not None]
        x = manipulation.concat(parts, axis) if len(parts) > 1 else x
    return x


def _per_axis(amounts: list[Any], rank: int, data_format: str | None) -> list[tuple[Any, Any]]:
    pairs = list(zip(amounts[::2], amounts[1::2], strict=False))
    if len(amounts) == 2 * rank:
        return pairs
    if len(amounts) % 2 or len(pairs) != rank - 2:
        raise AttributeValueError(f"pad: {amounts} does not fit a tensor with {rank} dims",
                             hint="give two numbers for each axis: all axes from the first, or some from the last")  # fmt: skip
    channels_last = data_format is not None and data_format.endswith("C")
    return [(0, 0), *pairs[::-1], (0, 0)] if channels_last else [(0, 0), (0, 0), *pairs[::-1]]


def zeropad2d(x: Any, padding: Any, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """Zeros around images: [left, right, top, bottom], or a number for all sides."""
    return pad(x, padding, data_format=data_format)


def known_size(x: Tensor, axis: int, what: str) -> int:
    """The size of an axis.

    Raises:
        ShapeError: only the run knows it.
    """
    size = x.shape[axis]
    if not isinstance(size, int) or size == -1:
        raise ShapeError(f"{what} needs a size of axis {axis} that is known when the program is built",
                         hint="give the size in the InputSpec, or reshape to it")  # fmt: skip
    return size


def sequence_mask(x: Any, maxlen: int | None = None, dtype: Any = "int64", name: str | None = None) -> Tensor:
    """1 where a position is less than the length that x gives, else 0: [...] → [..., maxlen]."""
    x = as_tensor(x)
    limit = reduction.max(x) if maxlen is None else maxlen
    positions = creation.arange(0, limit, 1, x.dtype)
    return manipulation.cast(logic.less_than(positions, manipulation.unsqueeze(x, -1)), dtype)


def pixel_shuffle(x: Any, upscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """[N, C * r * r, H, W] → [N, C, H * r, W * r]."""
    if data_format != "NCHW":
        raise AttributeValueError("pixel_shuffle: only NCHW is supported")
    x, r = as_tensor(x), upscale_factor
    n, c, h, w = x.shape
    if isinstance(c, int) and c % (r * r):
        raise ShapeError(f"pixel_shuffle: {c} channels are not a multiple of {r * r}")
    x = manipulation.reshape(x, [n, c // (r * r), r, r, h, w])
    return manipulation.reshape(manipulation.transpose(x, [0, 1, 4, 2, 5, 3]), [n, c // (r * r), h * r, w * r])


def square_error_cost(input: Any, label: Any) -> Tensor:
    """(input - label) ** 2, element by element."""
    return creation.tensor_of(math.square(math.subtract(input, label)))


def diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Vectors (the last axis) as the diagonals of matrices, for offset 0."""
    x = as_tensor(input)
    if offset != 0 or (dims.normalize_axis(dim1, x.ndim + 1), dims.normalize_axis(dim2, x.ndim + 1)) != (
        x.ndim - 1,
        x.ndim,
    ):
        raise AttributeValueError("diag_embed: only the main diagonal of the last two axes is supported")
    return math.multiply(manipulation.unsqueeze(x, -1), creation.eye(x.shape[-1], dtype=x.dtype))
