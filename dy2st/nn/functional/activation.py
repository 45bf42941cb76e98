"""Activations. Each works element by element, on Tensors of any shape and a floating-point dtype, unless it says otherwise."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.ops import registry

from ...errors import AttributeValueError, DTypeError
from ...framework.dtype import convert_dtype
from ...tensor import Tensor, creation, logic, manipulation, math, random, scaling, search
from ...tensor.arguments import as_python, known, staged
from ...tensor.dispatch import ops
from ...tensor.inplace import rebind
from ...tensor.location import user_location
from ...tensor.math import unary
from ...tensor.promotion import as_tensor, cast

_SOFTMAX = registry.get("softmax")


def relu(x: Any, name: str | None = None) -> Tensor:
    """max(x, 0).

    >>> relu(Tensor([-1.0, 2.0])).numpy()
    array([0., 2.], dtype=float32)
    """
    return unary("relu", x)


def relu_(x: Tensor, name: str | None = None) -> Tensor:
    """`relu` in place."""
    return rebind(x, relu(x), differentiable=True)


def relu6(x: Any, name: str | None = None) -> Tensor:
    """min(max(x, 0), 6)."""
    return unary("relu6", x)


def elu_(x: Tensor, alpha: float = 1.0, name: str | None = None) -> Tensor:
    """`elu` in place."""
    return rebind(x, elu(x, alpha), differentiable=True)


def tanh_(x: Tensor, name: str | None = None) -> Tensor:
    """`tanh` in place."""
    return rebind(x, tanh(x), differentiable=True)


def _number(x: Any, op_type: str) -> Tensor:
    """An operand of arithmetic that stands for an op, which takes no bool."""
    x = as_tensor(x)
    if x.dtype == "bool":
        raise DTypeError(f"{op_type} does not take bool", location=user_location(3))
    return x


def softmax_(x: Tensor, axis: int = -1, name: str | None = None) -> Tensor:
    """`softmax` in place."""
    return rebind(x, softmax(x, axis), differentiable=True)


def sigmoid(x: Any, name: str | None = None) -> Tensor:
    """1 / (1 + exp(-x)).

    >>> sigmoid(Tensor([0.0])).numpy()
    array([0.5], dtype=float32)
    """
    return unary("sigmoid", x)


def tanh(x: Any, name: str | None = None) -> Tensor:
    """The hyperbolic tangent."""
    return unary("tanh", x)


def gelu(x: Any, approximate: bool = False, name: str | None = None) -> Tensor:
    """x times the normal distribution function of x; `approximate` uses the formula with tanh."""
    return unary("gelu", x, approximate=approximate)


def silu(x: Any, name: str | None = None) -> Tensor:
    """x * sigmoid(x)."""
    return unary("silu", x)


def swish(x: Any, name: str | None = None) -> Tensor:
    """x * sigmoid(x)."""
    return unary("swish", x)


def mish(x: Any, name: str | None = None) -> Tensor:
    """x * tanh(softplus(x))."""
    return unary("mish", x)


def leaky_relu(x: Any, negative_slope: float = 0.01, name: str | None = None) -> Tensor:
    """x where x > 0, else negative_slope * x."""
    if staged(negative_slope):
        negative_slope = as_python(negative_slope)
        x = unary("leaky_relu", x, alpha=1.0)  # x itself, if it has a dtype that there is one of
        return logic.where(x < 0, x * negative_slope, x)
    return unary("leaky_relu", x, alpha=negative_slope)


def elu(x: Any, alpha: float = 1.0, name: str | None = None) -> Tensor:
    """x where x > 0, else alpha * (exp(x) - 1)."""
    if staged(alpha):
        # the op's own result is not used but where it is x
        x, out = as_tensor(x), unary("elu", x)
        return logic.where(x > 0, out, as_python(alpha) * math.expm1(logic.where(x > 0, 0.0, x)))
    return unary("elu", x, alpha=alpha)


def selu(x: Any, scale: float = 1.0507009873554804934193349852946, alpha: float = 1.6732632423543772848170429916717,
         name: str | None = None) -> Tensor:  # fmt: skip
    """scale * elu(x, alpha)."""
    return scaling.scale(elu(x, alpha), scale)


def celu(x: Any, alpha: float = 1.0, name: str | None = None) -> Tensor:
    """max(0, x) + min(0, alpha * (exp(x / alpha) - 1))."""
    return scaling.scale(elu(scaling.scale(x, 1.0 / alpha), 1.0), alpha)


def hardswish(x: Any, name: str | None = None) -> Tensor:
    """x * relu6(x + 3) / 6."""
    return unary("hard_swish", x)


def hardsigmoid(x: Any, slope: float = 0.1666667, offset: float = 0.5, name: str | None = None) -> Tensor:
    """slope * x + offset, limited to 0 ... 1."""
    if staged(slope) or staged(offset):
        return unary("hard_sigmoid", _number(x, "hard_sigmoid") * as_python(slope) + as_python(offset), slope=1.0, offset=0.0)
    return unary("hard_sigmoid", x, slope=slope, offset=offset)


def hardtanh(x: Any, min: float = -1.0, max: float = 1.0, name: str | None = None) -> Tensor:
    """x limited to min ... max."""
    return scaling.clip(x, min, max)


def hardshrink(x: Any, threshold: float = 0.5, name: str | None = None) -> Tensor:
    """`x` where `|x| > threshold`, else 0."""
    x = as_tensor(x)
    return logic.where(math.abs(x) > threshold, x, 0.0)


def softshrink(x: Any, threshold: float = 0.5, name: str | None = None) -> Tensor:
    """x moved towards 0 by the threshold, 0 in between."""
    x = as_tensor(x)
    return relu(x - threshold) - relu(-x - threshold)


def tanhshrink(x: Any, name: str | None = None) -> Tensor:
    """x - tanh(x)."""
    return math.subtract(x, math.tanh(x))


def thresholded_relu(x: Any, threshold: float = 1.0, name: str | None = None) -> Tensor:
    """x where x > threshold, else 0."""
    x = as_tensor(x)
    return logic.where(x > threshold, x, 0.0)


def softplus(x: Any, beta: float = 1.0, threshold: float = 20.0, name: str | None = None) -> Tensor:
    """log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold."""
    if staged(beta) or staged(threshold):
        x, beta, threshold = _number(x, "softplus"), as_python(beta), as_python(threshold)
        scaled = x * beta
        return logic.where(scaled > threshold, x, unary("softplus", scaled, beta=1.0, threshold=float("inf")) / beta)
    return unary("softplus", x, beta=float(beta), threshold=float(threshold))


def softsign(x: Any, name: str | None = None) -> Tensor:
    """`x / (1 + |x|)`."""
    return unary("softsign", x)


def log_sigmoid(x: Any, name: str | None = None) -> Tensor:
    """log(sigmoid(x)), without overflow."""
    return unary("logsigmoid", x)


def softmax(x: Any, axis: int = -1, dtype: Any = None, name: str | None = None) -> Tensor:
    """exp(x) / sum(exp(x)) along an axis, without overflow.

    Args:
        x: Tensor of at least one dim.
        axis: the sums are 1 along it.
        dtype: x is cast to it first.

    >>> softmax(Tensor([0.0, 0.0])).numpy()
    array([0.5, 0.5], dtype=float32)
    """
    x = as_tensor(x)
    if dtype is not None:
        x = cast(x, convert_dtype(dtype))
    return ops.apply(_SOFTMAX, (x,), {"axis": axis} if type(axis) is int else _SOFTMAX.complete_attrs({"axis": axis}))[0]


def log_softmax(x: Any, axis: int = -1, dtype: Any = None, name: str | None = None) -> Tensor:
    """log(softmax(x)), without overflow."""
    x = as_tensor(x)
    return ops.op("log_softmax", X=x if dtype is None else cast(x, convert_dtype(dtype)), axis=axis)


def prelu(x: Any, weight: Tensor, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """x where x > 0, else weight * x; the weight has one element, or one for each channel."""
    x, weight = as_tensor(x), as_tensor(weight)
    if weight.size != 1:
        channel = x.ndim - 1 if data_format.endswith("C") else 1
        weight = manipulation.reshape(weight, [-1] + [1] * (x.ndim - 1 - channel))
    return relu(x) - weight * relu(-x)


def glu(x: Any, axis: int = -1, name: str | None = None) -> Tensor:
    """The first half of x along an axis times the sigmoid of the second."""
    a, b = manipulation.split(x, 2, axis)
    return a * sigmoid(b)


def maxout(x: Any, groups: int, axis: int = 1, name: str | None = None) -> Tensor:
    """The maximum over groups of channels: channel c of the result is that of the channels c * groups + i."""
    x = as_tensor(x)
    axis %= x.ndim
    shape = x.shape
    split = manipulation.reshape(x, [*shape[:axis], shape[axis] // groups, groups, *shape[axis + 1 :]])
    return ops.op("reduce_max", X=split, dim=[axis + 1])


def rrelu(x: Any, lower: float = 1.0 / 8.0, upper: float = 1.0 / 3.0, training: bool = True,
          name: str | None = None) -> Tensor:  # fmt: skip
    """x where x > 0, else a * x with a drawn from [lower, upper) for each element in training; else their mean.

    Raises:
        AttributeValueError: not 0 <= lower <= upper <= 1.
    """
    if not 0 <= known(lower, "rrelu: a slope") <= known(upper, "rrelu: a slope") <= 1:
        raise AttributeValueError(f"rrelu: the slopes must be 0 <= lower <= upper <= 1, got {lower} and {upper}")
    x = as_tensor(x)
    if not training:
        return leaky_relu(x, (lower + upper) / 2)
    return logic.where(x > 0, x, x * random.uniform(x.shape, x.dtype, lower, upper))


def gumbel_softmax(x: Any, temperature: float = 1.0, hard: bool = False, axis: int = -1,
                   name: str | None = None) -> Tensor:  # fmt: skip
    """softmax((x + noise) / temperature) along an axis: a sample of the classes whose log-probabilities x gives.

    Args:
        hard: 1 for the likeliest and 0 for the others; the gradient is that without `hard`.
    """
    x = as_tensor(x)
    drawn = random.uniform(x.shape, x.dtype, 1e-10, 1.0)
    soft = softmax((x - math.log(-math.log(drawn))) / temperature, axis)
    if not hard:
        return soft
    axis %= x.ndim
    places = manipulation.reshape(creation.arange(0, x.shape[axis], 1, "int64"), [-1] + [1] * (x.ndim - 1 - axis))
    one = cast(places == search.argmax(soft, axis, keepdim=True), x.dtype)
    return one - soft.detach() + soft
