"""Random structured programs: the same source as a Program with cond and while_loop, and as the straight line of ops that a
run on given feeds takes."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import dy2st_runtime.ops  # noqa: F401
import numpy as np
from dy2st_runtime import reference
from dy2st_runtime.ir import IRBuilder, Operator, Program, Variable

FLOATS = ("a", "b", "c", "d")
"""Variables of the source, float64[2, 3] each; `w` is float64[3], read only, and `n` an int64."""


@dataclass
class Assign:
    target: str
    op: str
    x: str
    y: str


@dataclass
class Swap:
    x: str
    y: str


@dataclass
class If:
    test: str
    limit: float
    true: list[Any]
    false: list[Any]


@dataclass
class While:
    """At most `most` rounds, at most n of them, and only while `go` (the mean of a variable is below a limit): a lowered break."""

    most: int
    test: str
    limit: float
    body: list[Any] = field(default_factory=list)


UNARY = ("tanh", "scale", "exp", "assign", "square")
BINARY = ("elementwise_add", "elementwise_mul", "elementwise_sub", "times_w", "plus_w", "matmul", "halves")


def random_source(rng: random.Random, size: int = 6, depth: int = 2) -> list[Any]:
    """A list of statements."""
    statements: list[Any] = []
    for _ in range(rng.randint(1, size)):
        kind = rng.choice(("assign",) * 4 + ("swap",) + (("if", "while") * 2 if depth else ()))
        if kind == "assign":
            statements.append(
                Assign(rng.choice(FLOATS), rng.choice(UNARY + BINARY), rng.choice(FLOATS), rng.choice(FLOATS))
            )
        elif kind == "swap":
            statements.append(Swap(rng.choice(FLOATS), rng.choice(FLOATS)))
        elif kind == "if":
            parts = [random_source(rng, 3, depth - 1) if rng.random() < 0.8 else [] for _ in range(2)]
            statements.append(If(rng.choice(FLOATS), rng.choice((-0.3, 0.0, 0.3)), *parts))
        else:
            statements.append(
                While(rng.randint(0, 4), rng.choice(FLOATS), rng.choice((0.1, 5.0)), random_source(rng, 3, depth - 1))
            )
    return statements


def assigned(statements: list[Any]) -> list[str]:
    """The variables that statements assign, in order."""
    found: dict[str, None] = {}
    for s in statements:
        if isinstance(s, Assign):
            found[s.target] = None
        elif isinstance(s, Swap):
            found.update({s.x: None, s.y: None})
        else:
            for part in (s.true, s.false) if isinstance(s, If) else (s.body,):
                found.update(dict.fromkeys(assigned(part)))
    return list(found)


class Staged:
    """Emits the source with structured control flow."""

    def __init__(self, batch: int = 2) -> None:
        self.program = Program()
        block = self.program.global_block()
        self.env = {name: block.create_var(name, "float64", [batch, 3], is_data=True) for name in FLOATS}
        self.env["w"] = block.create_var("w", "float64", [3], is_data=True)
        self.env["n"] = block.create_var("n", "int64", [], is_data=True)
        self.b = self.builder(block)

    def builder(self, block: Any) -> IRBuilder:
        return IRBuilder(block)

    def run(self, statements: list[Any], env: dict[str, Variable]) -> None:
        for s in statements:
            if isinstance(s, Assign):
                env[s.target] = self.assign(s, env)
            elif isinstance(s, Swap):
                env[s.x], env[s.y] = env[s.y], env[s.x]
            elif isinstance(s, If):
                self.branch(s, env)
            else:
                self.loop(s, env)

    def assign(self, s: Assign, env: dict[str, Variable]) -> Variable:
        b, x, y, w = self.b, env[s.x], env[s.y], env["w"]
        if s.op == "times_w":
            return b.mul(x, w)
        if s.op == "plus_w":
            return b.add(w, x)
        if s.op == "matmul":
            return b.matmul_v2(b.matmul_v2(x, y, trans_y=True), y)
        if s.op == "halves":
            left, right = b.op("split", X=x, num=0, sections=[1, 2], axis=1)
            return b.op("concat", X=[right, left], axis=1)
        if s.op == "exp":
            return b.exp(b.tanh(x))
        if s.op == "scale":
            return b.scaled(x, 0.7, 0.1)
        if s.op in UNARY:
            return b.op(s.op, X=x)
        return b.op(s.op, X=b.tanh(x), Y=y)

    def below(self, x: Variable, limit: float) -> Variable:
        mean = self.b.op("reduce_mean", X=self.b.tanh(x), dim=[], reduce_all=True)
        return self.b.less_than(mean, self.b.constant(limit, "float64"))

    def branch(self, s: If, env: dict[str, Variable]) -> None:
        names = assigned([s])
        pred, blocks = self.below(env[s.test], s.limit), []
        for part in (s.true, s.false):
            block, inner = self.b.sub_block(), dict(env)
            with self.b.inside(block):
                self.run(part, inner)
                block.results = [inner[name].name for name in names]
            blocks.append(block)
        env.update(zip(names, self.b.cond(pred, true_block=blocks[0], false_block=blocks[1]), strict=True))

    def loop(self, s: While, env: dict[str, Variable]) -> None:
        names = [*assigned(s.body), "w", "#i", "#go"]
        start = {**env, "#i": self.b.constant(0, "int64"), "#go": self.b.constant(1, "bool")}
        inner = []
        for _ in range(2):
            block = self.b.sub_block()
            own = dict(env)
            for name in names:
                v = start[name]
                own[name] = block.create_var(None, v.dtype, v.shape, stem=f"p.{name}")
                block.params.append(own[name].name)
            inner.append((block, own))
        (test, tested), (body, own) = inner
        with self.b.inside(test):
            test.results = [self.more(s, tested).name]
        with self.b.inside(body):
            self.body(s, own)
            body.results = [own[name].name for name in names]
        outs, _ = self.b.while_loop([start[name] for name in names], cond_block=test, body_block=body)
        env.update((name, out) for name, out in zip(names, outs, strict=True) if not name.startswith("#"))

    def more(self, s: While, env: dict[str, Variable]) -> Variable:
        b, i = self.b, env["#i"]
        few = b.logical_and(b.less_than(i, env["n"]), b.less_than(i, b.constant(s.most, "int64")))
        return b.logical_and(few, env["#go"])

    def body(self, s: While, env: dict[str, Variable]) -> None:
        self.run(s.body, env)
        env["#i"] = self.b.scaled(env["#i"], 1.0, 1.0)
        env["#go"] = self.below(env[s.test], s.limit)


class Unrolled(Staged):
    """Runs the source on feeds, and keeps the ops of the path taken."""

    def __init__(self, feeds: dict[str, np.ndarray]) -> None:
        self.values: dict[str, Any] = dict(feeds)
        super().__init__()

    def builder(self, block: Any) -> IRBuilder:
        values = self.values

        class Running(IRBuilder):
            def insert(self, op: Operator) -> Operator:
                reference.run_op(op, values)
                return super().insert(op)

        return Running(block)

    def branch(self, s: If, env: dict[str, Variable]) -> None:
        pred = self.below(env[s.test], s.limit)
        self.run(s.true if self.values[pred.name] else s.false, env)

    def loop(self, s: While, env: dict[str, Variable]) -> None:
        own = {**env, "#i": self.b.constant(0, "int64"), "#go": self.b.constant(1, "bool")}
        while self.values[self.more(s, own).name]:
            self.body(s, own)
        env.update((name, v) for name, v in own.items() if not name.startswith("#"))


def random_feeds(seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    feeds: dict[str, np.ndarray] = {name: rng.normal(size=(2, 3)) for name in FLOATS}
    return {**feeds, "w": rng.normal(size=3), "n": np.array(rng.integers(0, 6))}


def staged(statements: list[Any], batch: int = 2) -> tuple[Program, Variable]:
    """A Program of the source and the variable with its result, a weighted sum of all variables."""
    made = Staged(batch)
    made.run(statements, made.env)
    return made.program, result_of(made)


def unrolled(statements: list[Any], feeds: dict[str, np.ndarray]) -> tuple[Program, Variable]:
    made = Unrolled(feeds)
    made.run(statements, made.env)
    return made.program, result_of(made)


def result_of(made: Staged) -> Variable:
    b = made.b
    terms = [
        b.op("reduce_sum", X=b.scaled(made.env[name], 1.0 + k), dim=[], reduce_all=True)
        for k, name in enumerate(FLOATS[:-1])
    ]
    return b.op("sum", X=terms)
