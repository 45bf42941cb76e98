"""Chained comparisons, `in`, `is`, and comparisons of lists, tuples and dicts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from dy2st.transpiler import nodes
from dy2st.transpiler.manager import Pass
from dy2st.transpiler.templates import expression

_SYMBOLS = {
    gast.Eq: "==",
    gast.NotEq: "!=",
    gast.Lt: "<",
    gast.LtE: "<=",
    gast.Gt: ">",
    gast.GtE: ">=",
    gast.Is: "is",
    gast.IsNot: "is not",
    gast.In: "in",
    gast.NotIn: "not in",
}
_DISPLAYS = (gast.List, gast.Tuple, gast.Dict)


class Compare(Pass):
    """A chain evaluates each operand at most once, and stops at the first comparison that fails. Whether a variable is
    None or True may only be known at run time, and so may what is in a list or tuple: one that is written out, that a variable
    holds, or that may be an entry of another.

    >>> manager = PassManager(gast.parse("def f(a, b):\\n    return a in b, 0 <= a < g(b), a < b, a is None"))
    >>> print(show(manager.apply(Compare)))
    def f(a, b):
        return (_dy.in_(a, b), _dy.compare_chain(0, (('<=', lambda: a), ('<', lambda: g(b)))), a < b, _dy.is_none(a))
    """

    in_generators = True
    looks_for = (gast.Compare,)

    def run(self, tree: gast.AST) -> gast.AST:
        self._held = frozenset(_names_of_sequences(tree))
        return super().run(tree)

    def visit_Compare(self, node: gast.Compare) -> Any:
        self.generic_visit(node)
        if len(node.ops) > 1 and self.suspended and nodes.stays_in_place(node.comparators):
            return node
        if len(node.ops) > 1:
            pairs = [
                nodes.tuple_of([nodes.constant(_SYMBOLS[type(op)]), nodes.thunk(operand)])
                for op, operand in zip(node.ops, node.comparators, strict=True)
            ]
            return expression("_dy.compare_chain(a, pairs)", at=node, a=node.left, pairs=nodes.tuple_of(pairs))
        if isinstance(node.ops[0], (gast.Is, gast.IsNot)) and _is_none(node.comparators[0]):
            test = expression("_dy.is_none(a)", at=node, a=node.left)
            return test if isinstance(node.ops[0], gast.Is) else expression("_dy.not_(t)", at=node, t=test)
        operands = (node.left, *node.comparators)
        may_be_items = any(map(self._is_sequence, operands)) or all(nodes.is_dy_call(x, "getitem") for x in operands)
        of_items = may_be_items and not isinstance(node.ops[0], (gast.In, gast.NotIn))
        if of_items or isinstance(node.ops[0], (gast.Is, gast.IsNot)):
            symbol = nodes.constant(_SYMBOLS[type(node.ops[0])])
            return expression("_dy.compare(op, a, b)", at=node, op=symbol, a=node.left, b=node.comparators[0])
        if isinstance(node.ops[0], gast.In):
            return expression("_dy.in_(a, b)", at=node, a=node.left, b=node.comparators[0])
        if isinstance(node.ops[0], gast.NotIn):
            return expression("_dy.not_in(a, b)", at=node, a=node.left, b=node.comparators[0])
        return node

    def _is_sequence(self, node: gast.AST) -> bool:
        """Whether this is surely, or as good as surely, a list, a tuple or a dict, which compares its items."""
        if isinstance(node, gast.Name):
            return node.id in self._held
        return isinstance(node, _DISPLAYS) or (isinstance(node, gast.Attribute) and node.attr == "shape")


def _names_of_sequences(tree: gast.AST) -> Iterator[str]:
    """The variables that a list, a tuple or a dict is assigned to where it is written out."""
    for node in gast.walk(tree):
        if isinstance(node, gast.Assign):
            for target in node.targets:
                pairs = [(target, node.value)]
                if isinstance(target, gast.Tuple) and isinstance(node.value, gast.Tuple):
                    pairs = list(zip(target.elts, node.value.elts, strict=False))
                yield from (t.id for t, value in pairs if isinstance(t, gast.Name) and isinstance(value, _DISPLAYS))


def _is_none(node: gast.AST) -> bool:
    return isinstance(node, gast.Constant) and node.value is None
