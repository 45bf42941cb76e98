"""Sums of few terms as additions, which are fused with what makes the terms and with what reads the sum."""

from __future__ import annotations

from itertools import pairwise

from ..ir.absent import maybe_absent
from ..ir.program import Block, Operator, Program
from ..ir.visit import all_ops
from ..ops import registry
from .rewrite import Forward
from .shapes import symbolic_shapes

MAX_TERMS = 12
"""A sum of more terms stays one: a group of elementwise ops takes only so many inputs, and it would be taken apart."""
_ADD = registry.get("elementwise_add")


def sums(program: Program, keep: frozenset[str] = frozenset()) -> bool:
    """Makes additions of sums of tensors that are surely of one shape, if all terms are there or none is.

    >>> from dy2st_runtime.ir import IRBuilder
    >>> program = Program()
    >>> x, y, z = (program.global_block().create_var(name, "float32", [3], is_data=True) for name in "xyz")
    >>> total = IRBuilder(program.global_block()).op("sum", X=[x, y, z])
    >>> sums(program, frozenset({total.name}))
    True
    >>> print(program)
    program {
      data x: float32[3]
      data y: float32[3]
      data z: float32[3]
      sum.terms_0: float32[3] = elementwise_add(X=x, Y=y)
      sum.Out_0: float32[3] = elementwise_add(X=sum.terms_0, Y=z)
    }
    <BLANKLINE>
    """
    if not any(op.type == "sum" for root in program.roots for op in all_ops(root)):
        return False
    return _Walk(program, keep).run()


class _Walk(Forward):
    def __init__(self, program: Program, keep: frozenset[str]):
        super().__init__(program, keep)
        self.absent, self.unproven = maybe_absent(program), symbolic_shapes(program).unproven
        self.missing: dict[str, frozenset[str]] = {}  # a name that may be absent → it is if one of these is, and only then

    def visit(self, op: Operator, block: Block) -> list[Operator]:
        self._note(op)
        (first, *others) = op.input("X") if op.type == "sum" else ("",)
        if not others or len(others) >= MAX_TERMS or id(op) in self.unproven:
            return [op]
        v = block.var(first)
        if v.kind != "dense" or v.dtype == "bool" or any(
                self._missing(name) != self._missing(first) for name in others):  # fmt: skip
            return [op]
        self.changed = True
        out = block.var(op.output_names[0])
        self.missing[out.name] = self._missing(first)
        names = [first, *(block.create_var(None, out.dtype, out.shape, stem="sum.terms").name for _ in others[1:]), out.name]
        attrs = _ADD.complete_attrs({})
        return [Operator("elementwise_add", {"X": [total], "Y": [name]}, {"Out": [new]}, attrs, op.location)
                for (total, new), name in zip(pairwise(names), others, strict=True)]  # fmt: skip

    def _missing(self, name: str) -> frozenset[str]:
        return self.missing.get(name, frozenset((name,) if name in self.absent else ()))

    def _note(self, op: Operator) -> None:
        """An op is skipped as a whole where one of its inputs is absent, if it is not one that looks at that itself."""
        if op.record.handles_absent or op.record.never_absent or op.record.inplace or op.blocks or op.function is not None:
            return
        found = frozenset[str]().union(*map(self._missing, op.input_names))
        self.missing.update((name, found) for name in op.output_names if name in self.absent)
