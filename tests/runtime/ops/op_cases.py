"""The shared harness for op records: a case is a row of data, `cases_*.py` hold the rows, `test_ops.py` runs them all.

    Case("scale", {"X": A}, {"scale": 2.0}, expect=lambda x: 2 * x)

A row's inputs are slot → array (a list of arrays for a `*` slot, `TensorArray` for an array of tensors, `Missing` for a value that is
absent at run time). What is checked of each row: `test_ops.py` says it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dy2st_runtime.ops  # noqa: F401
import numpy as np
from dy2st_runtime import dims
from dy2st_runtime.ir import IRBuilder, Program
from dy2st_runtime.loopir import nodes as n
from dy2st_runtime.ops import registry
from dy2st_runtime.ops.builder import OpBuilder
from dy2st_runtime.ops.control import ABSENT
from dy2st_runtime.ops.registry import TensorType

RNG = "@RNG@"


class TensorArray(list):
    """A TensorArray value in a row."""


@dataclass(frozen=True)
class Missing:
    """An input that is absent when the op runs."""

    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Case:
    """One row.

    Attributes:
        op: type of the op.
        inputs: slot → value.
        attrs: attributes that differ from the defaults.
        expect: an independent NumPy expression: the inputs, in the row's order → the output or a tuple of the first outputs.
        raises: the exception that the op raises on these values; `match` is looked for in its message.
        static: the exception comes from shapes or dtypes, so that building a program raises it too.
        grad: slots whose gradient is checked; None: all float inputs, if the op has gradients.
        second: whether the gradient of the gradient is checked too.
        native: False for an op that has no native form to compare (it says so in its record).
        known: slots whose sizes are always known, because the rank of the result follows from them.
        rtol: relative tolerance of native against reference and of reference against `expect`.
    """

    op: str
    inputs: dict[str, Any] = field(default_factory=dict)
    attrs: dict[str, Any] = field(default_factory=dict)
    expect: Callable[..., Any] | None = None
    raises: type[BaseException] | None = None
    match: str = ""
    static: bool = False
    grad: tuple[str, ...] | None = None
    second: bool = True
    native: bool = True
    known: tuple[str, ...] = ()
    rtol: float = 1e-5

    @property
    def record(self) -> type[registry.OpDef]:
        return registry.get(self.op)

    def values(self) -> tuple[Any, ...]:
        """The inputs in the order of the record's slots, as `reference` takes them."""
        unknown = set(self.inputs) - {s.name for s in self.record.input_slots}
        assert not unknown, f"{self.op} has no slot {unknown}"
        values: list[Any] = []
        for slot in self.record.input_slots:
            value = self.inputs.get(slot.name, [] if slot.many else None)
            values.append([present(v) for v in value] if slot.many else present(value))
        return tuple(values)

    def full_attrs(self) -> dict[str, Any]:
        return self.record.complete_attrs(dict(self.attrs))

    def run(self) -> tuple[Any, ...]:
        """The reference on the row's values."""
        return self.record.run_reference(self.values(), self.full_attrs())

    def gradient_slots(self) -> list[str]:
        if self.grad is not None:
            return list(self.grad)
        if not self.record.differentiable or self.raises is not None:
            return []
        return [slot for slot, v in self.inputs.items() if all(is_float(x) for x in as_list(v))]


def present(value: Any) -> Any:
    return ABSENT if isinstance(value, Missing) else list(value) if isinstance(value, TensorArray) else value


def as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) and not isinstance(value, TensorArray) else [value]


def is_float(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


def all_cases() -> list[Case]:
    """The rows of every cases_*.py in this folder."""
    modules = [importlib.import_module(p.stem) for p in sorted(Path(__file__).parent.glob("cases_*.py"))]
    return [case for m in modules for case in m.CASES]


def case_ids(cases: list[Case]) -> list[str]:
    seen: dict[str, int] = {}
    ids = []
    for c in cases:
        seen[c.op] = seen.get(c.op, 0) + 1
        ids.append(f"{c.op}-{seen[c.op]}")
    return ids


# ---- types --------------------------------------------------------------------------------------------------------


def type_of(value: Any) -> TensorType | None:
    """The exact type of a value of a row."""
    if value is None:
        return None
    if isinstance(value, Missing):
        return TensorType(value.dtype, value.shape)
    if isinstance(value, TensorArray):
        shapes = {v.shape for v in value}
        first = value[0]
        shape = first.shape if len(shapes) == 1 else (dims.UNKNOWN,) * first.ndim
        return TensorType(first.dtype.name, shape, "array")
    return TensorType(value.dtype.name, value.shape)


def input_types(case: Case, dim: Callable[[str, int, int], Any]) -> tuple[Any, ...]:
    """The types of the inputs; `dim(input, axis, size)` makes the dims of dense inputs."""
    types: list[Any] = []
    for slot in case.record.input_slots:
        row = case.inputs.get(slot.name)
        found = []
        for i, v in enumerate([] if row is None else as_list(row)):
            t = type_of(v)
            assert t is not None
            keep = t.kind == "array" or is_sizes(slot.name) or slot.name in case.known
            found.append(t if keep else t.with_shape(dim(f"{slot.name}{i}", a, d) for a, d in enumerate(t.shape)))
        types.append(found if slot.many else (found[0] if found else None))
    return tuple(types)


def is_sizes(slot: str) -> bool:
    """Whether the input holds sizes or bounds: how many there are decides the rank, so that is always known."""
    return any(word in slot for word in ("Shape", "Starts", "Ends", "Steps", "Strides", "Times", "Shifts", "State"))


def evaluate(e: Any, sizes: dict[tuple[str, int], int]) -> Any:
    """The value of a symbolic dim or condition, given the sizes."""
    if not isinstance(e, n.Expr):
        return e
    if isinstance(e, n.Const):
        return e.value
    if isinstance(e, n.Size):
        return sizes[e.tensor, e.axis]
    if isinstance(e, n.Select):
        return evaluate(e.a if evaluate(e.cond, sizes) else e.b, sizes)
    if isinstance(e, n.Cast):
        return evaluate(e.a, sizes)
    if isinstance(e, n.Unary):
        value = evaluate(e.a, sizes)
        return -value if e.op == "-" else not value
    assert isinstance(e, n.Binary), f"shape inference made {e!r}"
    a, b = evaluate(e.a, sizes), evaluate(e.b, sizes)
    table: dict[str, Callable[[Any, Any], Any]] = {
        "+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "//": lambda: a // b, "%": lambda: a % b, "min": lambda: min(a, b),
        "max": lambda: max(a, b), "<": lambda: a < b, "<=": lambda: a <= b, ">": lambda: a > b, ">=": lambda: a >= b,
        "==": lambda: a == b, "!=": lambda: a != b, "&": lambda: a & b, "|": lambda: a | b,
    }  # fmt: skip
    return table[e.op]()  # type: ignore[call-arg]


def pairs(record: type[registry.OpDef], types: tuple[Any, ...], values: tuple[Any, ...]) -> Iterator[tuple[str, TensorType, Any]]:
    """Each output's name with its inferred type and its value; TensorArrays with that of the entries."""
    assert len(types) == len(values) == len(record.output_slots)
    for slot, t, value in zip(record.output_slots, types, values, strict=True):
        if t is None:
            continue
        for one, v in zip(t, value, strict=True) if slot.many else [(t, value)]:
            if v is ABSENT:
                continue
            for entry in v if one.kind == "array" else [v]:
                yield slot.name, one, entry


# ---- programs -------------------------------------------------------------------------------------------------------


@dataclass
class Built:
    """A Program of one op."""

    program: Program
    feeds: dict[str, Any]
    state: dict[str, np.ndarray]
    outputs: list[str]
    absent: list[str]


def build(case: Case, open_dims: bool) -> Built:
    """The row as a Program. With `open_dims` the shapes of its data are not known when it is built."""
    program, record = Program(), case.record
    block = program.global_block()
    updated = {into: out for out, into in record.inplace.items()}
    ins: list[Any] = []
    feeds: dict[str, Any] = {}
    state: dict[str, np.ndarray] = {}
    absent: list[str] = []
    out_names: dict[str, list[str]] = {}
    for slot in record.input_slots:
        row = case.inputs.get(slot.name)
        made = []
        for i, value in enumerate([] if row is None else as_list(row)):
            t = type_of(value)
            assert t is not None
            keep = not open_dims or is_sizes(slot.name) or slot.name in case.known
            shape = dims.to_static(t.shape) if keep else (-1,) * t.rank
            if slot.name in updated:
                name = RNG if slot.name == "State" else f"state_{slot.name}_{i}"
                made.append(block.create_var(name, t.dtype, dims.to_static(t.shape), persistable=True))
                out_names.setdefault(updated[slot.name], []).append(name)
                state[name] = value.copy()
                continue
            v = block.create_var(f"{slot.name}_{i}", t.dtype, shape, kind=t.kind, is_data=True)
            feeds[v.name] = present(value)
            if isinstance(value, Missing):
                absent.append(v.name)
            made.append(v)
        ins.append(made if slot.many else (made[0] if made else None))
    outs = IRBuilder(block).apply(record, tuple(ins), case.full_attrs(), out_names)
    outputs = [v.name for o in outs for v in (o if isinstance(o, list) else [o]) if v is not None]
    return Built(program, feeds, state, [name for name in outputs if name not in state], absent)


# ---- gradients ------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Value:
    """A value on the tape."""

    array: Any
    live: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def dtype(self) -> str:
        return self.array.dtype.name


class Tape(OpBuilder):
    """Applies ops by their references, remembers them, and differentiates."""

    def __init__(self) -> None:
        self.entries: list[tuple[type[registry.OpDef], tuple[Any, ...], tuple[Any, ...], dict[str, Any]]] = []

    def apply(self, op: type[registry.OpDef], ins: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[Any, ...]:
        arrays = tuple([v.array for v in x] if isinstance(x, list) else (None if x is None else x.array) for x in ins)
        live = op.differentiable and any(v.live for x in ins for v in as_list(x) if v is not None)
        outs = tuple(
            [Value(a, live and is_float(a)) for a in o] if isinstance(o, list) else None if o is None else Value(o, live and is_float(o))
            for o in op.run_reference(arrays, attrs)
        )
        self.entries.append((op, ins, outs, attrs))
        return outs

    def pull_back(self, seeds: list[tuple[Value, Value]], wanted: list[Value]) -> list[Value | None]:
        """The gradients of sum(value * seed) in the wanted values; None where there is none."""
        grads: dict[int, Value] = {}

        def add(value: Value, grad: Any) -> None:
            if not value.live:
                return
            grad = grad() if callable(grad) else grad
            if grad is None:
                return
            assert grad.shape == value.shape, f"the gradient of a {value.shape} value has shape {grad.shape}"
            assert grad.dtype == value.dtype, f"the gradient of a {value.dtype} value has dtype {grad.dtype}"
            known = grads.get(id(value))
            grads[id(value)] = grad if known is None else self.add(known, grad)

        for value, seed in seeds:
            add(value, seed)
        for op, ins, outs, attrs in reversed(list(self.entries)):
            douts = tuple([grads.get(id(v)) for v in o] if isinstance(o, list) else grads.get(id(o)) for o in outs)
            if all(d is None for o in douts for d in as_list(o)):
                continue
            given = op.grad(self, ins, outs, douts, **attrs)
            assert len(given) == len(ins), f"{op.type}: a gradient for each of the slots {op.inputs}"
            for value, grad in zip(ins, given, strict=True):
                if isinstance(value, list):
                    found = grad() if callable(grad) else grad
                    for v, g in zip(value, found or [None] * len(value), strict=True):
                        add(v, g)
                elif value is not None:
                    add(value, grad)
        return [grads.get(id(v)) for v in wanted]


def widened_inputs(case: Case) -> dict[str, Any]:
    """The row's inputs with floats in float64, for finite differences."""
    wide = lambda v: v.astype(np.float64) if is_float(v) else v  # noqa: E731
    return {slot: [wide(x) for x in v] if type(v) is list else wide(v) for slot, v in case.inputs.items()}
