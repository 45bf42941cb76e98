"""A softmax between two matrix products becomes one op with them, and so does its gradient."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..ir.absent import maybe_absent
from ..ir.program import Block, Operator, Program
from ..ir.visit import clone_ops, may_raise, reads
from ..ops.attention import OF_ROWS, ON_ROWS, PRODUCTS, SCORES, kind_of_product
from .fuse import as_one, is_elementwise
from .rewrite import is_effect, roots_of
from .shapes import Shapes, equal, same_dim, symbolic_shapes

LARGE = 1 << 19
"""So many scores of a matrix are made again for the gradient. Measured with 8 heads of 64 on a Zen4 core: with 512 x 512 of them both ways
take the same time, with 128 x 128 making them again takes 1.15 times as long, with 1024 x 1024 0.85 to 0.94."""


def attention(program: Program, keep: frozenset[str] = frozenset()) -> bool:
    """Makes a matrix product (the scores), the elementwise ops on it, the softmax of its rows and the product that reads it one op, and
    likewise the ops of the gradient, which makes the scores again: so they are never there as a whole.

    Nobody else may read the scores, or what is made of them on the way. Nothing moves across effects or ops that can raise because of
    values. With a gradient, scores that are few, or of which only the run knows how many there are, stay: to make them twice would cost
    more.

    >>> from dy2st_runtime.ir import IRBuilder, Program
    >>> program = Program()
    >>> block = program.global_block()
    >>> q, k, v = [block.create_var(name, "float32", [-1, 512, 64], is_data=True) for name in "qkv"]
    >>> b = IRBuilder(block)
    >>> y = b.matmul_v2(b.softmax(b.scaled(b.matmul_v2(q, k, trans_y=True), 0.125), axis=-1), v)
    >>> attention(program, frozenset({y.name}))
    True
    >>> print(program)
    program {
      data q: float32[?, 512, 64]
      data k: float32[?, 512, 64]
      data v: float32[?, 512, 64]
      matmul_v2.Out_1: float32[?, 512, 64] = fused_attention(X=[q, k, v])
        sub_block(q@IN_0: float32[?, 512, 64], k@IN_0: float32[?, 512, 64], v@IN_0: float32[?, 512, 64]):
          matmul_v2.Out_0: float32[?, 512, 512] = matmul_v2(X=q@IN_0, Y=k@IN_0, trans_y=True)
          scale.Out_0: float32[?, 512, 512] = scale(X=matmul_v2.Out_0, scale=0.125)
          softmax.Out_0: float32[?, 512, 512] = softmax(X=scale.Out_0)
          matmul_v2.Out_1@IN_0: float32[?, 512, 64] = matmul_v2(X=softmax.Out_0, Y=v@IN_0)
          yield matmul_v2.Out_1@IN_0
    }
    <BLANKLINE>
    """
    blocks = [block for block in program.blocks if any(op.type == "softmax" for op in block.ops)]
    if not blocks:
        return False
    absent, shapes = maybe_absent(program), symbolic_shapes(program)
    changed = False
    for block in blocks:
        walk = None
        for softmax in [op for op in block.ops if op.type == "softmax"]:
            walk = walk or _Walk(block, shapes, absent, roots_of(block, keep))
            if walk.fuse(softmax):
                changed, walk = True, None
    if changed:
        program.version += 1
    return changed


@dataclass
class _Group:
    """Ops that become one, in order; `copied` are those of them that also stay."""

    ops: list[Operator]
    copied: list[Operator] = field(default_factory=list)

    def reads(self) -> list[str]:
        """What comes from outside."""
        made = {name for op in self.ops for name in op.output_names}
        return [name for name in dict.fromkeys(name for op in self.ops for name in op.input_names) if name not in made]


class _Walk:
    def __init__(self, block: Block, shapes: Shapes, absent: set[str], roots: set[str]):
        self.block, self.shapes, self.absent, self.roots = block, shapes, absent, roots
        self.index = {id(op): i for i, op in enumerate(block.ops)}
        self.producers = {name: op for op in block.ops for name in op.output_names}
        self.readers: dict[str, list[Operator]] = {}
        for op in block.ops:
            for name in reads(op):
                self.readers.setdefault(name, []).append(op)

    def fuse(self, softmax: Operator) -> bool:
        """Makes the ops around a softmax one, or two with those of its gradient; whether it could. If so, the walk is over."""
        self.scores: set[str] = set()  # what has an element for each score, and is to be there by blocks only
        self.sums = False
        (weights,) = softmax.output_names
        self.of, self.shape = self.block.var(weights), self.shapes.get(weights, ())
        if self.of.dtype not in ("float32", "float64") or not self.shape or not _by_rows(softmax, len(self.shape)):
            return False
        before = self._up(softmax.input("X")[0])
        if before is None:
            return False
        forward = [*before, softmax]
        self.scores = {name for op in forward for name in op.output_names}
        others = [op for op in self._readers(self.scores) if op not in forward]
        output = [op for op in others if op.type in PRODUCTS and kind_of_product(op, self.scores) == OF_ROWS]
        backward = self._backward([op for op in others if op not in output])
        self.sums = bool(backward)
        groups = [_Group([*forward, *output])] if output else []
        if backward:
            groups.append(_Group([*forward, *backward], forward if output else []))
        places = [self._place(group) for group in groups if self._is_right(group)]
        if backward is None or not groups or len(places) < len(groups) or None in places:
            return False
        if any(group.copied for group in groups) and not self._is_large():
            return False
        self._replace(groups, places)
        return True

    def _is_large(self) -> bool:
        """Whether scores are known to be so many that to make them twice costs less than to write and read them."""
        rows, columns = self.of.shape[-2:]
        return -1 not in (rows, columns) and rows * columns >= LARGE

    def _up(self, name: str) -> list[Operator] | None:
        """The ops from a product to the scores of this name, which are elementwise but for the product."""
        op = self.producers.get(name)
        if op is None or not self._is_one(name):
            return None
        if op.type in PRODUCTS:
            return [op] if kind_of_product(op, ()) == SCORES else None
        found = (self._up(x) for x in dict.fromkeys(op.input_names)) if is_elementwise(op) else ()
        return next(([*ops, op] for ops in found if ops is not None), None)

    def _is_one(self, name: str) -> bool:
        """Whether a value has an element for each score, of the same dtype."""
        return self.block.var(name).dtype == self.of.dtype and self._of_matrices(name) and equal(self.shapes[name][-2:], self.shape[-2:])

    def _of_matrices(self, name: str) -> bool:
        """Whether a value has a matrix for each of the scores. Where there is no gradient, which would sum over them, a size that only the
        run knows may also be 1 here and more there: what is done to a matrix of scores is then done for each of the output."""
        shape, static = self.shapes.get(name, ()), self.block.var(name).shape
        if len(shape) != len(self.shape):
            return False
        sizes = zip(shape[:-2], self.shape[:-2], static, self.of.shape, strict=False)
        return all(same_dim(a, b) or (not self.sums and -1 in (p, q)) for a, b, p, q in sizes)

    def _readers(self, names: Iterable[str]) -> list[Operator]:
        """Who reads one of these values, in order."""
        found = {self.index[id(op)]: op for name in names for op in self.readers.get(name, ())}
        return [found[i] for i in sorted(found)]

    def _backward(self, readers: Sequence[Operator]) -> list[Operator] | None:
        """The ops of the gradient, given those of them that read scores of the output; None if some op is none of it."""
        found: dict[int, Operator] = {}
        queue = list(readers)
        while queue:
            op = queue.pop()
            i = self.index[id(op)]
            if i in found:
                continue
            found[i] = op
            if op.type in PRODUCTS and kind_of_product(op, self.scores) != SCORES:
                continue
            made = op.output_names
            if op.type == "softmax_grad":  # a product makes its other operand
                product = self.producers.get(op.input("Out@GRAD")[0])
                if product is None or product.type not in PRODUCTS:
                    return None
                queue.append(product)
            elif op.type not in PRODUCTS and not is_elementwise(op):
                return None
            self.scores.update(made)
            queue += self._readers(made)
        return [found[i] for i in sorted(found)]

    def _is_right(self, group: _Group) -> bool:
        """Whether all ops are such that a block of rows is enough for them."""
        scores: set[str] = set()
        for op in group.ops:
            (out,) = op.output_names
            is_product = op.type in PRODUCTS
            kind, shape = kind_of_product(op, scores) if is_product else SCORES, self.shapes.get(out)
            if kind is None or shape is None or (is_product and any(len(self.block.var(name).shape) < 2 for name in op.input_names)):
                return False
            if kind != SCORES:
                if out in self.scores or not self._of_matrices(out):
                    return False
                continue
            if op.type in ON_ROWS and not (_by_rows(op, len(shape)) and scores.issuperset(op.input_names)):
                return False
            if out not in self.scores or out in self.roots or not self._is_one(out):
                return False
            scores.add(out)
        outside = group.reads()
        return self.scores.isdisjoint(outside) and all(self._is_needed(name, group) for name in outside if name in self.absent)

    def _is_needed(self, name: str, group: _Group) -> bool:
        """Whether all results need a value, so that all are absent where it is."""
        needing = {name}
        for op in group.ops:
            if needing.intersection(op.input_names):
                needing.update(op.output_names)
        return needing.issuperset(self._results(group))

    def _results(self, group: _Group) -> list[str]:
        return [name for op in group.ops for name in op.output_names if name not in self.scores]

    def _place(self, group: _Group) -> int | None:
        """Before which op a group can stand as one; None if nowhere."""
        moved = [self.index[id(op)] for op in group.ops if op not in group.copied]
        between = [op for op in self.block.ops[min(moved) : max(moved)] if op not in group.ops]
        if any(is_effect(op, self.block) or may_raise(op, self.block) for op in between):
            return None
        readers = [self.index[id(op)] for op in self._readers(self._results(group)) if op not in group.ops]
        place = min([max(moved) + 1, *readers])
        needed = (self.index[id(self.producers[name])] for name in group.reads() if name in self.producers)
        return place if all(i < place for i in needed) else None

    def _replace(self, groups: Sequence[_Group], places: Sequence[int | None]) -> None:
        """Puts the groups where their ops were."""
        ops: list[Operator | None] = list(self.block.ops)
        for i in {self.index[id(op)] for group in groups for op in group.ops}:
            ops[i] = None
        new = [(place, self._written(group)) for group, place in reversed(list(zip(groups, places, strict=True)))]  # copies come first
        for place, op in sorted(new, key=lambda one: one[0] or 0, reverse=True):
            ops.insert(place or 0, op)
        self.block.ops[:] = [op for op in ops if op is not None]

    def _written(self, group: _Group) -> Operator:
        """The one op of a group."""
        block, ops, results = self.block, group.ops, self._results(group)
        if group.copied:
            end = len(block.ops)
            names = clone_ops(group.copied, block, block, {}, fresh=True)
            copies = block.ops[end:]
            del block.ops[end:]
            ops = [*copies, *(_renamed(op, names) for op in ops if op not in group.copied)]
        return as_one("fused_attention", block, ops, _Group(ops).reads(), results)


def _by_rows(op: Operator, rank: int) -> bool:
    return op.attrs["axis"] in (-1, rank - 1)


def _renamed(op: Operator, names: Mapping[str, str]) -> Operator:
    inputs = {slot: [names.get(name, name) for name in given] for slot, given in op.inputs.items()}
    return Operator(op.type, inputs, op.outputs, op.attrs, op.location)
