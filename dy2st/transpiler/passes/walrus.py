"""`:=` in operands that may not be evaluated."""

from __future__ import annotations

from typing import Any

import gast

from dy2st.transpiler import nodes, origin
from dy2st.transpiler.manager import Pass
from dy2st.transpiler.passes.exits import contains
from dy2st.transpiler.templates import statements

_HINT = "assign to the variable in a statement of its own"


class Walrus(Pass):
    """Operands of `and`, `or`, ternaries and chained comparisons become functions, in which `:=` would bind
    another variable. So expressions with such a `:=` become statements, in the order of evaluation.

    >>> manager = PassManager(gast.parse("def f(a):\\n    if a and (n := len(a)) > 3:\\n        print(n)"))
    >>> print(show(manager.apply(Walrus)))
    def f(a):
        value_ = a
        if value_:
            n = len(a)
            value_ = n > 3
        if value_:
            print(n)
    """

    looks_for = (gast.NamedExpr,)

    def walk(self, node: gast.AST) -> None:
        """Visits what is below the node."""
        super().generic_visit(node)

    def generic_visit(self, node: gast.AST) -> Any:
        self.walk(node)
        field = _EVALUATED.get(type(node))
        linear = _Linear(self, node)
        if field is None or getattr(node, field) is None:
            if isinstance(node, (gast.stmt, gast.Lambda)):
                self._reject_elsewhere(node, None, linear)
            return node
        if not linear.conditional(getattr(node, field)):
            self._reject_elsewhere(node, field, linear)
            return node
        if isinstance(node, gast.AugAssign) and not isinstance(node.target, gast.Name):
            raise self.context.error(node, "':=' in a part that may not be evaluated, in an augmented assignment", _HINT)
        if isinstance(node, gast.AugAssign) and _binds(node.value, node.target.id):
            # Python reads the target before it evaluates the value.
            name, held = node.target.id, linear.hold(nodes.load(node.target)).id
            node.target = origin.inherit(nodes.store(held), node)
            node.value = linear.flat(node.value)
            return [*linear.out, node, *statements("name = held", at=node, name=name, held=held)]
        setattr(node, field, linear.flat(getattr(node, field)))
        return [*linear.out, node]

    def visit_defaults(self, node: gast.FunctionDef) -> None:
        super().visit_defaults(node)
        if not (getattr(node, "entry", False) or getattr(node, "in_class", False)):
            self._reject_elsewhere(node, None, _Linear(self, node))

    def _reject_elsewhere(self, node: gast.AST, field: str | None, linear: _Linear) -> None:
        """Other expressions of the statement are evaluated too late to be moved before it."""
        for child in nodes.children(node):
            if (field is not None and child is getattr(node, field)) or isinstance(child, (gast.stmt, gast.match_case, gast.ExceptHandler)):
                continue
            if linear.conditional(child):
                raise self.context.error(node, "':=' in a part that may not be evaluated", _HINT)

    def visit_While(self, node: gast.While) -> Any:
        linear = _Linear(self, node)
        # A loop with an exit will ask a flag before its test, which so becomes an operand itself.
        exits = contains(node.body, gast.Break, into_loops=False) or contains(node.body, gast.Return, into_loops=True)
        if not linear.conditional(node.test) and not (exits and has_walrus(node.test)):
            self.walk(node)
            return node
        # `if t: pass else: break` keeps the test itself as the condition, without a `not`.
        leave = statements("if test: pass\nelse: break", at=node, test=linear.flat(node.test))
        node.test = statements("True", at=node)[0].value
        orelse, node.orelse = node.orelse, []
        self.walk(node)
        node.body = [*linear.out, *leave, *node.body]
        if not orelse:
            return node
        done = self.context.namer.fresh("done_")
        leave[0].orelse[:0] = statements("done = True", at=node, done=done)
        return [
            *statements("done = False", at=node, done=done),
            node,
            *statements("if done: orelse", at=node, done=done, orelse=self.visit_block(orelse)),
        ]


_EVALUATED: dict[type, str] = {
    gast.Expr: "value",
    gast.Assign: "value",
    gast.AugAssign: "value",
    gast.Return: "value",
    gast.If: "test",
    gast.For: "iter",
    gast.Assert: "test",
    gast.Raise: "exc",
    gast.Match: "subject",
}


class _Linear:
    """Turns one expression into statements (`out`) and an expression that is evaluated after them."""

    def __init__(self, owner: Walrus, at: gast.AST):
        self.owner, self.at = owner, at
        self.out: list = []

    def conditional(self, node: gast.AST) -> bool:
        """Whether a `:=` stands in an operand that may not be evaluated."""
        return any(has_walrus(n) for n in nodes.walk_scope([node]) if _branches(n))

    def flat(self, node: gast.AST) -> gast.AST:
        if not has_walrus(node):
            return node
        if isinstance(node, gast.NamedExpr):
            self._assign(node.target.id, self.flat(node.value))
            return nodes.name(node.target.id)
        if isinstance(node, gast.BoolOp):
            return self._bool_op(node)
        if isinstance(node, gast.IfExp):
            return self._if_exp(node)
        if isinstance(node, gast.Compare) and len(node.ops) > 1:
            return self._chain(node)
        slots = _slots(node)
        if slots is None:
            if self.conditional(node):
                raise self.owner.context.error(node, "':=' in a part that may not be evaluated", _HINT)
            return node
        last = max(i for i, (parent, field, index) in enumerate(slots) if has_walrus(_get(parent, field, index)))
        for parent, field, index in slots[: last + 1]:
            value = self.flat(_get(parent, field, index))
            if (parent, field, index) != slots[last] and not isinstance(value, gast.Constant):
                value = self.hold(value)
            _set(parent, field, index, value)
        return node

    def _assign(self, name: str, value: gast.AST) -> None:
        self.out += statements("name = value", at=self.at, name=name, value=value)

    def hold(self, value: gast.AST) -> gast.Name:
        name = self.owner.context.namer.fresh("value_")
        self._assign(name, value)
        return nodes.name(name)

    def _branch(self, test: gast.AST, name: str, value: gast.AST) -> list:
        """The statements of a branch that sets the name to the value."""
        inner = _Linear(self.owner, self.at)
        inner._assign(name, inner.flat(value))
        return inner.out

    def _bool_op(self, node: gast.BoolOp) -> gast.AST:
        name = self.hold(self.flat(node.values[0])).id
        out = self.out
        for operand in node.values[1:]:
            test = nodes.name(name) if isinstance(node.op, gast.And) else nodes.not_(nodes.name(name))
            block = statements("if test: body", at=node, test=test, body=self._branch(test, name, operand))
            out += block
            out = block[0].body  # the next operand is evaluated only if this one was
        return nodes.name(name)

    def _if_exp(self, node: gast.IfExp) -> gast.AST:
        test = self.flat(node.test)
        name = self.owner.context.namer.fresh("value_")
        body, orelse = self._branch(test, name, node.body), self._branch(test, name, node.orelse)
        self.out += statements("if test: body\nelse: orelse", at=node, test=test, body=body, orelse=orelse)
        return nodes.name(name)

    def _chain(self, node: gast.Compare) -> gast.AST:
        left = self.hold(self.flat(node.left))
        out, result = self.out, self.owner.context.namer.fresh("value_")
        for op, comparator in zip(node.ops, node.comparators, strict=True):
            inner = _Linear(self.owner, self.at)
            right = inner.hold(inner.flat(comparator))
            inner._assign(result, gast.Compare(left, [op], [right]))
            out += inner.out
            left = nodes.name(right.id)
            if comparator is not node.comparators[-1]:  # operators are shared
                block = statements("if test: pass", at=node, test=nodes.name(result))
                out += block
                block[0].body = out = []
        return nodes.name(result)


def has_walrus(node: gast.AST) -> bool:
    return any(isinstance(n, gast.NamedExpr) for n in nodes.walk_scope([node]))


def _binds(node: gast.AST, name: str) -> bool:
    return any(isinstance(n, gast.NamedExpr) and n.target.id == name for n in nodes.walk_scope([node]))


def _branches(node: gast.AST) -> bool:
    return isinstance(node, (gast.BoolOp, gast.IfExp)) or (isinstance(node, gast.Compare) and len(node.ops) > 1)


def _slots(node: gast.AST) -> list[tuple[gast.AST, str, int | None]] | None:
    """The places of the operands in the order of evaluation; None if the node is not known here."""
    fields = _ORDER.get(type(node))
    if fields is None:
        return None
    result: list[tuple[gast.AST, str, int | None]] = []
    for field in fields:
        value = getattr(node, field)
        entries = [(v, i) for i, v in enumerate(value)] if isinstance(value, list) else [(value, None)]
        for child, index in entries:
            if child is None:
                continue
            if isinstance(child, (gast.Starred, gast.keyword, gast.Slice, gast.FormattedValue)):
                result += _slots(child) or []
            else:
                result.append((node, field, index))
    return result


_ORDER: dict[type, tuple[str, ...]] = {
    gast.Attribute: ("value",),
    gast.BinOp: ("left", "right"),
    gast.Call: ("func", "args", "keywords"),
    gast.Compare: ("left", "comparators"),
    gast.FormattedValue: ("value",),
    gast.JoinedStr: ("values",),
    gast.List: ("elts",),
    gast.Set: ("elts",),
    gast.Slice: ("lower", "upper", "step"),
    gast.Starred: ("value",),
    gast.Subscript: ("value", "slice"),
    gast.Tuple: ("elts",),
    gast.UnaryOp: ("operand",),
    gast.keyword: ("value",),
}


def _get(parent: gast.AST, field: str, index: int | None) -> gast.AST:
    value = getattr(parent, field)
    return value if index is None else value[index]


def _set(parent: gast.AST, field: str, index: int | None, new: gast.AST) -> None:
    if index is None:
        setattr(parent, field, new)
    else:
        getattr(parent, field)[index] = new
