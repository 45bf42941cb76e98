"""The schedule of a Program: what to launch, in which order, with control flow as a tree. Made by `lower`, walked by the planner,
the CPU's bytecode and the CUDA host.

Steps name variables of the Program (and temporaries, which are variables that lowering added).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..ir.program import Operator, Variable
from ..loopir.nodes import Kernel


@dataclass
class Launch:
    """Runs one kernel. `views` maps an output to the input whose elements it shows: it gets sizes, no memory.
    `takes` maps an output to an input whose buffer it takes over (an array changed in place). `updates`: outputs of which it
    changes what is there."""

    kernel: Kernel
    op: Operator
    views: dict[str, str] = field(default_factory=dict)
    takes: dict[str, str] = field(default_factory=dict)
    updates: tuple[str, ...] = ()

    def reads(self) -> list[str]:
        return [t.var for t in self.kernel.tensors if not t.written]

    def writes(self) -> list[str]:
        return [t.var for t in self.kernel.tensors if t.written]


@dataclass
class Share:
    """`target` becomes another name of `source`: same memory, same sizes, also absent where it is."""

    target: str
    source: str


@dataclass
class Absent:
    """The variables have no value."""

    names: list[str]


@dataclass
class FailIfAbsent:
    name: str
    op: Operator


@dataclass
class Guard:
    """Runs the steps unless one of `names` is absent; then `outputs` are absent too, but for those in `keeps` (what an op
    updates in place), which keep the value of the variable named there."""

    names: list[str]
    outputs: list[str]
    steps: list[Step]
    keeps: dict[str, str] = field(default_factory=dict)


@dataclass
class Branch:
    cond: str
    then: list[Step]
    orelse: list[Step]
    op: Operator


@dataclass
class Loop:
    """Runs `test`, then, if `cond` is true, `body` and the parallel assignment `params = results`, again."""

    params: list[str]
    test: list[Step]
    cond: str
    body: list[Step]
    results: list[str]
    op: Operator


@dataclass
class Call:
    """Calls a function: its params are the arguments, the outputs its results. `captured`: what the function, and those that
    it calls, read of what is visible to all."""

    function: str
    arguments: list[str]
    outputs: list[str]
    captured: list[str]
    op: Operator


@dataclass
class Host:
    """The driver stops; the host runs the op by its reference (print) and goes on."""

    op: Operator


@dataclass
class Suspend:
    """The run stops until `Session.resume`: the seam between forward and backward."""


Step = Launch | Share | Absent | FailIfAbsent | Guard | Branch | Loop | Call | Host | Suspend


@dataclass
class Routine:
    """A function: the schedule of its block, the variables that its params and results are, and what it reads from outside."""

    schedule: Schedule
    params: list[str]
    results: list[str]
    captured: list[str]


@dataclass
class Schedule:
    """The steps of a Program and all variables they name. `same` maps a name to the one whose descriptor it uses. The routines have
    schedules of their own, over the same variables."""

    steps: list[Step]
    variables: dict[str, Variable]
    same: dict[str, str] = field(default_factory=dict)
    routines: dict[str, Routine] = field(default_factory=dict)

    def canonical(self, name: str) -> str:
        """The name at the end of the chain of `same`."""
        while name in self.same:
            name = self.same[name]
        return name


def walk(steps: list[Step]) -> Iterator[Step]:
    """All steps, outer before inner."""
    for s in steps:
        yield s
        for inner in nested(s):
            yield from walk(inner)


def nested(step: Step) -> list[list[Any]]:
    if isinstance(step, Guard):
        return [step.steps]
    if isinstance(step, Branch):
        return [step.then, step.orelse]
    if isinstance(step, Loop):
        return [step.test, step.body]
    return []
