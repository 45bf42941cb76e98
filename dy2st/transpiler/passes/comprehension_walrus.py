"""`:=` in comprehensions and generator expressions."""

from __future__ import annotations

from typing import Any

import gast

from dy2st.transpiler import nodes, origin
from dy2st.transpiler.manager import Pass


class ComprehensionWalrus(Pass):
    """It binds a variable of the function around, which the functions that comprehensions become could not.

    So parts with a `:=` move to functions that say so; when they are called stays as it is.

    >>> manager = PassManager(gast.parse("def f(xs):\\n    return any((hit := x) > 2 for x in xs), hit"))
    >>> print(show(manager.apply(ComprehensionWalrus)))
    def f(xs):
        hit = _dy.Undefined('hit')
    <BLANKLINE>
        def item_(x):
            nonlocal hit
            return (hit := x) > 2
        return (any((item_(x) for x in xs)), hit)
    """

    looks_for = (gast.NamedExpr,)

    def run(self, tree: gast.AST) -> gast.AST:
        self.bound: dict[str, None] = {}
        self.declared: dict[str, type] = {}
        self.functions: list = []
        return self.visit(tree)

    def visit_body(self, node: gast.FunctionDef) -> None:
        outer = self.bound, self.declared
        docstring, rest = nodes.split_docstring(node.body)
        declared = [s for s in rest if isinstance(s, (gast.Global, gast.Nonlocal))]
        self.bound, self.declared = {}, {name: type(s) for s in declared for name in s.names}
        super().visit_body(node)
        known = {*self.declared, *(p.id for p in nodes.parameters(node.args))}
        unset = [name for name in self.bound if name not in known]
        heads = [origin.inherit(nodes.undefined(name), node) for name in unset]
        for head in heads:
            head.unbinds = True
        at = len(docstring) + len(declared)
        node.body[at:at] = heads
        self.bound, self.declared = outer

    def visit_block(self, statements: list) -> list:
        if not statements or not isinstance(statements[0], gast.stmt):
            return super().visit_block(statements)
        result: list = []
        for statement in statements:
            outer, self.functions = self.functions, []
            visited = super().visit_block([statement])
            result += [*self.functions, *visited]
            self.functions = outer
        return result

    def visit_Lambda(self, node: gast.Lambda) -> Any:
        return node  # no place for statements

    def visit_ListComp(self, node: gast.ListComp) -> Any:
        if not _movable(node):
            return node
        targets: list[str] = []
        for part in node.generators:
            targets += [n.id for n in gast.walk(part.target) if isinstance(n, gast.Name)]
            part.ifs = [self._moved(test, targets) for test in part.ifs]
        node.elt = self._moved(node.elt, targets)
        return self.generic_visit(node)

    visit_GeneratorExp = visit_ListComp

    def _moved(self, part: gast.AST, targets: list[str]) -> gast.AST:
        """A call of a new function that is this part of a comprehension."""
        bound = dict.fromkeys(n.target.id for n in gast.walk(part) if isinstance(n, gast.NamedExpr))
        if not bound:
            return part
        self.bound.update(bound)
        name = self.context.namer.fresh("item_")
        body: list = []
        for kind in (gast.Global, gast.Nonlocal):
            names = [n for n in bound if self.declared.get(n, gast.Nonlocal) is kind]
            body += [kind(names)] if names else []
        call = nodes.call(nodes.name(name), *map(nodes.name, targets))
        made = nodes.function(name, targets, [*body, nodes.return_(part)])
        for node in (call, made):
            origin.inherit(node, part)
        self.functions.append(self.visit(made))
        self.changed = True
        return call


def _movable(node: gast.ListComp | gast.GeneratorExp) -> bool:
    """Whether its parts may be functions of the targets: functions made in them see the last item of all."""
    kept = (gast.Lambda, gast.GeneratorExp, gast.Await, gast.Yield, gast.YieldFrom)
    inner = (n for n in gast.walk(node) if n is not node)
    return not any(g.is_async for g in node.generators) and not any(isinstance(n, kept) for n in inner)
