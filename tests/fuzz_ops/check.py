"""Runs a program eagerly and natively, and compares results, gradients, arguments and exceptions of each call.

Some differences are told, but are no disagreement:

- "unstable": noise of the arguments, of the size of rounding, moves the value in eager mode about as far as the two are apart.
- "odd": NaN and infinities are at other places where the arguments hold some; what comes of these depends on the order of operations.
- "refused": an error for what is open while tracing (docs/reference/limits.md lists such), where eager mode has none.
"""

from __future__ import annotations

import re
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from dy2st_runtime import config
from dy2st_runtime.errors import Dy2stError

import dy2st as paddle
from tests.fuzz.ways import Disagreement, compiled

from .values import Description, array

TOLERANCE = {"float64": 1e-9, "float32": 1e-4, "float16": 2e-2}
NOISE = {"float64": 1e-15, "float32": 3e-7, "float16": 1e-3}
OPEN = re.compile("not known|on one path and")  # what says of a size or a rank that only the run knows it


@dataclass
class Outcome:
    """What one call gave: values by name, or an exception."""

    values: dict[str, Any] = field(default_factory=dict)
    error: Exception | None = None


class Program:
    """A text (see `generator`) that was compiled."""

    def __init__(self, source: str):
        self.function = compiled(source)
        names = self.function.__globals__
        self.threads, self.grad, self.calls, self.frozen = (names[n] for n in ("THREADS", "GRAD", "CALLS", "FROZEN"))
        self.arguments = self.function.__code__.co_varnames[: self.function.__code__.co_argcount]
        self.staged = re.search(r"^ +(for|if|while) ", source, re.MULTILINE) is not None
        self.special = any(kind == "special" for call in self.calls for _, _, kind, _ in call)
        # a value may have been of any of these dtypes on its way
        self.tolerance = max((TOLERANCE[d] for d in TOLERANCE if d in source), default=TOLERANCE["float32"])

    def observe(self, call: Callable, specs: Sequence[Description], noise: int = 0) -> Outcome:
        """What a call gives; `noise`: 0 for the arguments as they are."""
        args = [paddle.to_tensor(moved(array(*spec), noise, i)) for i, spec in enumerate(specs)]
        for name, arg in zip(self.arguments, args, strict=True):
            arg.stop_gradient = not arg.dtype.startswith("float") or name in self.frozen
        paddle.seed(5)
        found = Outcome()
        with warnings.catch_warnings(), np.errstate(all="ignore"), paddle.set_grad_enabled(self.grad):
            warnings.simplefilter("ignore")
            try:
                results = dict(flat(call(*args)))
                found.values = {name: value(v) for name, v in results.items()}
                tensors = {name: v for name, v in results.items() if isinstance(v, paddle.Tensor)}
                found.values |= {f"{name} stop_gradient": v.stop_gradient for name, v in tensors.items()}
                if self.grad:
                    differentiate(tensors.values())
            except Exception as error:
                return Outcome(error=error)
        for name, arg in zip(self.arguments, args, strict=True):
            found.values |= {f"argument {name}": value(arg), f"gradient of {name}": value(arg.grad)}
        return found


def moved(x: np.ndarray, noise: int, i: int) -> np.ndarray:
    if not noise or x.dtype.kind != "f":
        return x
    by = NOISE[x.dtype.name] * np.random.default_rng(1000 * noise + i).uniform(-1, 1, x.shape)
    with np.errstate(all="ignore"):
        return np.asarray(x * (1 + by)).astype(x.dtype)


def flat(result: Any, name: str = "result") -> Iterator[tuple[str, Any]]:
    if isinstance(result, (list, tuple)):
        for i, item in enumerate(result):
            yield from flat(item, f"{name}[{i}]")
    else:
        yield name, result


def value(x: Any) -> Any:
    return np.asarray(x.numpy()) if isinstance(x, paddle.Tensor) else x


def differentiate(results: Any) -> None:
    """The gradient of a sum of all results, with other weights for each element."""
    loss = None
    for i, v in enumerate(results):
        if not v.stop_gradient and v.dtype.startswith("float"):
            weights = np.random.default_rng(77 + i).uniform(-1, 1, tuple(v.shape)).astype(v.dtype)
            term = (v * paddle.to_tensor(weights)).sum().astype("float64")
            loss = term if loss is None else loss + term
    if loss is not None:
        loss.backward()


def check(source: str, make: Callable[[Any], Callable] = paddle.jit.to_static) -> str:
    """What became of a program: "same", "raised" (both ways), or what is no disagreement, see the module.

    Args:
        make: makes of the function what is compared with it.

    Raises:
        Disagreement: the two ways gave something else.
    """
    eager, other = Program(source), Program(source)
    call = make(other.function)
    notes: set[str] = set()
    threads = config.NUM_THREADS.get()
    paddle.set_num_threads(eager.threads)
    try:
        for number, specs in enumerate(eager.calls):
            wanted, found = eager.observe(eager.function, specs), other.observe(call, specs)
            try:
                if wanted.error is not None or found.error is not None:
                    notes.add(errors(wanted.error, found.error))
                else:
                    notes.update(compare(eager, specs, wanted.values, found.values))
            except Disagreement as error:
                raise Disagreement(error.kind, f"in call {number}: {str(error).partition(chr(10))[2]}") from None
    finally:
        paddle.set_num_threads(threads)
    return ", ".join(sorted(notes)) or "same"


def errors(wanted: Exception | None, found: Exception | None) -> str:
    """What to say of exceptions, of which there is one at least."""
    kinds = f"{type(wanted).__name__} {type(found).__name__}"
    if found is None:
        raise Disagreement(f"no {type(wanted).__name__}", f"eager {wanted!r}")
    if wanted is None:
        message = re.sub(r"'[^']*'|-?\d+(\.\d+)?", "#", str(found).split("\n")[0])[:70]
        if isinstance(found, Dy2stError) and OPEN.search(found.message):
            return f"refused {message}"
        raise Disagreement(f"only static raises {type(found).__name__} {message}", told(found))
    if type(wanted) is type(found) or isinstance(found, Dy2stError):
        return "raised"
    raise Disagreement(f"another exception {kinds}", f"eager {wanted!r}\n{told(found)}")


def told(error: Exception) -> str:
    return f"static {error!r}\n" + "".join(traceback.format_exception(error))[-1500:]


def compare(program: Program, specs: Sequence[Description], wanted: dict[str, Any], found: dict[str, Any]) -> Iterator[str]:
    """Notes of what differs but is no disagreement."""
    if list(wanted) != list(found):
        raise Disagreement("structure", f"{list(wanted)}\n{list(found)}")
    noisy: list[dict[str, Any]] = []
    for name, a in wanted.items():
        b, what = found[name], re.sub(r"\[\d+\]|\d+", "", name)
        both = f"{name}\neager  {shown(a)}\nstatic {shown(b)}"
        if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
            # docs/reference/limits.md: a tensor that gets a gradient on some paths only has one
            if (type(a) is not type(b) or a != b) and not (program.staged and what.endswith("stop_gradient") and b is False):
                raise Disagreement(f"{what}: kind", both)
            continue
        if a.dtype != b.dtype:
            raise Disagreement(f"{what}: dtype", both)
        if a.shape == b.shape and close(a, b, program.tolerance):
            continue
        noisy = noisy or [program.observe(program.function, specs, noise).values for noise in (1, 2, 3)]
        moves = max(distance(a, n.get(name)) for n in noisy)
        far = distance(a, b)
        if far <= 30 * moves:
            yield "unstable"
        elif a.shape == b.shape and far == np.inf and program.special:
            yield "odd"
        else:
            raise Disagreement(f"{what}: {'values' if a.shape == b.shape else 'shape'}",
                               f"{both}\nthey differ by {far:.3g}, noise of the arguments moves eager mode by {moves:.3g}")  # fmt: skip


def close(a: np.ndarray, b: np.ndarray, tolerance: float) -> bool:
    if a.dtype.kind != "f":
        return np.array_equal(a, b)
    finite = np.abs(a[np.isfinite(a)].astype(float))
    return distance(a, b) <= max(tolerance, TOLERANCE[a.dtype.name]) * (finite.max(initial=0) + 0.05)


def distance(a: np.ndarray, b: Any) -> float:
    """The largest difference; infinite for another shape, or NaN and infinities at other places."""
    if not isinstance(b, np.ndarray) or a.shape != b.shape:
        return np.inf
    x, y = a.astype(float), b.astype(float)
    finite = np.isfinite(x) & np.isfinite(y)
    if not np.array_equal(x[~finite], y[~finite], equal_nan=True):
        return np.inf
    return float(np.abs(x[finite] - y[finite]).max(initial=0))


def shown(x: Any) -> str:
    if isinstance(x, np.ndarray):
        return f"{x.dtype} {list(x.shape)} {np.array2string(x.reshape(-1)[:12], precision=6)}"
    return repr(x)
