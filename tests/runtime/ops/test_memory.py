"""Kernels stay in their memory, whatever they are given.

An interpreter of the loop IR runs the rows of `cases_*.py` and looks at each place that is read or written: with arguments that change
while they are read, as an array does that another thread writes to, and with sizes that do not fit.
"""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import op_cases
import pytest
import test_ops
from dy2st_runtime.loopir import nodes as n
from dy2st_runtime.loopir.evaluate import Evaluator
from dy2st_runtime.lowering.lower import lower
from dy2st_runtime.lowering.schedule import Launch, Share
from op_cases import Case

RUNS = 3
"""Runs of each row, each with other values."""
FAR = (-(2**62), -7, -1, 0, 1, 2, 3, 7, 2**31)
"""What an integer may become beside the other values of the row."""


class Failed(Exception):
    """A check of the kernel found something."""


class Changing(Evaluator):
    """Runs one kernel after the other; what is in `fed` gives any of its values at each read."""

    def __init__(self, fed: dict[str, np.ndarray], chance: random.Random) -> None:
        super().__init__({}, {}, self.read)
        self.fed, self.chance = fed, chance
        self.memory: dict[str, np.ndarray] = {}
        self.variables: dict[str, str] = {}
        self.dtypes: dict[str, str] = {}

    def launch(self, launch: Launch) -> None:
        kernel = launch.kernel
        self.variables = {t.name: t.var for t in kernel.tensors}
        self.dtypes = {t.name: t.dtype for t in kernel.tensors}
        self.shapes = {t.name: self.memory[t.var].shape for t in kernel.tensors if t.var in self.memory}
        self.attrs = {s.name: s.value for s in kernel.scalars}
        self.names, self.views = {}, launch.views
        self.body(kernel.body)

    def body(self, statements: list[Any]) -> None:
        for s in statements:
            if isinstance(s, (n.Let, n.Var, n.Assign)):
                self.names[s.name] = self.value(s.value)
            elif isinstance(s, n.Fail):
                if self.value(s.cond):
                    raise Failed
            elif isinstance(s, n.SetShape):
                self.set_shape(s.tensor, tuple(int(self.value(d)) for d in s.dims))
            elif isinstance(s, n.Store):
                self.write(s.tensor, int(self.value(s.index)), self.value(s.value), s.atomic_add)
            elif isinstance(s, n.When):
                self.body(s.body if self.value(s.cond) else s.orelse)
            elif isinstance(s, n.For):
                for i in range(*(int(self.value(e)) for e in (s.start, s.stop, s.step))):
                    self.names[s.name] = i
                    self.body(s.body)
            elif isinstance(s, n.While):
                self.body(s.setup)
                while self.value(s.cond):
                    self.body(s.body)
                    self.body(s.setup)
            elif isinstance(s, n.NativeCall) and s.fn == "tensor_take":
                to, of = (self.variables[t] for t in s.tensors)
                self.memory[to] = self.memory[of].copy()
            elif isinstance(s, n.Gemm):
                self.product(s)
            else:
                pytest.skip(f"{type(s).__name__} is a call, whose places are its own")

    def product(self, g: n.Gemm) -> None:
        """Looks at the last element of each operand, and does to the elements of the product what is to be done to them."""
        m, columns, inner = (int(self.value(e)) for e in (g.m, g.n, g.k))
        operands = ((g.a, g.a_offset, g.lda, (inner, m) if g.trans_a else (m, inner)),
                    (g.b, g.b_offset, g.ldb, (columns, inner) if g.trans_b else (inner, columns)),
                    (g.c, g.c_offset, g.ldc, (m, columns)))  # fmt: skip
        for tensor, offset, step, (height, width) in operands:
            if height > 0 and width > 0:
                self.place(tensor, int(self.value(offset)) + (height - 1) * int(self.value(step)) + width - 1)
        for row, column in itertools.product(range(m), range(columns)) if g.body else ():
            self.names.update({g.row: row, g.column: column})
            self.body(g.body)

    def set_shape(self, tensor: str, shape: tuple[int, ...]) -> None:
        if any(d < 0 for d in shape) or int(np.prod([float(d) for d in shape])) > 10**6:
            raise Failed  # there is no such memory
        name = self.variables[tensor]
        source = self.views.get(name)
        if source is None:
            self.memory[name] = np.zeros(shape, self.dtypes[tensor])
        else:
            assert np.prod(shape) <= self.memory[source].size, f"{name} shows {shape} elements of {self.memory[source].shape}"
            self.memory[name] = np.resize(self.memory[source], shape)
        self.shapes[tensor] = shape

    def place(self, tensor: str, at: int) -> np.ndarray:
        memory = self.memory[self.variables[tensor]].reshape(-1)
        assert 0 <= at < memory.size, f"element {at} of {self.variables[tensor]} with {memory.size}"
        return memory

    def read(self, tensor: str, at: int) -> Any:
        value = self.place(tensor, at)[at].item()
        values = self.fed.get(self.variables[tensor])
        if values is None or not values.size or self.chance.random() < 0.5:
            return value
        if values.dtype.kind in "iu" and self.chance.random() < 0.3:
            return int(np.int64(self.chance.choice(FAR)).astype(values.dtype))
        if values.dtype.kind == "b":
            return self.chance.random() < 0.5
        return self.chance.choice(values.reshape(-1).tolist()) if self.chance.random() < 0.7 else values.dtype.type(0).item()

    def value(self, e: n.Expr) -> Any:
        """As the machine computes it: integers of 64 bits wrap around, and a division by zero gives something."""
        try:
            if isinstance(e, n.Binary) and e.op in ("<<", ">>"):
                return 0  # of no place, and Python makes numbers of any size
            value = super().value(e)
        except (ZeroDivisionError, OverflowError, TypeError):  # a function that NumPy does not have
            return 0 if e.dtype.startswith("int") else float("nan")
        if type(value) is int and not -(2**63) <= value < 2**63:
            return (value + 2**63) % 2**64 - 2**63
        return value

    def write(self, tensor: str, at: int, value: Any, add: bool) -> None:
        memory = self.place(tensor, at)
        with np.errstate(all="ignore"):
            given = np.asarray(value).astype(memory.dtype)
            memory[at] = memory[at] + given if add else given


def elements(case: Case) -> int:
    return sum(v.size for x in case.inputs.values() for v in op_cases.as_list(x) if isinstance(v, np.ndarray))


def rows(cases: list[Case]) -> Any:
    """All that are not much work for an interpreter."""
    few = [c for c in cases if c.native and not c.record.host and elements(c) < 300]
    return pytest.mark.parametrize("case", [pytest.param(c, id=name) for c, name in zip(few, op_cases.case_ids(few), strict=True)])


def looks_at_values(case: Case) -> bool:
    """Whether some input may say where to read or write: integers, truths, or what is asked whether it is zero."""
    arrays = [v for x in case.inputs.values() for v in op_cases.as_list(x) if isinstance(v, np.ndarray)]
    return any(v.dtype.kind in "iub" for v in arrays) or case.op == "where_index"


def run(built: op_cases.Built, machine: Changing) -> None:
    """The kernels one after the other, until a check fails."""
    if any(not isinstance(v, np.ndarray) for v in built.feeds.values()):
        pytest.skip("arrays of tensors are read and written by calls, whose places are their own")
    try:
        for step in lower(built.program).steps:
            if isinstance(step, Share):
                machine.memory[step.target] = machine.memory[step.source]
            elif isinstance(step, Launch):
                with np.errstate(all="ignore"):
                    machine.launch(step)
            else:
                pytest.skip(f"{type(step).__name__} is a step of the driver")
    except Failed:
        return


@rows([c for c in test_ops.GOOD if looks_at_values(c)])
def test_values_that_change(case: Case) -> None:
    built = op_cases.build(case, open_dims=True)
    for seed in range(RUNS):
        machine = Changing(built.feeds, random.Random(seed))
        machine.memory.update({**built.feeds, **built.state})
        run(built, machine)


@rows(test_ops.GOOD)
def test_sizes_that_do_not_fit(case: Case) -> None:
    """One open dim of one input has another size: a check fails, or it fits."""
    built = op_cases.build(case, open_dims=True)
    for name, value in built.feeds.items():
        if not isinstance(value, np.ndarray):
            continue
        for axis, d in enumerate(built.program.global_block().var(name).shape):
            for size in (0, 1, value.shape[axis] + 1) if d == -1 else ():
                shape = (*value.shape[:axis], size, *value.shape[axis + 1 :])
                machine = Changing({}, random.Random(0))
                machine.memory.update({**built.feeds, **built.state, name: np.resize(value, shape)})
                run(built, machine)
