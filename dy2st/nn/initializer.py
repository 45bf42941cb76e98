"""Initial values of parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import AttributeValueError, ShapeError
from ..missing_names import explain_missing as _explain_missing
from ..tensor import Tensor, creation, dispatch, manipulation, random


class Initializer:
    """Base of initializers. `make(shape, dtype)` gives a value, as ops; `initializer(parameter)` sets it in place."""

    def shape_for(self, shape: Sequence[int]) -> list[int]:
        """The shape of a parameter that is made with this initializer, where one of this shape is asked for."""
        return list(shape)

    def make(self, shape: Sequence[int], dtype: str) -> Tensor:
        """A Tensor of the shape and dtype."""
        raise NotImplementedError

    def __call__(self, param: Tensor, block: Any = None) -> Tensor:
        param.set_value(self.make([int(d) for d in param.shape], param.dtype))
        return param


class Constant(Initializer):
    """One value everywhere.

    >>> Constant(2.0).make([2], "float32").numpy()
    array([2., 2.], dtype=float32)
    """

    def __init__(self, value: float = 0.0):
        self.value = value

    def make(self, shape: Sequence[int], dtype: str) -> Tensor:
        return creation.full(list(shape), self.value, dtype)


class Normal(Initializer):
    """The normal distribution."""

    def __init__(self, mean: float = 0.0, std: float = 1.0, name: str | None = None, loc: float | None = None,
                 scale: float | None = None, seed: int = 0) -> None:  # fmt: skip
        self.mean = mean if loc is None else loc
        self.std = std if scale is None else scale
        self.seed = seed

    def make(self, shape: Sequence[int], dtype: str) -> Tensor:
        return random.gaussian(list(shape), self.mean, self.std, self.seed, dtype)


class TruncatedNormal(Initializer):
    """The normal distribution, cut off two standard deviations from the mean."""

    def __init__(self, mean: float = 0.0, std: float = 1.0, name: str | None = None, loc: float | None = None,
                 scale: float | None = None, seed: int = 0) -> None:  # fmt: skip
        self.mean = mean if loc is None else loc
        self.std = std if scale is None else scale
        self.seed = seed

    def make(self, shape: Sequence[int], dtype: str) -> Tensor:
        return random.truncated_gaussian(list(shape), self.mean, self.std, self.seed, dtype)


class Uniform(Initializer):
    """The uniform distribution on [low, high)."""

    def __init__(self, low: float = -1.0, high: float = 1.0, name: str | None = None, seed: int = 0):
        self.low, self.high, self.seed = low, high, seed

    def make(self, shape: Sequence[int], dtype: str) -> Tensor:
        return random.uniform(list(shape), dtype, self.low, self.high, self.seed)


def fans(shape: Sequence[int]) -> tuple[int, int]:
    """How many values go into and come out of a unit: of `[in, out]`, or of a filter `[out, in, *kernel]`.

    >>> fans([3, 4]), fans([8, 3, 5, 5])
    ((3, 4), (75, 200))
    """
    if len(shape) < 2:
        return (shape[0], shape[0]) if shape else (1, 1)
    if len(shape) == 2:
        return shape[0], shape[1]
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


class _Scaled(Initializer):
    """Drawn with a variance that depends on the fans."""

    uniform = True
    seed = 0

    def variance(self, shape: Sequence[int]) -> float:
        raise NotImplementedError

    def make(self, shape: Sequence[int], dtype: str) -> Tensor:
        std = math.sqrt(self.variance(shape))
        if self.uniform:
            limit = math.sqrt(3.0) * std
            return random.uniform(list(shape), dtype, -limit, limit, self.seed)
        return random.gaussian(list(shape), 0.0, std, self.seed, dtype)


class Xavier(_Scaled):
    """Variance 2 / (fan_in + fan_out).

    Args:
        uniform: uniform, not normal.
        fan_in, fan_out: instead of those of the shape.
        seed: not 0: a stream of its own.
    """

    def __init__(self, uniform: bool = True, fan_in: float | None = None, fan_out: float | None = None, seed: int = 0,
                 gain: float = 1.0) -> None:  # fmt: skip
        self.uniform, self.fan_in, self.fan_out, self.seed, self.gain = uniform, fan_in, fan_out, seed, gain

    def variance(self, shape: Sequence[int]) -> float:
        fan_in, fan_out = fans(shape)
        total = (fan_in if self.fan_in is None else self.fan_in) + (fan_out if self.fan_out is None else self.fan_out)
        return self.gain**2 * 2.0 / total


class XavierUniform(Xavier):
    """`Xavier` from a uniform distribution."""

    def __init__(self, fan_in: float | None = None, fan_out: float | None = None, gain: float = 1.0,
                 name: str | None = None) -> None:  # fmt: skip
        super().__init__(True, fan_in, fan_out, gain=gain)


class XavierNormal(Xavier):
    """`Xavier` from a normal distribution."""

    def __init__(self, fan_in: float | None = None, fan_out: float | None = None, gain: float = 1.0,
                 name: str | None = None) -> None:  # fmt: skip
        super().__init__(False, fan_in, fan_out, gain=gain)


class Kaiming(_Scaled):
    """Variance gain ** 2 / fan_in, where the gain suits the nonlinearity that follows.

    Args:
        uniform: uniform, not normal.
        fan_in: instead of that of the shape.
        negative_slope: of leaky_relu.
        nonlinearity: "relu", "leaky_relu", "tanh", "sigmoid", "selu", "linear", ...
    """

    def __init__(self, uniform: bool = True, fan_in: float | None = None, negative_slope: float = 0.0,
                 nonlinearity: str = "relu", seed: int = 0) -> None:  # fmt: skip
        self.uniform, self.fan_in, self.seed = uniform, fan_in, seed
        self.gain = calculate_gain(nonlinearity, negative_slope)

    def variance(self, shape: Sequence[int]) -> float:
        return self.gain**2 / (fans(shape)[0] if self.fan_in is None else self.fan_in)


class KaimingUniform(Kaiming):
    """`Kaiming` from a uniform distribution."""

    def __init__(self, fan_in: float | None = None, negative_slope: float = 0.0, nonlinearity: str = "relu"):
        super().__init__(True, fan_in, negative_slope, nonlinearity)


class KaimingNormal(Kaiming):
    """`Kaiming` from a normal distribution."""

    def __init__(self, fan_in: float | None = None, negative_slope: float = 0.0, nonlinearity: str = "relu"):
        super().__init__(False, fan_in, negative_slope, nonlinearity)



class Assign(Initializer):
    """A given value.

    A parameter that is made with it has the shape of the value, whatever shape is asked for, as in PaddlePaddle.

    Args:
        value: array, list or Tensor.

    Raises:
        ShapeError: when it sets a parameter of another shape.
    """

    def __init__(self, value: Any, name: str | None = None):
        self.value = value.numpy() if isinstance(value, Tensor) else np.array(value)

    def shape_for(self, shape: Sequence[int]) -> list[int]:
        return list(self.value.shape)

    def make(self, shape: Sequence[int], dtype: str) -> Tensor:
        if list(self.value.shape) != list(shape):
            raise ShapeError(f"the initial value has shape {list(self.value.shape)}, the parameter {list(shape)}")
        return dispatch.constant(self.value.astype(dtype))


NumpyArrayInitializer = Assign


class Orthogonal(Initializer):
    """A matrix with orthonormal rows or columns, times `gain`; further axes are joined to the second. Eager only."""

    def __init__(self, gain: float = 1.0, name: str | None = None):
        self.gain = gain

    def make(self, shape: Sequence[int], dtype: str) -> Tensor:
        if len(shape) < 2:
            raise ShapeError(f"Orthogonal needs at least 2 dims, got shape {list(shape)}")
        rows, columns = shape[0], math.prod(shape[1:])
        drawn = dispatch.read(random.gaussian([max(rows, columns), min(rows, columns)]), "Orthogonal")
        q, r = np.linalg.qr(drawn.astype(np.float64))
        q = q * np.sign(np.diagonal(r))
        value = (q.T if rows < columns else q) * self.gain
        return manipulation.reshape(dispatch.constant(value.astype(dtype)), list(shape))


_GAINS = {"sigmoid": 1.0, "linear": 1.0, "conv1d": 1.0, "conv2d": 1.0, "conv3d": 1.0, "tanh": 5.0 / 3,
          "relu": math.sqrt(2.0), "selu": 3.0 / 4}  # fmt: skip


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor by which a nonlinearity makes values smaller, to be made up for by the initializer.

    >>> calculate_gain("tanh")
    1.6666666666666667
    """
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity not in _GAINS:
        raise AttributeValueError(
            f"no gain is known for {nonlinearity!r}", hint=f"known are leaky_relu, {', '.join(_GAINS)}"
        )
    return _GAINS[nonlinearity]


_global: dict[str, Initializer | None] = {"weight": None, "bias": None}


def set_global_initializer(weight_init: Initializer | None, bias_init: Initializer | None = None) -> None:
    """What parameters get that are made afterwards and name no initializer; None: the defaults again."""
    _global["weight"], _global["bias"] = weight_init, bias_init


def default_initializer(is_bias: bool) -> Initializer:
    """Zeros for a bias, XavierUniform for a weight, unless `set_global_initializer` says otherwise."""
    chosen = _global["bias" if is_bias else "weight"]
    if chosen is not None:
        return chosen
    return Constant(0.0) if is_bias else XavierUniform()


def is_global(is_bias: bool) -> bool:
    """Whether `set_global_initializer` was called for this kind: it goes before a Layer's own default."""
    return _global["bias" if is_bias else "weight"] is not None


# names of 1.x, whose seed stands behind the numbers
class NormalInitializer(Normal):
    """The normal distribution."""

    def __init__(self, loc: float = 0.0, scale: float = 1.0, seed: int = 0):
        super().__init__(loc, scale, seed=seed)


class TruncatedNormalInitializer(TruncatedNormal):
    """The normal distribution, cut off two standard deviations from the mean."""

    def __init__(self, loc: float = 0.0, scale: float = 1.0, seed: int = 0):
        super().__init__(loc, scale, seed=seed)


class UniformInitializer(Uniform):
    """The uniform distribution on [low, high)."""

    def __init__(self, low: float = -1.0, high: float = 1.0, seed: int = 0):
        super().__init__(low, high, seed=seed)


class MSRAInitializer(Kaiming):
    """`Kaiming`, with the seed in front of what describes the nonlinearity."""

    def __init__(self, uniform: bool = True, fan_in: float | None = None, seed: int = 0, negative_slope: float = 0.0,
                 nonlinearity: str = "relu") -> None:  # fmt: skip
        super().__init__(uniform, fan_in, negative_slope, nonlinearity, seed)


MSRA = MSRAInitializer
ConstantInitializer, XavierInitializer = Constant, Xavier

_explain_missing(__name__)
