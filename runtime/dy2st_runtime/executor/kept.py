"""Plans on disk, beside the objects: a second process neither optimizes nor lowers what one has planned.

An entry depends on all that a Program says (but for what a front end remembers of its variables), on what is fed and fetched, on the
switches, the passes, the text of this package, the versions and the processor. It has two parts. What a run needs is small and is read
at once; the optimized Program and the ops, which errors, `print`, profiles and dumps look at, are read when somebody asks for them.
"""

from __future__ import annotations

import copyreg
import functools
import hashlib
import io
import marshal
import os
import pickle
import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from .. import cachefiles, config
from ..errors import Location
from ..ir.program import Block, Function, Operator, Program, Variable
from ..ops import registry
from ..ops.custom import CustomOp
from ..ops.registry import TensorType
from .plans import Plan

_MAGIC = b"dy2st-plan-1\n"
_LARGEST = 1 << 20
"""Elements of the constants of a Program that is kept."""


@dataclass
class Planned:
    """What becomes of a Program before its kernels are compiled.

    Attributes:
        plan: what the driver runs.
        updates: persistable → the variable with its value after the run.
        state_names: the persistable variables that a run reads or updates; only_written: those that it does not read.
        types: dtype, rank, and whether it is a TensorArray, of each descriptor.
        places: the variables that are bound: name → dtype, shape, kind.
        symbols: of the kernels; called: the routines that these call, each after those that it calls itself.
        details: the rest.
    """

    plan: Plan
    updates: dict[str, str]
    state_names: list[str]
    only_written: set[str]
    types: list[tuple[str, int, bool]]
    places: dict[str, tuple[str, tuple[int, ...], str]]
    symbols: list[str]
    called: list[str]
    details: Details


@dataclass
class Details:
    """What few runs need: the optimized Program, and of each kernel its source."""

    program: Program
    sources: list[str]


class _KeptPlan(Plan):
    """A plan whose kernels and ops are read when somebody asks for them."""

    def __init__(self, entries: dict[str, Any], rest: bytes):
        vars(self).update(entries)
        self._rest = rest

    @functools.cached_property
    def read(self) -> tuple[Details, list[Any], list[Any]]:
        return pickle.loads(self._rest)  # type: ignore[no-any-return]

    @functools.cached_property
    def kernels(self) -> list[Any]:  # type: ignore[override]
        return self.read[1]

    @functools.cached_property
    def ops(self) -> list[Operator | None]:  # type: ignore[override]
        return self.read[2]


class _KeptDetails(Details):
    """Those of a kept plan."""

    def __init__(self, plan: _KeptPlan):
        self._plan = plan

    @functools.cached_property
    def program(self) -> Program:  # type: ignore[override]
        return self._plan.read[0].program

    @functools.cached_property
    def sources(self) -> list[str]:  # type: ignore[override]
        return self._plan.read[0].sources


def symbol(program: Program, feeds: Sequence[str], fetches: Sequence[str], absent: Sequence[str], compiler: str) -> str | None:
    """The name of the entry; None if none is kept of such a Program.

    Args:
        compiler: what the objects of kernels depend on (`compile.fingerprint`).
    """
    if config.DUMP.get():
        return None  # what is printed is seen on the way
    # they are what the text says, unless somebody has loaded it and put others in their place
    pipeline = sys.modules.get(f"{__package__.rpartition('.')[0]}.passes.pipeline")
    others = pipeline is not None and pipeline.PASSES is not pipeline.STANDARD
    passes = [(name, f.__module__, f.__qualname__) for name, f in pipeline.PASSES] if pipeline is not None and others else []
    switches = [config.CHECKS.get(), config.WINOGRAD.get()]
    try:
        form = [list(feeds), list(fetches), sorted(absent), switches, passes, compiler, _Form().program(program)]
    except Unkept:
        return None
    # version 2 has no references, which would tell equal objects from one
    return hashlib.sha256(_environment().encode() + marshal.dumps([_arithmetic(), form], 2)).hexdigest()


def get(folder: Path, name: str) -> Planned | None:
    """The entry of this name in a cache folder, if there is one that can be trusted."""
    data = _store(folder).get(name)
    if data is None:
        return None
    size = int.from_bytes(data[:8], "little")
    entries, others = pickle.loads(data[8 : 8 + size])
    plan = _KeptPlan(entries, data[8 + size :])
    return Planned(plan, *others, _KeptDetails(plan))  # type: ignore[call-arg]


def put(folder: Path, name: str, planned: Planned) -> None:
    """Keeps an entry, unless something in it cannot be."""
    from ..loopir.nodes import Kernel
    from ..lowering.schedule import Launch

    plan = planned.plan
    entries = {f.name: getattr(plan, f.name) for f in fields(plan) if f.name not in ("kernels", "ops")}
    # of a kernel its body has been rendered
    kernels = [Launch(Kernel(k.kernel.label), k.op, k.views, k.takes, k.updates) for k in plan.kernels]
    others = [getattr(planned, f.name) for f in fields(planned)[1:-1]]
    try:
        first, rest = _pickled((entries, others)), _pickled((planned.details, kernels, plan.ops))
    except (pickle.PicklingError, AttributeError, TypeError, RecursionError):
        return  # an attribute is an object of this process, or blocks or calls are too deep inside each other
    _store(folder).put(name, len(first).to_bytes(8, "little") + first + rest)


@functools.cache
def _store(folder: Path) -> cachefiles.Store:
    return cachefiles.Store("plans", ".plan", _MAGIC, folder)


def _arithmetic() -> list[str]:
    """What decides on the digits of NumPy's functions besides its version and the processor: constants are folded by them."""
    libc = os.confstr("CS_GNU_LIBC_VERSION") if "CS_GNU_LIBC_VERSION" in getattr(os, "confstr_names", {}) else None
    return [libc or "", *(f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith(_OF_NUMPY))]


_OF_NUMPY = ("NPY_", "OPENBLAS_", "MKL_")


@functools.cache
def _environment() -> str:
    digest = hashlib.sha256(sys.version.encode())
    for path in sorted(Path(__file__).parent.parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


_OWN = f"{__package__.partition('.')[0]}."


class Unkept(Exception):
    """A Program has something in it that no other process can have."""


class _Form:
    """A Program as tuples of plain values, equal in all processes if the Programs are."""

    def __init__(self) -> None:
        self.places: dict[int, int] = {}
        self.texts: list[Any] = []
        self.blocks: dict[int, int] = {}
        self.elements = 0

    def program(self, program: Program) -> Any:
        blocks = program.blocks
        self.blocks = {id(block): i for i, block in enumerate(blocks)}
        functions = [(f.name, self.blocks[id(f.block)], self.value(f.result_types)) for f in program.functions.values()]
        made = [*map(self.block, blocks)]
        return [made, functions, sorted(program.updates.items()), sorted(program.absent_feeds), program.random_seed, self.texts]

    def block(self, block: Block) -> Any:
        variables = [(v.name, v.dtype, v.shape, v.kind, v.persistable, v.stop_gradient, v.is_parameter, v.is_data)
                     for v in block.vars.values()]  # fmt: skip
        parent = -1 if block.parent is None else self.blocks.get(id(block.parent), -1)
        return parent, block.params, block.results, variables, [*map(self.op, block.ops)]

    def op(self, op: Operator) -> Any:
        if issubclass(op.record, CustomOp) or not op.record.__module__.startswith(_OWN):
            raise Unkept  # the text of the runtime does not tell what it does
        attrs = [(name, self.value(x)) for name, x in op.attrs.items()]
        return op.type, [*op.inputs.items()], [*op.outputs.items()], attrs, self.place(op.location), op.segments

    def place(self, place: Location | None) -> int:
        """The number of a place in the source: most are those of many ops."""
        new, at = [], place
        while at is not None and id(at) not in self.places:
            new.append(at)
            at = at.caller
        for x in reversed(new):
            self.places[id(x)] = len(self.texts)
            self.texts.append((*x[:6], self.places.get(id(x.caller), -1)))
        return self.places.get(id(place), -1)

    def value(self, x: Any) -> Any:
        kind = type(x)
        if kind in (str, int, float, bool, bytes) or x is None:
            return x
        if kind is list or kind is tuple:
            return kind.__name__, [*map(self.value, x)]
        if kind is dict:
            return "dict", [(self.value(k), self.value(v)) for k, v in x.items()]
        if kind is frozenset and all(type(v) is str for v in x):
            return "frozenset", sorted(x)
        if isinstance(x, (np.ndarray, np.generic)) and x.dtype != object:
            self.elements += x.size
            if self.elements <= _LARGEST:
                return kind.__name__, x.dtype.str, x.shape, x.tobytes()
        if kind is TensorType:
            return "type", x.dtype, self.value(x.shape), x.kind
        if kind is Block:
            return "block", self.blocks[id(x)]
        if kind is Function:
            return "function", x.name
        raise Unkept


class _Pickler(pickle.Pickler):
    """Leaves out of a Program what belongs to this process."""

    def reducer_override(self, x: Any) -> Any:
        kind = type(x)
        if kind is Operator:
            return _operator, (x.type,), (None, {name: getattr(x, name) for name in Operator.__slots__ if name != "record"})
        if kind is Variable:
            return copyreg.__newobj__, (Variable,), {**vars(x), "info": {}}  # type: ignore[attr-defined]
        if kind is Program:
            return _program, (), {**{name: value for name, value in vars(x).items() if name != "id"}, "adopted": {}}
        return NotImplemented


def _pickled(x: Any) -> bytes:
    made = io.BytesIO()
    _Pickler(made, pickle.HIGHEST_PROTOCOL).dump(x)
    return made.getvalue()


def _operator(kind: str) -> Operator:
    op = Operator.__new__(Operator)
    op.record = registry.get(kind)
    return op


def _program() -> Program:
    return Program()
