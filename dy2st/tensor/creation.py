"""Making tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import AttributeValueError, DTypeError
from ..framework.dtype import convert_dtype, get_default_dtype
from ..framework.place import check_device
from . import dispatch
from .arguments import ints, scalar, staged, whole
from .dispatch import ops
from .failures import raise_if
from .inplace import rebind
from .kinds import Kind, kinds_of, require_whole
from .location import user_location
from .nested import any_staged, stacked
from .promotion import as_plain_tensor, as_tensor, cast, require_in_range, weak_dtype
from .tensor import Tensor, to_array


def to_tensor(data: Any, dtype: Any = None, place: Any = None, stop_gradient: bool = True) -> Tensor:
    """A new tensor with a copy of the data.

    Args:
        data: a number, a (nested) list, an array or a Tensor.
        dtype: default: that of the data; Python floats become the default dtype, Python ints int64.
        place: checked, and without effect on eager values, which are on the host.
        stop_gradient: False: gradients flow to it.

    Raises:
        DTypeError: something in the data is no number.
        ShapeError: rows differ in length.
        DeviceError: the place is none, or CUDA without CUDA support.

    >>> to_tensor([[1, 2], [3, 4]])
    Tensor(shape=[2, 2], dtype=int64, place=CPUPlace, stop_gradient=True,
           [[1, 2],
            [3, 4]])
    """
    check_device(place)
    if hasattr(type(data), "as_tensor"):
        data, dtype = _of_dynamic_list(data, dtype)
    if isinstance(data, Tensor):
        if hasattr(type(data), "require"):  # it may be None, as only the run knows
            data = data.require("a tensor cannot be made of NoneType None", DTypeError)
        if data._weak and data.ndim:
            data = as_plain_tensor(data)  # made of a number it would have no dims
        if dtype is None and data._weak:
            dtype = _of_numbers(data)
        t = (data if dtype is None else cast(data, convert_dtype(dtype))).detach()
    elif isinstance(data, (list, tuple)) and any_staged(data):
        t = stacked(data, None if dtype is None else convert_dtype(dtype))
    else:
        t = dispatch.constant(to_array(data, dtype))
    t.set_stop(True)
    if not stop_gradient:
        t.stop_gradient = False  # of a tensor of its own: gradients do not go on to the data
    return t


def _of_dynamic_list(items: Any, dtype: Any) -> tuple[Tensor, Any]:
    """The entries of a list of dynamic length as a tensor, and the dtype wanted.

    Without entries eager mode makes a vector of the default dtype; where that would be another kind of tensor the run raises a ValueError.
    """
    of_numbers, entries = items.of_numbers(), items.as_tensor()
    if dtype is None and of_numbers and entries.dtype == "float64":
        dtype = get_default_dtype()
    if entries.ndim > 1 or (dtype is None and entries.dtype != get_default_dtype()):
        raise_if(items.length() == 0, ValueError, "to_tensor() of a list that has no entries in this run; make an empty tensor by zeros()")
    return entries, dtype


def _of_numbers(x: Tensor) -> str | None:
    """The dtype of a tensor that is made of what is a Python number, at least on some path; None for that which x has.

    Raises:
        DTypeError: it depends on the path.
    """
    dtype = _only(_dtypes_as_tensors(x), x, "made of")
    return None if dtype == x.dtype and x._kinds is None else dtype


def _only(dtypes: set[str], x: Tensor, how: str) -> str:
    """The one of these dtypes, which a tensor of x has; DTypeError if there are several."""
    if len(dtypes) > 1:
        assert x._kinds is not None
        raise x._kinds.fail(f"a tensor {how} it would be {' or '.join(sorted(dtypes))}")
    return dtypes.pop()


def _dtypes_as_tensors(x: Tensor) -> set[str]:
    """The dtypes of what is made of a tensor, or of the numbers that it stands for."""
    return {get_default_dtype() if k == Kind("float64", True) else k.dtype for k in kinds_of(x)}


def tensor_of(x: Tensor) -> Tensor:
    """The result of a function of tensors, which is a tensor also where all that it was computed from are Python numbers.

    Where only the run knows whether it is computed from numbers, the tensor must be the same in both cases: where it would be of another
    dtype or rank, the run raises a TypeError for numbers.
    """
    if not x._weak:
        return x
    if x._kinds is None or not x._kinds.mixed:
        return to_tensor(x)
    dtypes = _dtypes_as_tensors(x)
    return as_plain_tensor(x) if x.ndim or len(dtypes) > 1 else cast(x, dtypes.pop())


def to_variable(value: Any, name: str | None = None, zero_copy: Any = None, dtype: Any = None) -> Tensor:
    """A tensor of the data; a tensor is given back as it is.

    Args:
        value: a number, a (nested) list, an array or a Tensor.
        name: of a new tensor.
        zero_copy: of PaddlePaddle's signature, without effect.
        dtype: of a new tensor.

    >>> x = Tensor([1.0]); to_variable(x) is x
    True
    """
    if isinstance(value, Tensor) and value._kinds is not None:
        raise value._kinds.fail("a tensor would be given back, and of a number one be made")
    if isinstance(value, Tensor) and not value._weak:
        return value
    t = to_tensor(value, dtype)
    t._name = name
    return t


def full(shape: Any, fill_value: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """A tensor filled with one value.

    Args:
        shape: list of ints and 0-d integer tensors, or a 1-d integer tensor.
        fill_value: a number, or a tensor of one element.
        dtype: default: the default dtype (that of a tensor `fill_value`).

    Raises:
        DTypeError: the dtype depends on whether `fill_value` is a number, which only the run knows.
        IntegerRangeError: the dtype is an integer one that does not hold the number.

    >>> full([2], 1.5).numpy()
    array([1.5, 1.5], dtype=float32)
    """
    if isinstance(fill_value, Tensor):
        dtypes = {get_default_dtype() if k.weak else k.dtype for k in kinds_of(fill_value)}
        wanted = _only(dtypes, fill_value, "filled with") if dtype is None else convert_dtype(dtype)
        element = ops.op("reshape2", X=as_tensor(fill_value, wanted), shape=[])
        sizes, slots = ints(shape, "expand_shapes_tensor")
        return ops.op("expand_v2", X=element, shape=sizes, **slots)
    if not isinstance(fill_value, (bool, int, float, np.generic)):
        raise DTypeError(f"fill_value must be a number, got {fill_value!r}")
    wanted = get_default_dtype() if dtype is None else convert_dtype(dtype)
    attr, slots = ints(shape, "ShapeTensorList")
    exact = checked_number(fill_value, wanted)
    text = "" if exact is None else str(exact)
    return ops.op("fill_constant", shape=attr, value=float(fill_value), str_value=text, dtype=wanted, **slots)


def fill_constant(shape: Any, dtype: Any, value: Any, force_cpu: bool = False, out: Tensor | None = None, place: Any = None,
                  name: str | None = None) -> Tensor:  # fmt: skip
    """`full` as PaddlePaddle's package `tensor` has it.

    Args:
        shape: list of ints and 0-d integer tensors, or a 1-d integer tensor.
        dtype: of the result.
        value: a number, a text of one ("1.5"), or a tensor of one element.
        force_cpu: of PaddlePaddle's signature, without effect.
        out: the tensor that becomes the result, and is returned.
        place: checked, and without effect on eager values, which are on the host.

    Raises:
        DTypeError: the value is no number.
        IntegerRangeError: the dtype is an integer one that does not hold the number.
        DeviceError: the place is none, or CUDA without CUDA support.

    >>> fill_constant([2], "int32", 3).numpy()
    array([3, 3], dtype=int32)
    """
    check_device(place)
    return into(out, full(shape, _read(value) if isinstance(value, str) else value, dtype))


def _read(text: str) -> int | float:
    """The number that a text is."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    raise DTypeError(f"the value must be a number, got {text!r}")


def into(target: Tensor | None, value: Tensor) -> Tensor:
    """Writes a value to the tensor that a function was given for its result."""
    if target is None:
        return value
    if isinstance(target, Tensor) and target._kinds is not None:
        raise target._kinds.fail("a result is written to a tensor")
    return rebind(target, value)


def checked_number(value: Any, dtype: str) -> int | None:
    """The number if a float, as which ops take it, would not hold it exactly; None if one does.

    Raises:
        IntegerRangeError: an integer dtype does not hold it.
        DTypeError: it is infinite or no number, and the dtype an integer one.
    """
    if not dtype.startswith(("int", "uint")):
        return None
    require_in_range(value, dtype)
    return None if float(value) == value and abs(value) <= 2**53 else int(value)


def zeros(shape: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """A tensor of zeros; see `full`."""
    return full(shape, 0, dtype)


def ones(shape: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """A tensor of ones; see `full`."""
    return full(shape, 1, dtype)


def empty(shape: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """A tensor whose values do not matter: zeros."""
    return full(shape, 0, dtype)


def full_like(x: Any, fill_value: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """A tensor of the shape (and, without `dtype`, the dtype) of x, filled with one value.

    >>> full_like(Tensor([1, 2]), 7).numpy()
    array([7, 7])
    """
    x = as_tensor(x)
    wanted = x.dtype if dtype is None else convert_dtype(dtype)
    if isinstance(fill_value, Tensor):
        # of x only the shape counts, where a gradient can come from is the number
        return cast(ops.op("expand_as_v2", X=as_tensor(fill_value, wanted), Y=x.detach()), wanted)
    exact = checked_number(fill_value, wanted)
    if exact is not None:
        return ops.op("expand_as_v2", X=dispatch.constant(exact, wanted), Y=x)
    return ops.op("fill_any_like", X=x, value=float(fill_value), dtype=wanted)


def zeros_like(x: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """Zeros of the shape and dtype of x."""
    return full_like(x, 0, dtype)


def ones_like(x: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """Ones of the shape and dtype of x."""
    return full_like(x, 1, dtype)


def empty_like(x: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """A tensor of the shape and dtype of x whose values do not matter: zeros."""
    return full_like(x, 0, dtype)


def arange(start: Any = 0, end: Any = None, step: Any = 1, dtype: Any = None, name: str | None = None) -> Tensor:
    """The numbers start, start + step, ... below `end`; `arange(n)` starts at 0.

    Args:
        start, end, step: numbers or one-element tensors.
        dtype: default: int64 if all are integers, else the default dtype.

    Raises:
        AttributeValueError: the step is zero.

    >>> arange(1, 3, dtype="float32").numpy()
    array([1., 2.], dtype=float32)
    """
    if end is None:
        start, end = 0, start
    bounds = (start, end, step)
    if dtype is None:
        floats = [b for b in bounds if (b.dtype if isinstance(b, Tensor) else weak_dtype(b)).startswith("float")]
        strong = [b.dtype for b in bounds if isinstance(b, Tensor) and not b._weak]
        dtype = (strong[0] if strong and not floats else "int64") if not floats else get_default_dtype()
    wanted = convert_dtype(dtype)
    first, stop, by = (as_tensor(b, wanted) for b in bounds)
    found = ops.op("range", Start=first, End=stop, Step=by)
    exact = 2**24 if wanted in ("float32", "float64") else 2**63 if wanted == "int64" else 0
    if not dispatch.in_dynamic_mode() and all(type(b) is int and abs(b) < exact for b in bounds) and step:
        return ops.op("reshape2", X=found, shape=[len(range(start, end, step))])  # Python knows how many there are
    return found


def linspace(start: Any, stop: Any, num: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """`num` numbers from `start` to `stop`, both included, at equal distances.

    >>> linspace(0, 1, 3).numpy()
    array([0. , 0.5, 1. ], dtype=float32)
    """
    wanted = get_default_dtype() if dtype is None else convert_dtype(dtype)
    compute = wanted if wanted.startswith("float") else get_default_dtype()
    return cast(ops.op("linspace", Start=as_tensor(start, compute), Stop=as_tensor(stop, compute),
                       Num=as_tensor(num, "int64"), dtype=compute), wanted)  # fmt: skip


def eye(num_rows: int, num_columns: int | None = None, dtype: Any = None, name: str | None = None) -> Tensor:
    """Ones on the diagonal, else zeros.

    >>> eye(2).numpy()
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    wanted = get_default_dtype() if dtype is None else convert_dtype(dtype)
    columns = num_rows if num_columns is None else num_columns
    if staged(num_rows) or staged(columns):
        shape = [whole(n, f"eye: attribute '{name}' must be INT, got ", AttributeValueError)
                 for n, name in ((num_rows, "num_rows"), (columns, "num_columns"))]  # fmt: skip
        return tril(triu(full(shape, 1, wanted)))
    return ops.op("eye", num_rows=num_rows, num_columns=columns, dtype=wanted)


def diag(x: Any, offset: int = 0, padding_value: float = 0, name: str | None = None) -> Tensor:
    """A matrix with x on a diagonal, or the diagonal of a matrix.

    >>> diag(Tensor([1, 2])).numpy()
    array([[1, 0],
           [0, 2]])
    """
    return ops.op("diag_v2", X=as_tensor(x), offset=offset, padding_value=padding_value)


def tril(x: Any, diagonal: int = 0, name: str | None = None) -> Tensor:
    """The lower triangle of matrices, the rest zero."""
    return _triangle(as_tensor(x), diagonal, lower=True)


def triu(x: Any, diagonal: int = 0, name: str | None = None) -> Tensor:
    """The upper triangle of matrices, the rest zero."""
    return _triangle(as_tensor(x), diagonal, lower=False)


def _triangle(x: Tensor, diagonal: Any, lower: bool) -> Tensor:
    if not staged(diagonal) or x.ndim < 2:  # which the op refuses
        return ops.op("tril_triu", X=x, diagonal=diagonal, lower=lower)
    diagonal = scalar(whole(diagonal, "tril_triu: attribute 'diagonal' must be INT, got ", AttributeValueError))
    if not diagonal.dtype.startswith(("int", "uint", "bool")):
        require_whole(diagonal)
        raise AttributeValueError(
            f"tril_triu: attribute 'diagonal' must be INT, got a {diagonal.dtype} tensor", location=user_location(3)
        )
    rows, columns = x.shape[-2:]
    above = arange(columns) - ops.op("unsqueeze2", X=arange(rows), axes=[1])
    inside = above <= diagonal if lower else above >= diagonal
    return ops.op("where", Condition=inside, X=x, Y=zeros_like(x))


def meshgrid(*args: Any, **kwargs: Any) -> list[Tensor]:
    """n 1-d tensors as n tensors of n dims: the coordinates of a grid (the first varies along the first axis)."""
    xs = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
    return list(ops.op("meshgrid", X=[as_tensor(x) for x in xs]))


def assign(x: Any, output: Tensor | None = None) -> Tensor:
    """A copy of x; with `output`, this tensor gets the value in place, and is returned.

    >>> assign([1.0, 2.0]).numpy()
    array([1., 2.], dtype=float32)
    """
    x = as_tensor(x)
    if output is None:
        return ops.op("assign", X=x)
    return rebind(output, ops.op("assign", X=x), differentiable=True)


def clone(x: Tensor, name: str | None = None) -> Tensor:
    """A copy through which gradients flow."""
    return ops.op("assign", X=as_tensor(x))
