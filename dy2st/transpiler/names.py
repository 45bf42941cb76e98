"""Fresh names for generated variables, and qualified names such as `self.h`."""

from __future__ import annotations

from collections.abc import Iterable

import gast

from dy2st.transpiler import nodes


class Namer:
    """Gives names that the function does not use, in a fixed order.

    Those of variables end with an underscore, or one and a number; those of functions do not.

    Attributes:
        generated: the names that were given.

    >>> namer = Namer(["break_", "x"])
    >>> namer.fresh("break_"), namer.fresh("if_body"), namer.fresh("if_body")
    ('break_1', 'if_body', 'if_body_1')
    """

    def __init__(self, used: Iterable[str]):
        self._used = set(used)
        self.generated: list[str] = []
        self._shared: dict[str, str] = {}
        self._counts: dict[str, int] = {}  # base -> the last number given: names are never given back

    def is_used(self, name: str) -> bool:
        """Whether the function uses a name, or it was given already."""
        return name in self._used

    def fresh(self, base: str) -> str:
        candidate, count = base, self._counts.get(base, 0)
        while candidate in self._used:
            count += 1
            candidate = f"{base}{count}" if base.endswith("_") else f"{base}_{count}"
        self._counts[base] = count
        self._used.add(candidate)
        self.generated.append(candidate)
        return candidate

    def shared(self, base: str) -> str:
        """The same name each time, for what functions call one of their own variables."""
        if base not in self._shared:
            self._shared[base] = self.fresh(base)
        return self._shared[base]


NAMESPACES = ("__dict__", "__globals__", "f_globals", "modules")
"""Attributes that are namespaces, or lead to them."""
ELSEWHERE = frozenset({"__class__", "__dict__", "__bases__", "cell_contents"})
"""What an object has elsewhere than among its attributes."""
_ATTRIBUTES = ELSEWHERE.union(NAMESPACES)


def identifiers(tree: gast.AST) -> Iterable[str]:
    """Every identifier that occurs as a variable, function or class name, or in a declaration; of attributes those that passes look for."""
    for node in gast.walk(tree):
        if isinstance(node, gast.Name):
            yield node.id
        elif isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)):
            yield node.name
        elif isinstance(node, (gast.Global, gast.Nonlocal)):
            yield from node.names
        elif isinstance(node, gast.Attribute) and node.attr in _ATTRIBUTES:
            yield node.attr
        elif isinstance(node, gast.alias):
            yield (node.asname or node.name).partition(".")[0]
        elif isinstance(node, (gast.MatchAs, gast.MatchStar)) and node.name:
            yield node.name
        elif isinstance(node, gast.MatchMapping) and node.rest:
            yield node.rest


def unwrap(node: gast.AST) -> gast.AST:
    """`_dy.ld(x, 'x')` is `x` as far as names go."""
    return node.args[0] if nodes.is_dy_call(node, "ld") else node


def qualified(node: gast.AST) -> str | None:
    """The qualified name of an expression, None if it has none.

    >>> [qualified(gast.parse(t, mode="eval").body) for t in ("x", "self.h", "d['k'].w", "a[i]", "f(x).h")]
    ['x', 'self.h', "d['k'].w", 'a[i]', None]
    """
    node = unwrap(node)
    if isinstance(node, gast.Name):
        return node.id
    if isinstance(node, gast.Attribute):
        base = qualified(node.value)
        return None if base is None else f"{base}.{node.attr}"
    if isinstance(node, gast.Subscript):
        base, index = qualified(node.value), unwrap(node.slice)
        if base is None:
            return None
        if isinstance(index, gast.Constant) and isinstance(index.value, (str, int)):
            return f"{base}[{index.value!r}]"
        if isinstance(index, gast.Name):
            return f"{base}[{index.id}]"
    return None


def support(node: gast.AST) -> list[str]:
    """The qualified names that the meaning of a qualified name rests on.

    >>> support(gast.parse("self.a[i].h", mode="eval").body)
    ['i', 'self.a[i]', 'self.a', 'self']
    """
    node = unwrap(node)
    result: list[str] = []
    while isinstance(node, (gast.Attribute, gast.Subscript)):
        if isinstance(node, gast.Subscript):
            index = unwrap(node.slice)
            if isinstance(index, gast.Name):
                result.append(index.id)
        node = unwrap(node.value)
        text = qualified(node)
        if text is not None:
            result.append(text)
    return sorted(result, key=lambda text: ("." in text or "[" in text or text == result[-1], result.index(text)))
