"""Functions of a Program as a whole: what they read of the blocks around them, those that nobody calls, tapes that nobody reads."""

from __future__ import annotations

from .program import Block, Operator, Program
from .visit import all_ops, called, declare_like, own_free_names, rename_reads

PUSHES = ("tape_push", "tape_extend")
POPS = ("tape_pop", "tape_take")


def is_tape_op(op: Operator) -> bool:
    """Whether an op has no other effect than one on a tape."""
    return op.type == "create_tape" or op.type in PUSHES or op.type in POPS


def tapes(block: Block) -> set[str]:
    """The names of the tapes that are made in the global block; all functions see them."""
    return {name for op in block.ops if op.type == "create_tape" for name in op.output_names}


def drop_unused_functions(program: Program) -> bool:
    """Removes the functions that no op of the global block leads to; whether there were any."""
    used = {f.name for f in called(program.global_block().ops)}
    unused = [name for name in program.functions if name not in used]
    for name in unused:
        del program.functions[name]
    return bool(unused)


def drop_unread_tapes(program: Program) -> bool:
    """Removes what is pushed on tapes from which nothing is popped, as in a model without its gradient; whether there were any."""
    popped = {op.input("Tape")[0] for root in program.roots for op in all_ops(root) if op.type in POPS}
    changed = False
    for block in program.blocks:
        kept = []
        for op in block.ops:
            unread = (op.type == "create_tape" and op.output("Out")[0] not in popped) or (
                op.type in PUSHES and op.input("Tape")[0] not in popped
            )
            if not unread:
                kept.append(op)
            elif op.type == "create_tape":
                block.vars.pop(op.output("Out")[0], None)
        changed |= len(kept) < len(block.ops)
        block.ops[:] = kept
    return changed


def lift_functions(program: Program) -> None:
    """Closure conversion: what functions read of the blocks in which they were written becomes params, so that they stand beside the
    global block. Until then the block of a function may have any block as its parent."""
    needs = {name: _needs(f.block) for name, f in program.functions.items()}
    inside = {name: {n for block in _tree(f.block) for n in block.vars} for name, f in program.functions.items()}
    calls = {name: [op for op in all_ops(f.block) if op.function is not None] for name, f in program.functions.items()}
    known = -1
    while known != sum(map(len, needs.values())):
        known = sum(map(len, needs.values()))
        for name, ops in calls.items():
            for op in ops:
                needs[name].update(dict.fromkeys(n for n in needs[op.function.name] if n not in inside[name]))
    for root in program.roots:
        for op in all_ops(root):
            if op.function is not None:
                op.inputs["X"] = [*op.input("X"), *needs[op.function.name]]
    for name, f in program.functions.items():
        params = {}
        for n in needs[name]:
            v = declare_like(f.block, f.block.var(n), program.fresh_name(n))
            v.is_data = False
            params[n] = v.name
        f.block.params += params.values()
        rename_reads(f.block, params)
    for f in program.functions.values():
        f.block.parent = program.global_block()


def _needs(block: Block) -> dict[str, None]:
    return dict.fromkeys(n for n in own_free_names(block) if not block.var(n).persistable)


def _tree(block: Block) -> list[Block]:
    return [block, *(inner for op in block.ops for sub in op.blocks for inner in _tree(sub))]
