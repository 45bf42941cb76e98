"""Which classes of nodes occur in a piece of code, as bits of an integer: a pass goes by what holds nothing for it.

The pieces are simple statements, and the expressions in the headers of compound ones. What occurs in a piece is noted on its node, and
dropped when a pass changes something in the piece. Statements that move from block to block take their notes with them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gast

from dy2st.transpiler import nodes

COMPOUND = frozenset((
    gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef, gast.If, gast.For, nodes.ForUntil, gast.AsyncFor, gast.While,
    gast.With, gast.AsyncWith, gast.Try, gast.TryStar, gast.Match, gast.ExceptHandler, gast.match_case,
))  # fmt: skip
# what is a piece in a list of nodes; other pieces are the expressions of compound nodes
PIECES = frozenset(c for c in vars(gast).values() if isinstance(c, type) and issubclass(c, (gast.stmt, gast.withitem))) - COMPOUND

_FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef)

_bits: dict[type, int] = {}
# class -> its bit and the fields to look into; what is no node has neither
_plans: dict[type, tuple[int, tuple[str, ...]]] = {}


def bit(kind: type) -> int:
    """The bit of a class."""
    found = _bits.get(kind)
    if found is None:
        found = _bits[kind] = 1 << len(_bits)
    return found


def bits(kinds: Iterable[type]) -> int:
    """The bits of classes."""
    result = 0
    for kind in kinds:
        result |= bit(kind)
    return result


def within(piece: gast.AST) -> int:
    """The classes that occur in a piece, also of the operators of arithmetic and logic; noted on it."""
    noted = piece.__dict__.get("kinds")
    if noted is None:
        noted = piece.kinds = count(piece)
    return noted


def count(root: gast.AST) -> int:
    """The classes that occur below a node, counted anew."""
    found = 0
    stack: list[object] = [root]
    while stack:
        node = stack.pop()
        plan = _plans.get(node.__class__)
        own, fields = _plan(node.__class__) if plan is None else plan
        found |= own
        for field in fields:
            value = node.__dict__.get(field)
            if value.__class__ is list:
                stack += value  # type: ignore[arg-type]
            elif value is not None:
                stack.append(value)
    return found


def _plan(kind: Any) -> tuple[int, tuple[str, ...]]:
    fields: tuple[str, ...] = ()
    if issubclass(kind, gast.AST):
        fields = nodes.child_fields(kind) + (("op",) if "op" in kind._fields else ())
    plan = _plans[kind] = bit(kind) if issubclass(kind, gast.AST) else 0, fields
    return plan


def forget(piece: gast.AST) -> None:
    """Drops what was noted: something in the piece has changed."""
    piece.__dict__.pop("kinds", None)


def everywhere(tree: gast.AST) -> int:
    """The classes that occur in a tree."""
    found, stack = 0, [tree]
    while stack:
        node = stack.pop()
        kind = node.__class__
        if kind in _FUNCTIONS:
            found |= bit(kind)
            stack += node.body
            for default in (*node.args.defaults, *node.args.kw_defaults):
                found |= 0 if default is None else count(default)
        elif kind is gast.ClassDef:
            found |= bit(kind)
            stack += node.body
        elif kind in COMPOUND or kind is gast.Module:
            found |= bit(kind)
            stack += nodes.children(node)
        else:
            found |= within(node)
    return found
