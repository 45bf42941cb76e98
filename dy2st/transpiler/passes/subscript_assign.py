"""Assignments to items of containers."""

from __future__ import annotations

from typing import Any

import gast

from dy2st.transpiler import nodes
from dy2st.transpiler.passes.mutation import MutationPass, is_plain
from dy2st.transpiler.templates import expression, statements


class SubscriptAssign(MutationPass):
    """`a[i] = v` becomes `a = _dy.setitem(a, i, v)`, so that `a` is state like any variable.
    >>> manager = PassManager(gast.parse('''
    ... def f(a, n):
    ...     for i in n:
    ...         a[i] = 0
    ...         a[g(i)] += 1
    ...         del a[i:]
    ... '''))
    >>> print(show(manager.apply(SubscriptAssign)))
    def f(a, n):
        for i in n:
            a = _dy.setitem(a, i, 0)
            key_ = g(i)
            item_ = a[key_]
            item_ += 1
            a = _dy.setitem(a, key_, item_)
            a = _dy.delitem(a, _dy.slice(i, None, None))
    """

    looks_for = (gast.Subscript,)

    def visit_Assign(self, node: gast.Assign) -> Any:
        if not any(self._items(t) for t in node.targets):
            return node
        result: list = []
        value = node.value
        first = node.targets[0]
        if len(node.targets) > 1 or (isinstance(first, gast.Subscript) and not self._same_order(value, first)):
            name = self.context.namer.fresh("value_")
            result += statements("name = value", at=node, name=name, value=value)
            value = nodes.name(name)
        for target in node.targets:
            result += self._store(node, target, nodes.copy(value))
        return result

    def visit_AugAssign(self, node: gast.AugAssign) -> Any:
        if not isinstance(node.target, gast.Subscript):
            return node
        base, key, result = node.target.value, nodes.key_object(node.target.slice), []
        held = None
        if not isinstance(base, gast.Name) or self._changes(base, key, node.value):
            held = self.context.namer.fresh("old_")
            result += statements("held = base", at=node, held=held, base=base)
            base = nodes.name(held)
        if not isinstance(key, (gast.Name, gast.Constant)) or self._changes(key, node.value):
            name = self.context.namer.fresh("key_")
            result += statements("name = key", at=node, name=name, key=key)
            key = nodes.name(name)
        item = self.context.namer.fresh("item_")
        change = gast.AugAssign(nodes.store(item), node.op, node.value)
        result += statements("item = base[key]\nchange", at=node, item=item, base=nodes.load(base), key=key, change=change)
        return [*result, *self._setitem(node, node.target, nodes.copy(key), nodes.name(item), held)]

    def visit_Delete(self, node: gast.Delete) -> Any:
        targets = nodes.deleted(node)
        if not any(isinstance(t, gast.Subscript) for t in targets):
            return node
        result: list = []
        for target in targets:
            if isinstance(target, gast.Subscript):
                result += self._delitem(node, target)
            else:
                result += statements("del target", at=node, target=target)
        return result

    def _delitem(self, at: gast.AST, target: gast.Subscript) -> list:
        key = nodes.key_object(target.slice)
        return self.update(at, target.value, lambda base: expression("_dy.delitem(base, key)", at=at, base=base, key=key))

    def visit_For(self, node: gast.For) -> Any:
        if self._items(node.target):
            name = self.context.namer.fresh("value_")
            node.body = [*statements("target = name", at=node.target, target=node.target, name=name), *node.body]
            node.target = statements("name = 0", at=node.target, name=name)[0].targets[0]
        return self._inside(node)

    visit_ForUntil = visit_For

    def _store(self, at: gast.AST, target: gast.AST, value: gast.AST) -> list:
        """Statements that assign to one target, part by part from the left, as Python does."""
        if isinstance(target, gast.Subscript):
            return self._setitem(at, target, nodes.key_object(target.slice), value)
        if not (isinstance(target, (gast.Tuple, gast.List)) and self._items(target)):
            return statements("target = value", at=at, target=target, value=value)
        parts, stores = [], []
        for element in target.elts:
            name = self.context.namer.fresh("part_")
            inner = element.value if isinstance(element, gast.Starred) else element
            part = nodes.store(name)
            parts.append(gast.Starred(part, gast.Store()) if isinstance(element, gast.Starred) else part)
            stores += self._store(at, inner, nodes.name(name))
        unpack = statements("parts = value", at=at, parts=nodes.tuple_of(parts), value=value)
        return [*unpack, *stores]

    def _setitem(
        self, at: gast.AST, target: gast.Subscript, key: gast.AST, value: gast.AST, held: str | None = None
    ) -> list:
        def new(base: gast.AST) -> gast.AST:
            return expression("_dy.setitem(base, key, value)", at=at, base=base, key=key, value=value)

        return self.update(at, target.value, new, held)

    def _same_order(self, value: gast.AST, target: gast.Subscript) -> bool:
        """Whether one cannot tell if the value or the container and the key are evaluated first."""
        if isinstance(value, gast.Name):
            return not self._changes(value, target.value, target.slice)
        simple = isinstance(target.value, gast.Name) and is_plain(target.slice)
        return isinstance(value, gast.Constant) or (simple and not self._changes(target, value))

    def _changes(self, node: gast.AST, *parts: gast.AST) -> bool:
        """Whether to evaluate parts of the statement may give a variable in the node another value."""
        return any(self.may_rebind(n.id, *parts) for n in gast.walk(node) if isinstance(n, gast.Name))

    def _items(self, target: gast.AST) -> bool:
        """Whether there is an item to assign in the target."""
        if isinstance(target, (gast.Tuple, gast.List)):
            return any(map(self._items, target.elts))
        return self._items(target.value) if isinstance(target, gast.Starred) else isinstance(target, gast.Subscript)
