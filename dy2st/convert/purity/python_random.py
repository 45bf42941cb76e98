"""Numbers that Python's `random` and `np.random` draw: each call draws them anew, before it runs, in the function's order."""

from __future__ import annotations

import copy
import functools
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from dy2st_runtime.ir import Variable

from ...errors import StagedValueError
from ...tensor import Tensor
from ...tensor.kinds import as_number
from ...tensor.location import user_location
from .. import hub, roles

if TYPE_CHECKING:
    from ..trace.tracer import Tracer

ROLE = roles.ACTING

GENERATORS = (random.Random, np.random.RandomState, np.random.Generator)
_DTYPES = {int: "int64", float: "float64"}
_SEQUENCES = (list, tuple, range, str)
_LARGEST = 2**62


@dataclass(frozen=True)
class Drawn:
    """A number that is drawn before each run.

    Attributes:
        variable: what is fed.
        draw: draws it.
        called: what draws it, to the user.
    """

    variable: Variable
    draw: Callable[[], int | float]
    called: str


def drawing(tracer: Tracer, f: Any, owner: Any) -> Callable:
    """What stands for a method of a generator of Python's or NumPy's while a function is traced.

    Raises:
        StagedValueError: only the run knows how often it is called, it gives no number, or the function has made the generator itself.
    """
    called = f"{'random' if isinstance(owner, random.Random) else 'np.random'}.{f.__name__}()"
    if type(owner) not in GENERATORS or not _outlives(tracer, owner):
        raise _once(called)
    if tracer.frames or tracer.block is not tracer.program.global_block():
        raise StagedValueError(
            f"{called} is drawn under a condition on tensors, or in a loop that only the run knows to end", location=user_location(),
            hint="draw it before that, or use dy2st.rand, randint, uniform or normal, which the run draws",
        )  # fmt: skip
    return functools.partial(_drawn, tracer, f, owner, called)


def _outlives(tracer: Tracer, owner: Any) -> bool:
    """Whether a generator is there at the next call, too."""
    return owner is random._inst or owner is np.random.mtrand._rand or tracer.was_before(owner)  # type: ignore[attr-defined]


def _drawn(tracer: Tracer, f: Any, owner: Any, called: str, /, *args: Any, **kwargs: Any) -> Any:
    if f.__name__ == "choice" and isinstance(owner, random.Random) and len(args) == 1 and type(args[0]) in _SEQUENCES and args[0]:
        # as Python does it
        return hub.getitem(args[0], _drawn(tracer, owner.randrange, owner, called, len(args[0])))
    given = (*args, *kwargs.values())
    if not all(x is None or (type(x) in _DTYPES and abs(x) < _LARGEST) for x in given):
        raise _once(called)
    example = getattr(copy.deepcopy(owner), f.__name__)(*args, **kwargs)  # which raises what is wrong with the arguments
    dtype = _DTYPES.get(type(example))
    if dtype is None or abs(example) >= _LARGEST:
        raise _once(called)
    v = tracer.program.global_block().create_var(None, dtype, (), stem=f.__name__, is_data=True)
    v.stop_gradient = True
    tracer.drawn.append(Drawn(v, functools.partial(f, *args, **kwargs), called))
    return as_number(Tensor.wrap(v))


def _once(called: str) -> StagedValueError:
    return StagedValueError(
        f"{called} would be drawn once, while tracing, and be the same number at each call", location=user_location(),
        hint="single numbers are drawn at each call (random.random(), np.random.uniform(a, b)); for all else use dy2st.rand, randint, "
        "uniform, normal or randperm, or draw outside and pass what is drawn",
    )  # fmt: skip
