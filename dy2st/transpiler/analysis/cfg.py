"""The control-flow graph of a function: statement by statement, with exceptions inside `try` and `with`."""

from __future__ import annotations

from collections.abc import Iterator

import gast

from dy2st.transpiler import nodes
from dy2st.transpiler.analysis.activity import Activity, Effects, statement_parts
from dy2st.transpiler.manager import Analysis, PassManager


class Node:
    """A point of the function: what it does to names, and where control can go from it.

    `raises` are the points that an exception here leads to. It may come before or after the effects.
    """

    def __init__(self, index: int, label: str, effects: Effects | None = None):
        self.index, self.label = index, label
        self.effects = effects or Effects()
        self.unbinds: list[str] = []
        self.successors: list[Node] = []
        self.raises: list[Node] = []

    def __repr__(self) -> str:
        return f"{self.index}:{self.label}"


class Graph:
    """The graph of one function.

    >>> tree = gast.parse('''
    ... def f(n):
    ...     while n:
    ...         if n > 3:
    ...             break
    ...         n -= 1
    ...     return n
    ... ''').body[0]
    >>> print(Graph(tree, Activity(tree, None)))
    0:start -> 1
    1:while -> 3, 7
    2:loop header -> 1
    3:if -> 4, 5
    4:Break -> 7
    5:end if -> 6
    6:AugAssign -> 2
    7:end while -> 8
    8:Return -> 9
    9:end
    """

    def __init__(self, function: gast.FunctionDef, activity: Activity):
        self.function = function
        self.nodes: list[Node] = []
        self.entry: dict[gast.AST, Node] = {}  # statement -> its first point
        self.exit: dict[gast.AST, Node] = {}  # compound statement -> the point behind it
        self.header: dict[gast.AST, Node] = {}  # loop -> the point where it decides to go on
        _Builder(self, activity).build()

    def add(self, label: str, effects: Effects | None = None) -> Node:
        return self.place(Node(-1, label, effects))

    def place(self, node: Node) -> Node:
        """Adds a point that others may lead to already."""
        node.index = len(self.nodes)
        self.nodes.append(node)
        return node

    def __str__(self) -> str:
        def line(node: Node) -> str:
            text = repr(node)
            if node.successors:
                text += " -> " + ", ".join(str(s.index) for s in node.successors)
            if node.raises:
                text += " raises " + ", ".join(str(s.index) for s in node.raises)
            return text

        return "\n".join(map(line, self.nodes))


class _Builder:
    """Adds one statement after the other; `self.ends` are the points that lead to the next one."""

    def __init__(self, graph: Graph, activity: Activity):
        self.graph, self.activity = graph, activity
        self.ends: list[Node] = []
        self.handlers: list[Node] = []  # where an exception goes from here
        self.loops: list[tuple[Node, Node]] = []  # (where continue goes, where break goes)
        self.finals: list[tuple[int, Node]] = []  # (depth of loops, entry of the finally) around

    def build(self) -> None:
        self.end = Node(-1, "end")
        self.ends = [self.graph.add("start")]
        self.block(self.graph.function.body)
        self.join(self.graph.place(self.end))

    def point(self, label: str, parts: list[gast.AST] | None = None) -> Node:
        return self.follow(self.graph.add(label, self.activity.effects(parts) if parts else None))

    def follow(self, node: Node) -> Node:
        """Goes on from a point."""
        node.raises = list(self.handlers)
        self.join(node)
        self.ends = [node]
        return node

    def join(self, node: Node) -> None:
        for end in self.ends:
            if node not in end.successors:
                end.successors.append(node)
        self.ends = []

    def block(self, statements: list) -> None:
        for statement in statements:
            self.statement(statement)

    def statement(self, node: gast.AST) -> None:
        if isinstance(node, gast.If):
            self.if_(node)
        elif isinstance(node, (gast.While, gast.For)):
            self.loop(node)
        elif isinstance(node, (gast.With, gast.AsyncWith)):
            self.with_(node)
        elif isinstance(node, (gast.Try, gast.TryStar)):
            self.try_(node)
        elif isinstance(node, gast.Match):
            self.match(node)
        else:
            self.simple(node)

    def simple(self, node: gast.AST) -> None:
        point = self.graph.entry[node] = self.point(type(node).__name__, [node])
        if isinstance(node, gast.Return):
            self.leave(0, self.end)
        elif isinstance(node, gast.Raise):
            self.ends = []  # the exception edges lead on
        elif isinstance(node, (gast.Break, gast.Continue)):
            target = self.loops[-1][isinstance(node, gast.Break)]
            self.leave(len(self.loops), target)
        elif isinstance(node, gast.Delete):
            point.unbinds = [t.id for t in nodes.deleted(node) if isinstance(t, gast.Name)]
        elif getattr(node, "unbinds", False):  # `x = _dy.Undefined('x')` in the place of a del
            point.unbinds = [t.id for t in node.targets]

    def leave(self, depth: int, target: Node) -> None:
        """Jumps out: through the innermost `finally` on the way, if there is one."""
        crossing = [final for level, final in self.finals if level >= depth]
        self.join(crossing[-1] if crossing else target)

    def finish(self, node: gast.AST, label: str, point: Node | None = None) -> None:
        # The join belongs to what follows: an exception cannot come there.
        handlers, self.handlers = self.handlers, []
        self.graph.exit[node] = self.follow(self.graph.add(label) if point is None else self.graph.place(point))
        self.handlers = handlers

    def if_(self, node: gast.If) -> None:
        test = self.graph.entry[node] = self.point("if", [node.test])
        self.block(node.body)
        ends, self.ends = self.ends, [test]
        self.block(node.orelse)
        self.ends = ends + self.ends
        self.finish(node, "end if")

    def loop(self, node: gast.While | gast.For) -> None:
        if isinstance(node, gast.While):
            test = self.graph.entry[node] = self.graph.header[node] = self.point("while", [node.test])
        else:
            self.graph.entry[node] = self.point("iter", [node.iter])
            extra = [node.extra_test] if isinstance(node, nodes.ForUntil) else []
            test = self.graph.header[node] = self.point("for", extra)
        back, after = self.graph.add("loop header"), Node(-1, f"end {test.label}")
        back.successors.append(test)
        if isinstance(node, gast.For):
            self.point("target", [node.target])
        self.loops.append((back, after))
        self.block(node.body)
        self.join(back)
        self.loops.pop()
        endless = isinstance(node, gast.While) and isinstance(node.test, gast.Constant) and bool(node.test.value)
        self.ends = [] if endless else [test]
        self.block(node.orelse)
        self.finish(node, after.label, after)

    def with_(self, node: gast.With | gast.AsyncWith) -> None:
        self.graph.entry[node] = self.point("with", list(node.items))
        first = len(self.graph.nodes)
        self.block(node.body)
        inside = self.graph.nodes[first:]
        self.finish(node, "end with")
        # The context manager may swallow an exception from anywhere in the body.
        swallows = any(map(may_swallow, node.items))
        for point in inside:
            if swallows and point is not self.graph.exit[node]:
                point.raises.append(self.graph.exit[node])

    def match(self, node: gast.Match) -> None:
        self.graph.entry[node] = self.point("match", [node.subject])
        done: list[Node] = []
        for case in node.cases:
            test = self.point("case", [case.pattern, *([case.guard] if case.guard else [])])
            self.block(case.body)
            done += self.ends
            irrefutable = isinstance(case.pattern, gast.MatchAs) and case.pattern.pattern is None and not case.guard
            self.ends = [] if irrefutable else [test]
        self.ends = done + self.ends
        self.finish(node, "end match")

    def try_(self, node: gast.Try | gast.TryStar) -> None:
        self.graph.entry[node] = self.point("try")
        outer = self.handlers
        final = self.graph.add("finally") if node.finalbody else None
        uncaught = [final] if final else outer  # where an exception goes that no handler here takes
        handlers = [self.graph.add("except") for _ in node.handlers]
        if final:
            self.finals.append((len(self.loops), final))
        self.handlers = [*handlers, *uncaught]
        self.graph.entry[node].raises = list(self.handlers)
        self.block(node.body)
        self.handlers = uncaught
        self.block(node.orelse)
        done = self.ends
        for handler, entry in zip(node.handlers, handlers, strict=True):
            entry.raises = list(uncaught)
            self.ends = [entry]
            parts = statement_parts(gast.Try([], [handler], [], []))
            if parts:
                self.point("handler", parts)
            self.block(handler.body)
            if handler.name:
                name = handler.name if isinstance(handler.name, str) else handler.name.id
                self.point("end handler").unbinds = [name]
            done += self.ends
        self.handlers = outer
        self.ends = done
        if final:
            self.finals.pop()
            self.join(final)
            final.raises = list(outer)
            self.ends = [final]
            self.block(node.finalbody)
            # A finally may also have been entered by an exception or a jump, which goes on behind it.
            for end in self.ends:
                end.raises = [*end.raises, *outer]
                end.successors += [t for t in self.jumps() if t not in end.successors]
        self.finish(node, "end try")

    def jumps(self) -> Iterator[Node]:
        yield self.end
        for back, after in self.loops[-1:]:
            yield back
            yield after
        for _, final in self.finals[-1:]:
            yield final


# Context managers of these names set a mode and let exceptions pass. Without knowing this, all that is assigned below them might be
# unset behind them. Those that are called in a similar way may be anybody's, and do anything.
_TRANSPARENT = (
    "no_grad", "enable_grad", "set_grad_enabled", "auto_cast", "autocast", "nullcontext", "open", "program_guard", "scope_guard",
    "name_scope", "guard",
)  # fmt: skip


def may_swallow(item: gast.withitem) -> bool:
    """Whether a context manager may keep exceptions to itself, as far as its name tells."""
    manager = item.context_expr
    function = manager.func if isinstance(manager, gast.Call) else manager
    name = function.attr if isinstance(function, gast.Attribute) else getattr(function, "id", "")
    return name not in _TRANSPARENT


class ControlFlow(Analysis):
    """The graphs of all functions in the tree."""

    def __init__(self, tree: gast.AST, manager: PassManager):
        self._activity = manager.get(Activity)
        self._graphs: dict[gast.AST, Graph] = {}

    def graph(self, function: gast.FunctionDef) -> Graph:
        if function not in self._graphs:
            self._graphs[function] = Graph(function, self._activity)
        return self._graphs[function]
