"""Products with what a softmax makes of the rows of another product (the scores), a block of these rows after the other.

A task makes the scores of some rows in memory of its own that stays in a cache, works on them and multiplies them by the next matrix;
for the gradient it makes them again. So there is never more of them than a block for each strand, and most of the time of a long attention
is that of its products. A block has whole rows, so a softmax is the one of its op, NaN and infinity included.

The tasks are a matrix's blocks, one by one. Where something is summed over the rows (the gradients of keys and values), a task adds up
many blocks; if there are few matrices, several tasks have a sum each, which a second kernel adds up. Which blocks a task has depends on
the sizes only, so results do not depend on the number of threads. Strands are what threads share: so many of them as there are blocks of
scores in memory, each with some tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..ir.program import Block, Operator, Variable
from ..loopir import nodes as n
from ..loopir.builder import KernelBuilder, TensorRef
from ..ops.attention import OF_ROWS, PRODUCTS, SCORES, SUM_WITH_X, SUM_WITH_Y, kind_of_product
from ..ops.axes import product
from ..ops.elementwise import Elementwise
from ..ops.lanes import Group, Lanes
from ..ops.matmul import matrix_of
from ..ops.softmax import Softmax, SoftmaxGrad
from . import elementwise
from .rows import Chain

ELEMENTS = 1 << 17
"""Of a block of scores: some of them stay in the cache of the second level, and products of fewer rows are slower."""
MOST_ROWS, FEWEST_ROWS = 256, 16
TASKS, SHARED_ROWS = 16, 32
"""Where there would be fewer tasks, blocks have fewer rows, but not fewer than that for this reason."""
STRANDS = 32
PARTS = 8
"""So many sums over rows are enough for threads to share."""
PAD = 16
"""Elements between the rows of a block, as what lies a power of two apart meets in the caches."""


def lower_fused(cx: Any, ins: Sequence[Variable], outs: Sequence[Variable], body: Block) -> None:
    """The ops of a block: by blocks of rows where the target has routines, else one after the other."""
    for p, x in zip(body.params, ins, strict=True):
        cx.note(body.var(p))
        cx.same[p] = cx.note(x).name
    if not cx.routines:
        for result, out in zip(body.results, outs, strict=True):
            cx.note(body.var(result))
            cx.same[result] = cx.note(out).name
        cx.lower_block(body)
        return
    _Attention(cx, ins, outs, body).lower()


class Scores:
    """A block of scores as the tensor of all of them: an index of that, of a row that the block has, is an element of the block."""

    def __init__(self, room: TensorRef, name: str, shape: Sequence[Any]):
        self.room, self.name, self.shape, self.rank, self.dtype = room, name, tuple(shape), len(shape), room.dtype
        self.shift: Any = 0  # from an index of the tensor to one of the room, for the row in question

    def __getitem__(self, index: Any) -> n.Expr:
        return self.room[n.as_expr(index, n.INDEX) + self.shift]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.room[n.as_expr(index, n.INDEX) + self.shift] = value


@dataclass
class _Product:
    """A matrix product; `kind`: see `ops.attention`."""

    op: Operator
    kind: str

    def __post_init__(self) -> None:
        (self.x,), (self.y,), (self.out,) = self.op.input("X"), self.op.input("Y"), self.op.output_names
        self.trans_x, self.trans_y = (self.op.attrs.get(name, False) for name in ("trans_x", "trans_y"))


class _Attention:
    """One op in the making."""

    def __init__(self, cx: Any, ins: Sequence[Variable], outs: Sequence[Variable], body: Block):
        self.cx, self.ins, self.outs, self.body = cx, ins, outs, body
        self.results = dict(zip(body.results, outs, strict=True))
        self.steps: list[Any] = []  # products, chains of elementwise ops, other ops on rows
        scores: set[str] = set()
        for op in body.ops:
            if op.type in PRODUCTS:
                kind = kind_of_product(op, scores)
                assert kind is not None
                self.steps.append(_Product(op, kind))
                scores.update(op.output_names if kind == SCORES else ())
                continue
            scores.update(op.output_names)
            if not issubclass(op.record, Elementwise):
                self.steps.append(op)
            elif self.steps and isinstance(self.steps[-1], list):
                self.steps[-1].append(op)
            else:
                self.steps.append([op])
        self.steps = [Chain(step, body) if isinstance(step, list) else step for step in self.steps]
        self.scores = scores
        self.stored = [self._stored(i) for i in range(len(self.steps))]
        self.slots, self.count = self._slots()
        self.result = next(step.out for step in self.steps if isinstance(step, _Product) and step.kind != SCORES)
        self.space = self._space()

    def _space(self) -> Variable:
        """A variable of the shape of all scores: a matrix for each of a result, which may be more than those of the operands."""
        made, result = (self.body.var(name) for name in (self.steps[0].out, self.result))
        space = Variable(self.body, f"{self.cx.op.type}#scores", made.dtype, (*result.shape[:-2], *made.shape[-2:]))
        self.cx.shapes[space.name] = (*self.cx.shapes[result.name][:-2], *self.cx.shapes[made.name][-2:])
        return space

    # ---- which values are in memory, and where ----
    def _reads(self, step: Any) -> list[str]:
        names = [v.name for v in step.reads] if isinstance(step, Chain) else (step.op if isinstance(step, _Product) else step).input_names
        return [name for name in names if name in self.scores]

    def _stored(self, i: int) -> list[str]:
        """The scores that a step leaves to others."""
        step = self.steps[i]
        ops = step.ops if isinstance(step, Chain) else [step.op if isinstance(step, _Product) else step]
        later = {name for other in self.steps[i + 1 :] for name in self._reads(other)}
        return [name for op in ops for name in op.output_names if name in later]

    def _slots(self) -> tuple[dict[str, int], int]:
        """The block in which each value is, and how many blocks there are."""
        last = {name: i for i, step in enumerate(self.steps) for name in self._reads(step)}
        slots: dict[str, int] = {}
        free: list[int] = []
        count = 0
        for i, step in enumerate(self.steps):
            free += [slots[name] for name in dict.fromkeys(self._reads(step)) if last[name] == i]
            for name in self.stored[i]:
                if not free:
                    free.append(count)
                    count += 1
                slots[name] = free.pop()
        return slots, count

    # ---- the kernel ----
    def lower(self) -> None:
        cx, body = self.cx, self.body
        sums = [step for step in self.steps if isinstance(step, _Product) and step.kind in (SUM_WITH_Y, SUM_WITH_X)]
        first = self.steps[0]
        batch = body.var(first.out).shape[:-2]
        always_one = -1 not in batch and product(batch) >= PARTS
        room = cx.temp(body.var(first.out).dtype, 1)
        parts = {} if always_one else {s.out: cx.temp(room.dtype, 3) for s in sums}
        with cx.kernel(self.ins, [*self.outs, room, *parts.values()], label="+".join(op.type for op in body.ops)) as (k, ins, written):
            outs, (room_ref, *part_refs) = written[: len(self.outs)], written[len(self.outs) :]
            refs: dict[str, Any] = dict(zip(body.params, ins, strict=True))
            refs.update(zip(body.results, outs, strict=True))
            self._emit(k, refs, room_ref, dict(zip(parts, part_refs, strict=True)), sums)
        for name, temp in parts.items():
            with cx.kernel([temp], [self.results[name]], shapes=False, label="sums of parts") as (k, (source,), (out,)):
                _join_parts(k, source, out)

    def _emit(self, k: KernelBuilder, refs: dict[str, Any], room: TensorRef, partial: dict[str, TensorRef], sums: list[_Product]) -> None:
        first = self.steps[0]
        x, y = refs[first.x], refs[first.y]
        self.k, self.refs, self.room = k, refs, room
        self.batch = refs[self.result].shape[:-2]
        self.m, self.n = k.let(x.shape[-2], "rows"), k.let(y.shape[-2 if first.trans_y else -1], "columns")
        matrices = k.let(n.as_expr(product(self.batch), n.INDEX), "matrices")
        self.ld = k.let((self.n + (PAD - 1)) // PAD * PAD + PAD, "ld")
        most = n.minimum(n.maximum(ELEMENTS // n.maximum(self.n, 1) // 8 * 8, FEWEST_ROWS), MOST_ROWS)
        shared = n.maximum(matrices * self.m // TASKS // 8 * 8, SHARED_ROWS)
        most = k.let(n.minimum(n.minimum(most, shared), n.maximum(self.m, 1)), "most")
        wanted = k.let(n.maximum((self.m + most - 1) // most, 1), "wanted")
        self.most = k.let(n.maximum(((self.m + wanted - 1) // wanted + 7) // 8 * 8, 1), "most")  # blocks of one size, by whole tiles
        blocks = k.let((self.m + self.most - 1) // self.most, "blocks")
        if sums:
            wanted = PARTS // n.maximum(matrices, 1) if partial else n.as_expr(1, n.INDEX)
            self.parts = k.let(n.maximum(n.minimum(wanted, blocks), 1), "parts")
            each = k.let((blocks + self.parts - 1) // self.parts, "each")
        else:
            self.parts, each = blocks, n.as_expr(1, n.INDEX)
        tasks = k.let(matrices * self.parts, "tasks")
        strands = k.let(n.minimum(tasks, STRANDS), "strands")
        per = k.let((tasks + strands - 1) // n.maximum(strands, 1), "per")
        self.slot = k.let(self.most * self.ld, "slot")
        k.set_shape(room, [strands * self.slot * self.count])
        for s in sums:
            if s.out in partial:
                size = k.let(n.as_expr(refs[s.out].shape[-2]) * refs[s.out].shape[-1])
                k.set_shape(partial[s.out], [matrices, n.select(self.parts == 1, 0, self.parts), size])
        shape = [*self.batch, self.m, self.n]
        self.blocks = {name: Scores(room, name, shape) for name in self.slots}
        self.on_rows = [self._on_rows(i) if not isinstance(step, _Product) else None for i, step in enumerate(self.steps)]
        with k.parallel(strands) as strand:
            self.base = k.let(strand * (self.slot * self.count), "base")
            with k.loop(per) as i:
                task = k.let(strand * per + i, "task")
                with k.when(task < tasks):
                    self._task(task, each, sums, partial)

    def _task(self, task: Any, each: Any, sums: list[_Product], partial: dict[str, TensorRef]) -> None:
        k = self.k
        self.matrix, part = k.let(task // self.parts, "matrix"), k.let(task % self.parts, "part")
        self.at: dict[str, Any] = {}
        for step in self.steps:
            if isinstance(step, _Product):
                for name in (step.x, step.y):
                    if name in self.refs and name not in self.at:
                        *own, rows, columns = self.refs[name].shape
                        self.at[name] = k.let(matrix_of(self.matrix, self.batch, own) * rows * columns, "at")
        for s in sums:
            for target, at in self._targets(s, task, partial):
                with k.loop(n.as_expr(self.refs[s.out].shape[-2]) * self.refs[s.out].shape[-1]) as e:
                    target[at + e] = n.cast(0, target.dtype)
        with k.loop(each) as b:
            self.first = k.let((part * each + b) * self.most, "first")
            with k.when(self.first < self.m):
                self.rows = k.let(n.minimum(self.most, self.m - self.first), "rows")
                i = 0
                while i < len(self.steps):
                    step = self.steps[i]
                    if isinstance(step, _Product):
                        self._product(step, task, partial)
                        i += 1
                        continue
                    end = next((j for j in range(i, len(self.steps)) if isinstance(self.steps[j], _Product)), len(self.steps))
                    with k.loop(self.rows) as r:
                        row = k.let(self.matrix * self.m + self.first + r, "row")
                        for name, block in self.blocks.items():
                            block.shift = k.let(self.base + self.slots[name] * self.slot + r * self.ld - row * self.n, "shift")
                        for on_row in self.on_rows[i:end]:
                            assert on_row is not None
                            on_row(row)
                    i = end

    def _targets(self, s: _Product, task: Any, partial: dict[str, TensorRef]) -> Iterator[tuple[TensorRef, Any]]:
        """Where a sum over rows goes: to the output, or to that of a part; what the caller does with either is done under its condition."""
        k, out = self.k, self.refs[s.out]
        size = n.as_expr(out.shape[-2]) * out.shape[-1]
        if s.out not in partial:
            yield out, k.let(self.matrix * size, "at")
            return
        with k.when(self.parts == 1):
            yield out, k.let(self.matrix * size, "at")
        with k.otherwise():
            yield partial[s.out], k.let(task * size, "at")

    def _product(self, s: _Product, task: Any, partial: dict[str, TensorRef]) -> None:
        k, refs = self.k, self.refs
        place = lambda name: self.base + self.slots[name] * self.slot  # noqa: E731

        def given(name: str, by_columns: bool) -> tuple[TensorRef, Any, Any]:
            """An operand of which a block has some rows, or columns as it lies: it, where these begin, its row in memory."""
            columns = refs[name].shape[-1]
            return refs[name], self.at[name] + (self.first if by_columns else self.first * columns), columns

        if s.kind == SCORES:
            a, at, inner = given(s.x, False)
            y = refs[s.y]
            k.gemm(a, y, self.room, self.rows, self.n, inner, trans_b=s.trans_y, a_offset=at, lda=inner, b_offset=self.at[s.y],
                   ldb=y.shape[-1], c_offset=place(s.out), ldc=self.ld)  # fmt: skip
        elif s.kind == OF_ROWS:
            y, out = refs[s.y], refs[s.out]
            columns = out.shape[-1]
            k.gemm(self.room, y, out, self.rows, columns, self.n, trans_b=s.trans_y, a_offset=place(s.x), lda=self.ld,
                   b_offset=self.at[s.y], ldb=y.shape[-1], c_offset=(self.matrix * self.m + self.first) * columns, ldc=columns)  # fmt: skip
        else:
            for target, to in self._targets(s, task, partial):
                columns = refs[s.out].shape[-1]
                if s.kind == SUM_WITH_Y:
                    b, at, ldb = given(s.y, False)
                    k.gemm(self.room, b, target, self.n, columns, self.rows, trans_a=True, a_offset=place(s.x), lda=self.ld, b_offset=at,
                           ldb=ldb, c_offset=to, ldc=columns, add=True)  # fmt: skip
                else:
                    a, at, lda = given(s.x, not s.trans_x)
                    k.gemm(a, self.room, target, refs[s.out].shape[-2], columns, self.rows, trans_a=s.trans_x, a_offset=at, lda=lda,
                           b_offset=place(s.y), ldb=self.ld, c_offset=to, ldc=columns, add=True)  # fmt: skip

    # ---- rows ----
    def _on_rows(self, i: int) -> Callable[[Any], None]:
        """What a step does with a row, by its number."""
        step, k = self.steps[i], self.k
        if isinstance(step, Chain):
            refs, over, names = {**self.refs, **self.blocks}, self.space, [v.name for v in step.reads]
            operands = [over if name in self.blocks else v for name, v in zip(names, step.reads, strict=True)]
            offsets = elementwise.group_offsets(names, step.ops, self.body)
            space = elementwise.spread(self.cx, k, operands, [refs[name] for name in names], over, offsets)
            return step.on_rows(k, space, refs, len(over.shape) - 1, None, [(name, refs[name]) for name in self.stored[i]])
        values = [self.blocks[name] for name in [*step.input_names, *step.output_names]]
        record: Any = Softmax if step.type == "softmax" else SoftmaxGrad
        lanes = Lanes(k, [1, self.n], -1)
        return lambda row: record.lane_results(Group(lanes, row, 0, 1), *values, self.room.dtype)


def _join_parts(k: KernelBuilder, source: TensorRef, out: TensorRef) -> None:
    """Adds up the parts of each matrix, if there are several."""
    matrices, parts, size = source.shape
    with k.parallel(n.select(n.as_expr(parts) == 0, 0, n.as_expr(matrices) * size)) as i:
        start = k.let(i // size * parts * size + i % size)
        acc = k.var(n.cast(0, out.dtype), out.dtype)
        with k.loop(parts) as p:
            acc.add(source[start + p * size])
        out[i] = acc.get()
