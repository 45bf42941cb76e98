"""How a list relates to one that it was made from: whether it has only grown."""

from __future__ import annotations

from .program import Block, Operator

REPLACING = frozenset({"array_set", "write_to_array"})
"""Ops after which a list has as many entries or more, though others."""
LOST, REPLACED, GROWN = range(3)
"""How a list relates to an earlier one: it tells nothing of it; has its entries, with others in the place of some; begins with its
entries."""


def relation(body: Block, name: str, start: str) -> int:
    """How the list `name` relates to the list `start`; both are variables that a block sees.

    It is what the worst of the ways says that lead from one to the other. Each op on them is looked at once: behind many branches there are
    more ways than could be gone one by one.
    """
    makers: dict[int, dict[str, Operator]] = {}

    def producer(block: Block | None, name: str) -> tuple[Block, Operator] | None:
        """The op that gives a variable its value, as a block sees it, and where that op is; None if it is no op inside of `body`."""
        while block is not None:
            if id(block) not in makers:
                makers[id(block)] = {out: op for op in block.ops for out in op.output_names}
            if name in makers[id(block)]:
                return block, makers[id(block)][name]
            if block is body or name in block.params:
                return None
            block = block.parent
        return None

    worst, left, seen = GROWN, [(body, name)], {(id(body), name)}
    while left:
        block, name = left.pop()
        if name == start:
            continue
        found = producer(block, name)
        if found is None:
            return LOST
        block, op = found
        ways: list[tuple[Block, str]] = []
        if op.type in ("assign", "ensure_defined"):
            ways.append((block, op.input("X")[0]))
        elif op.type in ("array_append", "array_extend") or (op.type in REPLACING and op.input("Array")):
            ways.append((block, op.input("Array")[0]))
            worst = min(worst, REPLACED if op.type in REPLACING else GROWN)
        elif op.type == "cond":
            i = op.output("Out").index(name)
            ways += [(branch, branch.results[i]) for branch in op.blocks]
        elif op.type == "while_loop" and name in op.output("Out"):
            i, inner = op.output("Out").index(name), op.attrs["body_block"]
            worst = min(worst, relation(inner, inner.results[i], inner.params[i]))
            ways.append((block, op.input("X")[i]))
        else:
            return LOST
        for way in ways:
            if (id(way[0]), way[1]) not in seen:
                seen.add((id(way[0]), way[1]))
                left.append(way)
    return worst
