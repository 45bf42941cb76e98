"""What a debugger can show in the functions that branches and loops have become: all variables around, as in the user's function.

Python gives a function those variables of the functions around that it names. So the code that is run under a debugger declares the others
`nonlocal`, too, which has no other effect; the text does without.
"""

from __future__ import annotations

import ast
import symtable
import sys
import types
from collections.abc import Collection, Iterator

from dy2st.transpiler import nodes

DEBUGGERS = frozenset({"breakpoint", "set_trace"})
"""What calls a debugger: the function of Python's, and those of `pdb` and of others in its place."""


def is_wanted(code: types.CodeType) -> bool:
    """Whether a debugger may stop in the code: it calls one, or one is running now.

    >>> def f(x):
    ...     breakpoint()
    >>> is_wanted(f.__code__)
    True
    """
    return sys.gettrace() is not None or _is_monitored() or _calls_debugger(code)


def _is_monitored() -> bool:
    return sys.version_info >= (3, 12) and sys.monitoring.get_tool(sys.monitoring.DEBUGGER_ID) is not None


def _calls_debugger(code: types.CodeType) -> bool:
    return not DEBUGGERS.isdisjoint(code.co_names) or any(_calls_debugger(c) for c in code.co_consts if isinstance(c, types.CodeType))


def declare(tree: ast.Module, text: str, made: Collection[str], accessors: Collection[str]) -> None:
    """Declares the variables around in the functions that were made of blocks.

    Args:
        text: what was parsed to the tree.
        made: the names in it that are not the user's.
        accessors: the names of the functions that only carry variables in and out.

    >>> text = "def f(x):\\n    y = x\\n    def if_body():\\n        print(x)\\n    if_body()"
    >>> tree = ast.parse(text)
    >>> declare(tree, text, ["if_body"], [])
    >>> print(ast.unparse(tree.body[0].body[1]))
    def if_body():
        nonlocal y
        print(x)
    """
    wanted = dict(_around(symtable.symtable(text, "<text>", "exec"), set(), made))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name not in accessors and wanted.get(node.name):
            node.body.insert(0, ast.copy_location(ast.Nonlocal(wanted[node.name]), node))


def _around(table: symtable.SymbolTable, names: set[str], made: Collection[str]) -> Iterator[tuple[str, list[str]]]:
    """The functions of blocks in the scope of a table, each with the variables of the user's around it that it does not name.

    Args:
        names: those that functions in the scope can see.
    """
    for child in table.get_children():
        symbols = {s.get_name(): s for s in child.get_symbols()}
        is_made = child.get_name() in made
        if is_made:
            yield child.get_name(), sorted(names - symbols.keys())
        own = {n for n, s in symbols.items() if (s.is_local() or s.is_free()) and n not in made and n != nodes.RUNTIME}
        hidden = {n for n, s in symbols.items() if not s.is_free()}
        yield from _around(child, (names - hidden) | own if is_made else own if child.get_type() == "function" else set(), made)
