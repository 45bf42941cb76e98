"""`custom_op`: an op of the user's own, written in Python and compiled by Numba."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from . import dims
from .errors import AttributeValueError
from .ops import custom
from .ops.registry import OpDef, TensorType

Made = TypeVar("Made", bound="CustomOp")


class CustomOp:
    """What `custom_op` makes: a function on arrays, and an op that a model file may name.

    Attributes:
        name: the type of the op.
    """

    def __init__(self, definition: custom.Definition):
        self._definition = definition
        self.name = definition.name
        function = getattr(definition.function, "py_func", definition.function)
        self.__name__, self.__doc__ = definition.name, function.__doc__
        self.__module__, self.__qualname__ = function.__module__, function.__qualname__
        self._record: type[OpDef] = custom.register(definition)

    def __call__(self, *arrays: Any, **attrs: int | float | bool) -> Any:
        """The results for arrays."""
        ins = tuple(np.asarray(a) for a in arrays)
        outs = self._record.run_reference(ins, self._record.complete_attrs(attrs))
        return outs[0] if len(outs) == 1 else outs

    def cuda(self, kernel: Any) -> Any:
        """Decorator for the kernel on CUDA: a function for `numba.cuda.jit` of the tensors, the results and the attributes by position, on
        device arrays. It runs on a grid of at least one thread for each element of the first result, whose number it asks for by
        `cuda.grid(1)`. The sizes of results must follow from those of the tensors.
        """
        self._definition.cuda = kernel
        return kernel

    def __reduce__(self) -> str:
        """Pickled and copied as functions are: by the name in its module."""
        return self.__qualname__

    def __repr__(self) -> str:
        return f"<custom op {self.name}>"


def custom_op(function: Any = None, *, infer: Callable[..., Any] | None = None, outputs: int = 1, elementwise: bool = False,
              name: str | None = None) -> Any:  # fmt: skip
    """Makes an op of a function that Numba can compile. A decorator.

    The function takes arrays of NumPy, in C order, which it must not write to, and returns one new array or a tuple of `outputs`. Its
    parameters without a default are tensors; those with a default, which is an int, a float or a bool, are attributes. It may be a plain
    function or what `numba.njit` gives, but not `njit(parallel=True)`. The op runs in native loops and branches. A model file holds its
    name only: who loads the file runs the definition first.

    Args:
        infer: the types of the results, from those of the tensors (each with `shape` and `dtype`) and the attributes by keyword: a pair
            (shape, dtype), or a list of them if there are several outputs. A size that depends on values is -1. A size that only the run
            knows can be added, subtracted, multiplied and divided by `//`, but not compared. The rule depends on nothing else.
        outputs: how many results there are.
        elementwise: the function is one of numbers. It is applied to the elements of its tensors, which broadcast, and `infer` may be left
            out: the result has the dtype of the first tensor.
        name: the type of the op; that of the function if it is left out.

    Returns:
        a callable on arrays with the attributes as keywords.

    Raises:
        AttributeValueError: the function or an argument is none of these, or the name is that of another op.

    >>> import numpy as np
    >>> @custom_op(infer=lambda x: (x.shape[:1], x.dtype))
    ... def largest_gap(x):
    ...     gaps = np.zeros(x.shape[0], x.dtype)
    ...     for i in range(x.shape[0]):
    ...         for j in range(1, x.shape[1]):
    ...             gaps[i] = max(gaps[i], abs(x[i, j] - x[i, j - 1]))
    ...     return gaps
    >>> largest_gap(np.array([[1.0, 4.0, 2.0], [0.0, 0.5, 3.0]]))
    array([3. , 2.5])
    """
    return decorated(CustomOp, function, infer=infer, outputs=outputs, elementwise=elementwise, name=name)


def decorated(kind: type[Made], function: Any, **options: Any) -> Made | Callable[[Any], Made]:
    """The op of a function, or a decorator that waits for it."""
    if function is None:
        return lambda f: kind(_definition(f, **options))
    return kind(_definition(function, **options))


def _definition(function: Any, *, infer: Callable[..., Any] | None, outputs: int, elementwise: bool, name: str | None) -> custom.Definition:
    plain = getattr(function, "py_func", function)
    if not inspect.isfunction(plain):
        raise AttributeValueError(f"custom_op takes a function, or what numba.njit makes of one, got {type(function).__name__}")
    name = plain.__name__ if name is None else name
    if not isinstance(name, str) or not name:
        raise AttributeValueError(f"custom_op: the name of an op is a text, got {name!r}")
    tensors, attrs = [], {}
    for p in inspect.signature(plain).parameters.values():
        if p.kind is not p.POSITIONAL_OR_KEYWORD:
            raise AttributeValueError(f"custom op {name}: the kernel must name its parameters, it has {p}")
        if p.default is p.empty:
            tensors.append(p.name)
        elif isinstance(p.default, (bool, int, float)):
            attrs[p.name] = p.default
        else:
            raise AttributeValueError(f"custom op {name}: the default of {p.name} must be an int, a float or a bool, got {p.default!r}")
    if not tensors:
        raise AttributeValueError(f"custom op {name}: the kernel has no tensor: a parameter without a default is one")
    if outputs < 1 or (elementwise and outputs > 1):
        wanted = "1 for an elementwise op" if elementwise else "1 or more"
        raise AttributeValueError(f"custom op {name}: outputs must be {wanted}, got {outputs}")
    if infer is None:
        if not elementwise:
            raise AttributeValueError(f"custom op {name} needs a rule for its results",
                                      hint="custom_op(infer=lambda x: (x.shape, x.dtype)) gives one of x's shape and dtype")  # fmt: skip
        infer = _broadcast
    return custom.Definition(name, function, tuple(tensors), attrs, infer, outputs, elementwise, _run)


def _broadcast(*ins: TensorType, **attrs: Any) -> tuple[Any, str]:
    shape = ins[0].shape
    for t in ins[1:]:
        shape = dims.broadcast(shape, t.shape)
    return shape, ins[0].dtype


def _run(definition: custom.Definition, ins: Sequence[np.ndarray], wanted: Sequence[TensorType], attrs: dict[str, Any]) -> Any:
    from .executor.engines import require_for_custom

    require_for_custom(definition.name)
    from .executor.custom_kernels import run  # Numba takes a second, and is needed where a kernel runs

    return run(definition, ins, wanted, attrs)
