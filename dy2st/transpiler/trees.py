"""Between the trees of the standard library and those of gast.

gast's own functions do the same for any Python; these know that Python is 3.10 or newer, that contexts and operators can be shared,
and go by the fields of each class once, which takes a third of the time. `tests/transpiler/test_trees.py` compares both.
"""

from __future__ import annotations

import ast
from typing import Any

import gast
from dy2st_runtime.errors import Location

from dy2st.transpiler import nodes

# class -> the class of the other side, the fields that may hold nodes, and the values of the fields that only the other side has
_Plan = tuple[Any, tuple[str, ...], dict[str, Any]]

_shared_gast = {getattr(ast, c.__name__): c() for c in nodes.WITHOUT_PLACE if hasattr(ast, c.__name__) and not getattr(c, "_fields", ())}
_shared_ast = {type(theirs): ours() for ours, theirs in _shared_gast.items()}
_gast_plans: dict[type, _Plan] = {}
_ast_plans: dict[type, _Plan] = {}


def to_gast(node: ast.AST) -> Any:
    """The tree as gast's nodes, with their positions."""
    kind = node.__class__
    plan = _gast_plans.get(kind)
    if plan is None:
        shared = _shared_gast.get(kind)
        if shared is not None:
            return shared
        plan = _gast_plans[kind] = _gast_plan(kind)
    other, children, more = plan
    new = other.__new__(other)
    fields = new.__dict__
    fields.update(node.__dict__)
    fields.update(more)
    for field in children:
        value = fields.get(field)
        if value.__class__ is list:
            fields[field] = [to_gast(v) if isinstance(v, ast.AST) else v for v in value]
        elif isinstance(value, ast.AST):
            fields[field] = to_gast(value)
    if kind is ast.arg:
        fields["id"], fields["ctx"] = fields.pop("arg"), gast.Param()
    elif kind is ast.ExceptHandler and fields.get("name"):
        fields["name"] = nodes.store(fields["name"])
    elif more and "type_params" in more:
        fields["type_params"] = []
    return new


def _gast_plan(kind: type[ast.AST]) -> _Plan:
    other = gast.Name if kind is ast.arg else getattr(gast, kind.__name__)
    missing = [f for f in other._fields if f not in kind._fields and kind is not ast.arg]
    return other, _children(kind), dict.fromkeys(missing)


def to_ast(node: gast.AST, places: list[Location | None]) -> Any:
    """The tree as nodes of the standard library. Their line numbers tell where they come from: they are indices of `places`, which
    is added to; 0 is nowhere."""
    kind = node.__class__
    plan = _ast_plans.get(kind)
    if plan is None:
        shared = _shared_ast.get(kind)
        if shared is not None:
            return shared
        plan = _ast_plans[kind] = _ast_plan(kind)
    other, children, more = plan
    mine = node.__dict__
    if kind is gast.Name and mine["ctx"].__class__ is gast.Param:
        other, children, more = ast.arg, ("annotation",), {"arg": mine["id"]}
    new = other.__new__(other)
    fields = new.__dict__
    fields.update(mine)
    fields.update(more)
    if "origin" in mine:
        fields["lineno"] = len(places)
        places.append(mine["origin"])
    else:
        fields["lineno"] = 0
    for field in children:
        value = fields.get(field)
        if value.__class__ is list:
            if value:
                fields[field] = [to_ast(v, places) if isinstance(v, gast.AST) else v for v in value]
        elif value.__class__ in _shared_ast:
            fields[field] = _shared_ast[value.__class__]
        elif isinstance(value, gast.AST):
            fields[field] = to_ast(value, places)
    if kind is gast.ExceptHandler and isinstance(mine["name"], gast.Name):
        fields["name"] = mine["name"].id
    return new


def _ast_plan(kind: type[gast.AST]) -> _Plan:
    other = getattr(ast, kind.__name__)
    return other, _children(other), {}


def _children(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a class that may hold nodes."""
    texts = {"id", "attr", "arg", "kind", "type_comment", "conversion", "is_async", "simple", "level", "n", "s"}
    return tuple(f for f in kind._fields if f not in texts and kind is not ast.Constant)
