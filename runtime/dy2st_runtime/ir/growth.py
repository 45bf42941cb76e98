"""How a list relates to one that it was made from: whether it has only grown."""

from __future__ import annotations

from .program import Block, Operator

REPLACING = frozenset({"array_set", "write_to_array"})
"""Ops after which a list has as many entries or more, though others."""
LOST, REPLACED, GROWN = range(3)
"""How a list relates to an earlier one: it tells nothing of it; has its entries, with others in the place of some; begins with its
entries."""


def relation(body: Block, name: str, start: str) -> int:
    """How the list `name` relates to the list `start`; both are variables that a block sees."""
    return _relation(body, name, start, body)


def _relation(block: Block, name: str, start: str, body: Block) -> int:
    """The same, as `block` (in `body`) sees them."""
    if name == start:
        return GROWN
    made: Operator | None = None
    while made is None:
        made = next((op for op in block.ops if name in op.output_names), None)
        if made is None and (block is body or block.parent is None or name in block.params):
            return LOST
        if made is None:
            block = block.parent  # type: ignore[assignment]
    if made.type in ("array_append", "array_extend", "assign", "ensure_defined"):
        return _relation(block, made.input("X" if made.type in ("assign", "ensure_defined") else "Array")[0], start, body)
    if made.type in REPLACING and made.input("Array"):
        return min(REPLACED, _relation(block, made.input("Array")[0], start, body))
    if made.type == "cond":
        i = made.output("Out").index(name)
        return min(_relation(b, b.results[i], start, body) for b in made.blocks)
    if made.type == "while_loop" and name in made.output("Out"):
        i, inner = made.output("Out").index(name), made.attrs["body_block"]
        within = _relation(inner, inner.results[i], inner.params[i], inner)
        return min(within, _relation(block, made.input("X")[i], start, body))
    return LOST
