"""Calls of routines by symbol, from kernels that Numba compiles: a routine takes 64-bit integers and returns one."""

from __future__ import annotations

import threading
from typing import Any

from llvmlite import binding as llvm
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LINKING = threading.RLock()
"""Held from giving addresses until what uses them is linked."""


def symbol(name: str) -> str:
    """What objects call a routine."""
    return f"dy2st_{name}"


def provide(name: str, address: int) -> None:
    """Gives a routine its address, for the objects that are linked from now on."""
    llvm.add_symbol(symbol(name), address)


def caller(name: str, count: int) -> Any:
    """A function that calls a routine with so many arguments."""
    with LINKING:
        if llvm.address_of_symbol(symbol(name)) is None:
            # Numba links what it compiles, in the process that compiles it; nobody runs that copy
            provide(name, 1)
    signature_ = types.int64(*[types.int64] * count)

    def codegen(context, builder, signature, values):  # type: ignore[no-untyped-def]
        integer = ir.IntType(64)
        function_type = ir.FunctionType(integer, [integer] * len(values))
        return builder.call(cgutils.get_or_insert_function(builder.module, function_type, symbol(name)), values)

    parameters = ", ".join(f"x{i}" for i in range(count))
    scope: dict[str, Any] = {"signature": signature_, "codegen": codegen}
    exec(f"def call(typingctx, {parameters}):\n    return signature, codegen\n", scope)
    return intrinsic(scope["call"])
