"""`try` statements."""

from __future__ import annotations

from typing import Any

import gast

from dy2st.transpiler import nodes
from dy2st.transpiler.manager import Pass
from dy2st.transpiler.passes.blocks import Accessors, block_function
from dy2st.transpiler.passes.raise_stmt import is_of_python
from dy2st.transpiler.templates import expression, statements


class TryStmt(Pass):
    """A `try` becomes functions for its blocks and a call of the runtime; one function holds all handlers, and is given the exception.

    >>> manager = PassManager(gast.parse('''
    ... def f(x):
    ...     try:
    ...         y = g(x)
    ...     except (A, B) as e:
    ...         y = e.value
    ...     return y
    ... '''))
    >>> print(show([manager.apply(p) for p in (BlockState, TryStmt)][-1]))
    def f(x):
        y = _dy.Undefined('y')
    <BLANKLINE>
        def get_state():
            return (y,)
    <BLANKLINE>
        def set_state(state_):
            nonlocal y
            y, = state_
    <BLANKLINE>
        def try_body():
            nonlocal y
            y = g(x)
    <BLANKLINE>
        def handlers(error_):
            nonlocal y
            try:
                raise error_
            except _dy.known_kinds((A, B)) as e:
                y = e.value
        _dy.try_stmt(try_body, (lambda: (A, B),), handlers, None, None, False, get_state, set_state, ('y',))
        return y

    The last function is that of `finally`, and the bool says whether it does what is seen when the whole call fails.
    """

    def visit_Try(self, node: gast.Try) -> Any:
        state = node.state
        accessors = Accessors(node, state, self.context.namer)
        getter, setter, names = accessors.arguments
        definitions: list = []

        def block(name: str, part: str) -> gast.AST:
            body = getattr(node, part)
            if not body:
                return nodes.constant(None)
            fresh = self.context.namer.fresh(name)
            definitions.extend(block_function(node, fresh, state, part, self.visit_block(body)))
            return nodes.name(fresh)

        shows = nodes.constant(any(map(_shows, node.finalbody)))
        body = block("try_body", "body")
        kinds, handlers = nodes.tuple_of([nodes.thunk(_kind(h)) for h in node.handlers]), nodes.constant(None)
        if node.handlers:
            name, error = self.context.namer.fresh("handlers"), self.context.namer.fresh("error_")
            taken = statements("try: raise error\nexcept: pass", at=node, error=error)
            taken[0].handlers = [_checked(self.visit(h)) for h in node.handlers]
            made = block_function(node, name, state, "handlers", taken)
            made[0].args = nodes.arguments([error])
            definitions += made
            handlers = nodes.name(name)
        call = statements(
            "_dy.try_stmt(body, kinds, handlers, orelse, final, shows, getter, setter, names)",
            at=node,
            body=body,
            kinds=kinds,
            handlers=handlers,
            orelse=block("else_body", "orelse"),
            final=block("final_body", "finalbody"),
            shows=shows,
            getter=getter,
            setter=setter,
            names=names,
        )
        if state.dead:
            call[0].value.args.append(nodes.tuple_of([nodes.constant(n) for n in state.dead]))
        return [*accessors.definitions, *definitions, *call]


def _kind(handler: gast.ExceptHandler) -> gast.AST:
    return nodes.name("BaseException") if handler.type is None else nodes.copy(handler.type)


def _checked(handler: gast.ExceptHandler) -> gast.ExceptHandler:
    """The runtime sees what a handler names, where Python asks for it."""
    named = handler.type
    if named is not None and not all(map(is_of_python, named.elts if isinstance(named, gast.Tuple) else [named])):
        handler.type = expression("_dy.known_kinds(x)", at=named, x=named)
    return handler


_SHOWS = (gast.Assert, gast.Raise, gast.Call, gast.Subscript, gast.Delete)
_ARITHMETIC = (gast.Add, gast.Sub, gast.Mult)
_ORDERS = (gast.Lt, gast.LtE, gast.Gt, gast.GtE)


def _shows(statement: gast.AST) -> bool:
    """Whether code may print or raise: else nobody sees, after a call that fails, that it has not run."""
    return any(isinstance(n, _SHOWS) or _may_fail(n) for n in nodes.walk_scope([statement]))


def _may_fail(n: gast.AST) -> bool:
    """Whether it is an operator whose operands may not fit: a variable and a number are taken to do (`self.depth -= 1`)."""
    if isinstance(n, gast.Compare):
        operands = [n.left, *n.comparators]
        return any(isinstance(op, _ORDERS) for op in n.ops) and not _fit(*operands)
    if isinstance(n, gast.BinOp):
        return not isinstance(n.op, _ARITHMETIC) or not _fit(n.left, n.right)
    if isinstance(n, gast.AugAssign):
        return not isinstance(n.op, _ARITHMETIC) or not _fit(n.target, n.value)
    return False


def _fit(*operands: gast.AST) -> bool:
    numbers = [isinstance(n, gast.Constant) and isinstance(n.value, (int, float)) for n in operands]
    return any(numbers) and all(known or isinstance(n, (gast.Name, gast.Attribute)) for n, known in zip(operands, numbers, strict=True))
