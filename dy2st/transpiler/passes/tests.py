"""Conditions, of which only the truth counts."""

from __future__ import annotations

from typing import Any

import gast

from dy2st.transpiler.manager import Pass


class Tests(Pass):
    """Marks each `and` and `or` whose value is only asked for its truth: its operands may be values of different kinds; and each item, of
    which nobody has anything afterwards.

    Nothing is changed yet: `Logical` and `SubscriptRead` look at the mark.

    >>> from dy2st.transpiler.passes.logical import Logical
    >>> manager = PassManager(gast.parse("def f(a, b):\\n    return (1 if a and not b else 2), a and b"))
    >>> print(show([manager.apply(p) for p in (Tests, Logical)][-1]))
    def f(a, b):
        return (1 if _dy.and_test(lambda: a, lambda: _dy.not_(b)) else 2, _dy.and_(lambda: a, lambda: b))
    """

    looks_for = (gast.BoolOp, gast.Subscript)

    def visit_If(self, node: gast.If) -> Any:
        return self._with_test(node)

    def visit_While(self, node: gast.While) -> Any:
        return self._with_test(node)

    def visit_IfExp(self, node: gast.IfExp) -> Any:
        return self._with_test(node)

    def visit_Assert(self, node: gast.Assert) -> Any:
        return self._with_test(node)

    def visit_comprehension(self, node: gast.comprehension) -> Any:
        for test in node.ifs:
            _mark(test)
        return self.generic_visit(node)

    def visit_UnaryOp(self, node: gast.UnaryOp) -> Any:
        if isinstance(node.op, gast.Not):
            _mark(node.operand)
        return self.generic_visit(node)

    def _with_test(self, node: Any) -> Any:
        _mark(node.test)
        return self.generic_visit(node)


def _mark(test: gast.AST) -> None:
    if isinstance(test, gast.Subscript):
        test.truth = True
    if isinstance(test, gast.BoolOp):
        test.truth = True
        for operand in test.values:
            _mark(operand)
