"""`cond`, `while_loop`, `case` and `switch_case` in a function that is converted: what they are given runs as branches and loops do.

A program that is built by hand has both branches, whatever they do besides computing; a static function does what the eager one does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...library import branching
from ...static import control_flow
from .. import hub
from ..hub import current_tracer


def _cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: str | None = None, return_names: Any = None) -> Any:
    control_flow.require_branches(true_fn, false_fn)
    return _call(branching.either)(pred, true_fn, false_fn)


def _while_loop(cond: Any, body: Any, loop_vars: Any, is_test: bool = False, name: str | None = None) -> Any:
    control_flow.require_loop(cond, body, loop_vars)
    return _call(branching.repeated)(cond, body, list(loop_vars), control_flow.as_list)


def _case(pred_fn_pairs: Any, default: Any = None, name: str | None = None) -> Any:
    return _call(branching.first)(*control_flow.cases(pred_fn_pairs, default))


def _switch_case(branch_index: Any, branch_fns: Any, default: Any = None, name: str | None = None) -> Any:
    return _call(branching.numbered)(branch_index, *control_flow.numbered_cases(branch_fns, default))


def _call(f: Callable) -> Callable:
    return hub.call(f)


def _while_traced(f: Callable, own: Callable) -> Callable:
    """`own` while a function is traced, else `f`."""

    def call_it(*args: Any, **kwargs: Any) -> Any:
        return (f if current_tracer() is None else own)(*args, **kwargs)

    return call_it


HAND_WRITTEN = {
    f: _while_traced(f, own)
    for f, own in (
        (control_flow.cond, _cond),
        (control_flow.while_loop, _while_loop),
        (control_flow.case, _case),
        (control_flow.switch_case, _switch_case),
    )
}
