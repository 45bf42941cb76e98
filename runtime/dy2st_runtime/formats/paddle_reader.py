"""ProgramDesc → Program: static single assignment and structured control flow.

In a ProgramDesc a block assigns variables of enclosing blocks: the body of a `while` its state and its condition, a
`conditional_block` its results. In the IR every name is assigned once, and control flow takes and yields values. So the
reader keeps for each variable of the file the name of its current value: an assignment makes a new name, and what a
sub-block assigns outside itself becomes loop variables (`while`) or results (`conditional_block`); see
`paddle_control`.
"""

from __future__ import annotations

from typing import Any

from .. import dims
from ..errors import FormatError
from ..ir.program import Block, Operator, Program
from ..ir.visit import rename_variables
from ..ops import registry
from ..ops.registry import TensorType
from . import paddle_attrs, paddle_compat
from .paddle_compat import PaddleOp
from .paddle_control import ControlReader
from .paddle_structure import FUNCTION, Key, Structure, declare, declared_type, is_array, is_tensor, single
from .paddle_writer import DIGEST, RNG


class Frame:
    """A block of the file while it is converted: where its ops go, and the values of the variables that it assigned."""

    def __init__(self, index: int, target: Block, parent: Frame | None):
        self.index, self.target, self.parent = index, target, parent
        self.values: dict[Key, str] = {}

    def find(self, key: Key) -> str | None:
        """The name of the current value, from here or around; None if nothing was assigned yet."""
        frame: Frame | None = self
        while frame is not None:
            if key in frame.values:
                return frame.values[key]
            frame = frame.parent
        return None


class Reader:
    """Converts one ProgramDesc into an empty Program.

    Attributes:
        digest: of the parameter file saved with the program; None if the file does not say.
    """

    def __init__(self, desc: Any, program: Program):
        self.desc, self.program = desc, program
        self.structure = Structure(desc)
        self.root = Frame(0, program.global_block(), None)
        self.control = ControlReader(self)
        self.feeds: dict[int, str] = {}
        self.fetches: dict[int, str] = {}
        self.digest: str | None = None
        self.used: set[str] = set()
        self.has_feeds = any(op.type == "feed" for op in desc.blocks[0].ops)

    @property
    def feed_names(self) -> list[str]:
        """What the `feed` ops give, in the order of their columns."""
        return [self.feeds[col] for col in sorted(self.feeds)]

    @property
    def fetch_names(self) -> list[str]:
        """What the `fetch` ops take, in the order of their columns."""
        return [self.fetches[col] for col in sorted(self.fetches)]

    def read(self) -> Program:
        """The Program, its types not inferred yet."""
        paddle_compat.check_supported(self.desc)
        for declarations in self.structure.vars:
            for name in declarations:
                self.program.note_name(name)  # so that no fresh name is one that comes later
        for v in self.structure.vars[0].values():
            if is_tensor(v) and (v.persistable or v.need_check_feed):
                self.declare_input((0, v.name))
        functions = [op for op in map(paddle_compat.parse, self.desc.blocks[0].ops) if op.type == FUNCTION]
        for op in functions:
            self.declare_function(op)
        self.block(self.root)
        for op in functions:
            self.function(op)
        self.control.drop_selected(self.fetches.values())
        self.give_last_values_their_names()
        return self.program

    def give_last_values_their_names(self) -> None:
        """Where a variable of the global block is assigned several times, what is fetched by its name is the last
        value."""
        swap: dict[str, str] = {}
        for (_, name), value in self.root.values.items():
            v = self.root.target.vars.get(name)
            if value != name and (v is None or not v.is_data):
                swap.update({value: name, name: value})
        if swap:
            rename_variables(self.program, swap)
        self.fetches = {col: swap.get(name, name) for col, name in self.fetches.items()}

    def block(self, frame: Frame) -> None:
        """Converts all ops of a block of the file."""
        for desc in self.desc.blocks[frame.index].ops:
            op = paddle_compat.parse(desc)
            if op.type in ("feed", "fetch"):
                self.feed_or_fetch(op, frame)
            elif op.type == FUNCTION:
                if frame is not self.root:
                    raise FormatError("a function stands in the global block only")
            elif op.type == "while":
                self.control.loop(op, frame)
            elif op.type == "conditional_block":
                self.control.conditional(op, frame)
            elif op.type == "select_input":
                self.control.select(op, frame)
            else:
                self.plain(paddle_compat.modernize(op), frame)

    # ---- variables ----
    def read_value(self, frame: Frame, name: str) -> str:
        """The name of the value that a variable of the file has now."""
        key = self.structure.resolve(frame.index, name)
        value = frame.find(key)
        if value is None and is_array(self.structure.var(key)):
            return self.empty_array(frame, key)
        if value is None:
            if key[0] != 0 or self.has_feeds:
                raise FormatError(f"variable {name!r} is read before it has a value")
            value = self.declare_input(key)  # in a program without feed ops, what is read but not assigned is fed
        return value

    def empty_array(self, frame: Frame, key: Key) -> str:
        """A TensorArray is there, and empty, as soon as it is declared."""
        name_of_dtype, shape, _ = declared_type(self.structure.var(key))
        out = self.define(frame, key)
        self.emit(frame.target, "create_array", {}, out, dtype=name_of_dtype, shape=list(shape))
        return out

    def declare_input(self, key: Key) -> str:
        """Declares a variable of the global block that is fed or persistable."""
        index, name = key
        desc = self.structure.var(key)
        if index != 0:
            raise FormatError(f"persistable variable {name!r} is declared in block {index}, not in the global block")
        if key not in self.root.values:
            declare(self.root.target, name, desc).is_data = not desc.persistable
            self.used.add(name)
            self.root.values[key] = name
        return name

    def assign(self, frame: Frame, name: str) -> str:
        """The name for the new value that a variable of the file gets here."""
        return self.define(frame, self.structure.resolve(frame.index, name))

    def define(self, frame: Frame, key: Key) -> str:
        """The name for a new value of a variable of the file, declared in the block that is being converted."""
        if self.structure.var(key).persistable:
            return self.declare_input(key)
        frame.values[key] = self.new_variable(frame.target, key)
        return frame.values[key]

    def new_variable(self, target: Block, key: Key) -> str:
        """Declares one more value of a variable of the file: under its own name the first time, so that results keep
        theirs."""
        index, name = key
        own = name not in self.used and (index == 0 or name not in self.structure.vars[0])
        new = name if own else self.program.fresh_name(name)
        self.used.add(new)
        declare(target, new, self.structure.var(key))
        return new

    # ---- functions ----
    def declare_function(self, op: PaddleOp) -> None:
        name = op.attrs.get("name")
        if not isinstance(name, str) or name in self.program.functions:
            raise FormatError(f"a function is called {name!r}, or two are")
        self.program.add_function(name)

    def function(self, op: PaddleOp) -> None:
        """Converts the block of a function. It may name variables of the global block; which, `verify` checks."""
        f, index = self.program.functions[op.attrs["name"]], op.sub_block
        frame = Frame(index, f.block, self.root)
        params, results = (self.names(op, slot, index) for slot in ("params", "results"))
        f.block.params = [self.define(frame, key) for key in params]
        self.block(frame)
        f.block.results = [self.read_value(frame, name) for _, name in results]
        types = [declared_type(self.structure.var(key)) for key in results]
        f.result_types = [TensorType(dtype, dims.from_static(shape), kind) for dtype, shape, kind in types]

    def names(self, op: PaddleOp, attr: str, index: int) -> list[Key]:
        """The variables that an attribute of a function names, all of its own block and no two the same."""
        names = op.attrs.get(attr, [])
        if not isinstance(names, list) or not all(name in self.structure.vars[index] for name in names) or len(set(names)) < len(names):
            raise FormatError(f"function {op.attrs['name']!r} has malformed {attr}")
        return [(index, name) for name in names]

    # ---- ops ----
    def feed_or_fetch(self, op: PaddleOp, frame: Frame) -> None:
        table = self.feeds if op.type == "feed" else self.fetches
        col = op.attrs.get("col", 0)
        if frame is not self.root or not isinstance(col, int) or col < 0 or col in table:
            raise FormatError(
                f"op {op.type} with column {col!r} in block {frame.index}: columns of the global block count 0, 1, ..."
            )
        if op.type == "fetch":
            digest = op.attrs.get(DIGEST)
            self.digest = digest if isinstance(digest, str) else self.digest
            table[col] = self.read_value(frame, single(op, op.inputs, "X"))
            return
        name = single(op, op.outputs, "Out")
        key = self.structure.resolve(0, name)
        if self.structure.var(key).persistable or name in self.feeds.values():
            raise FormatError(f"variable {name!r} cannot be fed: it is persistable, or fed twice")
        table[col] = self.declare_input(key)

    def plain(self, op: PaddleOp, frame: Frame) -> None:
        """Converts an op without sub-blocks."""
        record = registry.get(op.attrs.get(paddle_attrs.OWN_OP, op.type))
        if record.type == "absent":  # its OpDesc has a size where the variable has an open dim
            key = self.structure.resolve(frame.index, single(op, op.outputs, "Out"))
            op.attrs["shape"] = list(declared_type(self.structure.var(key))[1])
        if record.type == "assign" and self.alias(op, frame):
            return
        if op.type == "write_to_array":
            self.control.extend_array(op, frame)
        inputs = {slot.name: [self.read_value(frame, name) for name in op.inputs.pop(slot.name)]
                  for slot in record.input_slots if slot.name in op.inputs}  # fmt: skip
        if op.inputs:
            raise FormatError(f"op {op.type} has an input {next(iter(op.inputs))!r}, which is not supported")
        for slot in record.input_slots:
            count = len(inputs.get(slot.name, ()))
            if not slot.many and (count > 1 or not (count or slot.optional or slot.name == "State")):
                raise FormatError(f"op {op.type}: slot {slot.name} takes one variable, got {count}")
        outputs = {slot.name: [self.assign(frame, name) for name in op.outputs[slot.name]]
                   for slot in record.output_slots if slot.name in op.outputs}  # fmt: skip
        attrs = paddle_attrs.complete(record, op.attrs, self.program.functions)
        if not attrs.get("is_test"):  # in test mode dropout draws nothing
            self.random_state(record, inputs, outputs)
        frame.target.ops.append(Operator(record.type, inputs, outputs, attrs))
        self.control.note(frame.target.ops[-1])

    def alias(self, op: PaddleOp, frame: Frame) -> bool:
        """An assignment of a temporary to a variable around the block is no op here: the variable has that value from
        now on."""
        key = self.structure.resolve(frame.index, single(op, op.outputs, "Out"))
        source = self.structure.resolve(frame.index, single(op, op.inputs, "X"))
        if key[0] == frame.index or any(self.structure.var(k).persistable for k in (key, source)):
            return False
        frame.values[key] = self.read_value(frame, source[1])
        return True

    def random_state(self, record: type[registry.OpDef], inputs: dict, outputs: dict) -> None:
        """Gives a random op of PaddlePaddle the generator's state, which there is implied."""
        slots = {s.name for s in record.input_slots}
        if "State" not in slots or "State" in inputs:
            return
        block = self.program.global_block()
        if RNG not in block.vars:
            block.create_var(RNG, "int64", [2], persistable=True, stop_gradient=True)
        inputs["State"], outputs["StateOut"] = [RNG], [RNG]

    def emit(self, target: Block, op_type: str, inputs: dict[str, list[str]], out: str, **attrs: Any) -> None:
        """Appends an op that the file does not have."""
        record = registry.get(op_type)
        target.ops.append(Operator(op_type, inputs, {"Out": [out]}, record.complete_attrs(attrs)))

    def absent(self, target: Block, key: Key) -> str:
        """The name of a value that is not there, of the type that the file declares."""
        name_of_dtype, shape, kind = declared_type(self.structure.var(key))
        name = self.program.fresh_name("absent")
        target.create_var(name, name_of_dtype, shape, kind=kind)
        self.emit(
            target, "absent", {}, name, dtype=name_of_dtype, shape=list(shape), array="array" if kind == "array" else ""
        )
        return name
