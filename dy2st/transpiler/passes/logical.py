"""`and`, `or` and `not`."""

from __future__ import annotations

from typing import Any

import gast

from dy2st.transpiler import nodes
from dy2st.transpiler.manager import Pass
from dy2st.transpiler.templates import expression


class Logical(Pass):
    """The operands of `and` and `or` become functions, so that they are evaluated only where Python would.

    >>> manager = PassManager(gast.parse("def f(a, b):\\n    return a > 0 and not b[a]"))
    >>> print(show(manager.apply(Logical)))
    def f(a, b):
        return _dy.and_(lambda: a > 0, lambda: _dy.not_(b[a]))
    """

    in_generators = True
    looks_for = (gast.BoolOp, gast.Not)

    def visit_BoolOp(self, node: gast.BoolOp) -> Any:
        self.generic_visit(node)
        if self.suspended and nodes.stays_in_place(node.values):
            return node
        name = "and" if isinstance(node.op, gast.And) else "or"
        call = expression(f"_dy.{name}_{'test' if getattr(node, 'truth', False) else ''}()", at=node)
        for operand in node.values:
            thunk = nodes.thunk(operand)
            thunk.origin = getattr(operand, "origin", None)
            call.args.append(thunk)
        return call

    def visit_UnaryOp(self, node: gast.UnaryOp) -> Any:
        self.generic_visit(node)
        return expression("_dy.not_(x)", at=node, x=node.operand) if isinstance(node.op, gast.Not) else node
