"""What passes share: a forward walk that replaces values by equal ones, and the questions they ask about ops."""

from __future__ import annotations

from collections.abc import Iterator

from ..ir.program import Block, Operator, Program

RNG = "@RNG@"
"""The state of the random generator: it is updated in place, in order, and never renamed."""


def is_effect(op: Operator, block: Block) -> bool:
    """Whether an op, in a Program in `ssa` form, must run in order even if nobody reads its outputs."""
    if op.record.effect or any(block.var(name).persistable for name in op.output_names):
        return True
    return any(is_effect(inner, sub) for sub in op.blocks for inner in sub.ops)


def roots_of(block: Block, keep: frozenset[str]) -> set[str]:
    """What a block makes for others than its own ops: results, what a loop saves of it; of the first block what is kept or updated."""
    if block.parent is None:
        return {*keep, *block.program.updates.values()}
    # asked of each block, so the ops around are looked at no closer than this
    saved = (n for op in block.parent.ops if op.attrs.get("body_block") is block for n in op.attrs.get("saved", ()))
    return {*block.results, *saved}


def saved_arrays(program: Program) -> set[str]:
    """The arrays that loops save for their gradients: reading them, as only backward loops do, does not fail."""
    found: set[str] = set()
    for root in program.roots:
        _find_saved(root, found)
    return found


def _find_saved(block: Block, found: set[str]) -> None:
    for op in block.ops:
        for sub in op.blocks:
            _find_saved(sub, found)
        found.update(op.output("Saved") if op.type == "while_loop" else ())
        if op.type == "cond":
            for branch in op.blocks:
                found.update(o for o, r in zip(op.output("Out"), branch.results, strict=True) if r in found)


def all_blocks(block: Block) -> Iterator[Block]:
    """A block and all below it, outer before inner."""
    yield block
    for op in block.ops:
        for sub in op.blocks:
            yield from all_blocks(sub)


def forget(block: Block, op: Operator) -> None:
    """Removes the declarations of an op's outputs, after the op was dropped."""
    for name in op.output_names:
        block.vars.pop(name, None)


class Forward:
    """A walk over all ops in order, during which a name can be replaced by one that has the same value.

    Subclasses say in `visit` what becomes of an op. Its inputs are already replaced, and so are the ops in its blocks.

    Attributes:
        program: what is rewritten.
        keep: names that must stay (fetches).
        changed: whether anything was rewritten.
    """

    def __init__(self, program: Program, keep: frozenset[str]):
        self.program, self.keep = program, keep
        self.same: dict[str, str] = {}
        self.changed = False

    def run(self) -> bool:
        """Walks the whole Program; whether anything changed."""
        for root in self.program.roots:
            self.root(root)
        updates = self.program.updates
        for name, final in updates.items():
            updates[name] = self.name(final)
        if self.changed:
            self.program.version += 1
        return self.changed

    def name(self, name: str) -> str:
        """What stands for a name."""
        while name in self.same:
            name = self.same[name]
        return name

    def root(self, block: Block) -> None:
        """Walks the global block or that of a function."""
        self.block(block)

    def block(self, block: Block) -> None:
        """Walks a block and those below it."""
        ops: list[Operator] = []
        for op in block.ops:
            for slot, names in op.inputs.items():
                op.inputs[slot] = [self.name(n) for n in names]
            self.enter(op, block)
            for sub in op.blocks:
                self.block(sub)
            if "saved" in op.attrs:
                op.attrs["saved"] = [self.name(n) for n in op.attrs["saved"]]
            ops += self.visit(op, block)
        block.ops[:] = ops
        block.results = [self.name(n) for n in block.results]

    def enter(self, op: Operator, block: Block) -> None:
        """Called before the blocks of an op are walked."""

    def visit(self, op: Operator, block: Block) -> list[Operator]:
        """The ops that stand for an op: itself, none, others."""
        raise NotImplementedError

    def can_replace(self, name: str, by: str, block: Block) -> bool:
        """Whether all readers of a value may read another of the same type instead.

        Not if it is fetched by its name, nor if it is the next value of a persistable and the other may be overwritten
        when persistables get theirs.
        """
        if name in self.keep or block.var(name).persistable:
            return False
        old, new = block.var(name), block.var(by)
        if (new.persistable or new.is_data) and name in self.program.updates.values():
            return False
        # the readers may rely on sizes that are declared for the old name only; these hold for the new one too
        if all(b != -1 or a == -1 for a, b in zip(old.shape, new.shape, strict=True)):
            return True
        return not (new.persistable or new.is_data or by in new.block.params)

    def replace(self, op: Operator, block: Block, by: list[str]) -> list[Operator]:
        """Drops an op whose outputs equal other values; keeps it if one of them must stay."""
        outs = op.output_names
        if not all(self.can_replace(out, other, block) for out, other in zip(outs, by, strict=True)):
            return [op]
        for out, other in zip(outs, by, strict=True):
            self.take(out, other, block)
        return []

    def take(self, name: str, by: str, block: Block) -> None:
        """Lets all readers of a variable of this block read another one, and removes it."""
        old, new = block.vars.pop(name), block.var(by)
        new.shape = tuple(a if b == -1 else b for a, b in zip(old.shape, new.shape, strict=True))
        self.same[name] = by
        self.changed = True
