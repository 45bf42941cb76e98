"""`for` loops."""

from __future__ import annotations

from typing import Any

import gast

from dy2st.transpiler import nodes
from dy2st.transpiler.manager import Pass
from dy2st.transpiler.passes.blocks import Accessors, declare
from dy2st.transpiler.templates import statements


class ForStmt(Pass):
    """A `for` becomes a function that takes one item, and a call of the runtime.

    >>> manager = PassManager(gast.parse('''
    ... def f(xs, s):
    ...     for a, b in xs:
    ...         s += a * b
    ...     return s
    ... '''))
    >>> print(show([manager.apply(p) for p in (BlockState, ForStmt)][-1]))
    def f(xs, s):
    <BLANKLINE>
        def get_state():
            return (s,)
    <BLANKLINE>
        def set_state(state_):
            nonlocal s
            s, = state_
    <BLANKLINE>
        def loop_body(item_):
            nonlocal s
            a, b = item_
            s += a * b
        _dy.for_stmt(xs, loop_body, None, get_state, set_state, ('s',))
        return s
    """

    def visit_For(self, node: gast.For) -> Any:
        accessors = Accessors(node, node.state, self.context.namer)
        body, item = self.context.namer.fresh("loop_body"), self.context.namer.fresh("item_")
        until = nodes.thunk(node.extra_test) if isinstance(node, nodes.ForUntil) else nodes.constant(None)
        node.body = self.visit_block(node.body)
        getter, setter, names = accessors.arguments
        if isinstance(node.target, gast.Name) and node.target.id not in node.state.names:
            item, start = node.target.id, []  # a variable of one iteration is the parameter itself
        else:
            start = statements("target = item", at=node.target, target=node.target, item=item)
        return [
            *accessors.definitions,
            *statements(
                "def name(item):\n    body",
                at=node,
                name=body,
                body=[*declare(node, node.state, node.state.bound["body"]), *start, *node.body],
                item=item,
            ),
            *statements(
                "_dy.for_stmt(xs, loop_body, until, getter, setter, names)",
                at=node,
                xs=node.iter,
                loop_body=body,
                until=until,
                getter=getter,
                setter=setter,
                names=names,
            ),
        ]

    visit_ForUntil = visit_For
