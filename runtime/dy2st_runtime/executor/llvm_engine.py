"""Our own compiler of kernels: the language of `scalars`, straight to LLVM."""

from __future__ import annotations

from . import routines, scalars
from .machine import machine
from .namespace import names_of, namespace


def object_file(source: str, symbol: str) -> bytes:
    """An object file that defines `symbol` as the function `kernel` of the source."""
    definition = scalars.Definition.of_text(source, f"<dy2st {symbol}>", {**namespace(), **names_of(source)})
    module = scalars.module_of(definition, symbol)
    # what is done with a part of a convolution are loops of few vectors each, which would never reach an iteration of several
    interleaved = not any(name.startswith("conv_") for name in routines.called([source]))
    return machine().emit_object(scalars.optimized(module, machine(), vectorized=True, interleaved=interleaved))
