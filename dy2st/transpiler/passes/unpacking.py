"""Assignments to several names at once."""

from __future__ import annotations

import gast

from dy2st.transpiler import nodes
from dy2st.transpiler.manager import Pass


class Unpacking(Pass):
    """Of how many parts a value is may only be known at run time.

    >>> manager = PassManager(gast.parse("def f(x, y):\\n    a, (b, c) = g(x)\\n    a, b = b, a\\n    a, *b = x"))
    >>> print(show(manager.apply(Unpacking)))
    def f(x, y):
        a, (b, c) = _dy.unpacked(g(x), 2)
        a, b = (b, a)
        a, b = _dy.unpacked_rest(x, 1, 0)
    """

    def visit_Assign(self, node: gast.Assign) -> gast.Assign:
        self.generic_visit(node)
        target = node.targets[0]
        if len(node.targets) > 1 or not isinstance(target, (gast.Tuple, gast.List)) or isinstance(node.value, (gast.Tuple, gast.List)):
            return node
        starred = [i for i, e in enumerate(target.elts) if isinstance(e, gast.Starred)]
        if starred:
            before, after = starred[0], len(target.elts) - starred[0] - 1
            target.elts[before] = target.elts[before].value
            node.value = nodes.dy("unpacked_rest", node.value, nodes.constant(before), nodes.constant(after))
        else:
            node.value = nodes.dy("unpacked", node.value, nodes.constant(len(target.elts)))
        self.changed = True
        return node
