"""Which assignments may reach a point, and so which names may have no value there."""

from __future__ import annotations

import heapq

import gast

from dy2st.transpiler.analysis.activity import Activity
from dy2st.transpiler.analysis.cfg import ControlFlow, Graph, Node
from dy2st.transpiler.manager import Analysis, PassManager


class Reaching:
    """For one function: whether definitions of a name reach a point.

    "No value yet" is a definition too, made at the start. Nobody asks which of the others it is, so each name has two
    bits of an integer: that it may have no value, and that it may have one.
    """

    def __init__(self, graph: Graph, names: list[str], parameters: list[str]):
        self._unset = {name: 1 << 2 * i for i, name in enumerate(names)}
        generated: dict[Node, int] = {}
        killed: dict[Node, int] = {}
        for node in graph.nodes:
            gen = kill = 0
            for name in node.effects.writes:
                unset = self._unset.get(name, 0)
                gen, kill = gen | unset << 1, kill | unset
            for name in node.effects.weak:
                gen |= self._unset.get(name, 0) << 1
            for name in node.unbinds:
                unset = self._unset.get(name, 0)
                gen, kill = gen & ~(unset << 1) | unset, kill | unset << 1
            generated[node], killed[node] = gen, kill
        start = graph.nodes[0]
        for name in names:
            generated[start] |= 0 if name in parameters else self._unset[name]
        self._in = _solve(graph, generated, killed)

    def maybe_unset(self, node: Node, name: str) -> bool:
        """Whether on some path the name has no value when control comes to the point."""
        return bool(self._in[node] & self._unset.get(name, 0))

    def reached(self, node: Node, name: str) -> bool:
        """Whether any definition of the name reaches the point (False: it has no value there for certain)."""
        return bool(self._in[node] & self._unset.get(name, 0) << 1)


def _solve(graph: Graph, generated: dict[Node, int], killed: dict[Node, int]) -> dict[Node, int]:
    before = dict.fromkeys(graph.nodes, 0)
    visited: set[Node] = set()
    # points are numbered in the order of the source, in which few of them have to be looked at twice
    work, waiting = [0], {0}
    while work:
        index = heapq.heappop(work)
        waiting.discard(index)
        node = graph.nodes[index]
        visited.add(node)
        after = before[node] & ~killed[node] | generated[node]
        # An exception may come before the writes or after them.
        for targets, value in ((node.successors, after), (node.raises, before[node] | after)):
            for target in targets:
                if before[target] | value != before[target] or target not in visited:
                    before[target] |= value
                    if target.index not in waiting:
                        waiting.add(target.index)
                        heapq.heappush(work, target.index)
    return before


class ReachingDefinitions(Analysis):
    """Reaching definitions of all functions in the tree.

    >>> manager = PassManager(gast.parse('''
    ... def f(c):
    ...     if c:
    ...         x = 1
    ...     y = 2
    ...     return x + y
    ... '''))
    >>> function = manager.tree.body[0]
    >>> reaching, graph = manager.get(ReachingDefinitions).of(function), manager.get(ControlFlow).graph(function)
    >>> point = graph.entry[function.body[-1]]
    >>> [reaching.maybe_unset(point, name) for name in "cxy"]
    [False, True, False]
    """

    def __init__(self, tree: gast.AST, manager: PassManager):
        self._manager = manager
        self._results: dict[gast.AST, Reaching] = {}

    def of(self, function: gast.FunctionDef) -> Reaching:
        if function not in self._results:
            scope = self._manager.get(Activity).scope(function)
            graph = self._manager.get(ControlFlow).graph(function)
            self._results[function] = Reaching(graph, scope.locals, scope.parameters)
        return self._results[function]
