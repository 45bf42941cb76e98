"""`if` statements."""

from __future__ import annotations

from typing import Any

import gast

from dy2st.transpiler import nodes
from dy2st.transpiler.manager import Pass
from dy2st.transpiler.passes.blocks import Accessors, block_function
from dy2st.transpiler.templates import statements


class IfStmt(Pass):
    """An `if` becomes two functions and a call of the runtime, which decides whether to run one or to stage both.

    >>> manager = PassManager(gast.parse('''
    ... def f(x):
    ...     if x > 0:
    ...         y = x
    ...     else:
    ...         y = -x
    ...     return y
    ... '''))
    >>> print(show([manager.apply(p) for p in (BlockState, IfStmt)][-1]))
    def f(x):
        y = _dy.Undefined('y')
    <BLANKLINE>
        def get_state():
            return (y,)
    <BLANKLINE>
        def set_state(state_):
            nonlocal y
            y, = state_
    <BLANKLINE>
        def if_body():
            nonlocal y
            y = x
    <BLANKLINE>
        def else_body():
            nonlocal y
            y = -x
        _dy.if_stmt(x > 0, if_body, else_body, get_state, set_state, ('y',))
        return y

    A variable that a branch changes for itself only is named once more, as one without a result.
    """

    def visit_If(self, node: gast.If) -> Any:
        # Names are given from the outside in, so that the outermost block has the shortest ones.
        if getattr(node, "plain", False):
            return self.generic_visit(node)
        accessors = Accessors(node, node.state, self.context.namer)
        body, orelse = self.context.namer.fresh("if_body"), self.context.namer.fresh("else_body")
        node.body, node.orelse = self.visit_block(node.body), self.visit_block(node.orelse)
        getter, setter, names = accessors.arguments
        call = statements(
            "_dy.if_stmt(test, if_body, else_body, getter, setter, names)",
            at=node,
            test=node.test,
            if_body=body,
            else_body=orelse,
            getter=getter,
            setter=setter,
            names=names,
        )
        if node.state.dead:
            call[0].value.args.append(nodes.tuple_of([nodes.constant(n) for n in node.state.dead]))
        return [
            *accessors.definitions,
            *block_function(node, body, node.state, "body", node.body),
            *block_function(node, orelse, node.state, "orelse", node.orelse),
            *call,
        ]
