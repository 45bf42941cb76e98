"""`Tensor`: one class for eager values (a NumPy array) and symbolic ones (a Variable of a Program being built)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from dy2st_runtime.dtype import name_of
from dy2st_runtime.ir import Variable

from .. import unique_name
from ..errors import DTypeError, ShapeError
from ..framework.dtype import convert_dtype, get_default_dtype
from ..framework.place import CPUPlace, Place
from . import due, watching
from .recorders import current_recorder

if TYPE_CHECKING:
    from .kinds import Kinds
    from .signatures import TensorMethods
    from .tape import Node
else:
    TensorMethods = object


class Tensor(TensorMethods):
    """A multi-dimensional array that knows how it was computed.

    Eager, `_value` is a NumPy array; while a Program is built or traced, it is a Variable of it. The array of a
    tensor is
    never written to: in-place functions replace it (`dispatch.rebind`), so that arrays can be shared freely. Only the steps of
    optimizers write to arrays, to those that nobody else has (`optimizer.compiled`).

    Args:
        data: a number, a (nested) list of numbers, an array or a Tensor.
        dtype: of the tensor; default: that of the data, Python floats become the default dtype.
        stop_gradient: whether no gradient is computed for it.
        name: default: a unique one.

    Attributes:
        stop_gradient: whether no gradient flows to it.
        persistable: whether it is state (a parameter, a buffer) that lives as long as its owner.

    Raises:
        DTypeError: the data is no array of numbers.

    >>> Tensor([1.5, 2.0])
    Tensor(shape=[2], dtype=float32, place=CPUPlace, stop_gradient=True,
           [1.50000000, 2.        ])
    """

    # static calls read these of all parameters, with cold caches: they are in the object itself, not in a dict behind it
    __slots__ = ("__dict__", "__weakref__", "_stop", "_value")

    # class-level defaults keep the creation of a tensor cheap
    _node: Node | None = None
    _index = 0
    _grad: Tensor | None = None
    _name: str | None = None
    # _weak: stands for a Python number, at least on some path; _kinds: all that it may be, if that is not one kind
    _weak = False
    _kinds: Kinds | None = None
    # while tracing: the object for which this one stands too, as several variables and tensors of a trace can be one tensor
    _who: Any = None
    # the same, that may be None or a number, of which this is the tensor alone
    _whole: Tensor | None = None
    # groups of tensors (`twins`) of which this may be another one
    _ties: tuple[Any, ...] = ()
    # of the size of an axis: the variable that has it, and the axis
    _size_of: tuple[Any, int] | None = None
    # the trace that has computed it, and its position among the fetches
    _result_of: tuple[Any, int] | None = None
    # of one that waits (`deferred`): what for, which of its results it is, its shape and dtype
    _source: Any = None
    _slot = -1
    _expected: Any = None
    persistable = False
    _value: np.ndarray | Variable
    _stop: bool

    # NumPy's operators leave `array + tensor` to the tensor
    __array_priority__ = 100.0

    def __init__(self, data: Any = 0.0, dtype: Any = None, place: Any = None, stop_gradient: bool = True,
                 name: str | None = None) -> None:  # fmt: skip
        self._value = data._value if isinstance(data, Tensor) and dtype is None else to_array(data, dtype)
        self._stop = bool(stop_gradient)
        self._name = name

    @staticmethod
    def wrap(value: np.ndarray | Variable, stop_gradient: bool = True) -> Tensor:
        """A tensor around an array (not copied) or a Variable."""
        t = Tensor.__new__(Tensor)
        t._value = value
        t._stop = stop_gradient
        return t

    def alike(self, value: np.ndarray | Variable) -> Tensor:
        """The same tensor, a number if it is one, around another value."""
        t = Tensor.wrap(value, self._stop if not isinstance(value, Variable) else value.stop_gradient)
        t._weak, t._kinds = self._weak, self._kinds
        t._who = self if self._who is None else self._who
        return t

    # ---- what it is ----
    @property
    def _form(self) -> Any:
        """What has its shape and dtype: the value, unless that is computed later."""
        return self._value

    @property
    def is_symbolic(self) -> bool:
        """Whether the value is only known when the Program runs."""
        return isinstance(self._value, Variable)

    @property
    def stop_gradient(self) -> bool:
        if isinstance(self._value, Variable):
            recorder = current_recorder()
            if recorder is not None:
                recorder.require_known_gradient(self)
        return self._stops

    @stop_gradient.setter
    def stop_gradient(self, stop: bool) -> None:
        recorder = current_recorder()
        if recorder is None:
            watching.end()
            self.set_stop(stop)
        else:
            recorder.switch_gradient(self, stop)

    @property
    def _stops(self) -> bool:
        """Whether no gradient flows to it in any run."""
        return self._value.stop_gradient if isinstance(self._value, Variable) else self._stop

    def set_stop(self, stop: bool) -> None:
        """Sets `stop_gradient` of a value of which nothing was computed yet."""
        self._stop = bool(stop)
        if isinstance(self._value, Variable):
            self._value.stop_gradient = self._stop

    @property
    def name(self) -> str:
        """A unique name; that of the Variable for a symbolic tensor."""
        if (recorder := current_recorder()) is not None:
            recorder.on_name_read(self, sys._getframe(1))
        if self._name is None:
            if isinstance(self._value, Variable) and not self.persistable:
                if recorder is not None:
                    recorder.require_known_name(self)
                return self._value.name
            self._name = unique_name.generate("generated_tensor")
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        recorder = current_recorder()
        if recorder is not None:
            recorder.require_name_of_its_own(self, name)
        self._name = name

    @property
    def dtype(self) -> str:
        """The name of the dtype: "float32"."""
        v = self._value
        return v.dtype if isinstance(v, Variable) else name_of(v)

    @property
    def ndim(self) -> int:
        """The number of dims."""
        v = self._value
        return len(v.shape) if isinstance(v, Variable) else v.ndim

    def dim(self) -> int:
        """The number of dims."""
        return self.ndim

    ndimension = dim

    @property
    def place(self) -> Place:
        """Where the value is: eager values are on the host."""
        return CPUPlace()

    @property
    def is_leaf(self) -> bool:
        """Whether it is no result of an op that gradients flow through: True for what somebody made, and where `stop_gradient` is."""
        recorder = current_recorder()
        return self.stop_gradient or (self._is_leaf if recorder is None else recorder.tell_leaf(self))

    @property
    def _is_leaf(self) -> bool:
        """Whether it is no result of a recorded op, as far as it was recorded eagerly."""
        return self._node is None or self._node.is_leaf

    @property
    def block(self) -> Any:
        """The block of a symbolic tensor's Variable."""
        return self._value.block if isinstance(self._value, Variable) else None

    @property
    def grad(self) -> Tensor | None:
        """The gradient that `backward` accumulated here; None if there is none."""
        if due.debtors:
            due.deliver()
        recorder = current_recorder()
        if recorder is not None:
            return recorder.gradient(self)
        if self._node is not None and self._node.misses(self._index):
            raise self._node.unknown()
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None and not isinstance(value, Tensor):
            raise DTypeError(f"a gradient must be a Tensor or None, got {type(value).__name__}")
        if due.debtors:
            due.deliver()
        if value is not None and value._value.shape != self._value.shape:
            raise ShapeError(
                f"a tensor of shape {list(self._value.shape)} cannot have a gradient of shape {list(value._value.shape)}"
            )
        recorder = current_recorder()
        if recorder is None:
            self._grad = value
        else:
            recorder.set_gradient(self, value)


class Parameter(Tensor):
    """A trainable tensor of a Layer: persistable, with `stop_gradient=False` unless `trainable=False`.

    Attributes:
        optimize_attr: {"learning_rate": factor on the optimizer's learning rate}.
        regularizer: a weight decay for this parameter only.
        need_clip: whether gradient clipping sees it.
    """

    persistable = True

    def __init__(self, data: Any, dtype: Any = None, name: str | None = None, trainable: bool = True,
                 learning_rate: float = 1.0, regularizer: Any = None, need_clip: bool = True) -> None:  # fmt: skip
        super().__init__(data, dtype, stop_gradient=not trainable, name=name)
        self.optimize_attr: dict[str, float] = {"learning_rate": learning_rate}
        self.regularizer = regularizer
        self.need_clip = need_clip
        self.is_distributed = False

    @property
    def trainable(self) -> bool:
        return not self._stops

    @trainable.setter
    def trainable(self, trainable: bool) -> None:
        self.stop_gradient = not trainable


def to_array(data: Any, dtype: Any = None) -> np.ndarray:
    """The data of a new tensor as an array of its own, in Paddle's dtypes (Python floats get the default dtype).

    Raises:
        DTypeError: something in the data is no number.
        ShapeError: rows differ in length.
    """
    if isinstance(data, Tensor):
        data = data.numpy()
    given = isinstance(data, (np.ndarray, np.generic))
    plain = _plain(data)
    try:
        array = np.array(plain)
    except ValueError:
        require_numbers(plain)
        raise ShapeError("a tensor cannot be made of rows that differ in length", hint="pad the rows, or make a tensor of each") from None
    if array.dtype.kind not in "biuf":
        require_numbers(plain)
        raise DTypeError(f"a tensor cannot be made of {type(data).__name__} {data!r:.60}", hint="the numbers have no dtype in common")
    if dtype is not None:
        return array.astype(convert_dtype(dtype), copy=False)
    if not given and array.dtype == np.float64 and not _holds_float64(data):
        return array.astype(get_default_dtype())
    if not given and array.dtype.kind == "i":
        return array.astype(np.int64, copy=False)
    convert_dtype(array.dtype)  # an unsupported dtype is an error
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))  # of files, often in the other order of bytes


def require_numbers(data: Any) -> None:
    """DTypeError if an entry of a nested list is no number and no array of numbers."""
    if isinstance(data, (list, tuple)):
        for d in data:
            require_numbers(d)
    elif np.asarray(data).dtype.kind not in "biuf":
        raise DTypeError(f"a tensor cannot be made of {type(data).__name__} {data!r:.60}", hint="give numbers or bools")


def _plain(data: Any) -> Any:
    """The data with tensors in lists replaced by their values."""
    if isinstance(data, Tensor):
        return data.numpy()
    if isinstance(data, (list, tuple)):
        return [_plain(d) for d in data]
    return data


def _holds_float64(data: Any) -> bool:
    """Whether a list holds float64 arrays or tensors, whose dtype the new tensor keeps."""
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    return isinstance(data, Tensor | np.ndarray) and data.dtype == "float64"
