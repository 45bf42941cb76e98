"""Program → ProgramDesc: structured control flow becomes `conditional_block`, `select_input` and `while`.

What the IR has and PaddlePaddle has not is written as the nearest thing there, so that PaddlePaddle can run it, with a
mark (attribute `dy2st.op`) by which it is read back here as what it was:

- an `absent` value is a `fill_constant` of zero (it stands in a branch result that PaddlePaddle copies but nobody
  reads);
- `ensure_defined` is an `assign`;
- a fused group of ops is its ops;
- a list of saved values of a loop is a TensorArray that the body writes;
- functions, which PaddlePaddle has not, are blocks of ops `dy2st_function` at the end of the global block; `call` names one.

Locations in the user's source are never written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from .. import dims, dtype
from ..errors import FormatError
from ..ir.program import Block, Function, Operator, Program, Variable
from ..ir.visit import free_names
from ..ops.fused import GROUPS
from . import paddle_attrs
from .framework_proto import VAR, ProgramDesc, VarDesc
from .paddle_structure import FUNCTION, MAX_NESTING

VERSION = 2006002
"""What files say: PaddlePaddle 2.6.2, whose form this is."""
RNG = "@RNG@"
"""The state of the random generator is not written: PaddlePaddle's random ops do not name theirs."""
DIGEST = "dy2st.params"
"""Attribute of the first `fetch` op: the digest of the parameter file that is saved with the program."""


def describe_variable(v: Variable) -> Any:
    """A VarDesc."""
    desc = VarDesc(name=v.name, persistable=v.persistable)
    array = v.kind == "array"
    desc.type.type = VAR["LOD_TENSOR_ARRAY" if array else "LOD_TENSOR"]
    holder = desc.type.tensor_array if array else desc.type.lod_tensor
    holder.tensor.data_type = dtype.CODES[v.dtype]
    holder.tensor.dims.extend(v.shape)
    if v.is_data or v.shape[:1] == (-1,):
        holder.lod_level = 0  # PaddlePaddle says so of values that have a batch axis
    if v.is_data:
        desc.need_check_feed = True
    if v.is_parameter:
        desc.is_parameter = True
    if v.stop_gradient:
        desc.stop_gradient = True
    return desc


class Writer:
    """Writes one Program."""

    def __init__(self, program: Program):
        self.program = program
        self.desc = ProgramDesc()
        self.desc.version.version = VERSION
        self.taken = {v.name for v in program.list_vars()}
        self.counters: Counter[str] = Counter()
        self.problems: dict[str, None] = {}
        self.read = {name for block in program.blocks for op in block.ops for name in op.input_names}
        self.read |= {name for block in program.blocks for name in block.results}

    def write(self, feed_names: Sequence[str] = (), fetch_names: Sequence[str] = (), digest: str | None = None) -> Any:
        """The ProgramDesc; see `paddle_program.program_to_bytes`."""
        block = self.program.global_block()
        for name in [*feed_names, *fetch_names]:
            if name not in block.vars:
                raise FormatError(f"the program has no variable {name!r} to feed or to fetch")
        self.read.update(fetch_names)
        out = BlockWriter(self, None, -1)
        for v in block.vars.values():
            if (v.persistable or v.is_data) and v.name != RNG:
                out.declare(v)
        for col, name in enumerate(feed_names):
            out.column("feed", col, name)
        out.block(block, {})
        for f in self.program.functions.values():
            out.function(f)
        for col, name in enumerate(fetch_names):
            out.column("fetch", col, name)
            if digest is not None and col == 0:
                paddle_attrs.encode(out.desc.ops[-1].attrs.add(), DIGEST, "STRING", digest)
        if self.problems:
            raise FormatError(f"the program cannot be written in PaddlePaddle's format: {'; '.join(self.problems)}")
        return self.desc

    def fresh(self, stem: str) -> str:
        """A name that the Program and the file do not have."""
        while (name := f"{stem}_{self.counters[stem]}") in self.taken:
            self.counters[stem] += 1
        self.taken.add(name)
        return name


class BlockWriter:
    """Fills one BlockDesc. `names` maps a name of the IR to that of the file where they differ."""

    def __init__(self, writer: Writer, parent: BlockWriter | None, depth: int):
        self.writer = writer
        if depth >= MAX_NESTING:
            raise FormatError(f"blocks are nested deeper than {MAX_NESTING} levels")
        self.depth = depth + 1
        self.desc: Any = writer.desc.blocks.add(
            idx=len(writer.desc.blocks), parent_idx=-1 if parent is None else parent.desc.idx
        )
        self.declared: set[str] = set()

    # ---- variables ----
    def declare(self, v: Variable, name: str | None = None) -> str:
        """Declares a variable of the IR, under another name if one is given."""
        name = v.name if name is None else name
        if name not in self.declared:
            self.declared.add(name)
            desc = describe_variable(v)
            desc.name = name
            self.desc.vars.append(desc)
        return name

    def declare_like(self, v: Variable, stem: str) -> str:
        """Declares a new variable of the type of another."""
        temporary = Variable(
            v.block, self.writer.fresh(stem), v.dtype, v.shape, kind=v.kind, stop_gradient=v.stop_gradient
        )
        return self.declare(temporary)

    def declare_other(self, kind: str, name: str) -> str:
        """Declares a variable that is no tensor (a feed list, a scope)."""
        if name not in self.declared:
            self.declared.add(name)
            self.desc.vars.add(name=name, persistable=kind in ("FEED_MINIBATCH", "FETCH_LIST")).type.type = VAR[kind]
        return name

    def new(self, stem: str, dtype_name: str, shape: Sequence[int] = ()) -> str:
        block = self.writer.program.global_block()
        return self.declare(Variable(block, self.writer.fresh(stem), dtype_name, shape, stop_gradient=True))

    # ---- ops ----
    def op(
        self, op_type: str, inputs: dict[str, list[str]], outputs: dict[str, list[str]], **attrs: tuple[str, Any]
    ) -> Any:
        """Appends an OpDesc; attributes as (kind, value)."""
        desc = self.desc.ops.add(type=op_type)
        for slots, where in ((inputs, desc.inputs), (outputs, desc.outputs)):
            for slot, names in slots.items():
                where.add(parameter=slot, arguments=names)
        for name, (kind, value) in attrs.items():
            paddle_attrs.encode(desc.attrs.add(), name, kind, value)
        return desc

    def column(self, op_type: str, col: int, name: str) -> None:
        feed = op_type == "feed"
        other = self.declare_other("FEED_MINIBATCH" if feed else "FETCH_LIST", op_type)
        ins, outs = ([other], [name]) if feed else ([name], [other])
        self.op(op_type, {"X": ins}, {"Out": outs}, col=("INT", col))

    def assign(self, source: str, target: str) -> None:
        self.op("assign", {"X": [source]}, {"Out": [target]})

    def block(self, block: Block, names: dict[str, str]) -> None:
        """Writes the ops of a block of the IR into this one."""
        special: dict[str, Callable[[Operator, Block, dict[str, str]], None]] = {
            "cond": self.cond, "while_loop": self.while_loop, **dict.fromkeys(GROUPS, self.inline),
            "write_to_array": self.write_to_array, "create_array": self.create_array,
        }  # fmt: skip
        for op in block.ops:
            try:
                special.get(op.type, self.plain)(op, block, names)
            except FormatError as error:
                self.writer.problems.setdefault(error.message)

    def plain(self, op: Operator, block: Block, names: dict[str, str]) -> None:
        record = op.record
        inputs = {slot: [names.get(n, n) for n in ns] for slot, ns in op.inputs.items() if ns}
        outputs = {slot: [self.output(n, block, names) for n in ns] for slot, ns in op.outputs.items()}
        if inputs.get("State") == [RNG]:
            del inputs["State"], outputs["StateOut"]  # PaddlePaddle's random ops do not name their state
        else:
            self.complete(op, block, outputs)
            self.in_place(op, inputs, outputs)
        if op.type == "absent" and not op.attrs["array"]:
            attrs = {"shape": [max(d, 0) for d in op.attrs["shape"]], "dtype": op.attrs["dtype"]}
            self.op("fill_constant", inputs, outputs, shape=("LONGS", attrs["shape"]), dtype=("DTYPE", attrs["dtype"]),
                    value=("FLOAT", 0.0), **{paddle_attrs.OWN_OP: ("STRING", "absent")})  # fmt: skip
            return
        if op.type in ("ensure_defined", "as_condition"):
            desc = self.op("assign", inputs, outputs, **{paddle_attrs.OWN_OP: ("STRING", op.type)})
        else:
            desc = self.op(op.type, inputs, outputs)
        paddle_attrs.encode_all(desc, record, op.attrs)

    def complete(self, op: Operator, block: Block, outputs: dict[str, list[str]]) -> None:
        """Adds outputs without which PaddlePaddle does not run the op, although nobody reads them."""
        if op.type == "batch_norm":
            for slot, like in (("MeanOut", "Mean"), ("VarianceOut", "Variance"), ("SavedMean", "Mean"), ("SavedVariance", "Variance")):
                if not outputs.get(slot) and not (slot in op.record.inplace and not op.record.changes(op.attrs)):
                    v = block.var(op.input(like)[0])
                    outputs[slot] = [self.new("statistics", v.dtype, v.shape)]
            if op.record.changes(op.attrs):
                outputs["ReserveSpace"] = [self.new("reserve", block.var(op.input("X")[0]).dtype, [-1])]
        elif op.type == "tensor_array_to_tensor" and not outputs.get("OutIndex"):
            outputs["OutIndex"] = [self.new("lengths", "int32", [-1])]

    def in_place(self, op: Operator, inputs: dict[str, list[str]], outputs: dict[str, list[str]]) -> None:
        """Makes outputs that PaddlePaddle wants to be variables of the input (the statistics of batch_norm) be so, where no update is
        meant: of the input itself if the op leaves it as it is, else of a copy."""
        changed = op.record.changes(op.attrs)
        for out, source in op.record.inplace.items():
            if out not in changed and not outputs.get(out):
                outputs[out] = inputs[source]
            if not outputs.get(out) or outputs[out] == inputs.get(source):
                continue
            if out in changed or not self.writer.read.isdisjoint(op.output(out)):
                for old, new in zip(inputs[source], outputs[out], strict=True):
                    self.assign(old, new)
            if out in changed:
                inputs[source] = outputs[out]
            else:
                outputs[out] = inputs[source]

    def function(self, f: Function) -> None:
        """A block, and the op that says of which function it is; its results are assigned to variables of the types that calls
        rely on."""
        sub = BlockWriter(self.writer, self, self.depth)
        for name in f.block.params:
            sub.declare(f.block.var(name))
        try:
            sub.block(f.block, {})
        except FormatError as error:
            self.writer.problems.setdefault(error.message)
        results = []
        for name, t in zip(f.block.results, f.result_types, strict=True):
            holder = Variable(f.block, self.writer.fresh("result"), t.dtype, dims.to_static(t.shape), kind=t.kind)
            results.append(sub.declare(holder))
            sub.assign(name, holder.name)
        self.op(FUNCTION, {}, {}, sub_block=("BLOCK", sub.desc.idx), name=("STRING", f.name),
                params=("STRINGS", f.block.params), results=("STRINGS", results))  # fmt: skip

    def output(self, name: str, block: Block, names: dict[str, str]) -> str:
        """Declares an output here; persistable variables are those of the global block."""
        v = block.var(name)
        return name if v.persistable else self.declare(v, names.get(name))

    def inline(self, op: Operator, block: Block, names: dict[str, str]) -> None:
        """A fused group: its ops, then its results under the names of the outputs."""
        inner = next(iter(op.blocks))
        local = {**names, **{p: names.get(n, n) for p, n in zip(inner.params, op.input_names, strict=True)}}
        self.block(inner, local)
        for result, name in zip(inner.results, op.output_names, strict=True):
            self.assign(local.get(result, result), self.output(name, block, names))

    def create_array(self, op: Operator, block: Block, names: dict[str, str]) -> None:
        """A TensorArray is there, and empty, as soon as it is declared."""
        for name in op.output("Out"):
            self.output(name, block, names)

    def write_to_array(self, op: Operator, block: Block, names: dict[str, str]) -> None:
        """PaddlePaddle writes in place: the output starts as a copy of the old array."""
        (out,) = (self.output(n, block, names) for n in op.output("Out"))
        for array in op.input("Array"):
            self.assign(names.get(array, array), out)
        inputs = {slot: [names.get(n, n) for n in op.input(slot)] for slot in ("X", "I")}
        self.op("write_to_array", inputs, {"Out": [out]})

    # ---- control flow ----
    def cond(self, op: Operator, block: Block, names: dict[str, str]) -> None:
        """Two `conditional_block`s that assign the results of their branch, and a `select_input` for each output."""
        (predicate,) = (names.get(n, n) for n in op.input("Cond"))
        inverse = self.new("logical_not", "bool", block.var(op.input("Cond")[0]).shape)
        halves = []
        for condition, branch in ((predicate, op.attrs["true_block"]), (inverse, op.attrs["false_block"])):
            if condition is inverse:
                self.op("logical_not", {"X": [predicate]}, {"Out": [inverse]})
            results = [self.declare_like(branch.var(r), "branch") for r in branch.results]
            sub = BlockWriter(self.writer, self, self.depth)
            sub.block(branch, names)
            for source, target in zip(branch.results, results, strict=True):
                sub.assign(names.get(source, source), target)
            outputs = {
                "Out": results,
                "Scope": [self.declare_other("STEP_SCOPES", self.writer.fresh("_generated_var"))],
            }
            self.op("conditional_block", {"Cond": [condition], "Input": self.captured(branch, names)}, outputs,
                    sub_block=("BLOCK", sub.desc.idx), is_scalar_condition=("BOOLEAN", True))  # fmt: skip
            halves.append(results)
        mask = self.new("cast", "int32", block.var(op.input("Cond")[0]).shape)
        self.op("cast", {"X": [predicate]}, {"Out": [mask]}, in_dtype=("DTYPE", "bool"), out_dtype=("DTYPE", "int32"))
        for if_true, if_false, out in zip(*halves, op.output("Out"), strict=True):
            self.op(
                "select_input", {"X": [if_false, if_true], "Mask": [mask]}, {"Out": [self.output(out, block, names)]}
            )

    def captured(self, branch: Block, names: dict[str, str]) -> list[str]:
        return list(dict.fromkeys(names.get(n, n) for n in free_names(branch) if n != RNG))

    def while_loop(self, op: Operator, block: Block, names: dict[str, str]) -> None:
        """The outputs are the loop's state: assigned before, tested before and at the end of each iteration."""
        test, body = op.attrs["cond_block"], op.attrs["body_block"]
        state = [self.output(n, block, names) for n in op.output("Out")]
        for source, target in zip(op.input("X"), state, strict=True):
            self.assign(names.get(source, source), target)
        saved = [self.output(n, block, names) for n in op.output("Saved")]
        condition = self.test(test, state, names, None)
        sub = BlockWriter(self.writer, self, self.depth)
        local = {**names, **dict(zip(body.params, state, strict=True))}
        sub.block(body, local)
        for array, name in zip(saved, op.attrs["saved"], strict=False):
            sub.push(array, local.get(name, name))
        sub.assign_all([local.get(r, r) for r in body.results], state, [body.var(r) for r in body.results])
        sub.test(test, state, names, condition)
        inputs = list(dict.fromkeys([*state, *self.captured(body, names), *self.captured(test, names)]))
        scopes = self.declare_other("STEP_SCOPES", self.writer.fresh("_generated_var"))
        outputs = {"Out": [*state, *saved, condition], "StepScopes": [scopes]}
        self.op("while", {"Condition": [condition], "X": inputs}, outputs,
                sub_block=("BLOCK", sub.desc.idx), is_test=("BOOLEAN", True))  # fmt: skip

    def assign_all(self, sources: list[str], targets: list[str], variables: list[Variable]) -> None:
        """Assigns all at once: a source that is the target of an earlier assignment is kept first (`a, b = b, a`)."""
        kept = {}
        for i, source in enumerate(sources):
            if source in targets[:i] and source not in kept:
                kept[source] = self.declare_like(variables[i], "kept")
                self.assign(source, kept[source])
        for source, target in zip(sources, targets, strict=True):
            if source != target:
                self.assign(kept.get(source, source), target)

    def test(self, test: Block, state: list[str], names: dict[str, str], condition: str | None) -> str:
        """Writes the ops of a loop's test here; its result goes to the variable given, or a new one."""
        local = {**names, **dict(zip(test.params, state, strict=True))}
        if condition is not None:  # the second copy: its variables need names of their own
            local.update(
                (n, self.writer.fresh(n)) for op in test.ops for n in op.output_names if not test.var(n).persistable
            )
        self.block(test, local)
        result = local.get(test.results[0], test.results[0])
        if condition is None:
            condition = self.new("condition", "bool", test.var(test.results[0]).shape)
        self.assign(result, condition)
        return condition

    def push(self, array: str, value: str) -> None:
        """Appends a value to a TensorArray."""
        length = self.new("length", "int64")
        self.op("lod_array_length", {"X": [array]}, {"Out": [length]})
        self.op("write_to_array", {"X": [value], "I": [length]}, {"Out": [array]})
