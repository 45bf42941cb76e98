"""Code templates: text with placeholders that stand for syntax nodes.

The text is parsed once. Placeholders are names; what replaces them is a node (an expression, or
statements where the placeholder stands alone on its line) or a string (another identifier). Nodes
keep their own origin, everything that comes from the text gets the origin of the node `at`.
"""

from __future__ import annotations

import functools
from typing import TypeAlias

import gast

from dy2st.transpiler import nodes
from dy2st.transpiler.origin import inherit, of

Value: TypeAlias = gast.AST | list | str


@functools.cache
def _parse(text: str) -> gast.Module:
    return gast.parse(text)


class _Fill(gast.NodeTransformer):
    def __init__(self, values: dict[str, Value], at: gast.AST):
        self.values, self.at = values, at
        self.used: set[str] = set()

    def generic_visit(self, node: gast.AST):
        node.origin = of(self.at)
        return super().generic_visit(node)

    def _take(self, key: str) -> Value:
        """The value; a node that is needed again is copied, as a tree must not share nodes."""
        value = self.values[key]
        if isinstance(value, str):
            return value
        again = key in self.used
        self.used.add(key)
        parts = [nodes.copy(v) if again else v for v in (value if isinstance(value, list) else [value])]
        for part in parts:
            inherit(part, self.at)
        return parts if isinstance(value, list) else parts[0]

    def _identifier(self, text: str) -> str:
        value = self.values.get(text)
        return value if isinstance(value, str) else text

    def visit_Expr(self, node: gast.Expr):
        if isinstance(node.value, gast.Name) and node.value.id in self.values:
            value = self._take(node.value.id)
            if isinstance(value, list):
                return value
            if isinstance(value, gast.stmt):
                return value
        return self.generic_visit(node)

    def visit_Name(self, node: gast.Name):
        node.origin = of(self.at)
        if node.id not in self.values:
            return node
        value = self._take(node.id)
        if isinstance(value, str):
            node.id = value
            return node
        assert isinstance(value, gast.AST), f"{node.id} stands for statements but is used as an expression"
        return nodes.with_context(value, type(node.ctx)) if hasattr(value, "ctx") else value

    def visit_FunctionDef(self, node: gast.FunctionDef):
        node.name = self._identifier(node.name)
        return self.generic_visit(node)

    def visit_Nonlocal(self, node: gast.Nonlocal):
        node.names = [self._identifier(n) for n in node.names]
        return self.generic_visit(node)


def statements(text: str, /, *, at: gast.AST, **values: Value) -> list:
    """The statements of the text with the placeholders replaced.

    >>> target, test = gast.parse("a.b").body[0].value, gast.parse("x > 0").body[0].value
    >>> body = statements("flag = test\\nif flag: body", at=test, flag="f_1", test=test, body=[nodes.assign(target, test)])
    >>> print(show(nodes.module(body)))
    f_1 = x > 0
    if f_1:
        a.b = x > 0
    """
    return _Fill(values, at).visit(nodes.copy(_parse(text))).body


def expression(text: str, /, *, at: gast.AST, **values: Value) -> gast.AST:
    """The expression of the text with the placeholders replaced."""
    return statements(text, at=at, **values)[0].value
