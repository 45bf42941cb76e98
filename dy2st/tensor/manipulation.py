"""Shape, order and parts of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dy2st_runtime import dims
from dy2st_runtime.ops import registry

from ..errors import AttributeValueError, ShapeError
from ..framework.dtype import convert_dtype
from . import dispatch
from .arguments import Entries, axes, axis_number, ints, tensors
from .creation import tensor_of
from .dispatch import ops
from .indexing import slice_axes
from .inplace import rebind
from .promotion import as_tensor, converted
from .promotion import cast as _cast
from .tensor import Tensor

_CONCAT = registry.get("concat")


def cast(x: Any, dtype: Any) -> Tensor:
    """x in another dtype.

    >>> cast(Tensor([1.7, -1.7]), "int64").numpy()
    array([ 1, -1])
    """
    return converted(as_tensor(x), convert_dtype(dtype))


def reshape(x: Any, shape: Any, name: str | None = None) -> Tensor:
    """The elements of x in another shape.

    Args:
        x: Tensor.
        shape: list of ints and 0-d integer tensors, or a 1-d integer tensor; one -1 takes what is left, 0 keeps the
            size that x has at this place.

    Raises:
        ShapeError: the numbers of elements differ.

    >>> reshape(Tensor([1, 2, 3, 4]), [2, -1]).numpy()
    array([[1, 2],
           [3, 4]])
    """
    attr, slots = ints(shape, "ShapeTensor")
    if not isinstance(x, Tensor):
        x = as_tensor(x)
    return ops.of("reshape2", x, shape=attr, **slots) if slots else ops.of("reshape2", x, shape=attr)


view = reshape


def reshape_(x: Tensor, shape: Any, name: str | None = None) -> Tensor:
    """`reshape` in place."""
    return rebind(x, reshape(x, shape), differentiable=True)


def flatten(x: Any, start_axis: int = 0, stop_axis: int = -1, name: str | None = None) -> Tensor:
    """Joins the axes from `start_axis` to `stop_axis` into one.

    >>> flatten(Tensor([[1, 2], [3, 4]])).numpy()
    array([1, 2, 3, 4])
    """
    x = as_tensor(x)
    if x.ndim == 0:
        return reshape(x, [1])
    return ops.op("flatten_contiguous_range", X=x, start_axis=start_axis, stop_axis=stop_axis)


def unflatten(x: Any, axis: int, shape: Any, name: str | None = None) -> Tensor:
    """Splits an axis into several of the sizes `shape`, of which one may be -1.

    >>> unflatten(Tensor([1, 2, 3, 4]), 0, [2, -1]).shape
    [2, 2]
    """
    x = as_tensor(x)
    axis = dims.normalize_axis(axis, x.ndim)
    sizes = x.shape
    split = shape.tolist() if isinstance(shape, Tensor) and not shape.is_symbolic else list(shape)
    if -1 in [d for d in split if isinstance(d, int)]:
        rest = sizes[axis]
        for d in split:
            rest = rest // d if not isinstance(d, int) or d != -1 else rest
        split = [rest if isinstance(d, int) and d == -1 else d for d in split]
    return reshape(x, [*sizes[:axis], *split, *sizes[axis + 1 :]])


def squeeze(x: Any, axis: Any = None, name: str | None = None) -> Tensor:
    """Drops axes of size 1: those given that have size 1, or without `axis` all of them.

    >>> squeeze(Tensor([[[1], [2]]])).shape
    [2]
    """
    x, wanted = as_tensor(x), axes(axis)
    recorder, dropped = dispatch.current_recorder(), []
    for a in wanted:
        size = x._form.shape[dims.normalize_axis(a, x.ndim)]
        if size != 1 and recorder is not None:
            recorder.on_squeeze(x, a)
        if size in (1, -1):  # the op wants axes of size 1; whether an open dim has it is checked at run time
            dropped.append(a)
    return ops.op("squeeze2", X=x, axes=dropped) if dropped or not wanted else ops.op("assign", X=x)


def unsqueeze(x: Any, axis: Any, name: str | None = None) -> Tensor:
    """Inserts axes of size 1, so that they stand at the places `axis` (an int or a list).

    >>> unsqueeze(Tensor([1, 2]), 0).shape
    [1, 2]
    """
    return ops.op("unsqueeze2", X=as_tensor(x), axes=axes(axis))


def squeeze_(x: Tensor, axis: Any = None, name: str | None = None) -> Tensor:
    """`squeeze` in place."""
    return rebind(x, squeeze(x, axis), differentiable=True)


def unsqueeze_(x: Tensor, axis: Any, name: str | None = None) -> Tensor:
    """`unsqueeze` in place."""
    return rebind(x, unsqueeze(x, axis), differentiable=True)


def transpose(x: Any, perm: Sequence[int], name: str | None = None) -> Tensor:
    """Axis i of the result is axis `perm[i]` of x.

    >>> transpose(Tensor([[1, 2], [3, 4]]), [1, 0]).numpy()
    array([[1, 3],
           [2, 4]])
    """
    return ops.of("transpose2", as_tensor(x), axis=axes(perm))


def t(input: Any, name: str | None = None) -> Tensor:
    """The transpose of a matrix; a vector or scalar stays as it is.

    Raises:
        ShapeError: more than 2 dims.
    """
    x = as_tensor(input)
    if x.ndim > 2:
        raise ShapeError(f"t() takes a tensor of at most 2 dims, got {x.ndim}", hint="use transpose(x, perm)")
    return tensor_of(x) if x.ndim < 2 else transpose(x, [1, 0])


def reverse_axes(x: Tensor) -> Tensor:
    """`x.T`: all axes in reverse order."""
    return transpose(x, list(range(x.ndim))[::-1])


def moveaxis(x: Any, source: Any, destination: Any, name: str | None = None) -> Tensor:
    """Moves axes to other places; the rest keeps its order.

    >>> moveaxis(Tensor([[[1, 2, 3]]]), 0, -1).shape
    [1, 3, 1]
    """
    x = as_tensor(x)
    src = [dims.normalize_axis(a, x.ndim) for a in axes(source)]
    dst = [dims.normalize_axis(a, x.ndim) for a in axes(destination)]
    if len(src) != len(dst) or len(set(src)) != len(src) or len(set(dst)) != len(dst):
        raise AttributeValueError(f"moveaxis: {source!r} and {destination!r} must be as many, different axes")
    order = [a for a in range(x.ndim) if a not in src]
    for d, s in sorted(zip(dst, src, strict=True)):
        order.insert(d, s)
    return transpose(x, order)


def swapaxes(x: Any, axis0: int, axis1: int, name: str | None = None) -> Tensor:
    """Exchanges two axes."""
    x = as_tensor(x)
    a, b = dims.normalize_axis(axis0, x.ndim), dims.normalize_axis(axis1, x.ndim)
    order = list(range(x.ndim))
    order[a], order[b] = b, a
    return transpose(x, order)


def concat(x: Sequence[Any], axis: Any = 0, name: str | None = None) -> Tensor:
    """Joins tensors along an axis that they have.

    Args:
        x: list of tensors of one rank; all sizes but that of `axis` are equal.
        axis: int.

    Raises:
        ShapeError: ranks or sizes differ.

    >>> concat([Tensor([1, 2]), Tensor([3])]).numpy()
    array([1, 2, 3])
    """
    if isinstance(x, Entries):
        return x.concat(axis_number(axis))
    return ops.apply(_CONCAT, (_one_dtype(tensors(x, "concat")),), {"axis": axis_number(axis)})[0]


def stack(x: Sequence[Any], axis: int = 0, name: str | None = None) -> Tensor:
    """Joins tensors of one shape along a new axis.

    >>> stack([Tensor([1, 2]), Tensor([3, 4])]).numpy()
    array([[1, 2],
           [3, 4]])
    """
    if isinstance(x, Entries):
        return x.stack(axis_number(axis))
    return ops.op("stack", X=_one_dtype(tensors(x, "stack")), axis=axis_number(axis))


def _one_dtype(xs: list[Tensor]) -> list[Tensor]:
    """Weak tensors in a list take the dtype of the others."""
    for x in xs:
        if x._weak:
            break
    else:
        return xs
    strong = [x.dtype for x in xs if not x._weak]
    return [_cast(x, strong[0]) if x._weak and strong else x for x in xs]


def split(x: Any, num_or_sections: Any, axis: Any = 0, name: str | None = None) -> list[Tensor]:
    """Cuts a tensor along an axis into equal parts, or into parts of given sizes (one may be -1: what is left).

    Args:
        x: Tensor.
        num_or_sections: the number of parts, or a list of their sizes.
        axis: int.

    Raises:
        ShapeError: the size cannot be cut like this.

    >>> [p.numpy().tolist() for p in split(Tensor([1, 2, 3]), [1, -1])]
    [[1], [2, 3]]
    """
    x = as_tensor(x)
    if isinstance(num_or_sections, Tensor) and num_or_sections._weak:  # a number of parts, not a list of one size
        dispatch.read(num_or_sections, "the number of parts of split()")
    if isinstance(num_or_sections, int):
        return list(ops.op("split", X=x, num=num_or_sections, axis=axis_number(axis)))
    attr, slots = ints(num_or_sections, "SectionsTensorList")
    return list(ops.op("split", X=x, sections=attr, axis=axis_number(axis), **slots))


def chunk(x: Any, chunks: int, axis: Any = 0, name: str | None = None) -> list[Tensor]:
    """Cuts a tensor along an axis into equal parts."""
    return split(x, chunks, axis)


def unbind(input: Any, axis: int = 0) -> list[Tensor]:
    """The slices along an axis of known size, without it.

    >>> [r.numpy().tolist() for r in unbind(Tensor([[1, 2], [3, 4]]))]
    [[1, 2], [3, 4]]
    """
    return list(ops.op("unbind", X=as_tensor(input), axis=axis))


def unstack(x: Any, axis: int = 0, num: int | None = None) -> list[Tensor]:
    """As `unbind`; `num` must be the size of the axis, and is needed where that is only known at run time."""
    return list(ops.op("unstack", X=as_tensor(x), axis=axis_number(axis), num=num or 0))


def expand(x: Any, shape: Any, name: str | None = None) -> Tensor:
    """x broadcast to a shape; -1 keeps a size.

    >>> expand(Tensor([[1], [2]]), [2, 3]).numpy()
    array([[1, 1, 1],
           [2, 2, 2]])
    """
    attr, slots = ints(shape, "expand_shapes_tensor")
    return ops.op("expand_v2", X=as_tensor(x), shape=attr, **slots)


broadcast_to = expand


def expand_as(x: Any, y: Tensor, name: str | None = None) -> Tensor:
    """x broadcast to the shape of y."""
    return ops.op("expand_as_v2", X=as_tensor(x), Y=as_tensor(y))


def broadcast_tensors(input: Sequence[Tensor], name: str | None = None) -> list[Tensor]:
    """Tensors in their common shape."""
    xs = tensors(input, "broadcast_tensors")
    shape: tuple = ()
    for x in xs:
        shape = dims.broadcast(shape, dims.from_static(x._form.shape), "broadcast_tensors")
    if not all(map(dims.known, shape)):
        raise ShapeError("broadcast_tensors needs sizes that are known", hint="use expand_as")
    return [expand(x, list(shape)) for x in xs]


def tile(x: Any, repeat_times: Any, name: str | None = None) -> Tensor:
    """x repeated along its axes.

    >>> tile(Tensor([1, 2]), [2]).numpy()
    array([1, 2, 1, 2])
    """
    attr, slots = ints(repeat_times, "repeat_times_tensor", "repeat_times")
    return ops.op("tile", X=as_tensor(x), repeat_times=attr, **slots)


def flip(x: Any, axis: Any, name: str | None = None) -> Tensor:
    """x with the order along some axes reversed."""
    return ops.op("flip", X=as_tensor(x), axis=axes(axis))


def roll(x: Any, shifts: Any, axis: Any = None, name: str | None = None) -> Tensor:
    """x moved along some axes; what leaves at the end comes in at the start. Without an axis, the flattened tensor
    moves.

    >>> roll(Tensor([1, 2, 3]), 1).numpy()
    array([3, 1, 2])
    """
    by, slots = ints(shifts, "ShiftsTensor", "shifts")
    if slots:
        slots = {"ShiftsTensor": concat([reshape(t, [1]) for t in slots["ShiftsTensor"]])}
    return ops.op("roll", X=as_tensor(x), shifts=by, axis=axes(axis), **slots)


def slice(input: Any, axes: Sequence[int], starts: Any, ends: Any) -> Tensor:
    """A part of a tensor: along each axis given, from start to end (not included), clamped to the size.

    Args:
        input: Tensor.
        axes: list of ints.
        starts, ends: lists of ints or one-element tensors.

    >>> slice(Tensor([1, 2, 3, 4]), [0], [1], [3]).numpy()
    array([2, 3])
    """
    x = as_tensor(input)
    return slice_axes(x, axes, list(starts), list(ends))


def strided_slice(x: Any, axes: Sequence[int], starts: Any, ends: Any, strides: Any, name: str | None = None) -> Tensor:
    """A part of a tensor: along each axis given, every `stride`-th from start to end (not included).

    >>> strided_slice(Tensor([1, 2, 3, 4, 5]), [0], [0], [5], [2]).numpy()
    array([1, 3, 5])
    """
    bounds: dict[str, Any] = {}
    for what, given in (("starts", starts), ("ends", ends), ("strides", strides)):
        attr, slots = ints(given, f"{what.capitalize()}TensorList", what)
        bounds |= {what: attr, **slots}
    return ops.op("strided_slice", Input=as_tensor(x), axes=list(axes), **bounds)


def gather(x: Any, index: Any, axis: Any = 0, name: str | None = None) -> Tensor:
    """The slices of x along an axis that `index` (0-d or 1-d integers) names.

    Raises:
        OutOfRangeError: an index is out of range.

    >>> gather(Tensor([10, 20, 30]), Tensor([2, 0])).numpy()
    array([30, 10])
    """
    index = as_tensor(index)
    if index.ndim == 2:
        index = squeeze(index, 1)  # [n, 1], as older models write it
    return ops.op("gather", X=as_tensor(x), Index=index, axis=0 if axis is None else axis_number(axis))


def index_select(x: Any, index: Any, axis: int = 0, name: str | None = None) -> Tensor:
    """The slices of x along an axis that `index` (1-d integers) names."""
    return ops.op("index_select", X=as_tensor(x), Index=as_tensor(index), dim=axis)


def gather_nd(x: Any, index: Any, name: str | None = None) -> Tensor:
    """The slices of x at the index tuples in the last axis of `index`: shape index.shape[:-1] +
    x.shape[index.shape[-1]:].

    Raises:
        OutOfRangeError: an index is out of range.

    >>> gather_nd(Tensor([[1, 2], [3, 4]]), Tensor([[1, 0], [0, 1]])).numpy()
    array([3, 2])
    """
    return ops.op("gather_nd", X=as_tensor(x), Index=as_tensor(index))


def scatter(x: Any, index: Any, updates: Any, overwrite: bool = True, name: str | None = None) -> Tensor:
    """x with the rows that `index` names replaced by those of `updates`, or without `overwrite`, set to their sums.

    Raises:
        OutOfRangeError: an index is out of range.

    >>> scatter(Tensor([1.0, 2.0, 3.0]), Tensor([0]), Tensor([9.0])).numpy()
    array([9., 2., 3.], dtype=float32)
    """
    return ops.op("scatter", X=as_tensor(x), Ids=as_tensor(index), Updates=as_tensor(updates), overwrite=overwrite)


def scatter_nd_add(x: Any, index: Any, updates: Any, name: str | None = None) -> Tensor:
    """x with `updates` added at the index tuples in the last axis of `index`."""
    return ops.op("scatter_nd_add", X=as_tensor(x), Index=as_tensor(index), Updates=as_tensor(updates))


def take_along_axis(arr: Any, indices: Any, axis: int) -> Tensor:
    """`arr` at the positions along an axis that `indices`, of the same rank, gives for each place."""
    return ops.op("take_along_axis", Input=as_tensor(arr), Index=as_tensor(indices), Axis=axis)
