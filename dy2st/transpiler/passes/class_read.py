"""`x.__class__`."""

from __future__ import annotations

from typing import Any

import gast

from dy2st.transpiler.manager import Pass
from dy2st.transpiler.templates import expression


class ClassRead(Pass):
    """What stands for a number of Python, or for a list, has another class than that while a function is traced.

    >>> manager = PassManager(gast.parse("def f(n):\\n    return n.__class__.__name__"))
    >>> print(show(manager.apply(ClassRead)))
    def f(n):
        return _dy.class_of(n).__name__
    """

    in_generators = True

    def run(self, tree: gast.AST) -> gast.AST:
        return self.visit(tree) if self.context.namer.is_used("__class__") else tree

    def visit_Attribute(self, node: gast.Attribute) -> Any:
        self.generic_visit(node)
        if node.attr != "__class__" or not isinstance(node.ctx, gast.Load):
            return node
        return expression("_dy.class_of(x)", at=node, x=node.value)
