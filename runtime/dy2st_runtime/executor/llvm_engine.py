"""Our own compiler of kernels: the language of `scalars`, straight to LLVM."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from . import routines, scalars
from .machine import machine
from .namespace import names_of, namespace
from .scalars import blocks_of, holds_loop

_CHOSEN_STRIDE = re.compile(r"= \(0 if ")
"""0 where an operand has one element along an axis that others have more of: a loop has vectors only where it is known which."""


def object_file(source: str, symbol: str) -> bytes:
    """An object file that defines `symbol` as the function `kernel` of the source."""
    definition = scalars.Definition.of_text(source, f"<dy2st {symbol}>", {**namespace(), **names_of(source)})
    module = scalars.module_of(definition, symbol)
    loops = [s for s in _innermost(definition.tree.body) if not _calls_routine(s)]
    # sums wait for each other, other loops are as fast with one vector in an iteration; what is done with a part of a convolution are loops
    # of few vectors each, which would never reach an iteration of several
    accumulating = any(_accumulates(s, definition) for s in loops)
    interleaved = accumulating and not any(name.startswith("conv_") for name in routines.called([source]))
    optimized = scalars.optimized(module, machine(), vectorized=bool(loops),
                                  interleaved=interleaved, unswitched=_CHOSEN_STRIDE.search(source) is not None)  # fmt: skip
    return machine().emit_object(optimized)


def _innermost(body: list[ast.stmt]) -> Iterator[ast.For]:
    """The loops among statements that hold no other one; no `while`, which has no vectors."""
    for s in body:
        if isinstance(s, ast.For) and not holds_loop(s.body):
            yield s
        for block in blocks_of(s):
            yield from _innermost(block)


def _calls_routine(s: ast.For) -> bool:
    return any(isinstance(x, ast.Name) and x.id.startswith("call_") for x in ast.walk(s))


def _accumulates(s: ast.For, definition: scalars.Definition) -> bool:
    """Whether an iteration of an innermost loop goes on with a variable of the one before."""
    inner = [s.body]
    for block in inner:
        inner += [more for x in block for more in blocks_of(x)]
    assigned = [x.targets[0] for block in inner for x in block if isinstance(x, ast.Assign)]
    return any(isinstance(target, ast.Name) and target.id not in definition.assigned_once for target in assigned)
