"""What Python does otherwise with a number than with a tensor, of a value that is the one in some runs and the other in others."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ...tensor import Tensor
from ...tensor.kinds import Kinds, as_number, resolved
from ...tensor.promotion import converted
from .. import roles
from ..hub import is_staged
from ..values.maybe_none import MaybeNone
from .if_stmt import if_expr
from .logical import python_bool

ROLE = roles.ACTING


def by_kind(f: Callable) -> Callable:
    """A function that takes numbers and tensors of which each is known to be the one or the other: each has its branch."""

    @functools.wraps(f)
    def each(*args: Any) -> Any:
        at = next((i for i, x in enumerate(args) if _is_either(x)), None)
        if at is None:
            return f(*args)
        x = args[at]

        def branch(one: Tensor) -> Any:
            return each(*args[:at], one, *args[at + 1 :])

        return if_expr(_told(x), lambda: branch(_as_number(x)), lambda: branch(resolved(x)))

    return each


def _is_either(x: Any) -> bool:
    return is_staged(x) and not isinstance(x, MaybeNone) and x._kinds is not None and x._kinds.mixed


def _told(x: Tensor) -> Any:
    """Whether a value is a number.

    Raises:
        DTypeError: the run does not keep that.
    """
    assert x._kinds is not None
    if x._kinds.number is None:
        raise x._kinds.fail("what is done with it depends on that")
    return python_bool(x._kinds.number)


def _as_number(x: Tensor) -> Tensor:
    """The value where it is a number, which is held in the shape and the dtype of the tensor."""
    assert x._kinds is not None
    numbers = frozenset(k for k in x._kinds.all if k.weak)
    plain = resolved(x)
    new = as_number(converted(plain if plain.ndim == 0 else plain.reshape([]), x._kinds.class_dtype))
    new._kinds = Kinds(numbers, x._kinds.why, code=x._kinds.code) if len(numbers) > 1 else None
    return new
