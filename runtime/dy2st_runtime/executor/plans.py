"""What the driver runs, as data: `plan` makes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..ir.program import Operator


@dataclass
class Record:
    """The arguments of one launch: descriptors, then scalars."""

    kernel: int
    descriptors: list[int]
    scalars: list[tuple[str, Any]]


@dataclass
class CallRecord:
    """What the driver has to know of a call of a function: see `calls`.

    Attributes:
        arguments: (value, param).
        saved: the descriptors that are put aside.
        buffers: the buffers that are put aside, as (descriptor, its word that has the address).
        results: (output, value, rank, size of an element; negative for a TensorArray).
    """

    arguments: list[tuple[int, int]]
    saved: list[int]
    buffers: list[tuple[int, int]]
    results: list[tuple[int, int, int, int]]


@dataclass
class Plan:
    """What the driver runs; independent of sizes and of memory addresses.

    Attributes:
        names: canonical variable of each descriptor.
        buffer_of: for each descriptor the buffer that it owns, -1 if it owns none (fed, state, views).
        arrays: for each descriptor whether it is a TensorArray (which owns a second buffer, `table_of`).
        code: instructions as lists of operation and symbolic operands.
        ops: for each instruction the op that an error or a host call is about.
        inplace_state: final value's descriptor → persistable whose memory it writes.
        first_write: the first instruction that writes to such memory; None: there is none.
    """

    names: list[str] = field(default_factory=list)
    index: dict[str, int] = field(default_factory=dict)
    buffer_of: list[int] = field(default_factory=list)
    table_of: list[int] = field(default_factory=list)
    buffers: int = 0
    code: list[list[int]] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    calls: list[CallRecord] = field(default_factory=list)
    kernels: list[Any] = field(default_factory=list)
    ops: list[Operator | None] = field(default_factory=list)
    inplace_state: dict[int, str] = field(default_factory=dict)
    first_write: int | None = None
    canonical: dict[str, str] = field(default_factory=dict)

    def descriptor(self, name: str) -> int:
        return self.index[self.canonical.get(name, name)]

    def holds(self, name: str) -> bool:
        """Whether a variable has a descriptor: what is local to a kernel has none."""
        return self.canonical.get(name, name) in self.index
