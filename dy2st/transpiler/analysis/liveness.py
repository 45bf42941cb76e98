"""Which names may still be read, with the value they have now."""

from __future__ import annotations

from collections.abc import Iterable

import gast

from dy2st.transpiler.analysis.activity import Activity, FunctionScope
from dy2st.transpiler.analysis.cfg import ControlFlow, Graph, Node
from dy2st.transpiler.manager import Analysis, PassManager


class Live:
    """For one function: the names live at each point.

    Names that functions made here read, and those of functions around, are live everywhere: when
    they are read is not known.
    """

    def __init__(self, graph: Graph, scope: FunctionScope):
        self._always = {*scope.captured, *scope.globals, *scope.nonlocals, *scope.rebound_inside}
        self._bits: dict[str, int] = {}  # name -> its bit: sets of names are integers
        self._in: dict[Node, int] = dict.fromkeys(graph.nodes, 0)
        reads = {n: self._set(r.id for r in n.effects.reads) for n in graph.nodes}
        kills = {n: self._set((*n.effects.writes, *n.unbinds)) for n in graph.nodes}
        predecessors: dict[Node, list[Node]] = {n: [] for n in graph.nodes}
        for node in graph.nodes:
            for target in [*node.successors, *node.raises]:
                predecessors[target].append(node)
        work, waiting = list(graph.nodes), set(graph.nodes)
        while work:
            node = work.pop()
            waiting.discard(node)
            after = caught = 0
            for target in node.successors:
                after |= self._in[target]
            # What a handler reads it may read with the values from before this point's writes.
            for target in node.raises:
                caught |= self._in[target]
            live = reads[node] | after & ~kills[node] | caught
            if live != self._in[node]:
                self._in[node] = live
                for before in predecessors[node]:
                    if before not in waiting:
                        waiting.add(before)
                        work.append(before)

    def at(self, node: Node, name: str) -> bool:
        """Whether the name is live when control comes to the point."""
        return name in self._always or bool(self._in[node] & self._bits.get(name, 0))

    def _set(self, names: Iterable[str]) -> int:
        found = 0
        for name in names:
            found |= self._bits.setdefault(name, 1 << len(self._bits))
        return found


class Liveness(Analysis):
    """Live names of all functions in the tree.

    >>> manager = PassManager(gast.parse('''
    ... def f(c, x):
    ...     if c:
    ...         x = 1
    ...         t = 2
    ...     return x
    ... '''))
    >>> function = manager.tree.body[0]
    >>> live, graph = manager.get(Liveness).of(function), manager.get(ControlFlow).graph(function)
    >>> [live.at(graph.exit[function.body[0]], name) for name in "cxt"]
    [False, True, False]
    """

    def __init__(self, tree: gast.AST, manager: PassManager):
        self._manager = manager
        self._results: dict[gast.AST, Live] = {}

    def of(self, function: gast.FunctionDef) -> Live:
        if function not in self._results:
            scope = self._manager.get(Activity).scope(function)
            graph = self._manager.get(ControlFlow).graph(function)
            self._results[function] = Live(graph, scope)
        return self._results[function]
