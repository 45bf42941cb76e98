"""`raise` of, and `from`, what a variable holds or a call gives."""

from __future__ import annotations

import builtins
from typing import Any

import gast

from dy2st.transpiler import nodes
from dy2st.transpiler.manager import Pass
from dy2st.transpiler.templates import expression


class RaiseStmt(Pass):
    """Which exception a variable holds, or of which class one is made, may be known to the run only; one of Python's own classes is known.

    >>> manager = PassManager(gast.parse("def f(e):\\n    raise e from None\\n    raise Failed(e)\\n    raise ValueError(e) from e"))
    >>> print(show(manager.apply(RaiseStmt)))
    def f(e):
        raise _dy.exception(e) from None
        raise _dy.exception(Failed(e))
        raise _dy.caused(ValueError(e), e, True)
    """

    in_generators = True

    def visit_Raise(self, node: gast.Raise) -> Any:
        if node.cause is not None and not isinstance(node.cause, gast.Constant):
            is_new = nodes.constant(isinstance(node.exc, gast.Call))
            node.exc, node.cause = expression("_dy.caused(x, y, new)", at=node, x=node.exc, y=node.cause, new=is_new), None
            self.changed = True
        elif node.exc is not None and not _is_known(node.exc):
            node.exc = expression("_dy.exception(x)", at=node, x=node.exc)
            self.changed = True
        return node


def _is_known(exception: gast.expr) -> bool:
    """Whether it is `ValueError(...)`, or another one of the classes that Python has."""
    return isinstance(exception, gast.Call) and is_of_python(exception.func)


def is_of_python(kind: gast.expr) -> bool:
    """Whether an expression is the name of a class of exceptions that Python has."""
    known = getattr(builtins, kind.id, None) if isinstance(kind, gast.Name) else None
    return isinstance(known, type) and issubclass(known, BaseException)
