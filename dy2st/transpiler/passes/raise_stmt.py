"""`raise` of what a variable holds."""

from __future__ import annotations

from typing import Any

import gast

from dy2st.transpiler.manager import Pass
from dy2st.transpiler.templates import expression


class RaiseStmt(Pass):
    """Which exception a variable holds may be known to the run only; one that is made where it is raised is known.

    >>> manager = PassManager(gast.parse("def f(e):\\n    raise e from None\\n    raise ValueError(e)"))
    >>> print(show(manager.apply(RaiseStmt)))
    def f(e):
        raise _dy.exception(e) from None
        raise ValueError(e)
    """

    in_generators = True

    def visit_Raise(self, node: gast.Raise) -> Any:
        if isinstance(node.exc, (gast.Name, gast.Attribute, gast.Subscript)):
            node.exc = expression("_dy.exception(x)", at=node, x=node.exc)
            self.changed = True
        return node
