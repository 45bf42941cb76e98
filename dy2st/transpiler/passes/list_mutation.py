"""Lists that change in branches and loops."""

from __future__ import annotations

from typing import Any

import gast

from dy2st.transpiler import nodes
from dy2st.transpiler.names import qualified
from dy2st.transpiler.passes.mutation import MutationPass
from dy2st.transpiler.templates import expression, statements

# method -> the numbers of arguments that a list takes
_METHODS = {"append": (1,), "extend": (1,), "insert": (2,), "clear": (0,), "pop": (0, 1, 2)}


class ListMutation(MutationPass):
    """`a.append(x)` becomes `a = _dy.list_append(a, x)`, so that `a` is state like any variable.

    >>> manager = PassManager(gast.parse('''
    ... def f(a, n):
    ...     a.append(0)
    ...     for i in n:
    ...         a.append(i)
    ...         x = a.pop(0)
    ... '''))
    >>> print(show(manager.apply(ListMutation)))
    def f(a, n):
        a.append(0)
        for i in n:
            a = _dy.list_append(a, i)
            a, x = _dy.list_pop(a, 0)
    """

    looks_for = (gast.Call,)

    def visit_Expr(self, node: gast.Expr) -> Any:
        matched = self._match(node.value)
        if matched is None:
            return node
        if node.value.func.attr == "pop":
            return self.update(node, matched, lambda base: expression("c[0]", at=node, c=self._call(node.value, base)))
        return self.update(node, matched, lambda base: self._call(node.value, base))

    def visit_Assign(self, node: gast.Assign) -> Any:
        matched = self._match(node.value)
        if matched is None or node.value.func.attr != "pop" or len(node.targets) != 1:
            return node
        if isinstance(matched, gast.Name) and not (self.is_shared(matched.id) or self.may_rebind(matched.id, *node.value.args)):
            pair = nodes.tuple_of([nodes.load(matched), node.targets[0]])
            self.declare(matched.id)
            return statements("pair = call", at=node, pair=pair, call=self._call(node.value, matched))
        popped = self.context.namer.fresh("popped_")

        def value(base: gast.AST) -> gast.AST:
            return expression("(pair := c)[0]", at=node, pair=popped, c=self._call(node.value, base))

        target = statements("target = pair[1]", at=node, target=node.targets[0], pair=popped)
        return [*self.update(node, matched, value), *target]

    def _match(self, node: gast.AST) -> gast.AST | None:
        """The list's expression, if the node is a call that changes a list in a branch or loop."""
        if self.depth == 0 or not (isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute)):
            return None
        if len(node.args) not in _METHODS.get(node.func.attr, ()) or node.keywords:
            return None
        if any(isinstance(a, gast.Starred) for a in node.args) or qualified(node.func.value) is None:
            return None
        return node.func.value

    def _call(self, node: gast.Call, base: gast.AST) -> gast.AST:
        call = expression("_dy.method()", at=node)
        call.func.attr = f"list_{node.func.attr}"
        call.args = [base, *node.args]
        return call
