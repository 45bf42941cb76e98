"""Comprehensions, generator expressions, and lists with `*`."""

from __future__ import annotations

from typing import Any

import gast

from dy2st.transpiler import nodes
from dy2st.transpiler.manager import Pass
from dy2st.transpiler.templates import expression


class Comprehensions(Pass):
    """What a comprehension iterates over, and what a `*` stands before, may have a length that only the run knows.

    >>> manager = PassManager(gast.parse('''
    ... def f(xs, n):
    ...     a = [x * n for x in xs if x > 0]
    ...     b = [k - v for k, v in a]
    ...     c = [rest for _, *rest in xs]
    ...     d = {x: n for x in xs if x}
    ...     return [n, *b, sum(x + y for x in b for y in a)]
    ... '''))
    >>> print(show(manager.apply(Comprehensions)))
    def f(xs, n):
        a = _dy.list_comp(xs, lambda x: x * n, lambda x: x > 0)
        b = _dy.list_comp(a, lambda item_: (lambda k, v: k - v)(*_dy.unpack(item_, 2)))
        c = _dy.list_comp(xs, lambda item_1: (lambda _, rest: rest)(*_dy.unpacked_rest(item_1, 1, 0)))
        d = _dy.dict_comp(xs, lambda x: (x, n), lambda x: x)
        return _dy.list_join([n], _dy.list_join(b), [sum(_dy.generator(b, lambda x: _dy.generator(a, lambda y: x + y), None, True))])

    A `*` takes its items before the elements behind it are computed, which may change them.

    Those that make functions stay as they are: these see the last item of all. The conditions of the other dict comprehensions, and of
    those of sets, are asked by `_dy.comprehension_test`, which refuses what only the run knows.
    """

    in_generators = True
    looks_for = (gast.ListComp, gast.GeneratorExp, gast.DictComp, gast.SetComp, gast.Starred)

    def visit_ListComp(self, node: gast.ListComp) -> Any:
        self.generic_visit(node)
        return self._call("list_comp", node, node.generators, node.elt) if _convertible(node) else node

    def visit_GeneratorExp(self, node: gast.GeneratorExp) -> Any:
        self.generic_visit(node)
        return self._call("generator", node, node.generators, node.elt) if _convertible(node) else node

    def visit_DictComp(self, node: gast.DictComp) -> Any:
        if len(node.generators) > 1 or not _convertible(node):
            return self.visit_SetComp(node)
        self.generic_visit(node)
        pair = gast.Tuple([node.key, node.value], gast.Load())
        pair.generated = True
        return self._call("dict_comp", node, node.generators, pair)

    def visit_SetComp(self, node: gast.DictComp | gast.SetComp) -> Any:
        self.generic_visit(node)
        for part in node.generators:
            self.changed = self.changed or bool(part.ifs)
            kind = "dict" if isinstance(node, gast.DictComp) else "set"
            part.ifs = [expression("_dy.comprehension_test(t, kind)", at=t, t=t, kind=nodes.constant(kind)) for t in part.ifs]
        return node

    def visit_List(self, node: gast.List) -> Any:
        self.generic_visit(node)
        if not isinstance(node.ctx, gast.Load) or not any(isinstance(e, gast.Starred) for e in node.elts):
            return node
        call = expression("_dy.list_join()", at=node)
        for i, element in enumerate(node.elts):
            if isinstance(element, gast.Starred):
                taken_now = any(map(_runs_code, node.elts[i + 1 :]))
                call.args.append(expression("_dy.list_join(part)", at=element, part=element.value) if taken_now else element.value)
            elif call.args and getattr(call.args[-1], "generated", False):
                call.args[-1].elts.append(element)
            else:
                call.args.append(gast.List([element], gast.Load()))
                call.args[-1].generated = True
        self.changed = True
        return call

    def _call(self, function: str, at: gast.AST, generators: list[gast.comprehension], element: gast.AST) -> gast.AST:
        first, *others = generators
        call = expression(f"_dy.{function}()", at=at)
        inner = self._call(function, at, others, element) if others else element
        self._name_once(first.target)
        call.args = [first.iter, self._function(first.target, inner)]
        if first.ifs:
            test = first.ifs[0] if len(first.ifs) == 1 else nodes.both(*first.ifs)
            test.origin = getattr(first.ifs[0], "origin", None)
            call.args.append(self._function(nodes.copy(first.target), test))
        elif others:
            call.args.append(nodes.constant(None))
        if others:
            call.args.append(nodes.constant(True))
        self.changed = True
        return call

    def _name_once(self, target: gast.AST) -> None:
        """Gives the parts of a target that have a name which comes again behind them other ones: `for _, _, x in xs`."""
        last: set[str] = set()
        for part in reversed([n for n in nodes.walk(target) if isinstance(n, gast.Name)]):
            if part.id in last:
                part.id = self.context.namer.fresh("unused_")
            last.add(part.id)

    def _function(self, target: gast.AST, body: gast.AST) -> gast.Lambda:
        """A function of one item, which the target takes apart."""
        origin = getattr(body, "origin", None)
        if isinstance(target, gast.Name):
            made = gast.Lambda(nodes.arguments([target.id]), body)
        else:
            names: list[str] = []
            inner = body
            elements = target.elts  # type: ignore[attr-defined]
            before = next((i for i, e in enumerate(elements) if isinstance(e, gast.Starred)), None)
            for part in reversed([e.value if isinstance(e, gast.Starred) else e for e in elements]):
                if not isinstance(part, gast.Name):
                    name = self.context.namer.fresh("part_")
                    call = nodes.call(self._function(part, inner), nodes.name(name))
                    call.generated = True
                    part, inner = nodes.name(name), call
                names.insert(0, part.id)
            item = self.context.namer.fresh("item_")
            if before is None:
                parts = nodes.dy("unpack", nodes.name(item), nodes.constant(len(names)))
            else:
                after = len(names) - before - 1
                parts = nodes.dy("unpacked_rest", nodes.name(item), nodes.constant(before), nodes.constant(after))
            apart = gast.Lambda(nodes.arguments(names), inner)
            call = nodes.call(apart, gast.Starred(parts, gast.Load()))
            apart.generated = call.generated = True
            made = gast.Lambda(nodes.arguments([item]), call)
        made.origin, made.generated = origin, True
        return made


def _convertible(node: gast.ListComp | gast.DictComp | gast.GeneratorExp) -> bool:
    if any(g.is_async for g in node.generators) or not all(_simple(g.target) for g in node.generators):
        return False
    # a function or a generator made in it is run later; a walrus binds a variable of the function around
    kept = (gast.Lambda, gast.GeneratorExp, gast.NamedExpr, gast.Await, gast.Yield, gast.YieldFrom)
    return not any(isinstance(n, kept) and not getattr(n, "generated", False) for n in gast.walk(node) if n is not node)


def _runs_code(element: gast.AST) -> bool:
    """Whether an element of a list may change what stands before it."""
    return not all(isinstance(n, (gast.Name, gast.Constant, gast.Starred, gast.List, gast.Tuple, gast.Load)) for n in gast.walk(element))


def _simple(target: gast.AST) -> bool:
    if isinstance(target, (gast.Tuple, gast.List)):
        return all(map(_simple, target.elts))
    return isinstance(target.value if isinstance(target, gast.Starred) else target, gast.Name)
