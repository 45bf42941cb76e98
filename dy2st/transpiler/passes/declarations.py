"""`global` and `nonlocal` move to the head of their function."""

from __future__ import annotations

from typing import Any

import gast

from dy2st.transpiler import nodes, origin
from dy2st.transpiler.manager import Pass


class Declarations(Pass):
    """Collects declarations at the head, as the blocks around them are about to become functions.

    >>> manager = PassManager(gast.parse("def f():\\n    if c:\\n        global x\\n        x = 1"))
    >>> print(show(manager.apply(Declarations)))
    def f():
        global x
        if c:
            pass
            x = 1
    """

    looks_for = (gast.Global, gast.Nonlocal)

    def run(self, tree: gast.AST) -> gast.AST:
        self.found: dict[type, dict[str, None]] = {}
        return self.visit(tree)

    def visit_FunctionDef(self, node: gast.FunctionDef) -> Any:
        outer = self.found
        self.found = {gast.Global: {}, gast.Nonlocal: {}}
        super().visit_FunctionDef(node)
        head = [kind(list(names)) for kind, names in self.found.items() if names]
        for declaration in head:
            origin.inherit(declaration, node)
        docstring, rest = nodes.split_docstring(node.body)
        node.body = [*docstring, *head, *rest]
        self.found = outer
        return node

    def _declaration(self, node: gast.Global | gast.Nonlocal) -> gast.AST:
        self.found[type(node)].update(dict.fromkeys(node.names))
        return origin.inherit(gast.copy_location(gast.Pass(), node), node)

    visit_Global = visit_Nonlocal = _declaration
