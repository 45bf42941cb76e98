"""What an iteration had and no array of saved tensors can hold: lists, and the random state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..errors import GradientError
from ..ir.program import Block, Operator, Variable
from ..ir.visit import all_ops
from ..ops import registry
from .sweep import Builder, Sweep

RNG = "@RNG@"
GROWING = frozenset({"array_append", "array_extend", "assign", "cond", "while_loop"})
"""Ops that leave the entries which a list has as they are."""
REPLACING = frozenset({"array_set", "write_to_array"})
"""Ops after which a list has as many entries or more, though others."""


class PastLists:
    """The lists that a loop grows, as they were in each iteration: the backward loop carries the list as it was after the
    iteration, and drops the entries that the iteration added.

    Attributes:
        exact: whether the entries are those of that time. If the loop also replaces entries, only length and shapes are.
        carried: (index of the loop variable, the list after the iteration, the list before it) for each list in use.
    """

    def __init__(self, sweep: Sweep, op: Operator, block: Block, step: Variable):
        self.sweep, self.op, self.block, self.step = sweep, op, block, step
        self.body: Block = op.attrs["body_block"]
        makers = list(_makers(self.body, self.body.results))
        self.exact = all(t in GROWING for t in makers)
        self.shrinks = any(t not in GROWING | REPLACING for t in makers)
        self.carried: list[tuple[int, Variable, Variable]] = []

    def recover(self, param: str, copy: Variable, saved: Variable) -> None:
        """Writes to the builder's place the ops that make `copy`, the list `param` of the forward body before the iteration.

        `saved` is the array with the length that the list had in each iteration.
        """
        index = self.body.params.index(param)
        after = self.block.create_var(None, copy.dtype, copy.shape, stem=f"{param}@AFTER", kind="array")
        b = Builder(self.block, self.sweep.state, self.op.location, index=0)
        length = b.op("read_from_array", X=saved, I=self.step)
        test, body = b.sub_block(), b.sub_block()
        rest = []
        for block in (test, body):
            rest.append(block.create_var(None, copy.dtype, copy.shape, stem=f"{param}@REST", kind="array"))
            block.params = [rest[-1].name]
        with b.inside(test):
            test.results = [b.less_than(length, b.op("lod_array_length", X=rest[0])).name]
        with b.inside(body):
            body.results = [b.op("array_pop", Array=rest[1])[0].name]
        attrs = {"cond_block": test, "body_block": body, "saved": []}
        b.apply(registry.get("while_loop"), ([after],), attrs, {"Out": [copy.name]})
        self.carried.append((index, after, copy))

    def check(self, kept: Iterable[Operator], used: bool) -> None:
        """GradientError if lists of earlier iterations are needed and cannot be had."""
        if not used:
            return
        stale = not self.exact and any(o.blocks and reads_entries(o) for o in kept)
        if self.shrinks or stale:
            what = "removes entries of" if self.shrinks else "replaces entries of"
            raise GradientError(f"no gradient through a loop that {what} a list which the gradient reads",
                                location=self.op.location, hint="collect the values in a tensor")  # fmt: skip


def _makers(block: Block, names: Iterable[str]) -> Iterator[str]:
    """The types of the ops that made these lists, from lists that came from outside the block."""
    made = {name: op for op in block.ops for name in op.output_names}
    queue = [name for name in names if block.var(name).kind == "array"]
    seen: set[str] = set()
    while queue:
        name = queue.pop()
        op = made.get(name)
        if op is None or name in seen:
            continue
        seen.add(name)
        yield op.type
        queue += [n for n in op.input_names if block.var(n).kind == "array"]
        for sub in op.blocks:
            yield from _makers(sub, sub.results)


def reads_entries(op: Operator) -> bool:
    """Whether an op, or one in its blocks, takes values out of a list."""
    for inner in [op, *(o for sub in op.blocks for o in all_ops(sub))]:
        if inner.type in ("read_from_array", "array_pop", "tensor_array_to_tensor"):
            return True
    return False


def draws(op: Operator) -> bool:
    """Whether the blocks of an op draw random numbers."""
    return any(RNG in o.output_names for sub in op.blocks for o in all_ops(sub))


def replay(sweep: Sweep, block: Block, copy: Operator, saved: Variable, step: Variable) -> list[Operator]:
    """The copy of an op between ops that give its draws the random state of the forward iteration, and take it back after."""
    state = block.var(RNG)
    spare = Block(block.program, block)
    b = Builder(spare, sweep.state, copy.location)
    now = b.op("rng_snapshot", State=state)
    then = b.op("read_from_array", X=saved, I=step)
    restore = registry.get("rng_restore")
    b.apply(restore, (state, then), {}, {"StateOut": [RNG]})
    spare.ops.append(copy)
    b.apply(restore, (state, now), {}, {"StateOut": [RNG]})
    for v in spare.vars.values():
        v.block = block
        block.vars[v.name] = v
    return spare.ops
