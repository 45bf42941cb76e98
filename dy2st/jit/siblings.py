"""Which results of a call are computed from other results of it: gradients flow between them inside, where nobody sees them."""

from __future__ import annotations

from collections.abc import Sequence

from dy2st_runtime.backward.activity import mark_active
from dy2st_runtime.ir import Operator, Program
from dy2st_runtime.ir.visit import all_ops, called

# what hands on values as they are: eagerly the user has one tensor before and behind them
_HAND_ON = {
    "array_append", "array_extend", "array_insert", "array_pop", "array_remove", "array_set", "array_take", "ensure_defined",
    "read_from_array", "replaced_value", "write_to_array",
}  # fmt: skip


def computed_from_others(program: Program, results: Sequence[str]) -> list[set[int]]:
    """For each result the positions of those that gradients come to it from within the program.

    Nobody knows which entries of a list are computed from others of it, so one that carries gradients is among those of itself.

    Args:
        program: the forward program.
        results: the names of the results, variables of its global block.
    """
    block = program.global_block()
    handed_on = _handed_on(program)
    found = []
    for i, name in enumerate(results):
        active = {name}
        stack = [name]
        while stack:  # what is handed on is used where it comes from, too
            new = [source for source in handed_on.get(stack.pop(), ()) if source not in active]
            active.update(new)
            stack += new
        mark_active(block.ops, block, active, frozenset())
        found.append({j for j, other in enumerate(results) if other in active and (j != i or block.var(name).kind == "array")})
    return found


def _handed_on(program: Program) -> dict[str, list[str]]:
    """Each variable that may be another one, with the names of these: outputs of control flow, params of loops and functions, lists."""
    found: dict[str, list[str]] = {}

    def add(names: Sequence[str], sources: Sequence[str]) -> None:
        for name, source in zip(names, sources, strict=True):
            found.setdefault(name, []).append(source)

    def look(op: Operator) -> None:
        if op.type == "cond":
            for branch in op.blocks:
                add(op.output("Out"), branch.results)
        elif op.type == "while_loop":
            body = op.attrs["body_block"]
            for names in (op.output("Out"), body.params):
                add(names, op.input("X"))
                add(names, body.results)
            add(op.output_names[len(body.params) :], op.attrs["saved"])
        elif op.function is not None:
            add(op.output("Out"), op.function.block.results)
            add(op.function.block.params, op.input("X"))
        elif op.type in _HAND_ON:
            for name in op.output_names:
                found.setdefault(name, []).extend(op.input_names)

    block = program.global_block()
    for op in all_ops(block):
        look(op)
    for function in called(block.ops):
        for op in all_ops(function.block):
            look(op)
    return found
