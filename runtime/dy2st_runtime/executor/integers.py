"""Functions on 64-bit integers, compiled straight from Python's syntax to LLVM.

The routines compute with sizes, offsets and addresses only; what touches elements are *instructions*, which emit a few
lines of LLVM. Such code has nothing to infer, and Numba, which infers types and makes machine code of each helper on the way, takes
seconds for what takes LLVM some hundredths of one.

The language: names, ints and bools, attributes that are ints (`word.ROWS`), `+ - * // %` and comparisons as in Python (a division by
zero gives 0 and no error), `and`, `or`, `not`, `a if c else b`, `min`, `max`; assignments, also of tuples and augmented; `if`, `while`,
`for` over a `range` with a positive step, `return`; calls of functions in this language and of instructions. Numbers must fit 64 bits.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from llvmlite import binding as llvm
from llvmlite import ir

I64 = ir.IntType(64)
_ARITHMETIC = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul"}
_COMPARISON = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


@dataclass(frozen=True)
class Instruction:
    """What a function does to memory: `emit(builder, *operands)` adds LLVM code, and returns an i64 or None. Constants among the
    operands are `ir.Constant`s."""

    emit: Callable[..., Any]

    def __call__(self, *operands: int) -> int:
        raise TypeError("an instruction is compiled, it does not run in Python")


instruction = Instruction


def external(name: str) -> Instruction:
    """A function of another object, by its symbol."""

    def emit(builder: ir.IRBuilder, *operands: Any) -> Any:
        function = builder.module.globals.get(name)
        if function is None:
            function = ir.Function(builder.module, ir.FunctionType(I64, [I64] * len(operands)), name)
        return builder.call(function, operands)

    return Instruction(emit)


def from_source(source: str, scope: dict[str, Any]) -> Any:
    """The function that a generated text defines; names in it are looked up in `scope`."""
    (tree,) = ast.parse(source).body
    assert isinstance(tree, ast.FunctionDef)
    exec(source, scope)
    function = scope[tree.name]
    function.source = source
    return function


def module_of(function: Any, symbol: str) -> ir.Module:
    """A module that defines `symbol` as the function, of i64s to an i64, and nothing else that is visible."""
    module = ir.Module(symbol)
    _Functions(module).define(function, symbol)
    return module


def optimized(module: ir.Module, machine: llvm.TargetMachine) -> llvm.ModuleRef:
    """The module after LLVM's passes, for the machine."""
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    parsed = llvm.parse_assembly(str(module))
    parsed.verify()
    # vectors are written out in instructions; vectorizing the loops around them would only take longer to compile
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = options.slp_vectorization = options.loop_interleaving = False
    passes = llvm.create_pass_builder(machine, options)
    passes.getModulePassManager().run(parsed, passes)
    return parsed


class _Functions:
    """The functions of a module, each once."""

    def __init__(self, module: ir.Module):
        self.module = module
        self._made: dict[Any, ir.Function] = {}

    def define(self, function: Any, symbol: str | None = None) -> ir.Function:
        if function not in self._made:
            text = getattr(function, "source", None) or textwrap.dedent(inspect.getsource(function))
            (tree,) = ast.parse(text).body
            assert isinstance(tree, ast.FunctionDef)
            count = function.__code__.co_argcount
            made = ir.Function(self.module, ir.FunctionType(I64, [I64] * count), symbol or f"{tree.name}.{len(self._made)}")
            made.linkage = "external" if symbol else "internal"
            self._made[function] = made
            _Body(self, function, tree, made).emit()
        return self._made[function]


class _Body:
    """Emits one function. Locals are slots on the stack, which LLVM turns into registers; a condition is an i1, anything else an i64."""

    def __init__(self, functions: _Functions, function: Any, tree: ast.FunctionDef, made: ir.Function):
        self.functions, self.function, self.tree, self.made = functions, function, tree, made
        self.build = ir.IRBuilder(made.append_basic_block("entry"))
        closure = function.__closure__ or ()
        self.outside = {**function.__globals__,
                        **{n: c.cell_contents for n, c in zip(function.__code__.co_freevars, closure, strict=True)}}  # fmt: skip
        self.slots = {name: self.build.alloca(I64, name=name) for name in function.__code__.co_varnames}

    def emit(self) -> None:
        for argument, value in zip(self.tree.args.args, self.made.args, strict=True):
            self.build.store(value, self.slots[argument.arg])
        self.block(self.tree.body)
        if not self.build.block.is_terminated:
            self.build.ret(ir.Constant(I64, 0))

    def fail(self, node: ast.AST) -> TypeError:
        line = self.function.__code__.co_firstlineno + getattr(node, "lineno", 1) - 1
        return TypeError(f"{self.function.__code__.co_filename}:{line}: {ast.unparse(node)!r} is not in the language of `integers`")

    # ---- statements ----
    def block(self, body: list[ast.stmt]) -> None:
        for s in body:
            if self.build.block.is_terminated:
                raise self.fail(s)
            self.statement(s)

    def statement(self, s: ast.stmt) -> None:
        if isinstance(s, ast.Assign) and len(s.targets) == 1:
            self.assign(s.targets[0], s.value)
        elif isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name):
            value = self.arithmetic(s, s.op, self.name(ast.Name(s.target.id, ast.Load())), self.integer(s.value))
            self.build.store(value, self.slots[s.target.id])
        elif isinstance(s, ast.Expr):
            if not isinstance(s.value, ast.Constant):  # a docstring
                self.expression(s.value)
        elif isinstance(s, ast.If):
            with self.build.if_else(self.condition(s.test)) as (then, otherwise):
                with then:
                    self.block(s.body)
                with otherwise:
                    self.block(s.orelse)
        elif isinstance(s, ast.While) and not s.orelse:
            with self.loop(lambda: self.condition(s.test)):
                self.block(s.body)
        elif isinstance(s, ast.For) and not s.orelse and isinstance(s.target, ast.Name):
            self.range(s, s.target.id)
        elif isinstance(s, ast.Return):
            self.build.ret(ir.Constant(I64, 0) if s.value is None else self.integer(s.value))
        else:
            raise self.fail(s)

    def assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            values = [self.integer(v) for v in value.elts]
            targets = target.elts
        else:
            values, targets = [self.integer(value)], [target]
        for t, v in zip(targets, values, strict=True):
            if not isinstance(t, ast.Name):
                raise self.fail(t)
            self.build.store(v, self.slots[t.id])

    @contextmanager
    def loop(self, condition: Callable[[], Any]) -> Iterator[None]:
        head, body, after = (self.build.append_basic_block(name) for name in ("head", "body", "after"))
        self.build.branch(head)
        self.build.position_at_end(head)
        self.build.cbranch(condition(), body, after)
        self.build.position_at_end(body)
        yield
        if not self.build.block.is_terminated:
            self.build.branch(head)
        self.build.position_at_end(after)

    def range(self, s: ast.For, name: str) -> None:
        call = s.iter
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range" and not call.keywords):
            raise self.fail(s)
        given = [self.integer(a) for a in call.args]
        zero, one = ir.Constant(I64, 0), ir.Constant(I64, 1)
        start, stop, step = (zero, given[0], one) if len(given) == 1 else (*given, one)[:3]
        with self.build.goto_entry_block():
            counter = self.build.alloca(I64)
        self.build.store(start, counter)
        with self.loop(lambda: self.build.icmp_signed("<", self.build.load(counter), stop)):
            self.build.store(self.build.load(counter), self.slots[name])
            self.block(s.body)
            self.build.store(self.build.add(self.build.load(counter), step, flags=("nsw",)), counter)

    # ---- expressions ----
    def expression(self, e: ast.expr) -> Any:
        """An i64, an i1, or None for the call of an instruction without a value."""
        if isinstance(e, ast.Constant) and type(e.value) is bool:
            return ir.Constant(ir.IntType(1), int(e.value))
        if isinstance(e, ast.Constant) and type(e.value) is int:
            return ir.Constant(I64, e.value)
        if isinstance(e, ast.Name):
            return self.name(e)
        if isinstance(e, ast.Attribute):
            return self.constant(e, self.lookup(e))
        if isinstance(e, ast.BinOp):
            return self.arithmetic(e, e.op, self.integer(e.left), self.integer(e.right))
        if isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.USub):
            return self.build.neg(self.integer(e.operand))
        if isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.Not):
            return self.build.not_(self.condition(e.operand))
        if isinstance(e, ast.Compare) and len(e.ops) == 1 and type(e.ops[0]) in _COMPARISON:
            sign = _COMPARISON[type(e.ops[0])]
            return self.build.icmp_signed(sign, self.integer(e.left), self.integer(e.comparators[0]))
        if isinstance(e, ast.BoolOp):
            first, *rest = e.values
            tail = rest[0] if len(rest) == 1 else ast.BoolOp(e.op, rest)
            known = ir.Constant(ir.IntType(1), int(isinstance(e.op, ast.Or)))
            follow = lambda: self.condition(tail)  # noqa: E731
            stop = lambda: known  # noqa: E731
            return self.choose(first, *((stop, follow) if isinstance(e.op, ast.Or) else (follow, stop)))
        if isinstance(e, ast.IfExp):
            return self.choose(e.test, lambda: self.integer(e.body), lambda: self.integer(e.orelse))
        if isinstance(e, ast.Call) and not e.keywords:
            return self.call(e)
        raise self.fail(e)

    def integer(self, e: ast.expr) -> Any:
        value = self.expression(e)
        if value is None:
            raise self.fail(e)
        return value if value.type == I64 else self.build.zext(value, I64)

    def condition(self, e: ast.expr) -> Any:
        value = self.expression(e)
        if value is None:
            raise self.fail(e)
        return value if value.type == ir.IntType(1) else self.build.icmp_signed("!=", value, ir.Constant(I64, 0))

    def choose(self, test: ast.expr, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
        """One of two values, of which only one is computed."""
        condition = self.condition(test)
        first, second, after = (self.build.append_basic_block(name) for name in ("then", "else", "after"))
        self.build.cbranch(condition, first, second)
        came = []
        for block, value in ((first, then), (second, otherwise)):
            self.build.position_at_end(block)
            came.append((value(), self.build.block))
            self.build.branch(after)
        self.build.position_at_end(after)
        result = self.build.phi(came[0][0].type)
        for value, block in came:
            result.add_incoming(value, block)
        return result

    def name(self, e: ast.Name) -> Any:
        return self.build.load(self.slots[e.id]) if e.id in self.slots else self.constant(e, self.lookup(e))

    def lookup(self, e: ast.expr) -> Any:
        if isinstance(e, ast.Name) and e.id in self.outside:
            return self.outside[e.id]
        if isinstance(e, ast.Attribute):
            return getattr(self.lookup(e.value), e.attr)
        raise self.fail(e)

    def constant(self, e: ast.expr, value: Any) -> Any:
        if type(value) is not int:
            raise self.fail(e)
        return ir.Constant(I64, value)

    def arithmetic(self, node: ast.AST, op: ast.operator, a: Any, b: Any) -> Any:
        if type(op) in _ARITHMETIC:
            return getattr(self.build, _ARITHMETIC[type(op)])(a, b, flags=("nsw",))
        if isinstance(op, (ast.FloorDiv, ast.Mod)):
            return self.divide(a, b, isinstance(op, ast.Mod))
        raise self.fail(node)

    def divide(self, a: Any, b: Any, remainder: bool) -> Any:
        """Rounded towards minus infinity, the remainder with the divisor's sign; 0 where b is 0."""
        build, zero = self.build, ir.Constant(I64, 0)
        none = build.icmp_signed("==", b, zero)
        divisor = build.select(none, ir.Constant(I64, 1), b)
        quotient, rest = build.sdiv(a, divisor), build.srem(a, divisor)
        below = build.and_(build.icmp_signed("!=", rest, zero), build.icmp_signed("<", build.xor(rest, divisor), zero))
        if remainder:
            value = build.add(rest, build.select(below, divisor, zero))
        else:
            value = build.sub(quotient, build.zext(below, I64))
        return build.select(none, zero, value)

    def call(self, e: ast.Call) -> Any:
        if isinstance(e.func, ast.Name) and e.func.id in ("min", "max") and len(e.args) >= 2:
            result, *others = (self.integer(a) for a in e.args)
            for other in others:
                sign = "<" if e.func.id == "min" else ">"
                result = self.build.select(self.build.icmp_signed(sign, other, result), other, result)
            return result
        called = self.lookup(e.func)
        operands = [self.integer(a) for a in e.args]
        if isinstance(called, Instruction):
            return called.emit(self.build, *operands)
        if not inspect.isfunction(called) or called.__code__.co_argcount != len(operands):
            raise self.fail(e)
        return self.build.call(self.functions.define(called), operands)
