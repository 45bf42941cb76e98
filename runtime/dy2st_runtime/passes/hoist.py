"""Loop-invariant code motion."""

from __future__ import annotations

import math

from ..ir.program import Block, Operator, Program
from ..ir.visit import may_raise
from .constants import LIMIT
from .rewrite import Forward, is_effect


def hoist(program: Program, keep: frozenset[str] = frozenset()) -> bool:
    """Moves ops that do the same in every iteration out of `while_loop`, from nested loops as far as they can go.

    A loop may run no iteration at all, and then eager does none of its work. So only ops move that cost next to nothing (all
    sizes known and small: the constants that a counter or a condition needs, above all), that cannot raise and have no
    effect. A large invariant product stays: moving it would be right only under a test of the loop's condition.

    >>> from dy2st_runtime.ir import IRBuilder, Program
    >>> program = Program()
    >>> block = program.global_block()
    >>> n = block.create_var("n", "int64", [], is_data=True)
    >>> b = IRBuilder(block)
    >>> test, body = b.sub_block(), b.sub_block()
    >>> for part, name in ((test, "i"), (body, "j")):
    ...     part.params = [part.create_var(name, "int64").name]
    >>> with b.inside(test):
    ...     test.results = [b.less_than(test.var("i"), n).name]
    >>> with b.inside(body):
    ...     body.results = [b.elementwise_add(body.var("j"), b.constant(2, "int64")).name]
    >>> outs, _ = b.while_loop([n], cond_block=test, body_block=body)
    >>> hoist(program, frozenset({outs[0].name}))
    True
    >>> print(program)
    program {
      data n: int64[]
      fill_constant.Out_0: int64[] = fill_constant(dtype='int64', value=2)
      while_loop.Out_0: int64[] = while_loop(X=[n])
        cond_block(i: int64[]):
          less_than.Out_0: bool[] = less_than(X=i, Y=n)
          yield less_than.Out_0
        body_block(j: int64[]):
          elementwise_add.Out_0: int64[] = elementwise_add(X=j, Y=fill_constant.Out_0)
          yield elementwise_add.Out_0
    }
    <BLANKLINE>
    """
    return _Walk(program, keep).run()


class _Walk(Forward):
    def visit(self, op: Operator, block: Block) -> list[Operator]:
        if op.type != "while_loop":
            return [op]
        moved = [one for part in op.blocks for one in _take_invariant(part, block)]
        self.changed |= bool(moved)
        return [*moved, op]


def _take_invariant(part: Block, outside: Block) -> list[Operator]:
    """Removes the ops of a loop's block that can run before the loop, and declares their outputs there."""
    moved = []
    for op in list(part.ops):
        if any(name in part.vars for name in op.input_names) or not _is_free(op, part):
            continue
        part.ops.remove(op)
        moved.append(op)
        for name in op.output_names:
            v = outside.vars[name] = part.vars.pop(name)
            v.block = outside
    return moved


def _is_free(op: Operator, block: Block) -> bool:
    if op.blocks or op.record.host or is_effect(op, block) or may_raise(op, block):
        return False
    variables = [block.var(name) for name in (*op.input_names, *op.output_names)]
    return all(v.kind == "dense" and -1 not in v.shape and math.prod(v.shape) <= LIMIT for v in variables)
