"""Elementwise ops whose operands must be of one shape: that they are is checked before them, where only the run knows."""

from __future__ import annotations

from ..ir.program import Block, Operator, Program
from ..ir.visit import all_ops
from .rewrite import Forward
from .shapes import Shapes, same_shape, symbolic_shapes


def one_shape(program: Program, keep: frozenset[str] = frozenset()) -> bool:
    """Puts a `same_shape` before each such op whose sizes may not fit. Its kernel, and that of a group it is fused into, broadcast.

    >>> from dy2st_runtime.ir import IRBuilder
    >>> program = Program()
    >>> block = program.global_block()
    >>> x, label = (block.create_var(name, "float32", [-1, 3], is_data=True) for name in ("x", "label"))
    >>> loss = IRBuilder(block).bce_loss(x, label)
    >>> one_shape(program, frozenset({loss.name}))
    True
    >>> print(program)
    program {
      data x: float32[?, 3]
      data label: float32[?, 3]
      label.checked_0: float32[?, 3] = same_shape(X=label, Like=x, what='bce_loss: the label and the input')
      bce_loss.Out_0: float32[?, 3] = bce_loss(X=x, Label=label.checked_0)
    }
    <BLANKLINE>
    >>> one_shape(program, frozenset({loss.name}))
    False
    """
    if not any(op.record.of_one_shape for root in program.roots for op in all_ops(root)):
        return False
    return _Walk(program, keep).run()


class _Walk(Forward):
    def __init__(self, program: Program, keep: frozenset[str]):
        super().__init__(program, keep)
        self.shapes: Shapes = symbolic_shapes(program)

    def visit(self, op: Operator, block: Block) -> list[Operator]:
        if not op.record.of_one_shape or id(op) not in self.shapes.unproven:
            return [op]
        first, made = op.input_names[0], []
        for slot, (name,) in op.inputs.items():
            if not same_shape(self.shapes, first, name):
                v = block.var(name)
                checked = block.create_var(None, v.dtype, v.shape, stem=f"{name}.checked")
                made.append(Operator("same_shape", {"X": [name], "Like": [first]}, {"Out": [checked.name]},
                                     {"what": f"{op.record.title}: {op.record.of_one_shape}"}, op.location))  # fmt: skip
                op.inputs[slot] = [checked.name]
        self.changed |= bool(made)
        return [*made, op]
