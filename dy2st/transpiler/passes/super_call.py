"""`super()` gets its arguments."""

from __future__ import annotations

from typing import Any

import gast

from dy2st.transpiler import nodes
from dy2st.transpiler.analysis.activity import FunctionScope
from dy2st.transpiler.manager import Pass
from dy2st.transpiler.templates import expression


class SuperCall(Pass):
    """Python finds the arguments of `super()` in the frame that calls it, which will be another one.

    >>> manager = PassManager(gast.parse("def forward(self, x):\\n    return super().forward(x)"))
    >>> print(show(manager.apply(SuperCall)))
    def forward(self, x):
        return super(__class__, self).forward(x)

    A variable of the user's that is called so is left alone.
    """

    in_generators = True

    def run(self, tree: gast.AST) -> gast.AST:
        self.first: gast.Name | None = None
        self.is_own = "super" in self.context.free
        return self.visit(tree) if self.context.namer.is_used("super") else tree

    def visit_FunctionDef(self, node: gast.FunctionDef) -> Any:
        outer = self.first, self.is_own
        self.first = next(iter(nodes.parameters(node.args)), None)
        scope = FunctionScope(node)
        self.is_own = "super" in scope.locals or (self.is_own and "super" not in scope.globals)
        super().visit_FunctionDef(node)
        self.first, self.is_own = outer
        return node

    def visit_Call(self, node: gast.Call) -> Any:
        self.generic_visit(node)
        called = node.func
        if self.is_own or self.first is None or node.args or node.keywords:
            return node
        if isinstance(called, gast.Name) and called.id == "super":
            return expression("super(__class__, first)", at=node, first=self.first.id)
        return node
