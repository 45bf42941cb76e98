"""`super()` gets its arguments."""

from __future__ import annotations

from typing import Any

import gast

from dy2st.transpiler import nodes
from dy2st.transpiler.manager import Pass
from dy2st.transpiler.templates import expression


class SuperCall(Pass):
    """Python finds the arguments of `super()` in the frame that calls it, which will be another one.

    >>> manager = PassManager(gast.parse("def forward(self, x):\\n    return super().forward(x)"))
    >>> print(show(manager.apply(SuperCall)))
    def forward(self, x):
        return super(__class__, self).forward(x)
    """

    def run(self, tree: gast.AST) -> gast.AST:
        self.first: gast.Name | None = None
        return self.visit(tree) if self.context.namer.is_used("super") else tree

    def visit_FunctionDef(self, node: gast.FunctionDef) -> Any:
        outer = self.first
        self.first = next(iter(nodes.parameters(node.args)), None)
        super().visit_FunctionDef(node)
        self.first = outer
        return node

    def visit_Call(self, node: gast.Call) -> Any:
        self.generic_visit(node)
        called = node.func
        if isinstance(called, gast.Name) and called.id == "super" and not (node.args or node.keywords) and self.first:
            return expression("super(__class__, first)", at=node, first=self.first.id)
        return node
