"""The NumPy interpreter of a Program: slow, plain, and the definition of what a Program means."""

from __future__ import annotations

import functools
import threading
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import config, nonfinite
from .errors import Location, RecursionLimitError, with_location
from .ir.program import Block, Function, Operator, Program
from .ir.visit import free_names
from .ops.control import ABSENT

_depth = threading.local()
"""How many calls of functions are inside each other in this thread, as `count`."""


def run_program(program: Program, feed: Mapping[str, np.ndarray], state: dict[str, Any]) -> dict[str, Any]:
    """Runs the global block.

    Args:
        program: what to run.
        feed: values of the data variables.
        state: values of the persistable variables; updated in place if the run succeeds, untouched if it raises.

    Returns:
        every variable of the global block with its value (arrays; a TensorArray is a list; `ABSENT` where no path set it).
    """
    block = program.global_block()
    env: dict[str, Any] = {**state, **feed}
    run_block(block, env)
    for v in block.vars.values():
        if v.persistable and v.name in env:
            state[v.name] = env[v.name]
    return env


def run_block(block: Block, env: dict[str, Any]) -> list[Any]:
    """Runs a block in an environment of all visible names, which gains the block's own; returns its results."""
    for op in block.ops:
        run_op(op, env)
    return [env[name] for name in block.results]


def run_op(op: Operator, env: dict[str, Any]) -> None:
    """Runs one op; an exception gets the op's location."""
    record = op.record
    ins = tuple([env[n] for n in op.input(s.name)] if s.many else (env[op.input(s.name)[0]] if op.input(s.name) else None)
                for s in record.input_slots)  # fmt: skip
    attrs = dict(op.attrs)
    if op.function is not None:
        attrs["run"] = functools.partial(_call, op.function, env, op.location)
    elif op.blocks:
        # a sub-block sees the names around it; what it defines or updates inside stays inside, but for effects on state
        def run(block: Block, values: dict[str, Any]) -> list[Any]:
            inner = {**env, **values}
            results = run_block(block, inner)
            values.update(inner)
            for name, value in inner.items():
                if name in env and env[name] is not value and name not in block.params:
                    env[name] = value
            return results

        attrs["run"] = run
    if skips(record, ins):
        kept = {
            o: env[i]
            for out, into in record.inplace.items()
            for o, i in zip(op.output(out), op.input(into), strict=False)
        }
        env.update({**dict.fromkeys(op.output_names, ABSENT), **kept})
        return
    try:
        outs = record.run_reference(ins, attrs)
    except Exception as error:
        raise with_location(error, op.location) from error.__cause__
    if nonfinite.watching and not op.blocks and op.function is None:  # the ops in these have been looked at
        nonfinite.check(record, ins, outs, op.location)
    for slot, value in zip(record.output_slots, outs, strict=True):
        names = op.output(slot.name)
        for name, v in zip(names, value if slot.many else [value], strict=False):
            env[name] = v


def skips(record: Any, ins: tuple[Any, ...]) -> bool:
    """Whether an op is skipped, its outputs absent too: one of its inputs is absent, unless the record `handles_absent`."""
    if record.handles_absent:
        return False
    # the entries of a TensorArray, a list too, do not count
    return any(v is ABSENT for slot, x in zip(record.input_slots, ins, strict=True) for v in (x if slot.many else [x]))


def _call(function: Function, env: dict[str, Any], location: Location | None, block: Block, values: dict[str, Any]) -> list[Any]:
    """Runs a function, which sees persistable variables and tapes of the environment of the call, and nothing else."""
    limit, depth = config.RECURSION_LIMIT.get(), getattr(_depth, "count", 0)
    if depth >= limit:
        raise recursion_error(limit, location)
    visible = [name for name in free_names(block) if name in env]
    inner = {**{name: env[name] for name in visible}, **values}
    _depth.count = depth + 1
    try:
        results = run_block(block, inner)
    finally:
        _depth.count = depth
    env.update((name, inner[name]) for name in visible)
    return results


def recursion_error(limit: int, location: Location | None) -> RecursionLimitError:
    """What is raised where calls are nested deeper than the limit."""
    return RecursionLimitError(
        f"a function calls itself more than {limit} times without coming to an end", location=location,
        hint="check what ends the recursion; DY2ST_RECURSION_LIMIT allows more",
    )  # fmt: skip
