"""The operators and methods of `Tensor`. `install` gives them to the class when the package is imported."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from dy2st_runtime.dtype import ALL as ALL_DTYPES
from dy2st_runtime.ir import Variable
from dy2st_runtime.ops.control import scalar_bool

from ..errors import DTypeError, ShapeError, StagedValueError, with_location
from ..framework.dtype import convert_dtype
from ..framework.place import check_device
from . import (
    arranging,
    attribute,
    autograd,
    copies,
    creation,
    derived,
    dispatch,
    indexing,
    linalg,
    logic,
    manipulation,
    math,
    picking,
    printing,
    promotion,
    random,
    reduction,
    scaling,
    search,
)
from .arguments import index
from .dispatch import ops
from .inplace import rebind
from .kinds import without_bool
from .location import user_location
from .tensor import Tensor, to_array

_OPERANDS = (Tensor, *promotion.NUMBERS, np.ndarray, Variable, list, tuple)


def _is_other_number(x: Any) -> bool:
    """Whether it is a number of Python's for which nothing in a Program stands (and an int or float would be as good as any other)."""
    return isinstance(x, complex) or type(x).__module__ in ("fractions", "decimal", "datetime")


def _reflected(function: Callable[[Any, Any], Tensor]) -> Callable[[Tensor, Any], Tensor]:
    def operator(self: Tensor, other: Any) -> Tensor:
        return function(other, self)

    return operator


def _operand(function: Callable[[Any, Any], Tensor], repeats: bool = False) -> Callable[[Tensor, Any], Any]:
    def operator(self: Tensor, other: Any) -> Any:
        # what is no number or tensor gets its own say (`NotImplemented`), or Python's own TypeError
        if not isinstance(other, _OPERANDS):
            if self._weak and _is_other_number(other):
                raise StagedValueError(
                    f"an operand of a number that only the run knows is a {type(other).__name__}, which only Python computes with",
                    location=user_location(2), hint="make it a float: float(x)",
                )  # fmt: skip
            return NotImplemented
        if self._weak and isinstance(other, (list, tuple)):
            # a number that only the run knows: to Python this is about the list, and it is no operand of anything but `*`
            if self._kinds is not None and self._kinds.mixed:
                raise self._kinds.fail("beside a list a tensor is an operand, and a number is not, or says how often the list is repeated")
            recorder = dispatch.current_recorder()
            return recorder.repeated(other, self, sys._getframe(1)) if repeats and recorder is not None else NotImplemented
        return function(self, other)

    return operator


def _sign(function: Callable[[Any], Tensor]) -> Callable[[Tensor], Tensor]:
    def operator(self: Tensor) -> Tensor:
        if self._weak and self.dtype == "bool":
            if self._kinds is not None:  # it is a bool tensor on other paths
                raise self._kinds.fail("with a sign a bool of Python is an int, and a tensor is not")
            self = math.multiply(self, 1)  # a Python bool counts as an int
        return function(self)

    return operator


def _itself(x: Tensor) -> Tensor:
    if x._kinds is None:
        return x
    new = x.alike(x._value)
    new._kinds = without_bool(x._kinds)
    return new


def _absolute(x: Tensor) -> Tensor:
    return math.maximum(x, math.neg(x)) if math.is_python_int(x) else math.abs(x)


_BINARY: dict[str, Callable[[Any, Any], Tensor]] = {
    "add": math.add,
    "sub": math.subtract,
    "mul": math.multiply,
    "truediv": math.divide,
    "floordiv": math.floor_divide,
    "mod": math.remainder,
    "pow": math.pow,
    "and": logic.bitwise_and,
    "or": logic.bitwise_or,
    "xor": logic.bitwise_xor,
    "lshift": logic.bitwise_left_shift,
    "rshift": logic.bitwise_right_shift,
    "matmul": linalg.matmul,
}
_COMPARE: dict[str, Callable[[Any, Any], Tensor]] = {
    "lt": logic.less_than,
    "le": logic.less_equal,
    "gt": logic.greater_than,
    "ge": logic.greater_equal,
    "eq": logic.equal,
    "ne": logic.not_equal,
}


# ---- values for Python ----
def numpy(self: Tensor, blocking: bool = True) -> np.ndarray:
    """The value as a NumPy array of its own.

    Args:
        blocking: of PaddlePaddle's signature, without effect: eager values are on the host.

    Raises:
        StagedValueError: the value is only known at run time.
    """
    return np.array(dispatch.read(self, ".numpy()"))


def item(self: Tensor, *args: int) -> Any:
    """One element as a Python number: that at the flat index or at the indices given, or the only one.

    Raises:
        ShapeError: there are several elements, and no index is given; or some indices are, and not one for each dim.
        OutOfRangeError: there is no such element.
        DTypeError: an index is no integer.

    >>> Tensor([[1, 2], [3, 4]]).item(2)
    3
    """
    value = dispatch.read(element(self, args) if args else self, ".item()")
    if value.size != 1:
        raise ShapeError(f".item() needs a tensor with one element, got shape {list(value.shape)}",
                         hint="give an index: x.item(0), or use x.tolist()")  # fmt: skip
    return value.item()


def element(x: Tensor, indices: tuple[Any, ...]) -> Tensor:
    """The element at the flat index, or at the indices of all dims, that `item` is given; these may be a tuple in it."""
    if len(indices) == 1 and isinstance(indices[0], tuple):
        indices = indices[0]
    if len(indices) not in (1, x.ndim):
        raise ShapeError(f".item() needs one index, or one for each of {x.ndim} dims, got {len(indices)}")
    return (x if len(indices) == x.ndim else x.reshape([-1]))[tuple(index(i) for i in indices)]


def tolist(self: Tensor) -> Any:
    """The value as (nested) lists of Python numbers."""
    return dispatch.read(self, ".tolist()").tolist()


def _array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
    value = dispatch.read(self, "numpy.asarray()")
    return np.array(value, dtype=dtype)


def _bool(self: Tensor) -> bool:
    try:
        return scalar_bool(dispatch.read(self, "bool()"), "a tensor")
    except ShapeError as error:
        raise with_location(error, user_location(2)) from None


def _int(self: Tensor) -> int:
    return int(_number(self, "int()"))


def _float(self: Tensor) -> float:
    return float(_number(self, "float()"))


def _index(self: Tensor) -> int:
    value = dispatch.read(self, "an index (or chr(), hex() and the like)")
    if value.dtype.kind not in "iub" or value.size != 1:
        raise DTypeError(
            f"only an integer tensor with one element can be an index, got {self.dtype}{list(value.shape)}",
            location=user_location(2),
        )
    return int(value.reshape(()))


def _number(self: Tensor, what: str) -> Any:
    value = dispatch.read(self, what)
    if value.size != 1:
        raise ShapeError(
            f"{what} needs a tensor with one element, got shape {list(value.shape)}", location=user_location(3)
        )
    return value.reshape(()).item()


def _len(self: Tensor) -> int:
    if self.ndim == 0:
        raise DTypeError("len() of a 0-d tensor", location=user_location(2))
    size = self.shape[0]
    if isinstance(size, Tensor) or size == -1:
        raise dispatch.staged_value_error(self, "len()")
    return size


def _iter(self: Tensor) -> Iterator[Tensor]:
    if self.ndim == 0:
        raise DTypeError("a 0-d tensor cannot be iterated over", location=user_location(2))
    return (indexing.getitem(self, i) for i in range(_len(self)))


def _contains(self: Tensor, value: Any) -> bool:
    return bool(ops.op("reduce_any", X=logic.equal(self, value), reduce_all=True))


def _str(self: Tensor) -> str:
    return _format(self, "")


def _format(self: Tensor, spec: str) -> str:
    recorder = dispatch.current_recorder()
    held = None if recorder is None else recorder.text(self, spec)
    if held is not None:
        return held
    if spec and not self.is_symbolic and self._value.size == 1:  # type: ignore[union-attr]
        return format(item(self), spec)
    return format(printing.to_text(self), spec)


# ---- copies ----
def detach(self: Tensor) -> Tensor:
    """The same value, cut off from the graph: stop_gradient is True."""
    if not self.is_symbolic and dispatch.in_dynamic_mode():
        return Tensor.wrap(self._value)
    out = ops.op("assign", X=self)
    out.set_stop(True)
    return out


def clone(self: Tensor) -> Tensor:
    """A copy through which gradients flow."""
    # two tensors may have one array; of one that waits the op may be a part of a step
    if type(self) is Tensor and self._stop and type(self._value) is np.ndarray and dispatch.in_dynamic_mode():
        return Tensor.wrap(self._value)
    op, attrs = dispatch.plain("assign")
    return ops.apply(op, (self,), attrs)[0]


def astype(self: Tensor, dtype: Any) -> Tensor:
    """The tensor in another dtype, through which gradients flow."""
    return promotion.converted(self, convert_dtype(dtype))


def set_value(self: Tensor, value: Any) -> None:
    """Replaces the value by one of the same shape, cast to the tensor's dtype; all names of the tensor see it.

    Args:
        value: Tensor, array, or list of numbers.

    Raises:
        ShapeError: the shape differs.
    """
    if isinstance(value, (list, tuple)):
        value = promotion.as_tensor(value, self.dtype)
    new = value if isinstance(value, Tensor) else dispatch.constant(to_array(value, self.dtype))
    with autograd._grad_mode(False):
        new = dispatch.ops.op("same_shape", X=new, Like=self)
        rebind(self, promotion.cast(new, self.dtype))


def copy_(self: Tensor, other: Tensor, blocking: bool = True) -> Tensor:
    """`set_value`; returns the tensor."""
    set_value(self, other)
    return self


def to(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """The tensor in another dtype, if one is among the arguments; devices and places have no effect on eager values.

    Raises:
        DeviceError: an argument is neither a dtype nor a device that there is.
    """
    result = self
    for a in (*args, *(kwargs[k] for k in ("device", "dtype", "other") if k in kwargs)):
        if isinstance(a, Tensor):
            result = promotion.cast(self, a.dtype)
        elif isinstance(a, (type, np.dtype)) or (isinstance(a, str) and a in ALL_DTYPES):
            result = promotion.cast(self, convert_dtype(a))
        elif not isinstance(a, bool):  # `blocking`
            check_device(a)
    return result


def cuda(self: Tensor, device_id: int | None = None, blocking: bool = True) -> Tensor:
    """The tensor itself: eager values are on the host, also while a GPU runs the static functions.

    Raises:
        DeviceError: no CUDA support is installed.
    """
    check_device(f"gpu:{device_id or 0}")
    return self


def fill_(self: Tensor, value: Any) -> Tensor:
    """Sets all elements to a number, in place.

    Raises:
        IntegerRangeError: the tensor's dtype is an integer one that does not hold the number.
    """
    return rebind(self, creation.full_like(self, value), differentiable=True)


def zero_(self: Tensor) -> Tensor:
    """Sets all elements to 0, in place."""
    return fill_(self, 0)


def uniform_(self: Tensor, min: float = -1.0, max: float = 1.0, seed: int = 0) -> Tensor:
    """Draws all elements uniformly from [min, max), in place."""
    return rebind(self, random.uniform(self.shape, self.dtype, min, max, seed), differentiable=True)


def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Draws all elements from a normal distribution, in place."""
    return rebind(self, random.gaussian(self.shape, mean, std, 0, self.dtype), differentiable=True)


# ---- gradients ----
def backward(self: Tensor, grad_tensor: Tensor | None = None, retain_graph: bool = False) -> None:
    """Adds the gradients of this tensor to the `.grad` of the leaves behind it; see `autograd.backward`.

    Args:
        grad_tensor: the gradient to start with; default: ones.
        retain_graph: keeps the graph for another call.
    """
    autograd.backward(self, None if grad_tensor is None else [grad_tensor], retain_graph)


def gradient(self: Tensor) -> np.ndarray | None:
    """The accumulated gradient as an array; None if there is none."""
    return None if self.grad is None else self.grad.numpy()


def clear_grad(self: Tensor, set_to_zero: bool = True) -> None:
    """Forgets the accumulated gradient: `.grad` is None.

    Args:
        set_to_zero: of PaddlePaddle's signature, without effect. Zeros would be a gradient, by which Adam and Momentum
            move a parameter that the next step does not use.
    """
    self.grad = None


def retain_grads(self: Tensor) -> None:
    """Asks for `.grad` of a tensor on the way. All tensors that are alive get theirs anyway.

    Of a tensor with `stop_gradient=True` it asks for nothing, as in PaddlePaddle: its `.grad` stays None.
    """


def _inplace(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        new = promotion.cast(function(self, *args, **kwargs), self.dtype)
        return rebind(self, new, differentiable=True)

    method.__name__ = method.__qualname__ = f"{function.__name__}_"
    method.__doc__ = f"`{function.__name__}` in place: this tensor gets the result, and is returned."
    method.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return method


INPLACE: dict[str, Callable[..., Tensor]] = {
    "add_": math.add,
    "subtract_": math.subtract,
    "multiply_": math.multiply,
    "divide_": math.divide,
    "remainder_": math.remainder,
    "scale_": scaling.scale,
    "clip_": scaling.clip,
    "exp_": math.exp,
    "sqrt_": math.sqrt,
    "rsqrt_": math.rsqrt,
    "ceil_": math.ceil,
    "floor_": math.floor,
    "round_": math.round,
    "reciprocal_": math.reciprocal,
    "tanh_": math.tanh,
    "masked_fill_": search.masked_fill,
    "scatter_": manipulation.scatter,
    "clamp_": scaling.clip,
    "mod_": math.remainder,
    "floor_mod_": math.remainder,
    **{f"{function.__name__}_": function for function in (
        math.abs, math.acos, math.acosh, math.asin, math.asinh, math.atan, math.atanh, math.cos, math.cosh, math.erf, math.expm1,
        math.floor_divide, math.lerp, math.log, math.log10, math.log1p, math.log2, math.neg, math.pow, math.sin,
        math.sinh, math.square, math.tan, math.trunc, derived.frac, derived.hypot, derived.logit, derived.nan_to_num, linalg.addmm,
        logic.bitwise_and, logic.bitwise_not, logic.bitwise_or, logic.bitwise_xor, reduction.cumprod, reduction.cumsum,
        arranging.index_add, arranging.put_along_axis, picking.index_fill,
        creation.tril, creation.triu, manipulation.flatten, manipulation.t, manipulation.transpose,
    )},
}  # fmt: skip


def _hash(self: Tensor) -> int:
    if self._weak and isinstance(self._value, Variable):  # a number, which Python would look up by its value
        raise dispatch.staged_value_error(self, "hash() (a lookup in a dict or set)")
    return object.__hash__(self)


def install(functions: dict[str, Any]) -> None:
    """Gives `Tensor` its operators, its methods, and the functions of the API whose first argument is a tensor."""
    for name, function in functions.items():
        setattr(Tensor, name, function)
    for name, function in _BINARY.items():
        setattr(Tensor, f"__{name}__", _operand(function, name == "mul"))
        setattr(Tensor, f"__r{name}__", _operand(_reflected(function), name == "mul"))
    for name, compare in _COMPARE.items():
        setattr(Tensor, f"__{name}__", _operand(compare))
    in_place = {function: _inplace(function) for function in INPLACE.values()}  # two names of one function are one method
    for name, function in INPLACE.items():
        setattr(Tensor, name, in_place[function])
    methods: dict[str, Any] = {
        "__neg__": _sign(math.neg), "__pos__": _sign(_itself), "__abs__": _sign(_absolute),
        "__invert__": _sign(logic.bitwise_not),
        "__hash__": _hash, "__bool__": _bool, "__int__": _int, "__float__": _float, "__index__": _index, "__len__": _len,
        "__iter__": _iter, "__contains__": _contains, "__array__": _array, "__format__": _format,
        "__deepcopy__": copies.deep, "__copy__": copies.shallow, "__getstate__": copies.state, "__setstate__": copies.restore,
        "__getitem__": indexing.getitem, "__setitem__": indexing.setitem,
        "__repr__": _str, "__str__": _str,
        "to": to, "fill_": fill_, "zero_": zero_, "uniform_": uniform_, "normal_": normal_,
        "numpy": numpy, "item": item, "tolist": tolist, "detach": detach, "clone": clone,
        "astype": astype, "cast": astype, "set_value": set_value, "copy_": copy_,
        "backward": backward, "gradient": gradient, "clear_grad": clear_grad, "clear_gradient": clear_grad,
        "retain_grads": retain_grads,
        "register_hook": autograd.register_hook,
        "cpu": lambda self: self, "cuda": cuda, "pin_memory": lambda self: self,
        "shape": attribute.read_by_name("shape", attribute.sizes), "size": attribute.read_by_name("size", attribute.count),
        "element_size": lambda self: np.dtype(self.dtype).itemsize,
    }  # fmt: skip
    for name, function in methods.items():
        setattr(Tensor, name, function)
    for name, function in vars(Tensor).items():
        if name.startswith("__") and getattr(function, "__module__", None) == __name__:
            function.__name__ = name  # by which code asks whether a number has such a method, too
