"""Random tensors, and the state they are drawn from.

The generator counts: each draw takes the next numbers of the stream that the seed fixes. Its state (seed, position)
is the persistable tensor "@RNG@", which programs update like any other, so eager and static draw the same numbers.
"""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np

from ..errors import AttributeValueError
from ..framework.dtype import convert_dtype, get_default_dtype
from . import dispatch
from .arguments import as_python, integer, ints, number, staged, truncated, whole
from .attribute import sizes
from .dispatch import ops
from .failures import raise_if
from .kinds import as_number
from .promotion import as_tensor, cast
from .tensor import Tensor

STATE_NAME = "@RNG@"
_ANY = 2**63 - 1  # a range of this size leaves the integers of the generator as they are, but one of them


def _initial_state() -> Tensor:
    t = Tensor.wrap(np.array([secrets.randbits(31), 0], np.int64))
    t._name, t.persistable = STATE_NAME, True
    return t


state = _initial_state()


def seed(seed: int) -> Tensor:
    """Starts the stream of random numbers anew at its beginning.

    Args:
        seed: any int; the same seed gives the same numbers.

    >>> _ = seed(7); a = rand([2]).numpy()
    >>> _ = seed(7); bool((rand([2]).numpy() == a).all())
    True
    """
    _start(np.array([integer(seed, "a seed"), 0], np.int64))
    return state


def get_rng_state() -> list[np.ndarray]:
    """The state of the generator, for `set_rng_state`.

    Raises:
        StagedValueError: in a static function only the run knows it.
    """
    recorder = dispatch.current_recorder()
    if recorder is not None:
        recorder.on_random_state()
    return [state.numpy()]


def set_rng_state(saved: list[np.ndarray]) -> None:
    """Restores a state that `get_rng_state` gave."""
    _start(np.array(saved[0], np.int64))


def _start(value: np.ndarray) -> None:
    recorder = dispatch.current_recorder()
    if recorder is None or not recorder.start_random(state, value):
        state._value = value


def _draw(op_type: str, **arguments: Any) -> Tensor:
    return ops.op(op_type, State=state, **arguments)[0]


def uniform(shape: Any, dtype: Any = None, min: float = -1.0, max: float = 1.0, seed: int = 0,
            name: str | None = None) -> Tensor:  # fmt: skip
    """Numbers drawn uniformly from [min, max).

    Args:
        shape: list of ints and 0-d integer tensors.
        dtype: a floating-point dtype; default: the default dtype.
        seed: not 0: a stream of its own, the same at each call.
    """
    attr, slots = ints(shape, "ShapeTensorList")
    wanted = get_default_dtype() if dtype is None else convert_dtype(dtype)
    if staged(min) or staged(max):
        low, high = as_tensor(as_python(min), "float64"), as_tensor(as_python(max), "float64")
        drawn = _draw("uniform_random", shape=attr, dtype=wanted, min=0.0, max=1.0, seed=seed, **slots)
        return cast(cast(drawn, "float64") * (high - low) + low, wanted)
    return _draw("uniform_random", shape=attr, dtype=wanted, min=number(min, "min"), max=number(max, "max"), seed=seed, **slots)


def rand(shape: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """Numbers drawn uniformly from [0, 1).

    >>> rand([2, 3]).shape
    [2, 3]
    """
    return uniform(shape, dtype, 0.0, 1.0)


def gaussian(shape: Any, mean: float = 0.0, std: float = 1.0, seed: int = 0, dtype: Any = None,
             name: str | None = None) -> Tensor:  # fmt: skip
    """Numbers drawn from the normal distribution."""
    attr, slots = ints(shape, "ShapeTensorList")
    wanted = get_default_dtype() if dtype is None else convert_dtype(dtype)
    if staged(mean) or staged(std):
        drawn = _draw("gaussian_random", shape=attr, dtype="float64", mean=0.0, std=1.0, seed=seed, **slots)
        return cast(drawn * as_tensor(as_python(std), "float64") + as_tensor(as_python(mean), "float64"), wanted)
    return _draw("gaussian_random", shape=attr, dtype=wanted, mean=number(mean, "mean"), std=number(std, "std"), seed=seed, **slots)


def truncated_gaussian(shape: Any, mean: float = 0.0, std: float = 1.0, seed: int = 0, dtype: Any = None) -> Tensor:
    """Numbers drawn from the normal distribution, cut off two standard deviations from the mean."""
    attr, slots = ints(shape, "ShapeTensorList")
    wanted = get_default_dtype() if dtype is None else convert_dtype(dtype)
    return _draw(
        "truncated_gaussian_random", shape=attr, dtype=wanted, mean=number(mean, "mean"), std=number(std, "std"), seed=seed, **slots
    )


def randn(shape: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """Numbers drawn from the standard normal distribution.

    >>> randn([4, 2]).dtype
    'float32'
    """
    return gaussian(shape, dtype=dtype)


standard_normal = randn


def normal(mean: Any = 0.0, std: Any = 1.0, shape: Any = None, name: str | None = None) -> Tensor:
    """Numbers drawn from normal distributions; `mean` and `std` may be tensors, whose shape the result then has."""
    of_tensors = [v for v in (mean, std) if isinstance(v, Tensor) and not v._weak]
    if not of_tensors:
        return gaussian([1] if shape is None else shape, mean, std)
    like = of_tensors[0]
    return randn(sizes(like), like.dtype) * std + mean


def randint(
    low: int = 0, high: int | None = None, shape: Any = (1,), dtype: Any = None, name: str | None = None
) -> Tensor:
    """Integers drawn uniformly from [low, high), or from [0, low) without `high`; int64 without `dtype`.

    Raises:
        AttributeValueError: the range is empty.
    """
    if high is None:
        low, high = 0, low
    wanted = "int64" if dtype is None else convert_dtype(dtype)
    if staged(low) or staged(high):
        first, end = (as_number(ops.op("assign", X=as_tensor(whole(v, what), "int64"))) for v, what in ((low, "low"), (high, "high")))
        raise_if(as_tensor(first >= end), AttributeValueError, "randint: the range [", ", ", ") is empty", data=(first, end))
        return cast(randint(0, _ANY, shape, "int64") % (end - first) + first, wanted)
    low, high = integer(low, "low"), integer(high, "high")
    if low >= high:
        raise AttributeValueError(f"randint: the range [{low}, {high}) is empty")
    attr, slots = ints(shape, "ShapeTensorList")
    return _draw("randint", shape=attr, low=low, high=high, dtype=wanted, **slots)


def randint_like(
    x: Tensor, low: int = 0, high: int | None = None, dtype: Any = None, name: str | None = None
) -> Tensor:
    """Integers drawn uniformly, of the shape (and, without `dtype`, the dtype) of x."""
    wanted = x.dtype if dtype is None else convert_dtype(dtype)
    return cast(randint(low, high, sizes(x), "int64"), wanted)


def randperm(n: Any, dtype: Any = "int64", name: str | None = None) -> Tensor:
    """The numbers 0 ... n - 1 in random order.

    Raises:
        AttributeValueError: n is negative.

    >>> sorted(randperm(4).tolist())
    [0, 1, 2, 3]
    """
    slots = {"N": truncated(n)} if staged(n) else {}
    return _draw("randperm", n=0 if slots else int(n), dtype=convert_dtype(dtype), **slots)


def bernoulli(x: Any, name: str | None = None) -> Tensor:
    """1 with the probability x, else 0, element by element, in the dtype of x."""
    return _draw("bernoulli", X=as_tensor(x))


def multinomial(x: Any, num_samples: int = 1, replacement: bool = False, name: str | None = None) -> Tensor:
    """Indices drawn with probabilities proportional to x along its last axis, as int64.

    Args:
        x: Tensor [n] or [batch, n], not negative.
        num_samples: how many are drawn.
        replacement: whether an index may be drawn again.

    Returns:
        Tensor [num_samples] or [batch, num_samples].
    """
    from . import math, reduction, search
    from .manipulation import unsqueeze

    x = as_tensor(x)
    if replacement:
        total = reduction.cumsum(x, -1)
        bound = reduction.max(total, -1, keepdim=True)
        shape = [*sizes(x)[:-1], num_samples]
        points = math.multiply(uniform(shape, x.dtype, 0.0, 1.0), bound)
        below = unsqueeze(total, -2) <= unsqueeze(points, -1)
        return reduction.sum(cast(below, "int64"), -1)
    # without replacement: the largest of log(x) + Gumbel noise are such a sample
    noise = math.neg(math.log(math.neg(math.log(uniform(sizes(x), x.dtype, 1e-12, 1.0)))))
    return search.topk(math.add(math.log(x), noise), num_samples, -1)[1]
