"""Functions on scalars, compiled straight from Python's syntax to LLVM.

Kernels and routines compute with scalars whose dtypes are known where they are written; what touches memory are *instructions*, which
emit a few lines of LLVM. Such code has nothing to infer, and Numba, which infers types and makes machine code of each helper on the way,
takes five to ten times as long over it (docs/decisions/033-own-compiler.md).

The language: names, ints, floats, bools, attributes that are such (`word.ROWS`), `+ - * / // % & | ^ << >>` and comparisons as in Python (a
division of ints by zero gives 0 and no error), `and`, `or`, `not`, `a if c else b`, `abs`, `min`, `max`, casts by NumPy's types
(`float32(x)`); assignments, also of tuples and augmented; `if`, `while`, `for` over a `range` (its step must not be 0) or, where no
iteration touches what another one writes, `independent` (the same to Python); `break`, `pass`, `return`; calls of functions in this
language and of instructions. Parameters and results are int64s unless they are annotated with another dtype, and a variable is of the dtype
of its first value; one that a single statement assigns is known to the end of the block with that. Nothing is promoted but bools to int64
(see `values`).
"""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from llvmlite import binding as llvm
from llvmlite import ir

from .lines import Builder
from .values import I64, TYPES, Arithmetic, Instruction, Mixed, Value, constant, say_independent, slot

_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.BitAnd: "&", ast.BitOr: "|",
              ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>"}  # fmt: skip
_COMPARISON = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_BUILT_IN = ("abs", "min", "max", "range")
INDEPENDENT = "independent"
"""A `range` for a loop whose iterations do not depend on each other: an innermost one needs no test of whether memory overlaps."""
_RANGES = ("range", INDEPENDENT)
_AT_HAND = (ast.Name, ast.Constant)
"""Expressions that compute nothing."""


def computing(*, floats: Sequence[str] = (), wraps: bool = False) -> Callable[[Any], Any]:
    """Decorator that says how a function of the language computes: LLVM's flags for floating point; whether ints wrap around, as those
    of users may, while sizes and offsets never get so large."""

    def mark(function: Any) -> Any:
        function.floats, function.wraps = floats, wraps
        return function

    return mark


def from_source(source: str, scope: dict[str, Any]) -> Any:
    """The function that a generated text defines; names in it are looked up in `scope`."""
    (tree,) = ast.parse(source).body
    assert isinstance(tree, ast.FunctionDef)
    exec(source, scope)
    function = scope[tree.name]
    function.source = source
    return function


@dataclass(frozen=True, eq=False)
class Definition:
    """A function of the language.

    Attributes:
        tree: its syntax; file, line: where that is from.
        look_up: the value of a name of the outside; KeyError if there is none.
        floats, wraps: see `computing`.
    """

    tree: ast.FunctionDef
    file: str
    line: int
    look_up: Callable[[str], Any]
    floats: Sequence[str] = ()
    wraps: bool = False

    @staticmethod
    def of_text(text: str, name: str, scope: Mapping[str, Any]) -> Definition:
        """The one function of a text, with user's numbers in it. `name`: what errors call the text."""
        (tree,) = ast.parse(text).body
        assert isinstance(tree, ast.FunctionDef)
        return Definition(tree, name, 1, scope.__getitem__, wraps=True)

    @staticmethod
    @functools.cache
    def of(function: Any) -> Definition:
        """A function of Python's, read once."""
        text = getattr(function, "source", None) or textwrap.dedent(inspect.getsource(function))
        (tree,) = ast.parse(text).body
        assert isinstance(tree, ast.FunctionDef)
        code = function.__code__
        cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
        names = function.__globals__

        def look_up(name: str) -> Any:
            return cells[name].cell_contents if name in cells else names[name]

        return Definition(tree, code.co_filename, code.co_firstlineno, look_up,
                          getattr(function, "floats", ()), getattr(function, "wraps", False))  # fmt: skip

    @property
    def takes(self) -> list[str]:
        """The dtypes of the parameters."""
        return [_annotated(a.annotation) for a in self.tree.args.args]

    @property
    def gives(self) -> str:
        return _annotated(self.tree.returns)

    @functools.cached_property
    def assigned_once(self) -> set[str]:
        """The variables that one statement assigns, or that are parameters and nothing else."""
        seen = {a.arg for a in self.tree.args.args}
        again: set[str] = set()
        todo: list[ast.stmt] = [*self.tree.body]
        while todo:
            s = todo.pop()
            if isinstance(s, ast.Assign):
                names = [t.id for target in s.targets for t in getattr(target, "elts", (target,)) if isinstance(t, ast.Name)]
            elif isinstance(s, (ast.AugAssign, ast.For)):
                names = [s.target.id] if isinstance(s.target, ast.Name) else []
            else:
                names = []
            for name in names:
                (again if name in seen else seen).add(name)
            todo += [inner for block in blocks_of(s) for inner in block]
        return seen - again


def _annotated(annotation: ast.expr | None) -> str:
    name = annotation.id if isinstance(annotation, ast.Name) else annotation.attr if isinstance(annotation, ast.Attribute) else ""
    return name if name in TYPES and name != "bool" else "int64"  # a routine's bool is a word as any other


def blocks_of(s: ast.stmt) -> list[list[ast.stmt]]:
    """The statements inside one."""
    return [block for name in ("body", "orelse") if (block := getattr(s, name, None))]


def holds_loop(body: list[ast.stmt]) -> bool:
    """Whether there is a loop among statements, or inside them."""
    return any(isinstance(s, (ast.For, ast.While)) or any(map(holds_loop, blocks_of(s))) for s in body)


def module_of(function: Any, symbol: str) -> ir.Module:
    """A module that defines `symbol` as the function or `Definition`, of i64s to an i64, and nothing else that is visible."""
    module = ir.Module(symbol)
    _Functions(module).define(function if isinstance(function, Definition) else Definition.of(function), symbol)
    return module


def optimized(module: ir.Module, machine: llvm.TargetMachine, vectorized: bool = False, interleaved: bool = False,
              unswitched: bool = False) -> llvm.ModuleRef:  # fmt: skip
    """The module after LLVM's passes, for the machine.

    Args:
        vectorized: its loops become loops over vectors. Routines write their vectors out in instructions; for the little that is left to
            do LLVM's own pipeline takes ten times as long, and the code is no faster.
        interleaved: an iteration of these may do several vectors.
        unswitched: where a condition that does not change chooses between values in a loop, there is a loop for each of them.
    """
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    parsed = llvm.parse_assembly(str(module))
    parsed.verify()
    # what the levels above 1 do besides takes a quarter more time, and is worth it where they unswitch only
    options = llvm.create_pipeline_tuning_options(speed_level=3 if unswitched else 1)
    options.slp_vectorization = False
    options.loop_vectorization, options.loop_interleaving = vectorized, interleaved
    options.loop_unrolling = False  # to compile the copies takes a fifth of the time, and they run no faster than the vectorized loop
    builder = llvm.create_pass_builder(machine, options)
    passes = builder.getModulePassManager() if vectorized else _simplifying()
    passes.run(parsed, builder)
    return parsed


def _simplifying() -> llvm.ModulePassManager:
    """Variables become registers, and what is known already is not computed."""
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    passes.add_simplify_cfg_pass()
    passes.add_instruction_combine_pass()
    passes.add_loop_rotate_pass()  # what makes machine code moves things out of loops whose test is at their end
    passes.add_simplify_cfg_pass()
    passes.add_instruction_combine_pass()
    return passes


class _Functions:
    """The functions of a module, each once."""

    def __init__(self, module: ir.Module):
        self.module = module
        self._functions: dict[Definition, ir.Function] = {}

    def define(self, definition: Definition, symbol: str | None = None) -> ir.Function:
        if definition not in self._functions:
            kind = ir.FunctionType(TYPES[definition.gives], [TYPES[dtype] for dtype in definition.takes])
            made = ir.Function(self.module, kind, symbol or f"{definition.tree.name}.{len(self._functions)}")
            made.linkage = "external" if symbol else "internal"
            if definition.floats:
                made.attributes.add("alwaysinline")  # so that the loop around it is vectorized
            self._functions[definition] = made
            _Body(self, definition, made).emit()
        return self._functions[definition]


class _Body:
    """Emits one function. A variable that one statement assigns is a value; the others are slots on the stack, which LLVM turns into
    registers."""

    def __init__(self, functions: _Functions, definition: Definition, made: ir.Function):
        self.functions, self.definition, self.llvm_function = functions, definition, made
        self.build = Builder(made.append_basic_block("entry"))
        self.math = Arithmetic(self.build, definition.floats, exact=not definition.wraps)
        self.slots: dict[str, tuple[str, Any]] = {}
        self.values: dict[str, Value] = {}
        self.ends: list[Any] = []  # where `break` goes, of the loops around

    def emit(self) -> None:
        tree = self.definition.tree
        for argument, dtype, value in zip(tree.args.args, self.definition.takes, self.llvm_function.args, strict=True):
            self.store(argument.arg, Value(dtype, value))
        self.block(tree.body)
        if not self.build.block.is_terminated:
            self.build.ret(constant(0, self.definition.gives).of)

    def fail(self, node: ast.AST, why: str = "is not in the language of `scalars`") -> TypeError:
        line = self.definition.line + getattr(node, "lineno", 1) - 1
        return TypeError(f"{self.definition.file}:{line}: {ast.unparse(node)!r} {why}")

    @contextmanager
    def at(self, node: ast.AST) -> Iterator[None]:
        """Where an operation is, for its error."""
        try:
            yield
        except Mixed as error:
            raise self.fail(node, f"is not in the language of `scalars`: {error}") from None

    # ---- statements ----
    def block(self, body: list[ast.stmt]) -> None:
        outer = {**self.values}
        for s in body:
            if self.build.block.is_terminated:
                raise self.fail(s)
            self.statement(s)
        self.values = outer

    def statement(self, s: ast.stmt) -> None:
        if isinstance(s, ast.Assign) and len(s.targets) == 1:
            self.assign(s.targets[0], s.value)
        elif isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name):
            with self.at(s):
                before = self.name(ast.Name(s.target.id, ast.Load()))
                self.store(s.target.id, self.operation(s, s.op, before, self.value(s.value)))
        elif isinstance(s, ast.Expr):
            if not isinstance(s.value, ast.Constant):  # a docstring
                self.expression(s.value)
        elif isinstance(s, ast.If):
            self.branch(s)
        elif isinstance(s, ast.While) and not s.orelse:
            with self.loop(lambda: self.condition(s.test)):
                self.block(s.body)
        elif isinstance(s, ast.For) and not s.orelse and isinstance(s.target, ast.Name):
            self.range(s, s.target.id)
        elif isinstance(s, ast.Break) and self.ends:
            self.build.branch(self.ends[-1])
        elif isinstance(s, ast.Return):
            with self.at(s):
                value = constant(0) if s.value is None else self.value(s.value)
                self.build.ret(self.math.as_dtype(value, self.definition.gives).of)
        elif not isinstance(s, ast.Pass):
            raise self.fail(s)

    def branch(self, s: ast.If) -> None:
        condition = self.condition(s.test)
        if not s.orelse:
            with self.build.if_then(condition):
                self.block(s.body)
            return
        with self.build.if_else(condition) as (then, otherwise):
            with then:
                self.block(s.body)
            with otherwise:
                self.block(s.orelse)

    def assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            values = [self.value(v) for v in value.elts]
            targets = target.elts
        else:
            values, targets = [self.value(value)], [target]
        for t, v in zip(targets, values, strict=True):
            if not isinstance(t, ast.Name):
                raise self.fail(t)
            try:
                self.store(t.id, v)
            except Mixed as error:
                raise self.fail(t, f"is not in the language of `scalars`: {error}") from None

    def store(self, name: str, value: Value) -> None:
        if name in self.definition.assigned_once:
            self.values[name] = value
            return
        if name not in self.slots:
            self.slots[name] = value.dtype, slot(self.build, TYPES[value.dtype])
        dtype, place = self.slots[name]
        self.build.store(self.math.as_dtype(value, dtype).of, place)

    @contextmanager
    def loop(self, condition: Callable[[], Any], independent: bool = False) -> Iterator[None]:
        """A loop around the code that is added in it. `independent`: its iterations touch nothing that another one writes."""
        head, body, after = (self.build.append_basic_block(name) for name in ("head", "body", "after"))
        self.build.branch(head)
        self.build.position_at_end(head)
        self.build.cbranch(condition(), body, after)
        self.build.position_at_end(body)
        self.ends.append(after)
        yield
        self.ends.pop()
        if not self.build.block.is_terminated:
            back = self.build.branch(head)
            if independent:
                blocks = self.llvm_function.blocks
                say_independent(blocks[blocks.index(body) :], back)
        self.build.position_at_end(after)

    def range(self, s: ast.For, name: str) -> None:
        call = s.iter
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in _RANGES and not call.keywords):
            raise self.fail(s)
        given = [self.integer(a) for a in call.args]
        zero, one = constant(0).of, constant(1).of
        start, stop, step = (zero, given[0], one) if len(given) == 1 else (*given, one)[:3]
        before = self.build.block

        def condition() -> Any:
            at = counter[0] = self.build.phi(I64)
            at.add_incoming(start, before)
            if isinstance(step, ir.Constant):
                return self.build.icmp_signed("<" if step.constant > 0 else ">", at, stop)
            rises, falls = self.build.icmp_signed("<", at, stop), self.build.icmp_signed(">", at, stop)
            return self.build.select(self.build.icmp_signed(">", step, zero), rises, falls)

        counter: list[Any] = [None]
        with self.loop(condition, call.func.id == INDEPENDENT and not holds_loop(s.body)):
            outer = {**self.values}
            self.store(name, Value("int64", counter[0]))
            self.block(s.body)
            self.values = outer
            if not self.build.block.is_terminated:
                counter[0].add_incoming(self.build.add(counter[0], step, flags=("nsw",)), self.build.block)

    # ---- expressions ----
    def expression(self, e: ast.expr) -> Value | None:
        """A value, or None for the call of an instruction without one."""
        emit = _EXPRESSIONS.get(type(e))
        if emit is None:
            raise self.fail(e)
        try:
            return emit(self, e)
        except Mixed as error:
            raise self.fail(e, f"is not in the language of `scalars`: {error}") from None

    def literal(self, e: ast.Constant) -> Value:
        return self.constant(e, e.value)

    def attribute(self, e: ast.Attribute) -> Value:
        return self.constant(e, self.look_up(e))

    def computed(self, e: ast.BinOp) -> Value:
        return self.operation(e, e.op, self.value(e.left), self.value(e.right))

    def comparison(self, e: ast.Compare) -> Value:
        if len(e.ops) != 1 or type(e.ops[0]) not in _COMPARISON:
            raise self.fail(e)
        return self.math.compare(_COMPARISON[type(e.ops[0])], self.value(e.left), self.value(e.comparators[0]))

    def logical(self, e: ast.BoolOp) -> Value:
        first, *rest = e.values
        tail = rest[0] if len(rest) == 1 else ast.copy_location(ast.BoolOp(e.op, rest), e)
        known = constant(isinstance(e.op, ast.Or))
        follow = lambda: Value("bool", self.condition(tail))  # noqa: E731
        stop = lambda: known  # noqa: E731
        return self.choose(e, first, *((stop, follow) if isinstance(e.op, ast.Or) else (follow, stop)))

    def either(self, e: ast.IfExp) -> Value:
        if isinstance(e.body, _AT_HAND) and isinstance(e.orelse, _AT_HAND):
            return self.math.select(self.math.cast(self.value(e.test), "bool"), self.value(e.body), self.value(e.orelse))
        return self.choose(e, e.test, lambda: self.value(e.body), lambda: self.value(e.orelse))

    def value(self, e: ast.expr) -> Value:
        value = self.expression(e)
        if value is None:
            raise self.fail(e)
        return value

    def integer(self, e: ast.expr) -> Any:
        with self.at(e):
            return self.math.as_dtype(self.value(e), "int64").of

    def condition(self, e: ast.expr) -> Any:
        return self.math.cast(self.value(e), "bool").of

    def unary(self, e: ast.UnaryOp) -> Value:
        if isinstance(e.op, ast.Not):
            return self.math.inverted(Value("bool", self.condition(e.operand)))
        operand = self.value(e.operand)
        if isinstance(e.op, ast.USub):
            negated = isinstance(operand.of, ir.Constant) and operand.dtype in ("int64", "float64")
            return constant(-operand.of.constant) if negated else self.math.negative(operand)
        if isinstance(e.op, ast.Invert):
            return self.math.inverted(operand)
        raise self.fail(e)

    def operation(self, node: ast.AST, op: ast.operator, a: Value, b: Value) -> Value:
        if type(op) not in _OPERATORS:
            raise self.fail(node)
        return self.math.binary(_OPERATORS[type(op)], a, b)

    def choose(self, node: ast.expr, test: ast.expr, then: Callable[[], Value], otherwise: Callable[[], Value]) -> Value:
        """One of two values, of which only one is computed."""
        condition = self.condition(test)
        first, second, after = (self.build.append_basic_block(name) for name in ("then", "else", "after"))
        self.build.cbranch(condition, first, second)
        came = []
        for block, make in ((first, then), (second, otherwise)):
            self.build.position_at_end(block)
            came.append((make(), self.build.block))
        dtype = max((v.dtype for v, _ in came), key=lambda dtype: dtype != "bool")
        values = []
        for value, block in came:
            self.build.position_at_end(block)
            with self.at(node):
                values.append((self.math.as_dtype(value, dtype).of, block))
            self.build.branch(after)
        self.build.position_at_end(after)
        result = self.build.phi(TYPES[dtype])
        for value, block in values:
            result.add_incoming(value, block)
        return Value(dtype, result)

    def name(self, e: ast.Name) -> Value:
        if e.id in self.values:
            return self.values[e.id]
        if e.id in self.slots:
            dtype, place = self.slots[e.id]
            return Value(dtype, self.build.load(place))
        return self.constant(e, self.look_up(e))

    def look_up(self, e: ast.expr) -> Any:
        if isinstance(e, ast.Attribute):
            return getattr(self.look_up(e.value), e.attr)
        if isinstance(e, ast.Name):
            try:
                return self.definition.look_up(e.id)
            except KeyError:
                pass
        raise self.fail(e)

    def constant(self, e: ast.expr, value: Any) -> Value:
        if type(value) not in (bool, int, float):
            raise self.fail(e)
        return constant(value)

    def call(self, e: ast.Call) -> Value | None:
        if e.keywords:
            raise self.fail(e)
        operands = [self.value(a) for a in e.args]
        if isinstance(e.func, ast.Name) and e.func.id in _BUILT_IN:
            return self.built_in(e, e.func.id, operands)
        called = self.look_up(e.func)
        if isinstance(called, Instruction):
            takes = called.takes or ("int64",) * len(operands)
            result = called.emit(self.build, *self.operands(e, takes, operands))
            return None if result is None else Value(called.gives, result)
        if isinstance(called, type) and called.__name__ in TYPES and len(operands) == 1:
            return self.math.cast(operands[0], called.__name__)
        if not inspect.isfunction(called):
            raise self.fail(e)
        definition = Definition.of(called)
        function = self.functions.define(definition)
        return Value(definition.gives, self.build.call(function, self.operands(e, definition.takes, operands)))

    def operands(self, e: ast.Call, takes: Sequence[str], operands: Sequence[Value]) -> list[Any]:
        if len(takes) != len(operands):
            raise self.fail(e)
        return [self.math.as_dtype(v, dtype).of for v, dtype in zip(operands, takes, strict=True)]

    def built_in(self, e: ast.Call, name: str, operands: list[Value]) -> Value:
        if name == "abs" and len(operands) == 1:
            return self.math.absolute(operands[0])
        if name not in ("min", "max") or len(operands) < 2:
            raise self.fail(e)
        result, *others = operands
        for other in others:
            result = self.math.select(self.math.compare("<" if name == "min" else ">", other, result), other, result)
        return result


_EXPRESSIONS: dict[type[ast.expr], Callable[[_Body, Any], Value | None]] = {
    ast.Name: _Body.name, ast.Constant: _Body.literal, ast.BinOp: _Body.computed, ast.Call: _Body.call, ast.Compare: _Body.comparison,
    ast.IfExp: _Body.either, ast.UnaryOp: _Body.unary, ast.BoolOp: _Body.logical, ast.Attribute: _Body.attribute}  # fmt: skip
