"""Functions with a cache of `functools`: they are called while tracing, eagerly, so that the cache holds what eager calls put there.

Traced like other code they would leave tensors of the trace in the cache, and calls that find them there would have no value for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import StagedValueError
from ...tensor import Tensor, dispatch, random
from ...tensor.location import user_location
from ..values.trees import flatten

if TYPE_CHECKING:
    from ..trace.tracer import Tracer


def cached(tracer: Tracer, f: Any, /, *args: Any, **kwargs: Any) -> Any:
    """A call of a function with a cache, which is the only one that knows the object that it gives.

    Raises:
        StagedValueError: it is given a tensor of the trace; it changes what the traced code knows; or it draws random numbers where eager
            mode may not draw them, or not then.
    """
    for x in flatten((args, kwargs))[0]:
        if isinstance(x, Tensor) and x.is_symbolic:
            hash(x)  # a number that only the run knows says that it is none to look up
            raise _refused(f, "is given a tensor that is another object at each call", "give it numbers, or leave its cache out")
    contents, state = tracer.snapshot(), random.state._value
    with dispatch.eager():
        result = f(*args, **kwargs)
    changed = contents.changed()
    if changed:
        f.cache_clear()
        raise _refused(f, f"changes {changed[0].name}, in the calls only that find nothing in the cache", "change it where it is called")
    if random.state._value is not state and (tracer.frames or id(random.state) in tracer.captures):
        f.cache_clear()
        raise _refused(f, "draws random numbers under a condition on tensors, or after others", "call it at the begin of the function")
    tracer.given.append(result)
    tracer.watch_reached(result)
    return result


def _refused(f: Any, what: str, hint: str) -> StagedValueError:
    return StagedValueError(f"{f.__name__}(), which has a cache, {what}", location=user_location(3), hint=hint)
