"""Functions of `fluid.layers` whose arguments or results differ from the 2.x functions.

Operands may be NumPy arrays. A reduction over everything gives one element of shape [1], where 2.x gives a 0-d tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from dy2st_runtime.ir import Variable
from dy2st_runtime.ir.visit import rename_variables

from .. import unique_name
from ..nn import functional as F
from ..nn.functional.by_name import activate
from ..static import nn as static_nn
from ..tensor import Tensor, creation, dispatch, logic, manipulation, promotion, scaling
from ..tensor.api import all_of_numbers
from ..tensor.arguments import Entries, known, staged, truncated
from ..tensor.creation import into
from ..tensor.dispatch import ops
from ..tensor.kinds import Kinds
from ..tensor.promotion import as_tensor
from .mode import is_training


def _elementwise(kind: str) -> Callable[..., Tensor]:
    def function(x: Any, y: Any, axis: int = -1, act: str | None = None, name: str | None = None) -> Tensor:
        a, b, kinds = promotion.operands(x, y)
        if isinstance(kinds, Kinds):  # what may be numbers alone: the run raises where they are
            x, y = (promotion.as_plain_tensor(v) if isinstance(v, Tensor) else v for v in (x, y))
            a, b, _ = promotion.operands(x, y)
        return activate(ops.op(f"elementwise_{kind}", X=a, Y=b, axis=axis), act)

    function.__name__ = function.__qualname__ = f"elementwise_{kind}"
    function.__doc__ = f"x {kind} y, element by element; y's first axis is x's axis `axis` (-1: the last axes meet)."
    return function


elementwise_add = _elementwise("add")
elementwise_sub = _elementwise("sub")
elementwise_mul = _elementwise("mul")
elementwise_div = _elementwise("div")
elementwise_max = _elementwise("max")
elementwise_min = _elementwise("min")
elementwise_pow = _elementwise("pow")
elementwise_mod = _elementwise("mod")
elementwise_floordiv = _elementwise("floordiv")


def _reduction(kind: str) -> Callable[..., Tensor]:
    def function(input: Any, dim: int | Sequence[int] | None = None, keep_dim: bool = False,
                 name: str | None = None) -> Tensor:  # fmt: skip
        dims = [] if dim is None else [dim] if isinstance(dim, int) else list(known(dim, f"reduce_{kind}: dim"))
        out = ops.op(f"reduce_{kind}", X=as_tensor(input), dim=dims, keep_dim=keep_dim, reduce_all=not dims)
        return one_element(out)

    function.__name__ = function.__qualname__ = f"reduce_{kind}"
    function.__doc__ = f"The {kind} over the dims `dim`; over all of them the result has shape [1]."
    return function


def one_element(x: Tensor) -> Tensor:
    """A 0-d tensor as one of shape [1], under the same name."""
    if x.ndim > 0:
        return x
    out = manipulation.reshape(x, [1])
    if isinstance(x._value, Variable) and isinstance(out._value, Variable):
        rename_variables(x._value.block.program, {x.name: out.name, out.name: x.name})
    return out


reduce_sum = _reduction("sum")
reduce_mean = _reduction("mean")
reduce_max = _reduction("max")
reduce_min = _reduction("min")
reduce_prod = _reduction("prod")
reduce_all = _reduction("all")
reduce_any = _reduction("any")


def mean(x: Any, name: str | None = None) -> Tensor:
    """The mean of all elements, of shape [1]."""
    return one_element(ops.op("mean", X=as_tensor(x)))


def fc(input: Any, size: int, num_flatten_dims: int = 1, param_attr: Any = None, bias_attr: Any = None,
       act: str | None = None, name: str | None = None) -> Tensor:  # fmt: skip
    """A fully connected layer; see `static.nn.fc`."""
    return static_nn.fc(input, size, num_flatten_dims, param_attr, bias_attr, act, name)


def reshape(x: Any, shape: Any, actual_shape: Any = None, act: str | None = None, inplace: bool = False,
            name: str | None = None) -> Tensor:  # fmt: skip
    """x in another shape: 0 takes the size of x at this place, -1 what is left."""
    return activate(manipulation.reshape(as_tensor(x), shape if actual_shape is None else actual_shape), act)


def transpose(x: Any, perm: Sequence[int], name: str | None = None) -> Tensor:
    """The dims of x in another order."""
    return manipulation.transpose(as_tensor(x), list(perm))


def concat(input: Sequence[Any], axis: Any = 0, name: str | None = None) -> Tensor:
    """Tensors one after the other along an axis."""
    return manipulation.concat(input if isinstance(input, Entries) else [as_tensor(x) for x in input], axis)


def squeeze(input: Any, axes: Sequence[int], name: str | None = None) -> Tensor:
    """The tensor without some dims of size 1."""
    return manipulation.squeeze(as_tensor(input), list(axes))


def unsqueeze(input: Any, axes: Any, name: str | None = None) -> Tensor:
    """The tensor with dims of size 1 put in."""
    return manipulation.unsqueeze(as_tensor(input), axes)


def matmul(x: Any, y: Any, transpose_x: bool = False, transpose_y: bool = False, alpha: float = 1.0,
           name: str | None = None) -> Tensor:  # fmt: skip
    """The product of matrices, times alpha."""
    out = ops.op("matmul_v2", X=as_tensor(x), Y=as_tensor(y), trans_x=transpose_x, trans_y=transpose_y)
    return out if alpha == 1.0 else scaling.scale(out, alpha)


def mul(x: Any, y: Any, x_num_col_dims: int = 1, y_num_col_dims: int = 1, name: str | None = None) -> Tensor:
    """The product of matrices made of leading and trailing dims."""
    return ops.op("mul", X=as_tensor(x), Y=as_tensor(y), x_num_col_dims=x_num_col_dims, y_num_col_dims=y_num_col_dims)


def dropout(x: Any, dropout_prob: float, is_test: bool | None = None, seed: int | None = None, name: str | None = None,
            dropout_implementation: str = "downgrade_in_infer") -> Tensor:  # fmt: skip
    """Sets elements to zero at random. By default the others stay as they are in training, and all are scaled by
    `1 - dropout_prob` in test mode.

    Args:
        is_test: default: whether the layer whose `forward` calls it is in evaluation mode; False outside of layers.
        seed: is not used: the elements are those that the generator draws (`paddle.seed`).
    """
    training = is_training() if is_test is None else not is_test
    return F.dropout(as_tensor(x), dropout_prob, training=training, mode=dropout_mode(dropout_implementation))


def dropout_mode(implementation: str) -> str:
    """The name that `nn.functional.dropout` has for an implementation of 1.x."""
    return "downscale_in_infer" if implementation == "downgrade_in_infer" else implementation


def softmax(input: Any, use_cudnn: bool = False, name: str | None = None, axis: int = -1) -> Tensor:
    """The softmax along an axis."""
    return F.softmax(as_tensor(input), axis)


def leaky_relu(x: Any, alpha: float = 0.02, name: str | None = None) -> Tensor:
    """x where positive, else alpha * x."""
    return F.leaky_relu(as_tensor(x), alpha)


def cross_entropy(input: Any, label: Any, soft_label: bool = False, ignore_index: int = -100) -> Tensor:
    """The cross entropy of probabilities (not of logits), for each row.

    Args:
        input: probabilities [N, classes].
        label: [N, 1] integers, or with `soft_label` probabilities [N, classes].

    Returns:
        [N, 1].
    """
    return ops.op("cross_entropy", X=as_tensor(input), Label=as_tensor(label), soft_label=soft_label,
                  ignore_index=ignore_index)  # fmt: skip


def fill_constant(shape: Any, dtype: Any, value: Any, force_cpu: bool = False, out: Tensor | None = None,
                  name: str | None = None) -> Tensor:  # fmt: skip
    """`tensor.fill_constant` with the arguments of 1.x, which knew no place."""
    return creation.fill_constant(shape, dtype, value, force_cpu, out)


def zeros(shape: Any, dtype: Any, force_cpu: bool = False, name: str | None = None) -> Tensor:
    """A tensor of zeros."""
    return creation.zeros(shape, dtype)


def ones(shape: Any, dtype: Any, force_cpu: bool = False) -> Tensor:
    """A tensor of ones."""
    return creation.ones(shape, dtype)


def assign(input: Any, output: Tensor | None = None) -> Tensor:
    """A copy; written to `output` if that is given."""
    return into(output, ops.op("assign", X=as_tensor(input)))


def increment(x: Tensor, value: float = 1.0, in_place: bool = True) -> Tensor:
    """x + value; by default x itself becomes it."""
    return into(x if in_place else None, ops.op("increment", X=as_tensor(x), step=float(value)))


def _comparison(kind: str) -> Callable[..., Tensor]:
    function = getattr(logic, kind)

    def compare(x: Any, y: Any, cond: Tensor | None = None, name: str | None = None) -> Tensor:
        return into(cond, function(as_tensor(x), y))

    compare.__name__ = compare.__qualname__ = kind
    compare.__doc__ = (
        f"Whether x is {kind.replace('_', ' ')} y, element by element; written to `cond` if that is given."
    )
    return compare


def less_than(x: Any, y: Any, force_cpu: Any = None, cond: Tensor | None = None, name: str | None = None) -> Tensor:
    """Whether x is less than y, element by element; written to `cond` if that is given."""
    return into(cond, logic.less_than(as_tensor(x), y))


less_equal = _comparison("less_equal")
greater_than = _comparison("greater_than")
greater_equal = _comparison("greater_equal")
equal = _comparison("equal")
not_equal = _comparison("not_equal")


def topk(input: Any, k: int, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The k largest values along the last axis, and where they are."""
    return ops.op("top_k_v2", X=as_tensor(input), k=k)


def one_hot(input: Any, depth: int, allow_out_of_range: bool = False) -> Tensor:
    """[..., 1] integers as rows with a one at their place: [..., depth]. `fluid.one_hot` keeps a last axis of size 1."""
    return one_hot_of_all(_without_last_of_one(as_tensor(input)), depth, allow_out_of_range)


def one_hot_of_all(input: Any, depth: int, allow_out_of_range: bool = False) -> Tensor:
    """`fluid.one_hot`: integers [...] as rows with a one at their place: [..., depth]."""
    x = as_tensor(input)
    slots = {"depth_tensor": truncated(depth)} if staged(depth) else {}
    return ops.op("one_hot_v2", X=x, depth=-1 if slots else int(depth), allow_out_of_range=allow_out_of_range, **slots)


def embedding(input: Any, size: Sequence[int], is_sparse: bool = False, is_distributed: bool = False,
              padding_idx: int | None = None, param_attr: Any = None, dtype: Any = "float32") -> Tensor:  # fmt: skip
    """Rows of a table by their numbers: [..., 1] integers give [..., columns]. `fluid.embedding` keeps a last axis of size 1."""
    x = _without_last_of_one(as_tensor(input))
    return static_nn.embedding(x, size, is_sparse, is_distributed, padding_idx, param_attr, dtype)


def _without_last_of_one(x: Tensor) -> Tensor:
    return manipulation.squeeze(x, [-1]) if x.ndim > 1 else x


def slice(input: Any, axes: Sequence[int], starts: Sequence[int], ends: Sequence[int]) -> Tensor:
    """A part of a tensor: from `starts` to `ends` along `axes`."""
    return ops.op("slice", Input=as_tensor(input), axes=list(axes), starts=list(starts), ends=list(ends))


def create_tensor(dtype: Any, name: str | None = None, persistable: bool = False) -> Tensor:
    """An empty tensor, to be given a value by `assign(x, output=...)`."""
    t = dispatch.constant(np.zeros([0], promotion._dtype.canonical(dtype)))
    if name is not None or not t.is_symbolic:  # a variable of a program has a name already
        t.name = name or unique_name.generate("create_tensor")
    t.persistable = persistable
    return t


all_of_numbers(globals(), __name__)
