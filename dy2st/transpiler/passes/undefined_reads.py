"""Reads of names that may have no value are checked; `del` of a name makes it a name without value."""

from __future__ import annotations

from typing import Any

import gast

from dy2st.transpiler import kinds, nodes
from dy2st.transpiler.analysis.activity import Activity
from dy2st.transpiler.analysis.cfg import ControlFlow
from dy2st.transpiler.analysis.reaching_definitions import ReachingDefinitions
from dy2st.transpiler.manager import Pass
from dy2st.transpiler.templates import expression, statements


class UndefinedReads(Pass):
    """A name that is read where it may not be set starts as an `Undefined`, and all its reads go through `_dy.ld`.

    >>> manager = PassManager(gast.parse("def f(c):\\n    if c:\\n        x = 1\\n    return x"))
    >>> print(show(manager.apply(UndefinedReads)))
    def f(c):
        x = _dy.Undefined('x')
        if c:
            x = 1
        return _dy.ld(x, 'x')
    """

    requires = (Activity, ControlFlow, ReachingDefinitions)

    def run(self, tree: gast.AST) -> gast.AST:
        # Everything is asked of the analyses before the tree changes.
        self.unsafe: set[gast.AST] = set()
        self.heads: dict[gast.AST, list[str]] = {}
        self.locals: dict[gast.AST, list[str]] = {}
        inside = [n for n in nodes.statements([tree], everywhere=True) if isinstance(n, gast.FunctionDef) or getattr(n, "unbinds", False)]
        for node in inside:
            if isinstance(node, gast.FunctionDef):
                self._examine(node)
        for node in inside:
            if not isinstance(node, gast.FunctionDef):
                # From here on an `Undefined` counts as a value: variables are bound at all times.
                node.unbinds = False
                self.changed = True
        if not self.unsafe:
            self.wanted = kinds.bits((gast.FunctionDef, gast.Delete))
        self.function: gast.FunctionDef | None = None
        return self.visit(tree)

    def _examine(self, function: gast.FunctionDef) -> None:
        scope = self.analysis(Activity).scope(function)
        reaching = self.analysis(ReachingDefinitions).of(function)
        self.locals[function] = scope.locals
        names, parameters = set(scope.locals), set(scope.parameters)
        plain = getattr(function, "plain", False)
        head: dict[str, None] = {}
        known: list[gast.AST] = []
        for point in self.analysis(ControlFlow).graph(function).nodes:
            reads = [(n, False) for n in point.effects.reads] + [(n, True) for n in point.effects.captured]
            for name, later in reads:
                if name.id not in names:
                    continue
                unset = reaching.maybe_unset(point, name.id) or (later and name.id in scope.deleted)
                # A walrus of the same statement may set the name before it is read.
                if unset and not (plain and not later):
                    self.unsafe.add(name)
                    if name.id not in parameters:
                        head[name.id] = None
                elif not plain:
                    known.append(name)
        # What is on some paths only may be held with a flag, also where it is sure to be there.
        self.unsafe.update(name for name in known if name.id in head)
        self.heads[function] = [] if plain else list(head)
        function.checked = set(head) | scope.deleted

    def visit_FunctionDef(self, node: gast.FunctionDef) -> Any:
        outer, self.function = self.function, node
        # A plain function is walked too: it may read names of this one that have no value.
        self.visit_defaults(node)
        self.visit_body(node)
        docstring, rest = nodes.split_docstring(node.body)
        declared = [s for s in rest if isinstance(s, (gast.Global, gast.Nonlocal))]
        rest = [s for s in rest if not isinstance(s, (gast.Global, gast.Nonlocal))]
        heads = [s for name in self.heads[node] for s in statements("x = _dy.Undefined(text)", at=node, x=name,
                 text=nodes.constant(name))]
        node.body = [*docstring, *declared, *heads, *rest]
        self.changed |= bool(heads)
        self.function = outer
        return node

    def visit_Name(self, node: gast.Name) -> Any:
        if node in self.unsafe and isinstance(node.ctx, gast.Load):
            return _checked(node)
        return node

    def visit_ClassDef(self, node: gast.ClassDef) -> Any:
        super().visit_ClassDef(node)
        if self.unsafe:
            self.visit_in_class(node.body)
        return node

    def visit_AugAssign(self, node: gast.AugAssign) -> Any:
        self.generic_visit(node)
        if node.target not in self.unsafe:
            return node
        check = statements("check", at=node, check=nodes.expr(_checked(nodes.load(node.target))))
        return [*check, node]

    def visit_Delete(self, node: gast.Delete) -> Any:
        result: list = []
        for target in nodes.deleted(node):
            if isinstance(target, gast.Name) and self.function is not None and self._owns(target.id):
                # The cell stays, as blocks that become functions share it.
                result += statements("_dy.ld(x, text)\nx = _dy.Undefined(text)", at=target, x=target.id,
                                     text=nodes.constant(target.id))
            else:
                result += statements("del target", at=node, target=self.visit(target))
        return result

    def _owns(self, name: str) -> bool:
        return not getattr(self.function, "plain", False) and name in self.locals[self.function]


def _checked(node: gast.Name) -> gast.AST:
    return expression("_dy.ld(x, text)", at=node, x=node, text=nodes.constant(node.id))
