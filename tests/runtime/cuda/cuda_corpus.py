"""The test corpus as CUDA sees it: which rows of the op cases it runs, and the kernels of a Program."""

from __future__ import annotations

import importlib
from typing import Any

import op_cases
from dy2st_runtime.codegen import cuda as language
from dy2st_runtime.ir import Program
from dy2st_runtime.loopir import nodes as n
from dy2st_runtime.lowering.lower import lower
from dy2st_runtime.lowering.schedule import Launch, walk
from op_cases import Case

FIRST_SLICE = ("cases_elementwise", "cases_reduce", "cases_norm", "cases_loss", "cases_values")
"""Elementwise, comparison, reduction, matrix product, normalization, softmax and losses, fill."""


def runs(case: Case) -> bool:
    """Whether the row has code to run: it raises nothing, and its op is not the host's work."""
    return case.raises is None and case.native and not case.record.host


def good_rows() -> list[Case]:
    return [c for c in op_cases.all_cases() if runs(c)]


def first_slice_ops() -> list[str]:
    """The ops of the first slice, in the order of their rows."""
    cases = [c for name in FIRST_SLICE for c in importlib.import_module(name).CASES]
    return list(dict.fromkeys(c.op for c in cases if runs(c)))


def has_half(program: Program) -> bool:
    return any(v.dtype == "float16" for block in program.blocks for v in block.vars.values())


def kernels(program: Program) -> list[n.Kernel]:
    """The kernels that run on the device, which are those without calls of array functions."""
    launches = [s for s in walk(lower(program).steps) if isinstance(s, Launch)]
    return [s.kernel for s in launches if not any(isinstance(b, n.NativeCall) for b in s.kernel.body)]


def identity(kernel: n.Kernel) -> tuple[Any, ...]:
    """Equal for kernels that compile to the same code; the label is only a comment."""
    lines = language.render(kernel).splitlines()
    assert lines[1].strip().startswith("#")
    return (*lines[:1], *lines[2:], *language.argument_types(kernel))
