"""Numba as the compiler of kernels.

The texts are those that our own compiler takes (`llvm_engine`). What they call, Numba gets in its own form: an `Instruction` as an
intrinsic, a function of the language of `scalars` as a jitted function. Numba infers wider types on the way (an int32 times an int32 is
an int64), but texts cast what they keep, so results are the same.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Sequence
from typing import Any

import numba
import numpy as np
from llvmlite import binding as llvm
from llvmlite import ir
from numba import types as numba_types
from numba.core import cgutils, compiler, registry
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import intrinsic

from .. import forks
from ..codegen import layout
from .machine import machine
from .namespace import names_of, namespace
from .values import I32, I64, TYPES, Arithmetic, Instruction, Value

# Numba holds it while it compiles, the kernels of custom ops too, and calls LLVM then
forks.between_calls(global_compiler_lock, calls_others=True)

DTYPES = {"bool": numba_types.boolean, **{name: getattr(numba_types, name) for name in TYPES if name != "bool"}}


def object_file(source: str, symbol: str) -> bytes:
    """An object file that defines `symbol` as the function `kernel` of the source."""
    scope = {**_names(), **{name: _for_numba(thing) for name, thing in names_of(source).items()}}
    exec(compile(source, f"<dy2st {symbol}>", "exec"), scope)
    with global_compiler_lock:
        typing, target = registry.cpu_target.typing_context, _target()
        made = compiler.compile_extra(typing, target, scope["kernel"], (numba_types.int64,) * 3, numba_types.int64, _flags(), {})
        module = llvm.parse_bitcode(made.library.emit_bitcode())
        module.link_in(llvm.parse_assembly(_with_our_convention(made.fndesc.llvm_func_name, symbol, module)))
        _keep_private(module, symbol)
        return machine().emit_object(module)


@functools.cache
def _target() -> Any:
    """Numba's target for code that is not linked into its own engine."""
    registry.cpu_target.target_context.refresh()
    return registry.cpu_target.target_context.with_aot_codegen("dy2st", cpu_name="host")


def _flags() -> Any:
    flags = compiler.Flags()
    flags.error_model = "numpy"  # a division by 0 raises nothing
    flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    return flags


def _with_our_convention(entry: str, symbol: str, like: llvm.ModuleRef) -> str:
    """A module with the function `symbol`, which calls the entry of Numba: `status(result*, exception**, ...)`."""
    module = ir.Module(symbol)
    module.triple, module.data_layout = like.triple, like.data_layout
    raised = ir.LiteralStructType([]).as_pointer()
    called = ir.Function(module, ir.FunctionType(I32, [I64.as_pointer(), raised.as_pointer(), I64, I64, I64]), entry)
    function = ir.Function(module, ir.FunctionType(I64, [I64] * 3), symbol)
    build = ir.IRBuilder(function.append_basic_block("entry"))
    result, exception = build.alloca(I64), build.alloca(raised)
    status = build.call(called, [result, exception, *function.args])
    # a kernel raises nothing; what Numba has an exception for (a step of 0) is a bug, of which the driver tells the user
    fine = build.icmp_signed("==", status, ir.Constant(I32, 0))
    build.ret(build.select(fine, build.load(result), ir.Constant(I64, layout.FAILED)))
    return str(module)


def _keep_private(module: llvm.ModuleRef, symbol: str) -> None:
    """Objects are linked into one process: nothing but the symbol may be seen of one."""
    for thing in [*module.functions, *module.global_variables]:
        if not thing.is_declaration and thing.name != symbol:
            thing.linkage = "internal"


# ---- what texts call ----------------------------------------------------------------------------------------------


@functools.cache
def _names() -> dict[str, Any]:
    return {name: _for_numba(thing) for name, thing in namespace().items()}


def _for_numba(thing: Any) -> Any:
    if isinstance(thing, Instruction):
        return as_intrinsic(thing)
    if isinstance(thing, type) and issubclass(thing, np.generic):
        return _cast(thing.__name__)
    return _jitted(thing) if isinstance(thing, types.FunctionType) else thing


@functools.cache
def _jitted(function: Any) -> Any:
    """A function in the language of `scalars`, with all that it calls."""
    names = {name: _for_numba(thing) for name, thing in function.__globals__.items() if name in function.__code__.co_names}
    copy = types.FunctionType(function.__code__, {**function.__globals__, **names}, function.__name__)
    floats = set(getattr(function, "floats", ()))
    # inlined, so that the loop around it is vectorized
    return numba.njit(fastmath=floats or False, error_model="numpy", forceinline=bool(floats))(copy)


@functools.cache
def _cast(dtype: str) -> Any:
    """A cast as texts mean it: Numba's own makes other narrow ints of floats."""

    def code(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Sequence[Any]) -> Any:
        (value,), (given,) = arguments, signature.args
        return Arithmetic(builder).cast(Value("bool" if given == numba_types.boolean else given.name, value), dtype).of

    return intrinsic(lambda context, value: (DTYPES[dtype](value), code))


@functools.cache
def as_intrinsic(instruction: Instruction) -> Any:
    """An instruction as Numba's functions call it."""
    gives, takes = DTYPES[instruction.gives], instruction.takes

    def code(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Sequence[Any]) -> Any:
        value = instruction.emit(builder, *(cgutils.unpack_tuple(builder, arguments[0]) if takes is None else arguments))
        return ir.Constant(I64, 0) if value is None else value  # a store has no value, and nobody reads this one

    if takes is None:
        typed = lambda context, *operands: (gives(numba_types.StarArgUniTuple(numba_types.int64, len(operands))), code)  # noqa: E731
    else:
        typed = lambda context, *operands: (gives(*(DTYPES[dtype] for dtype in takes)), code)  # noqa: E731
        # Numba reads from the signature how many operands there are
        names = ["context", *(f"operand{i}" for i in range(len(takes)))]
        parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
        typed.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return intrinsic(typed)
