"""Code templates: text with placeholders that stand for syntax nodes.

The text is parsed once, into a plan that makes its nodes. Placeholders are names; what replaces them is a node (an expression, or
statements where the placeholder stands alone on its line) or a string (another identifier). Nodes
keep their own origin, everything that comes from the text gets the origin of the node `at`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeAlias

import gast

from dy2st.transpiler import nodes
from dy2st.transpiler.origin import inherit, of

Value: TypeAlias = gast.AST | list | str


class _Filling:
    """The values of one use of a template."""

    def __init__(self, values: dict[str, Value], at: gast.AST):
        self.values, self.at, self.origin = values, at, of(at)
        self.used: set[str] = set()

    def take(self, key: str) -> Value:
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

    def identifier(self, text: str) -> str:
        value = self.values.get(text)
        return value if isinstance(value, str) else text


_Maker: TypeAlias = Callable[[_Filling], Any]


def _maker(node: gast.AST) -> _Maker:
    """What makes the nodes that a node of a template stands for: a node, or a list of statements."""
    if isinstance(node, gast.Name):
        return _name_maker(node)
    kind = node.__class__
    fixed: dict[str, object] = {}
    parts: list[tuple[str, _Maker | list[_Maker]]] = []  # in the order of the fields: the first use of a value takes it
    identifiers: list[str] = []
    for field in node._fields:
        value = getattr(node, field, None)
        if isinstance(node, (gast.FunctionDef, gast.Nonlocal)) and field in ("name", "names"):
            fixed[field] = value
            identifiers.append(field)
        elif isinstance(value, list):
            parts.append((field, [_maker(v) for v in value]))
        elif isinstance(value, gast.AST) and value.__class__ not in nodes.WITHOUT_PLACE:
            parts.append((field, _maker(value)))
        else:
            fixed[field] = value

    def make(filling: _Filling) -> gast.AST:
        new = kind.__new__(kind)
        fields = new.__dict__
        fields.update(fixed)
        fields["origin"] = filling.origin
        for field in identifiers:
            known = fields[field]
            fields[field] = filling.identifier(known) if isinstance(known, str) else [filling.identifier(n) for n in known]
        for field, maker in parts:
            fields[field] = _all(maker, filling) if isinstance(maker, list) else maker(filling)
        return new

    if isinstance(node, gast.Expr) and isinstance(node.value, gast.Name):
        return _line_maker(node.value.id, make)
    return make


def _all(makers: list[_Maker], filling: _Filling) -> list:
    made: list = []
    for maker in makers:
        one = maker(filling)
        if isinstance(one, list):
            made += one
        else:
            made.append(one)
    return made


def _name_maker(node: gast.Name) -> _Maker:
    identifier, context = node.id, node.ctx

    def make(filling: _Filling) -> gast.AST:
        value = filling.take(identifier) if identifier in filling.values else identifier
        if isinstance(value, str):
            new = gast.Name(value, context, None, None)
            new.origin = filling.origin
            return new
        assert isinstance(value, gast.AST), f"{identifier} stands for statements but is used as an expression"
        return nodes.with_context(value, type(context)) if hasattr(value, "ctx") else value

    return make


def _line_maker(identifier: str, make: _Maker) -> _Maker:
    """A name alone on its line may stand for statements."""

    def line(filling: _Filling) -> Any:
        value = filling.values.get(identifier)
        return filling.take(identifier) if isinstance(value, (list, gast.stmt)) else make(filling)

    return line


@functools.cache
def _makers(text: str) -> list[_Maker]:
    return [_maker(statement) for statement in gast.parse(text).body]


def statements(text: str, /, *, at: gast.AST, **values: Value) -> list:
    """The statements of the text with the placeholders replaced.

    >>> target, test = gast.parse("a.b").body[0].value, gast.parse("x > 0").body[0].value
    >>> body = statements("flag = test\\nif flag: body", at=test, flag="f_1", test=test, body=[nodes.assign(target, test)])
    >>> print(show(nodes.module(body)))
    f_1 = x > 0
    if f_1:
        a.b = x > 0
    """
    return _all(_makers(text), _Filling(values, at))


def expression(text: str, /, *, at: gast.AST, **values: Value) -> gast.AST:
    """The expression of the text with the placeholders replaced."""
    return statements(text, at=at, **values)[0].value
