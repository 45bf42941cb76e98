"""Constructors of syntax nodes.

gast's nodes have more fields than one wants to spell out (an argument is a `Name` in the context
`Param`), and they differ between its versions. So nodes are made here and in `templates` only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import gast

RUNTIME = "_dy"
"""The name that transformed code knows the runtime by."""

FunctionNode = gast.FunctionDef | gast.AsyncFunctionDef | gast.Lambda
Comprehension = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


class ForUntil(gast.For):
    """A `for` that stops before it takes the next item once `extra_test` is false (from `break`)."""

    _fields = (*gast.For._fields, "extra_test")


_LOAD, _STORE, _PARAM = gast.Load(), gast.Store(), gast.Param()


def _variable(identifier: str, context: gast.AST) -> gast.Name:
    node = gast.Name.__new__(gast.Name)  # gast's constructors set one attribute after the other, and these nodes are most of all
    node.__dict__.update(id=identifier, ctx=context, annotation=None, type_comment=None)
    return node


def name(identifier: str) -> gast.Name:
    return _variable(identifier, _LOAD)


def store(identifier: str) -> gast.Name:
    return _variable(identifier, _STORE)


def param(identifier: str) -> gast.Name:
    return _variable(identifier, _PARAM)


def constant(value: object) -> Any:
    """A constant; a negative number as Python parses it."""
    if type(value) is int and value < 0:
        return gast.UnaryOp(gast.USub(), constant(-value))
    node = gast.Constant.__new__(gast.Constant)
    node.__dict__.update(value=value, kind=None)
    return node


def tuple_of(elements: Iterable[gast.AST]) -> gast.Tuple:
    return gast.Tuple(list(elements), gast.Load())


def attribute(value: gast.AST, attr: str) -> gast.Attribute:
    return gast.Attribute(value, attr, gast.Load())


def call(function: gast.AST, *args: gast.AST) -> gast.Call:
    return gast.Call(function, list(args), [])


def dy(function: str, *args: gast.AST) -> gast.Call:
    """`_dy.function(*args)`"""
    return call(attribute(name(RUNTIME), function), *args)


def is_dy_call(node: gast.AST, function: str | None = None) -> bool:
    """Whether the node is a call `_dy.function(...)`, of any function if none is named."""
    if not (isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute)):
        return False
    base = node.func.value
    return isinstance(base, gast.Name) and base.id == RUNTIME and function in (None, node.func.attr)


def undefined(identifier: str) -> gast.Assign:
    """`x = _dy.Undefined('x')`"""
    return assign(identifier, dy("Undefined", constant(identifier)))


def thunk(body: gast.AST) -> gast.Lambda:
    """`lambda: body`"""
    return gast.Lambda(arguments([]), body)


def stays_in_place(operands: Iterable[gast.AST]) -> bool:
    """Whether operands cannot become functions: they suspend the function around, or bind its variables."""
    return any(isinstance(n, (gast.Yield, gast.YieldFrom, gast.Await, gast.NamedExpr)) for n in walk_scope(operands))


def both(*tests: gast.AST) -> gast.BoolOp:
    """`a and b` of which only the truth counts (see `passes.tests`)."""
    made = gast.BoolOp(gast.And(), list(tests))
    made.truth = True
    return made


def not_(operand: gast.AST) -> gast.UnaryOp:
    return gast.UnaryOp(gast.Not(), operand)


def assign(target: str | gast.AST, value: gast.AST) -> gast.Assign:
    node = store(target) if isinstance(target, str) else with_context(target, gast.Store)
    return gast.Assign([node], value, None)


def expr(value: gast.AST) -> gast.Expr:
    return gast.Expr(value)


def if_(test: gast.AST, body: list, orelse: list | None = None) -> gast.If:
    return gast.If(test, body or [gast.Pass()], orelse or [])


def return_(value: gast.AST | None) -> gast.Return:
    return gast.Return(value)


def for_until(loop: gast.For, extra_test: gast.AST) -> ForUntil:
    """The loop with an extra test."""
    new = ForUntil(loop.target, loop.iter, loop.body, loop.orelse, None)
    new.extra_test = extra_test
    return new


def arguments(params: Sequence[str]) -> gast.arguments:
    return gast.arguments(
        args=[param(p) for p in params],
        posonlyargs=[],
        vararg=None,
        kwonlyargs=[],
        kw_defaults=[],
        kwarg=None,
        defaults=[],
    )


def function(identifier: str, params: Sequence[str], body: list) -> gast.FunctionDef:
    node = gast.FunctionDef(identifier, arguments(params), body or [gast.Pass()], [], None, None)
    node.type_params = []
    return node


def class_(identifier: str, body: list) -> gast.ClassDef:
    node = gast.ClassDef(identifier, [], [], body, [])
    node.type_params = []
    return node


def module(body: list) -> gast.Module:
    return gast.Module(body, [])


def parameters(arguments: gast.arguments) -> list[gast.Name]:
    """All parameters in the order of the function's `co_varnames`."""
    extra = [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *extra]


def with_context(node: gast.AST, context: type) -> gast.AST:
    """Sets Load, Store or Del on a target and on the parts of it that carry the same context."""
    if isinstance(node, (gast.Tuple, gast.List)):
        for element in node.elts:
            with_context(element, context)
    elif isinstance(node, gast.Starred):
        with_context(node.value, context)
    if hasattr(node, "ctx"):
        node.ctx = context()
    return node


def copy(node: gast.AST) -> gast.AST:
    """A deep copy of the fields; what passes noted on the nodes (origin, state) is shared."""
    new = node.__class__.__new__(node.__class__)
    fields = new.__dict__
    fields.update(node.__dict__)
    for field in child_fields(node.__class__):
        value = fields.get(field)
        if isinstance(value, gast.AST):
            fields[field] = copy(value)
        elif value.__class__ is list:
            fields[field] = [copy(v) if isinstance(v, gast.AST) else v for v in value]
    return new


def load(node: gast.AST) -> gast.AST:
    """A copy of a target as an expression that reads it."""
    return with_context(copy(node), gast.Load)


_OPERATORS = (gast.expr_context, gast.operator, gast.cmpop, gast.boolop, gast.unaryop)
# the classes themselves: asking for the class of a node is much quicker than `isinstance`, and these are asked for all nodes
WITHOUT_PLACE = frozenset(c for c in vars(gast).values() if isinstance(c, type) and issubclass(c, _OPERATORS))
_SCOPES = frozenset((gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda, gast.ClassDef))


_NO_NODES = frozenset(
    ("id", "ctx", "type_comment", "attr", "arg", "kind", "op", "ops", "n", "s", "conversion", "is_async", "simple", "level")
)
_child_fields: dict[type, tuple[str, ...]] = {}


def child_fields(kind: type) -> tuple[str, ...]:
    """The fields of a class of nodes that may hold nodes with a place; asked for each node that a pass goes by."""
    found = _child_fields.get(kind)
    if found is None:
        fields = () if kind is gast.Constant else kind._fields  # type: ignore[attr-defined]
        found = _child_fields[kind] = tuple(f for f in fields if f not in _NO_NODES)
    return found


def children(node: gast.AST) -> list[gast.AST]:
    """The nodes directly below, in the order of the fields, without contexts and operators."""
    found: list[gast.AST] = []
    fields = node.__dict__
    for field in child_fields(node.__class__):
        value = fields.get(field)
        if value.__class__ is list:
            found += [x for x in value if isinstance(x, gast.AST) and x.__class__ not in WITHOUT_PLACE]
        elif isinstance(value, gast.AST) and value.__class__ not in WITHOUT_PLACE:
            found.append(value)
    return found


def walk(root: gast.AST) -> Iterator[gast.AST]:
    """A node and all nodes below, in source order."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack += children(node)[::-1]


def walk_scope(roots: Iterable[gast.AST]) -> Iterator[gast.AST]:
    """All nodes below, in source order, without entering functions, lambdas and classes."""
    stack = list(roots)[::-1]
    while stack:
        node = stack.pop()
        yield node
        if node.__class__ not in _SCOPES:
            stack += children(node)[::-1]


_BLOCKS = {
    **dict.fromkeys((gast.If, gast.For, ForUntil, gast.While, gast.AsyncFor), ("body", "orelse")),
    **dict.fromkeys((gast.With, gast.AsyncWith), ("body",)),
}


def statements(block: list, *, everywhere: bool = False) -> Iterator[gast.AST]:
    """All statements of a block and of the blocks below, in source order; those of functions and classes only with `everywhere`."""
    stack = block[::-1]
    while stack:
        statement = stack.pop()
        yield statement
        for inner in blocks(statement)[::-1]:
            stack += inner[::-1]
        if everywhere and isinstance(statement, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef, gast.Module)):
            stack += statement.body[::-1]


def blocks(statement: gast.AST) -> list[list]:
    """The lists of statements directly below a compound statement (not those of functions and classes)."""
    fields = _BLOCKS.get(statement.__class__)
    if fields is not None:
        return [statement.__dict__[field] for field in fields]
    if isinstance(statement, (gast.Try, gast.TryStar)):
        return [statement.body, *(h.body for h in statement.handlers), statement.orelse, statement.finalbody]
    if isinstance(statement, gast.Match):
        return [case.body for case in statement.cases]
    return []


def split_docstring(body: list) -> tuple[list, list]:
    """The docstring as a list of none or one statement, and the rest."""
    first = body[0].value if body and isinstance(body[0], gast.Expr) else None
    count = int(isinstance(first, gast.Constant) and isinstance(first.value, str))
    return body[:count], body[count:]


def deleted(statement: gast.Delete) -> list[gast.AST]:
    """What a `del` deletes, one after the other, also where parentheses stand around several."""
    found: list[gast.AST] = []
    stack = statement.targets[::-1]
    while stack:
        target = stack.pop()
        if isinstance(target, (gast.Tuple, gast.List)):
            stack += target.elts[::-1]
        else:
            found.append(target)
    return found


def is_constant_key(node: gast.AST) -> bool:
    """Whether what stands in the brackets of a subscript is known: a constant, a slice or a tuple of these."""
    if isinstance(node, gast.UnaryOp):
        return isinstance(node.operand, gast.Constant)
    if isinstance(node, gast.Slice):
        return all(b is None or is_constant_key(b) for b in (node.lower, node.upper, node.step))
    if isinstance(node, gast.Tuple):
        return all(map(is_constant_key, node.elts))
    return isinstance(node, gast.Constant)


def key_object(node: gast.AST) -> gast.AST:
    """The object that Python makes of what stands in the brackets of a subscript."""
    if isinstance(node, gast.Slice):
        bounds = [constant(None) if b is None else b for b in (node.lower, node.upper, node.step)]
        made = dy("slice", *bounds)
        made.generated = made.func.generated = True
        return made
    return tuple_of([key_object(e) for e in node.elts]) if isinstance(node, gast.Tuple) else node
