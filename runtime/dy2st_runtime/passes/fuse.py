"""Elementwise fusion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..ir.absent import maybe_absent
from ..ir.program import Block, Operator, Program
from ..ir.visit import all_ops, declare_like, may_raise, reads
from ..ops.elementwise import Elementwise, trailing
from ..ops.fused import GROUPS
from .rewrite import is_effect, roots_of
from .shapes import Shapes, equal, symbolic_shapes

MAX_OPS = 64
MAX_INPUTS = 24


def fuse(program: Program, keep: frozenset[str] = frozenset()) -> bool:
    """Makes groups of elementwise ops of one block and one iteration shape into single `fused_elementwise` ops.

    An op belongs to a group if it reads from it, or reads what the group reads, and its output has the shape of the group's
    outputs by construction; its operands may broadcast to it. What lies between the members must not need the group and be
    needed by it. Nothing moves across effects or ops that can raise because of values, nothing is computed twice.

    >>> from dy2st_runtime.ir import IRBuilder, Program
    >>> program = Program()
    >>> block = program.global_block()
    >>> x = block.create_var("x", "float32", [-1, 3], is_data=True)
    >>> b = IRBuilder(block)
    >>> y = b.relu(b.scaled(x, 2.0))
    >>> fuse(program, frozenset({y.name}))
    True
    >>> print(program)
    program {
      data x: float32[?, 3]
      relu.Out_0: float32[?, 3] = fused_elementwise(X=[x])
        sub_block(x@IN_0: float32[?, 3]):
          scale.Out_0: float32[?, 3] = scale(X=x@IN_0, scale=2)
          relu.Out_0@IN_0: float32[?, 3] = relu(X=scale.Out_0)
          yield relu.Out_0@IN_0
    }
    <BLANKLINE>
    """
    absent, shapes = maybe_absent(program), symbolic_shapes(program)
    changed = False
    done = {id(op.attrs["sub_block"]) for root in program.roots for op in all_ops(root) if op.type in GROUPS}
    for block in program.blocks:
        if id(block) in done:
            continue
        changed |= _Fuser(block, shapes, absent, roots_of(block, keep)).run()
    if changed:
        program.version += 1
    return changed


class _Node:
    """Ops that run together: a group, or one op that is no elementwise op.

    `before` holds the nodes whose outputs it reads, `after` those that read its outputs; `missing` the inputs that may be absent (the
    same for all ops of a group, so that it is skipped as a whole).
    """

    def __init__(self, index: int, op: Operator, fusable: bool, missing: frozenset[str]):
        self.first = self.last = index
        self.ops = [op]
        self.fusable, self.missing = fusable, missing
        self.before: set[_Node] = set()
        self.after: set[_Node] = set()

    def reads_from(self, nodes: set[_Node]) -> None:
        """These are now the nodes before it."""
        for node in self.before - nodes:
            node.after.discard(self)
        for node in nodes - self.before:
            node.after.add(self)
        self.before = nodes


class _Fuser:
    def __init__(self, block: Block, shapes: Shapes, absent: set[str], roots: set[str]):
        self.block, self.shapes, self.absent, self.roots = block, shapes, absent, roots
        self.uses: dict[str, list[Operator]] = {}
        for op in block.ops:
            for name in reads(op):
                self.uses.setdefault(name, []).append(op)
        self.index: dict[str, int] = {}
        self.nodes: dict[_Node, None] = {}
        self.home: dict[str, _Node] = {}  # name → the node that makes it
        self.readers: dict[str, list[_Node]] = {}  # name → the nodes of elementwise ops that read it

    def run(self) -> bool:
        """Fuses the segments between the ops that nothing may move across."""
        result: list[Operator] = []
        segment: list[Operator] = []
        changed = False
        for op in [*self.block.ops, None]:
            if op is not None and not is_effect(op, self.block) and not may_raise(op, self.block):
                segment.append(op)
                continue
            self._group(segment)
            order = self._ordered()
            changed |= any(len(node.ops) > 1 for node in order)
            for node in order:
                result += [self._fused(node)] if len(node.ops) > 1 else node.ops
            if op is not None:
                result.append(op)
            segment, self.nodes, self.home, self.readers = [], {}, {}, {}
        if changed:
            self.block.ops[:] = result
        return changed

    # ---- grouping ----
    def _group(self, ops: Sequence[Operator]) -> None:
        for index, op in enumerate(ops):
            fusable = self._fusable(op)
            node = _Node(index, op, fusable, self._missing(op))
            node.reads_from({self.home[name] for name in reads(op) if name in self.home})
            self.nodes[node] = None
            self.home.update(dict.fromkeys(op.output_names, node))
            self.index.update(dict.fromkeys(op.output_names, index))
            if fusable:
                producers = [self.home[name] for name in op.input_names if name in self.home]
                siblings = [reader for name in op.input_names for reader in self.readers.get(name, ())]
                for other in dict.fromkeys([*producers, *siblings]):
                    node = self._join(self._current(other), node)
                for name in op.input_names:
                    self.readers.setdefault(name, []).append(node)

    def _ordered(self) -> list[_Node]:
        """The nodes such that each comes after those it reads from.

        `_between` looks no further back than a group's first op, so it misses a way through a group that has an op before that and
        another one behind. Two groups that need each other come of it now and then; one of them is taken apart.
        """
        while True:
            order, circle = _in_order(self.nodes)
            if not circle:
                return order
            self._take_apart(next(node for node in circle if len(node.ops) > 1))

    def _take_apart(self, group: _Node) -> None:
        del self.nodes[group]
        group.reads_from(set())
        for op in group.ops:
            node = _Node(self.index[op.output_names[0]], op, False, group.missing)
            self.nodes[node] = None
            self.home.update(dict.fromkeys(op.output_names, node))
        for node in self.nodes:
            node.reads_from({self.home[name] for op in node.ops for name in reads(op) if name in self.home} - {node})

    def _current(self, node: _Node) -> _Node:
        """The node that the ops of a node belong to by now."""
        return self.home[node.ops[0].output_names[0]]

    def _fusable(self, op: Operator) -> bool:
        return op.type != "fused_elementwise" and is_elementwise(op) and bool(op.input_names)

    def _missing(self, op: Operator) -> frozenset[str]:
        found: set[str] = set()
        for name in op.input_names:
            if name in self.absent:
                node = self.home.get(name)
                found |= node.missing if node is not None and node.fusable else {name}
        return frozenset(found)

    def _join(self, a: _Node, b: _Node) -> _Node:
        """Merges two nodes if that is right; the node that holds b's ops."""
        if a is b or not (a.fusable and b.fusable) or a.missing != b.missing or len(a.ops) + len(b.ops) > MAX_OPS:
            return b
        left, right = (self.shapes.get(node.ops[0].output_names[0]) for node in (a, b))
        if left is None or right is None or not equal(left, right):
            return b
        if self._between(a, b) or self._between(b, a):
            return b
        ops = sorted([*a.ops, *b.ops], key=lambda op: self.index[op.output_names[0]])
        if len(self._inputs(ops)) > MAX_INPUTS or not self._one_alignment(ops):
            return b
        a.ops = ops
        a.first, a.last = min(a.first, b.first), max(a.last, b.last)
        a.reads_from((a.before | b.before) - {a, b})
        b.reads_from(set())
        for op in b.ops:
            self.home[op.output_names[0]] = a
        del self.nodes[b]
        for node in list(b.after):
            node.reads_from((node.before - {b}) | {a})
        return a

    def _one_alignment(self, ops: Iterable[Operator]) -> bool:
        """Whether each operand meets the axes of the iteration space in one way only (see the attribute `axis`)."""
        found: dict[str, int] = {}
        for op in ops:
            offsets = trailing([len(self.block.var(name).shape) for name in op.input_names], op.attrs)
            for name, offset in zip(op.input_names, offsets, strict=True):
                if found.setdefault(name, offset) != offset:
                    return False
        return True

    def _between(self, a: _Node, b: _Node) -> bool:
        """Whether b needs another node that needs a."""
        seen: set[_Node] = set()
        queue = [node for node in b.before if node is not a]
        while queue:
            node = queue.pop()
            if node in seen or node.last < a.first:
                continue  # what ends before `a` begins cannot need it
            seen.add(node)
            if a in node.before:
                return True
            queue.extend(node.before)
        return False

    @staticmethod
    def _inputs(ops: Iterable[Operator]) -> list[str]:
        made = {op.output_names[0] for op in ops}
        return [name for name in dict.fromkeys(n for op in ops for n in op.input_names) if name not in made]

    # ---- writing ----
    def _fused(self, node: _Node) -> Operator:
        ops = node.ops
        members = set(map(id, ops))
        outs = [name for name in (op.output_names[0] for op in ops)
                if name in self.roots or any(id(user) not in members for user in self.uses.get(name, ()))]  # fmt: skip
        # what nobody reads is there for its error, if sizes do not fit
        outs = outs or [ops[-1].output_names[0]]
        return as_one("fused_elementwise", self.block, ops, self._inputs(ops), outs)


def is_elementwise(op: Operator) -> bool:
    """Whether the ops of a group, or the one op, are elementwise."""
    if op.type == "fused_elementwise":
        return True
    return issubclass(op.record, Elementwise) and hasattr(op.record, "scalar") and not op.record.host and len(op.output_names) == 1


def opened(block: Block, op: Operator) -> list[Operator]:
    """The ops of a group, moved to the block that it stands in, with the names that they have outside; another op as it is."""
    if op.type not in ("fused_elementwise", "fused_rows"):
        return [op]
    sub = op.attrs["sub_block"]
    names = dict(zip(sub.params, op.input("X"), strict=True))
    names.update(zip(sub.results, op.output("Out"), strict=True))
    ops = []
    for inner in sub.ops:
        (out,) = inner.output_names
        if out not in names:
            names[out] = out
            v = block.vars[out] = sub.vars[out]
            v.block = block
        inputs = {slot: [names[n] for n in given] for slot, given in inner.inputs.items()}
        ops.append(Operator(inner.type, inputs, {slot: [names[out]] for slot in inner.outputs}, inner.attrs, inner.location))
    return ops


def as_one(op_type: str, block: Block, ops: Sequence[Operator], inputs: Sequence[str], outs: Sequence[str]) -> Operator:
    """An op that does several of a block, each with one output; of these it puts out `outs`."""
    sub = Block(block.program, block)
    inner: dict[str, str] = {}
    for name in inputs:
        inner[name] = declare_like(sub, block.var(name), block.program.fresh_name(f"{name}@IN")).name
        v = sub.vars[inner[name]]
        v.persistable = v.is_parameter = v.is_data = False
    sub.params = [inner[name] for name in inputs]
    for op in ops:
        (out,) = op.output_names
        if out in outs:
            inner[out] = declare_like(sub, block.var(out), block.program.fresh_name(f"{out}@IN")).name
        else:
            inner[out] = out
            sub.vars[out] = block.vars.pop(out)
            sub.vars[out].block = sub
        slots = {slot: [inner[n] for n in names] for slot, names in op.inputs.items()}
        sub.ops.append(Operator(op.type, slots, {slot: [inner[out]] for slot in op.outputs}, op.attrs, op.location))
    sub.results = [inner[name] for name in outs]
    return Operator(op_type, {"X": list(inputs)}, {"Out": list(outs)}, {"sub_block": sub}, ops[-1].location)


def _in_order(nodes: Iterable[_Node]) -> tuple[list[_Node], list[_Node]]:
    """The nodes such that each comes after those it reads from; else in the order of their last ops. If some need each other, these."""
    result: dict[_Node, None] = {}
    for start in sorted(nodes, key=lambda node: node.last):
        stack = [start]
        begun: dict[_Node, None] = {}
        while stack:
            node = stack[-1]
            waiting = sorted((n for n in node.before if n not in result), key=lambda n: n.last)
            if not waiting:
                result.setdefault(stack.pop())
                begun.pop(node, None)
            elif node in begun:
                return [], list(begun)[list(begun).index(node) :]
            else:
                begun[node] = None
                stack.extend(waiting)
    return list(result), []
