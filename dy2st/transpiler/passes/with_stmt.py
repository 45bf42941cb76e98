"""`with` statements, and `try` with `except*`, which stay Python's."""

from __future__ import annotations

from typing import Any

import gast

from dy2st.transpiler.manager import Pass
from dy2st.transpiler.templates import expression, statements


class WithStmt(Pass):
    """The runtime sees what may keep an exception from going on: context managers, and `except*`.

    >>> manager = PassManager(gast.parse('''
    ... def f(x):
    ...     with a, b(x) as c:
    ...         g(c)
    ... '''))
    >>> print(show(manager.apply(WithStmt)))
    def f(x):
        with _dy.manager(a), _dy.manager(b(x)) as c:
            g(c)
    """

    in_generators = True

    def visit_withitem(self, node: gast.withitem) -> Any:
        self.generic_visit(node)
        node.context_expr = expression("_dy.manager(x)", at=node.context_expr, x=node.context_expr)
        self.changed = True
        return node

    def visit_TryStar(self, node: gast.TryStar) -> Any:
        self.generic_visit(node)
        node.body = statements("with _dy.except_star(): body", at=node.body[0], body=node.body)
        self.changed = True
        return node
