"""Functions of a Program as a whole: what they read of the blocks around them, those that nobody calls, tapes that nobody reads."""

from __future__ import annotations

from .program import Block, Function, Operator, Program, Variable
from .visit import all_ops, called, declare_like, own_free_names, rename_reads

PUSHES = ("tape_push", "tape_extend")
POPS = ("tape_pop", "tape_take")
_MADE = ("create_tape", "create_total")


def is_tape_op(op: Operator) -> bool:
    """Whether an op has no other effect than one on a tape or a total."""
    return op.type in _MADE or op.type in PUSHES or op.type in POPS or op.type in ("total_add", "total_take")


def tapes(block: Block) -> set[str]:
    """The names of the tapes and totals that are made in the global block; all functions see them."""
    return {name for op in block.ops if op.type in _MADE for name in op.output_names}


def drop_unused_functions(program: Program) -> bool:
    """Removes the functions that no op of the global block leads to; whether there were any."""
    used = {f.name for f in called(program.global_block().ops)}
    unused = [name for name in program.functions if name not in used]
    for name in unused:
        del program.functions[name]
    return bool(unused)


def drop_unread_tapes(program: Program) -> bool:
    """Removes what is pushed on tapes from which nothing is popped, as in a model without its gradient, and added to totals that
    nobody takes; whether there were any."""
    readers = (*POPS, "total_take")
    read = {op.input_names[0] for root in program.roots for op in all_ops(root) if op.type in readers}
    changed = False
    for block in program.blocks:
        kept = []
        for op in block.ops:
            made = op.output_names[0] if op.type in _MADE else None
            written = op.input_names[0] if op.type in (*PUSHES, "total_add") else made
            if written is None or written in read:
                kept.append(op)
            elif made is not None:
                block.vars.pop(made, None)
        changed |= len(kept) < len(block.ops)
        block.ops[:] = kept
    return changed


def lift_functions(program: Program) -> None:
    """Closure conversion: what functions read of the blocks in which they were written becomes params, so that they stand beside the
    global block. Until then the block of a function may have any block as its parent. Tapes and totals stay what all functions see."""
    known_to_all = tapes(program.global_block())
    needs = {name: _needs(f.block, known_to_all) for name, f in program.functions.items()}
    inside = {name: {n for block in _tree(f.block) for n in block.vars} for name, f in program.functions.items()}
    calls = {name: [op.function.name for op in all_ops(f.block) if op.function is not None] for name, f in program.functions.items()}
    known = -1
    while known != sum(map(len, needs.values())):
        known = sum(map(len, needs.values()))
        for name, callees in calls.items():
            for callee in callees:
                needs[name].update(dict.fromkeys(n for n in needs[callee] if n not in inside[name]))
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


def _needs(block: Block, known_to_all: set[str]) -> dict[str, None]:
    return dict.fromkeys(n for n in own_free_names(block) if not block.var(n).persistable and n not in known_to_all)


def _tree(block: Block) -> list[Block]:
    return [block, *(inner for op in block.ops for sub in op.blocks for inner in _tree(sub))]


def merge_functions(program: Program) -> None:
    """Makes functions that do the same one: those that were written several times, as each place that calls them was."""
    functions = list(program.functions.values())
    classes = dict.fromkeys(functions, 0)
    while True:  # all are the same until something tells them apart; what they call counts by its class
        forms = [(tuple(f.result_types), _form(f.block, {}, classes)) for f in functions]
        refined = {f: forms.index(form) for f, form in zip(functions, forms, strict=True)}
        if refined == classes:
            break
        classes = refined
    if len(set(classes.values())) == len(functions):
        return
    for op in [op for root in program.roots for op in all_ops(root)]:
        if op.function is not None:
            op.attrs["function"] = functions[classes[op.function]]
    drop_unused_functions(program)


def _form(block: Block, names: dict[str, str], classes: dict[Function, int]) -> tuple:
    """A block without the names that it gives; names from outside are their own."""
    for param in block.params:
        names[param] = f"%{len(names)}"
    ops = []
    for op in block.ops:
        inner = {k: _form(v, dict(names), classes) for k, v in op.attrs.items() if isinstance(v, Block)}
        attrs = {k: classes[v] if isinstance(v, Function) else repr(v) for k, v in op.attrs.items() if k not in inner}
        inputs = {slot: [names.get(n, n) for n in ns] for slot, ns in op.inputs.items()}
        for name in op.output_names:
            if not block.var(name).persistable:
                names[name] = f"%{len(names)}"
        # one that was written under `no_grad()` is another than one that was not
        outputs = {slot: [(names.get(n, n), *_kind(block.var(n))) for n in ns] for slot, ns in op.outputs.items()}
        ops.append((op.type, *(sorted(part.items()) for part in (inputs, outputs, attrs, inner))))
    params = [(names[n], *_kind(block.vars[n])) for n in block.params]
    return params, ops, [names.get(n, n) for n in block.results]


def _kind(v: Variable) -> tuple[str, bool]:
    return str(v.type), v.stop_gradient
