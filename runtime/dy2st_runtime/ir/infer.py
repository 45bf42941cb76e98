"""Types of a whole Program from those of its inputs: what a reader of files and rewrites that change shapes need."""

from __future__ import annotations

from .. import dims
from ..errors import Dy2stError
from ..ops.control import join_types
from ..ops.registry import TensorType
from .functions import PUSHES
from .program import Block, Function, Operator, Program, Variable


def infer_types(program: Program) -> None:
    """Gives every variable that an op defines the type that the op's `infer` says.

    What is believed: the types of data variables, of persistable ones, and of `absent` values that nothing else
    decides. The params and results of functions, and tapes, have the types that are declared, but for dims that turn out
    to be open. A loop variable gets the type that its initial value and the values of all iterations have in common: the
    dims that differ are open. Outputs that the op does not yield (an `XShape` that no record makes) are taken off the
    op.

    Raises:
        Dy2stError: types that do not fit; the location is the op's.
    """
    inference = _Inference()
    inference.widened = True
    while inference.widened:
        inference.widened = False
        for root in program.roots:
            inference.block(root)
        for f in program.functions.values():
            inference.results(f)


def infer_op(op: Operator, block: Block) -> None:
    """The same for one op that stands, or is to stand, in a block: its sub-blocks and its outputs get their types."""
    _Inference().op(op, block)


class _Inference:
    def __init__(self) -> None:
        self.loops: dict[int, list[TensorType]] = {}
        """For each loop met, by the id of its op, the types of its variables so far. They only ever get more open, and
        are kept while an enclosing loop is repeated: so the work is polynomial, however deep the loops are nested."""
        self.widened = False
        """Whether what a function takes or yields, or a tape holds, is less known than was thought."""

    def block(self, block: Block) -> None:
        for op in block.ops:
            try:
                self.op(op, block)
            except Dy2stError as error:
                raise error.at(op.location) from error.__cause__

    def op(self, op: Operator, block: Block) -> None:
        if op.type == "while_loop":
            self.loop(op, block)
        else:
            for sub in op.blocks:
                self.block(sub)
            if op.type == "cond":
                _adopt(op.attrs["true_block"], op.attrs["false_block"])
            elif op.function is not None:
                for x, param in zip(op.input("X"), op.function.block.params, strict=False):
                    self.widen(op.function.block.var(param), block.var(x).type)
            elif op.type in (*PUSHES, "total_add"):
                tape, pushed = (block.var(name) for name in op.input_names)
                self.widen(tape, pushed.type)
            elif op.type in ("create_tape", "create_total"):
                op.attrs["shape"] = list(block.var(op.output("Out")[0]).shape)
        self.outputs(op, block)

    def results(self, f: Function) -> None:
        """Opens the dims of what a function yields that its block does not know."""
        for i, (name, declared) in enumerate(zip(f.block.results, f.result_types, strict=False)):
            joined = _static(join_types(declared, f.block.var(name).type, f"result {i} of {f.name!r}"))
            if joined != _static(declared):
                self.widened = True
                f.result_types[i] = joined.with_shape(dims.from_static(joined.shape))

    def widen(self, v: Variable, t: TensorType) -> None:
        """Opens the dims of a variable in which it may differ from a value that it gets; an array gets a list, or an entry."""
        joined = join_types(TensorType(v.dtype, v.type.shape, t.kind), t, f"{v.name!r}")
        if dims.to_static(joined.shape) != v.shape:
            self.widened = True
            v.shape = dims.to_static(joined.shape)

    def loop(self, op: Operator, block: Block) -> None:
        cond, body = op.attrs["cond_block"], op.attrs["body_block"]
        inits = [block.var(name).type for name in op.input("X")]
        known = self.loops.get(id(op))
        types = inits if known is None else [_join(a, b, i) for i, (a, b) in enumerate(zip(known, inits, strict=True))]
        while True:
            self.loops[id(op)] = types
            for sub in (cond, body):
                for name, t in zip(sub.params, types, strict=True):
                    _set(sub, name, t)
                self.block(sub)
            results = [body.var(name).type for name in body.results]
            joined = [_join(a, b, i) for i, (a, b) in enumerate(zip(types, results, strict=True))]
            if [t.shape for t in map(_static, joined)] == [t.shape for t in map(_static, types)]:
                return
            types = joined

    def outputs(self, op: Operator, block: Block) -> None:
        record = op.record
        ins: list = []
        for slot in record.input_slots:
            ts = [block.var(n).type for n in op.input(slot.name)]
            ins.append(ts if slot.many else (ts[0] if ts else None))
        outs = record.infer_types(tuple(ins), op.attrs)
        for slot, t in zip(record.output_slots, outs, strict=True):
            if t is None:
                for name in op.outputs.pop(slot.name, ()):
                    block.vars.pop(name, None)
                continue
            for name, one in zip(op.output(slot.name), t if slot.many else [t], strict=False):
                _set(block, name, one)


def _join(a: TensorType, b: TensorType, i: int) -> TensorType:
    return join_types(a, b, f"loop variable {i}")


def _static(t: TensorType) -> TensorType:
    return t.with_shape(dims.to_static(t.shape))


def _set(block: Block, name: str, t: TensorType) -> None:
    v = block.var(name)
    if not v.persistable:
        v.dtype, v.shape, v.kind = t.dtype, dims.to_static(t.shape), t.kind


def _adopt(one: Block, other: Block) -> None:
    """A result that is absent in one branch has the type that it has in the other."""
    makers = [
        {name: op for op in block.ops if op.type == "absent" for name in op.output("Out")} for block in (one, other)
    ]
    for a, b in zip(one.results, other.results, strict=False):
        for i, block, name, t in ((0, one, a, other.var(b).type), (1, other, b, one.var(a).type)):
            maker = makers[i].get(name)
            if maker is None:
                continue
            static = _static(t)
            maker.attrs.update(dtype=t.dtype, shape=list(static.shape), array="array" if t.kind == "array" else "")
            _set(block, name, t)
            break
