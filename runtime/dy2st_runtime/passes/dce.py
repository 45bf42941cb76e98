"""Dead-code elimination."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ..ir.functions import POPS, drop_unread_tapes, drop_unused_functions
from ..ir.program import Block, Operator, Program
from ..ir.visit import may_raise, reads
from .rewrite import RNG, forget, is_effect, saved_arrays
from .shapes import may_differ


def dce(program: Program, keep: frozenset[str] = frozenset()) -> bool:
    """Removes ops whose values nobody needs, results of `cond` and loop variables among them.

    What is needed: the variables of `keep`, the values of persistables after the run, and all that effects read. An
    op that can raise because of values stays, and so does one that can because of sizes: eager raises there too.

    >>> from dy2st_runtime.ir import IRBuilder, Program
    >>> program = Program()
    >>> block = program.global_block()
    >>> x = block.create_var("x", "float32", [3], is_data=True)
    >>> b = IRBuilder(block)
    >>> y, unused = b.elementwise_add(x, x), b.elementwise_mul(x, x)
    >>> dce(program, frozenset({y.name}))
    True
    >>> print(program)
    program {
      data x: float32[3]
      elementwise_add.Out_0: float32[3] = elementwise_add(X=x, Y=x)
    }
    <BLANKLINE>
    """
    changed = drop_unused_functions(program)
    if changed:
        program.version += 1
    while True:
        wanted = [*keep, *program.updates.values()]
        # the sizes are looked at before anything is dropped, and only if something may be
        walk = _Walk(saved_arrays(program), may_differ(program) if _has_unread(program, wanted) else frozenset())
        walk.block(program.global_block(), wanted)
        for f in program.functions.values():
            walk.block(f.block, ())
        changed |= walk.changed
        again = drop_unread_tapes(program)  # what was computed for a tape only
        if walk.changed or again:
            program.version += 1
        if not again:
            return changed
        changed = True


class _Walk:
    """One walk over a program.

    Args:
        saved: the arrays in which a loop keeps values for its gradient.
        may_differ: the ids of the ops that can fail because of sizes.
    """

    def __init__(self, saved: set[str], may_differ: Collection[int]) -> None:
        self.saved, self.may_differ = saved, may_differ
        self.changed = False

    def stays(self, op: Operator, block: Block) -> bool:
        """Whether an op must run though nobody reads its outputs."""
        if (op.type == "read_from_array" and op.input("X")[0] in self.saved) or op.type in POPS:
            return False
        return is_effect(op, block) or may_raise(op, block) or id(op) in self.may_differ

    def block(self, block: Block, wanted: Iterable[str]) -> None:
        """Drops what leads neither to the wanted names, nor to the block's results, nor to an effect."""
        live = {*wanted, *block.results}
        kept: list[Operator] = []
        for op in reversed(block.ops):
            if op.type == "cond":
                self._cond(op, live)
            elif op.type == "while_loop":
                self._loop(op, block, live)
            elif op.blocks:
                for sub in op.blocks:
                    self.block(sub, ())
            if any(name in live for name in op.output_names) or self.stays(op, block):
                kept.append(op)
                live.update(reads(op))
            else:
                forget(block, op)
                self.changed = True
        block.ops[:] = reversed(kept)

    def _cond(self, op: Operator, live: set[str]) -> None:
        outs = op.output("Out")
        used = [i for i, out in enumerate(outs) if out in live]
        self._shrink(op, "Out", used)
        for branch in op.blocks:
            branch.results = [branch.results[i] for i in used]
            self.block(branch, ())

    def _shrink(self, op: Operator, slot: str, used: list[int]) -> None:
        names = op.output(slot)
        if len(used) == len(names):
            return
        for i, name in enumerate(names):
            if i not in used:
                self._owner(op).vars.pop(name, None)
        op.outputs[slot] = [names[i] for i in used]
        self.changed = True

    @staticmethod
    def _owner(op: Operator) -> Block:
        parent = op.blocks[0].parent
        assert parent is not None  # a sub-block has one
        return parent

    def _loop(self, op: Operator, block: Block, live: set[str]) -> None:
        test, body = op.attrs["cond_block"], op.attrs["body_block"]
        saved = [i for i, name in enumerate(op.output("Saved")) if name in live]
        op.attrs["saved"] = [op.attrs["saved"][i] for i in saved]
        self._shrink(op, "Saved", saved)
        used = self._used_state(op, live)
        dropped = [(part, p) for part in (test, body) for i, p in enumerate(part.params) if i not in used]
        if dropped:
            for part in (test, body):
                part.params = [part.params[i] for i in used]
            op.inputs["X"] = [op.inputs["X"][i] for i in used]
            body.results = [body.results[i] for i in used]
            self._shrink(op, "Out", used)
        self.block(test, ())
        self.block(body, op.attrs["saved"])
        for part, param in dropped:  # only now, as the ops that read it are asked whether they may raise
            part.vars.pop(param)

    def _used_state(self, op: Operator, live: set[str]) -> list[int]:
        """The loop variables that are read after the loop, by its condition, by an effect, or by what these need."""
        test, body = op.attrs["cond_block"], op.attrs["body_block"]
        needed_by = self._dependencies(body)
        tested = _closure(self._dependencies(test), [*test.results, *self._anchors(test)])
        used = {
            i
            for i, (out, p) in enumerate(zip(op.output("Out"), test.params, strict=True))
            if out in live or p in tested
        }
        roots = _closure(needed_by, [*op.attrs["saved"], *self._anchors(body)])
        used |= {i for i, p in enumerate(body.params) if p in roots}
        while True:
            reached = _closure(needed_by, [body.results[i] for i in used])
            more = {i for i, p in enumerate(body.params) if p in reached} - used
            if not more:
                return sorted(used)
            used |= more

    def _anchors(self, block: Block) -> list[str]:
        """What the ops that always stay read."""
        return [name for op in block.ops if self.stays(op, block) for name in reads(op) if name != RNG]

    def _dependencies(self, block: Block) -> dict[str, list[str]]:
        """What each name of a block is computed from; for a `cond`, result by result."""
        found: dict[str, list[str]] = {}
        for op in block.ops:
            if op.type == "cond":
                inner = [(self._dependencies(branch), branch.results, self._anchors(branch)) for branch in op.blocks]
                for i, out in enumerate(op.output("Out")):
                    found[out] = list(op.input("Cond"))
                    for needed_by, results, anchors in inner:
                        found[out] += _closure(needed_by, [results[i], *anchors])
            else:
                found.update(dict.fromkeys(op.output_names, reads(op)))
        return found


def _has_unread(program: Program, wanted: Iterable[str]) -> bool:
    """Whether there are open sizes, and an op that has values which nobody reads: it may be dropped, and with it those it reads from."""
    read = set(wanted)
    for block in program.blocks:
        read.update(block.results)
        for op in block.ops:
            read.update(op.input_names, op.attrs.get("saved", ()))
    if not any(-1 in v.shape for block in program.blocks for v in block.vars.values()):
        return False
    unread = ((op, [name not in read for name in op.output_names]) for block in program.blocks for op in block.ops)
    return any(any(found) if op.blocks else all(found) for op, found in unread)


def _closure(needed_by: dict[str, list[str]], roots: Iterable[str]) -> set[str]:
    """The names that the roots depend on, themselves included."""
    found: set[str] = set()
    queue = list(roots)
    while queue:
        name = queue.pop()
        if name not in found:
            found.add(name)
            queue.extend(needed_by.get(name, ()))
    return found
