"""What `return`, `break` and `continue` have in common: what follows a taken exit must not run."""

from __future__ import annotations

from collections.abc import Callable

import gast

from dy2st.transpiler import nodes
from dy2st.transpiler.manager import Context
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


class ExitLowering:
    """Replaces exits of one kind in a block by other statements, and keeps the rest from running.

    Where a branch always leaves, the rest moves into the other branch. Else the rest is guarded by the
    flag that the replacement sets.

    Args:
        kind: the statement that exits.
        flag: the variable that says that an exit was taken.
        replace: what stands in the place of an exit, but for the setting of the flag.
        loop: what to do with a loop that contains the exit; None if exits in loops are the loops' own.
    """

    def __init__(
        self,
        context: Context,
        kind: type,
        flag: str,
        replace: Callable[[gast.AST], list],
        loop: Callable[[gast.AST], list] | None = None,
    ):
        self.context, self.kind, self.flag, self.replace, self.loop = context, kind, flag, replace, loop
        self.guards = 0  # how often the flag is read

    def contains(self, block: list) -> bool:
        return contains(block, self.kind, into_loops=self.loop is not None)

    def lower(self, block: list, *, last: bool) -> list:
        """The block without exits. `last`: nothing follows it, so the flag need not be set."""
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
                return result + (done or statements("pass", at=statement))  # a breakpoint may be there
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

    def guard(self, at: gast.AST, block: list) -> gast.If:
        """`if not flag: block`"""
        self.guards += 1
        return statements("if not flag: block", at=at, flag=self.flag, block=block)[0]

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


def reject_in_finally(context: Context, statement: gast.AST, kind: type) -> None:
    """Raises the error for an exit inside `finally`."""
    word = kind.__name__.lower()
    found = next(n for n in nodes.walk_scope(statement.finalbody) if isinstance(n, kind))
    raise context.error(
        found, f"'{word}' inside 'finally' cannot be converted", f"move the '{word}' behind the try statement"
    )

