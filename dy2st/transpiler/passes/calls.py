"""Calls."""

from __future__ import annotations

from typing import Any

import gast

from dy2st.transpiler import nodes
from dy2st.transpiler.manager import Pass
from dy2st.transpiler.templates import expression


class Calls(Pass):
    """The runtime sees each function before it is called, and may convert it.

    >>> manager = PassManager(gast.parse("def f(x):\\n    print(x.mean(0), *x)"))
    >>> print(show(manager.apply(Calls)))
    def f(x):
        _dy.call(print)(_dy.call(x.mean)(0), *x)
    """

    def visit_Call(self, node: gast.Call) -> Any:
        self.generic_visit(node)
        if nodes.is_dy_call(node) or getattr(node, "generated", False) or _is_super(node):
            return node
        node.func = expression("_dy.call(f)", at=node.func, f=node.func)
        self.changed = True
        return node


def _is_super(node: gast.Call) -> bool:
    # `super` looks into no frame any more, and what it makes is no function.
    return isinstance(node.func, gast.Name) and node.func.id == "super"
