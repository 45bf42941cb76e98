"""Which names each piece of code reads and writes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import gast

from dy2st.transpiler import nodes
from dy2st.transpiler.kinds import COMPOUND
from dy2st.transpiler.manager import Analysis, PassManager
from dy2st.transpiler.names import qualified, unwrap

# Methods that change a container in place. Names like `add` and `sort` are not here: they are as likely
# functions of a module.
MUTATORS = {
    *("append", "appendleft", "clear", "discard", "extend", "extendleft", "insert"),
    *("pop", "popitem", "popleft", "remove", "setdefault", "update"),
}


class Effects:
    """What running a piece of code once does to names. All orders are those of the source."""

    def __init__(self) -> None:
        self.reads: list[gast.Name] = []  # nodes that read a variable of this function
        self.captured: list[gast.Name] = []  # nodes in functions and generators made here: they read later
        self.writes: dict[str, None] = {}  # names bound for certain (if no exception comes)
        self.weak: dict[str, None] = {}  # names that may be bound
        self.mutated: dict[str, gast.AST] = {}  # text of `self.h = 1`, of `d` in `d[k] = 1` -> the expression
        self.called: dict[str, gast.AST] = {}  # text of `d` in `d.append(x)` -> the expression
        self.has_call = False
        # what makes the scope of a function; not that of functions made here
        self.declared: dict[type, dict[str, None]] = {gast.Global: {}, gast.Nonlocal: {}}
        self.annotated: dict[str, None] = {}
        self.deleted: dict[str, None] = {}
        self.functions: list[gast.AST] = []  # also the methods of classes

    def add(self, other: Effects) -> None:
        self.reads += other.reads
        self.captured += other.captured
        self.writes.update(other.writes)
        self.weak.update(other.weak)
        for mine, theirs in ((self.mutated, other.mutated), (self.called, other.called)):
            for text, node in theirs.items():
                mine.setdefault(text, node)
        self.has_call |= other.has_call
        for kind, names in other.declared.items():
            self.declared[kind].update(names)
        self.annotated.update(other.annotated)
        self.deleted.update(other.deleted)
        self.functions += other.functions

    def bound(self) -> list[str]:
        """Names of variables that are bound, perhaps."""
        return list(dict.fromkeys([*self.writes, *self.weak]))


_VISITORS: dict[type, Callable[[Any, Any], None]] = {}


class _Collector(gast.NodeVisitor):
    """Collects the effects of expressions and simple statements (and of function definitions, as such)."""

    def __init__(self, activity: Activity) -> None:
        self.activity = activity
        self.effects = Effects()
        self.hidden: list[tuple[set[str], bool]] = []  # names bound around here; whether by a comprehension
        self.later = 0  # inside a function or generator that runs later
        self.functions = 0  # inside a function of its own name: what that rebinds is `rebound_inside`, and may be a variable further out
        self.maybe = 0  # inside an operand that may not be evaluated

    def visit(self, node: gast.AST) -> None:
        kind = node.__class__
        visitor = _VISITORS.get(kind)
        if visitor is None:
            visitor = _VISITORS[kind] = getattr(_Collector, f"visit_{kind.__name__}", _Collector.generic_visit)
        visitor(self, node)

    def generic_visit(self, node: gast.AST) -> None:
        for child in nodes.children(node):
            self.visit(child)

    def visit_Constant(self, node: gast.Constant) -> None:
        pass

    def is_hidden(self, identifier: str) -> bool:
        return any(identifier in names for names, _ in self.hidden)

    def visit_Name(self, node: gast.Name) -> None:
        if isinstance(node.ctx, gast.Load):
            if not self.is_hidden(node.id):
                (self.effects.captured if self.later else self.effects.reads).append(node)
        elif isinstance(node.ctx, (gast.Store, gast.Del)):
            self.write(node.id)
            if isinstance(node.ctx, gast.Del) and not self.later:
                self.effects.deleted[node.id] = None

    def write(self, identifier: str) -> None:
        if not self.functions and not self.is_hidden(identifier):
            (self.effects.weak if self.maybe or self.later else self.effects.writes)[identifier] = None

    def visit_Attribute(self, node: gast.Attribute) -> None:
        self.visit(node.value)
        if not isinstance(node.ctx, gast.Load):
            self.mutate(node, self.effects.mutated)

    def visit_Subscript(self, node: gast.Subscript) -> None:
        self.visit(node.value)
        self.visit(node.slice)
        if not isinstance(node.ctx, gast.Load):
            self.mutate(node.value, self.effects.mutated)

    def mutate(self, node: gast.AST, found: dict[str, gast.AST]) -> None:
        text = qualified(node)
        if text is not None and not self.later and not self.is_hidden(text):
            found.setdefault(text, unwrap(node))

    def visit_Call(self, node: gast.Call) -> None:
        self.effects.has_call = True
        if isinstance(node.func, gast.Attribute) and node.func.attr in MUTATORS:
            self.mutate(node.func.value, self.effects.called)
        self.generic_visit(node)

    def visit_Assign(self, node: gast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self.visit(target)

    def visit_Global(self, node: gast.Global | gast.Nonlocal) -> None:
        if not self.later:
            self.effects.declared[type(node)].update(dict.fromkeys(node.names))

    visit_Nonlocal = visit_Global

    def visit_AnnAssign(self, node: gast.AnnAssign) -> None:
        if isinstance(node.target, gast.Name) and not self.later:
            self.effects.annotated[node.target.id] = None
        if node.value is not None:
            self.visit(node.value)
            self.visit(node.target)

    def visit_AugAssign(self, node: gast.AugAssign) -> None:
        if isinstance(node.target, gast.Name) and not self.is_hidden(node.target.id):
            # The target of `x += 1` is read too; the node itself stands for the read.
            (self.effects.captured if self.later else self.effects.reads).append(node.target)
        self.visit(node.target)
        self.visit(node.value)

    def visit_NamedExpr(self, node: gast.NamedExpr) -> None:
        self.visit(node.value)
        # Also inside a comprehension the walrus binds in the function, if the comprehension runs at all.
        hidden = self.hidden
        while self.hidden and self.hidden[-1][1]:
            self.hidden = self.hidden[:-1]
        inside = len(self.hidden) < len(hidden)
        self.maybe += inside
        self.visit(node.target)
        self.maybe -= inside
        self.hidden = hidden

    def visit_BoolOp(self, node: gast.BoolOp) -> None:
        self.visit(node.values[0])
        self._maybe(node.values[1:])

    def visit_IfExp(self, node: gast.IfExp) -> None:
        self.visit(node.test)
        self._maybe([node.body, node.orelse])

    def visit_Compare(self, node: gast.Compare) -> None:
        self.visit(node.left)
        self.visit(node.comparators[0])
        self._maybe(node.comparators[1:])

    def visit_Assert(self, node: gast.Assert) -> None:
        self.visit(node.test)
        if node.msg is not None:
            self._maybe([node.msg])

    def _maybe(self, operands: list) -> None:
        self.maybe += 1
        for operand in operands:
            self.visit(operand)
        self.maybe -= 1

    def visit_Import(self, node: gast.Import | gast.ImportFrom) -> None:
        for alias in node.names:
            self.write((alias.asname or alias.name).partition(".")[0])

    visit_ImportFrom = visit_Import

    def visit_arguments(self, node: gast.arguments) -> None:
        for default in [*node.defaults, *(d for d in node.kw_defaults if d is not None)]:
            self.visit(default)
        for parameter in nodes.parameters(node):
            if parameter.annotation is not None:
                self.visit(parameter.annotation)

    def visit_Lambda(self, node: gast.Lambda) -> None:
        self.visit(node.args)
        bound = {p.id for p in nodes.parameters(node.args)}
        bound |= {n.target.id for n in nodes.walk_scope([node.body]) if isinstance(n, gast.NamedExpr)}
        self._inside([node.body], bound)

    def visit_FunctionDef(self, node: gast.FunctionDef) -> None:
        for decorator in node.decorator_list:
            self.visit(decorator)
        self.visit(node.args)
        if node.returns is not None:
            self.visit(node.returns)
        scope = self.activity.scope(node)
        self.functions += 1
        self._inside(node.body, {*scope.locals, *scope.globals})
        self.functions -= 1
        self.write(node.name)
        if not self.later:
            self.effects.functions.append(node)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: gast.ClassDef) -> None:
        for part in [*node.decorator_list, *node.bases, *node.keywords]:
            self.visit(part)
        # The body runs now, its methods run later; what the body binds are not variables of this function.
        inner = _Collector(self.activity)
        for statement in node.body:
            inner.statement(statement)
        own = {*inner.effects.writes, *inner.effects.weak}
        self.effects.reads += [n for n in inner.effects.reads if n.id not in own]
        self.effects.captured += inner.effects.captured + [n for n in inner.effects.reads if n.id in own]
        self.write(node.name)
        if not self.later:
            self.effects.functions += class_functions_of(node)

    def statement(self, node: gast.AST) -> None:
        """Collects a statement with all that is below it."""
        if nodes.blocks(node):
            for part in statement_parts(node):
                self.visit(part)
            for inner in itertools.chain.from_iterable(nodes.blocks(node)):
                self.statement(inner)
        else:
            self.visit(node)

    def _inside(self, body: list, bound: set[str]) -> None:
        self.hidden = [*self.hidden, (bound, False)]
        self.later += 1
        for part in body:
            self.statement(part)
        self.later -= 1
        self.hidden = self.hidden[:-1]

    def _comprehension(self, node) -> None:
        first, *others = node.generators
        self.visit(first.iter)
        bound = {n.id for g in node.generators for n in gast.walk(g.target) if isinstance(n, gast.Name)}
        later = isinstance(node, gast.GeneratorExp)
        self.hidden = [*self.hidden, (bound, True)]
        self.later += later
        for test in first.ifs:
            self.visit(test)
        for generator in others:
            for part in [generator.iter, *generator.ifs]:
                self.visit(part)
        for part in [node.key, node.value] if isinstance(node, gast.DictComp) else [node.elt]:
            self.visit(part)
        self.later -= later
        self.hidden = self.hidden[:-1]

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_MatchAs(self, node: gast.MatchAs | gast.MatchStar) -> None:
        # A pattern may bind some of its names and then fail.
        if node.name:
            self._maybe([nodes.store(node.name)])
        self.generic_visit(node)

    visit_MatchStar = visit_MatchAs

    def visit_MatchMapping(self, node: gast.MatchMapping) -> None:
        if node.rest:
            self._maybe([nodes.store(node.rest)])
        self.generic_visit(node)


def statement_parts(node: gast.AST) -> list[gast.AST]:
    """The expressions of a compound statement that are not in its blocks."""
    if isinstance(node, (gast.If, gast.While)):
        return [node.test]
    if isinstance(node, (gast.For, gast.AsyncFor)):
        return [node.iter, node.target, *([node.extra_test] if isinstance(node, nodes.ForUntil) else [])]
    if isinstance(node, (gast.With, gast.AsyncWith)):
        return list(node.items)
    if isinstance(node, (gast.Try, gast.TryStar)):
        return [part for h in node.handlers for part in (h.type, _handler_name(h)) if part is not None]
    if isinstance(node, gast.Match):
        return [node.subject, *(p for c in node.cases for p in (c.pattern, c.guard) if p is not None)]
    return []


def _handler_name(handler: gast.ExceptHandler) -> gast.Name | None:
    found = handler.name
    return nodes.store(found) if isinstance(found, str) else found


def effects(parts: Iterable[gast.AST]) -> Effects:
    """The effects of expressions and statements, with all that is below them.

    >>> e = effects(gast.parse("x = y + self.a; d['k'] = [i * z for i in x]; self.h = lambda: w").body)
    >>> [n.id for n in e.reads], list(e.writes), list(e.mutated), [n.id for n in e.captured]
    (['y', 'self', 'x', 'z', 'd', 'self'], ['x'], ['d', 'self.h'], ['w'])
    """
    return Activity(None, None).effects(parts)


class FunctionScope:
    """The variables of one function.

    >>> scope = FunctionScope(gast.parse('''
    ... def f(a, *b):
    ...     global g
    ...     g = c = a
    ...     def h():
    ...         nonlocal c
    ...         c = a
    ... ''').body[0])
    >>> scope.parameters, scope.locals, scope.globals, scope.captured, scope.rebound_inside
    (['a', 'b'], ['a', 'b', 'c', 'h'], ['g'], ['a'], ['c'])
    """

    def __init__(self, node: gast.FunctionDef | gast.AsyncFunctionDef, activity: Activity | None = None):
        activity = activity or Activity(None, None)
        self.parameters = [p.id for p in nodes.parameters(node.args)]
        self.effects = activity.effects(node.body)
        self.globals = list(self.effects.declared[gast.Global])
        self.nonlocals = list(self.effects.declared[gast.Nonlocal])
        bound = dict.fromkeys([*self.parameters, *self.effects.writes, *self.effects.weak, *self.effects.annotated])
        outer = {*self.globals, *self.nonlocals}
        self.locals = [n for n in bound if n not in outer]
        # Read by functions made here, at a time that only they know.
        self.captured = [n for n in dict.fromkeys(n.id for n in self.effects.captured) if n in bound]
        inner = map(activity.scope, self.effects.functions)
        rebound = dict.fromkeys(itertools.chain.from_iterable(scope.outer_writes() for scope in inner))
        self.rebound_inside = [n for n in rebound if (n in bound and n not in self.globals) or n in self.nonlocals]
        self._rebound_further_out = [n for n in rebound if n not in bound]
        self.deleted = set(self.effects.deleted)

    def outer_writes(self) -> list[str]:
        """Variables of functions around that this one, or one inside it, rebinds."""
        return [*self.nonlocals, *self._rebound_further_out]


def class_functions_of(node: gast.ClassDef) -> list:
    """All functions directly in a class, without marking them."""
    return [c for c in gast.walk(node) if isinstance(c, (gast.FunctionDef, gast.AsyncFunctionDef))]


class Activity(Analysis):
    """Effects and scopes, computed when asked for and kept.

    What compound statements do is put together from the effects of what they consist of, and the manager keeps those of simple
    statements for as long as the statements stay the same, beyond this analysis.
    """

    def __init__(self, tree: gast.AST | None, manager: PassManager | None):
        self._pieces: dict[gast.AST, Effects] = {} if manager is None else manager.piece_facts
        self._effects: dict[gast.AST, Effects] = {}
        self._scopes: dict[gast.AST, FunctionScope] = {}

    def effects(self, parts: Iterable[gast.AST]) -> Effects:
        """The joint effects of the parts."""
        total = Effects()
        for part in parts:
            total.add(self._of(part))
        return total

    def _of(self, part: gast.AST) -> Effects:
        known = self._effects if part.__class__ in COMPOUND else self._pieces
        found = known.get(part)
        if found is None:
            blocks = nodes.blocks(part)
            if blocks:
                found = self.effects(itertools.chain(statement_parts(part), *blocks))
            else:
                collector = _Collector(self)
                collector.visit(part)
                found = collector.effects
            known[part] = found
        return found

    def scope(self, function: gast.FunctionDef | gast.AsyncFunctionDef) -> FunctionScope:
        if function not in self._scopes:
            self._scopes[function] = FunctionScope(function, self)
        return self._scopes[function]
