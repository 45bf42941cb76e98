"""The statements of generator functions, which stay Python's."""

from __future__ import annotations

from typing import Any

import gast

from dy2st.transpiler import nodes
from dy2st.transpiler.manager import Pass
from dy2st.transpiler.templates import expression, statements


class GeneratorStmts(Pass):
    """The runtime sees what a generator function takes items from, and what its handlers could catch.

    >>> manager = PassManager(gast.parse('''
    ... def f(xs):
    ...     for x in xs:
    ...         yield x
    ...     try:
    ...         n = int(x)
    ...     except ValueError:
    ...         yield from g(xs)
    ... '''))
    >>> manager.tree.body[0].plain = manager.tree.body[0].suspended = True
    >>> print(show(manager.apply(GeneratorStmts)))
    def f(xs):
        for x in _dy.iterated(xs):
            yield x
        try:
            with _dy.tried(True):
                n = int(x)
        except _dy.Through:
            raise
        except ValueError:
            yield from _dy.iterated(g(xs))
    """

    in_generators = True

    def visit_For(self, node: gast.For) -> gast.For:
        self.generic_visit(node)
        if self.suspended:
            node.iter = _iterated(node.iter)
            self.changed = True
        return node

    def visit_YieldFrom(self, node: gast.YieldFrom) -> gast.YieldFrom:
        self.generic_visit(node)
        node.value = _iterated(node.value)
        self.changed = True
        return node

    def visit_Try(self, node: gast.Try) -> gast.Try:
        self.generic_visit(node)
        if self.suspended and node.handlers:
            goes_on = nodes.constant(not any(isinstance(n, (gast.Yield, gast.YieldFrom)) for n in nodes.walk_scope(node.body)))
            node.body = statements("with _dy.tried(goes_on): body", at=node.body[0], goes_on=goes_on, body=node.body)
            passed_on = gast.ExceptHandler(nodes.attribute(nodes.name(nodes.RUNTIME), "Through"), None, [gast.Raise(None, None)])
            node.handlers.insert(0, passed_on)
            self.changed = True
        return node


def _iterated(items: gast.AST) -> Any:
    return expression("_dy.iterated(xs)", at=items, xs=items)
