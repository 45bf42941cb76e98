"""What each `if` and loop carries: the variables that it changes and that matter afterwards."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import gast

from dy2st.transpiler import nodes
from dy2st.transpiler.analysis.activity import Activity, Effects, FunctionScope
from dy2st.transpiler.analysis.cfg import ControlFlow
from dy2st.transpiler.analysis.liveness import Liveness
from dy2st.transpiler.analysis.reaching_definitions import ReachingDefinitions
from dy2st.transpiler.manager import Pass
from dy2st.transpiler.names import support
from dy2st.transpiler.templates import statements


@dataclass
class State:
    """The state of one `if`, loop or `try`; passes that lower the statement read it.

    Attributes:
        names: variables, in the order of their first assignment in the statement.
        attributes: text and expression of attributes and items, such as `self.h`.
        globals: those of `names` that are global.
        outer: the names that `attributes` rest on and that are no locals of the function: they may not be there.
        bound: part of the statement (body, orelse, test, ...) -> those of `names` that it assigns.
        dead: those of `names` that nobody reads after the statement: its parts need a common start for them, no result.
    """

    names: list[str]
    attributes: dict[str, gast.AST]
    globals: list[str]
    outer: set[str]
    bound: dict[str, list[str]] = field(default_factory=dict)
    dead: list[str] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        return [*self.names, *self.attributes]


class BlockState(Pass):
    """Notes a `State` on each `if`, loop and `try`, and gives variables that have no value yet an `Undefined`.

    >>> manager = PassManager(gast.parse('''
    ... def f(c, self):
    ...     if c:
    ...         t = g(c)
    ...         y = t + t
    ...         self.h = t
    ...     else:
    ...         y = c
    ...     return y
    ... '''))
    >>> print(show(manager.apply(BlockState)))
    def f(c, self):
        y = _dy.Undefined('y')
        if c:
            t = g(c)
            y = t + t
            self.h = t
        else:
            y = c
        return y
    >>> manager.tree.body[0].body[1].state.texts
    ['y', 'self.h']
    """

    requires = (Activity, ControlFlow, Liveness, ReachingDefinitions)

    def run(self, tree: gast.AST) -> gast.AST:
        # Everything is asked of the analyses before the tree changes.
        self.before: dict[gast.AST, list[str]] = {}
        self.heads: dict[gast.AST, list[str]] = {}
        self.unread: set[tuple[gast.AST, str]] = set()
        self._functions(tree, set(self.context.free))
        return self.visit(tree)

    def _functions(self, node: gast.AST, around: set[str]) -> None:
        if isinstance(node, gast.FunctionDef):
            if not getattr(node, "plain", False):
                self._examine(node, around)
            around = around | set(self.analysis(Activity).scope(node).locals)
            for statement in nodes.statements(node.body):
                self._functions(statement, around)
        elif isinstance(node, (gast.ClassDef, gast.AsyncFunctionDef, gast.Module)):
            for statement in nodes.statements(node.body):
                self._functions(statement, around)

    def _examine(self, function: gast.FunctionDef, around: set[str]) -> None:
        scope = self.analysis(Activity).scope(function)
        live = self.analysis(Liveness).of(function)
        reaching = self.analysis(ReachingDefinitions).of(function)
        graph = self.analysis(ControlFlow).graph(function)
        head: dict[str, None] = {}
        never_set: list[tuple[gast.AST, str]] = []
        states: list[State] = []
        for node in nodes.statements(function.body):
            if not _has_state(node):
                continue
            entry = graph.entry[node]
            # The test has run when a branch starts (it may have bound names); a loop comes back to its test.
            # The body of a `try` starts with what there is, a handler or `finally` with what there is where the body raises.
            starts = {gast.If: entry.successors, gast.Try: [entry, *entry.raises, *(graph.entry[b[0]] for b in _following(node))]}
            points = [*(starts[type(node)] if type(node) in starts else [graph.header[node]]), graph.exit[node]]
            parts = {part: self.analysis(Activity).effects(code) for part, code in _parts(node).items()}
            total = Effects()
            for effects in parts.values():
                total.add(effects)
            # What a loop's test binds is shared between the test and the body.
            shared = set(parts["test"].bound()) if "test" in parts else set()
            names = [
                name
                for name in _changed(total, scope, around)
                if name not in scope.locals or name in shared or any(live.at(p, name) for p in points)
            ]
            attributes = _attributes(total, scope, around)
            outer = {s for expression in attributes.values() for s in support(expression) if s.isidentifier()} - {*scope.locals}
            state = State(names, attributes, [n for n in names if n in scope.globals], outer)
            state.bound = {part: [n for n in names if n in effects.bound()] for part, effects in parts.items()}
            # the handlers and `else` of a `try` are followed by its `finally`
            ends = [graph.exit[node], *(graph.entry[b[0]] for b in [getattr(node, "finalbody", [])] if b)]
            state.dead = [n for n in names if n in scope.locals and not any(live.at(end, n) for end in ends)]
            node.state = state
            states.append(state)
            self.before[node] = []
            for name in names:
                if name in scope.parameters or name not in scope.locals:
                    continue
                if not live.at(entry, name):
                    self.before[node].append(name)  # nobody reads the value it has
                elif not reaching.reached(entry, name):
                    never_set.append((node, name))
                elif reaching.maybe_unset(entry, name):
                    head[name] = None
        # `self.h` is read and written where its statement ends, so `self` is read there: no statement within it may leave it dead
        written = {s for state in states for expression in state.attributes.values() for s in support(expression)}
        for state in states:
            state.dead = [n for n in state.dead if n not in written]
        for node, name in never_set:
            if name not in head:
                self.before[node].append(name)
        self.heads[function] = list(head)
        if (checked := getattr(function, "checked", None)) is not None:
            blocks = [node for node in nodes.statements(function.body) if node in self.before]
            started = [(function, n) for n in head] + [(node, n) for node in blocks for n in self.before[node]]
            self.unread.update((node, n) for node, n in started if n not in checked)
        self._bind_started(function)

    def _bind_started(self, function: gast.FunctionDef) -> None:
        """A variable that is started as an `Undefined` inside a block is one that the block assigns."""
        for node in function.body:
            self._started(node)

    def _started(self, node: gast.AST) -> set[str]:
        """The variables that are started in a statement or before it."""
        found = set(self.before.get(node, ()))
        if node not in self.before:
            return found.union(*map(self._started, itertools.chain(*nodes.blocks(node))))
        for part, code in _parts(node).items():
            started: set[str] = set().union(*map(self._started, code))
            found |= started
            bound = node.state.bound[part]
            node.state.bound[part] = [n for n in node.state.names if n in bound or n in started]
        if isinstance(node, (gast.While, gast.For)):
            found = found.union(*map(self._started, node.orelse))
        return found

    def _compound(self, node: gast.AST) -> Any:
        self.generic_visit(node)
        start = [s for name in self.before.get(node, ()) for s in self._undefined(node, name)]
        return [*start, node] if start else node

    visit_If = visit_While = visit_For = visit_ForUntil = visit_Try = _compound

    def visit_FunctionDef(self, node: gast.FunctionDef) -> Any:
        super().visit_FunctionDef(node)
        docstring, rest = nodes.split_docstring(node.body)
        declared = [s for s in rest if isinstance(s, (gast.Global, gast.Nonlocal))]
        rest = [s for s in rest if not isinstance(s, (gast.Global, gast.Nonlocal))]
        heads = [s for name in self.heads.get(node, ()) for s in self._undefined(node, name)]
        self.changed |= bool(heads)
        node.body = [*docstring, *declared, *heads, *rest]
        return node

    def _undefined(self, at: gast.AST, name: str) -> list:
        unread = (at, name) in self.unread
        start = "x = _dy.Unread(text)" if unread else "x = _dy.Undefined(text)"
        return statements(start, at=at, x=name, text=nodes.constant(name))


def _has_state(node: gast.AST) -> bool:
    """Whether a statement becomes a call of the runtime, with functions for its blocks."""
    return isinstance(node, (gast.If, gast.While, gast.For, gast.Try)) and not getattr(node, "plain", False)


def _following(node: gast.AST) -> list[list]:
    """The blocks of a `try` that follow its body."""
    return [b for b in (node.orelse, node.finalbody) if b] if isinstance(node, gast.Try) else []


def _parts(node: gast.If | gast.While | gast.For | gast.Try) -> dict[str, list]:
    if isinstance(node, gast.Try):
        handlers: list = [gast.Try([], node.handlers, [], [])] if node.handlers else []
        return {"body": node.body, "handlers": handlers, "orelse": node.orelse, "finalbody": node.finalbody}
    if isinstance(node, gast.If):
        return {"body": node.body, "orelse": node.orelse}
    if isinstance(node, gast.While):
        return {"test": [node.test], "body": node.body}
    return {"body": [node.target, *node.body]}


def _changed(total: Effects, scope: FunctionScope, around: set[str]) -> list[str]:
    """The variables that a statement changes, in the order of the source."""
    own = {*scope.locals, *scope.globals, *scope.nonlocals}
    found = dict.fromkeys(n for n in total.bound() if n in own)
    # A container changed in place counts as changed, but not what may as well be a module: those are global.
    for text, node in [*total.mutated.items(), *total.called.items()]:
        if isinstance(node, gast.Name) and (text in own or text in around):
            found[text] = None
    if total.has_call:
        # A function made here may have been called and may have rebound them.
        found.update(dict.fromkeys(scope.rebound_inside))
    return list(found)


def _attributes(total: Effects, scope: FunctionScope, around: set[str]) -> dict[str, gast.AST]:
    """Attributes and items that a statement changes, if they mean the same before and after it."""
    changed = {*total.bound(), *total.mutated}
    result: dict[str, gast.AST] = {}
    for text, node in [*total.mutated.items(), *total.called.items()]:
        if isinstance(node, gast.Name) or any(s in changed for s in support(node)):
            continue
        root = support(node)[-1] if text in total.mutated else _root(node)
        if text in total.mutated or root in around or root in scope.locals:
            result[text] = node
    return result


def _root(node: gast.AST) -> str:
    names = [n.id for n in gast.walk(node) if isinstance(n, gast.Name)]
    return names[0] if names else ""
