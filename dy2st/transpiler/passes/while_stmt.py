"""`while` loops."""

from __future__ import annotations

from typing import Any

import gast

from dy2st.transpiler.manager import Pass
from dy2st.transpiler.passes.blocks import Accessors, block_function
from dy2st.transpiler.templates import statements


class WhileStmt(Pass):
    """A `while` becomes a function for its test, one for its body, and a call of the runtime.

    >>> manager = PassManager(gast.parse("def f(n):\\n    while n > 0:\\n        n -= 1\\n    return n"))
    >>> print(show([manager.apply(p) for p in (BlockState, WhileStmt)][-1]))
    def f(n):
    <BLANKLINE>
        def get_state():
            return (n,)
    <BLANKLINE>
        def set_state(state_):
            nonlocal n
            n, = state_
    <BLANKLINE>
        def loop_test():
            return n > 0
    <BLANKLINE>
        def loop_body():
            nonlocal n
            n -= 1
        _dy.while_stmt(loop_test, loop_body, get_state, set_state, ('n',))
        return n
    """

    def visit_While(self, node: gast.While) -> Any:
        accessors = Accessors(node, node.state, self.context.namer)
        test, body = self.context.namer.fresh("loop_test"), self.context.namer.fresh("loop_body")
        node.body = self.visit_block(node.body)
        getter, setter, names = accessors.arguments
        result = statements("return test", at=node.test, test=node.test)
        return [
            *accessors.definitions,
            *block_function(node, test, node.state, "test", result),
            *block_function(node, body, node.state, "body", node.body),
            *statements(
                "_dy.while_stmt(loop_test, loop_body, getter, setter, names)",
                at=node,
                loop_test=test,
                loop_body=body,
                getter=getter,
                setter=setter,
                names=names,
            ),
        ]
