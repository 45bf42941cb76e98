"""`break`, and the `else` of loops."""

from __future__ import annotations

from typing import Any

import gast

from dy2st.transpiler import nodes, origin
from dy2st.transpiler.passes.exits import ExitLowering, LoopPass, contains
from dy2st.transpiler.templates import statements


class BreakStmt(LoopPass):
    """A `break` becomes a flag, which is asked before the loop's own test.

    >>> manager = PassManager(gast.parse('''
    ... def f(x):
    ...     while x > g(x):
    ...         x -= 1
    ...         if x == 3:
    ...             break
    ...         h(x)
    ...     else:
    ...         x = 0
    ... '''))
    >>> print(show(manager.apply(BreakStmt)))
    def f(x):
        break_ = False
        while not break_ and x > g(x):
            x -= 1
            if x == 3:
                break_ = True
            else:
                h(x)
        if not break_:
            x = 0
    """

    def visit_While(self, node: gast.While) -> Any:
        flag, start = self._lower(node)
        if flag is not None:
            if isinstance(node.test, gast.Constant) and node.test.value:
                test = nodes.not_(nodes.name(flag))
            else:
                test = nodes.both(nodes.not_(nodes.name(flag)), node.test)
            node.test = origin.inherit(test, node.test)
        return [*start, *self._else(node, flag)]

    def visit_For(self, node: gast.For) -> Any:
        flag, start = self._lower(node)
        if flag is not None:
            node = origin.inherit(nodes.for_until(node, nodes.not_(nodes.name(flag))), node)
        return [*start, *self._else(node, flag)]

    def _lower(self, node: gast.While | gast.For) -> tuple[str | None, list]:
        """The flag of the loop, None if it has no break, and the statements before the loop."""
        flag = self.context.namer.fresh("break_") if contains(node.body, gast.Break, into_loops=False) else None
        self.generic_visit(node)  # the else of a loop inside belongs to this loop, and is moved behind that one
        if flag is None:
            return None, []
        lowering = ExitLowering(self, self.function, gast.Break, flag, lambda statement: [], again=node)
        node.body = lowering.lower(node.body, last=False)
        return flag, statements("flag = False", at=node, flag=flag)

    def _else(self, node: gast.While | gast.For, flag: str | None) -> list:
        orelse, node.orelse = node.orelse, []
        if flag is None:
            return [node, *orelse]
        if not orelse:
            return [node]
        return [node, *statements("if not flag: orelse", at=node, flag=flag, orelse=orelse)]
