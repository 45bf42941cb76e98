"""`assert`."""

from __future__ import annotations

from typing import Any

import gast

from dy2st.transpiler import nodes
from dy2st.transpiler.manager import Pass
from dy2st.transpiler.templates import statements


class AssertStmt(Pass):
    """An `assert` becomes a call; its message is evaluated only when it fails.

    >>> manager = PassManager(gast.parse("def f(x):\\n    assert x > 0, g(x)\\n    assert x"))
    >>> print(show(manager.apply(AssertStmt)))
    def f(x):
        _dy.assert_stmt(x > 0, lambda: g(x))
        _dy.assert_stmt(x, None)

    With `python -O` there are none, as Python compiles them to nothing then.
    """

    in_generators = True

    def visit_Assert(self, node: gast.Assert) -> Any:
        if not __debug__:
            return statements("pass", at=node)
        self.generic_visit(node)
        if self.suspended and node.msg is not None and nodes.stays_in_place([node.msg]):
            return node
        message = nodes.constant(None) if node.msg is None else nodes.thunk(node.msg)
        return statements("_dy.assert_stmt(test, message)", at=node, test=node.test, message=message)
