"""Which assignments may reach a point, and so which names may have no value there."""

from __future__ import annotations

import heapq

import gast

from dy2st.transpiler.analysis.activity import Activity
from dy2st.transpiler.analysis.cfg import ControlFlow, Graph, Node
from dy2st.transpiler.manager import Analysis, PassManager


class Reaching:
    """For one function: the definitions that reach each point.

    A definition is a point that writes a name; "no value yet" is a definition too, made at the start.
    Sets of definitions are bits of an integer.
    """

    def __init__(self, graph: Graph, names: list[str], parameters: list[str]):
        self._bits: dict[str, int] = {}  # name -> all its definitions
        self._unset: dict[str, int] = {}  # name -> the definition "no value yet"
        generated: dict[Node, int] = {}
        killed: dict[Node, int] = {}
        count = 0
        for name in names:
            self._unset[name] = self._bits[name] = 1 << count
            count += 1
        sites: dict[Node, list[tuple[str, int]]] = {}
        for node in graph.nodes:
            for name in [*node.effects.writes, *node.effects.weak]:
                if name in self._bits:
                    self._bits[name] |= 1 << count
                    sites.setdefault(node, []).append((name, 1 << count))
                    count += 1
        for node in graph.nodes:
            gen = kill = 0
            for name, bit in sites.get(node, ()):
                gen |= bit
                if name in node.effects.writes:
                    kill |= self._bits[name]
            for name in node.unbinds:
                if name in self._bits:
                    kill |= self._bits[name]
                    gen = gen & ~self._bits[name] | self._unset[name]
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
        return bool(self._in[node] & self._bits.get(name, 0) & ~self._unset.get(name, 0))


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
