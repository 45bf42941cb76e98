"""The elementwise ops that make what a reduction folds become a part of it."""

from __future__ import annotations

from collections import Counter

from ..ir.absent import maybe_absent
from ..ir.program import Block, Operator, Program
from ..ir.visit import may_raise, reads
from ..ops.folding import Folding
from ..ops.fused import GROUPS
from .fuse import as_one, is_elementwise, opened
from .rewrite import is_effect, roots_of


def prologue(program: Program, keep: frozenset[str] = frozenset()) -> bool:
    """Makes an elementwise op or group and the reduction that alone reads one of its outputs one op: each element is folded as soon as it
    is there, and no tensor of them is stored.

    The reduction runs where the group stood; nothing moves across effects or ops that can raise because of values.

    >>> from dy2st_runtime.ir import IRBuilder, Program
    >>> program = Program()
    >>> block = program.global_block()
    >>> x = block.create_var("x", "float32", [-1, 3], is_data=True)
    >>> b = IRBuilder(block)
    >>> y = b.op("reduce_mean", X=b.mul(x, x), reduce_all=True)
    >>> prologue(program, frozenset({y.name}))
    True
    >>> print(program)
    program {
      data x: float32[?, 3]
      reduce_mean.Out_0: float32[] = fused_reduction(X=[x])
        sub_block(x@IN_0: float32[?, 3]):
          elementwise_mul.Out_0: float32[?, 3] = elementwise_mul(X=x@IN_0, Y=x@IN_0)
          reduce_mean.Out_0@IN_0: float32[] = reduce_mean(X=elementwise_mul.Out_0, reduce_all=True)
          yield reduce_mean.Out_0@IN_0
    }
    <BLANKLINE>
    """
    blocks = [block for block in program.blocks if any(issubclass(op.record, Folding) for op in block.ops)]
    if not blocks:
        return False
    inside = {id(op.attrs["sub_block"]) for block in program.blocks for op in block.ops if op.type in GROUPS}
    absent = maybe_absent(program)
    changed = False
    for block in blocks:
        if id(block) not in inside:
            changed |= _joined(block, absent, roots_of(block, keep))
    if changed:
        program.version += 1
    return changed


def _joined(block: Block, absent: set[str], roots: set[str]) -> bool:
    uses = Counter(name for op in block.ops for name in reads(op))
    homes: dict[str, int] = {}  # outputs of elementwise ops that may be folded where they are made → where their ops stand
    defined: dict[str, int] = {}
    fence = -1  # the last op that others may not move across
    result: list[Operator | None] = []
    changed = False
    for op in block.ops:
        home = homes.get(op.input("X")[0]) if issubclass(op.record, Folding) else None
        if home is not None and home > fence and all(defined.get(name, -1) < home for name in op.input_names[1:]):
            group = result[home]
            assert group is not None
            fused = result[home] = _fused(block, group, op)
            defined.update(dict.fromkeys(fused.output_names, home))
            homes = {name: at for name, at in homes.items() if at != home}
            changed = True
            result.append(None)
            continue
        if is_effect(op, block) or may_raise(op, block):
            fence = len(result)
        elif is_elementwise(op) and not any(name in absent for name in op.input_names):
            homes.update((name, len(result)) for name in op.output_names if uses[name] == 1 and name not in roots)
        defined.update(dict.fromkeys(op.output_names, len(result)))
        result.append(op)
    if changed:
        block.ops[:] = [op for op in result if op is not None]
    return changed


def _fused(block: Block, group: Operator, last: Operator) -> Operator:
    folded, *others = last.input_names
    outs = [name for name in group.output_names if name != folded]
    inputs = list(dict.fromkeys([*group.input_names, *others]))
    return as_one("fused_reduction", block, [*opened(block, group), last], inputs, [*outs, *last.output_names])
