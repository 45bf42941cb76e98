"""Algebraic simplification, copy propagation, and control flow that is decided."""

from __future__ import annotations

import math
from collections.abc import Callable

from .. import dtype
from ..ir.absent import maybe_absent
from ..ir.program import Block, Operator, Program
from ..ops import registry
from ..ops.unary import CHEAP_POWERS
from .constants import fill_value, value_of
from .rewrite import RNG, Forward, is_effect
from .shapes import Shapes, same_shape, symbolic_shapes


def simplify(program: Program, keep: frozenset[str] = frozenset()) -> bool:
    """Replaces ops whose result is at hand by that result.

    Copies and casts to the same dtype; `x - 0`, `x * 1`, `x ** 2`; views and broadcasts to the shape that a tensor has already
    (also where open dims are equal by construction); pairs of transposes, reshapes and negations; sums of one term; what
    is surely absent or surely present; a `cond` on a constant; state that a loop does not change.

    >>> from dy2st_runtime.ir import IRBuilder, Program
    >>> program = Program()
    >>> block = program.global_block()
    >>> x = block.create_var("x", "float32", [-1, 3], is_data=True)
    >>> b = IRBuilder(block)
    >>> there = b.op("transpose2", X=b.scaled(x, 1.0), axis=[1, 0])
    >>> y = b.tanh(b.op("transpose2", X=there, axis=[1, 0]))
    >>> simplify(program, frozenset({y.name}))
    True
    >>> print(program)
    program {
      data x: float32[?, 3]
      transpose2.Out_0: float32[3, ?] = transpose2(X=x, axis=[1, 0])
      tanh.Out_0: float32[?, 3] = tanh(X=x)
    }
    <BLANKLINE>
    """
    return _Walk(program, keep).run()


Rule = Callable[["_Walk", Operator, Block], list[Operator]]


class _Walk(Forward):
    def __init__(self, program: Program, keep: frozenset[str]):
        super().__init__(program, keep)
        self.shapes: Shapes = symbolic_shapes(program)
        self.producers: dict[str, Operator] = {}
        self.absent = maybe_absent(program)

    def enter(self, op: Operator, block: Block) -> None:
        if op.type == "while_loop":
            self._drop_constant_state(op, block)

    def visit(self, op: Operator, block: Block) -> list[Operator]:
        rule = RULES.get(op.type)
        result = self._skipped(op, block)
        if result is None:
            result = rule(self, op, block) if rule is not None else [op]
        for one in result:
            self.producers.update(dict.fromkeys(one.output_names, one))
        return result

    # ---- what rules ask ----
    def same_shape(self, a: str, b: str) -> bool:
        return same_shape(self.shapes, a, b)

    def maker(self, name: str, op_type: str) -> Operator | None:
        """The op that makes a value, if it is of this type."""
        op = self.producers.get(name)
        return op if op is not None and op.type == op_type else None

    def may_fail(self, op: Operator) -> bool:
        """Whether sizes that only the run knows may not fit, which is an error to be kept: that they fit is known behind the op only."""
        return id(op) in self.shapes.unproven

    def by_input(self, op: Operator, block: Block, slot: str = "X") -> list[Operator]:
        """The op replaced by its input."""
        (out, *rest), name = op.output_names, op.input(slot)[0]
        if rest or name == RNG or self.may_fail(op) or block.var(out).dtype != block.var(name).dtype:
            return [op]
        return self.replace(op, block, [name])

    # ---- absent values ----
    def _skipped(self, op: Operator, block: Block) -> list[Operator] | None:
        """What is left of an op with an input that is never there."""
        record = op.record
        if record.handles_absent or record.never_absent or is_effect(op, block):
            return None
        if not any(self.maker(name, "absent") for name in op.input_names):
            return None
        if record.inplace:  # its outputs keep their old values
            return None
        self.changed = True
        return [_absent(op, name, block) for name in op.output_names]

    # ---- loops ----
    def _drop_constant_state(self, op: Operator, block: Block) -> None:
        """Lets a loop read from outside what it yields unchanged."""
        test, body = op.attrs["cond_block"], op.attrs["body_block"]
        state = list(zip(op.input("X"), op.output("Out"), test.params, body.params, body.results, strict=True))
        stays = [s for s in state
                 if s[3] != self.name(s[4]) or s[0] == RNG or not self.can_replace(s[1], s[0], block)]  # fmt: skip
        gone = [s for s in state if s not in stays]
        if not gone:
            return
        for x, out, tested, param, _ in gone:
            self.take(out, x, block)
            self.take(tested, x, test)
            self.take(param, x, body)
        op.inputs["X"], op.outputs["Out"] = [s[0] for s in stays], [s[1] for s in stays]
        test.params, body.params, body.results = [s[2] for s in stays], [s[3] for s in stays], [s[4] for s in stays]


def _absent(op: Operator, name: str, block: Block) -> Operator:
    v = block.var(name)
    given = {"dtype": v.dtype, "shape": list(v.shape), "array": "array" if v.kind == "array" else ""}
    return Operator("absent", {}, {"Out": [name]}, registry.get("absent").complete_attrs(given), op.location)


def _copy(walk: _Walk, op: Operator, block: Block) -> list[Operator]:
    return walk.by_input(op, block)


def _scale(walk: _Walk, op: Operator, block: Block) -> list[Operator]:
    return walk.by_input(op, block) if op.attrs["scale"] == 1 and op.attrs["bias"] == 0 else [op]


def _neutral(value: float, both_sides: bool) -> Rule:
    """Drops an operand that is a constant which changes nothing, if the other has the shape and dtype of the result.

    Of floats -0.0 + 0.0 is 0.0, but x + -0.0 and x - 0.0 are x."""

    def rule(walk: _Walk, op: Operator, block: Block) -> list[Operator]:
        (out,) = op.output_names
        of_floats = dtype.is_float(block.var(out).dtype)
        for slot, other in (("Y", "X"), ("X", "Y"))[: 1 + both_sides]:
            there = fill_value(walk.producers.get(op.input(slot)[0]))
            same = there == value and (not of_floats or math.copysign(1, there) == math.copysign(1, value))
            if same and walk.same_shape(op.input(other)[0], out):
                return walk.by_input(op, block, other)
        return [op]

    return rule


def _power(walk: _Walk, op: Operator, block: Block) -> list[Operator]:
    """A power of floats that is known and cheap."""
    (x,), (out,), exponent = op.input("X"), op.output_names, fill_value(walk.producers.get(op.input("Y")[0]))
    v = block.var(out)
    if op.attrs["checked"] or not dtype.is_float(v.dtype) or block.var(x).dtype != v.dtype:
        return [op]
    if walk.may_fail(op) or not walk.same_shape(x, out):
        return [op]
    if exponent == 1:
        return walk.by_input(op, block)
    # NumPy takes the root only if the exponent is one number: it is NaN of -inf, where the power is infinite
    if exponent not in CHEAP_POWERS or (exponent == 0.5 and block.var(op.input("Y")[0]).shape):
        return [op]
    walk.changed = True
    return [Operator("pow", {"X": [x]}, op.outputs, registry.get("pow").complete_attrs({"factor": float(exponent)}), op.location)]


def _not(walk: _Walk, op: Operator, block: Block) -> list[Operator]:
    inner = walk.maker(op.input("X")[0], "logical_not")
    if inner is None or block.var(inner.input("X")[0]).dtype != "bool":
        return [op]
    return walk.replace(op, block, inner.input("X"))


def _transpose(walk: _Walk, op: Operator, block: Block) -> list[Operator]:
    inner = walk.maker(op.input("X")[0], "transpose2")
    axes = op.attrs["axis"]
    if inner is not None and len(inner.output_names) == 1:
        axes = [inner.attrs["axis"][a] for a in axes]
        op.inputs["X"] = list(inner.input("X"))
        op.attrs["axis"] = axes
        walk.changed = True
    return walk.by_input(op, block) if list(axes) == list(range(len(axes))) else [op]


VIEWS = ("reshape2", "squeeze2", "unsqueeze2", "flatten_contiguous_range", "reshape_as")


def _view(walk: _Walk, op: Operator, block: Block) -> list[Operator]:
    inner = walk.producers.get(op.input("X")[0])
    by_input_dims = op.type not in ("reshape2", "reshape_as") or 0 in op.attrs.get("shape", ())
    if inner is not None and inner.type in VIEWS and not by_input_dims:
        op.inputs["X"] = list(inner.input("X"))
        walk.changed = True
    if walk.same_shape(op.input("X")[0], op.output("Out")[0]):
        return walk.by_input(op, block)
    return [op]


def _like(walk: _Walk, op: Operator, block: Block) -> list[Operator]:
    return walk.by_input(op, block) if walk.same_shape(op.input("X")[0], op.input("Y")[0]) else [op]


def _fill_like(walk: _Walk, op: Operator, block: Block) -> list[Operator]:
    v = block.var(op.output("Out")[0])
    if -1 in v.shape or op.input("X")[0] in walk.absent:
        return [op]
    given = {"shape": list(v.shape), "dtype": v.dtype, "value": fill_value(op)}
    walk.changed = True
    return [Operator("fill_constant", {}, op.outputs, registry.get("fill_constant").complete_attrs(given), op.location)]


def _sum(walk: _Walk, op: Operator, block: Block) -> list[Operator]:
    terms = [name for name in op.input("X") if walk.maker(name, "absent") is None]
    if not terms:
        walk.changed = True
        return [_absent(op, op.output("Out")[0], block)]
    if len(terms) < len(op.input("X")):
        op.inputs["X"] = terms
        walk.changed = True
    if len(terms) > 1:
        return [op]
    walk.shapes.unproven.discard(id(op))  # there is no other that has to be of its shape
    return walk.by_input(op, block)


def _present(walk: _Walk, op: Operator, block: Block) -> list[Operator]:
    return [op] if op.input("X")[0] in walk.absent else walk.by_input(op, block)


def _cond(walk: _Walk, op: Operator, block: Block) -> list[Operator]:
    maker = walk.producers.get(op.input("Cond")[0])
    value = None if maker is None else value_of(maker)
    true, false = op.attrs["true_block"], op.attrs["false_block"]
    if value is not None and value.size == 1:
        return _inline(walk, op, block, true if value.reshape(()) else false)
    for i in reversed(range(len(true.results))):
        result, out = true.results[i], op.output("Out")[i]
        if (
            result == false.results[i]
            and op.input("Cond")[0] not in walk.absent
            and walk.can_replace(out, result, block)
        ):
            walk.take(out, result, block)
            for names in (true.results, false.results, op.outputs["Out"]):
                del names[i]
    return [op]


def _inline(walk: _Walk, op: Operator, block: Block, branch: Block) -> list[Operator]:
    """The ops of the branch that is always taken, in place of the `cond`."""
    outs = op.output("Out")
    if not all(walk.can_replace(out, r, branch) for out, r in zip(outs, branch.results, strict=True)):
        return [op]
    for v in branch.vars.values():
        v.block = block
        block.vars[v.name] = v
    for inner in branch.ops:
        for sub in inner.blocks:
            sub.parent = block
    for out, result in zip(outs, branch.results, strict=True):
        walk.take(out, result, block)
    walk.changed = True
    return list(branch.ops)


RULES: dict[str, Rule] = {
    "assign": _copy,
    "cast": _copy,
    "cond": _cond,
    "elementwise_add": _neutral(-0.0, both_sides=True),
    "elementwise_div": _neutral(1.0, both_sides=False),
    "elementwise_mul": _neutral(1.0, both_sides=True),
    "elementwise_pow": _power,
    "elementwise_sub": _neutral(0.0, both_sides=False),
    "ensure_defined": _present,
    "expand_as_v2": _like,
    "fill_absent": _present,
    "fill_any_like": _fill_like,
    "fill_zeros_like": _fill_like,
    "logical_not": _not,
    "scale": _scale,
    "sum": _sum,
    "sum_like": _like,
    "transpose2": _transpose,
    **dict.fromkeys(VIEWS, _view),
}
