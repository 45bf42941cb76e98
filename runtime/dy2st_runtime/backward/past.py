"""What an iteration had and no array of saved tensors can hold: lists, and the random state."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..ir import segments
from ..ir.growth import GROWN, LOST, REPLACED, relation
from ..ir.program import Block, Operator, Variable
from ..ir.prune import RNG
from ..ir.visit import all_ops
from ..ops import registry
from .sweep import Builder, Sweep


class PastLists:
    """The lists that a loop changes, as they were in each iteration: the backward loop carries the list as it was after the
    iteration, and makes of it the one before.

    A list that only grows loses the entries that the iteration added. For any other the forward loop keeps a log: the entries that
    an iteration takes away or replaces, from the last to the first, behind those of earlier iterations. The backward loop
    carries the log too, and moves them back.

    Attributes:
        exact: whether a list can be had without a log, with the entries of that time.
        carried: (index of the loop variable, the list after the iteration, the list before it) for each list in use.
    """

    def __init__(self, sweep: Sweep, op: Operator, block: Block, step: Variable):
        self.sweep, self.op, self.block, self.step = sweep, op, block, step
        self.body: Block = op.attrs["body_block"]
        lists = [(p, r) for p, r in zip(self.body.params, self.body.results, strict=True)
                 if p != r and self.body.var(p).kind == "array"]  # fmt: skip
        self._change = {p: relation(self.body, r, p) for p, r in lists}
        self.exact = all(change == GROWN for change in self._change.values())
        self.carried: list[tuple[int, Variable, Variable]] = []

    def needs_log(self, param: str, kept: Iterable[Operator]) -> bool:
        """Whether the list `param` of the forward body cannot be made of the list after the iteration alone; `kept` are the ops
        that are run again."""
        change = self._change[param]
        return change == LOST or (change == REPLACED and any(map(reads_entries, kept)))

    def recover(self, param: str, copy: Variable, saved: Callable[[str, Variable], Variable], log: bool) -> None:
        """Writes to the begin of the backward body the ops that make `copy`, the list `param` of the forward body before the
        iteration.

        Args:
            saved: an op and a list of the forward body → the array with what it yields in each iteration.
            log: whether the forward loop has to keep a log.
        """
        index = self.body.params.index(param)
        shape = copy.shape
        after = self.block.create_var(None, copy.dtype, shape, stem=f"{param}@AFTER", kind="array")
        lengths = saved("lod_array_length", self.body.var(param))
        b = Builder(self.block, self.sweep.state, self.op.location, index=0)
        length = b.op("read_from_array", X=lengths, I=self.step)
        if not log:
            _drop(b, after, length, copy.name)
        else:
            position, common = self._keep_log(param)
            logged = self.block.create_var(None, copy.dtype, shape, stem=f"{param}@LOG", kind="array")
            rest = _drop(b, after, b.op("read_from_array", X=common, I=self.step), None)
            before = _move_back(b, logged, rest, length, copy.name)
            self.carried.append((position, logged, before))
        self.carried.append((index, after, copy))

    def _keep_log(self, param: str) -> tuple[int, Variable]:
        """Gives the forward loop a log of a list: the index of the loop variable, and the array that has how many entries the
        list had in common before and after each iteration."""
        op, sweep, body = self.op, self.sweep, self.body
        before, after = body.var(param), body.var(body.results[body.params.index(param)])
        at = next(i for i, other in enumerate(sweep.forward.ops) if other is op)
        empty = Builder(sweep.forward, sweep.state, op.location, index=at)
        out = sweep.forward.create_var(None, before.dtype, before.shape, stem=f"{param}@LOG", kind="array")
        op.inputs["X"].append(empty.op("create_array", dtype=before.dtype, shape=list(before.shape)).name)
        op.outputs["Out"].append(out.name)
        for block in op.blocks:
            v = block.create_var(None, before.dtype, before.shape, stem=f"{param}@LOG", kind="array")
            block.params.append(v.name)
        b = Builder(body, sweep.state, op.location)
        before, after = present(b, before), present(b, after)
        common = b.op("array_common", X=before, Y=after)
        last, stop = (b.scaled(v, 1.0, -1.0) for v in (b.op("lod_array_length", X=before), common))
        lost = b.op("array_take", X=before, Index=b.op("range", Start=last, End=stop, Step=b.constant(-1, "int64")))
        body.results.append(b.op("array_extend", Array=body.var(body.params[-1]), Other=lost).name)
        return len(body.params) - 1, save_value(sweep, op, common.name)


def present(b: Builder, items: Variable) -> Variable:
    """The list, or an empty one where it has no value: what the loop makes of it then does not depend on it."""
    if items.kind != "array" or items.name not in b.state.absent:
        return items
    empty = b.op("create_array", dtype=items.dtype, shape=list(items.shape))
    return b.op("fill_absent", X=items, Like=empty)


def save_value(sweep: Sweep, op: Operator, name: str) -> Variable:
    """The array with the value of a variable of the body of a loop in each iteration."""
    saved: list[str] = op.attrs["saved"]
    if name in saved:
        return sweep.var(op.output("Saved")[saved.index(name)])
    v = op.attrs["body_block"].var(name)
    array = sweep.forward.create_var(None, v.dtype, v.shape, stem=f"{name}@SAVED", kind="array")
    saved.append(name)
    op.outputs.setdefault("Saved", []).append(array.name)
    return array


def _drop(b: Builder, items: Variable, length: Variable, name: str | None) -> Variable:
    """The list without what is behind its first `length` entries; called `name` if that is given."""
    test, body = b.sub_block(), b.sub_block()
    rest = []
    for block in (test, body):
        rest.append(block.create_var(None, items.dtype, items.shape, stem=f"{items.name}@REST", kind="array"))
        block.params = [rest[-1].name]
    with b.inside(test):
        test.results = [b.less_than(length, b.op("lod_array_length", X=rest[0])).name]
    with b.inside(body):
        body.results = [b.op("array_pop", Array=rest[1])[0].name]
    return _loop(b, test, body, [items], [name])[0]


def _move_back(b: Builder, log: Variable, items: Variable, length: Variable, name: str) -> Variable:
    """Moves entries from the end of the log to the end of the list until that has `length`, and is called `name`; what is left of
    the log."""
    test, body = b.sub_block(), b.sub_block()
    for block in (test, body):
        block.params = [block.create_var(None, v.dtype, v.shape, stem=f"{v.name}@REST", kind="array").name for v in (log, items)]
    with b.inside(test):
        test.results = [b.less_than(b.op("lod_array_length", X=test.var(test.params[1])), length).name]
    with b.inside(body):
        rest, entry = b.op("array_pop", Array=body.var(body.params[0]))
        body.results = [rest.name, b.op("array_append", Array=body.var(body.params[1]), X=entry).name]
    return _loop(b, test, body, [log, items], [None, name])[0]


def _loop(b: Builder, test: Block, body: Block, start: list[Variable], names: list[str | None]) -> list[Variable]:
    """A `while_loop` whose results have these names, a fresh one for None."""
    called = [b.block.create_var(None, v.dtype, v.shape, stem=v.name, kind=v.kind).name if name is None else name
              for name, v in zip(names, start, strict=True)]  # fmt: skip
    attrs = {"cond_block": test, "body_block": body, "saved": []}
    b.apply(registry.get("while_loop"), (start,), attrs, {"Out": called})
    return [b.block.var(name) for name in called]


def reads_entries(op: Operator) -> bool:
    """Whether an op, or one in its blocks, takes values out of a list."""
    for inner in [op, *(o for sub in op.blocks for o in all_ops(sub))]:
        if inner.type in ("read_from_array", "array_pop", "array_remove", "tensor_array_to_tensor"):
            return True
    return False


def draws(op: Operator) -> bool:
    """Whether the blocks of an op draw random numbers."""
    return segments.draws([inner for sub in op.blocks for inner in sub.ops])


def restore(b: Builder, state: Variable, then: Variable) -> None:
    """Gives the random generator, whose state is `state`, another one."""
    b.apply(registry.get("rng_restore"), (state, then), {}, {"StateOut": [RNG]})


def replay(sweep: Sweep, block: Block, copy: Operator, saved: Variable, step: Variable) -> list[Operator]:
    """The copy of an op between ops that give its draws the random state of the forward iteration, and take it back after."""
    state = block.var(RNG)
    spare = Block(block.program, block)
    b = Builder(spare, sweep.state, copy.location)
    now = b.op("rng_snapshot", State=state)
    restore(b, state, b.op("read_from_array", X=saved, I=step))
    spare.ops.append(copy)
    restore(b, state, now)
    for v in spare.vars.values():
        v.block = block
        block.vars[v.name] = v
    return spare.ops
