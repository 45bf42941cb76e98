"""f-strings and `%` on texts."""

from __future__ import annotations

from typing import Any

import gast

from dy2st.transpiler.manager import Pass
from dy2st.transpiler.templates import expression


class Texts(Pass):
    """What the values of tensors are put into is a text that only the run knows.

    >>> manager = PassManager(gast.parse("def f(x):\\n    return f'{x:.{2}f}!', '%d of %d' % (x, 3), x % 2"))
    >>> print(show(manager.apply(Texts)))
    def f(x):
        return (_dy.text(f'{x:.{2}f}!'), _dy.percent('%d of %d', (x, 3)), x % 2)
    """

    in_generators = True
    looks_for = (gast.JoinedStr, gast.Mod)

    def visit_JoinedStr(self, node: gast.JoinedStr) -> Any:
        for part in node.values:
            if isinstance(part, gast.FormattedValue):
                part.value = self.visit(part.value)  # but not the format, which is a JoinedStr too
        return expression("_dy.text(t)", at=node, t=node)

    def visit_BinOp(self, node: gast.BinOp) -> Any:
        self.generic_visit(node)
        if isinstance(node.op, gast.Mod) and isinstance(node.left, gast.Constant) and isinstance(node.left.value, str):
            return expression("_dy.percent(a, b)", at=node, a=node.left, b=node.right)
        return node
