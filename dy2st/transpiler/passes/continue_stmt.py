"""`continue`."""

from __future__ import annotations

from typing import Any

import gast

from dy2st.transpiler.passes.exits import ExitLowering, LoopPass, contains
from dy2st.transpiler.templates import statements


class ContinueStmt(LoopPass):
    """What follows a `continue` moves into the other branch, or is guarded by a flag.

    >>> manager = PassManager(gast.parse('''
    ... def f(xs):
    ...     for x in xs:
    ...         if x > 3:
    ...             continue
    ...         print(x)
    ... '''))
    >>> print(show(manager.apply(ContinueStmt)))
    def f(xs):
        for x in xs:
            if x > 3:
                pass
            else:
                print(x)
    """

    def _loop(self, node: gast.While | gast.For) -> Any:
        self.generic_visit(node)
        if contains(node.body, gast.Continue, into_loops=False):
            flag = self.context.namer.fresh("continue_")
            lowering = ExitLowering(self, self.function, gast.Continue, flag, lambda statement: [])
            body = lowering.lower(node.body, last=True)
            start = statements("flag = False", at=node, flag=flag) if lowering.guards else []
            node.body = [*start, *body] or statements("pass", at=node)
            self.changed = True
        return node

    visit_While = visit_For = visit_ForUntil = _loop
