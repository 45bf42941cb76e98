"""From the tree to text, and the proof that the text means the tree.

astor prints; where it does not know a node (`match`, `except*`) or its text does not parse back to an
equal tree (some f-strings), the standard library prints. What the text was parsed to is what is compiled; its nodes get
the positions of the user's nodes that they come from, so that debuggers, profilers and coverage find the user's lines.
"""

from __future__ import annotations

import ast
import functools
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gast
from dy2st_runtime.errors import Location

from dy2st.transpiler import nodes
from dy2st.transpiler.again import said_before
from dy2st.transpiler.origin import Span, position
from dy2st.transpiler.trees import to_ast

with warnings.catch_warnings():
    # astor asks for node classes that newer Pythons only keep as deprecated names.
    warnings.simplefilter("ignore", DeprecationWarning)
    import astor
    from astor.code_gen import SourceGenerator, set_precedence

# Not part of what the text means: the parser fills these in by itself.
_IGNORED = frozenset({"ctx", "kind", "type_comment", "type_ignores"})


@dataclass(frozen=True)
class Text:
    """A module as text, and what the text was parsed to.

    Attributes:
        spans: where in the text the nodes stand that have an origin, outer ones first.
        tree: the syntax of the text, for the compiler: its nodes stand where the user's nodes do that they come from.
        shifts: the functions in the text that hold nothing of the user's, by their names, each with the number of lines by which
            its body is moved, so that it is as far below its `def`, which is at the user's statement, as it is in the text.
    """

    text: str
    spans: list[Span]
    tree: ast.Module
    shifts: dict[str, int]


@dataclass(frozen=True)
class _Match:
    """What comparing two trees finds out.

    Attributes:
        places: what the line numbers of the first tree stand for.
        spans: as `Text` has them.
        nodes: the nodes of the second tree, each with the place of the innermost node around it that has one.
        generated: the functions that hold nothing of the user's, each with where its nodes begin and end in `nodes`.
    """

    places: list[Location | None]
    spans: list[Span] = field(default_factory=list)
    nodes: list[tuple[Any, Location]] = field(default_factory=list)
    generated: list[tuple[int, int]] = field(default_factory=list)


def print_tree(tree: gast.Module, header: str = "") -> Text:
    """The text of a module, below a line of comment.

    Raises:
        SyntaxError: the text is beyond the limits of the parser (100 levels of indentation).
    """
    # The line number of a node of the standard library tells which origin the node has that it is made from.
    places: list[Location | None] = [None]
    plain = to_ast(tree, places)
    failure: Exception | None = None
    for printer in (_astor, ast.unparse):
        try:
            text = header + printer(plain).rstrip("\n") + "\n"
            with said_before():
                again = ast.parse(text)
        except (AttributeError, SyntaxError, AssertionError, ValueError) as error:
            failure = error  # a node that this printer does not know: the next one does
            continue
        match = _Match(places)
        if _matches(plain, again, match, None):
            return Text(text, match.spans, again, _place(match))
    raise failure or AssertionError(f"no printer prints this tree:\n{ast.unparse(plain)}")


def _place(match: _Match) -> dict[str, int]:
    """Gives the nodes of the text the positions of the user's nodes; the functions that stay in the text, with the number of lines by
    which they are moved.

    These carry the variables of a statement in and out: a breakpoint at the statement must not stop there too.
    """
    shifts: dict[str, int] = {}
    nodes = match.nodes
    moved: set[int] = set()
    for start, stop in match.generated:
        function, place = nodes[start]
        shift = shifts[function.name] = place.line - function.lineno
        for node, _ in nodes[start + 1 : stop]:
            node.lineno += shift
            node.end_lineno += shift
        moved.update(range(start + 1, stop))
    for i, (node, place) in enumerate(nodes):
        if i not in moved:
            fields = node.__dict__
            line, fields["col_offset"], fields["end_col_offset"] = position(place)
            fields["lineno"] = fields["end_lineno"] = line
    return shifts


def show(tree: gast.AST) -> str:
    """The text of a tree in the middle of the pipeline, for people."""
    shown = _Readable().visit(nodes.copy(tree))
    text = ast.unparse(ast.fix_missing_locations(gast.gast_to_ast(shown)))
    # Python 3.10 puts a space there; the text is for people and should not depend on who runs it.
    return text.replace("lambda :", "lambda:") if sys.version_info < (3, 11) else text


def _astor(tree: ast.AST) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # as at its import
        # Lines are not wrapped: one statement, one line, so that lines can be compared side by side.
        return astor.to_source(tree, pretty_source="".join, source_generator_class=_Generator)


class _Generator(SourceGenerator):
    """astor's generator; the two functions that it calls for each piece of text ask less."""

    new_lines: int

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)
        visit, result = self.visit, self.result
        append = result.append

        def write(*items: object) -> None:
            for item in items:
                if item.__class__ is str or item is None:
                    if self.new_lines:
                        append("\n" * self.new_lines)
                        self.colinfo = len(result), 0
                        append(self.indent_with * self.indentation)
                        self.new_lines = 0
                    if item:
                        append(item)
                elif isinstance(item, ast.AST):
                    visit(item)
                else:
                    item()  # type: ignore[operator]

        self.write = write
        self.visitors: dict[type, Callable[[ast.AST], None]] = {}

    def visit(self, node: ast.AST) -> None:
        visitor = self.visitors.get(node.__class__)
        if visitor is None:
            visitor = self.visitors[node.__class__] = getattr(self, f"visit_{node.__class__.__name__}", self.abort)
        visitor(node)

    def abort(self, node: ast.AST) -> None:
        raise AttributeError(f"astor does not know {type(node).__name__}")

    def visit_Constant(self, node: ast.Constant) -> None:
        # A short text behind something on its line is printed as `repr` has it, which astor finds out by joining the line.
        before = "" if self.new_lines or not self.result else self.result[-1]
        if node.value.__class__ is str and not node.kind and before.strip() and "\n" not in before:
            text = repr(node.value)
            if len(text) < 20 and "\n" not in node.value:
                self.write(text)
                return
        super().visit_Constant(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        # astor puts a space before the colon of a lambda without parameters.
        if any((node.args.args, node.args.posonlyargs, node.args.vararg, node.args.kwonlyargs, node.args.kwarg)):
            super().visit_Lambda(node)
            return
        with self.delimit(node) as delimiters:
            set_precedence(delimiters.p, node.body)
            self.write("lambda: ", node.body)


class _Readable(gast.NodeTransformer):
    """What has no syntax of its own is shown as a call."""

    def visit_ForUntil(self, node: nodes.ForUntil) -> gast.For:
        self.generic_visit(node)
        until = nodes.call(nodes.name("until"), node.iter, nodes.thunk(node.extra_test))
        return gast.For(node.target, until, node.body, node.orelse, None)


def _matches(a: ast.AST, b: ast.AST, match: _Match, around: Location | None) -> bool:
    """Whether two trees are the same but for positions and contexts.

    Args:
        around: the place of the innermost node around them that has one.
    """
    kind = a.__class__
    if kind is not b.__class__:
        return False
    mine, others = a.__dict__, b.__dict__
    end, start = others.get("end_col_offset"), len(match.nodes)
    if end is not None:  # names of exception handlers have no position of their own
        place = match.places[mine.get("lineno") or 0]
        if place is not None:
            match.spans.append((others["lineno"], others["col_offset"], others["end_lineno"], end, place))
            around = place
        if around is not None:
            match.nodes.append((b, around))
    if kind is ast.Constant:
        return _same_constant(mine["value"], others["value"])
    for name in _compared(kind):  # type: ignore[arg-type]
        x, y = mine.get(name), others.get(name)
        if isinstance(x, ast.AST):
            if not x._fields:  # an operator
                if x.__class__ is not y.__class__:
                    return False
            elif y is None or not _matches(x, y, match, around):
                return False
        elif x.__class__ is list:
            if y.__class__ is not list or len(x) != len(y):
                return False
            for one, other in zip(x, y, strict=True):
                same = _matches(one, other, match, around) if isinstance(one, ast.AST) else one == other
                if not same:
                    return False
        elif (x or y) and (x.__class__ is not y.__class__ or x != y):
            return False
    if kind is ast.FunctionDef and around is not None and (mine.get("accessor") or all(p is around for _, p in match.nodes[start:])):
        while match.generated and match.generated[-1][0] > start:
            match.generated.pop()  # one inside of it
        match.generated.append((start, len(match.nodes)))
    return True


@functools.cache
def _compared(kind: type[ast.AST]) -> tuple[str, ...]:
    return tuple(f for f in kind._fields if f not in _IGNORED)


def _same_constant(a: object, b: object) -> bool:
    if a.__class__ is str:
        return a == b
    # repr tells -0.0 from 0.0 and lets nan equal itself.
    return type(a) is type(b) and ((a == b and repr(a) == repr(b)) or repr(a) == repr(b))
