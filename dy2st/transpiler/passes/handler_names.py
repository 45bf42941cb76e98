"""The name in `except E as e`, which has no value behind the handler."""

from __future__ import annotations

from typing import Any

import gast

from dy2st.transpiler import nodes
from dy2st.transpiler.analysis.activity import Activity
from dy2st.transpiler.manager import Pass
from dy2st.transpiler.templates import statements


class HandlerNames(Pass):
    """Python deletes the name at the end of the handler, which blocks that carry it as state could not stand.

    So where the name is used elsewhere too it becomes a variable that is set and made undefined again.

    >>> manager = PassManager(gast.parse('''
    ... def f(x):
    ...     try:
    ...         g(x)
    ...     except E as e:
    ...         print(e)
    ...     return e
    ... '''))
    >>> print(show(manager.apply(HandlerNames)))
    def f(x):
        try:
            g(x)
        except E as caught_:
            e = caught_
            try:
                print(e)
            finally:
                e = _dy.Undefined('e')
        return e
    """

    requires = (Activity,)
    looks_for = (gast.ExceptHandler,)

    def run(self, tree: gast.AST) -> gast.AST:
        self.captured: list[str] = []
        self.body: list = []
        return self.visit(tree)

    def visit_FunctionDef(self, node: gast.FunctionDef) -> Any:
        saved = self.captured, self.body
        self.captured, self.body = self.analysis(Activity).scope(node).captured, node.body
        super().visit_FunctionDef(node)
        self.captured, self.body = saved
        return node

    def visit_ExceptHandler(self, node: gast.ExceptHandler) -> Any:
        self.generic_visit(node)
        name = node.name.id if isinstance(node.name, gast.Name) else node.name
        if name is None or not (name in self.captured or self._used_elsewhere(name)):
            return node
        caught = self.context.namer.fresh("caught_")
        body = statements(
            "name = caught\ntry: body\nfinally: name = _dy.Undefined(text)",
            at=node,
            name=name,
            caught=caught,
            body=node.body,
            text=nodes.constant(name),
        )
        body[1].finalbody[0].unbinds = True
        node.name, node.body = nodes.store(caught), body
        self.changed = True
        return node

    def _used_elsewhere(self, name: str) -> bool:
        """Whether the name occurs outside of handlers that bind it."""
        return any(_occurs(statement, name) for statement in self.body)


def _occurs(node: gast.AST, name: str) -> bool:
    if isinstance(node, gast.Name):
        return node.id == name
    if isinstance(node, gast.ExceptHandler):
        own = node.name.id if isinstance(node.name, gast.Name) else node.name
        if own == name:
            return False
    return any(_occurs(child, name) for child in nodes.children(node))
