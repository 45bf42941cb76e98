"""f-strings and `%` on texts."""

from __future__ import annotations

from typing import Any

import gast

from dy2st.transpiler.manager import Pass
from dy2st.transpiler.templates import expression, statements


class Texts(Pass):
    """What the values of tensors are put into is a text that only the run knows, as is its length.

    >>> manager = PassManager(gast.parse("def f(x, k):\\n    return f'{x:.2f}! {x!r:>{k}}', '%d of %d' % (x, 3), x % 2, 7 % k"))
    >>> print(show(manager.apply(Texts)).replace('"', "'"))  # which quotes are around depends on the version of Python
    def f(x, k):
        return (_dy.text(f'{x:.2f}! {_dy.shown(x, 'r', _dy.text(f'>{k}'))}'), _dy.percent('%d of %d', (x, 3)), _dy.percent(x, 2), 7 % k)
    """

    in_generators = True
    looks_for = (gast.JoinedStr, gast.Mod)

    def visit_JoinedStr(self, node: gast.JoinedStr) -> Any:
        for part in node.values:
            if isinstance(part, gast.FormattedValue):
                part.value = self.visit(part.value)
                self._shown(part)
        return expression("_dy.text(t)", at=node, t=node)

    def _shown(self, part: gast.FormattedValue) -> None:
        """Where Python would pad or cut a text, or is told how by a value."""
        if part.format_spec is None:
            return
        parts = part.format_spec.values
        if all(isinstance(p, gast.Constant) for p in parts):
            if part.conversion == -1:
                return
            spec: gast.expr = gast.Constant("".join(p.value for p in parts), None)
        else:
            spec = self.visit(part.format_spec)
        how = gast.Constant("" if part.conversion == -1 else chr(part.conversion), None)
        part.value = expression("_dy.shown(x, how, spec)", at=part, x=part.value, how=how, spec=spec)
        part.conversion, part.format_spec = -1, None

    def visit_BinOp(self, node: gast.BinOp) -> Any:
        self.generic_visit(node)
        if isinstance(node.op, gast.Mod) and not (isinstance(node.left, gast.Constant) and not isinstance(node.left.value, str)):
            return expression("_dy.percent(a, b)", at=node, a=node.left, b=node.right)
        return node

    def visit_AugAssign(self, node: gast.AugAssign) -> Any:
        self.generic_visit(node)
        if isinstance(node.op, gast.Mod) and isinstance(node.target, gast.Name):
            return statements("a = _dy.percent_of(a, b)", at=node, a=node.target.id, b=node.value)
        return node
