"""Making parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dy2st_runtime.ir import Variable

from .. import unique_name
from ..errors import ShapeError
from ..framework.dtype import convert_dtype, get_default_dtype
from ..tensor import Parameter, Tensor, autograd, dispatch
from . import initializer as init
from .param_attr import ParamAttr


def make_parameter(shape: Sequence[int], attr: Any = None, dtype: Any = None, is_bias: bool = False,
                   default_initializer: init.Initializer | None = None, prefix: str = "parameter") -> Any:  # fmt: skip
    """A parameter; None if `attr` is False.

    While a program is built by hand, the parameter is a persistable variable of it, and its initial value is computed by the
    startup program.

    Args:
        shape: list of ints; of an `Assign`, that of its value.
        attr: see `ParamAttr.of`.
        dtype: default: the default dtype.
        is_bias: whether it starts from zeros by default.
        default_initializer: used if `attr` names none.
        prefix: the name is `prefix.w_0` (or `b_0`) if `attr` gives none.

    Raises:
        ShapeError: a size is no positive int.
    """
    attr = ParamAttr.of(attr)
    if attr is None:
        return None
    sizes = [int(d) for d in shape]
    if any(d <= 0 for d in sizes):
        raise ShapeError(f"a parameter cannot have the shape {list(shape)}")
    wanted = get_default_dtype() if dtype is None else convert_dtype(dtype)
    chosen = attr.initializer
    if chosen is None:
        chosen = default_initializer if default_initializer is not None and not init.is_global(is_bias) else None
    if chosen is None:
        chosen = init.default_initializer(is_bias)
    sizes = chosen.shape_for(sizes)
    name = attr.name or unique_name.generate(f"{prefix}.{'b' if is_bias else 'w'}")
    recorder = dispatch.current_recorder()
    p = None if recorder is None else recorder.parameter(name, sizes, wanted, chosen.make, attr.trainable)
    if p is None:
        with dispatch.eager(), autograd.no_grad():
            p = Parameter.__new__(Parameter)
            p._value = chosen.make(sizes, wanted)._value
            p._stop, p._name = not attr.trainable, name
    return describe(p, attr)


def describe(p: Parameter, attr: ParamAttr) -> Parameter:
    """Gives a parameter the attributes that optimizers read."""
    p.optimize_attr = {"learning_rate": attr.learning_rate}
    p.regularizer, p.need_clip, p.is_distributed = attr.regularizer, attr.need_clip, False
    return p


def make_buffer(shape: Sequence[int], value: float, dtype: str, name: str) -> Tensor:
    """State that is no parameter, filled with a value: a tensor, or while a program is built a persistable variable of it."""
    chosen = init.Constant(value)
    recorder = dispatch.current_recorder()
    t = None if recorder is None else recorder.parameter(name, list(shape), dtype, chosen.make, False)
    if t is not None:
        if isinstance(t._value, Variable):
            t._value.is_parameter = False
        return describe(t, ParamAttr(trainable=False))
    with dispatch.eager():
        made = chosen.make(list(shape), dtype)
    made._name, made.persistable = name, True
    return made


def create_parameter(shape: Sequence[int], dtype: Any = None, name: str | None = None, attr: Any = None,
                     is_bias: bool = False, default_initializer: Any = None) -> Parameter:  # fmt: skip
    """A parameter outside of any Layer. While a program is built by hand, it is one of the main program, and the startup program
    computes its initial value.

    Args:
        shape: list of ints.
        dtype: default: the default dtype.
        name: its name; beside an `attr` without a name, the stem of its name (`NAME.w_0`), as in PaddlePaddle.
        attr: a `ParamAttr`, a name, an initializer; False: no parameter (None).
        is_bias: whether it starts from zeros by default.
        default_initializer: used if `attr` names none.

    >>> create_parameter([2], "float32", name="scale").name
    'scale'
    """
    stem = name or unique_name.generate("create_parameter")
    return make_parameter(shape, name if attr is None else attr, dtype, is_bias, default_initializer, stem)
