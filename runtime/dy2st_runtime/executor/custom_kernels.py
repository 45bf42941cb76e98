"""Kernels of the user's own (`ops.custom`): Numba compiles them, eager mode calls them on arrays, native code on descriptors.

The native form is a function of 64-bit integers: the descriptors of the results and of the inputs, the sizes that the results must have
(-1: any), the attributes as bits. It shows the kernel its inputs as arrays that cannot be written, and copies the results into buffers.
What the kernel raises is a failure, for which the reference is run again: there it is raised.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types as numba_types
from numba.extending import intrinsic

from .. import dtype as dt
from .. import forks
from ..codegen import layout
from ..errors import CustomOpError
from ..ops.custom import SPECIALIZATIONS, Definition, Specialization
from ..ops.registry import TensorType
from .memory import copy_bytes
from .native import LOADS, STORES
from .numba_engine import DTYPES, as_intrinsic
from .objects import UncompiledCustom
from .symbols import symbol
from .values import Instruction, external

_compiling = forks.reentrant_lock()
_entries: dict[str, Any] = {}
"""What Numba has made of a native form, by its name; its code lives as long as it does."""


def address(name: str) -> int:
    """The entry point of a native form, which is compiled if this process has not done so.

    Raises:
        UncompiledCustom: the kernel does not compile for these types, or gives something else than `infer` says.
    """
    with _compiling:
        if name not in _entries:
            try:
                _entries[name] = _native_form(SPECIALIZATIONS[name])
            except CustomOpError as error:
                raise UncompiledCustom(name, error) from None
        return int(_entries[name].address)


def run(definition: Definition, ins: Sequence[np.ndarray], wanted: Sequence[TensorType], attrs: dict[str, Any]) -> tuple[np.ndarray, ...]:
    """What the kernel gives for arrays.

    Raises:
        CustomOpError: it does not compile for these types, or gives other dtypes or ranks than `infer` says.
        Whatever the kernel raises.
    """
    types = tuple((a.dtype.name, a.ndim) for a in ins), tuple((t.dtype, t.rank) for t in wanted)
    given = _kernel(Specialization(definition, *types)).function(*map(_read_only, ins), *attrs.values())
    parts = given if isinstance(given, tuple) else (given,)
    # a number of any dtype comes back as a number of Python
    return tuple(np.asarray(part, t.dtype) for part, t in zip(parts, wanted, strict=True))


def _read_only(array: np.ndarray) -> np.ndarray:
    """The array as kernels get it: they must not write to it, as others may hold it."""
    view = np.require(array, requirements="C")[...]
    view.flags.writeable = False
    return view


@dataclass(frozen=True)
class _Kernel:
    """A kernel compiled for certain types. `numbers`: which of its results are numbers, not arrays."""

    function: Any
    numbers: list[bool]


@functools.cache
def _kernel(s: Specialization) -> _Kernel:
    definition, takes = s.definition, _arguments(s)
    if numba.config.DISABLE_JIT:
        raise CustomOpError(f"{definition.name}: Numba does not compile its kernel, as NUMBA_DISABLE_JIT is set", hint="unset it")
    found = _elementwise(s) if definition.elementwise else _jitted(definition)
    try:
        found.compile(takes)
    except Exception as error:  # what Numba stumbles over may be any
        raise _uncompiled(s, str(error)) from None
    gives = found.overloads[takes].signature.return_type
    parts = list(gives) if isinstance(gives, numba_types.BaseTuple) else [gives]
    if len(parts) != definition.outputs or not all(_fits(part, *out) for part, out in zip(parts, s.outs, strict=True)):
        raise _uncompiled(s, f"it gives {', '.join(map(str, parts))}, and infer says {_shown_types(s.outs)}",
                          "make an array of the dtype that infer gives, as in out = np.empty(shape, x.dtype); to Numba a float32 times a "
                          "number of Python is a float64")  # fmt: skip
    return _Kernel(found, [not isinstance(part, numba_types.Array) for part in parts])


def _arguments(s: Specialization) -> tuple[Any, ...]:
    return (*(numba_types.Array(DTYPES[dtype], rank, "C", readonly=True) for dtype, rank in s.ins),
            *(numba.typeof(default) for default in s.definition.attrs.values()))  # fmt: skip


def _fits(given: Any, dtype: str, rank: int) -> bool:
    if isinstance(given, numba_types.Array):
        return bool(given.dtype == DTYPES[dtype] and given.ndim == rank)
    return rank == 0 and given == DTYPES[dtype]


def _jitted(definition: Definition) -> Any:
    function = definition.function
    if not hasattr(function, "py_func"):
        return numba.njit(function)
    if function.targetoptions.get("parallel"):
        raise CustomOpError(f"{definition.name}: the kernel of a custom op cannot be njit(parallel=True): dy2st's threads are not Numba's",
                           hint="leave parallel=True away")  # fmt: skip
    return function


def _elementwise(s: Specialization) -> Any:
    """A function of numbers as one of arrays that broadcast."""
    ((dtype, _),), function = s.outs, s.definition.function
    names = ", ".join([*s.definition.tensors, *s.definition.attrs])
    scope = {"_of_numbers": numba.vectorize(getattr(function, "py_func", function)), "_dtype": np.dtype(dtype), "_array": np.asarray}
    exec(f"def kernel({names}):\n    return _array(_of_numbers({names})).astype(_dtype)\n", scope)
    return numba.njit(scope["kernel"])


def _uncompiled(s: Specialization, why: str, hint: str | None = None) -> CustomOpError:
    message = f"the kernel of the custom op {s.definition.name} does not compile for {_shown_types(s.ins)}: {why.strip()}"
    return CustomOpError(message, hint=hint)


def _shown_types(types: Sequence[tuple[str, int]]) -> str:
    return ", ".join(f"{dtype}[{', '.join([':'] * rank)}]" for dtype, rank in types)


# ---- the native form ----------------------------------------------------------------------------------------------


def _native_form(s: Specialization) -> Any:
    definition = s.definition
    outs, ins = ([f"{stem}{i}" for i in range(len(types))] for stem, types in (("o", s.outs), ("x", s.ins)))
    sizes = [[f"{out}_d{axis}" for axis in range(rank)] for out, (_, rank) in zip(outs, s.outs, strict=True)]
    attrs = [f"a{i}" for i in range(len(definition.attrs))]
    compiled = _kernel(s)
    scope: dict[str, Any] = {"kernel": compiled.function}
    arguments = []
    for name, (dtype, rank) in zip(ins, s.ins, strict=True):
        scope[f"show_{name}"] = _shown(dtype, rank)
        arguments.append(f"show_{name}({name})")
    for name, default in zip(attrs, definition.attrs.values(), strict=True):
        arguments.append(f"{name} != 0" if isinstance(default, bool) else f"as_float({name})" if isinstance(default, float) else name)
    scope["as_float"] = as_intrinsic(_AS_FLOAT)
    results = [f"r{i}" for i in range(len(outs))]
    parameters = [*outs, *ins, *(d for row in sizes for d in row), *attrs]
    lines = [f"def native({', '.join(parameters)}):",
             "    try:",
             f"        {', '.join(results)} = kernel({', '.join(arguments)})",
             "    except Exception:",
             f"        return {layout.FAILED}"]  # fmt: skip
    for out, result, row, (dtype, rank), number in zip(outs, results, sizes, s.outs, compiled.numbers, strict=True):
        scope[f"give_{out}"] = _giving(dtype, rank, number)
        lines += [f"    status = give_{out}({', '.join([out, result, *row])})", "    if status != 0:", "        return status"]
    lines.append(f"    return {layout.OK}")
    exec("\n".join(lines), scope)
    return numba.cfunc(numba_types.int64(*[numba_types.int64] * len(parameters)))(scope["native"])


_AS_FLOAT = Instruction(lambda builder, value: builder.bitcast(value, ir.DoubleType()), ("int64",), "float64")


@functools.cache
def _shown(dtype: str, rank: int) -> Any:
    """A function of a descriptor that shows its tensor as an array."""
    array = numba_types.Array(DTYPES[dtype], rank, "C", readonly=True)

    @intrinsic
    def view(typing: Any, address: Any, shape: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            from numba.np.arrayobj import make_array, populate_array

            made = make_array(array)(context, builder)
            item = dt.size(dtype)
            sizes = [builder.extract_value(arguments[1], axis) for axis in range(rank)]
            strides = [ir.Constant(ir.IntType(64), item)] * rank
            for axis in range(rank - 2, -1, -1):
                strides[axis] = builder.mul(strides[axis + 1], sizes[axis + 1])
            pointer = builder.inttoptr(arguments[0], context.get_data_type(array.dtype).as_pointer())
            populate_array(made, data=pointer, shape=sizes, strides=strides, itemsize=item, meminfo=None)
            return made._getvalue()

        return array(address, shape), code

    load = as_intrinsic(LOADS["ld_int64"])
    sizes = "".join(f"load(x, {layout.DIMS + axis}), " for axis in range(rank))
    scope = {"load": load, "view": view}
    exec(f"def show(x):\n    return view(load(x, {layout.DATA}), ({sizes}))\n", scope)
    return numba.njit(scope["show"])


@functools.cache
def _giving(dtype: str, rank: int, number: bool) -> Any:
    """A function of a descriptor, an array (or a number) and the sizes that it must have (-1: any), which puts it into the descriptor's
    buffer."""
    sizes = [f"d{axis}" for axis in range(rank)]
    scope = {"reserve": as_intrinsic(external(symbol("reserve"), 2)), "copy": as_intrinsic(copy_bytes), "np": np,
             "store": as_intrinsic(STORES["st_int64"]), "dtype": np.dtype(dtype)}  # fmt: skip
    lines = [f"def give({', '.join(['out', 'result', *sizes])}):"]
    for axis, size in enumerate(sizes):
        lines += [f"    if {size} != -1 and result.shape[{axis}] != {size}:", f"        return {layout.FAILED}"]
    lines += ["    array = np.array([result], dtype)" if number else "    array = np.ascontiguousarray(result)",
              f"    nbytes = array.size * {dt.size(dtype)}",
              "    address = reserve(out, nbytes)",
              "    if address == 0:",
              f"        return {layout.NO_MEMORY}",
              "    copy(address, array.ctypes.data, nbytes)",
              *(f"    store(out, {layout.DIMS + axis}, result.shape[{axis}])" for axis in range(rank)),
              f"    return {layout.OK}"]  # fmt: skip
    exec("\n".join(lines), scope)
    return numba.njit(scope["give"])
