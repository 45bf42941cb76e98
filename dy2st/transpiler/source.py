"""From a function object to its syntax tree.

The whole file is parsed (once) and the function is found in it by its first line. This finds
lambdas, methods and functions under any indentation, and tells the class that private names belong to.
"""

from __future__ import annotations

import ast
import copy
import importlib.machinery
import linecache
import os
import types
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import gast
from dy2st_runtime.errors import Location

from dy2st.transpiler import nodes, origin
from dy2st.transpiler.again import said_before
from dy2st.transpiler.errors import ConversionError
from dy2st.transpiler.trees import to_gast


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
    imports: list[ast.stmt]  # those of the module


_files: dict[str, _File] = {}

# Sources of code that was compiled from a tree, by identity; the code is kept, so that its identity is not given to another.
_provided: dict[int, tuple[types.CodeType, Source]] = {}


def provide(code: types.CodeType, source: Source) -> None:
    """Notes the source of code that stands in no file as a function."""
    _provided[id(code)] = code, source


# the file name of all code that `exec` compiles; since Python 3.13 also of the text of `python -c`, which can be read
_BY_EXEC = "<string>"
_cut: dict[int, types.CodeType] = {}


def stands_in_file(code: types.CodeType) -> None:
    """Notes code that was compiled from the tree of a file, though not as Python compiles that: also the functions inside stand there."""
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            _cut[id(inner)] = inner
            stands_in_file(inner)


def file_text(function: types.FunctionType) -> str | None:
    """The text of the file that the function stands in; None for code that was compiled from a tree.

    Raises:
        ConversionError: it is not to be had.
    """
    code = function.__code__
    if id(code) in _provided:
        return None
    return "".join(_lines(code, function.__globals__))


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
        candidates = _tell_apart(candidates, code, file.imports)
    if not candidates and code.co_filename == _BY_EXEC:
        raise _not_to_be_had(code)
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
    if code.co_filename == _BY_EXEC and not _is_compiled_from(node, owner, code, file.imports):
        raise _not_to_be_had(code)
    if id(code) not in _cut and _from_file(function) and not _is_compiled_from(node, owner, code, file.imports):
        raise ConversionError(
            f"what stands now where '{function.__qualname__}' was defined is not what runs",
            location=place._replace(text=file.lines[place.line - 1].rstrip("\n")),
            hint="the file was changed after it was imported; restart the process, or reload the module",
        )
    if isinstance(node, ast.AsyncFunctionDef):
        raise ConversionError(
            f"async function '{node.name}' cannot be converted",
            location=place._replace(text=file.lines[node.lineno - 1].rstrip("\n"), line=node.lineno, col=node.col_offset),
            hint="make it a plain function",
        )
    # Nodes of the file's tree are shared by all conversions, so the gast tree is made anew each time.
    tree = to_gast(node)
    origin.Stamper(code.co_filename, file.lines).stamp(tree)
    if isinstance(tree, gast.Lambda):
        tree = _lambda_to_def(tree)
    assert isinstance(tree, gast.FunctionDef)
    last = getattr(node, "end_lineno", None) or code.co_firstlineno
    text = "".join(file.lines[code.co_firstlineno - 1 : last])
    return Source(tree, code.co_filename, code.co_firstlineno, text, owner, code.co_name)


def _read(code: types.CodeType, module_globals: dict, place: Location) -> _File:
    lines = _lines(code, module_globals)
    known = _files.get(code.co_filename)
    if known is None or known.lines != lines:
        try:
            with said_before():
                tree = ast.parse("".join(lines))
        except SyntaxError as error:
            raise ConversionError(
                f"the file of '{code.co_name}' does not parse: {error.msg}",
                location=place._replace(line=error.lineno or place.line, text=(error.text or "").rstrip("\n")),
                hint="the file was changed after it was imported; mend it and restart the process",
            ) from None
        known = _files[code.co_filename] = _File(list(lines), {}, list(_imports(tree)))
        _index(tree, None, known.functions)
    return known


def _lines(code: types.CodeType, module_globals: dict) -> list[str]:
    linecache.checkcache(code.co_filename)  # a module may be loaded again from a file that has changed
    lines = linecache.getlines(code.co_filename, module_globals)
    if not lines:
        raise _not_to_be_had(code)
    return lines


def _not_to_be_had(code: types.CodeType) -> ConversionError:
    message = f"the source of '{code.co_name}' cannot be had"
    hint = "define the function in a file or a notebook cell, not by exec or on the command line"
    if not code.co_filename.startswith("<") and not os.path.exists(code.co_filename):
        message += f" ({os.path.basename(code.co_filename)} is not there)"
        hint = "where only .pyc files are, as in a packed application, save the model before it is packed, or pack the .py files too"
    return ConversionError(message, location=Location(code.co_filename, code.co_firstlineno, function=code.co_name), hint=hint)


_LEAVES = frozenset((str, int, type(None), ast.Name, ast.Constant, ast.Load, ast.Store))


def _index(node: ast.AST, owner: str | None, found: dict[int, list[tuple[ast.AST, str | None]]]) -> None:
    # by its fields, as other tools note things on nodes: operators are shared by all trees, and may have a parent then
    for field in node._fields:
        value = getattr(node, field, None)
        for child in value if value.__class__ is list else (value,):
            if child.__class__ not in _LEAVES and isinstance(child, ast.AST):
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


def _tell_apart(candidates: list, code: types.CodeType, imports: list[ast.stmt]) -> list:
    """Those of several functions on one line that hold the positions of the code's instructions; those that give the code, where it has
    none (before Python 3.11, and some that return a constant)."""
    positions = code.co_positions() if hasattr(code, "co_positions") else ()
    spans = [p for p in positions if None not in p and p[2] != p[3]]
    if not spans:
        return [(node, owner) for node, owner in candidates if _is_compiled_from(node, owner, code, imports)] or candidates

    def holds(node: ast.Lambda) -> bool:
        inner = node.body if isinstance(node, ast.Lambda) else node
        start, stop = (inner.lineno, inner.col_offset), (inner.end_lineno, inner.end_col_offset)
        return all(start <= (l0, c0) and (l1, c1) <= stop for l0, l1, c0, c1 in spans)

    # Of nested lambdas the smallest one that holds all positions is meant.
    holding = [c for c in candidates if holds(c[0])]
    return holding[-1:] if holding else candidates


def _from_file(function: types.FunctionType) -> bool:
    """Whether Python itself has compiled the function from its file, without a tool that changes code on the way (as pytest does)."""
    loader = function.__globals__.get("__loader__")
    return type(loader) in (importlib.machinery.SourceFileLoader, importlib.machinery.SourcelessFileLoader) and (
        function.__code__.co_filename == function.__globals__.get("__file__")
    )


_FUTURE = 0x1FF0000


def _imports(node: ast.AST) -> Iterator[ast.stmt]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child
        elif not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.expr)):
            yield from _imports(child)


def _is_compiled_from(node: ast.AST, owner: str | None, code: types.CodeType, imports: list[ast.stmt]) -> bool:
    """Whether this syntax gives that code, in a module with these imports: `np.sum()` is not the call of a method to Python."""
    function = copy.copy(node)
    function.args = copy.copy(node.args)  # type: ignore[attr-defined]
    args = function.args  # type: ignore[attr-defined]
    # defaults, annotations and decorators are no part of the function's code
    args.defaults = [ast.Constant(None) for _ in args.defaults]
    args.kw_defaults = [d and ast.Constant(None) for d in args.kw_defaults]
    for kind in ("posonlyargs", "args", "kwonlyargs"):
        setattr(args, kind, [ast.arg(a.arg) for a in getattr(args, kind)])
    args.vararg, args.kwarg = (a and ast.arg(a.arg) for a in (args.vararg, args.kwarg))
    ast.fix_missing_locations(args)
    if isinstance(function, ast.Lambda):
        body: list[ast.stmt] = [ast.copy_location(ast.Expr(function), function)]
    else:
        function.decorator_list, function.returns, function.type_params = [], None, []  # type: ignore[attr-defined]
        body = [function]  # type: ignore[list-item]
    # what is bound around the function here must be global to it, unless it is free in it
    names = [n for n in {_name(node), owner} if n is not None and n != "<lambda>" and n not in code.co_freevars]
    if owner is not None:
        around = ast.ClassDef(owner, [], [], body, [])
        around.type_params = []  # type: ignore[attr-defined]
        body = [ast.copy_location(around, body[0])]
    head: list[ast.stmt] = [ast.Global(sorted(names))] if names else []
    parameters = ast.arguments([], [ast.arg(n) for n in code.co_freevars], None, [], [], None, [])
    factory = ast.FunctionDef("factory", parameters, head, [], None)
    factory.type_params = []  # type: ignore[attr-defined]
    module = ast.fix_missing_locations(ast.Module([factory], []))
    factory.body += body
    module.body[:0] = imports
    try:
        with said_before():
            found: Any = compile(module, code.co_filename, "exec", dont_inherit=True, flags=code.co_flags & _FUTURE)
    except (SyntaxError, RecursionError):
        return False
    for _ in range(2 if owner is None else 3):
        found = next(c for c in found.co_consts if isinstance(c, types.CodeType))
    outermost = owner or _name(node)
    return _same_code(found, code, "factory.<locals>." if outermost not in names else "")


def _same_code(a: types.CodeType, b: types.CodeType, place: str) -> bool:
    names = "co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars"
    if any(getattr(a, name) != getattr(b, name) for name in names) or len(a.co_consts) != len(b.co_consts):
        return False
    return all(_same_constant(x, y, place) for x, y in zip(a.co_consts, b.co_consts, strict=True))


def _same_constant(a: object, b: object, place: str) -> bool:
    if isinstance(a, types.CodeType) and isinstance(b, types.CodeType):
        return _same_code(a, b, place)
    if isinstance(a, str) and isinstance(b, str) and ".<locals>." in a:
        # a class inside has its qualified name as a constant, and so have functions inside before Python 3.11: what is
        # in front of the function differs
        return b == a or b.endswith("." + a.removeprefix(place))
    return type(a) is type(b) and (a == b or repr(a) == repr(b))


def _lambda_to_def(tree: gast.Lambda) -> gast.FunctionDef:
    # as a statement of the user's that stands where the lambda's expression does
    result = gast.copy_location(origin.inherit(nodes.return_(tree.body), tree.body), tree.body)
    function = gast.copy_location(nodes.function("lambda_", [], [result]), tree)
    function.args = tree.args
    function.origin = origin.of(tree)
    return function
