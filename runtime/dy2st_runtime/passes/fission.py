"""Loop fission: products of rows, which need nothing that a loop computes, are one product before the loop."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from .. import dims
from ..ir.absent import maybe_absent
from ..ir.builder import IRBuilder
from ..ir.program import Block, Operator, Program
from ..ir.visit import all_ops, reads
from .constants import fill_value
from .rewrite import Forward, forget, roots_of
from .shapes import Shapes, same_dim, symbolic_shapes

MOST_ROWS = 20
"""The rows that an iteration may have of x: with more its own product makes as good use of w, and keeps its result in the cache."""

MOST_GROWTH = 8
"""How many times as long as x the products may be, all of which are held at once."""

COUNTERS = ("int32", "int64")


def fission(program: Program, keep: frozenset[str] = frozenset()) -> bool:
    """Splits `x[i] @ w` off a loop over x: one product of the whole x before it, of which each iteration reads its part.

    So what a recurrent cell makes of its input is one product of many rows instead of many of few, for each of which w is read again.
    The loop must count from 0 in steps of 1, the index be the count or go down from the last one, and the loop's test be about the
    count alone: then no work is done that the loop would not do. Where it may end before x does, the product is of the part up to there.

    A product that may fail stays, as the loop may run no iteration; so does one that is computed again for the gradient, which is there
    to hold less, one of more than `MOST_ROWS`, and one that is more than `MOST_GROWTH` times as long as what it is made of. Sizes that
    only the run knows are taken for few rows.

    >>> from dy2st_runtime.ir import IRBuilder, Program
    >>> program = Program()
    >>> block = program.global_block()
    >>> x = block.create_var("x", "float32", [5, 2, 3], is_data=True)
    >>> w = block.create_var("w", "float32", [3, 4], persistable=True)
    >>> b = IRBuilder(block)
    >>> start, one, end = (b.constant(value, "int64") for value in (0, 1, 5))
    >>> state = b.op("fill_constant", shape=[2, 4])
    >>> test, body = b.sub_block(), b.sub_block()
    >>> for part, names in ((test, "ab"), (body, "ij")):
    ...     part.params = [part.create_var(name, v.dtype, v.shape).name for name, v in zip(names, (start, state))]
    >>> with b.inside(test):
    ...     test.results = [b.less_than(test.var("a"), end).name]
    >>> with b.inside(body):
    ...     row = b.op("slice", Input=x, StartsTensorList=[body.var("i")], axes=[0], starts=[0], ends=[1], decrease_axis=[0])
    ...     body.results = [b.add(body.var("i"), one).name, b.add(b.matmul_v2(row, w), body.var("j")).name]
    >>> (_, out), _ = b.while_loop([start, state], cond_block=test, body_block=body)
    >>> fission(program, frozenset({out.name}))
    True
    >>> block.ops[-2], body.ops[0]
    ({matmul_v2.Out_1} = matmul_v2(x, w), {matmul_v2.Out_0} = slice(matmul_v2.Out_1, i))
    """
    ops = [op for root in program.roots for op in all_ops(root)]
    if not any(op.type == "while_loop" and any(map(_is_product, op.attrs["body_block"].ops)) for op in ops):
        return False
    return _Walk(program, keep, ops).run()


def _is_product(op: Operator) -> bool:
    return op.type == "matmul_v2" and not op.attrs["trans_x"] and not op.segments


class _Count(NamedTuple):
    """That a loop counts `i` from 0 to before `end`, and ends then and only then."""

    i: str
    end: str


class _Walk(Forward):
    """
    Attributes:
        made: the ops, of all blocks, by what they make.
        split: the products that this pass has made; loops further out leave them, as they have many rows.
    """

    def __init__(self, program: Program, keep: frozenset[str], ops: Sequence[Operator]):
        super().__init__(program, keep)
        self.producers = {name: op for op in ops for name in op.output_names}
        self.split: set[str] = set()
        self.shapes: Shapes = symbolic_shapes(program)
        self.absent = maybe_absent(program)

    def visit(self, op: Operator, block: Block) -> list[Operator]:
        count = self._count(op) if op.type == "while_loop" else None
        return [op] if count is None else [*self._split(op, count, block), op]

    def _split(self, loop: Operator, count: _Count, block: Block) -> list[Operator]:
        """The ops that now run before a loop."""
        body = loop.attrs["body_block"]
        before = Block(self.program, block)
        whole: dict[str, str] = {}  # tensors whose rows are read → the same without rows that are not
        rows: list[Operator] = []
        for op in list(body.ops):
            row = self._row(op, count, body) if _is_product(op) else None
            if row is None:
                continue
            b = IRBuilder(before, op.location)
            (x,), (w,), (out,) = row.input("Input"), op.input("Y"), op.output_names
            if x not in whole:
                whole[x] = x if self._is_length(count.end, x) else self._begin(b, x, count.end)
            p = b.matmul_v2(before.var(whole[x]), before.var(w), trans_y=op.attrs["trans_y"]).name
            self.split.add(p)
            whole[p] = p  # what is a product of these again
            self.shapes[p] = (*self.shapes[x][:-1], self._columns(op))
            part = Operator("slice", {**row.inputs, "Input": [p]}, {"Out": [out]}, dict(row.attrs), row.location)
            self.producers[out] = part
            body.ops.remove(op)
            body.ops.insert(body.ops.index(row) + 1, part)  # an index that is out of range is found where it was
            rows.append(row)
        for row in reversed(rows):
            used = {name for op in body.ops for name in reads(op)} | roots_of(body, self.keep)
            if row in body.ops and used.isdisjoint(row.output_names):
                body.ops.remove(row)
                forget(body, row)
        for v in before.vars.values():
            v.block = block
        block.vars.update(before.vars)
        self.changed |= bool(rows)
        return before.ops

    def _begin(self, b: IRBuilder, x: str, end: str) -> str:
        return b.op("slice", Input=b.block.var(x), EndsTensorList=[b.block.var(end)], axes=[0], starts=[0], ends=[-1]).name

    # ---- what is asked ----
    def _count(self, loop: Operator) -> _Count | None:
        test, body = loop.attrs["cond_block"], loop.attrs["body_block"]
        less = self._maker(test.results[0], "less_than")
        if less is None or less.input("X")[0] not in test.params or test.var(less.input("Y")[0]).dtype not in COUNTERS:
            return None
        at = test.params.index(less.input("X")[0])
        i, following = body.params[at], self._maker(body.results[at], "elementwise_add")
        if following is None or following.input("X") != [i] or self._constant(following.input("Y")[0]) != 1:
            return None
        return _Count(i, less.input("Y")[0]) if self._constant(loop.input("X")[at]) == 0 else None

    def _row(self, op: Operator, count: _Count, body: Block) -> Operator | None:
        """The slice that makes what an op multiplies, if all that it makes in the loop can be multiplied at once."""
        (name,), (w,) = op.input("X"), op.input("Y")
        row = None if op.output_names[0] in self.split else self._maker(name, "slice")
        if row is None or row.attrs["decrease_axis"] != [0] or not self._is_index(row.input("StartsTensorList"), count):
            return None
        (x,) = row.input("Input")
        if x in body.vars or w in body.vars or not self.absent.isdisjoint((x, w, count.end)):
            return None
        if body.var(w).dtype not in ("float32", "float64") or len(body.var(w).shape) != 2:
            return None
        inner = self.shapes[w][-1 if op.attrs["trans_y"] else -2]
        if not same_dim(self.shapes[x][-1], inner) or not _is_worth_it(self.shapes[x][1:-1], inner, self._columns(op)):
            return None
        assert body.parent is not None
        return row if self._is_length(count.end, x) or body.parent.has_var(count.end) else None

    def _is_index(self, indices: Sequence[str], count: _Count) -> bool:
        """Whether a slice begins, on one axis, at the count, or at what goes down from the last count."""
        if len(indices) != 1:
            return False
        if indices[0] == count.i:
            return True
        down = self._maker(indices[0], "elementwise_sub")
        last = self._maker(down.input("X")[0], "elementwise_sub") if down is not None and down.input("Y") == [count.i] else None
        return last is not None and last.input("X") == [count.end] and self._constant(last.input("Y")[0]) == 1

    def _is_length(self, end: str, x: str) -> bool:
        """Whether a number is the length of a tensor: a constant, or taken from a shape."""
        length, op = self.shapes[x][0], self.producers.get(end)
        if op is not None and op.type == "cast":
            op = self.producers.get(op.input("X")[0])
        if op is None or op.type != "slice":
            return same_dim(length, self._constant(end))
        shape = self._maker(op.input("Input")[0], "shape")
        if shape is None or op.inputs.keys() != {"Input"}:
            return False
        sizes, at = self.shapes[shape.input("Input")[0]], op.attrs["starts"][0]
        return -len(sizes) <= at < len(sizes) and same_dim(length, sizes[at])

    def _columns(self, op: Operator) -> dims.Dim:
        return self.shapes[op.input("Y")[0]][-2 if op.attrs["trans_y"] else -1]

    def _maker(self, name: str, op_type: str) -> Operator | None:
        """The op that makes a value, if it is of this type."""
        op = self.producers.get(name)
        return op if op is not None and op.type == op_type else None

    def _constant(self, name: str) -> Any:
        value = fill_value(self.producers.get(name))
        return value if value is None else int(value)


def _is_worth_it(rows: Sequence[dims.Dim], inner: dims.Dim, columns: dims.Dim) -> bool:
    if not isinstance(inner, int) or not isinstance(columns, int) or columns > MOST_GROWTH * inner:
        return False
    return math.prod(d for d in rows if isinstance(d, int)) <= MOST_ROWS
