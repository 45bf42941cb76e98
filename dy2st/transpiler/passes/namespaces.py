"""Variables of modules that are read by a key."""

from __future__ import annotations

from typing import Any

import gast

from dy2st.transpiler import nodes
from dy2st.transpiler.manager import Pass
from dy2st.transpiler.names import NAMESPACES
from dy2st.transpiler.templates import expression

_FUNCTIONS = ("globals", "vars")


class Namespaces(Pass):
    """A namespace tells which of the variables in it is read.

    >>> manager = PassManager(gast.parse("def f(m, k):\\n    return globals()['x'], vars(m).get(k), m.__dict__.items()"))
    >>> print(show(manager.apply(Namespaces)))
    def f(m, k):
        return (_dy.space_item(globals(), 'x'), _dy.space_get(vars(m), k), _dy.space(m.__dict__).items())
    """

    in_generators = True

    def run(self, tree: gast.AST) -> gast.AST:
        return self.visit(tree) if any(map(self.context.namer.is_used, (*_FUNCTIONS, *NAMESPACES))) else tree

    def visit_Assign(self, node: gast.Assign) -> Any:
        target = node.targets[0]
        if _is_namespace(node.value) and isinstance(target, gast.Name) and target.id in self.context.namer.generated:
            node.value = self._parts(node.value)  # of which an item is set: the runtime tells which
            return node
        return self.generic_visit(node)

    def visit_Subscript(self, node: gast.Subscript) -> Any:
        if not _is_namespace(node.value):
            return self.generic_visit(node)
        key, inner = self.visit(node.slice), self._parts(node.value)
        if not isinstance(node.ctx, gast.Load) or isinstance(key, (gast.Slice, gast.Tuple)):
            node.value, node.slice = inner, key
            return node
        return expression("_dy.space_item(space, key)", at=node, space=inner, key=key)

    def visit_Call(self, node: gast.Call) -> Any:
        f = node.func
        if isinstance(f, gast.Attribute) and f.attr == "get" and _is_namespace(f.value) and _are_plain(node, (1, 2)):
            call = expression("_dy.space_get()", at=node)
            call.args = [self._parts(f.value), *map(self.visit, node.args)]
            return call
        if isinstance(f, gast.Name) and f.id in ("eval", "exec") and _are_plain(node, (2,)) and _is_namespace(node.args[1]):
            return expression("_dy.space_run(f, code, space)", at=node, f=f, code=self.visit(node.args[0]), space=self._parts(node.args[1]))
        if _is_namespace(node):
            return expression("_dy.space(space)", at=node, space=self._parts(node))
        return self.generic_visit(node)

    def visit_Attribute(self, node: gast.Attribute) -> Any:
        if _is_namespace(node):
            return expression("_dy.space(space)", at=node, space=self._parts(node))
        return self.generic_visit(node)

    def _parts(self, node: gast.AST) -> gast.AST:
        """A namespace, with what it is made of visited."""
        return super().generic_visit(node)


def _are_plain(node: gast.Call, counts: tuple[int, ...]) -> bool:
    return not node.keywords and len(node.args) in counts and not any(isinstance(a, gast.Starred) for a in node.args)


def _is_namespace(node: gast.AST) -> bool:
    """Whether an expression may be a namespace."""
    if isinstance(node, gast.Attribute):
        return node.attr in NAMESPACES and isinstance(node.ctx, gast.Load)
    if not (isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and node.func.id in _FUNCTIONS):
        return False
    return _are_plain(node, (0 if node.func.id == "globals" else 1,)) and not nodes.is_dy_call(node)
