"""Layouts: images are computed on with their channels first, as the kernels for them are written."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..ir.program import Block, Operator, Program, Variable
from ..ir.visit import all_ops
from ..ops import registry, windows
from ..ops.elementwise import Elementwise, trailing
from ..ops.reduce import Reduction, axes_of
from .rewrite import Forward
from .shapes import may_differ

RANK = 4
LAST_AXIS = RANK - 1
FIRST = windows.to_first(range(RANK), True)
"""The axes of [N, H, W, C] in the order of [N, C, H, W]."""
LAST = windows.from_first(range(RANK), True)
"""The axes of [N, C, H, W] in the order of [N, H, W, C]."""


class Images(NamedTuple):
    """Of an op on images: the attribute that names their layout, and the slots that hold images."""

    attr: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


_CONV = Images("data_format", ("Input",), ("Output",))
_NORM = Images("data_layout", ("X",), ("Y",))
_NORM_GRAD = Images("data_layout", ("X", "Y@GRAD"), ("X@GRAD",))
_OUT = Images("data_format", ("X",), ("Out",))

IMAGES: dict[str, Images] = {
    **dict.fromkeys(("conv2d", "depthwise_conv2d", "conv2d_transpose", "depthwise_conv2d_transpose"), _CONV),
    "conv2d_grad_input": Images("data_format", ("Output@GRAD", "Input"), ("Input@GRAD",)),
    "conv2d_grad_filter": Images("data_format", ("Input", "Output@GRAD"), ()),
    "pool2d": _OUT,
    "pool2d_grad": Images("data_format", ("X", "Out", "Out@GRAD"), ("X@GRAD",)),
    "max_pool2d_pick": Images("data_format", ("X", "Y"), ("Out",)),
    "pad2d": _OUT,
    **dict.fromkeys(("batch_norm", "group_norm"), _NORM),
    **dict.fromkeys(("batch_norm_grad", "group_norm_grad"), _NORM_GRAD),
}

ALIKE = frozenset({"concat", "sum", "expand_as_v2", "fill_any_like", "fill_zeros_like"})
"""Ops other than elementwise ones whose inputs and output have the same axes, one of which an attribute may name."""


def layout(program: Program, keep: frozenset[str] = frozenset()) -> bool:
    """Computes on images with channels last as on their transposes, with channels first.

    Convolutions, pools and normalizations are told the other layout. Elementwise ops, reductions, `concat` and the like follow where
    they read what these make, so a chain of such ops has one `transpose2` in front and one behind; those that nobody reads are left for
    `dce`, those that undo each other for `simplify`. An op that reads an image of another origin as well follows only if what it makes is
    read with channels first: else that would be one more to transpose. One that may fail, as sizes that only the run knows do not fit,
    stays: its error shows the sizes as they were written. What loops and branches are given, and give, stays as it is.

    >>> from dy2st_runtime.ir import IRBuilder, Program
    >>> from dy2st_runtime.passes.dce import dce
    >>> program = Program()
    >>> block = program.global_block()
    >>> x = block.create_var("x", "float32", [-1, 8, 8, 3], is_data=True)
    >>> w = block.create_var("w", "float32", [6, 3, 3, 3], persistable=True)
    >>> bias = block.create_var("bias", "float32", [6], persistable=True)
    >>> b = IRBuilder(block)
    >>> y = b.relu(b.add(b.conv2d(x, w, data_format="NHWC"), bias))
    >>> layout(program), dce(program, frozenset({y.name}))
    (True, True)
    >>> print(program)
    program {
      data x: float32[?, 8, 8, 3]
      state w: float32[6, 3, 3, 3]
      state bias: float32[6]
      x@NCHW_0: float32[?, 3, 8, 8] = transpose2(X=x, axis=[0, 3, 1, 2])
      conv2d.Output_0@NCHW_0: float32[?, 6, 6, 6] = conv2d(Input=x@NCHW_0, Filter=w)
      bias@NCHW_0: float32[6, 1, 1] = unsqueeze2(X=bias, axes=[1, 2])
      elementwise_add.Out_0@NCHW_0: float32[?, 6, 6, 6] = elementwise_add(X=conv2d.Output_0@NCHW_0, Y=bias@NCHW_0)
      relu.Out_0@NCHW_0: float32[?, 6, 6, 6] = relu(X=elementwise_add.Out_0@NCHW_0)
      relu.Out_0: float32[?, 6, 6, 6] = transpose2(X=relu.Out_0@NCHW_0, axis=[0, 2, 3, 1])
    }
    <BLANKLINE>
    """
    ops = [op for root in program.roots for op in all_ops(root)]
    if not any(op.type in IMAGES and _has_last(op) for op in ops):
        return False
    return _Walk(program, keep, ops).run()


def _has_last(op: Operator) -> bool:
    return windows.channel_last(op.attrs[IMAGES[op.type].attr])


class _Walk(Forward):
    """
    Attributes:
        first: of images, by name and by the segments of the ops that read it, their transposes with channels first. What an op has
            computed so serves all segments (None): the image itself is not needed then, or is there as well.
        wanted: the names of images that will be computed on with channels first, in the block that is walked.
        may_fail: the ids of the ops that stay for their errors.
    """

    def __init__(self, program: Program, keep: frozenset[str], ops: Sequence[Operator]):
        super().__init__(program, keep)
        self.first: ChainMap[tuple[str, Any], str] = ChainMap()
        self.wanted: set[str] = set()
        # the errors of all others are about single sizes, which any layout has
        self.may_fail = may_differ(program) & {id(op) for op in ops if _is_alike(op)}

    def block(self, block: Block) -> None:
        outer = self.wanted
        self.first, self.wanted = self.first.new_child(), _wanted(block)
        super().block(block)
        self.first, self.wanted = self.first.parents, outer

    def visit(self, op: Operator, block: Block) -> list[Operator]:
        if id(op) in self.may_fail or any(block.var(name).kind != "dense" for name in (*op.input_names, *op.output_names)):
            return [op]
        before: list[Operator] = []
        if op.type in IMAGES:
            after = self._on_images(op, block, before)
        elif issubclass(op.record, Elementwise):
            after = self._elementwise(op, block, before)
        elif issubclass(op.record, Reduction):
            after = self._reduction(op, block)
        elif op.type in ALIKE:
            after = self._alike(op, block, before)
        elif op.type == "sum_like":
            after = self._sum_like(op, block, before)
        else:
            return [op]
        if after is None:
            return [op]
        self.changed = True
        return [*before, op, *after]

    # ---- ops: each gets in `before` what makes its inputs, and gives what makes its old outputs of the new; None if it stays as it is ----
    def _on_images(self, op: Operator, block: Block, before: list[Operator]) -> list[Operator] | None:
        how = IMAGES[op.type]
        images = [name for slot in how.inputs for name in op.input(slot)]
        if not _has_last(op) or any(len(block.var(name).shape) != RANK for name in images):
            return None
        for slot in how.inputs:
            op.inputs[slot] = [self._first(name, op, block, before) for name in op.input(slot)]
        op.attrs = {**op.attrs, how.attr: "NCHW"}
        return self._images_out(op, how.outputs, block)

    def _elementwise(self, op: Operator, block: Block, before: list[Operator]) -> list[Operator] | None:
        if len(block.var(op.output_names[0]).shape) != RANK or not self._should_follow(op, block):
            return None
        ranks = [len(block.var(name).shape) for name in op.input_names]
        offsets = dict(zip(op.input_names, trailing(ranks, op.attrs), strict=True))
        if any(1 < len(shape) < RANK and set(shape) != {1} for shape in (block.var(name).shape for name in offsets)):
            return None  # of two or three axes the order may change
        now = {name: self._operand(name, offset, op, block, before) for name, offset in offsets.items()}
        op.inputs = {slot: [now[name] for name in given] for slot, given in op.inputs.items()}
        if "axis" in op.attrs:
            op.attrs = {**op.attrs, "axis": -1}
        return self._images_out(op, list(op.outputs), block)

    def _operand(self, name: str, offset: int, op: Operator, block: Block, before: list[Operator]) -> str:
        """What an operand of an elementwise op is where it meets images with channels first.

        Args:
            offset: the axes of size 1 that it has got at its end.
        """
        v = block.var(name)
        if len(v.shape) == RANK:
            return self._first(name, op, block, before)
        return name if set(v.shape) <= {1} else self._unsqueezed(v, LAST_AXIS - FIRST.index(LAST_AXIS - offset), op, block, before)

    def _reduction(self, op: Operator, block: Block) -> list[Operator] | None:
        first = self._known(op.input("X")[0], op)
        if first is None:
            return None
        if "dim" in op.attrs:  # `mean` has none
            axes = sorted(FIRST.index(a) for a in axes_of(RANK, op.attrs["dim"], op.attrs["reduce_all"]))
            kept = [FIRST[a] for a in range(RANK) if a not in axes]
            if not op.attrs["keep_dim"] and kept != sorted(kept):
                return None
            op.attrs = {**op.attrs, "dim": axes}
        op.inputs = {"X": [first]}
        return self._images_out(op, ["Out"], block) if op.attrs.get("keep_dim") else []

    def _alike(self, op: Operator, block: Block, before: list[Operator]) -> list[Operator] | None:
        if any(len(block.var(name).shape) != RANK for name in op.input_names) or not self._should_follow(op, block):
            return None
        op.inputs = {slot: [self._first(name, op, block, before) for name in names] for slot, names in op.inputs.items()}
        if "axis" in op.attrs:
            op.attrs = {**op.attrs, "axis": FIRST.index(op.attrs["axis"] % RANK)}
        return self._images_out(op, ["Out"], block)

    def _sum_like(self, op: Operator, block: Block, before: list[Operator]) -> list[Operator] | None:
        """The gradient of what has one element for each channel."""
        first, like = self._known(op.input("X")[0], op), block.var(op.input("Y")[0])
        if first is None or len(like.shape) != 1:
            return None
        op.inputs = {"X": [first], "Y": [self._unsqueezed(like, 2, op, block, before)]}
        (out,) = op.output_names
        op.outputs = {"Out": [self._declare(f"{out}@NCHW", block.var(out), [*like.shape, 1, 1], block)]}
        return [_operator(op, "squeeze2", op.output_names[0], out, axes=[1, 2])]

    # ---- what they ask ----
    def _known(self, name: str, op: Operator) -> str | None:
        """The image with channels first, if there is such."""
        return self.first.get((name, None)) or self.first.get((name, op.segments))

    def _should_follow(self, op: Operator, block: Block) -> bool:
        """Whether it costs no more to compute on transposes of the images."""
        images = [name for name in op.input_names if len(block.var(name).shape) == RANK]
        missing = [name for name in images if self._known(name, op) is None]
        if len(missing) == len(images):
            return False
        return not self.wanted.isdisjoint(op.output_names) or all(_is_line(block.var(name).shape) for name in missing)

    def _first(self, name: str, op: Operator, block: Block, before: list[Operator]) -> str:
        """The image with channels first; `before` gets the op that makes it, if there is none yet."""
        known = self._known(name, op)
        if known is None:
            v = block.var(name)
            known = self.first[name, op.segments] = self._declare(f"{name}@NCHW", v, [v.shape[a] for a in FIRST], block)
            before.append(_operator(op, "transpose2", name, known, axis=list(FIRST)))
        return known

    def _unsqueezed(self, v: Variable, after: int, op: Operator, block: Block, before: list[Operator]) -> str:
        """A vector with so many axes of size 1 behind its own."""
        if after == 0:
            return v.name
        new = self._declare(f"{v.name}@NCHW", v, [*v.shape, *[1] * after], block)
        before.append(_operator(op, "unsqueeze2", v.name, new, axes=list(range(1, 1 + after))))
        return new

    def _images_out(self, op: Operator, slots: Sequence[str], block: Block) -> list[Operator]:
        """Lets an op put out images with channels first; the ops that make those with channels last."""
        after = []
        for slot in slots:
            names = op.output(slot)
            for name in names:
                v = block.var(name)
                first = self.first[name, None] = self._declare(f"{name}@NCHW", v, [v.shape[a] for a in FIRST], block)
                after.append(_operator(op, "transpose2", first, name, axis=list(LAST)))
            op.outputs[slot] = [self.first[name, None] for name in names]
        return after

    def _declare(self, stem: str, like: Variable, shape: Sequence[int], block: Block) -> str:
        v = block.create_var(self.program.fresh_name(stem), like.dtype, shape)
        v.stop_gradient = like.stop_gradient
        return v.name


def _operator(op: Operator, op_type: str, x: str, out: str, **attrs: Any) -> Operator:
    """An op with one input that is made for another one."""
    new = Operator(op_type, {"X": [x]}, {"Out": [out]}, registry.get(op_type).complete_attrs(attrs), op.location)
    new.segments = op.segments
    return new


def _is_alike(op: Operator) -> bool:
    """Whether the inputs and the output of an op have the same axes."""
    return issubclass(op.record, Elementwise) or op.type in ALIKE


def _is_line(shape: Sequence[int]) -> bool:
    """Whether a transpose moves no element of an image with channels last."""
    return shape[1] == shape[2] == 1 or shape[3] == 1


def _wanted(block: Block) -> set[str]:
    """The images that ops of a block with channels last read, and what these images are made of element by element."""
    found: set[str] = set()
    for op in reversed(block.ops):
        if op.type in IMAGES and _has_last(op):
            found.update(name for slot in IMAGES[op.type].inputs for name in op.input(slot))
        elif _is_alike(op) and not found.isdisjoint(op.output_names):
            found.update(op.input_names)
    return found
