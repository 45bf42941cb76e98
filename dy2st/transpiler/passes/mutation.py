"""What the passes over containers share: where they apply, and how the new container is written back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from dy2st.transpiler import nodes
from dy2st.transpiler.analysis.activity import Activity, FunctionScope
from dy2st.transpiler.manager import Pass
from dy2st.transpiler.names import qualified, unwrap
from dy2st.transpiler.templates import statements

_PLAIN = (gast.Name, gast.Constant, gast.Slice, gast.Tuple, gast.expr_context)


def is_plain(node: gast.AST) -> bool:
    """Whether to evaluate an expression runs no code of anybody's."""
    return all(isinstance(n, _PLAIN) or getattr(n, "generated", False) for n in gast.walk(node))


def _others(change: gast.AST) -> list[gast.AST]:
    """What else a call that changes a container is given; it may have a second result, so that only a part of what it gives is taken."""
    while not isinstance(change, gast.Call):
        change = change.value
    return change.args[1:]


class MutationPass(Pass):
    """Knows how deep in branches and loops a statement is, and declares outer names that it rebinds."""

    requires = (Activity,)

    depth = 0
    scope: FunctionScope | None = None

    def run(self, tree: gast.AST) -> gast.AST:
        self.free = set(self.context.free)
        self.around: list[FunctionScope] = []
        self.declared: dict[str, dict[str, None]] = {}
        return self.visit(tree)

    def visit_FunctionDef(self, node: gast.FunctionDef) -> Any:
        saved = self.depth, self.scope, self.declared
        self.depth, self.declared = 0, {"global": {}, "nonlocal": {}}
        self.scope = self.analysis(Activity).scope(node)
        self.around.append(self.scope)
        super().visit_FunctionDef(node)
        self.around.pop()
        docstring, rest = nodes.split_docstring(node.body)
        head: list = []
        for word, kind in (("nonlocal", gast.Nonlocal), ("global", gast.Global)):
            if self.declared[word]:
                head.append(kind(list(self.declared[word])))
                head[-1].origin = getattr(node, "origin", None)
        node.body = [*docstring, *head, *rest]
        self.depth, self.scope, self.declared = saved
        return node

    def _inside(self, node: gast.AST) -> Any:
        self.depth += 1
        self.generic_visit(node)
        self.depth -= 1
        return node

    visit_If = visit_While = visit_For = visit_ForUntil = visit_Try = _inside

    def declare(self, name: str) -> None:
        """Makes sure that an assignment to the name rebinds the variable that the function reads."""
        assert self.scope is not None
        if name in self.scope.locals or name in self.scope.globals or name in self.scope.nonlocals:
            return
        outer = name in self.free or any(name in scope.locals for scope in self.around[:-1])
        self.declared["nonlocal" if outer else "global"][name] = None

    def may_rebind(self, name: str, *parts: gast.AST) -> bool:
        """Whether to evaluate parts of a statement may give a variable another value: by `:=`, or by a function that is called."""
        if any(isinstance(n, gast.NamedExpr) and n.target.id == name for part in parts for n in gast.walk(part)):
            return True
        return self.is_shared(name) and not all(map(is_plain, parts))

    def is_shared(self, name: str) -> bool:
        """Whether other functions may assign a variable: also the method that changes what is in it, if that is an object of the user's."""
        assert self.scope is not None
        return name not in self.scope.locals or name in self.scope.rebound_inside

    def update(
        self, at: gast.AST, target: gast.AST, value: Callable[[gast.AST], gast.AST], held: str | None = None
    ) -> list:
        """Statements that put `value(target)` in the place of `target`.

        An attribute or item is written only if the value is another object: its setter may do anything. So is a variable that other
        functions may assign, and only if it still holds the target. What has no name, as the result of a call, is not written at all: what
        else holds it gets the new object while the function is traced.
        `held` is a variable that holds the target's value already.
        """
        plain = unwrap(target)
        if isinstance(plain, gast.Name):
            self.declare(plain.id)
            change = value(target)
            if held is None and not self.is_shared(plain.id) and not self.may_rebind(plain.id, *_others(change)):
                return statements("name = value", at=at, name=plain.id, value=change)
        old, new = held or self.context.namer.fresh("old_"), self.context.namer.fresh("new_")
        result = [] if held else statements("old = target", at=at, old=old, target=nodes.load(target))
        if qualified(target) is None:
            return [*result, *statements("value", at=at, value=value(nodes.name(old)))]
        write = statements("store = new", at=at, store=nodes.load(plain), new=new)
        if isinstance(plain, gast.Name):
            write = statements("if name is old: write", at=at, name=plain.id, old=old, write=write)
            write[0].plain = True
        result += statements("new = value\nif new is not old: write", at=at, old=old, new=new, value=value(nodes.name(old)), write=write)
        result[-1].plain = True
        return result
