"""Control flow of a ProgramDesc → `while_loop` and `cond`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..errors import FormatError
from ..ir.program import Block, Operator
from .paddle_compat import PaddleOp
from .paddle_structure import Key, declare, is_array, is_tensor, single

if TYPE_CHECKING:
    from .paddle_reader import Frame, Reader

_BETWEEN = frozenset({"logical_not", "cast", "fill_constant"})
"""Ops that may stand between the two halves of a branch when they are joined: they have no effect and cannot fail."""


class _Half:
    """A `cond` made of a `conditional_block`: what it assigned, and the values from before."""

    def __init__(self, op: Operator, before: dict[Key, str | None], outs: dict[Key, str], joined: bool = False):
        self.op, self.before, self.outs, self.joined = op, before, outs, joined


class ControlReader:
    """Converts the control flow ops for a `Reader`.

    A `while` becomes a `while_loop` with one loop variable for each outer variable that the body assigns, the condition
    first. A `conditional_block` becomes a `cond` whose other branch yields the values from before, or absent ones. A
    two-way branch is two such blocks, the second on `logical_not` of the first's condition, and `select_input`s: they
    are joined to one `cond`.
    """

    def __init__(self, reader: Reader):
        self.reader = reader
        self.makers: dict[str, Operator] = {}
        self.halves: dict[tuple[int, str], _Half] = {}
        self.selected: list[tuple[Block, Operator, list[str]]] = []

    def note(self, op: Operator) -> None:
        """Remembers the ops through which a condition passes."""
        if op.type in ("logical_not", "cast"):
            self.makers.update((name, op) for name in op.output("Out"))

    # ---- while ----
    def loop(self, op: PaddleOp, frame: Frame) -> None:
        reader = self.reader
        index = op.sub_block
        condition = reader.structure.resolve(frame.index, single(op, op.inputs, "Condition"))
        if reader.structure.var(condition).persistable or reader.read_value(frame, condition[1]) is None:
            raise FormatError(f"the condition {condition[1]!r} of a while must be a variable that is no parameter")
        keys = list(dict.fromkeys([condition, *self.assigned(index)]))
        inits = [self.before(frame, key, frame.target) for key in keys]
        body = self.child(frame, index)
        for key in keys:
            body.target.params.append(reader.define(body, key))
        reader.block(body)
        body.target.results = [self.value(body, key) for key in keys]
        test = Block(reader.program, frame.target)
        for key in keys:
            test.params.append(declare(test, reader.program.fresh_name(key[1]), reader.structure.var(key)).name)
        test.results = [test.params[0]]
        outs = [reader.define(frame, key) for key in keys]
        attrs = {"cond_block": test, "body_block": body.target, "saved": []}
        frame.target.ops.append(Operator("while_loop", {"X": inits}, {"Out": outs}, attrs))

    def assigned(self, index: int) -> list[Key]:
        """The variables around a block that it assigns and that are values of the program, in order."""
        structure = self.reader.structure
        found = [(key, structure.var(key)) for key in structure.outer_writes[index]]
        return [key for key, v in found if not v.persistable and is_tensor(v)]

    def child(self, frame: Frame, index: int) -> Frame:
        """A frame for a sub-block, and the block of the IR for its ops."""
        return type(frame)(index, Block(self.reader.program, frame.target), frame)

    def before(self, frame: Frame, key: Key, target: Block) -> str:
        """The value that a variable has before control flow which assigns it; where it has none, `target` gets an
        absent one."""
        found = frame.find(key)
        if found is None and is_array(self.reader.structure.var(key)):
            return self.reader.empty_array(frame, key)
        return found or self.reader.absent(target, key)

    def value(self, frame: Frame, key: Key) -> str:
        found = frame.find(key)
        if found is None:
            raise FormatError(f"variable {key[1]!r} has no value at the end of block {frame.index}")
        return found

    # ---- branches ----
    def conditional(self, op: PaddleOp, frame: Frame) -> None:
        reader = self.reader
        if not op.attrs.get("is_scalar_condition", False):
            raise FormatError("a conditional_block without is_scalar_condition is not supported")
        condition = reader.read_value(frame, single(op, op.inputs, "Cond"))
        keys = self.assigned(op.sub_block)
        half = self.other_half(frame, condition)
        if half is not None:
            self.join(half, frame, op.sub_block, keys)
            return
        taken = self.child(frame, op.sub_block)
        reader.block(taken)
        skipped = Block(reader.program, frame.target)
        before = {key: frame.find(key) for key in keys}
        attrs = {"true_block": taken.target, "false_block": skipped}
        for key in keys:
            taken.target.results.append(self.value(taken, key))
            skipped.results.append(before[key] or reader.absent(skipped, key))
        outs = {key: reader.define(frame, key) for key in keys}
        frame.target.ops.append(Operator("cond", {"Cond": [condition]}, {"Out": list(outs.values())}, attrs))
        self.halves[id(frame.target), condition] = _Half(frame.target.ops[-1], before, outs)

    def other_half(self, frame: Frame, condition: str) -> _Half | None:
        """The block that runs when this condition is false, if it can run just before one that runs when it is true."""
        maker = self.makers.get(condition)
        if maker is None or maker.type != "logical_not":
            return None
        half = self.halves.get((id(frame.target), maker.input("X")[0]))
        if half is None or half.joined or any(frame.values.get(key) != out for key, out in half.outs.items()):
            return None
        for op in reversed(frame.target.ops):
            if op is half.op:
                return half
            if op.type not in _BETWEEN or not set(half.outs.values()).isdisjoint(op.input_names):
                return None
        return None

    def join(self, half: _Half, frame: Frame, index: int, keys: list[Key]) -> None:
        """Makes the block of this index the false branch of the other half's `cond`, which moves here."""
        reader, cond = self.reader, half.op
        true_block = cond.attrs["true_block"]
        taken = self.child(frame, index)
        for key, value in half.before.items():  # where this block runs, the other one did not
            if value is None:
                del frame.values[key]
            else:
                frame.values[key] = value
        before = {key: frame.find(key) for key in [*half.outs, *keys]}
        reader.block(taken)
        frame.target.ops.remove(cond)
        true_results = dict(zip(half.outs, true_block.results, strict=True))
        outs = dict(half.outs)
        outs.update((key, reader.define(frame, key)) for key in before if key not in outs)
        frame.values.update(outs)
        for block, known in ((true_block, true_results), (taken.target, {key: taken.find(key) for key in keys})):
            block.results = [known.get(key) or before[key] or reader.absent(block, key) for key in outs]
        cond.attrs["false_block"] = taken.target
        cond.outputs["Out"] = list(outs.values())
        frame.target.ops.append(cond)
        self.halves[id(frame.target), cond.input("Cond")[0]] = _Half(cond, before, outs, joined=True)

    def select(self, op: PaddleOp, frame: Frame) -> None:
        """`Out = X[Mask]`: one more result of the `cond` that made both values, else a `cond` of its own."""
        reader = self.reader
        names = op.inputs.get("X", [])
        if len(names) != 2:
            raise FormatError(f"select_input between {len(names)} variables is not supported")
        values = [reader.read_value(frame, name) for name in names]
        mask = reader.read_value(frame, single(op, op.inputs, "Mask"))
        key = reader.structure.resolve(frame.index, single(op, op.outputs, "Out"))
        if reader.structure.var(key).persistable:
            raise FormatError(f"select_input cannot assign the persistable variable {key[1]!r}")
        maker = self.makers.get(mask)
        condition = maker.input("X")[0] if maker is not None and maker.type == "cast" else ""
        half = self.halves.get((id(frame.target), condition))
        if half is not None and all(v in half.op.output("Out") for v in values):
            at = [half.op.output("Out").index(v) for v in values]
            for block, i in zip((half.op.attrs["false_block"], half.op.attrs["true_block"]), at, strict=True):
                block.results.append(block.results[i])
            half.op.outputs["Out"].append(reader.define(frame, key))
            self.selected.append((frame.target, half.op, values))
            return
        test = reader.program.fresh_name(mask)
        frame.target.create_var(test, "bool", ())
        reader.emit(frame.target, "cast", {"X": [mask]}, test, out_dtype="bool")
        blocks = [Block(reader.program, frame.target) for _ in values]
        for block, value in zip(blocks, values, strict=True):
            block.results = [value]
        out = reader.define(frame, key)
        attrs = {"true_block": blocks[1], "false_block": blocks[0]}
        frame.target.ops.append(Operator("cond", {"Cond": [test]}, {"Out": [out]}, attrs))

    def drop_selected(self, fetched: Iterable[str]) -> None:
        """Takes the values of the two halves off a joined `cond` where only `select_input` read them."""
        if not self.selected:
            return
        readers = Counter(fetched)
        for block in self.reader.program.blocks:
            readers.update(block.results)
            for op in block.ops:
                readers.update(op.input_names)
        for block, op, values in self.selected:
            outs = op.output("Out")
            keep = [i for i, name in enumerate(outs) if name not in values or readers[name]]
            for name in set(outs).difference(outs[i] for i in keep):
                del block.vars[name]
            op.outputs["Out"] = [outs[i] for i in keep]
            for branch in op.blocks:
                readers.subtract(branch.results)
                branch.results = [branch.results[i] for i in keep]
                readers.update(branch.results)
        for branch in {branch: None for _, op, _ in self.selected for branch in op.blocks}:
            _drop_absent(branch, readers)

    # ---- arrays ----
    def extend_array(self, op: PaddleOp, frame: Frame) -> None:
        """`write_to_array` changes the array that it names as output; in the IR it takes the old one and makes a new
        one."""
        name = single(op, op.outputs, "Out")
        if "Array" not in op.inputs and frame.find(self.reader.structure.resolve(frame.index, name)) is not None:
            op.inputs["Array"] = [name]


def _drop_absent(branch: Block, readers: Counter[str]) -> None:
    """Takes absent values off a branch that nobody reads any more."""
    unread = {op.output("Out")[0] for op in branch.ops if op.type == "absent" and not readers[op.output("Out")[0]]}
    branch.ops = [op for op in branch.ops if op.type != "absent" or op.output("Out")[0] not in unread]
    for name in unread:
        del branch.vars[name]
