"""What cannot be converted is said here, first, in the user's terms."""

from __future__ import annotations

from typing import Any

import gast

from dy2st.transpiler import kinds, nodes
from dy2st.transpiler.manager import Pass

# Builtins that look at the frame that calls them; with these numbers of arguments they do.
_FRAME_READERS = {"locals": (0,), "vars": (0,), "dir": (0,), "eval": (1,), "exec": (1,)}


def frame_reader(node: gast.AST) -> str | None:
    """The name of the builtin that a node calls to look at the variables of the function; None if it does not."""
    if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Name) or node.keywords:
        return None
    return node.func.id if len(node.args) in _FRAME_READERS.get(node.func.id, ()) else None


class CheckUnsupported(Pass):
    """Raises a `ConversionError` for syntax that no later pass handles; marks inner generators as `plain`.

    >>> manager = PassManager(gast.parse("def f(x):\\n    yield x"))
    >>> manager.tree.body[0].entry = True
    >>> manager.apply(CheckUnsupported)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    dy2st.transpiler.errors.ConversionError: [D2S020] generator function 'f' cannot be converted
    ...
      hint: collect the values in a list and return it
    """

    def run(self, tree: gast.AST) -> gast.AST:
        if not self.context.namer.is_used(nodes.RUNTIME):
            self.wanted &= ~kinds.bit(gast.Name)
        self.suspends = bool(self.manager.occurring() & kinds.bits((gast.Yield, gast.YieldFrom)))
        return self.visit(tree)

    def visit_FunctionDef(self, node: gast.FunctionDef) -> Any:
        below = nodes.walk_scope(node.body) if self.suspends else ()
        suspended = next((n for n in below if isinstance(n, (gast.Yield, gast.YieldFrom))), None)
        if suspended is not None:
            if getattr(node, "entry", False):
                raise self.context.error(
                    suspended,
                    f"generator function '{node.name}' cannot be converted",
                    "collect the values in a list and return it",
                )
            # A generator inside is suspended and resumed by Python, so it stays Python as a whole.
            node.plain = True
        return super().visit_FunctionDef(node)

    def visit_Name(self, node: gast.Name) -> gast.Name:
        if node.id == nodes.RUNTIME:
            raise self.context.error(
                node, f"the name '{nodes.RUNTIME}' is reserved for converted code", "rename the variable"
            )
        return node

    def visit_Call(self, node: gast.Call) -> Any:
        what = frame_reader(node)
        if what is not None:
            raise self.context.error(
                node,
                f"'{what}' reads the variables of the running function, which a converted function keeps elsewhere",
                f"pass the namespace to '{what}' explicitly" if node.args else "name the variables",
            )
        return self.generic_visit(node)
