"""Random numbers, drawn from the counter-based generator of `philox`.

The state is the persistable variable "@RNG@", int64 [seed, position]; each op reads it as `State` and writes it as `StateOut`,
which are the same variable. Element i of a draw depends on the seed and on position + i only, and a draw of m elements advances
the position by m. An op whose attribute `seed` is not 0 draws from a stream of its own, always from its beginning, and leaves the
state as it is.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from .. import dims, dtype
from ..dtype import widened
from ..errors import AttributeValueError, DTypeError, ShapeError
from ..loopir import nodes as n
from . import philox, sized, sizes
from .registry import DType, Float, Int, Long, Longs, OpDef, TensorType, register

BITS = {"float16": 11, "float32": 24, "float64": 53}
"""How many random bits a uniform number has: the mantissa, so that it stays below 1."""

Words = tuple[Any, Any, Any, Any]


def check_state(op: str, state: TensorType) -> None:
    if state.dtype != "int64" or state.rank != 1:
        raise ShapeError(f"{op}: State must be an int64 tensor [seed, position], got {state}")
    dims.require_equal(state.shape[0], 2, f"{op}: State must be [seed, position]")


def draw(state: np.ndarray, seed: int, count: int) -> Words:
    """The blocks for `count` elements, as NumPy arrays."""
    if seed:
        return philox.words(seed, 0, count)
    return philox.words(int(state[0]), int(state[1]), count)


def advanced(state: np.ndarray, seed: int, count: int) -> np.ndarray:
    """The state after a draw."""
    return state if seed else np.array([state[0], int(state[1]) + count], np.int64)


def native_draw(k: Any, state: Any, seed: int) -> Any:
    """Begins a native draw in a kernel that reads `state`: a function that gives the block for element i."""
    if seed:
        keys, position = philox.native_keys(k, k.attr(seed)), n.Const(0, n.INDEX)
    else:
        keys, position = philox.native_keys(k, k.let(state[0], "seed")), k.let(state[1], "position")
    return lambda i: philox.native_words(k, keys, k.let(position + i, "counter"))


def lower_advance(cx: Any, state: Any, state_out: Any, drawn: Any, seed: int) -> None:
    """The new state, in a kernel of its own after the draw (whose loop may be parallel); `drawn` is the tensor that was drawn."""
    if state_out is None or (seed and state_out.name == state.name):
        return
    with cx.kernel([state, drawn], [state_out], shapes=False) as (k, (old, d), (new,)):
        if state_out.name == state.name:
            new[1] = old[1] + d.size
            return
        k.set_shape(new, [2])
        new[0] = old[0]
        new[1] = old[1] if seed else old[1] + d.size


def uniform(w: Words, name: str) -> Any:
    """A number in [0, 1), as float64 (exact in the dtype `name`), from a block: arrays or expressions alike."""
    bits = BITS[name]
    if bits <= 32:
        return _float(w[0] >> _like(w[0], 32 - bits)) * 2.0**-bits
    return _float((w[0] << _like(w[0], 21)) | (w[1] >> _like(w[1], 11))) * 2.0**-53


def integer63(w: Words) -> Any:
    """An integer in [0, 2**63)."""
    return (w[0] << _like(w[0], 31)) | (w[1] >> _like(w[1], 1))


def _like(w: Any, value: int) -> Any:
    return np.uint64(value) if isinstance(w, np.ndarray) else value


def _float(w: Any) -> Any:
    return w.astype(np.float64) if isinstance(w, np.ndarray) else n.cast(w, "float64")


def normal(w: Words, log: Any, sqrt: Any, cos: Any) -> Any:
    """A number of the standard normal distribution, as float64 (Box and Muller), from a block."""
    first = _float((w[0] << _like(w[0], 21)) | (w[1] >> _like(w[1], 11))) * 2.0**-53 + 2.0**-53
    second = _float((w[2] << _like(w[2], 21)) | (w[3] >> _like(w[3], 11))) * 2.0**-53
    return sqrt(log(first) * -2.0) * cos(second * (2.0 * math.pi))


class _Draw(OpDef):
    """Base: a draw into a shape. Subclasses give `array(words, **attrs)`, and `scalar(k, words, **attrs)` for one element."""

    inputs = ("State", *sized.SLOTS)
    outputs = ("Out", "StateOut")
    inplace = {"StateOut": "State"}
    effect = True
    differentiable = False
    kernel_from = 1 << 15
    array: ClassVar[Any]
    scalar: ClassVar[Any]

    @classmethod
    def check(cls, attrs: dict[str, Any]) -> None:
        """Raises for attributes that make no sense."""
        if attrs["dtype"] not in dtype.FLOATS:
            raise DTypeError(f"{cls.title} draws floats, not {attrs['dtype']}")

    @classmethod
    def infer(cls, state: TensorType, shape_in: TensorType | None, sizes_in: list, *, shape: list[int], **attrs: Any) -> tuple:
        check_state(cls.title, state)
        cls.check(attrs)
        return TensorType(attrs["dtype"], sized.infer_shape(cls.title, shape, shape_in, sizes_in)), state

    @classmethod
    def reference(cls, state: np.ndarray, shape_in: np.ndarray | None, sizes_in: list, *, shape: list[int], **attrs: Any) -> tuple:
        cls.check(attrs)
        target = sized.shape_value(cls.title, shape, shape_in, sizes_in)
        count, seed = math.prod(target), attrs["seed"]
        out = cls.array(draw(state, seed, count), **attrs).astype(attrs["dtype"]).reshape(target)
        return out, advanced(state, seed, count)

    @classmethod
    def elements(cls, ins: tuple[Any, ...], attrs: dict[str, Any]) -> int:
        # roughly: what makes no sense is left to those who say so
        given = [*attrs["shape"], *(int(d) for x in (ins[1], *ins[2]) if x is not None for d in x.flat)]
        return abs(math.prod(given))

    @classmethod
    def lower(cls, cx: Any, state: Any, shape_in: Any, sizes_in: list, out: Any, state_out: Any, *, shape: list[int],
              **attrs: Any) -> None:  # fmt: skip
        reads = [v for v in (state, shape_in, *sizes_in) if v is not None]
        with cx.kernel(reads, [out], shapes=False) as (k, refs, (o,)):
            shape_ref = refs[1] if shape_in is not None else None
            k.set_shape(o, sized.native_sizes(k, o.rank, shape, shape_ref, refs[2:] if shape_in is not None else refs[1:]))
            block = native_draw(k, refs[0], attrs["seed"])
            element = cls.scalar(k, **attrs)
            with k.parallel(o.size) as i:
                o[i] = n.cast(element(block(i)), o.dtype)
        lower_advance(cx, state, state_out, out, attrs["seed"])


@register
class UniformRandom(_Draw):
    """Numbers uniform in [min, max)."""

    type = "uniform_random"
    attrs = {"shape": Longs(), "min": Float(-1.0), "max": Float(1.0), "seed": Int(0), "dtype": DType("float32")}

    @staticmethod
    def array(w: Words, *, min: float, max: float, seed: int, dtype: str) -> np.ndarray:
        return uniform(w, dtype) * (max - min) + min

    @staticmethod
    def scalar(k: Any, *, min: float, max: float, seed: int, dtype: str) -> Any:
        span, low = k.attr(max - min, "float64"), k.attr(min, "float64")
        return lambda w: uniform(w, dtype) * span + low


@register
class GaussianRandom(_Draw):
    """Numbers of the normal distribution."""

    type = "gaussian_random"
    attrs = {"shape": Longs(), "mean": Float(0.0), "std": Float(1.0), "seed": Int(0), "dtype": DType("float32")}

    @staticmethod
    def array(w: Words, *, mean: float, std: float, seed: int, dtype: str) -> np.ndarray:
        return normal(w, np.log, np.sqrt, np.cos) * std + mean

    @staticmethod
    def scalar(k: Any, *, mean: float, std: float, seed: int, dtype: str) -> Any:
        scale, offset = k.attr(std, "float64"), k.attr(mean, "float64")
        functions = [lambda v, f=f: n.call(f, v) for f in ("log", "sqrt", "cos")]
        return lambda w: normal(w, *functions) * scale + offset


@register
class TruncatedGaussianRandom(_Draw):
    """Numbers of the normal distribution between -2 and 2 standard deviations from the mean."""

    type = "truncated_gaussian_random"
    attrs = GaussianRandom.attrs

    @staticmethod
    def array(w: Words, *, mean: float, std: float, seed: int, dtype: str) -> np.ndarray:
        return normal_quantile(uniform(w, "float64") * _SPAN - 0.5 * _SPAN, np.where, np.log, np.sqrt, np.abs) * std + mean

    @staticmethod
    def scalar(k: Any, *, mean: float, std: float, seed: int, dtype: str) -> Any:
        scale, offset = k.attr(std, "float64"), k.attr(mean, "float64")
        functions = [lambda v, f=f: k.let(n.call(f, v)) for f in ("log", "sqrt", "abs")]

        def element(w: Words) -> n.Expr:
            q = k.let(uniform(w, "float64") * _SPAN - 0.5 * _SPAN)
            return normal_quantile(q, n.select, *functions) * scale + offset

        return element


_SPAN = math.erf(math.sqrt(2.0))
"""The probability of at most two standard deviations."""

# Wichura, Algorithm AS 241 (1988), PPND16: rational approximations for |q| <= 0.425 and beyond, highest power first
_CENTRE = ((2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457, 13731.693765509461125,
            1971.5909503065514427, 133.14166789178437745, 3.387132872796366608),
           (5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867, 5394.1960214247511077,
            687.1870074920579083, 42.313330701600911252, 1.0))  # fmt: skip
_FLANK = ((7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
           3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734),
          (1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
           0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0))  # fmt: skip


def _ratio(coefficients: tuple[tuple[float, ...], ...], x: Any) -> Any:
    parts = []
    for row in coefficients:
        value: Any = row[0]
        for c in row[1:]:
            value = value * x + c
        parts.append(value)
    return parts[0] / parts[1]


def normal_quantile(q: Any, where: Any, log: Any, sqrt: Any, absolute: Any) -> Any:
    """The x below which a normal number lies with the probability 0.5 + q, for |q| below 0.4999999."""
    a = absolute(q)
    tail = sqrt(-log(0.5 - where(a < 0.425, 0.25, a))) - 1.6
    flank = _ratio(_FLANK, tail)
    return where(a <= 0.425, q * _ratio(_CENTRE, 0.180625 - q * q), where(q < 0.0, -flank, flank))


@register
class RandInt(_Draw):
    """Integers uniform in [low, high)."""

    type = "randint"
    attrs = {"shape": Longs(), "low": Long(0), "high": Long(0), "seed": Int(0), "dtype": DType("int64")}

    @classmethod
    def check(cls, attrs: dict[str, Any]) -> None:
        if attrs["dtype"] not in ("int32", "int64"):
            raise DTypeError(f"randint draws int32 or int64, not {attrs['dtype']}")
        if attrs["low"] >= attrs["high"]:
            raise AttributeValueError(f"randint: the range [{attrs['low']}, {attrs['high']}) is empty")

    @staticmethod
    def array(w: Words, *, low: int, high: int, seed: int, dtype: str) -> np.ndarray:
        return (integer63(w) % np.uint64(high - low)).astype(np.int64) + low

    @staticmethod
    def scalar(k: Any, *, low: int, high: int, seed: int, dtype: str) -> Any:
        span, offset = k.attr(high - low), k.attr(low)
        return lambda w: integer63(w) % span + offset


@register
class Bernoulli(OpDef):
    """1 with the probability X, else 0, in X's dtype. A probability outside [0, 1] counts as the nearer end."""

    type = "bernoulli"
    kernel_from = 1 << 15
    inputs = ("X", "State")
    outputs = ("Out", "StateOut")
    inplace = {"StateOut": "State"}
    effect = True
    differentiable = False

    @staticmethod
    def infer(x: TensorType, state: TensorType) -> tuple:
        check_state("bernoulli", state)
        if not dtype.is_float(x.dtype):
            raise DTypeError(f"bernoulli takes probabilities as floats, got {x.dtype}")
        return x, state

    @staticmethod
    def reference(x: np.ndarray, state: np.ndarray) -> tuple:
        Bernoulli.infer(TensorType.of(x), TensorType.of(state))
        u = uniform(draw(state, 0, x.size), x.dtype.name).reshape(x.shape).astype(widened(x.dtype.name))
        return (u < x).astype(x.dtype), advanced(state, 0, x.size)

    @staticmethod
    def lower(cx: Any, x: Any, state: Any, out: Any, state_out: Any) -> None:
        with cx.kernel([x, state], [out]) as (k, (x_ref, s), (o,)):
            block = native_draw(k, s, 0)
            with k.parallel(o.size) as i:
                u = n.cast(uniform(block(i), x.dtype), x.dtype)
                o[i] = n.cast(u < x_ref[i], o.dtype)
        lower_advance(cx, state, state_out, out, 0)


@register
class RandPerm(OpDef):
    """The numbers 0 ... n - 1 in random order (the shuffle of Fisher and Yates). `N` gives n at run time.

    Raises:
        AttributeValueError: n is negative.
    """

    type = "randperm"
    inputs = ("State", "N?")
    outputs = ("Out", "StateOut")
    attrs = {"n": Int(0), "seed": Int(0), "dtype": DType("int64")}
    inplace = {"StateOut": "State"}
    effect = True
    differentiable = False

    @staticmethod
    def infer(state: TensorType, n_t: TensorType | None, *, n: int, seed: int, dtype: str) -> tuple:
        check_state("randperm", state)
        sized.check_sizes("randperm", [n])
        return TensorType(dtype, (n if n_t is None else dims.UNKNOWN,)), state

    @staticmethod
    def reference(state: np.ndarray, n_t: Any, *, n: int, seed: int, dtype: str) -> tuple:
        (n,) = sizes.values("randperm", "N", [n], n_t)
        sized.check_sizes("randperm", [n])
        draws = integer63(draw(state, seed, n)) % np.arange(1, n + 1, dtype=np.uint64)
        order = list(range(n))
        for i, j in zip(range(n - 1, 0, -1), draws[:0:-1].tolist(), strict=True):
            order[i], order[j] = order[j], order[i]
        return np.array(order, dtype), advanced(state, seed, n)

    @staticmethod
    def lower(cx: Any, state: Any, n_t: Any, out: Any, state_out: Any, *, n: int, seed: int, dtype: str) -> None:
        with cx.kernel([state, *([] if n_t is None else [n_t])], [out], shapes=False) as (k, (s, *reads), (o,)):
            (count,) = sizes.exprs(k, [n], reads[0] if reads else None, (), 1)
            k.fail_if(count < 0)
            k.set_shape(o, [count])
            block = native_draw(k, s, seed)
            with k.loop(count) as i:
                o[i] = _cast(i, o.dtype)
            with k.loop(count - 1) as step:
                i = k.let(count - 1 - step, "i")
                j = k.let(integer63(block(i)) % (i + 1), "j")
                kept = k.let(o[i])
                o[i] = o[j]
                o[j] = kept
        lower_advance(cx, state, state_out, out, seed)


def _cast(e: n.Expr, name: str) -> n.Expr:
    return n.cast(e, name)  # in `lower` the attribute n hides the module
