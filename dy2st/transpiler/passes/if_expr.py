"""Ternaries."""

from __future__ import annotations

from typing import Any

import gast

from dy2st.transpiler import nodes
from dy2st.transpiler.manager import Pass
from dy2st.transpiler.templates import expression


class IfExpr(Pass):
    """`a if c else b` evaluates one of its operands, which become functions.

    >>> manager = PassManager(gast.parse("def f(c):\\n    return g(c) if c > 0 else -c"))
    >>> print(show(manager.apply(IfExpr)))
    def f(c):
        return _dy.if_expr(c > 0, lambda: g(c), lambda: -c)
    """

    in_generators = True

    def visit_IfExp(self, node: gast.IfExp) -> Any:
        self.generic_visit(node)
        if self.suspended and nodes.stays_in_place([node.body, node.orelse]):
            return node
        body, orelse = nodes.thunk(node.body), nodes.thunk(node.orelse)
        return expression("_dy.if_expr(test, body, orelse)", at=node, test=node.test, body=body, orelse=orelse)
