"""Makes a program smaller as long as it shows the same: statements go, blocks become their contents, expressions their parts."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

_BODIES = ("body", "orelse", "finalbody")
_SMALL = ("x", "n", "0", "1", "0.5", "True", "None")


def reduced(source: str, shows: Callable[[str], bool], budget: int = 600,
            smaller: Callable[[ast.Module], Iterator[str]] | None = None) -> str:  # fmt: skip
    """The smallest text found that `shows`; at most `budget` texts are tried, of what is `smaller` (`candidates`)."""
    best = ast.unparse(ast.parse(source))
    if not shows(best):
        return source  # it depends on its layout
    tried: set[str] = {best}
    improved = True
    while improved and budget > 0:
        improved = False
        for text in (smaller or candidates)(ast.parse(best)):
            if text in tried or len(text) > len(best):
                continue
            tried.add(text)
            budget -= 1
            if shows(text):
                best, improved = text, True
                break
            if budget <= 0:
                break
    return best


def candidates(tree: ast.Module) -> Iterator[str]:
    """Smaller programs: whole statements first, from the outside inwards, then expressions."""
    return (text for _ in _changes(tree) if (text := written(tree)) is not None)


def _changes(tree: ast.Module) -> Iterator[None]:
    """Makes the tree smaller in one way after the other; each is undone when the next one is asked for."""
    parts = [n for n in tree.body if not isinstance(n, (ast.Import, ast.ImportFrom))]
    inside = [n for part in parts for n in ast.walk(part)]
    owners = [tree, *(n for n in inside if isinstance(n, (ast.stmt, ast.ExceptHandler, ast.match_case)))]
    places = [(n, name, i) for n in owners for name in _BODIES for i in reversed(range(len(getattr(n, name, []))))]
    for node, name, i in places:
        block = getattr(node, name)
        for new in without(block, i, keep=name == "body"):
            setattr(node, name, new)
            yield
            setattr(node, name, block)
    for node in inside:
        for name, value in ast.iter_fields(node):
            if name == "format_spec":  # a text of its own kind
                continue
            if isinstance(value, ast.expr) and not isinstance(getattr(value, "ctx", ast.Load()), (ast.Store, ast.Del)):
                for new in _simpler(value):
                    setattr(node, name, new)
                    yield
                    setattr(node, name, value)
            elif isinstance(value, list) and value and isinstance(value[0], (ast.expr, ast.comprehension)):
                for i in range(len(value)):
                    if len(value) > 1 or isinstance(node, (ast.Return, ast.Call, ast.List)):
                        setattr(node, name, value[:i] + value[i + 1 :])
                        yield
                        setattr(node, name, value)
                    if isinstance(value[i], ast.expr) and not isinstance(node, ast.JoinedStr):
                        for new in _simpler(value[i]):
                            setattr(node, name, [*value[:i], new, *value[i + 1 :]])
                            yield
                            setattr(node, name, value)


def without(block: list[ast.stmt], i: int, keep: bool) -> Iterator[list[ast.stmt]]:
    """A block without one statement, or with what is inside of it in its place."""
    one = block[i]
    if len(block) > 1 or not keep:
        yield block[:i] + block[i + 1 :]
    elif not isinstance(one, ast.Pass):
        yield [ast.Pass()]
    inner = [getattr(one, name) for name in _BODIES if isinstance(getattr(one, name, None), list)]
    inner += [h.body for h in [*getattr(one, "handlers", []), *getattr(one, "cases", [])]]
    if not isinstance(one, ast.FunctionDef):
        for body in inner:
            if body:
                yield block[:i] + body + block[i + 1 :]
    if isinstance(one, ast.If) and one.orelse:
        yield [*block[:i], ast.If(one.test, one.orelse, []), *block[i + 1 :]]
    if isinstance(one, ast.Match) and len(one.cases) > 1:
        for case in one.cases:
            yield [*block[:i], ast.Match(one.subject, [c for c in one.cases if c is not case]), *block[i + 1 :]]


def _simpler(node: ast.expr) -> Iterator[ast.expr]:
    """The parts of an expression, and what is smaller than any."""
    if isinstance(node, (ast.Name, ast.Constant)):
        return
    for child in ast.walk(node):
        whole = isinstance(child, ast.expr) and not isinstance(child, (ast.Starred, ast.FormattedValue))
        if child is not node and whole and not isinstance(getattr(child, "ctx", ast.Load()), (ast.Store, ast.Del)):
            yield child
    for text in _SMALL:
        yield ast.parse(text, mode="eval").body


def written(tree: ast.Module) -> str | None:
    """The text of a tree; None if none can hold it (a pattern has keys without values), or Python does not compile it."""
    try:
        text = ast.unparse(ast.fix_missing_locations(tree))
        compile(text, "<reduced>", "exec")
    except (SyntaxError, ValueError):
        return None
    return text


def regression_test(source: str, name: str) -> str:
    """The program under a name, to paste into `found_once.py`."""
    tree = ast.parse(source)
    used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            node.names = [a for a in node.names if (a.asname or a.name) in used]
        elif getattr(node, "name", "") == "program":
            node.name = name
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "program":
            node.targets[0].id = name
    tree.body = [n for n in tree.body if not isinstance(n, (ast.Import, ast.ImportFrom)) or n.names]
    return ast.unparse(tree)
