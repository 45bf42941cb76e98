"""From a function object to its syntax tree.

The whole file is parsed (once) and the function is found in it by its first line. This finds
lambdas, methods and functions under any indentation, and tells the class that private names belong to.
"""

from __future__ import annotations

import ast
import linecache
import types
from dataclasses import dataclass, replace

import gast
from dy2st_runtime.errors import Location

from dy2st.transpiler import nodes, origin
from dy2st.transpiler.errors import ConversionError


@dataclass(frozen=True)
class Source:
    """A function as written.

    Attributes:
        tree: the function (a lambda becomes a `def` that returns its value), stamped with origins; each
            call of `get_source` makes a new one.
        text: the lines of the function in the file.
        class_name: the innermost class around, which private names (`__x`) are mangled with.
    """

    tree: gast.FunctionDef
    file: str
    line: int
    text: str
    class_name: str | None
    name: str


@dataclass(frozen=True)
class _File:
    lines: list[str]
    functions: dict[int, list[tuple[ast.AST, str | None]]]  # first line -> functions, with their class


_files: dict[str, _File] = {}

# Sources of code that was compiled from a tree, by identity; the code is kept, so that its identity is not given to another.
_provided: dict[int, tuple[types.CodeType, Source]] = {}


def provide(code: types.CodeType, source: Source) -> None:
    """Notes the source of code that stands in no file as a function."""
    _provided[id(code)] = code, source


def get_source(function: types.FunctionType) -> Source:
    """The source of the function.

    Raises:
        ConversionError: the source is not to be had, or it is not certain which of several lambdas it is.
    """
    code = function.__code__
    if id(code) in _provided:
        known = _provided[id(code)][1]
        return replace(known, tree=nodes.copy(known.tree))
    place = Location(code.co_filename, code.co_firstlineno, function=code.co_name)
    file = _read(code, function.__globals__, place)
    candidates = [
        (node, owner)
        for node, owner in file.functions.get(code.co_firstlineno, [])
        if _name(node) == code.co_name and _parameters_match(node, code)
    ]
    if len(candidates) > 1:
        candidates = _tell_apart(candidates, code)
    if not candidates:
        raise ConversionError(
            f"the source of '{function.__qualname__}' does not stand where it was defined",
            location=place,
            hint="the file was changed after it was imported; restart the process",
        )
    if len(candidates) > 1 and len({ast.dump(node) for node, _ in candidates}) > 1:
        raise ConversionError(
            f"cannot tell which of {len(candidates)} lambdas on this line is meant",
            location=place._replace(text=file.lines[place.line - 1]),
            hint="put each lambda on a line of its own, or use def",
        )
    node, owner = candidates[0]
    if isinstance(node, ast.AsyncFunctionDef):
        raise ConversionError(
            f"async function '{node.name}' cannot be converted",
            location=place._replace(text=file.lines[node.lineno - 1].rstrip("\n"), line=node.lineno, col=node.col_offset),
            hint="make it a plain function",
        )
    # Nodes of the file's tree are shared by all conversions, so the gast tree is made anew each time.
    tree = gast.ast_to_gast(node)
    origin.Stamper(code.co_filename, file.lines).stamp(tree)
    if isinstance(tree, gast.Lambda):
        tree = _lambda_to_def(tree)
    assert isinstance(tree, gast.FunctionDef)
    last = getattr(node, "end_lineno", None) or code.co_firstlineno
    text = "".join(file.lines[code.co_firstlineno - 1 : last])
    return Source(tree, code.co_filename, code.co_firstlineno, text, owner, code.co_name)


def _read(code: types.CodeType, module_globals: dict, place: Location) -> _File:
    lines = linecache.getlines(code.co_filename, module_globals)
    if not lines:
        raise ConversionError(
            f"the source of '{code.co_name}' cannot be had",
            location=place,
            hint="define the function in a file or a notebook cell, not by exec or on the command line",
        )
    known = _files.get(code.co_filename)
    if known is None or known.lines != lines:
        try:
            tree = ast.parse("".join(lines))
        except SyntaxError as error:
            raise ConversionError(
                f"the file of '{code.co_name}' does not parse: {error.msg}",
                location=place._replace(line=error.lineno or place.line, text=(error.text or "").rstrip("\n")),
                hint="the file was changed after it was imported; mend it and restart the process",
            ) from None
        known = _files[code.co_filename] = _File(list(lines), {})
        _index(tree, None, known.functions)
    return known


def _index(node: ast.AST, owner: str | None, found: dict[int, list[tuple[ast.AST, str | None]]]) -> None:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            first = min([child.lineno, *(d.lineno for d in getattr(child, "decorator_list", ()))])
            found.setdefault(first, []).append((child, owner))
        _index(child, child.name if isinstance(child, ast.ClassDef) else owner, found)


def _name(node: ast.AST) -> str:
    return getattr(node, "name", "<lambda>")


def _parameters_match(node: ast.AST, code: types.CodeType) -> bool:
    args = node.args  # type: ignore[attr-defined]
    extra = [a for a in (args.vararg, args.kwarg) if a is not None]
    names = [a.arg for a in [*args.posonlyargs, *args.args, *args.kwonlyargs, *extra]]
    count = code.co_argcount + code.co_kwonlyargcount + len(extra)
    # A private parameter is mangled in the code object, so only its end is compared.
    return len(names) == count and all(v.endswith(n) for v, n in zip(code.co_varnames, names, strict=False))


def _tell_apart(candidates: list, code: types.CodeType) -> list:
    """Those of several functions on one line that hold the positions of the code's instructions (Python 3.11)."""
    if not hasattr(code, "co_positions"):
        return candidates
    spans = [p for p in code.co_positions() if None not in p and p[2] != p[3]]

    def holds(node: ast.Lambda) -> bool:
        inner = node.body if isinstance(node, ast.Lambda) else node
        start, stop = (inner.lineno, inner.col_offset), (inner.end_lineno, inner.end_col_offset)
        return all(start <= (l0, c0) and (l1, c1) <= stop for l0, l1, c0, c1 in spans)

    # Of nested lambdas the smallest one that holds all positions is meant.
    holding = [c for c in candidates if holds(c[0])]
    return holding[-1:] if holding else candidates


def _lambda_to_def(tree: gast.Lambda) -> gast.FunctionDef:
    result = origin.inherit(nodes.return_(tree.body), tree.body)
    function = nodes.function("lambda_", [], [result])
    function.args = tree.args
    function.origin = origin.of(tree)
    return function
