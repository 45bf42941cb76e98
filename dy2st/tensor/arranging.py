"""Functions that put elements in other places: diagonals, joins, writes at positions, products of all with all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dy2st_runtime import dims

from ..errors import AttributeValueError, ShapeError
from . import creation, linalg, logic, manipulation, math, reduction, search
from .arguments import require_integers, scalar, staged
from .attribute import size_of
from .dispatch import ops
from .failures import raise_if
from .promotion import NUMBERS, as_tensor, cast
from .tensor import Tensor


def hstack(x: Sequence[Any], name: str | None = None) -> Tensor:
    """Tensors side by side: along the second axis, vectors along their only one.

    >>> hstack([Tensor([1, 2]), Tensor([3])]).numpy()
    array([1, 2, 3])
    """
    xs = [_at_least_1d(t) for t in x]
    return manipulation.concat(xs, 0 if xs[0].ndim == 1 else 1)


def vstack(x: Sequence[Any], name: str | None = None) -> Tensor:
    """Tensors below one another: along the first axis, vectors as rows.

    >>> vstack([Tensor([1, 2]), Tensor([3, 4])]).numpy()
    array([[1, 2],
           [3, 4]])
    """
    xs = [_at_least_1d(t) for t in x]
    return manipulation.concat([manipulation.unsqueeze(t, 0) if t.ndim == 1 else t for t in xs], 0)


def _at_least_1d(x: Any) -> Tensor:
    x = as_tensor(x)
    return manipulation.reshape(x, [1]) if x.ndim == 0 else x


def diagonal(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None) -> Tensor:
    """The diagonals of the matrices that two axes make, on a last axis.

    Args:
        offset: above (positive) or below (negative) the main diagonal.

    >>> diagonal(Tensor([[1, 2], [3, 4]])).numpy()
    array([1, 4])
    """
    x = as_tensor(x)
    a, b = dims.normalize_axis(axis1, x.ndim), dims.normalize_axis(axis2, x.ndim)
    if a == b:
        raise AttributeValueError("diagonal: the two axes must differ")
    rest = [i for i in range(x.ndim) if i not in (a, b)]
    x = manipulation.transpose(x, [*rest, a, b])
    rows, cols = x.shape[-2:]
    above = scalar(offset)
    start = (_not_negative(-above), _not_negative(above))
    # the diagonal as every (cols + 1)th element of the flattened matrix
    count = _least(rows - start[0], cols - start[1])
    places = creation.arange(0, count, 1, "int64") * (cols + 1) + (start[0] * cols + start[1])
    flat = manipulation.reshape(x, [*x.shape[:-2], rows * cols])
    return ops.op("gather", X=flat, Index=places, axis=flat.ndim - 1)


def _least(a: Any, b: Any) -> Any:
    """The smaller of two sizes, but not less than 0."""
    if isinstance(a, int) and isinstance(b, int):
        return max(min(a, b), 0)
    return _not_negative(math.minimum(as_tensor(a), as_tensor(b)))


def _not_negative(a: Any) -> Any:
    return math.maximum(a, 0) if staged(a) else max(a, 0)


def trace(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None) -> Tensor:
    """The sums of the diagonals; see `diagonal`.

    >>> trace(Tensor([[1, 2], [3, 4]])).numpy()
    array(5)
    """
    return reduction.sum(diagonal(x, offset, axis1, axis2), -1)


def tensordot(x: Any, y: Any, axes: Any = 2, name: str | None = None) -> Tensor:
    """The sum of products over axes of both tensors.

    Args:
        axes: how many: the last of x and the first of y; or a list for each of them.

    >>> tensordot(Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]]), 1).numpy()
    array([[11.]], dtype=float32)
    """
    x, y = as_tensor(x), as_tensor(y)
    if isinstance(axes, int):
        own, other = list(range(x.ndim - axes, x.ndim)), list(range(axes))
    else:
        pairs = [[a] if isinstance(a, int) else list(a) for a in axes]
        own, other = pairs if len(pairs) == 2 else (pairs[0], pairs[0])
    own, other = ([dims.normalize_axis(int(a), t.ndim) for a in part] for part, t in ((own, x), (other, y)))
    if len(own) != len(other):
        raise ShapeError(f"tensordot: {len(own)} axes of x do not fit {len(other)} of y")
    letters = "abcdefghijklmnopqrstuvwxyz"
    left = letters[: x.ndim]
    right = "".join(left[own[other.index(i)]] if i in other else letters[x.ndim + i] for i in range(y.ndim))
    kept = [left[i] for i in range(x.ndim) if i not in own] + [right[i] for i in range(y.ndim) if i not in other]
    return linalg.einsum(f"{left},{right}->{''.join(kept)}", x, y)


def kron(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Each element of x times all of y, as blocks.

    >>> kron(Tensor([[1, 2]]), Tensor([[1], [1]])).numpy()
    array([[1, 2],
           [1, 2]])
    """
    x, y = as_tensor(x), as_tensor(y)
    rank = max(x.ndim, y.ndim)
    sizes = [[*[1] * (rank - t.ndim), *t.shape] for t in (x, y)]
    a, b = ([d for pair in zip(*order, strict=True) for d in pair] for order in ((sizes[0], [1] * rank), ([1] * rank, sizes[1])))
    blocks = manipulation.reshape(x, a) * manipulation.reshape(y, b)
    return manipulation.reshape(blocks, [p * q for p, q in zip(*sizes, strict=True)])


def diff(x: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None, name: str | None = None) -> Tensor:
    """The differences of neighbours along an axis, n times.

    >>> diff(Tensor([1, 4, 9])).numpy()
    array([3, 5])
    """
    if n < 0:
        raise AttributeValueError(f"diff: n must not be negative, got {n}")
    x = as_tensor(x)
    axis = dims.normalize_axis(axis, x.ndim)
    parts = [as_tensor(t) for t in (prepend, x, append) if t is not None]
    x = manipulation.concat(parts, axis) if len(parts) > 1 else x
    for _ in range(n):
        before, after = ((slice(None),) * axis + (s,) for s in (slice(None, -1), slice(1, None)))
        x = math.subtract(x[after], x[before])
    return x


def rot90(x: Any, k: int = 1, axes: Sequence[int] = (0, 1), name: str | None = None) -> Tensor:
    """x turned k times by a right angle, from the first of two axes towards the second.

    >>> rot90(Tensor([[1, 2], [3, 4]])).numpy()
    array([[2, 4],
           [1, 3]])
    """
    x = as_tensor(x)
    a, b = (dims.normalize_axis(i, x.ndim) for i in axes)
    if k % 4 == 0:
        return ops.op("assign", X=x)
    if k % 4 == 2:
        return manipulation.flip(x, [a, b])
    swapped = manipulation.swapaxes(x, a, b)
    return manipulation.flip(swapped, a if k % 4 == 1 else b)


def tril_indices(row: int, col: int | None = None, offset: int = 0, dtype: Any = "int64") -> Tensor:
    """The places [2, n] of a matrix on and below a diagonal, row by row.

    >>> tril_indices(2).numpy()
    array([[0, 1, 1],
           [0, 0, 1]])
    """
    return _triangle(row, col, lambda i, j: j - i <= offset, dtype)


def triu_indices(row: int, col: int | None = None, offset: int = 0, dtype: Any = "int64") -> Tensor:
    """The places [2, n] of a matrix on and above a diagonal, row by row.

    >>> triu_indices(2).numpy()
    array([[0, 0, 1],
           [0, 1, 1]])
    """
    return _triangle(row, col, lambda i, j: j - i >= offset, dtype)


def _triangle(rows: int, cols: int | None, inside: Any, dtype: Any) -> Tensor:
    places = [(i, j) for i in range(rows) for j in range(rows if cols is None else cols) if inside(i, j)]
    if not places:
        return creation.zeros([2, 0], dtype)
    return manipulation.transpose(creation.to_tensor(places, dtype), [1, 0])


def repeat_interleave(x: Any, repeats: Any, axis: int | None = None, name: str | None = None) -> Tensor:
    """Each slice along an axis so many times in a row; without an axis, of the flattened tensor.

    Args:
        repeats: an int, or integers [n], a list or a tensor: a number for each of the n slices, or one for all.

    Raises:
        DTypeError: `repeats` are no integers.
        ShapeError: they are not as many as the slices.
        AttributeValueError: one of them is negative.

    >>> repeat_interleave(Tensor([1, 2]), 2).numpy()
    array([1, 1, 2, 2])
    >>> repeat_interleave(Tensor([1, 2, 3]), [2, 0, 1]).numpy()
    array([1, 1, 3])
    """
    x = as_tensor(x)
    if axis is None:
        x, axis = manipulation.reshape(x, [-1]), 0
    axis = dims.normalize_axis(axis, x.ndim)
    one = isinstance(repeats, NUMBERS) or (isinstance(repeats, Tensor) and repeats.ndim == 0)
    return _repeated(x, repeats, axis) if one else manipulation.gather(x, _places(as_tensor(repeats), size_of(x, axis)), axis)


def _repeated(x: Tensor, repeats: Any, axis: int) -> Tensor:
    times = [1] * (axis + 1) + [repeats] + [1] * (x.ndim - axis - 1)
    return manipulation.flatten(manipulation.tile(manipulation.unsqueeze(x, axis + 1), times), axis, axis + 1)


def _places(repeats: Tensor, size: Any) -> Tensor:
    """0, 1, ... as often as `repeats` [size] or [1] says."""
    if repeats.ndim != 1:
        raise ShapeError(f"repeats must have one dim, got shape {dims.show(repeats._form.shape)}")
    require_integers(repeats, "repeats")
    counts = manipulation.expand(cast(repeats, "int64"), [size])
    raise_if(reduction.any(logic.less_than(counts, 0)), AttributeValueError, "repeats must be at least 0")
    ends = reduction.cumsum(counts)
    # behind each end the place is one more; there may be several ends at one, and some behind all
    steps = index_add(creation.zeros([reduction.sum(counts) + 1], "int64"), ends[:-1], 0, creation.ones_like(ends[:-1]))
    return reduction.cumsum(steps)[:-1]


def put_along_axis(arr: Any, indices: Any, values: Any, axis: int, reduce: str = "assign") -> Tensor:
    """`arr` with values written (or with reduce "add" added) at the places along an axis that `indices`, of the same rank, names.

    >>> put_along_axis(Tensor([[1, 2, 3]]), Tensor([[2]]), 9, 1).numpy()
    array([[1, 2, 9]])
    """
    x, index = as_tensor(arr), as_tensor(indices)
    values = cast(as_tensor(values), x.dtype)
    sizes = list(index._form.shape)
    if list(values._form.shape) != sizes or -1 in sizes:  # which only the run knows to be the same
        values = manipulation.expand(values, index.shape)
    return ops.op("put_along_axis", Input=x, Index=index, Value=values, Axis=axis, Reduce=reduce)


def index_add(x: Any, index: Any, axis: int, value: Any, name: str | None = None) -> Tensor:
    """x with slices of `value` added to its slices `index` along an axis.

    >>> index_add(Tensor([1.0, 2.0]), Tensor([1, 1]), 0, Tensor([5.0, 6.0])).numpy()
    array([ 1., 13.], dtype=float32)
    """
    x, value = as_tensor(x), as_tensor(value)
    axis = dims.normalize_axis(axis, x.ndim)
    if axis > 0:
        x, value = manipulation.swapaxes(x, 0, axis), manipulation.swapaxes(value, 0, axis)
    out = ops.op("index_put", x=x, indices=[as_tensor(index)], value=cast(value, x.dtype), accumulate=True, axis=0)
    return manipulation.swapaxes(out, 0, axis) if axis > 0 else out


def isin(x: Any, test_x: Any, assume_unique: bool = False, invert: bool = False, name: str | None = None) -> Tensor:
    """Whether each element of x is one of `test_x`.

    >>> isin(Tensor([1, 2, 3]), Tensor([3, 1])).numpy()
    array([ True, False,  True])
    """
    found = reduction.any(manipulation.unsqueeze(as_tensor(x), -1) == manipulation.flatten(as_tensor(test_x)), -1)
    return logic.logical_not(found) if invert else found


def searchsorted(sorted_sequence: Any, values: Any, out_int32: bool = False, right: bool = False,
                 name: str | None = None) -> Tensor:  # fmt: skip
    """Where values belong in a sorted sequence: before the elements that are equal, or with `right` behind them.

    Args:
        sorted_sequence: [n], or [..., n] for values [..., m].

    >>> searchsorted(Tensor([1, 3, 5]), Tensor([3, 4])).numpy()
    array([1, 2])
    """
    sequence, x = as_tensor(sorted_sequence), as_tensor(values)
    if sequence.ndim > 1:
        sequence = manipulation.unsqueeze(sequence, -2)
    x = manipulation.unsqueeze(x, -1)
    before = sequence <= x if right else sequence < x
    found = reduction.sum(cast(before, "int64"), -1)
    return cast(found, "int32") if out_int32 else found


def bucketize(x: Any, sorted_sequence: Any, out_int32: bool = False, right: bool = False, name: str | None = None) -> Tensor:
    """`searchsorted` with the arguments in the other order.

    >>> bucketize(Tensor([3, 4]), Tensor([1, 3, 5])).numpy()
    array([1, 2])
    """
    return searchsorted(sorted_sequence, x, out_int32, right)


def kthvalue(x: Any, k: int, axis: int | None = None, keepdim: bool = False, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The k-th smallest elements along an axis (default: the last), and their positions.

    >>> [t.numpy().tolist() for t in kthvalue(Tensor([5, 1, 3]), 2)]
    [3, 2]
    """
    x = as_tensor(x)
    axis = dims.normalize_axis(-1 if axis is None else axis, x.ndim)
    values, places = search.topk(x, k, axis, largest=False)
    cut = (slice(None),) * axis + (slice(-1, None),)
    values, places = values[cut], places[cut]
    return (values, places) if keepdim else (manipulation.squeeze(values, axis), manipulation.squeeze(places, axis))


def median(x: Any, axis: int | None = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """The middle element along an axis, or the mean of the two middle ones; without an axis, of all elements.

    >>> median(Tensor([5.0, 1.0, 3.0, 2.0])).numpy()
    array(2.5, dtype=float32)
    """
    x = as_tensor(x)
    if axis is None:
        out = median(manipulation.flatten(x), 0)
        return manipulation.reshape(out, [1] * x.ndim) if keepdim else out
    axis = dims.normalize_axis(axis, x.ndim)
    ordered, size = search.sort(x, axis), x.shape[axis]
    places = manipulation.stack([as_tensor((size - 1) // 2), as_tensor(size // 2)])
    middle = ops.op("gather", X=ordered, Index=places, axis=axis)
    return reduction.mean(middle if middle.dtype.startswith("float") else cast(middle, "float32"), axis, keepdim)


def scatter_nd(index: Any, updates: Any, shape: Any, name: str | None = None) -> Tensor:
    """Zeros with `updates` added at the index tuples in the last axis of `index`."""
    updates = as_tensor(updates)
    return manipulation.scatter_nd_add(creation.zeros(shape, updates.dtype), index, updates)


def shard_index(input: Tensor, index_num: int, nshards: int, shard_id: int, ignore_value: int = -1) -> Tensor:
    """Global indices as indices of one of `nshards` shards of equal size; `ignore_value` for those of other shards."""
    if not 0 <= shard_id < nshards:
        raise AttributeValueError(f"shard_index: {shard_id} is not one of {nshards} shards")
    size = (index_num + nshards - 1) // nshards
    x = as_tensor(input)
    return logic.where(x // size == shard_id, x % size, ignore_value)
