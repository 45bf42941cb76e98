"""The functions that carry a block's state in and out."""

from __future__ import annotations

import gast

from dy2st.transpiler import nodes
from dy2st.transpiler.names import Namer, unwrap
from dy2st.transpiler.passes.block_state import State
from dy2st.transpiler.templates import statements


class Accessors:
    """`get_state` and `set_state` of one statement.

    Attributes:
        definitions: the two function definitions.
        arguments: what the call of the runtime takes: both functions and the tuple of names.
    """

    def __init__(self, at: gast.AST, state: State, namer: Namer):
        getter, setter, given = namer.fresh("get_state"), namer.fresh("set_state"), namer.shared("state_")
        # Locals are always bound, if only to an Undefined; a global or an attribute may not be there.
        values = [_if_there(n, nodes.name(n)) if n in state.globals else nodes.name(n) for n in state.names]
        values += [_if_there(text, _stored(node, state.outer)) for text, node in state.attributes.items()]
        targets: list[gast.AST] = [nodes.store(n) for n in state.names]
        targets += [nodes.with_context(_stored(a, state.outer), gast.Store) for a in state.attributes.values()]
        body: list = declare(at, state, state.names)
        if targets:
            body += statements("targets = given", at=at, targets=nodes.tuple_of(targets), given=given)
        for n in state.names:
            if n in state.globals:  # one without a value is not there, for any code that reads it
                body += statements("if _dy.is_absent(x):\n    del x", at=at, x=n)
        self.definitions = [
            *statements("def getter():\n    return values", at=at, getter=getter, values=nodes.tuple_of(values)),
            *statements("def setter(given):\n    body", at=at, setter=setter, given=given, body=body or [gast.Pass()]),
        ]
        for definition in self.definitions:
            definition.plain = True  # reads and writes as they are meant: no pass finds anything in them
            definition.accessor = True
        names = nodes.tuple_of([nodes.constant(t) for t in state.texts])
        self.arguments = [nodes.name(getter), nodes.name(setter), names]


def _if_there(text: str, node: gast.AST) -> gast.AST:
    return nodes.dy("ldu", nodes.thunk(node), nodes.constant(text))


def _stored(node: gast.AST, outer: set[str]) -> gast.AST:
    """The place in which an object keeps an attribute or item: what code of its class does is for the user's statements alone."""
    node = nodes.load(node)
    if isinstance(node, (gast.Attribute, gast.Subscript)):
        node.value = nodes.dy("stored", _way(node.value, outer))
    if isinstance(node, gast.Subscript):
        node.slice = _named(node.slice, outer)
    return node


def _way(node: gast.AST, outer: set[str]) -> gast.AST:
    """The object that has it, on a way that runs no such code either."""
    node = _named(unwrap(node), outer)
    if isinstance(node, gast.Attribute):
        return nodes.dy("reached", _way(node.value, outer), nodes.constant(node.attr))
    return _stored(node, outer)


def _named(node: gast.AST, outer: set[str]) -> gast.AST:
    """A variable, also where it is not there, if it is none of the function; all else as it is."""
    return _if_there(node.id, node) if isinstance(node, gast.Name) and node.id in outer else node


def declare(at: gast.AST, state: State, names: list[str]) -> list:
    """`nonlocal` and `global` for the names."""
    inner = [n for n in names if n not in state.globals]
    outer = [n for n in names if n in state.globals]
    result: list = [kind(found) for kind, found in ((gast.Nonlocal, inner), (gast.Global, outer)) if found]
    for declaration in result:
        declaration.origin = getattr(at, "origin", None)
    return result


def block_function(at: gast.AST, name: str, state: State, part: str, body: list) -> list:
    """A function of no arguments that runs one block."""
    return statements(
        "def name():\n    body", at=at, name=name, body=[*declare(at, state, state.bound[part]), *(body or [gast.Pass()])]
    )
