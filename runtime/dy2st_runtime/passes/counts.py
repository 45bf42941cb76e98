"""Which integer tensors are sizes, counts, and what is computed of such: they are surely no less than zero."""

from __future__ import annotations

from ..ir.program import Block, Operator
from .constants import fill_value

_MADE = frozenset({"shape", "size", "lod_array_length"})
_FILLED = frozenset({"fill_constant", "fill_any_like", "fill_zeros_like"})
_KEPT = frozenset({
    "slice", "cast", "assign", "reshape2", "squeeze2", "unsqueeze2", "concat", "stack", "gather",
    "elementwise_add", "elementwise_mul", "elementwise_max", "elementwise_min", "elementwise_floordiv", "elementwise_mod", "sum",
})  # fmt: skip
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
        """Adds the outputs of an op if they are counts. This is asked of each op by each analysis of shapes."""
        kind = op.type
        if kind in _KEPT:
            first = op.input("Input" if kind == "slice" else "X")
            if not first or first[0] not in self or not self.issuperset(first if kind in ("slice", "gather") else op.input_names):
                return
        elif kind in _FILLED:
            value = fill_value(op)
            if value is None or value < 0:
                return
        elif kind not in _MADE:
            return
        self.update(name for name in op.output_names if block.var(name).dtype in ("int32", "int64"))
