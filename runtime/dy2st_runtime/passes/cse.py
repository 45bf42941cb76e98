"""Common subexpressions."""

from __future__ import annotations

from typing import Any

from ..ir.program import Block, Operator, Program
from .rewrite import Forward, is_effect


def cse(program: Program, keep: frozenset[str] = frozenset()) -> bool:
    """Computes equal expressions once: same op, inputs and attributes. Blocks see the expressions of the blocks around them.

    Effects, and ops with blocks, are left alone.

    >>> from dy2st_runtime.ir import IRBuilder, Program
    >>> program = Program()
    >>> block = program.global_block()
    >>> x = block.create_var("x", "float32", [3], is_data=True)
    >>> b = IRBuilder(block)
    >>> y = b.elementwise_mul(b.tanh(x), b.tanh(x))
    >>> cse(program, frozenset({y.name}))
    True
    >>> print(program)
    program {
      data x: float32[3]
      tanh.Out_0: float32[3] = tanh(X=x)
      elementwise_mul.Out_0: float32[3] = elementwise_mul(X=tanh.Out_0, Y=tanh.Out_0)
    }
    <BLANKLINE>
    """
    return _Walk(program, keep).run()


class _Walk(Forward):
    def __init__(self, program: Program, keep: frozenset[str]):
        super().__init__(program, keep)
        self.scopes: list[dict[Any, Operator]] = []

    def block(self, block: Block) -> None:
        self.scopes.append({})
        super().block(block)
        self.scopes.pop()

    def visit(self, op: Operator, block: Block) -> list[Operator]:
        if op.blocks or is_effect(op, block):
            return [op]
        key = _key(op)
        earlier = next((scope[key] for scope in reversed(self.scopes) if key in scope), None)
        if earlier is None:
            self.scopes[-1][key] = op
            return [op]
        return self.replace(op, block, earlier.output_names)


def _key(op: Operator) -> Any:
    """What makes two ops equal; the slots that have outputs among them. What is computed again is not what was computed before."""
    outputs = tuple((slot, len(names)) for slot, names in op.outputs.items() if names)
    inputs = tuple((slot, tuple(names)) for slot, names in op.inputs.items() if names)
    return op.type, inputs, outputs, op.segments, repr(sorted(op.attrs.items()))
