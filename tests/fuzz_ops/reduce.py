"""What is smaller than a program: fewer results, statements, arguments and calls, simpler expressions and values."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

from tests.fuzz.reduce import without, written


def candidates(tree: ast.Module) -> Iterator[str]:
    """Smaller programs, for `tests.fuzz.reduce.reduced`."""
    return (text for _ in _changes(tree) if (text := written(tree)) is not None)


def _changes(tree: ast.Module) -> Iterator[None]:
    """Makes the tree smaller in one way after the other; each is undone when the next one is asked for."""
    function = next(n for n in tree.body if isinstance(n, ast.FunctionDef))
    given = {n.targets[0].id: n for n in tree.body if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)}
    calls = given["CALLS"].value
    assert isinstance(calls, ast.List)
    yield from _without_arguments(function, calls)
    end = function.body[-1]
    if isinstance(end, ast.Return) and isinstance(end.value, ast.List) and len(end.value.elts) > 1:
        results = end.value.elts
        yield from _each(end.value, "elts", [[one] for one in results])
        yield from _each(end.value, "elts", [results[:i] + results[i + 1 :] for i in range(len(results))])
    blocks = [n for n in ast.walk(function) if isinstance(n, (ast.FunctionDef, ast.For, ast.While, ast.If))]
    for node in blocks:
        for name in ("body", "orelse"):
            block = getattr(node, name, [])
            for i in reversed(range(len(block))):
                if not isinstance(block[i], ast.Return):
                    yield from _each(node, name, without(block, i, keep=name == "body"))
    yield from _without_copies(function)
    # results before the end
    for i, one in enumerate(function.body[:-2]):
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name):
            yield from _each(function, "body", [[*function.body[: i + 1], *ast.parse(f"return [{one.targets[0].id}]").body]])
    for node in list(ast.walk(function)):
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            yield from _each(node, "value", _parts(node.value))
        elif isinstance(node, ast.BinOp):
            yield from _each(node, "left", _parts(node.left))
            yield from _each(node, "right", _parts(node.right))
        elif isinstance(node, ast.Call):
            yield from _each(node, "keywords", [node.keywords[:i] + node.keywords[i + 1 :] for i in range(len(node.keywords))])
            for i, argument in enumerate(node.args):
                yield from _each(node, "args", [[*node.args[:i], part, *node.args[i + 1 :]] for part in _parts(argument)])
    if len(calls.elts) > 1:
        yield from _each(calls, "elts", [calls.elts[:i] + calls.elts[i + 1 :] for i in range(len(calls.elts))])
    yield from _each(given["THREADS"], "value", [ast.Constant(1)])
    names, frozen = [a.arg for a in function.args.args], given["FROZEN"].value
    if isinstance(frozen, ast.List):
        yield from _each(frozen, "elts", [[n for n in frozen.elts if isinstance(n, ast.Constant) and n.value in names], []])
    kinds = [n for n in ast.walk(calls) if isinstance(n, ast.Constant)]
    for kind in ("special", "positive"):
        changed = [n for n in kinds if n.value == kind]
        for node in changed:
            node.value = "normal"
        yield
        for node in changed:
            node.value = kind


def _each(node: ast.AST, name: str, values: Iterable[Any]) -> Iterator[None]:
    before = getattr(node, name)
    for value in values:
        setattr(node, name, value)
        yield
    setattr(node, name, before)


def _without_arguments(function: ast.FunctionDef, calls: ast.List) -> Iterator[None]:
    """Without all arguments that nobody reads, and without each."""
    read = {n.id for n in ast.walk(function) if isinstance(n, ast.Name)}
    arguments, given = function.args.args, [call.elts for call in calls.elts if isinstance(call, ast.List)]
    unread = [i for i, a in enumerate(arguments) if a.arg not in read]
    for some in [unread, *([i] for i in unread)] if unread else []:
        kept = [i for i in range(len(arguments)) if i not in some]
        function.args.args = [arguments[i] for i in kept]
        for call, elements in zip(calls.elts, given, strict=True):
            call.elts = [elements[i] for i in kept]
        yield
    function.args.args = arguments
    for call, elements in zip(calls.elts, given, strict=True):
        call.elts = elements


def _without_copies(function: ast.FunctionDef) -> Iterator[None]:
    """Without one `x = y`; what read x reads y."""
    block = function.body
    for i, one in enumerate(block):
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name) and isinstance(one.value, ast.Name):
            x, y = one.targets[0].id, one.value.id
            names = [n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == x]
            function.body = block[:i] + block[i + 1 :]
            for name in names:
                name.id = y
            yield
            for name in names:
                name.id = x
            function.body = block


def _parts(node: ast.expr) -> list[ast.expr]:
    """The parts of an expression that may be tensors."""
    return [n for n in ast.walk(node) if n is not node and isinstance(n, (ast.Name, ast.Call, ast.BinOp))
            and not (isinstance(n, ast.Name) and n.id in ("paddle", "F"))]  # fmt: skip
