"""Whether a value may depend on another one by way of earlier iterations of a loop, which the walk over its body does not see."""

from __future__ import annotations

from collections.abc import Iterator

from ..ir.program import Block, Operator, Program, Variable
from ..ir.visit import free_names
from .activity import can_carry_gradient, mark_active

_Pair = tuple[Block, str, str]
_SAME = frozenset({"replaced_value", "ensure_defined"})
"""Ops whose result stands for the same value of the user's as their input."""


class Dependence:
    """What depends on what in a Program that is complete.

    Example:
        >>> from dy2st_runtime.ir import IRBuilder, Program
        >>> program = Program()
        >>> block = program.global_block()
        >>> a, b = (block.create_var(name, "float32", [], is_data=True) for name in "ab")
        >>> c = IRBuilder(block).elementwise_add(a, a)
        >>> dependence = Dependence(program)
        >>> dependence.may_depend(block, c.name, "a"), dependence.may_depend(block, c.name, "b")
        (True, False)
    """

    def __init__(self, program: Program):
        self._owners = {id(inner): (block, op) for block in program.blocks for op in block.ops for inner in op.blocks}
        self._roots = set(map(id, program.roots))
        self._reached: dict[tuple[int, frozenset[str]], set[str]] = {}
        self._objects: dict[tuple[int, str], set[str]] = {}
        self._origins: dict[tuple[int, str], list[str]] = {}
        self._independent: set[_Pair] = set()  # what was found to be independent

    def may_depend(self, block: Block, value: str, source: str) -> bool:
        """Whether a gradient would flow from `value` to `source`, two names that a block can read, in any iteration of the loops around.
        False for a block that has not become a part of the Program."""
        if id(block) not in self._owners and id(block) not in self._roots:
            return False
        seen: set[_Pair] = set()
        queue: list[_Pair] = [(block, value, source)]
        while queue:
            pair = queue.pop()
            if pair in seen or pair in self._independent:
                continue
            seen.add(pair)
            block, value, source = pair
            if (id(block), source) not in self._objects:
                self._objects[id(block), source] = {source, *_objects(block, source)}
            objects = self._objects[id(block), source]
            if value in self._reached_by(block, objects):
                return True
            # what was there before the block: the source may be one of these, and the value computed from one of these
            older = [name for name in objects if _is_older(block, name)]
            origins = self._origins_of(block, value) if older else []
            queue += (pair for a in older for b in origins for pair in self._before(block, b, a))
        self._independent |= seen
        return False

    def _origins_of(self, block: Block, value: str) -> list[str]:
        """What a value is computed from of what was there before a block."""
        key = id(block), value
        if key not in self._origins:
            candidates = filter(lambda name: _is_older(block, name), {value, *block.params, *free_names(block)})
            self._origins[key] = [name for name in candidates if value in self._reached_by(block, {name})]
        return self._origins[key]

    def _reached_by(self, block: Block, names: set[str]) -> set[str]:
        """The names of a block that depend on some names, themselves among them."""
        key = id(block), frozenset(names)
        if key not in self._reached:
            active = {name for name in names if not block.has_var(name) or can_carry_gradient(block, name)}
            mark_active(block.ops, block, active, frozenset())
            self._reached[key] = active
        return self._reached[key]

    def _before(self, block: Block, value: str, source: str) -> Iterator[_Pair]:
        """Where two names from before a block have got their values."""
        if id(block) not in self._owners:
            return
        parent, op = self._owners[id(block)]
        names = value, source
        if op.type != "while_loop":
            yield (parent, *names)
            return
        body: Block = op.attrs["body_block"]
        first, last = (dict(zip(block.params, ends, strict=True)) for ends in (op.input("X"), body.results))
        yield (parent, *(first.get(name, name) for name in names))  # type: ignore[misc]
        if any(name in last for name in names):
            yield (body, *(last.get(name, name) for name in names))  # type: ignore[misc]


def older_values(block: Block, v: Variable) -> list[str]:
    """What a variable, of a block or one in it, may stand for of the params of the block and of what is around it."""
    return sorted(name for name in _objects(v.block, v.name) if _is_older(block, name))


def _is_older(block: Block, name: str) -> bool:
    """Whether a name has its value before the ops of a block run."""
    return name in block.params or (name not in block.vars and block.has_var(name))


def _objects(block: Block, name: str) -> set[str]:
    """The values of the user's that a name may stand for, of the block, those in it, and those around it."""
    found: set[str] = set()
    seen: set[str] = set()
    queue = [(block, name)]
    while queue:
        block, name = queue.pop()
        if name in seen:
            continue
        seen.add(name)
        v = block.var(name)
        op = next((op for op in reversed(v.block.ops) if name in op.output_names), None)
        same = [] if op is None else list(_choices(v.block, op, name))
        queue += same
        if not same:
            found.add(name)
    return found


def _choices(block: Block, op: Operator, name: str) -> Iterator[tuple[Block, str]]:
    if op.type in _SAME:
        yield block, op.input("X")[0]
    elif op.type in ("cond", "while_loop") and name in op.output("Out"):
        at = op.output("Out").index(name)
        if op.type == "cond":
            yield from ((branch, branch.results[at]) for branch in op.blocks)
            return
        body: Block = op.attrs["body_block"]
        yield block, op.input("X")[at]
        result = body.results[at]
        yield from ((block, x) for x, p in zip(op.input("X"), body.params, strict=True) if p == result)
        yield body, result
