"""Annotated assignments become plain ones."""

from __future__ import annotations

from typing import Any

import gast

from dy2st.transpiler import nodes, origin
from dy2st.transpiler.analysis.activity import Activity
from dy2st.transpiler.manager import Pass


class Annotations(Pass):
    """Python does not evaluate annotations inside functions, and it forbids them on `nonlocal` names.

    >>> manager = PassManager(gast.parse("def f(a):\\n    x: int = a\\n    self.y: int\\n    x: float"))
    >>> print(show(manager.apply(Annotations)))
    def f(a):
        x = a
        self
        pass
    """

    requires = (Activity,)
    looks_for = (gast.AnnAssign,)

    def run(self, tree: gast.AST) -> gast.AST:
        self.bound: list[str] = []
        return self.visit(tree)

    def visit_FunctionDef(self, node: gast.FunctionDef) -> Any:
        outer = self.bound
        self.bound = self.analysis(Activity).scope(node).effects.bound()
        super().visit_FunctionDef(node)
        self.bound = outer
        return node

    def visit_AnnAssign(self, node: gast.AnnAssign) -> Any:
        if node.value is not None:
            new = nodes.assign(node.target, self.visit(node.value))
        elif not isinstance(node.target, gast.Name):
            new = nodes.expr(_evaluated(node.target))
        elif node.target.id in self.bound:
            new = gast.Pass()
        else:
            # The annotation alone makes the name a local variable, one without a value.
            new = nodes.undefined(node.target.id)
            new.unbinds = True
        return origin.inherit(new, node)


def _evaluated(target: gast.AST) -> gast.AST:
    # Of `a.b: int` Python evaluates nothing but `a`, of `a[i]: int` both `a` and `i`.
    parts = [target.value, target.slice] if isinstance(target, gast.Subscript) else [target.value]
    parts = [nodes.load(p) for p in parts if not isinstance(p, gast.Slice)]
    return parts[0] if len(parts) == 1 else nodes.tuple_of(parts)
