"""Items that are read under keys that only the run may know."""

from __future__ import annotations

from typing import Any

import gast

from dy2st.transpiler import nodes
from dy2st.transpiler.manager import Pass
from dy2st.transpiler.names import unwrap
from dy2st.transpiler.templates import expression


class SubscriptRead(Pass):
    """A list, tuple or dict of Python may be asked for an item whose index or key depends on a tensor.

    A key that is a constant stays as it is. An item that is only asked for its truth says so.

    >>> manager = PassManager(gast.parse("def f(a, i):\\n    return a[i], a[-1], a[i:], a[0, i:]"))
    >>> print(show(manager.apply(SubscriptRead)))
    def f(a, i):
        return (_dy.getitem(a, i), a[-1], _dy.getslice(a, i, None, None), _dy.getitem(a, (0, _dy.slice(i, None, None))))
    """

    in_generators = True

    def visit_Subscript(self, node: gast.Subscript) -> Any:
        found = self._read(node)
        if getattr(node, "truth", False) and nodes.is_dy_call(found, "getitem"):
            found.func.attr = "item_for"
            found.args.insert(0, nodes.constant(None))
        return found

    def _read(self, node: gast.Subscript) -> Any:
        self.generic_visit(node)
        if not isinstance(node.ctx, gast.Load):
            return node
        if nodes.is_dy_call(node.value, "getitem") and _is_simple(node.slice):
            call = expression("_dy.getitem()", at=node)
            call.args = [*node.value.args, node.slice]
            return call
        if nodes.is_constant_key(node.slice):
            return node
        if isinstance(node.slice, gast.Slice):
            bounds = (node.slice.lower, node.slice.upper, node.slice.step)
            start, stop, step = (nodes.constant(None) if b is None else b for b in bounds)
            return expression("_dy.getslice(base, a, b, c)", at=node, base=node.value, a=start, b=stop, c=step)
        return expression("_dy.getitem(base, key)", at=node, base=node.value, key=nodes.key_object(node.slice))


def _is_simple(key: gast.AST) -> bool:
    """Whether nothing can happen where a key is evaluated."""
    key = unwrap(key)
    return isinstance(key, (gast.Name, gast.Constant)) or (isinstance(key, gast.UnaryOp) and isinstance(key.operand, gast.Constant))
