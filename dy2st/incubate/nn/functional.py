"""`incubate.nn.functional`: functions of which PaddlePaddle has a kernel of its own. The compiler fuses what they are made of."""

from __future__ import annotations

from ...errors import AttributeValueError
from ...missing_names import explain_missing as _explain_missing
from ...nn import functional as F
from ...tensor import Tensor
from ...tensor.linalg import matmul


def fused_matmul_bias(x: Tensor, y: Tensor, bias: Tensor | None = None, transpose_x: bool = False, transpose_y: bool = False,
                      name: str | None = None) -> Tensor:  # fmt: skip
    """x @ y + bias.

    Args:
        x, y: matrices, or batches of them.
        bias: of the size of the last dim of the result, or None.
        transpose_x, transpose_y: whether their last two dims are exchanged before.

    >>> import dy2st as paddle
    >>> fused_matmul_bias(paddle.ones([1, 2]), paddle.ones([3, 2]), paddle.ones([3]), transpose_y=True).tolist()
    [[3.0, 3.0, 3.0]]
    """
    product = matmul(x, y, transpose_x, transpose_y)
    return product if bias is None else product + bias


def fused_linear(x: Tensor, weight: Tensor, bias: Tensor | None = None, transpose_weight: bool = False, name: str | None = None) -> Tensor:
    """x @ weight + bias.

    Args:
        x: [..., in].
        weight: [in, out], or with `transpose_weight` [out, in].
        bias: [out], or None.
    """
    return fused_matmul_bias(x, weight, bias, False, transpose_weight)


def fused_linear_activation(x: Tensor, y: Tensor, bias: Tensor, trans_x: bool = False, trans_y: bool = False,
                            activation: str | None = None) -> Tensor:  # fmt: skip
    """activation(x @ y + bias).

    Args:
        x, y, bias, trans_x, trans_y: see `fused_matmul_bias`.
        activation: "gelu", in the form with `tanh`; "relu"; "none" or None.

    Raises:
        AttributeValueError: another activation.
    """
    found = fused_matmul_bias(x, y, bias, trans_x, trans_y)
    if activation in (None, "none"):
        return found
    if activation == "relu":
        return F.relu(found)
    if activation == "gelu":
        return F.gelu(found, approximate=True)
    raise AttributeValueError(f"activation must be 'gelu', 'relu', 'none' or None, got {activation!r}")


def fused_dropout_add(x: Tensor, y: Tensor, p: float = 0.5, training: bool = True, mode: str = "upscale_in_train",
                      name: str | None = None) -> Tensor:  # fmt: skip
    """dropout(x) + y; see `nn.functional.dropout`."""
    return F.dropout(x, p, training=training, mode=mode) + y


_explain_missing(__name__)
