"""Calls."""

from __future__ import annotations

import copy
from typing import Any

import gast

from dy2st.transpiler import nodes
from dy2st.transpiler.manager import Pass
from dy2st.transpiler.templates import expression


class Calls(Pass):
    """The runtime sees each function before it is called, and may convert it.

    >>> manager = PassManager(gast.parse("def f(x):\\n    print(x.mean(0), *x)"))
    >>> print(show(manager.apply(Calls)))
    def f(x):
        _dy.call(print)(_dy.call(x.mean)(0), *_dy.advanced(x))

    So it does where Python calls it: a decorator, and what the body of a class calls. Of an item that is read for the function alone it
    sees both: `len(a[i])` only looks at the item, of which nobody has anything afterwards.

    >>> from dy2st.transpiler.passes.subscript_read import SubscriptRead
    >>> manager = PassManager(gast.parse("def f(a, i):\\n    return len(a[i])"))
    >>> print(show([manager.apply(p) for p in (SubscriptRead, Calls)][-1]))
    def f(a, i):
        return _dy.call(len)(_dy.item_for(len, a, i))
    """

    in_generators = True

    def visit_defaults(self, node: gast.FunctionDef) -> None:
        super().visit_defaults(node)
        if not (getattr(node, "entry", False) or getattr(node, "in_class", False)):
            self._decorate(node)

    def visit_ClassDef(self, node: gast.ClassDef) -> Any:
        super().visit_ClassDef(node)
        self._decorate(node)
        self.visit_in_class(node.body)
        return node

    def visit_in_class(self, body: list) -> None:
        super().visit_in_class(body)
        for node in body:
            if isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)):
                self._decorate(node)

    def _decorate(self, node: gast.FunctionDef | gast.ClassDef) -> None:
        """A decorator is called with what it stands before."""
        for i, d in enumerate(node.decorator_list):
            if not _is_of_python(d):
                node.decorator_list[i] = expression("_dy.call(f)", at=d, f=d)
                self.changed = True

    def visit_Call(self, node: gast.Call) -> Any:
        self.generic_visit(node)
        if nodes.is_dy_call(node) or getattr(node, "generated", False) or _is_super(node):
            return node
        if isinstance(node.func, gast.Name) and len(node.args) == 1 and not node.keywords and nodes.is_dy_call(node.args[0], "getitem"):
            item = node.args[0]
            node.args = [expression("_dy.item_for(f)", at=item, f=copy.copy(node.func))]
            node.args[0].args += item.args
        node.func = expression("_dy.call(f)", at=node.func, f=node.func)
        for part in node.args:
            if isinstance(part, gast.Starred):
                part.value = expression("_dy.advanced(x)", at=part.value, x=part.value)
        self.changed = True
        return node


def _is_of_python(decorator: gast.AST) -> bool:
    if isinstance(decorator, gast.Attribute):
        return decorator.attr in ("setter", "getter", "deleter")
    return isinstance(decorator, gast.Name) and decorator.id in ("property", "staticmethod", "classmethod")


def _is_super(node: gast.Call) -> bool:
    # `super` looks into no frame any more, and what it makes is no function.
    return isinstance(node.func, gast.Name) and node.func.id == "super"
