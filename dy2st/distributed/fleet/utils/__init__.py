"""`fleet.utils`: recomputation, and files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....missing_names import explain_missing as _explain_missing
from . import hybrid_parallel_util as hybrid_parallel_util
from .local_fs import LocalFS as LocalFS


def recompute(function: Callable[..., Any], *args: Any, preserve_rng_state: bool = True, use_reentrant: bool = True, **kwargs: Any) -> Any:
    """Calls a function whose intermediate values are not kept for the gradient: see `jit.recompute`.

    Args:
        function: a function or layer.
        args, kwargs: its arguments.
        preserve_rng_state: True: dropout draws the same numbers again, which it always does here.
        use_reentrant: without effect: both ways of PaddlePaddle compute the same.

    Returns:
        what the function returns.

    >>> import dy2st as paddle
    >>> recompute(paddle.nn.Linear(4, 2), paddle.ones([3, 4])).shape
    [3, 2]
    """
    from ....jit.recompute import (
        recompute as of_jit,  # here, as it brings the compiler, and ranks are asked for without it
    )

    return of_jit(function, *args, **kwargs)


_explain_missing(__name__)
