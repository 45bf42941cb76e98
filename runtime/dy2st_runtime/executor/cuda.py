"""CUDA: a Program's schedule walked by the host, its kernels run by numba-cuda on the device.

The first slice: elementwise, reduction and small matrix-product kernels, `cond`, `while_loop`, arrays. Branches and loops are decided on
the host, which costs a transfer of one element each; the kernels are those of the CPU in another language. `compile_ptx` needs
no GPU, and under `NUMBA_ENABLE_CUDASIM=1` the kernels run in numba-cuda's simulator.
"""

from __future__ import annotations

import functools
import importlib.util
import math
import os
import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import config, dims, forks, reference, signals
from ..codegen import cuda as language
from ..errors import CompileError, DeviceError, Dy2stError, ScopeError, with_location
from ..feeds import check_feed
from ..ir.program import Operator, Program
from ..ir.visit import clone_program, reads
from ..loopir import nodes as n
from ..loopir.evaluate import Evaluator, stores
from ..lowering.lower import lower
from ..lowering.schedule import (
    Absent,
    Branch,
    Call,
    FailIfAbsent,
    Guard,
    Host,
    Launch,
    Loop,
    Share,
    Step,
)
from ..ops.array_select import ArrayCommon
from ..ops.control import ABSENT, scalar_bool
from ..ops.custom import SPECIALIZATIONS, Definition, Specialization
from ..ops.registry import TensorType
from ..passes.pipeline import optimize
from .state import Commit, Given, state_of

THREADS = 128
MAX_BLOCKS = 4096


def simulated() -> bool:
    return os.environ.get("NUMBA_ENABLE_CUDASIM") == "1"


@functools.cache
def _numba_cuda() -> Any:
    """The module numba.cuda of the package numba-cuda; DeviceError if it is not installed."""
    # Numba brings a module numba.cuda of its own, without much of what kernels need.
    if importlib.util.find_spec("numba_cuda") is None:
        raise DeviceError("the CUDA target needs the package numba-cuda", hint="pip install 'dy2st[cuda]'")
    from numba import cuda

    return cuda


def require_device() -> None:
    """DeviceError, saying what is missing, unless kernels can run on a GPU (or in the simulator)."""
    cuda = _numba_cuda()
    if simulated():
        return
    if not cuda.is_available():
        raise DeviceError(
            "no usable NVIDIA GPU: CUDAPlace cannot run here",
            hint="use CPUPlace(), or check the driver with nvidia-smi",
        )


def _power(x: Any, y: Any) -> Any:
    return np.asarray(x)[()] ** np.asarray(y)[()]


class _DeviceMath:
    """The module `math` as devices have it, for the simulator: where Python's raises, this gives inf or nan."""

    def __getattr__(self, fn: str) -> Any:
        if fn == "erf":
            return math.erf  # never raises, and NumPy has none
        # the power of two scalars is that of C, as devices have it: of -inf and 0.5 `np.power` gives nan
        ufunc = _power if fn == "pow" else getattr(np, re.sub("^a(?=cos|sin|tan)", "arc", fn))

        def call(*arguments: Any) -> Any:
            with np.errstate(all="ignore"):
                return ufunc(*arguments)

        return call


@functools.cache
def _namespace() -> dict[str, Any]:
    """The names that generated CUDA source may use."""
    cuda = _numba_cuda()
    names: dict[str, Any] = {"cuda": cuda, "math": math, "inf": math.inf, "nan": math.nan}
    if simulated():
        names |= {"math": _DeviceMath(), "rint_float32": np.rint, "rint_float64": np.rint}
    else:
        names |= {"rint_float32": cuda.libdevice.rintf, "rint_float64": cuda.libdevice.rint}
    return names | {t: getattr(np, t) for t in ("float32", "float64", "int8", "int16", "int32", "int64", "uint8")}


@functools.cache
def _kernel(source: str) -> Any:
    """The `cuda.jit` function of a kernel's source."""
    return _numba_cuda().jit(_function(source))


def _launcher(source: str, grid: tuple[int, int]) -> Any:
    """A kernel on a grid."""
    with warnings.catch_warnings():
        # that a small grid leaves most of a GPU idle, which nobody who runs a Program can change
        warnings.filterwarnings("ignore", ".*Grid size .* low occupancy")
        return _kernel(source)[grid]


@functools.cache
def _custom_kernel(definition: Definition) -> Any:
    kernel = definition.cuda
    return kernel if hasattr(kernel, "py_func") else _numba_cuda().jit(kernel)


def _function(source: str) -> Any:
    scope = dict(_namespace())
    exec(compile(source, "<dy2st cuda kernel>", "exec"), scope)
    return scope["kernel"]


def compile_ptx(kernel: n.Kernel, capability: tuple[int, int]) -> str:
    """The PTX of a kernel for a compute capability, such as (8, 0); needs no GPU. CompileError with the source if it does not compile."""
    from numba import types

    cuda = _numba_cuda()
    source = language.render(kernel)
    names = {"boolean": types.boolean}
    signature = []
    for text in language.argument_types(kernel):
        scalar = text.removesuffix("[::1]")
        t = names.get(scalar) or getattr(types, scalar)
        signature.append(types.Array(t, 1, "C") if text != scalar else t)
    try:
        ptx, _ = cuda.compile_ptx(_function(source), types.void(*signature), cc=capability)
    except Exception as error:
        raise CompileError(f"the CUDA kernel of {kernel.label} does not compile: {error}\n{source}") from error
    return str(ptx)


class Value:
    """A tensor on the device: a flat array and sizes."""

    __slots__ = ("data", "shape")

    def __init__(self, data: Any, shape: tuple[int, ...]):
        self.data, self.shape = data, shape

    def host(self) -> np.ndarray:
        return self.data.copy_to_host()[: math.prod(self.shape)].reshape(self.shape)


def to_device(array: np.ndarray) -> Value:
    flat = np.ascontiguousarray(array).reshape(-1)
    return Value(_numba_cuda().to_device(flat if flat.size else np.zeros(1, flat.dtype)), array.shape)


class CudaExecutable:
    """Like `Executable`, on `CUDAPlace(0)`.

    Raises:
        DeviceError: there is no usable GPU.
    """

    def __init__(self, program: Program, feed_names: Sequence[str], fetch_names: Sequence[str], *,
                 absent_feeds: Sequence[str] = ()) -> None:  # fmt: skip
        require_device()
        self.feed_names, self.fetch_names = list(feed_names), list(fetch_names)
        self.program, self.updates, shapes = optimize(
            clone_program(program), self.feed_names, self.fetch_names, absent_feeds
        )
        self.block = self.program.global_block()
        self.schedule = lower(self.program, shapes, frozenset(absent_feeds))
        named = set(self.schedule.variables) | set(self.fetch_names) | set(self.updates.values())
        self.state_names = [v.name for v in self.block.vars.values() if v.persistable and v.name in named]
        self._lock = forks.lock()

    def run(self, feeds: Sequence[Any], state: Given = None, same: object = None, commit: Commit | None = None) -> Any:
        """See `Executable.run`."""
        state = state_of(state)
        env: dict[str, Any] = {}
        for name, value in zip(self.feed_names, feeds, strict=True):
            v = self.block.var(name)
            if value is ABSENT:
                env[name] = ABSENT
            elif v.kind == "array":
                env[name] = [to_device(np.asarray(entry, v.dtype)) for entry in value]
            else:
                env[name] = to_device(check_feed(v, value))
        for name in self.state_names:
            if name not in state:
                raise ScopeError(
                    f"variable {name!r} has no value", hint="run the startup program first, or load the parameters"
                )
            env[name] = to_device(state[name])
        with self._lock:
            Walk(self, env).steps(self.schedule.steps)
        get = lambda name: env[self.schedule.canonical(name)]  # noqa: E731
        results = [_to_host(get(name)) for name in self.fetch_names]
        for name, final in self.updates.items():
            value = _to_host(get(final))
            if value is not None:
                state[name] = value
        for name in self.state_names:
            if name not in self.updates and name == "@RNG@":
                state[name] = env[name].host()
        return results if commit is None else signals.whole(lambda: commit(results), lambda: True)


def _to_host(value: Any) -> Any:
    if value is ABSENT:
        return None
    return [v.host() for v in value] if isinstance(value, list) else value.host()


class Walk:
    """One run: the schedule's steps on an environment of canonical names."""

    def __init__(self, executable: CudaExecutable, env: dict[str, Any], depth: int = 0):
        self.executable, self.schedule, self.env, self.depth = executable, executable.schedule, env, depth
        self.name = executable.schedule.canonical

    def get(self, name: str) -> Any:
        return self.env[self.name(name)]

    def steps(self, steps: list[Step]) -> None:
        for s in steps:
            self.step(s)

    def step(self, s: Step) -> None:
        if isinstance(s, Launch):
            self.launch(s)
        elif isinstance(s, Share):
            self.env[self.name(s.target)] = self.get(s.source)
        elif isinstance(s, Absent):
            self.env.update((self.name(name), ABSENT) for name in s.names)
        elif isinstance(s, FailIfAbsent):
            if self.get(s.name) is ABSENT:
                self.replay(s.op)
        elif isinstance(s, Guard):
            if any(self.get(name) is ABSENT for name in s.names):
                for name in s.outputs:
                    self.env[self.name(name)] = self.get(s.keeps[name]) if name in s.keeps else ABSENT
            else:
                self.steps(s.steps)
        elif isinstance(s, Branch):
            self.steps(s.then if self.truth(s.cond, s.op) else s.orelse)
        elif isinstance(s, Loop):
            while True:
                self.steps(s.test)
                if not self.truth(s.cond, s.op):
                    return
                self.steps(s.body)
                after = [self.get(r) for r in s.results]
                self.env.update((self.name(p), value) for p, value in zip(s.params, after, strict=True))
        elif isinstance(s, Call):
            self.call(s)
        elif isinstance(s, Host):
            self.host(s.op)
        else:
            raise CompileError(
                "a suspended run is not supported on CUDA yet: training through a decorated function runs on the CPU"
            )

    def call(self, s: Call) -> None:
        """Runs a routine on an environment of its own, in which only what all see is that of the caller."""
        limit = config.RECURSION_LIMIT.get()
        if self.depth >= limit:
            raise reference.recursion_error(limit, s.op.location)
        routine = self.schedule.routines[s.function]
        visible = list(map(self.name, s.captured))
        inner = Walk(self.executable, {name: self.env[name] for name in visible if name in self.env}, self.depth + 1)
        inner.env.update((self.name(p), self.get(x)) for p, x in zip(routine.params, s.arguments, strict=True))
        inner.steps(routine.schedule.steps)
        self.env.update((name, inner.env[name]) for name in visible if name in inner.env)
        self.env.update((self.name(o), inner.get(r)) for o, r in zip(s.outputs, routine.results, strict=True))

    def truth(self, name: str, op: Operator) -> bool:
        try:
            return scalar_bool(_to_host(self.get(name)), "a tensor")
        except Exception as error:
            raise with_location(error, op.location) from None

    def values(self, op: Operator) -> dict[str, Any]:
        found = {name: self.get(name) for name in reads(op) if self.name(name) in self.env}
        return {name: v if v is ABSENT else _to_host(v) for name, v in found.items()}

    def host(self, op: Operator) -> None:
        env = self.values(op)
        reference.run_op(op, env)
        for name in op.output_names:
            self.env[self.name(name)] = to_device(env[name])

    def replay(self, op: Operator) -> None:
        """The reference raises what eager raises."""
        reference.run_op(op, self.values(op))
        raise CompileError(
            f"the kernel of {op.type} reports a failure that the reference does not: this is a bug in dy2st"
        )

    # ---- kernels ----
    def launch(self, s: Launch) -> None:
        kernel = s.kernel
        call = kernel.body[-1] if kernel.body else None
        if isinstance(call, n.NativeCall):
            if call.fn in SPECIALIZATIONS:
                self.custom(s, SPECIALIZATIONS[call.fn])
            else:
                self.array(s, call)
            return
        given = {t.name: self.get(t.var) for t in kernel.tensors if self.name(t.var) in self.env}
        shapes = {name: v.shape for name, v in given.items() if isinstance(v, Value)}
        attrs = {a.name: a.value for a in kernel.scalars}
        on_host = functools.cache(lambda tensor: given[tensor].host().reshape(-1))  # a check may read every element
        evaluator = Evaluator(shapes, attrs, lambda tensor, i: on_host(tensor)[i])
        ok, outputs = evaluator.prologue(kernel)
        if not ok:
            self.replay(s.op)
        arguments: list[Any] = []
        made: dict[str, Value] = {}
        views = {t.name: s.views[t.var] for t in kernel.tensors if t.var in s.views}
        for t in kernel.tensors:
            if t.name in views:
                made[t.name] = Value(self.get(views[t.name]).data, outputs[t.name])
            elif t.name in outputs:
                size = max(math.prod(outputs[t.name]), 1)
                made[t.name] = Value(_numba_cuda().device_array(size, np.dtype(t.dtype)), outputs[t.name])
            value = made.get(t.name) or given[t.name]
            arguments += [value.data, *map(np.int64, value.shape)]
        arguments += [np.dtype(a.dtype).type(a.value) for a in kernel.scalars]
        if any(stores(body) for body in kernel.body):
            status = _numba_cuda().to_device(np.zeros(1, np.int64))
            threads = 4 if simulated() else THREADS  # the simulator starts a Python thread for each
            count = max([math.prod(v.shape) for v in made.values()] or [1])
            blocks = min((count + threads - 1) // threads, 2 if simulated() else MAX_BLOCKS)
            grid = (max(blocks, 1), threads) if language.is_parallel(kernel) else (1, 1)
            _launcher(language.render(kernel), grid)(*arguments, status)
            if any(_fails_inside(body) for body in kernel.body) and status.copy_to_host()[0]:
                self.replay(s.op)
        self.env.update((self.name(t.var), made[t.name]) for t in kernel.tensors if t.name in made)

    def custom(self, s: Launch, specialization: Specialization) -> None:
        """A kernel of the user's own."""
        definition, op = specialization.definition, s.op
        if definition.cuda is None:
            raise DeviceError(f"the custom op {op.type} has no kernel for CUDA", location=op.location,
                              hint=f"give it one with @{op.type}.cuda, or run on CPUPlace()")  # fmt: skip
        ins: list[Value] = [self.get(name) for name in op.input_names]
        try:
            wanted = definition.types([TensorType(v.data.dtype.name, v.shape) for v in ins], op.attrs)
        except Dy2stError:
            self.replay(op)
        if not all(dims.known(d) for t in wanted for d in t.shape):
            raise DeviceError(f"the sizes of what the custom op {op.type} gives depend on values, which CUDA does not know before",
                              location=op.location, hint="run on CPUPlace()")  # fmt: skip
        sizes = [math.prod(t.shape) for t in wanted]
        outs = [Value(_numba_cuda().device_array(max(size, 1), np.dtype(t.dtype)), t.shape) for size, t in zip(sizes, wanted, strict=True)]
        threads = 4 if simulated() else THREADS
        grid = (max((sizes[0] + threads - 1) // threads, 1), threads)
        _custom_kernel(definition)[grid](*(v.data[: math.prod(v.shape)].reshape(v.shape) for v in (*ins, *outs)), *op.attrs.values())
        self.env.update((self.name(name), v) for name, v in zip(op.output_names, outs, strict=True))

    def array(self, s: Launch, call: n.NativeCall) -> None:
        """The array functions of `executor.arrays`, on lists of device tensors."""
        tensors = {t.name: t.var for t in s.kernel.tensors}
        names = [tensors[t] for t in call.tensors]
        scalars = [int(a.value) for a in s.kernel.scalars]
        out, ins = names[0], [self.get(name) for name in names[1:]]
        index = lambda v: int(v.host().reshape(()))  # noqa: E731
        fn = call.fn
        result: Any = None
        if fn == "array_create":
            result = []
        elif fn == "array_push":
            result = [*self.get(out), ins[0]]
        elif fn == "array_copy":
            result = list(ins[0])
        elif fn == "tensor_take":
            result = to_device(ins[0].host())  # always a copy: device values are shared freely
        elif fn == "array_append":
            result = [*ins[0], ins[1]]
        elif fn == "array_extend":
            result = [*ins[0], *ins[1]]
        elif fn in ("array_set", "array_get", "array_insert", "array_erase"):
            array, at = ins[0], index(ins[-1])
            at += len(array) + (fn == "array_insert") if at < 0 else 0
            if not 0 <= at < len(array) + (fn in ("array_set", "array_insert")):
                self.replay(s.op)
            rest = array[at:] if fn == "array_insert" else array[at + 1 :]
            result = array[at] if fn == "array_get" else [*array[:at], *ins[1:-1], *rest]
        elif fn == "total_clear":
            result = ABSENT
        elif fn == "total_add":
            result, x = self.env.get(self.name(out), ABSENT), ins[0]
            if x is not ABSENT:
                result = x if result is ABSENT else to_device(result.host() + x.host())
        elif fn == "total_take":
            result = self.get(names[1])
            self.env[self.name(names[1])] = ABSENT
        elif fn == "array_cut":
            tape, count = self.get(names[1]), index(self.get(names[2]))
            self.env[self.name(names[1])] = tape[: len(tape) - count]
            result = tape[len(tape) - count :]
        elif fn == "array_take":
            try:
                result = [ins[0][i] for i in ins[1].host()]
            except IndexError:
                self.replay(s.op)
        elif fn == "array_common":
            result = to_device(ArrayCommon.reference(*([v if v is ABSENT else v.host() for v in array] for array in ins)))
        elif fn == "array_length":
            result = to_device(np.full((1,) * scalars[0], len(ins[0]), np.int64))
        elif fn in ("array_last", "array_drop_last"):
            if not ins[0]:
                self.replay(s.op)
            result = ins[0][-1] if fn == "array_last" else ins[0][:-1]
        elif fn in ("array_stack", "array_concat"):
            join = np.stack if fn == "array_stack" else np.concatenate
            try:
                result = to_device(join([v.host() for v in ins[0]], axis=scalars[2]))
            except ValueError:
                self.replay(s.op)
        elif fn == "array_unstack":
            result = [to_device(row) for row in np.moveaxis(ins[0].host(), scalars[2], 0)]
        else:
            raise CompileError(f"{fn} is not supported on CUDA yet")
        self.env[self.name(out)] = result


def _fails_inside(s: Any) -> bool:
    """Whether a statement that stores can also fail: then the device's status must be read."""
    bodies = [getattr(s, name) for name in ("body", "orelse", "setup") if hasattr(s, name)]
    return isinstance(s, n.Fail) or any(_fails_inside(inner) for body in bodies for inner in body)


__all__ = ["CudaExecutable", "compile_ptx", "require_device"]
