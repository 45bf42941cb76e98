"""`raise` of what a variable holds, or a call gives."""

from __future__ import annotations

import builtins
from typing import Any

import gast

from dy2st.transpiler.manager import Pass
from dy2st.transpiler.templates import expression


class RaiseStmt(Pass):
    """Which exception a variable holds, or of which class one is made, may be known to the run only; one of Python's own classes is known.

    >>> manager = PassManager(gast.parse("def f(e):\\n    raise e from None\\n    raise Failed(e)\\n    raise ValueError(e)"))
    >>> print(show(manager.apply(RaiseStmt)))
    def f(e):
        raise _dy.exception(e) from None
        raise _dy.exception(Failed(e))
        raise ValueError(e)
    """

    in_generators = True

    def visit_Raise(self, node: gast.Raise) -> Any:
        if node.exc is not None and not _is_known(node.exc):
            node.exc = expression("_dy.exception(x)", at=node, x=node.exc)
            self.changed = True
        return node


def _is_known(exception: gast.expr) -> bool:
    """Whether it is `ValueError(...)`, or another one of the classes that Python has."""
    name = exception.func.id if isinstance(exception, gast.Call) and isinstance(exception.func, gast.Name) else ""
    known = getattr(builtins, name, None)
    return isinstance(known, type) and issubclass(known, BaseException)
