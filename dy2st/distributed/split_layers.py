"""`split`: a layer whose weight is divided among processes, of which there is one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import AttributeValueError, ModeError
from ..nn import functional as F
from ..nn.parameter import make_parameter
from ..tensor import Tensor
from ..tensor.dispatch import in_dynamic_mode
from ..unique_name import generate
from .environment import check_world, require_one_process


def split(x: Tensor, size: Sequence[int], operation: str, axis: int = 0, num_partitions: int = 1, gather_out: bool = True,
          weight_attr: Any = None, bias_attr: Any = None, name: str | None = None) -> Tensor:  # fmt: skip
    """A linear layer or an embedding in a Program, whose weight has one part for each process: in one process, the whole.

    Args:
        x: of shape [..., size[0]] for "linear"; indices of any shape for "embedding".
        size: rows and columns of the weight.
        operation: "linear" or "embedding".
        axis: along which the weight is divided, 0 or 1; without effect.
        num_partitions: 1.
        gather_out: without effect.
        weight_attr, bias_attr: `ParamAttr`, name, initializer; False for the bias: none.
        name: of the layer.

    Returns:
        of shape [..., size[1]].

    Raises:
        WorldError: there are more partitions than processes.
        ModeError: no Program is being built. Use `nn.Linear` or `nn.Embedding` there.
    """
    require_one_process()
    check_world(num_partitions, "num_partitions of split")
    if operation not in ("linear", "embedding"):
        raise AttributeValueError(f"operation must be 'linear' or 'embedding', got {operation!r}")
    if axis not in (0, 1) or len(size) != 2:
        raise AttributeValueError(f"split divides a weight of two dims along 0 or 1, got size {list(size)} and axis {axis!r}")
    if in_dynamic_mode():
        raise ModeError("split makes the parameters of a Program, and none is being built", hint="use nn.Linear or nn.Embedding")
    layer = name or generate(f"split_{operation}")
    weight = make_parameter(list(size), weight_attr, x.dtype if operation == "linear" else "float32", prefix=layer)
    if operation == "embedding":
        return F.embedding(x, weight)
    return F.linear(x, weight, make_parameter([size[1]], bias_attr, x.dtype, is_bias=True, prefix=layer))
