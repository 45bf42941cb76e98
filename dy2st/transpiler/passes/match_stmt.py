"""`match`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gast

from dy2st.transpiler import nodes, origin
from dy2st.transpiler.manager import Pass
from dy2st.transpiler.templates import expression, statements

Binding = tuple[str, gast.AST]


class MatchStmt(Pass):
    """A `match` becomes an `if` with an `elif` for each case: whether a pattern fits may depend on tensors.

    >>> manager = PassManager(gast.parse('''
    ... def f(x):
    ...     match x:
    ...         case 0 | None:
    ...             return 1
    ...         case [a, *_] if a > 2:
    ...             return a
    ...         case Point(x=0) as p:
    ...             return p
    ...         case _:
    ...             return 2
    ... '''))
    >>> print(show(manager.apply(MatchStmt)))
    def f(x):
        subject_ = x
        if subject_ == 0 or subject_ is None:
            return 1
        elif _dy.match_sequence(subject_, 1, True) and [(a := subject_[0])] and (a > 2):
            return a
        elif _dy.match_class(subject_, Point, 0, ('x',)) and subject_.x == 0:
            p = subject_
            return p
        else:
            return 2
    """

    in_generators = True

    def visit_Match(self, node: gast.Match) -> Any:
        self.generic_visit(node)
        subject = self.context.namer.fresh("subject_")
        chain: list = []
        for case in reversed(node.cases):
            tests, bindings = _fit(case.pattern, nodes.name(subject))
            body = case.body
            if case.guard is not None:
                # the guard sees what the pattern has bound, and so does what follows if the guard fails
                tests = [*tests, *_bound(bindings), case.guard]
            else:
                body = [*(origin.inherit(nodes.assign(n, v), case.pattern) for n, v in bindings), *body]
            test = _all(tests, case.pattern)
            chain = body if test is None else [origin.inherit(nodes.if_(test, body, chain), case.pattern)]
        self.changed = True
        return [*statements("subject = value", at=node, subject=subject, value=node.subject), *chain]


def _fit(pattern: gast.AST, at: gast.AST) -> tuple[list[gast.AST], list[Binding]]:
    """The tests of whether the value of an expression fits a pattern, and what the pattern binds then."""
    return _RULES[type(pattern)](pattern, at)


def _value(pattern: gast.MatchValue, at: gast.AST) -> Any:
    return [expression("a == b", at=pattern, a=nodes.copy(at), b=pattern.value)], []


def _singleton(pattern: gast.MatchSingleton, at: gast.AST) -> Any:
    return [expression("a is b", at=pattern, a=nodes.copy(at), b=nodes.constant(pattern.value))], []


def _as(pattern: gast.MatchAs, at: gast.AST) -> Any:
    tests, bindings = ([], []) if pattern.pattern is None else _fit(pattern.pattern, at)
    return tests, [*bindings, *([(pattern.name, nodes.copy(at))] if pattern.name else [])]


def _or(pattern: gast.MatchOr, at: gast.AST) -> Any:
    choices = []
    for one in pattern.patterns:
        tests, bindings = _fit(one, at)
        choices.append(_all([*tests, *_bound(bindings)], one) or nodes.constant(True))
    return [origin.inherit(gast.BoolOp(gast.Or(), choices), pattern)], []


def _sequence(pattern: gast.MatchSequence, at: gast.AST) -> Any:
    parts = pattern.patterns
    star = next((i for i, p in enumerate(parts) if isinstance(p, gast.MatchStar)), None)
    fixed = len(parts) - (star is not None)
    tests = [expression("_dy.match_sequence(a, n, more)", at=pattern, a=nodes.copy(at), n=nodes.constant(fixed),
                        more=nodes.constant(star is not None))]  # fmt: skip
    bindings: list[Binding] = []
    for i, part in enumerate(parts):
        if isinstance(part, gast.MatchStar):
            trailing = len(parts) - i - 1
            if part.name:
                rest = expression("_dy.match_rest(a, i, j)", at=part, a=nodes.copy(at), i=nodes.constant(i), j=nodes.constant(trailing))
                bindings.append((part.name, rest))
            continue
        index = nodes.constant(i if star is None or i < star else i - len(parts))
        _add(part, expression("a[i]", at=part, a=nodes.copy(at), i=index), tests, bindings)
    return tests, bindings


def _mapping(pattern: gast.MatchMapping, at: gast.AST) -> Any:
    tests = [expression("_dy.match_mapping(a, keys)", at=pattern, a=nodes.copy(at), keys=nodes.tuple_of(map(nodes.copy, pattern.keys)))]
    bindings: list[Binding] = []
    for key, part in zip(pattern.keys, pattern.patterns, strict=True):
        _add(part, expression("a[k]", at=part, a=nodes.copy(at), k=nodes.copy(key)), tests, bindings)
    if pattern.rest:
        keys = nodes.tuple_of(map(nodes.copy, pattern.keys))
        bindings.append((pattern.rest, expression("_dy.match_others(a, keys)", at=pattern, a=nodes.copy(at), keys=keys)))
    return tests, bindings


def _class(pattern: gast.MatchClass, at: gast.AST) -> Any:
    names = nodes.tuple_of(nodes.constant(n) for n in pattern.kwd_attrs)
    tests = [expression("_dy.match_class(a, c, n, names)", at=pattern, a=nodes.copy(at), c=nodes.copy(pattern.cls),
                        n=nodes.constant(len(pattern.patterns)), names=names)]  # fmt: skip
    bindings: list[Binding] = []
    for i, part in enumerate(pattern.patterns):
        value = expression("_dy.match_part(a, c, i)", at=part, a=nodes.copy(at), c=nodes.copy(pattern.cls), i=nodes.constant(i))
        _add(part, value, tests, bindings)
    for name, part in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
        _add(part, origin.inherit(nodes.attribute(nodes.copy(at), name), part), tests, bindings)
    return tests, bindings


def _add(part: gast.AST, at: gast.AST, tests: list[gast.AST], bindings: list[Binding]) -> None:
    more, names = _fit(part, at)
    tests += more
    bindings += names


def _bound(bindings: Sequence[Binding]) -> list[gast.AST]:
    """Operands of `and` that bind names and are true."""
    if not bindings:
        return []
    return [gast.List([gast.NamedExpr(nodes.store(n), v) for n, v in bindings], gast.Load())]


def _all(tests: list[gast.AST], at: gast.AST) -> gast.AST | None:
    if len(tests) < 2:
        return tests[0] if tests else None
    return origin.inherit(gast.BoolOp(gast.And(), tests), at)


_RULES: dict[type, Any] = {
    gast.MatchValue: _value, gast.MatchSingleton: _singleton, gast.MatchAs: _as, gast.MatchOr: _or,
    gast.MatchSequence: _sequence, gast.MatchMapping: _mapping, gast.MatchClass: _class,
}  # fmt: skip
