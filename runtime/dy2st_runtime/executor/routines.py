"""The routines: the driver, what a thread of the pool does, and what generated kernels call by symbol, each compiled once for all.

A routine takes 64-bit integers, is compiled (`scalars`) when it is first needed, and is kept in the cache of objects, as kernels are.
"""

from __future__ import annotations

import functools
import itertools
import re
from typing import TYPE_CHECKING, Any

from ..loopir import conv_plan
from . import (
    array_entries,
    arrays,
    calls,
    conv_depthwise,
    conv_direct,
    conv_pack,
    conv_plans,
    convolution,
    dots,
    driver,
    looking,
    memory,
    products,
    runs,
    sharing,
    symbols,
    tiles,
    values,
    winograd,
    words,
)

if TYPE_CHECKING:
    from ..ir.program import Program

@functools.cache
def functions() -> dict[str, Any]:
    """The routines by name, in the language of `scalars`; made when a program first needs one."""
    found: dict[str, Any] = {**driver.DRIVERS, "serve": sharing.serve, **memory.FUNCTIONS, **arrays.FUNCTIONS, **array_entries.FUNCTIONS,
                             **calls.FUNCTIONS, **conv_plans.PLANS, **words.FUNCTIONS, **looking.FUNCTIONS}  # fmt: skip
    for dtype in runs.SCALARS:
        found[f"tiles_{dtype}"] = tiles.dispatch(dtype)
        found[f"conv_pack_{dtype}"] = conv_pack.packing(dtype)
        found[f"run_tiles_{dtype}"] = tiles.dispatch_runs(dtype)
        found[f"dots_{dtype}"] = dots.dots(dtype)
        found[f"conv_depthwise_{dtype}"] = conv_depthwise.depthwise(dtype)
        found[f"product_{dtype}"] = products.product(dtype)
        found.update(convolution.routines(dtype))
        found.update(winograd.routines(dtype))
        for kernel, stride in itertools.product(conv_plan.DIRECT_KERNELS, conv_plan.DIRECT_STRIDES):
            found[f"conv_direct{kernel}{stride}_{dtype}"] = conv_direct.direct(kernel, stride, dtype)
        for kernel, stride in itertools.product(conv_plan.MAXIMA_KERNELS, conv_plan.DIRECT_STRIDES):
            found[f"maxima{kernel}{stride}_{dtype}"] = conv_direct.maxima(kernel, stride, dtype)
    return found


_CALL = re.compile(r"\bcall_(\w+)\(")


def arguments(name: str) -> int:
    """How many arguments a routine takes."""
    return int(functions()[name].__code__.co_argcount)


def called(sources: list[str]) -> list[str]:
    """The routines that the sources of kernels call, each after those that it calls itself."""
    names = sorted({name for source in sources for name in _CALL.findall(source)})
    return list(dict.fromkeys(inner for name in names for inner in _with_needed(name)))


def custom(called: list[str]) -> list[str]:
    """Of these names those of kernels of the user's own (`ops.custom`): all that are no routines."""
    return [name for name in called if name not in functions()]


_NEEDS = {"conv_input": ("conv_output",), "conv_output": ("tiles", "run_tiles", "dots", "conv_pack"),
          "product": ("tiles", "run_tiles", "dots"), "conv_winograd": ("conv_output",)}  # fmt: skip


def _with_needed(name: str) -> list[str]:
    kind, _, dtype = name.rpartition("_")
    return [*(inner for needed in _NEEDS.get(kind, ()) for inner in _with_needed(f"{needed}_{dtype}")), name]


_OF_OPS = {"matmul_v2": "product", "mul": "product", "conv2d": "conv_output"}
_OF_LISTS = ("array_create", "array_push", "array_append", "array_get", "array_last", "array_drop_last", "array_length", "array_stack",
             "array_unstack")  # fmt: skip
"""Those that a loop over a list and its gradient need: what it keeps of its iterations are lists, too."""


def expected(program: Program) -> list[str]:
    """Routines that a Program will need, those that take long to compile: before it is lowered its ops tell."""
    made = {(_OF_OPS[op.type], block.var(op.output_names[0]).dtype) for block in program.blocks for op in block.ops if op.type in _OF_OPS}
    found = [f"{kind}_{dtype}" for kind, dtype in sorted(made) if dtype in runs.SCALARS]
    lists = any(v.kind == "array" for block in program.blocks for v in block.vars.values())
    return ["driver", *dict.fromkeys(inner for name in found for inner in reversed(_with_needed(name))), *(_OF_LISTS if lists else ())]


@functools.cache
def callers() -> dict[str, Any]:
    """What sources of kernels call: `call_` and the name of a routine."""
    return {f"call_{name}": values.external(symbols.symbol(name), arguments(name)) for name in functions()}
