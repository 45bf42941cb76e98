"""Our own compiler of kernels: the language of `scalars`, straight to LLVM."""

from __future__ import annotations

import ast
import re

from . import routines, scalars
from .machine import machine
from .namespace import names_of, namespace

_CHOSEN_STRIDE = re.compile(r"= \(0 if ")
"""0 where an operand has one element along an axis that others have more of: a loop has vectors only where it is known which."""


def object_file(source: str, symbol: str) -> bytes:
    """An object file that defines `symbol` as the function `kernel` of the source."""
    definition = scalars.Definition.of_text(source, f"<dy2st {symbol}>", {**namespace(), **names_of(source)})
    module = scalars.module_of(definition, symbol)
    # what is done with a part of a convolution are loops of few vectors each, which would never reach an iteration of several
    interleaved = not any(name.startswith("conv_") for name in routines.called([source]))
    optimized = scalars.optimized(module, machine(), vectorized=any(map(_may_have_vectors, ast.walk(definition.tree))),
                                  interleaved=interleaved, unswitched=_CHOSEN_STRIDE.search(source) is not None)  # fmt: skip
    return machine().emit_object(optimized)


def _may_have_vectors(node: ast.AST) -> bool:
    """Whether it is an innermost loop, and calls no routine."""
    if not isinstance(node, ast.For):
        return False
    inside = [inner for s in node.body for inner in ast.walk(s)]
    return not any(isinstance(x, (ast.For, ast.While)) or (isinstance(x, ast.Name) and x.id.startswith("call_")) for x in inside)
