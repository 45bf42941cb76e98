"""Looking for the op that makes a NaN or an infinity (`FLAGS_check_nan_inf`).

Each op is looked at, so Programs are run op by op, by the reference interpreter. An infinity that an op is given it may hand on: masks are
made of them, and one that an op has made was found there. A NaN is an error wherever it is.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from . import config, dims
from .errors import Location, NonFiniteError

watching: bool = config.CHECK_NAN_INF.get()
"""Whether ops are looked at now. Those who run something that they have compiled ask for it."""


def watch(on: bool) -> None:
    """Looks at all ops from now on, or at none."""
    global watching
    config.CHECK_NAN_INF.set(on)
    watching = on


def check(op: Any, ins: Sequence[Any], outs: Sequence[Any], location: Location | None) -> None:
    """Looks at what an op has made.

    Args:
        op: its record.
        ins, outs: the arrays in its slots: an array, a list of arrays, or something else for an absent one.
        location: the user's line.

    Raises:
        NonFiniteError: there is a NaN, or an infinity while no input has one. With `FLAGS_check_nan_inf_level` 1 it is a warning.
    """
    if not any(True for _ in _arrays(ins)):
        return  # what a program says itself: `full([2], float("inf"))`, or memory that nobody has written
    for slot, value in zip(op.output_slots, outs, strict=False):
        for array in _floats([value]):
            finite = np.isfinite(array)
            if finite.all():
                continue
            nans = int(np.isnan(array).sum())
            infinities = int(array.size - finite.sum()) - nans
            if nans or not any(np.isinf(x).any() for x in _floats(ins)):
                _report(_error(op, slot.name, array, nans, infinities, ins, location))
                return


def _report(error: NonFiniteError) -> None:
    if config.CHECK_NAN_INF_LEVEL.get() == 0:
        raise error
    place = error.location
    warnings.warn_explicit(str(error), RuntimeWarning, *(("dy2st", 0) if place is None else (place.file, place.line)))


def _error(op: Any, slot: str, array: np.ndarray, nans: int, infinities: int, ins: Sequence[Any],
           location: Location | None) -> NonFiniteError:  # fmt: skip
    counts = [f"{n} {what}" for n, what in ((nans, "NaN"), (infinities, "infinite")) if n]
    given = [f"{slot.name} has {n} NaN" for slot, x in zip(op.input_slots, ins, strict=False) if (n := sum(_nans(x)))]
    if given:
        text, hint = f"{op.type} is given NaN from outside: {' and '.join(given)}", "look for them in the data, or in the parameters"
    else:
        text = f"{op.type} makes {' and '.join(counts)} of {array.size} values"
        ranges = [f"{slot.name} from {_shown(min(x.min() for x in found))} to {_shown(max(x.max() for x in found))}"
                  for slot, x in zip(op.input_slots, ins, strict=False) if (found := [x for x in _floats([x]) if x.size])]  # fmt: skip
        hint = f"its inputs are {', '.join(ranges)}" if ranges else None
    return NonFiniteError(f"{text}, in its output {slot} ({array.dtype}{dims.show(array.shape)})", location=location, hint=hint)


def _shown(x: Any) -> str:
    return f"{float(x):.4g}"


def _nans(x: Any) -> Iterator[int]:
    return (int(np.isnan(array).sum()) for array in _floats([x]))


def _arrays(values: Iterable[Any]) -> Iterator[np.ndarray]:
    for value in values:
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, list):
            yield from _arrays(value)


def _floats(values: Iterable[Any]) -> Iterator[np.ndarray]:
    return (array for array in _arrays(values) if array.dtype.kind == "f")
