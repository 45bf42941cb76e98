"""Which integer tensors are sizes, counts, and what is computed of such: they are surely no less than zero."""

from __future__ import annotations

from ..ir.program import Block, Operator
from .constants import fill_value

_MADE = ("shape", "size", "lod_array_length")
_KEPT = (
    "slice", "cast", "assign", "reshape2", "squeeze2", "unsqueeze2", "concat", "stack", "gather",
    "elementwise_add", "elementwise_mul", "elementwise_max", "elementwise_min", "elementwise_floordiv", "elementwise_mod", "sum",
)  # fmt: skip
"""What gives counts of counts."""


class Counts(set[str]):
    """The names of these tensors; each op is noted behind those whose outputs it reads.

    >>> from dy2st_runtime.ir import IRBuilder, Program
    >>> program = Program()
    >>> block = program.global_block()
    >>> x, n = block.create_var("x", "float32", [-1], is_data=True), block.create_var("n", "int64", [1], is_data=True)
    >>> b = IRBuilder(block)
    >>> size = b.cast(b.shape(x), in_dtype="int32", out_dtype="int64")
    >>> more, less = b.elementwise_add(size, size), b.elementwise_sub(size, n)
    >>> counts = Counts()
    >>> for op in block.ops:
    ...     counts.note(op, block)
    >>> [v.name in counts for v in (size, more, less)]
    [True, True, False]
    """

    def note(self, op: Operator, block: Block) -> None:
        """Adds the outputs of an op if they are counts."""
        value = fill_value(op)
        if op.type in _MADE or (value is not None and value >= 0) or (op.type in _KEPT and self.issuperset(_read(op))):
            self.update(name for name in op.output_names if block.var(name).dtype in ("int32", "int64"))


def _read(op: Operator) -> list[str]:
    return op.input("Input" if op.type == "slice" else "X") if op.type in ("slice", "gather") else op.input_names
