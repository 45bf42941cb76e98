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
    """Raises a `ConversionError` for syntax that no later pass handles; marks generator functions as `plain` and `suspended`.

    >>> manager = PassManager(gast.parse("def f():\\n    return locals()"))
    >>> manager.apply(CheckUnsupported)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    dy2st.transpiler.errors.ConversionError: [D2S020] 'locals' reads the variables of the running function, which a converted ...
    ...
      hint: name the variables
    """

    in_generators = True

    def run(self, tree: gast.AST) -> gast.AST:
        if not self.context.namer.is_used(nodes.RUNTIME):
            self.wanted &= ~kinds.bit(gast.Name)
        self.suspends = bool(self.manager.occurring() & kinds.bits((gast.Yield, gast.YieldFrom)))
        return self.visit(tree)

    def visit_FunctionDef(self, node: gast.FunctionDef) -> Any:
        below = list(nodes.walk_scope(node.body)) if self.suspends else ()
        if any(isinstance(n, (gast.Yield, gast.YieldFrom)) for n in below):
            # Python suspends and resumes it, so its statements stay Python's.
            node.plain = True
            # what looks at its variables keeps them as they are, and so stays Python's as a whole
            node.suspended = getattr(node, "entry", False) or not any(map(frame_reader, below))
        return super().visit_FunctionDef(node)

    def visit_Lambda(self, node: gast.Lambda) -> Any:
        node.suspended = self.suspends and any(isinstance(n, (gast.Yield, gast.YieldFrom)) for n in nodes.walk_scope([node.body]))
        return super().visit_Lambda(node)

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
