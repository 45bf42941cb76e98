"""A function cut at some of its statements: these stay Python, the runs of statements between them become functions of their own.

A *piece* is a run of statements as a function: its parameters are the variables that the run needs, and it returns those that are
needed after it. The *mixed* function is the user's with a call of its piece in the place of each run. Of a compound statement that
holds a cut the header stays, and its blocks are cut in turn; a `try` stays as a whole, since a piece is done or not, but never half.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import gast
from dy2st_runtime.errors import Location

from dy2st.transpiler import loader, nodes, origin
from dy2st.transpiler.again import said_before
from dy2st.transpiler.analysis.activity import Activity, Effects, statement_parts
from dy2st.transpiler.analysis.cfg import ControlFlow, may_swallow
from dy2st.transpiler.analysis.liveness import Liveness
from dy2st.transpiler.analysis.reaching_definitions import ReachingDefinitions
from dy2st.transpiler.manager import Context, PassManager
from dy2st.transpiler.passes.check_unsupported import frame_reader
from dy2st.transpiler.passes.declarations import Declarations
from dy2st.transpiler.passes.super_call import SuperCall
from dy2st.transpiler.source import Source, get_source, provide, stands_in_file

CALLED = "_dy_called"
"""What the mixed function calls `f` by in a cut statement: `_dy_called(f)(x)`."""

_PIECE = "_dy_piece_"
_OPERATIONS = (gast.BinOp, gast.UnaryOp, gast.BoolOp, gast.Compare, gast.Subscript, gast.AugAssign, gast.IfExp)
_SUSPENDING = (gast.Yield, gast.YieldFrom, gast.Await, gast.AsyncFor, gast.AsyncWith)
_FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)
_DECLARATIONS = (gast.Global, gast.Nonlocal)


@dataclass(frozen=True)
class Piece:
    """A run of statements as a function.

    Attributes:
        name: the variable that the mixed function knows it by.
        function: the function, with the cells and globals of the original.
        returns: whether it ends the user's function, so that its result is that one's.
    """

    name: str
    function: types.FunctionType
    returns: bool


@dataclass(frozen=True)
class Mixed:
    """A function with its pieces.

    Attributes:
        method: whether all pieces take the object first that the function is a method of.
        through: whether calls are made by way of `CALLED`.
    """

    code: types.CodeType
    pieces: tuple[Piece, ...]
    method: bool
    through: bool

    def bind(self, original: types.FunctionType, values: dict[str, object]) -> types.FunctionType:
        """The mixed function; `values` are what it knows its pieces and `CALLED` by."""
        return loader.bind_code(self.code, original, values)


def statement_at(function: types.FunctionType, place: Location) -> Location | None:
    """Where the innermost statement of the function begins that a place is in; None if it is in none, or in a function inside.

    Raises:
        ConversionError: the source is not to be had.
    """
    source = get_source(function)
    found = None if source.file != place.file else _innermost(source.tree.body, place)
    return None if found is None else origin.of(found)


def only_statement(function: types.FunctionType) -> Location | None:
    """Where the one statement of the function begins that is the user's and no declaration; None if there are several."""
    found = [s for s in get_source(function).tree.body if not (getattr(s, "added", False) or isinstance(s, _DECLARATIONS))]
    return origin.of(found[0]) if len(found) == 1 else None


def readers(function: types.FunctionType, names: Collection[str]) -> list[Location]:
    """Where the innermost statements of the function begin that read or assign one of the variables themselves."""
    source = get_source(function)
    activity = PassManager(source.tree).get(Activity)

    def search(block: Iterable[gast.AST]) -> Iterator[Location]:
        for statement in block:
            if getattr(statement, "added", False):
                continue
            blocks = nodes.blocks(statement)
            effects = activity.effects(statement_parts(statement) if blocks else [statement])
            if any(n.id in names for n in (*effects.reads, *effects.captured)) or any(n in names for n in effects.bound()):
                place = origin.of(statement)
                assert place is not None
                yield place
            for inner in blocks:
                yield from search(inner)

    return list(search(source.tree.body))


def reads_its_frame(function: types.FunctionType) -> bool:
    """Whether a function looks at its variables as such (`locals()`), which would show that it is cut; ConversionError without source."""
    return any(frame_reader(n) is not None for n in nodes.walk_scope(get_source(function).tree.body))


def differentiates_gradients(function: types.FunctionType) -> bool:
    """Whether a function asks for gradients with a graph (`create_graph=True`), which the pieces before it have none of; ConversionError
    without source."""
    keywords = (n for n in gast.walk(get_source(function).tree) if isinstance(n, gast.keyword))
    return any(k.arg == "create_graph" and not (isinstance(k.value, gast.Constant) and not k.value.value) for k in keywords)


def split(function: types.FunctionType, cuts: Collection[Location], through: Collection[Location] = (), *,
          apart: bool = False, method: bool = False) -> Mixed:  # fmt: skip
    """Cuts a function.

    Args:
        function: a Python function.
        cuts: where the statements begin that are to stay Python.
        through: those of them whose calls are made by way of `CALLED`.
        apart: each statement becomes a piece of its own.
        method: whether the first parameter is the object that the function is a method of, so that all pieces are to be methods too.

    Raises:
        ConversionError: the source is not to be had.
    """
    source = get_source(function)
    tree = source.tree
    manager = PassManager(tree, Context(tree, function.__code__.co_freevars))
    for one in (SuperCall, Declarations):
        manager.apply(one)
    tree.decorator_list, tree.returns, tree.type_params = [], None, []
    for parameter in nodes.parameters(tree.args):
        parameter.annotation = None
    return _Splitter(manager, source, function, set(cuts), set(through), method).split(apart)


class _Splitter:
    def __init__(self, manager: PassManager, source: Source, function: types.FunctionType, cuts: set[Location],
                 through: set[Location], method: bool):  # fmt: skip
        tree = manager.tree
        assert isinstance(tree, gast.FunctionDef)
        self.tree, self.source, self.function, self.cuts, self.through = tree, source, function, cuts, through
        self.activity = manager.get(Activity)
        self.scope = self.activity.scope(tree)
        self.live = manager.get(Liveness).of(tree)
        self.reaching = manager.get(ReachingDefinitions).of(tree)
        self.graph = manager.get(ControlFlow).graph(tree)
        first = next(iter(self.scope.parameters), None)
        self.owner = first if method and first not in self.scope.effects.bound() else None
        self.pieces: list[Piece] = []
        self.loops = 0

    def split(self, apart: bool) -> Mixed:
        docstring, body = nodes.split_docstring(self.tree.body)
        if not apart:
            body = self.block(body, tail=True)
        else:
            body = [s for one in body for s in self.block([one], tail=one is body[-1])]
        self.tree.body = [*docstring, *body] or [gast.Pass()]
        free = self.function.__code__.co_freevars
        code = self.compiled(self.tree, [CALLED, *(p.name for p in self.pieces), *free])
        return Mixed(code, tuple(self.pieces), self.owner is not None, bool(self.through))

    # ---- what stays and what goes ----
    def block(self, statements: Sequence[gast.AST], tail: bool, caught: bool = False) -> list:
        """The statements with calls of pieces for runs of them.

        Args:
            tail: the function is at its end behind the block.
            caught: an exception in the block may be caught by the function itself, which could then see what was done before.
        """
        if caught:
            return list(statements)
        result: list = []
        run: list = []
        for statement in statements:
            if self.must_stay(statement):
                result += self.flush(run, False)
                result += self.opened(statement, tail and statement is statements[-1])
                run = []
            else:
                run.append(statement)
        return result + self.flush(run, tail)

    def must_stay(self, statement: gast.AST) -> bool:
        below = list(nodes.walk_scope([statement]))
        return (
            isinstance(statement, _DECLARATIONS)
            or getattr(statement, "added", False)
            or any(isinstance(n, gast.stmt) and origin.of(n) in self.cuts for n in below)
            or any(isinstance(n, _SUSPENDING) for n in below)
            or any(isinstance(n, gast.Name) and isinstance(n.ctx, gast.Del) for n in below)
            or _jumps_out(statement)
            or _raises_again(statement)
        )

    def flush(self, run: list, tail: bool) -> list:
        """A call of a piece in the place of a run, if it can be one and is worth it."""
        if not run:
            return []
        returns = tail or isinstance(run[-1], (gast.Return, gast.Raise))
        if not returns and any(map(_may_return, run)):
            # what may leave the function here, and may not, stays Python as far as the decision goes
            i = next(i for i, s in enumerate(run) if _may_return(s))
            return [*self.flush(run[:i], False), *self.opened(run[i], False), *self.flush(run[i + 1 :], False)]
        if not _is_worth_it(run):
            return run
        interface = self.interface(run, returns)
        if interface is not None:
            return [self.cut_out(run, *interface, returns)]
        if len(run) == 1:
            return self.opened(run[0], tail)
        return [s for one in run for s in self.flush([one], tail and one is run[-1])]

    def opened(self, statement: gast.AST, tail: bool) -> list:
        """The statement with its header as it is, and its blocks cut."""
        if origin.of(statement) in self.through:
            _call_through(statement)
        if isinstance(statement, gast.If):
            statement.body, statement.orelse = self.block(statement.body, tail), self.block(statement.orelse, tail)
        elif isinstance(statement, (gast.For, gast.While, gast.AsyncFor)):
            self.loops += 1
            statement.body = self.block(statement.body, False)
            self.loops -= 1
            statement.orelse = self.block(statement.orelse, tail)
        elif isinstance(statement, (gast.With, gast.AsyncWith)):
            statement.body = self.block(statement.body, tail, caught=any(map(may_swallow, statement.items)))
        elif isinstance(statement, gast.Match):
            for case in statement.cases:
                case.body = self.block(case.body, tail)
        elif isinstance(statement, (gast.Try, gast.TryStar)):
            seen = bool(statement.finalbody)
            for handler in statement.handlers:
                handler.body = self.block(handler.body, tail and not seen, caught=seen)
            statement.orelse = self.block(statement.orelse, tail and not seen, caught=seen)
            statement.finalbody = self.block(statement.finalbody, False)
        return [statement]

    # ---- pieces ----
    def interface(self, run: list, returns: bool) -> tuple[list[str], list[str]] | None:
        """The variables that a run needs, and those that are needed after it; None if it cannot be a function."""
        effects = self.activity.effects(run)
        touched = {n.id for n in (*effects.reads, *effects.captured)} | set(effects.bound())
        if any(not self.can_be_apart(n, run, effects) for n in touched & self.cells()):
            return None
        entry = self.graph.entry[run[0]]
        inputs = [n for n in self.scope.locals if n in touched and self.live.at(entry, n)
                  and (n in self.scope.parameters or self.reaching.reached(entry, n))]  # fmt: skip
        if any(self.reaching.maybe_unset(entry, n) for n in inputs):
            return None
        outputs: list[str] = []
        if not returns:
            exit_ = self.graph.exit.get(run[-1])
            points = self.graph.entry[run[-1]].successors if exit_ is None else [exit_]
            outputs = [n for n in self.scope.locals if n in effects.bound()
                       and (n in self.scope.deleted or any(self.live.at(p, n) for p in points))]  # fmt: skip
            if any(self.reaching.maybe_unset(p, n) for p in points for n in outputs):
                return None
        if self.owner is not None:
            inputs = [self.owner, *(n for n in inputs if n != self.owner)]
        return inputs, outputs

    def cells(self) -> set[str]:
        """The variables that functions made here share with this one."""
        return {*self.scope.captured, *self.scope.rebound_inside} & set(self.scope.locals)

    def can_be_apart(self, name: str, run: list, effects: Effects) -> bool:
        """Whether a run may have its own copy of a variable that it shares with functions made in this one."""
        if _count(run, name) == _count(self.tree.body, name) and name not in self.scope.parameters:
            return True
        if name in self.scope.rebound_inside or name in effects.bound():
            return False
        if any(n.id == name for n in effects.captured):
            # a function made in the run keeps the variable: its value must be the last one
            stores = _count(self.tree.body, name, stores=True)
            return self.loops == 0 and stores <= (name not in self.scope.parameters)
        return True

    def cut_out(self, run: list, inputs: list[str], outputs: list[str], returns: bool) -> gast.AST:
        """Makes a piece of a run; the statement that stands in its place."""
        first, last = run[0], run[-1]
        name = f"{_PIECE}{len(self.pieces)}"
        call = nodes.call(nodes.name(name), *map(nodes.name, inputs))
        new: gast.AST
        if returns:
            new = nodes.return_(call)
        elif outputs:
            new = nodes.assign(nodes.tuple_of(map(nodes.store, outputs)), call)
        else:
            new = nodes.expr(call)
        body = list(run)
        if not returns:
            body.append(_at(nodes.return_(nodes.tuple_of(map(nodes.name, outputs))), last))
            body[-1].added = True
        bound = self.activity.effects(run).bound()
        for kind, names in ((gast.Nonlocal, self.scope.nonlocals), (gast.Global, self.scope.globals)):
            if declared := [n for n in names if n in bound]:
                body.insert(0, _at(kind(declared), first))
        tree = _at(nodes.function(self.tree.name, inputs, body), first)
        source = Source(tree, self.source.file, first.lineno, self.source.text, self.source.class_name, self.source.name)  # type: ignore[arg-type]
        function = loader.bind_code(self.compiled(tree, self.function.__code__.co_freevars), self.function, {})  # type: ignore[arg-type]
        function.__defaults__ = function.__kwdefaults__ = None
        provide(function.__code__, source)
        self.pieces.append(Piece(name, function, returns))
        return _at(new, first)

    def compiled(self, tree: gast.FunctionDef, around: Sequence[str]) -> types.CodeType:
        """The code of a function of the user's statements, at their own lines."""
        module, depth = loader.enclosed(nodes.copy(tree), self.source, around)  # type: ignore[arg-type]
        plain = ast.fix_missing_locations(gast.gast_to_ast(module))
        code = self.function.__code__
        with said_before():
            compiled = compile(plain, self.source.file, "exec", dont_inherit=True, flags=code.co_flags & loader.FUTURE)
        found = loader.named_as(loader.inner(compiled, depth), code, ())
        stands_in_file(found)
        return found


def _innermost(block: Iterable[gast.AST], place: Location) -> gast.AST | None:
    for statement in block:
        if not statement.lineno <= place.line <= statement.end_lineno:
            continue
        if statement.lineno == statement.end_lineno and not statement.col_offset <= place.col < statement.end_col_offset:
            continue  # another statement of the same line
        for inner in nodes.blocks(statement):
            found = _innermost(inner, place)
            if found is not None:
                return found
        inside = isinstance(statement, _FUNCTIONS) and place.line >= statement.body[0].lineno
        return None if inside else statement
    return None


def _raises_again(node: gast.AST) -> bool:
    """Whether a `raise` without an exception, which is that of a handler around the code, is in it."""
    if isinstance(node, gast.Raise):
        return node.exc is None
    return not isinstance(node, gast.ExceptHandler) and any(map(_raises_again, nodes.children(node)))


def _jumps_out(statement: gast.AST) -> bool:
    """Whether a `break` or `continue` in the statement belongs to a loop around it."""
    if isinstance(statement, (gast.Break, gast.Continue)):
        return True
    blocks = nodes.blocks(statement)
    if isinstance(statement, (gast.For, gast.While, gast.AsyncFor)):
        blocks = [statement.orelse]
    return any(_jumps_out(s) for block in blocks for s in block)


def _may_return(statement: gast.AST) -> bool:
    return any(isinstance(n, gast.Return) for n in nodes.walk_scope([statement]))


def _is_worth_it(run: list) -> bool:
    """Whether a run does more than what costs less than the call of a piece."""
    operations = 0
    for node in nodes.walk_scope(run):
        if nodes.blocks(node) or isinstance(node, (gast.Call, *nodes.Comprehension)):
            return True
        operations += isinstance(node, _OPERATIONS)
    return operations > 1


def _count(roots: Iterable[gast.AST], name: str, *, stores: bool = False) -> int:
    """How often a variable occurs, or is assigned."""
    found = (n for root in roots for n in gast.walk(root) if isinstance(n, gast.Name) and n.id == name)
    return sum(not (stores and isinstance(n.ctx, gast.Load)) for n in found)


class _ByWay(gast.NodeTransformer):
    def __init__(self, statement: gast.AST):
        self.statement = statement

    def visit_Call(self, node: gast.Call) -> gast.AST:
        self.generic_visit(node)
        # a call that a pass has made has no place of its own
        node.func = _at(nodes.call(nodes.name(CALLED), node.func), node if hasattr(node, "lineno") else self.statement)
        return node


def _call_through(statement: gast.AST) -> None:
    """Makes the calls of a statement, but not those in its blocks, by way of `CALLED`."""
    by_way = _ByWay(statement)
    for field in statement._fields:
        value = getattr(statement, field, None)
        if isinstance(value, gast.AST):
            setattr(statement, field, by_way.visit(value))
        elif isinstance(value, list):
            value[:] = [by_way.visit(v) if isinstance(v, (gast.expr, gast.withitem, gast.keyword)) else v for v in value]


def _at(tree: gast.AST, statement: gast.AST) -> gast.AST:
    """Gives the new nodes of a tree the place of a statement; returns the tree."""
    if not hasattr(tree, "lineno"):
        for field in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
            setattr(tree, field, getattr(statement, field))
        for child in gast.iter_child_nodes(tree):
            _at(child, statement)
    return origin.inherit(tree, statement)
