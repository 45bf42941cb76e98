"""A function gets one `return`, at its end."""

from __future__ import annotations

from typing import Any

import gast

from dy2st.transpiler import nodes
from dy2st.transpiler.manager import Pass
from dy2st.transpiler.passes.exits import ExitLowering, always_leaves, contains, reject_in_finally
from dy2st.transpiler.templates import statements


class EarlyReturn(Pass):
    """A `return` in a branch or a loop becomes an assignment; what follows moves into the other branch.

    >>> manager = PassManager(gast.parse("def f(x):\\n    if x > 0:\\n        return x\\n    x = g(x)\\n    return -x"))
    >>> print(show(manager.apply(EarlyReturn)))
    def f(x):
        if x > 0:
            retval_ = x
        else:
            x = g(x)
            retval_ = -x
        return retval_

    A `return` in a loop leaves the loop by `break`, and a flag guards what follows:

    >>> manager = PassManager(gast.parse("def f(xs):\\n    for x in xs:\\n        if x > 0:\\n            return x\\n    print(xs)"))
    >>> print(show(manager.apply(EarlyReturn)))
    def f(xs):
        do_return_ = False
        for x in xs:
            retval_ = _dy.Unread('retval_')
            if x > 0:
                retval_ = x
                do_return_ = True
                break
        if not do_return_:
            print(xs)
            retval_ = None
        return retval_
    """

    def visit_FunctionDef(self, node: gast.FunctionDef) -> Any:
        super().visit_FunctionDef(node)
        if not getattr(node, "plain", False) and _returns_early(node.body):
            self._lower(node)
            self.changed = True
        return node

    def _lower(self, node: gast.FunctionDef) -> None:
        returns = [n for n in nodes.walk_scope(node.body) if isinstance(n, gast.Return)]
        with_value = any(r.value is not None for r in returns)
        if not always_leaves(node.body):
            # Falling off the end returns None, like any other path.
            node.body += statements("return", at=node.body[-1])
        value = self.context.namer.fresh("retval_") if with_value else None
        flag = self.context.namer.fresh("do_return_")

        def assign(statement: gast.Return) -> list:
            if value is None:
                return []
            result = statement.value if statement.value is not None else nodes.constant(None)
            return statements("value = result", at=statement, value=value, result=result)

        def loop(statement: gast.For | gast.While) -> list:
            return _InLoop(lowering, assign, value).leave(statement)

        lowering = ExitLowering(self, node, gast.Return, flag, assign, loop, value=value)
        self.context.returned.update([value] if value is not None else ())
        docstring, rest = nodes.split_docstring(node.body)
        body = lowering.lower(rest, last=True)
        start = statements("flag = False", at=node, flag=flag) if lowering.guards else []
        if value is not None and lowering.cut:
            start += statements("x = _dy.Dead(text)", at=node, x=value, text=nodes.constant(value))
        end = statements("return value", at=node, value=value) if value is not None else []
        node.body = [*docstring, *start, *body, *end] or statements("pass", at=node)


def _returns_early(body: list) -> bool:
    """Whether a `return` stands in a branch, a loop or a `try` (inside `with` alone Python does it right)."""
    for statement in body:
        inner = nodes.blocks(statement)
        if isinstance(statement, (gast.If, gast.For, gast.While, gast.Try)):
            if any(contains(b, gast.Return, into_loops=True) for b in inner):
                return True
        elif any(_returns_early(b) for b in inner):
            return True
    return False


class _InLoop:
    """Inside a loop a `return` sets value and flag and breaks, and so do the loops around it.

    At the begin of an iteration the variable of the value is emptied: had an iteration before set it, there would be none. So what the loop
    changes is never what is returned.
    """

    def __init__(self, lowering: ExitLowering, assign: Any, value: str | None):
        self.lowering, self.assign, self.value = lowering, assign, value

    def leave(self, loop: gast.For | gast.While) -> list:
        """The loop with its returns replaced."""
        loop.body = self._iteration(loop)
        # The else of a loop is no part of the loop.
        loop.orelse = self.lowering.lower(loop.orelse, last=False)
        # A return in the body is a break of this loop, which skips the else; the flag then guards what follows.
        return [loop]

    def _iteration(self, loop: gast.For | gast.While) -> list:
        empty = [] if self.value is None else statements("x = _dy.Unread(text)", at=loop, x=self.value, text=nodes.constant(self.value))
        return [*empty, *self._block(loop.body)]

    def _block(self, block: list) -> list:
        result: list = []
        for statement in block:
            if isinstance(statement, gast.Return):
                return [
                    *result,
                    *self.assign(statement),
                    *statements("flag = True\nbreak", at=statement, flag=self.lowering.flag),
                ]
            result.append(statement)
            if not contains([statement], gast.Return, into_loops=True):
                continue
            if isinstance(statement, (gast.Try, gast.TryStar)) and contains(
                statement.finalbody, gast.Return, into_loops=True
            ):
                reject_in_finally(self.lowering.context, statement, gast.Return)
            if isinstance(statement, (gast.For, gast.While)):
                statement.body = self._iteration(statement)
                statement.orelse = self._block(statement.orelse)
                self.lowering.guards += 1
                onward = statements("if flag: break", at=statement, flag=self.lowering.flag)[0]
                onward.belongs = True  # until it has run, the loop's value is on its way
                result.append(onward)
                continue
            for inner in nodes.blocks(statement):
                inner[:] = self._block(inner)
        return result
