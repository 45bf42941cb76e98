"""`jit.recompute`: computing a part of a model again for its gradient, to keep less in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st_runtime.ir.segments import computed_again

from ..convert.calls.calls import call
from ..convert.hub import current_tracer
from ..tensor.location import user_location


def recompute(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls a function whose intermediate values are not kept for the gradient: in a static function they are computed again when it is.

    What is kept is what the function reads of the code around it, and what it hands on to that. So a model of N blocks of which each is
    recomputed keeps N inputs, and the values of one block at a time, for another forward computation of each block (Chen et al., Training
    Deep Nets with Sublinear Memory Cost, 2016; `recompute` of `paddle.distributed.fleet.utils`). The numbers drawn by dropout are drawn
    again, what is printed or asserted is so once, and attributes change once.

    In eager mode the function is just called: its values are kept.

    Args:
        function: a function or layer.
        args, kwargs: its arguments.

    Returns:
        what the function returns.

    >>> import dy2st as paddle
    >>> block = paddle.nn.Sequential(paddle.nn.Linear(4, 64), paddle.nn.ReLU(), paddle.nn.Linear(64, 4))
    >>> @paddle.jit.to_static
    ... def loss(x):
    ...     return paddle.jit.recompute(block, x).sum()
    >>> loss(paddle.ones([2, 4])).backward()
    >>> block[0].weight.grad.shape
    [4, 64]
    """
    tracer = current_tracer()
    if tracer is None:
        return function(*args, **kwargs)
    with computed_again(tracer.block, user_location()):
        return call(function)(*args, **kwargs)
