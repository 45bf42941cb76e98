"""Symbolic shapes: which open dims are equal by construction.

`infer` is run on dims that are ints or symbols (`loopir.Size(variable, axis)`); two dims are provably equal if they are
the same int or the same expression. A dim that cannot be expressed gets a symbol of its own.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

from .. import config, dims
from ..errors import Dy2stError, VerifyError
from ..ir.program import Block, Operator, Program, Variable
from ..loopir import nodes as n
from ..ops.registry import TensorType
from .counts import Counts
from .rewrite import all_blocks

Shape = tuple[Any, ...]
Facts = dict[Any, Any]
"""Key of a dim → a dim that it is known to equal; what identifies another check → True, if it has been made."""


class Shapes(dict[str, Shape]):
    """The shape of each variable, as it is known where the variable is defined.

    Attributes:
        facts: key of a dim → the number of the check, and what the dim is known to equal behind it. Checks of ops of a root block
            only: these have been made wherever anything behind them runs.
        known: for each variable how many of these checks are made before it.
        unproven: the ids of the ops that can fail because of sizes; see `may_differ`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.facts: dict[Any, tuple[int, Any]] = {}
        self.known: dict[str, int] = {}
        self.unproven: set[int] = set()

    def seen_from(self, a: str, b: str) -> Shape:
        """The shape of `a` as it is known where `b` is defined."""
        known = self.known.get(b, 0)
        return tuple(self._dim(d, known) for d in self[a]) if known > self.known.get(a, 0) else self[a]

    def agree(self, other: Shapes) -> bool:
        """Whether another analysis has found the same."""
        return (self.unproven == other.unproven and self.known == other.known and self.keys() == other.keys()
                and all([*map(_key, shape)] == [*map(_key, other[name])] for name, shape in self.items()))  # fmt: skip

    def _dim(self, dim: Any, known: int) -> Any:
        number, other = self.facts.get(_key(dim), (known, None))
        return dim if number >= known else self._dim(other, known)


_MAX_EXPRESSION = 200
"""Longest key of a symbolic dim, as text; beyond it a dim gets a symbol of its own."""


def symbolic_shapes(program: Program) -> Shapes:
    """The symbolic shape of every variable in all blocks.

    A symbol inside a loop stands for the size in the present iteration. The shape of an array is that of all its
    entries, with UNKNOWN where these may differ. A check that an op makes (two dims must be equal, else it raises)
    counts as known for the ops after it.

    >>> from dy2st_runtime.ir import IRBuilder, Program
    >>> program = Program()
    >>> block = program.global_block()
    >>> x = block.create_var("x", "float32", [-1, 3], is_data=True)
    >>> y = block.create_var("y", "float32", [3], is_data=True)
    >>> z = IRBuilder(block).elementwise_add(x, y)
    >>> same_shape(symbolic_shapes(program), "x", z.name)
    True
    >>> same_shape(symbolic_shapes(program), "x", "y")
    False
    """
    kept = _kept.get(program.id)
    if kept is None:
        return _analyzed(program, _Inferred())
    if kept.shapes is None or kept.version != program.version:
        kept.version, kept.shapes = program.version, _analyzed(program, kept.inferred)
    elif config.CHECKS.get() and not kept.shapes.agree(_analyzed(program, _Inferred())):
        raise VerifyError("a pass has changed the Program without a new version")
    return kept.shapes


def _analyzed(program: Program, inferred: _Inferred) -> Shapes:
    found = _Analysis(inferred)
    for root in program.roots:
        found.root = {}
        found.block(root, found.root)
    return found.shapes


class _Inferred:
    """What `infer` has said.

    Attributes:
        types: a kind of op with its attributes and the types of its inputs → the types of its outputs, None where they do not fit,
            and the checks.
        dims: key of a dim → the one object for it among the inputs; `infer` finds some dims to be equal by `is`.
    """

    def __init__(self) -> None:
        self.types: dict[Any, tuple[tuple[Any, ...] | None, list[tuple[str, Any, Any]]]] = {}
        self.dims: dict[Any, Any] = {}


class _Kept:
    """What is known of a Program in the pipeline: its shapes as of a version, and what `infer` has said, whatever the version."""

    def __init__(self) -> None:
        self.version = -1
        self.shapes: Shapes | None = None
        self.inferred = _Inferred()


_kept: dict[int, _Kept] = {}
"""By the id of the Program."""


@contextmanager
def shapes_kept(program: Program) -> Iterator[None]:
    """Inside, shapes are analyzed once for each version of the Program, and `infer` is asked once for ops that are alike.

    Most passes ask for the shapes, and most change little: without this it is more than half of their time. A pass that changes anything
    gives the Program a new version.
    """
    _kept[program.id] = _Kept()
    try:
        yield
    finally:
        del _kept[program.id]


def may_differ(program: Program) -> set[int]:
    """The ids of the ops that can fail because of sizes: those with a check that no analysis proves, and that no op before them makes,
    and those that are given sizes by tensors which may not fit.

    An op with such ops in its blocks is one too.

    >>> from dy2st_runtime.ir import IRBuilder, Program
    >>> program = Program()
    >>> block = program.global_block()
    >>> x, y = (block.create_var(name, "float32", [-1], is_data=True) for name in "xy")
    >>> b = IRBuilder(block)
    >>> _ = b.elementwise_add(x, x), b.elementwise_add(x, y), b.elementwise_mul(y, x)
    >>> [id(op) in may_differ(program) for op in block.ops]
    [False, True, False]
    """
    return symbolic_shapes(program).unproven


def same_dim(a: Any, b: Any) -> bool:
    """Whether two dims are provably equal."""
    if isinstance(a, n.Expr) and isinstance(b, n.Expr):
        return a.same(b)
    return isinstance(a, int) and isinstance(b, int) and a == b


def same_shape(shapes: Shapes, a: str, b: str) -> bool:
    """Whether two variables provably have equal shapes, as it is known where the later of them is defined."""
    return a in shapes and b in shapes and equal(shapes.seen_from(a, b), shapes.seen_from(b, a))


def equal(a: Sequence[Any], b: Sequence[Any]) -> bool:
    """Whether two shapes are provably equal."""
    return len(a) == len(b) and all(map(same_dim, a, b))


class _Analysis:
    def __init__(self, inferred: _Inferred) -> None:
        self.inferred = inferred
        self.shapes = Shapes()
        self.root: Facts = {}
        self.counts = Counts()
        self.nowhere: set[str] = set()  # names that are absent wherever they are defined: any shape fits

    def block(self, block: Block, facts: Facts) -> None:
        for op in block.ops:
            if op.type == "absent":
                self.nowhere.update(op.output_names)
            elif op.type == "cond":
                self._cond(op, block, facts)
            elif op.type == "while_loop":
                self._loop(op, block, facts)
            else:
                for sub in op.blocks:
                    self._enter(sub, op.input_names)
                    self.block(sub, dict(facts))
                self._op(op, block, facts)
            if any(id(inner) in self.shapes.unproven for sub in op.blocks for inner in sub.ops):
                self.shapes.unproven.add(id(op))

    def shape(self, v: Variable) -> Shape:
        """The shape of a variable; one that no op defined before gets symbols."""
        if v.name not in self.shapes:
            self.shapes[v.name] = self._own(v)
        return self.shapes[v.name]

    def _op(self, op: Operator, block: Block, facts: Facts) -> None:
        record, given, made = op.record, op.input_names, op.output_names
        if self.nowhere and not record.handles_absent and not self.nowhere.isdisjoint(given):
            self.nowhere.update(made)
            return
        self.counts.note(op, block)
        if record.sizes_in:
            sizes = [name for slot in record.sizes_in for name in op.input(slot)]
            if sizes and not (record.any_count_fits and self.counts.issuperset(sizes)):
                self.shapes.unproven.add(id(op))
        operands, results = [*map(block.var, given)], [*map(block.var, made)]
        if not any(-1 in v.shape for v in operands) and not any(-1 in v.shape for v in results):
            for v in operands:
                self.shape(v)
            for v in results:  # `infer` has said so when the op was built or read, and has had nothing to check but that
                self._declare(v, None, facts)
            return
        outs, found = self._infer(op, operands, facts)
        if outs is None:
            outs = ()  # raises at run time: nothing after it is reached
            self.shapes.unproven.add(id(op))
        for kind, a, b in found:
            if not _is_proven(facts, kind, a, b):
                self.shapes.unproven.add(id(op))
            if kind == "eq":
                self._learn(facts, a, b)
            else:
                facts[_asked(kind, a, b)] = True
        for slot, t in zip(record.output_slots, outs, strict=False):
            types = [] if t is None else (t if slot.many else [t])
            for name, one in zip(op.output(slot.name), types, strict=False):
                # what `infer` says of an array is about one entry
                self._declare(block.var(name), one.shape if one.kind == "dense" else None, facts)

    def _infer(self, op: Operator, operands: Sequence[Variable], facts: Facts) -> tuple[tuple[Any, ...] | None, list[tuple[str, Any, Any]]]:
        """What `infer` says of an op, or has said of one like it."""
        record, inputs = op.record, op.inputs
        shapes = [[d if type(d) is int else _known(facts, d) for d in self.shape(v)] for v in operands]
        counts = tuple([len(inputs.get(name, ())) for name in record.input_names])
        try:
            kinds = tuple([(v.dtype, v.kind, *map(_key, shape)) for v, shape in zip(operands, shapes, strict=True)])
            key = (record, _frozen(op.attrs), counts, kinds)
        except TypeError:  # an attribute is a block or an array
            key = None
        known = self.inferred.types.get(key)
        if known is not None:
            return known
        types = iter([TensorType(v.dtype, tuple([d if type(d) is int else self._one(d) for d in shape]), v.kind)
                      for v, shape in zip(operands, shapes, strict=True)])  # fmt: skip
        each = [[*islice(types, count)] for count in counts]
        ins = [ts if slot.many else (ts[0] if ts else None) for slot, ts in zip(record.input_slots, each, strict=True)]
        with dims.checks() as found:
            try:
                outs = record.infer_types(tuple(ins), op.attrs)
            except Dy2stError:
                outs = None
        if key is not None:
            self.inferred.types[key] = outs, found
        return outs, found

    def _learn(self, facts: Facts, a: Any, b: Any) -> None:
        a, b = _known(facts, a), _known(facts, b)
        if same_dim(a, b) or (isinstance(a, int) and isinstance(b, int)):
            return
        if isinstance(b, int) or (isinstance(a, n.Expr) and _length(b.key) < _length(a.key)):
            a, b = b, a
        facts[_key(b)] = a
        if facts is self.root:
            self.shapes.facts[_key(b)] = len(self.shapes.facts), a

    def _own(self, v: Variable) -> Shape:
        """What is known from the declaration: sizes, symbols for open dims (in which the entries of an array may differ)."""
        if -1 not in v.shape:
            return v.shape
        if v.kind != "dense":
            return tuple([d if d != -1 else dims.UNKNOWN for d in v.shape])
        return tuple([d if d != -1 else self._one(n.Size(v.name, axis)) for axis, d in enumerate(v.shape)])

    def _one(self, dim: Any) -> Any:
        """The object for a dim."""
        return self.inferred.dims.setdefault(_key(dim), dim)

    def _declare(self, v: Variable, shape: Shape | None, facts: Facts) -> None:
        """The shape of an output: what is declared, else what `infer` says, else a symbol."""
        own = self._own(v)
        self.nowhere.discard(v.name)
        self.shapes.known[v.name] = len(self.shapes.facts)
        if shape is None or len(shape) != len(own):
            self.shapes[v.name] = own
            return
        self.shapes[v.name] = tuple(d if isinstance(d, int) else _known(facts, s) if _usable(s) else d
                                    for d, s in zip(own, shape, strict=True))  # fmt: skip

    def _enter(self, sub: Block, inputs: Sequence[str]) -> None:
        for param, name in zip(sub.params, inputs, strict=False):
            if name in self.shapes:
                self.shapes[param] = self.shapes[name]

    def _cond(self, op: Operator, block: Block, facts: Facts) -> None:
        for branch in op.blocks:
            self.block(branch, dict(facts))
        results = zip(op.output("Out"), op.attrs["true_block"].results, op.attrs["false_block"].results, strict=True)
        for out, *sides in results:
            there = [name for name in sides if name not in self.nowhere]
            if not there:
                self.nowhere.add(out)
                continue
            shapes = [self.shapes.get(name) or self.shape(block.var(name) if block.has_var(name) else branch.var(name))
                      for name, branch in zip(there, _branches(op, sides, there), strict=True)]  # fmt: skip
            self._declare(block.var(out), _meet(shapes), facts)

    def _loop(self, op: Operator, block: Block, facts: Facts) -> None:
        test, body = op.attrs["cond_block"], op.attrs["body_block"]
        for x, p in zip(op.input("X"), body.params, strict=True):
            self.shapes.pop(p, None)
            if x not in self.nowhere:
                self._declare(body.var(p), self.shape(block.var(x)), {})
        inside = {name for sub in op.blocks for part in all_blocks(sub) for name in part.vars}
        while True:
            before = [self.shapes.get(p) for p in body.params]
            for p, c, shape in zip(body.params, test.params, before, strict=True):
                missing = shape is None
                (self.nowhere.add if missing else self.nowhere.discard)(p)
                (self.nowhere.add if missing else self.nowhere.discard)(c)
                if shape is not None:
                    self.shapes[c] = shape
            self.block(test, dict(facts))
            self.block(body, dict(facts))
            for p, r, old in zip(body.params, body.results, before, strict=True):
                if r in self.nowhere:
                    continue
                shape = self.shape(body.var(r))
                self._declare(body.var(p), _outside(shape, inside) if old is None else _meet([old, shape]), {})
            after = [self.shapes.get(p) for p in body.params]
            if all(map(_is_stable, before, after)):
                break
        for out, p in zip(op.output("Out"), body.params, strict=True):
            if p in self.nowhere:
                self.nowhere.add(out)
            else:
                self._declare(block.var(out), self.shapes[p], {})
        for out, name in zip(op.output("Saved"), op.attrs["saved"], strict=True):
            every = _outside(self.shape(body.var(name)), inside)
            self._declare(block.var(out), every, {})


def _is_stable(before: Shape | None, after: Shape | None) -> bool:
    """Whether another walk over the loop tells nothing new about a variable: a dim that is UNKNOWN stays so."""
    if before is None or after is None:
        return before is after
    return all(a is b or same_dim(a, b) for a, b in zip(before, after, strict=True))


def _branches(op: Operator, sides: list[str], there: list[str]) -> list[Block]:
    return [branch for branch, side in zip(op.blocks, sides, strict=True) if side in there]


def _outside(shape: Shape, inside: set[str]) -> Shape:
    """The shape with UNKNOWN for dims that are about values inside a loop, and so differ between iterations."""
    return tuple(dims.UNKNOWN if _mentions(_key(d), inside) else d for d in shape)


def _mentions(key: Any, names: set[str]) -> bool:
    if not isinstance(key, tuple):
        return False
    return (key[0] == "size" and key[1] in names) or any(_mentions(part, names) for part in key)


def _meet(shapes: Sequence[Shape]) -> Shape:
    """What several shapes of one rank have in common; UNKNOWN where they differ."""
    return tuple(ds[0] if all(same_dim(ds[0], d) for d in ds[1:]) else dims.UNKNOWN for ds in zip(*shapes, strict=True))


def _usable(dim: Any) -> bool:
    if isinstance(dim, int):
        return True
    return isinstance(dim, n.Expr) and _length(dim.key) <= _MAX_EXPRESSION


@functools.lru_cache(4096)
def _length(key: Any) -> int:
    """How long the key of a dim is, as text; each analysis asks that of the same ones."""
    return len(repr(key))


def _key(dim: Any) -> Any:
    return dim.key if isinstance(dim, n.Expr) else dim


def _known(facts: Facts, dim: Any) -> Any:
    """The dim that stands for all that are known to equal this one."""
    while (other := facts.get(_key(dim))) is not None:
        dim = other
    return dim


def _frozen(value: Any) -> Any:
    """An attribute, or several, as something that can be looked up: equal for those that `infer` cannot tell apart.

    Raises:
        TypeError: it is more than numbers, texts, and lists of these.
    """
    kind = type(value)
    if kind in _PLAIN:
        return kind, value
    if kind is list or kind is tuple:
        return tuple([_frozen(v) for v in value])
    if kind is dict:
        return tuple([(name, _frozen(v)) for name, v in value.items()])
    raise TypeError(kind)


_PLAIN = frozenset({int, float, bool, str, type(None)})


def _asked(kind: str, a: Any, b: Any) -> tuple:
    """Identifies a check."""
    keys = (_key(a), _key(b))
    return ("check", kind, frozenset(keys) if kind == "broadcast" else keys)


def _is_proven(facts: Facts, kind: str, a: Any, b: Any) -> bool:
    """Whether a check cannot fail: the dims are equal, or it has been made."""
    if kind in ("eq", "broadcast", "stretch") and same_dim(_known(facts, a), _known(facts, b)):
        return True
    return _asked(kind, a, b) in facts
