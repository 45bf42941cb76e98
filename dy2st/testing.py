"""Checks for ops of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import jit
from .static.nn import while_loop
from .tensor import Tensor
from .tensor.autograd import no_grad
from .tensor.creation import full, to_tensor

STEP = 1e-6


def check_op(op: Callable[..., Any], *inputs: Any, rtol: float = 1e-5, gradient: bool = True, **attrs: Any) -> None:
    """Checks a function of tensors, such as an op that `custom_op` made. It must give the same eagerly, in a static function and in a
    native loop. Its gradients must be the same in all three, and agree with finite differences in float64.

    Args:
        op: takes the tensors and gives one, or a tuple or list of them.
        inputs: arrays. Choose values where the function is smooth: central differences of 1e-6 are taken.
        rtol: how far results and gradients may differ, relative to their largest element.
        gradient: False for an op without a gradient.
        attrs: what else the op takes, by keyword.

    Raises:
        AssertionError: two of these differ. The message says which.

    >>> import dy2st as paddle
    >>> check_op(paddle.tanh, np.array([0.5, -1.0], "float32"))
    >>> @paddle.custom_op(elementwise=True)
    ... def cube(x):
    ...     return x * x * x
    >>> @cube.gradient
    ... def rule(x, out, dout):
    ...     return dout * 2 * x * x
    >>> check_op(cube, np.array([0.5, -1.0]))
    Traceback (most recent call last):
        ...
    AssertionError: the gradient of input 0 along a direction is -0.195354, finite differences give -0.293031
    """
    arrays = [np.asarray(a) for a in inputs]

    def run(*xs: Tensor) -> list[Tensor]:
        outs = op(*xs, **attrs)
        return list(outs) if isinstance(outs, (tuple, list)) else [outs]

    def repeated(times: Tensor, *xs: Tensor) -> list[Tensor]:
        body = lambda i, *outs: [i + 1, *run(*xs)]  # noqa: E731
        return while_loop(lambda i, *outs: i < times, body, [full([], 0, "int64"), *run(*xs)])[1:]

    static, in_loop = jit.to_static(run), jit.to_static(repeated)
    ways = {"eagerly": run, "in a static function": static, "in a native loop": lambda *xs: in_loop(to_tensor(1), *xs)}
    wanted, slopes = None, None
    floats = [i for i, a in enumerate(arrays) if a.dtype.kind == "f"]
    for way, function in ways.items():
        found = _results(function, arrays)
        wanted = found if wanted is None else wanted
        _compare(found, wanted, rtol, "the result", way)
        if gradient and floats:
            mine = _gradients(function, arrays, floats)
            slopes = mine if slopes is None else slopes
            _compare(mine, slopes, rtol, "the gradient", way)
    if gradient and floats:
        _check_differences(run, [a.astype("float64") if a.dtype.kind == "f" else a for a in arrays], floats, max(rtol, 1e-5))


def _results(function: Callable[..., list[Tensor]], arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    with no_grad():
        return [out.numpy() for out in function(*map(to_tensor, arrays))]


def _cotangents(outs: Sequence[Tensor]) -> list[np.ndarray | None]:
    """Weights for the results, the same at each call; None for those of integers."""
    rng = np.random.default_rng(0)
    return [rng.standard_normal(out.shape).astype(out.dtype) if out.dtype.startswith("float") else None for out in outs]


def _gradients(function: Callable[..., list[Tensor]], arrays: Sequence[np.ndarray], floats: Sequence[int]) -> list[np.ndarray]:
    xs = [to_tensor(a, stop_gradient=i not in floats) for i, a in enumerate(arrays)]
    outs = function(*xs)
    _weighted(outs).backward()
    return [np.zeros_like(arrays[i]) if (g := xs[i].grad) is None else g.numpy() for i in floats]


def _weighted(outs: Sequence[Tensor]) -> Tensor:
    terms = [(out * to_tensor(w)).sum() for out, w in zip(outs, _cotangents(outs), strict=True) if w is not None]
    if not terms:
        raise AssertionError("no result is of floats, so there is no gradient: check_op(..., gradient=False)")
    return sum(terms[1:], terms[0])


def _check_differences(run: Callable[..., list[Tensor]], arrays: list[np.ndarray], floats: Sequence[int], rtol: float) -> None:
    """The gradients in float64 against central differences along a direction."""
    rng = np.random.default_rng(1)
    for i, gradient in zip(floats, _gradients(run, arrays, floats), strict=True):
        direction = rng.standard_normal(arrays[i].shape)

        def at(offset: float, i: int = i, direction: np.ndarray = direction) -> float:
            moved = [a + offset * direction if j == i else a for j, a in enumerate(arrays)]
            with no_grad():
                return float(_weighted(run(*map(to_tensor, moved))))

        slope, difference = float((gradient * direction).sum()), (at(STEP) - at(-STEP)) / (2 * STEP)
        if not np.isclose(slope, difference, rtol=rtol, atol=rtol):
            raise AssertionError(f"the gradient of input {i} along a direction is {slope:.6g}, finite differences give {difference:.6g}")


def _compare(found: Sequence[np.ndarray], wanted: Sequence[np.ndarray], rtol: float, what: str, way: str) -> None:
    for i, (a, b) in enumerate(zip(found, wanted, strict=True)):
        if a.dtype != b.dtype or a.shape != b.shape:
            raise AssertionError(f"{what} {i} is {a.dtype}{list(a.shape)} {way}, {b.dtype}{list(b.shape)} eagerly")
        scale = float(np.abs(b[np.isfinite(b)]).max(initial=0.0)) if b.dtype.kind == "f" else 0.0
        if not np.allclose(a, b, rtol=0.0, atol=rtol * scale, equal_nan=True):
            raise AssertionError(f"{what} {i} differs {way} from what it is eagerly:\n{a}\nagainst\n{b}")
