"""Program, Block, Function, Variable, Operator: plain data.

A Program is a tree of blocks, and functions, each with a tree of its own. An Operator reads and writes variables by name; a
name resolves in its block, then in the enclosing ones. Within one Program every variable is assigned once, except persistable
variables of the global block, which an op with `inplace` slots or an `assign` may update (parameters, running statistics).

Control flow is structured:

- `cond`: input Cond (a bool of one element); attributes `true_block`, `false_block`; outputs Out. Both blocks list in
  `results` the names whose values become the outputs. Only the block that is taken runs.
- `while_loop`: inputs X* (initial values); attributes `cond_block`, `body_block`, both with `params` that stand for the
  loop's current values; `cond_block.results` is one bool, `body_block.results` the next values; outputs Out* are the
  values when the condition failed. Outputs Saved* are TensorArrays with, for each iteration, the value of the body's
  variable named in the attribute `saved`.

- `call`: inputs X*, attribute `function`; outputs Out* are the values of the function's results with the inputs as its
  params. Every call has variables of its own, so a function may call itself.

A block reads names of the enclosing blocks directly. The block of a function reads no other names of the global block than those of
persistable variables and of tapes and totals (`ops.tape`). A variable may be *absent* at run time (no value on the path taken): the op
`absent` makes one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from .. import dims
from ..errors import Location, VerifyError
from ..ops import registry
from ..ops.registry import TensorType
from .printer import show_program


class Variable:
    """A named value of a Block.

    Attributes:
        name: unique in the Program.
        dtype: name of the dtype ("float32").
        shape: sizes, -1 for an open dim.
        kind: "dense", or "array" for a TensorArray (shape is that of the entries).
        persistable: lives in the Scope between runs.
        stop_gradient: no gradient flows to it.
        is_parameter: a trainable parameter.
        is_data: is fed.
        info: what a front end wants to remember (an initializer, a learning rate); not part of the IR.
    """

    def __init__(self, block: Block, name: str, dtype: str, shape: Sequence[int], *, kind: str = "dense",
                 persistable: bool = False, stop_gradient: bool = False, is_parameter: bool = False,
                 is_data: bool = False) -> None:  # fmt: skip
        self.block, self.name, self.dtype, self.kind = block, name, dtype, kind
        self.shape = tuple(int(d) for d in shape)
        self.persistable, self.stop_gradient = persistable, stop_gradient
        self.is_parameter, self.is_data = is_parameter, is_data
        self.info: dict[str, Any] = {}

    @property
    def type(self) -> TensorType:
        return TensorType(self.dtype, dims.from_static(self.shape), self.kind)

    def __repr__(self) -> str:
        return f"Variable({self.name}: {self.type})"


class Operator:
    """One op: type, inputs and outputs as slot → names, complete attributes (sub-blocks among them), the user's location.

    `record`: what is known of ops of this type. `segments`: the parts of the Program in which it is that are computed again for the
    gradient, from the outside in.

    Raises:
        UnknownOpError: there is no such op.
    """

    __slots__ = ("attrs", "inputs", "location", "outputs", "record", "segments", "type")

    def __init__(self, op_type: str, inputs: dict[str, list[str]], outputs: dict[str, list[str]],
                 attrs: dict[str, Any], location: Location | None = None) -> None:  # fmt: skip
        self.type, self.inputs, self.outputs, self.attrs, self.location = op_type, inputs, outputs, attrs, location
        self.record = registry.get(op_type)
        self.segments: tuple[int, ...] = ()

    def input(self, slot: str) -> list[str]:
        return self.inputs.get(slot, [])

    def output(self, slot: str) -> list[str]:
        return self.outputs.get(slot, [])

    @property
    def input_names(self) -> list[str]:
        """All inputs in the order of the slots; names that sub-blocks read from outside are not among them (`visit.reads`)."""
        inputs = self.inputs
        return [n for slot in self.record.input_names for n in inputs.get(slot, ())]

    @property
    def output_names(self) -> list[str]:
        outputs = self.outputs
        return [n for slot in self.record.output_names for n in outputs.get(slot, ())]

    @property
    def function(self) -> Function | None:
        """What a `call` calls."""
        return self.attrs.get("function")

    @property
    def blocks(self) -> list[Block]:
        """Sub-blocks in the order of the attributes; the block of a function that is called is none of them."""
        names = self.record.block_attrs
        return [self.attrs[name] for name in names] if names else []

    def __repr__(self) -> str:
        return f"{{{', '.join(self.output_names)}}} = {self.type}({', '.join(self.input_names)})"


class Block:
    """Variables and ops. `params`: names that the op owning the block gives values to; `results`: names that it yields."""

    def __init__(self, program: Program, parent: Block | None):
        self.program, self.parent = program, parent
        self.vars: dict[str, Variable] = {}
        self.ops: list[Operator] = []
        self.params: list[str] = []
        self.results: list[str] = []

    @property
    def idx(self) -> int:
        """Position in `program.blocks`, 0 for the global block."""
        return self.program.blocks.index(self)

    @property
    def parent_idx(self) -> int:
        return -1 if self.parent is None else self.parent.idx

    def find_var(self, name: str) -> Variable | None:
        """The variable of this name here or in an enclosing block; None if there is none."""
        block: Block | None = self
        while block is not None:
            if name in block.vars:
                return block.vars[name]
            block = block.parent
        return None

    def var(self, name: str) -> Variable:
        """Like `find_var`, but a missing variable is an error."""
        found = self.find_var(name)
        if found is None:
            raise VerifyError(f"the program has no variable {name!r}")
        return found

    def has_var(self, name: str) -> bool:
        return self.find_var(name) is not None

    def create_var(self, name: str | None = None, dtype: str = "float32", shape: Sequence[int] = (), *,
                   stem: str = "tmp", **flags: Any) -> Variable:  # fmt: skip
        """Declares a variable; without a name a fresh one is made from `stem`."""
        if name is None:
            name = self.program.fresh_name(stem)
        elif name in self.vars:
            raise VerifyError(f"variable {name!r} is declared twice in one block")
        self.program.note_name(name)
        v = Variable(self, name, dtype, shape, **flags)
        self.vars[name] = v
        return v

    def __repr__(self) -> str:
        return f"Block({self.idx}: {len(self.ops)} ops)"


class Function:
    """What `call` ops run: a block with params and results.

    Attributes:
        name: unique in the Program.
        block: its params stand for the inputs of a call, its results are the outputs.
        result_types: the types of the outputs of a call. They are declared, as the block may hold calls of the function itself.
    """

    def __init__(self, program: Program, name: str, block: Block, result_types: Sequence[TensorType] = ()) -> None:
        self.program, self.name, self.block = program, name, block
        self.result_types = list(result_types)

    def __repr__(self) -> str:
        return self.name  # as a Program shows it


class Program:
    """A tree of blocks, and functions.

    Attributes:
        functions: what `call` ops may call, by name.
        adopted: copies of functions of other Programs, by the function and the names that it sees.
        version: counts changes made through the builder; part of the Executor's cache key.
        random_seed: 0 = the global generator.
        updates: persistable variable → the variable whose value it takes after the run (`passes.ssa`); "@RNG@", an ordered effect,
            is never among them.
        absent_feeds: data variables that may be fed as absent.
        segments: those in which ops are that are added now; see `segments.computed_again`.
        segment_count: how many there were so far.
    """

    _ids = itertools.count()

    def __init__(self) -> None:
        self.id = next(Program._ids)
        self.version = 0
        self.random_seed = 0
        self.updates: dict[str, str] = {}
        self.absent_feeds: set[str] = set()
        self.segments: tuple[int, ...] = ()
        self.segment_count = 0
        self._names: set[str] = set()
        self._counters: dict[str, int] = {}
        self._global = Block(self, None)
        self.functions: dict[str, Function] = {}
        self.adopted: dict[tuple[Function, tuple[str, ...]], Function] = {}

    def global_block(self) -> Block:
        return self._global

    @property
    def roots(self) -> list[Block]:
        """The blocks that no op owns: the global block, and those of the functions."""
        return [self._global, *(f.block for f in self.functions.values())]

    @property
    def blocks(self) -> list[Block]:
        """All blocks, outer before inner, in the order of the ops that own them; those of functions come last."""
        return [block for root in self.roots for block in all_blocks(root)]

    def add_function(self, stem: str, result_types: Sequence[TensorType] = (), block: Block | None = None) -> Function:
        """A new function, named after `stem`; its block is empty if none is given."""
        name, count = stem, 0
        while name in self.functions:
            count += 1
            name = f"{stem}_{count}"
        block = Block(self, self._global) if block is None else block
        self.functions[name] = Function(self, name, block, result_types)
        return self.functions[name]

    def block(self, index: int) -> Block:
        return self.blocks[index]

    @property
    def num_blocks(self) -> int:
        return len(self.blocks)

    def fresh_name(self, stem: str) -> str:
        """A name that no variable has: `stem_0`, `stem_1`, ..."""
        while True:
            count = self._counters.get(stem, 0)
            self._counters[stem] = count + 1
            name = f"{stem}_{count}"
            if name not in self._names:
                self._names.add(name)
                return name

    def note_name(self, name: str) -> None:
        self._names.add(name)

    def has_name(self, name: str) -> bool:
        """Whether some variable has, or had, this name."""
        return name in self._names

    def list_vars(self) -> Iterator[Variable]:
        for block in self.blocks:
            yield from block.vars.values()

    def all_parameters(self) -> list[Variable]:
        return [v for v in self._global.vars.values() if v.is_parameter]

    def __str__(self) -> str:
        return show_program(self)


def all_blocks(block: Block) -> Iterator[Block]:
    """A block and those of its ops, outer before inner."""
    yield block
    for op in block.ops:
        for sub in op.blocks:
            yield from all_blocks(sub)
