"""What the trace cannot follow: what Python's own objects keep to themselves, and draw or give to the world outside.

A trace runs such a method once. What it does would be missing at each later call, and what it gives would stay the same.
"""

from __future__ import annotations

import contextvars
import hashlib
import io
import os
import queue
import random
from typing import Any

import numpy as np

from ..errors import StagedValueError
from ..tensor.location import user_location
from .tracer import current_tracer

_RANDOM = (random.Random, np.random.RandomState, np.random.Generator)
_FILES = (io.StringIO, io.BytesIO)  # whose contents are followed
# what of them is not followed: all methods, or these
_KINDS: list[tuple[Any, set[str] | None]] = [
    (queue.SimpleQueue, None),
    (contextvars.ContextVar, None),
    (io.IOBase, {"write", "writelines", "truncate"}),
    ((type(hashlib.md5()), type(hashlib.blake2b())), {"update"}),
    (type(os.environ), {"clear", "pop", "popitem", "setdefault", "update"}),
]


def require_followed(owner: Any, name: str) -> None:
    """StagedValueError if a method of an object would do something once, while tracing, that each call should do."""
    if isinstance(owner, _RANDOM):
        what = f"{'random' if isinstance(owner, random.Random) else 'np.random'}.{name}()"
        raise StagedValueError(
            f"{what} would be drawn once, while tracing, and be the same number at each call",
            location=user_location(4), hint="use dy2st.rand, randint, uniform or normal, or draw outside and pass the number",
        )  # fmt: skip
    if not isinstance(owner, _FILES) and any(isinstance(owner, kind) and (names is None or name in names) for kind, names in _KINDS):
        raise _once(owner, f"{name}() of")


def require_items_followed(a: Any) -> None:
    """StagedValueError if entries of such an object are assigned or deleted."""
    if isinstance(a, (memoryview, type(os.environ))) and current_tracer() is not None:
        raise _once(a, "a change of the entries of")


def _once(owner: Any, what: str) -> StagedValueError:
    return StagedValueError(
        f"{what} a {type(owner).__name__.lstrip('_')} would be done once, while tracing, and not at each call", location=user_location(5),
        hint="do it outside of the static function, or keep what it is about in an attribute, a list, a dict or a tensor",
    )  # fmt: skip
