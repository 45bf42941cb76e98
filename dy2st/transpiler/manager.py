"""Passes, analyses, and the manager that runs the one on the results of the other."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, TypeVar

import gast
from dy2st_runtime import config

from dy2st.transpiler import kinds, nodes, origin
from dy2st.transpiler.errors import ConversionError
from dy2st.transpiler.names import Namer, identifiers
from dy2st.transpiler.printer import show

A = TypeVar("A", bound="Analysis")


class Context:
    """What all passes over one function share.

    Args:
        tree: the function, stamped with origins.
        free: the names of the original function's closure cells.

    Attributes:
        returned: the variables that have got the values of early returns.
    """

    def __init__(self, tree: gast.AST, free: tuple[str, ...] = ()):
        self.free = free
        self.namer = Namer([*identifiers(tree), *free])
        self.returned: set[str] = set()

    def error(self, node: gast.AST, message: str, hint: str | None = None) -> ConversionError:
        """The error that `message` makes of `node`; to be raised by the caller."""
        return ConversionError(message, location=origin.of(node), hint=hint)


class Analysis:
    """Facts about a tree. The constructor computes them; the manager keeps the object until the tree changes."""

    def __init__(self, tree: gast.AST, manager: PassManager):
        raise NotImplementedError


class Pass(gast.NodeTransformer):
    """Removes one piece of syntax from all functions in the tree.

    The base class walks the statements and expressions that belong to functions. It leaves alone what
    runs elsewhere or at another time: decorators, annotations, and the statements of class bodies, whose
    names no nested function could see. Functions inside a class are visited. Functions marked `plain` stay as they are;
    so do the statements of those that are `suspended` too (generators), whose expressions the passes `in_generators` see.

    Attributes:
        suspended: whether what is visited belongs to a generator function.
        requires: the analyses that the pass asks for.
        looks_for: classes of nodes without which there is nothing to do in a statement, or in a whole tree; by default those that
            the pass has visitors for.
        changed: whether anything was changed. What a visitor replaces counts by itself; a visitor that changes its node sets this.
    """

    requires: ClassVar[tuple[type[Analysis], ...]] = ()
    looks_for: ClassVar[tuple[type, ...] | None] = None
    in_generators: ClassVar[bool] = False

    def __init__(self, context: Context, manager: PassManager):
        self.context, self.manager = context, manager
        self.changed = self.suspended = False
        self._visitors: dict[type, Callable[[Any], Any]] = {}
        self.wanted = _wanted(type(self))  # type: ignore[arg-type]
        # half of all nodes are names and constants, which most passes have nothing to do with
        leaves = [c for c in (gast.Name, gast.Constant) if not hasattr(self, f"visit_{c.__name__}")]
        self._passed_over = nodes.WITHOUT_PLACE.union(leaves)

    @classmethod
    def pass_name(cls) -> str:
        """The name that `DY2ST_DUMP` knows the pass by: the name of its file."""
        return cls.__module__.rpartition(".")[2]

    def run(self, tree: gast.AST) -> gast.AST:
        return self.visit(tree)

    def analysis(self, kind: type[A]) -> A:
        assert kind in self.requires, f"{type(self).__name__} does not declare {kind.__name__}"
        return self.manager.get(kind)

    def visit(self, node: gast.AST) -> Any:
        kind = node.__class__
        visitor = self._visitors.get(kind)
        if visitor is None:
            visitor = self._visitors[kind] = getattr(self, f"visit_{kind.__name__}", self.generic_visit)
        result = visitor(node)
        if self.changed and "kinds" in node.__dict__:
            self.manager.forget(node)  # also a header that has become an operand: it may be a header again
        if result is not node:
            self.changed = True
            if kind in kinds.COMPOUND:
                for header in nodes.children(node):
                    self.manager.forget(header)
        return result

    def generic_visit(self, node: gast.AST) -> Any:
        """Visits all nodes below."""
        if isinstance(node, (gast.Name, gast.Constant)):
            return node
        fields = node.__dict__
        visit = self.visit_piece if node.__class__ in kinds.COMPOUND else self.visit
        for field in nodes.child_fields(node.__class__):
            value = fields.get(field)
            if value.__class__ is list:
                if value:
                    visited = self.visit_block(value)
                    if visited is not value:
                        value[:] = visited
            elif isinstance(value, gast.AST) and value.__class__ not in self._passed_over:
                fields[field] = visit(value)
        return node

    def visit_piece(self, piece: gast.AST) -> Any:
        """Visits a simple statement, or an expression in the header of a compound one, if it holds what the pass looks for."""
        if not kinds.within(piece) & self.wanted:
            return piece
        before, self.changed = self.changed, False
        visited = self.visit(piece)
        self.changed |= before
        return visited

    def visit_block(self, statements: list) -> list:
        """Visits the nodes of a list; each may become several. A new list only if there is something new."""
        result: list | None = None
        for index, statement in enumerate(statements):
            visited = statement
            kind = statement.__class__
            if kind in kinds.PIECES:
                visited = self.visit_piece(statement)
            # Lists of names, of keys of `{**d}`, ... have other elements than nodes.
            elif kind not in self._passed_over and isinstance(statement, gast.AST):
                visited = self.visit(statement)
            if visited is not statement and result is None:
                result = statements[:index]
            if result is not None:
                if visited.__class__ is list:
                    result += visited
                else:
                    result.append(visited)
        return statements if result is None else result

    def visit_FunctionDef(self, node: gast.FunctionDef) -> Any:
        suspended = getattr(node, "suspended", False)
        if not getattr(node, "plain", False) or (suspended and self.in_generators):
            self.visit_defaults(node)
            outer, self.suspended = self.suspended, suspended
            self.visit_body(node)
            self.suspended = outer
        elif suspended:
            for inner in definitions_in(node.body):
                visited = self.visit(inner)
                assert visited is inner, "a pass over a definition in a generator function must keep its node"
        return node

    def visit_Lambda(self, node: gast.Lambda) -> Any:
        outer, self.suspended = self.suspended, self.suspended or getattr(node, "suspended", False)
        self.generic_visit(node)
        self.suspended = outer
        return node

    def visit_defaults(self, node: gast.FunctionDef) -> None:
        """Default values and decorators run in the function around."""
        if getattr(node, "entry", False) or getattr(node, "in_class", False):
            return  # those of the converted function itself have run already, those of methods run in the class
        self._visit_defaults(node)

    def _visit_defaults(self, node: gast.AST) -> None:
        if node.args.defaults or node.args.kw_defaults:
            node.args.defaults = [self.visit(d) for d in node.args.defaults]
            node.args.kw_defaults = [d if d is None else self.visit(d) for d in node.args.kw_defaults]
        if node.decorator_list:
            node.decorator_list = [self.visit(d) for d in node.decorator_list]

    def visit_body(self, node: gast.FunctionDef) -> None:
        node.body = self.visit_block(node.body)

    def visit_AsyncFunctionDef(self, node: gast.AsyncFunctionDef) -> Any:
        return node

    def visit_ClassDef(self, node: gast.ClassDef) -> Any:
        node.decorator_list = [self.visit(d) for d in node.decorator_list]
        node.bases = [self.visit(b) for b in node.bases]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        for function in class_functions(node.body):
            visited = self.visit(function)
            assert visited is function, "a pass over a method must keep the method's node"
        return node

    def visit_in_class(self, body: list) -> None:
        """Visits the expressions in the body of a class, which runs where the class is defined; its functions are visited already."""
        for node in body:
            if isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef)):
                self._visit_defaults(node)
                continue
            for field in nodes.child_fields(node.__class__):
                value = node.__dict__.get(field)
                if isinstance(value, list) and value and isinstance(value[0], _WITH_STATEMENTS):
                    self.visit_in_class(value)
                elif isinstance(value, list):
                    value[:] = [self.visit(v) if isinstance(v, gast.AST) and v.__class__ not in nodes.WITHOUT_PLACE else v for v in value]
                elif isinstance(value, gast.AST) and value.__class__ not in nodes.WITHOUT_PLACE:
                    setattr(node, field, self.visit(value))
            self.manager.forget(node)


_WITH_STATEMENTS = (gast.stmt, gast.ExceptHandler, gast.match_case)


def definitions_in(body: list) -> Iterator[gast.AST]:
    """The functions and classes defined directly in a function, also under its statements."""
    for statement in body:
        if isinstance(statement, (gast.FunctionDef, gast.ClassDef)):
            yield statement
        elif not isinstance(statement, gast.AsyncFunctionDef):
            yield from definitions_in([c for c in nodes.children(statement) if isinstance(c, _WITH_STATEMENTS)])


def class_functions(body: list) -> list:
    """The functions defined directly in a class body, also under its `if` and `try` and in classes inside."""
    found: list = []
    for statement in body:
        if isinstance(statement, gast.FunctionDef):
            # Its defaults run in the class body, where passes but for `Calls` do nothing.
            statement.in_class = True
            found.append(statement)
        elif isinstance(statement, gast.stmt):
            found.extend(class_functions([c for c in nodes.children(statement) if isinstance(c, gast.stmt)]))
    return found


@functools.cache
def _wanted(kind: type[Pass]) -> int:
    """The bits of the classes that a pass looks for."""
    if kind.looks_for is not None:
        return kinds.bits(kind.looks_for)
    visitors = [name for name in dir(kind) if name.startswith("visit_") and getattr(kind, name) is not getattr(Pass, name, None)]
    return kinds.bits(_CLASSES[found] for name in visitors if (found := name.removeprefix("visit_")) in _CLASSES)


_CLASSES = {**{name: c for name, c in vars(gast).items() if isinstance(c, type)}, "ForUntil": nodes.ForUntil}


class PassManager:
    """Runs passes over one tree and keeps analyses as long as they hold."""

    def __init__(self, tree: gast.AST, context: Context | None = None, *, keep_stages: bool = False):
        self.tree = tree
        self.context = context or Context(tree)
        self.stages: dict[str, str] = {}
        self._keep_stages = keep_stages
        self._cache: dict[type[Analysis], Analysis] = {}
        self._occurring: int | None = None
        self._first: int | None = None
        self.piece_facts: dict[gast.AST, Any] = {}
        """What `Activity` has found out about simple statements and headers that have not changed since."""

    def get(self, kind: type[A]) -> A:
        """The analysis of the tree as it is now."""
        found = self._cache.get(kind)
        if found is None:
            found = self._cache[kind] = kind(self.tree, self)
        assert isinstance(found, kind)
        return found

    def forget(self, piece: gast.AST) -> None:
        """Drops what is known of a simple statement or header, which has changed."""
        kinds.forget(piece)
        self.piece_facts.pop(piece, None)

    def apply(self, kind: type[Pass]) -> gast.AST:
        """Runs one pass; analyses are dropped if it changed the tree."""
        runner = kind(self.context, self)
        skips = kind.looks_for is not None or kind.run is Pass.run
        if self._first is None:
            self._first = self.occurring()
        # What was there at first most likely is still: to find out would take longer than to look in vain.
        if not skips or self._first & runner.wanted or self.occurring() & runner.wanted:
            self.tree = runner.run(self.tree)
            if runner.changed:
                self._cache.clear()
                self._occurring = None
        self._show(kind.pass_name())
        return self.tree

    def occurring(self) -> int:
        """The classes of nodes that occur in the tree as it is now."""
        if self._occurring is None:
            self._occurring = kinds.everywhere(self.tree)
        return self._occurring

    def release(self) -> None:
        """Drops all analyses. They refer to the manager: so the tree and all that was found out about it would stay until Python looks
        for garbage, which would take longer than to free it now."""
        self._cache.clear()
        self.piece_facts.clear()

    def run(self, pipeline: tuple[type[Pass], ...]) -> gast.AST:
        self._show("ast")
        for kind in pipeline:
            self.apply(kind)
        return self.tree

    def _show(self, stage: str) -> None:
        if not (config.dumping(stage) or self._keep_stages):
            return
        text = show(self.tree)
        if self._keep_stages:
            self.stages[stage] = text
        self.dump(stage, text)

    def dump(self, stage: str, text: str) -> None:
        """Prints the text on stderr if `DY2ST_DUMP` asks for this stage."""
        if config.dumping(stage):
            print(f"# --- {stage}\n{text}", file=sys.stderr)
