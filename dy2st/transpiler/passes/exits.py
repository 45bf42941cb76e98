"""What `return`, `break` and `continue` have in common: what follows a taken exit must not run."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import gast

from dy2st.transpiler import nodes, origin
from dy2st.transpiler.analysis.activity import Activity
from dy2st.transpiler.analysis.cfg import Graph
from dy2st.transpiler.analysis.liveness import Live
from dy2st.transpiler.manager import Context, Pass, PassManager
from dy2st.transpiler.templates import statements

_JUMPS = (gast.Return, gast.Break, gast.Continue, gast.Raise)


def always_leaves(block: list) -> bool:
    """Whether control never comes to the end of the block.

    >>> always_leaves(gast.parse("if c: raise E\\nelse:\\n  x = 1\\n  raise F").body)
    True
    >>> always_leaves(gast.parse("while True:\\n  if g(): return 1").body), always_leaves(gast.parse("while True:\\n  if g(): break").body)
    (True, False)
    """
    return any(map(_leaves, block))


def _leaves(statement: gast.AST) -> bool:
    if isinstance(statement, gast.If):
        return always_leaves(statement.body) and always_leaves(statement.orelse)
    if isinstance(statement, gast.While):
        endless = isinstance(statement.test, gast.Constant) and bool(statement.test.value)
        return endless and not contains(statement.body, gast.Break, into_loops=False)
    if isinstance(statement, (gast.Try, gast.TryStar)):
        ends = [statement.body + statement.orelse, *(handler.body for handler in statement.handlers)]
        return all(map(always_leaves, ends)) or always_leaves(statement.finalbody)
    return isinstance(statement, _JUMPS)


def contains(block: list, kind: type, *, into_loops: bool) -> bool:
    """Whether there is such a statement in the block (not in functions and classes inside).

    The `else` of a loop inside belongs to the block, its body only with `into_loops`.
    """
    for statement in block:
        if isinstance(statement, kind):
            return True
        inner = nodes.blocks(statement)
        if isinstance(statement, (gast.For, gast.While)) and not into_loops:
            inner = [statement.orelse]
        if any(contains(b, kind, into_loops=into_loops) for b in inner):
            return True
    return False


MOST_NESTED = 8
"""So many exits of a block nest in one another; the next ones begin again, behind a flag."""


class ExitLowering:
    """Replaces exits of one kind in a block by other statements, and keeps the rest from running.

    Where a branch always leaves, the rest moves into the other branch. Else the rest is guarded by the
    flag that the replacement sets.

    So each exit puts the rest one branch deeper. Python nests 100 blocks, and what is carried out of the innermost
    branch is carried out of all around it: a block of many exits is cut into sections, of which each but the first is guarded by the
    flag. Variables that only later sections read are dead once the flag is set, and said to be: what they are in the next section is
    what the one before has left, of whatever kind.

    Args:
        kind: the statement that exits.
        flag: the variable that says that an exit was taken.
        replace: what stands in the place of an exit, but for the setting of the flag.
        loop: what to do with a loop that contains the exit; None if exits in loops are the loops' own.
        owner, function: the pass, and the function that the exits are in.
        again: the loop that looks at the flag where the exits lead: what it reads to go on has to be there.
        value: the variable that the replacement of a `return` sets.
    """

    def __init__(
        self,
        owner: Pass,
        function: gast.FunctionDef,
        kind: type,
        flag: str,
        replace: Callable[[gast.AST], list],
        loop: Callable[[gast.AST], list] | None = None,
        again: gast.AST | None = None,
        value: str | None = None,
    ):
        self.owner, self.context, self.function = owner, owner.context, function
        self.kind, self.flag, self.replace, self.loop = kind, flag, replace, loop
        self.again, self.value = again, value
        self.guards = 0  # how often the flag is read
        self.cut = False  # whether a block had so many exits that it was cut
        self._variables: _Variables | None = None
        self._dead: list[str] = []  # the variables that are dead in this section once the flag is set

    def contains(self, block: list) -> bool:
        return contains(block, self.kind, into_loops=self.loop is not None)

    def lower(self, block: list, *, last: bool) -> list:
        """The block without exits. `last`: nothing follows it, so the flag need not be set."""
        sections = self._sections(block)
        if len(sections) == 1:
            return self._nested(block, last=last)
        if self._variables is None:
            self._variables = _Variables(self.owner.manager, self.function, self.context.returned)
        # asked before anything moves
        exits = [n for n in nodes.statements(block) if isinstance(n, self.kind)]
        dead = [self._variables.only_for(rest[0], one, exits, self.again) for one, rest in itertools.pairwise(sections)]
        # a `break` is what a `return` in a loop has become; behind the section of a `continue` it may still be under way
        returned = [self._variables.returned(one) if self.kind is gast.Break else [] for one in sections]
        around = self._dead
        result: list = []
        for i, (section, names) in enumerate(zip(sections, [*dead, []], strict=True)):
            self._dead = list(dict.fromkeys([*around, *names]))
            lowered = self._nested(section, last=last and section is sections[-1])
            if i:
                # had the section before set the value that is returned, there would be no next one: so what this one changes is not that
                lowered = [*self._end(section[0], [self.value] if self.value else returned[i - 1]), *lowered]
                lowered = [self.guard(section[0], lowered, section=True)]
            result += lowered
        self._dead, self.cut = around, True
        return result

    def _sections(self, block: list) -> list[list]:
        """The block, cut behind every so many statements with exits, and where another kind of exits has cut it. There are exits in each
        section, and what belongs to the statement before stays with it."""
        leaves = [self.contains([statement]) for statement in block]
        last = max((i for i, found in enumerate(leaves) if found), default=-1)
        sections: list[list] = [[]]
        count = 0
        for i, statement in enumerate(block):
            cut = count >= MOST_NESTED or getattr(statement, "section", False)
            if count and cut and i <= last and not getattr(statement, "belongs", False):
                sections.append([])
                count = 0
            sections[-1].append(statement)
            count += leaves[i]
        return sections

    def _nested(self, block: list, *, last: bool) -> list:
        result: list = []
        for index, statement in enumerate(block):
            if not self.contains([statement]):
                result.append(statement)
                continue
            rest = block[index + 1 :]
            if isinstance(statement, self.kind):
                # What stands behind an exit never runs.
                done = self.replace(statement)
                if not last:
                    done += statements("flag = True", at=statement, flag=self.flag)
                    done += self._end(statement, self._dead)
                if not done and not (result and origin.of(result[-1]) is origin.of(statement)):
                    done = statements("pass", at=statement)  # a breakpoint may be there
                return result + done
            if isinstance(statement, gast.If):
                if always_leaves(statement.body):
                    statement.orelse, rest = statement.orelse + rest, []
                elif always_leaves(statement.orelse):
                    statement.body, rest = statement.body + rest, []
            result += self._compound(statement, last=last and not rest)
            if rest:
                result.append(self.guard(statement, self.lower(rest, last=last)))
            return result
        return result

    def guard(self, at: gast.AST, block: list, *, section: bool = False) -> gast.If:
        """`if not flag: block`"""
        self.guards += 1
        found = statements("if not flag: block", at=at, flag=self.flag, block=block)[0]
        found.section = section
        found.orelse = self._end(at, self._dead)
        return found

    def _end(self, at: gast.AST, names: list[str]) -> list:
        """What says of variables that their values are not read any more."""
        return [s for n in names for s in statements("x = _dy.Dead(text)", at=at, x=n, text=nodes.constant(n))]

    def _compound(self, statement: gast.AST, *, last: bool) -> list:
        def block(body: list, last: bool = last) -> list:
            return self.lower(body, last=last) or statements("pass", at=statement)

        if isinstance(statement, (gast.For, gast.While)):
            assert self.loop is not None, "loops inside have no else any more"
            return self.loop(statement)
        if isinstance(statement, gast.If):
            statement.body = block(statement.body)
            statement.orelse = self.lower(statement.orelse, last=last)
        elif isinstance(statement, gast.With):
            statement.body = block(statement.body)
        elif isinstance(statement, gast.Match):
            for case in statement.cases:
                case.body = block(case.body)
        else:
            if self.contains(statement.finalbody):
                reject_in_finally(self.context, statement, self.kind)
            leaves = self.contains(statement.body)
            statement.body = block(statement.body, last and not statement.orelse)
            for handler in statement.handlers:
                handler.body = block(handler.body)
            statement.orelse = self.lower(statement.orelse, last=last)
            if leaves and statement.orelse:
                # An exit from the body skips the else.
                statement.orelse = [self.guard(statement, statement.orelse)]
        return [statement]


class LoopPass(Pass):
    """A pass over the loops of functions, which knows the function around."""

    looks_for = gast.While, gast.For, nodes.ForUntil
    function: gast.FunctionDef

    def visit_FunctionDef(self, node: gast.FunctionDef) -> Any:
        around, self.function = getattr(self, "function", node), node
        try:
            return super().visit_FunctionDef(node)
        finally:
            self.function = around


class _Variables:
    """What is asked of the variables of a function before its exits are replaced."""

    def __init__(self, manager: PassManager, function: gast.FunctionDef, returned: Iterable[str]):
        self._returned = returned
        # of the function as it is now: the pass may have changed parts of it
        self._activity = Activity(function, manager)
        self._graph = Graph(function, self._activity)
        self._scope = self._activity.scope(function)
        self._live = Live(self._graph, self._scope)

    def only_for(self, rest: gast.AST, section: list, exits: list, again: gast.AST | None) -> list[str]:
        """The variables that a section changes and that are read from the statement behind it on, but not once an exit is taken."""
        effects = self._activity.effects(section)
        names = dict.fromkeys([*effects.bound(), *effects.mutated, *effects.called])
        left = [point for e in exits for point in self._graph.entry[e].successors]
        left += [] if again is None else [self._graph.header[again]]
        return [
            n
            for n in names
            if n in self._scope.locals and self._live.at(self._graph.entry[rest], n) and not any(self._live.at(p, n) for p in left)
        ]

    def returned(self, section: list) -> list[str]:
        """The variables of values to be returned that a section sets."""
        return [n for n in self._activity.effects(section).bound() if n in self._returned]


def reject_in_finally(context: Context, statement: gast.AST, kind: type) -> None:
    """Raises the error for an exit inside `finally`."""
    word = kind.__name__.lower()
    found = next(n for n in nodes.walk_scope(statement.finalbody) if isinstance(n, kind))
    raise context.error(
        found, f"'{word}' inside 'finally' cannot be converted", f"move the '{word}' behind the try statement"
    )

