"""`x.__class__`, and what else an object has elsewhere than among its attributes."""

from __future__ import annotations

from typing import Any

import gast

from dy2st.transpiler.manager import Pass
from dy2st.transpiler.names import ELSEWHERE
from dy2st.transpiler.templates import expression


class ClassRead(Pass):
    """What stands for a number of Python, or for a list, has another class than that while a function is traced; and only an object that
    the function makes can be given another class, or a dict of other attributes.

    >>> manager = PassManager(gast.parse("def f(n, c):\\n    n.__class__ = c\\n    return n.__class__.__name__"))
    >>> print(show(manager.apply(ClassRead)))
    def f(n, c):
        _dy.StructuralState(n).__class__ = c
        return _dy.class_of(n).__name__
    """

    in_generators = True

    def run(self, tree: gast.AST) -> gast.AST:
        return self.visit(tree) if any(map(self.context.namer.is_used, ELSEWHERE)) else tree

    def visit_Attribute(self, node: gast.Attribute) -> Any:
        self.generic_visit(node)
        if node.attr == "__class__" and isinstance(node.ctx, gast.Load):
            return expression("_dy.class_of(x)", at=node, x=node.value)
        if node.attr in ELSEWHERE and isinstance(node.ctx, gast.Store):
            node.value = expression("_dy.StructuralState(x)", at=node, x=node.value)
        return node
