"""A generator of random functions over tensors, numbers and lists: typed, so that most run, and such that all terminate.

The type of each variable is in its name: `x u v w` are float32 vectors of one length, `s t` 0-d floats, `i j` 0-d ints, `e` an int32
vector; `k l` are Python ints, `f g` floats, `q` is a bool; `h` is a number of changing kind, `o` a vector or None, `c` a number or
None, `p` is defined on some paths only; `items` is a list of vectors. Of an `op=` it is open which variables share an object.
"""

from __future__ import annotations

import random

VECTORS, SCALARS, INTS, NUMBERS, FLOATS = ("x", "u", "v", "w"), ("s", "t"), ("i", "j"), ("k", "l"), ("f", "g")

HEADER = """\
import math

import dy2st as paddle
from dy2st import concat, stack


def halved(a, limit):
    rounds = 0
    while a.abs().sum() > limit:
        a = a / 2
        rounds += 1
        if rounds > 3:
            break
    return a, rounds


def first_above(a, limit, default=None):
    for place, value in enumerate(a):
        if value > limit:
            return value, place
    return default, -1


def scaled(a, *factors, shift=0, **named):
    for factor in factors:
        a = a * factor
    for name in named:
        if named[name] > 0:
            shift = shift + named[name]
    return a.tanh() + shift


def program(x, n, m):
    u, v, w, s, t, i, j, e = x * 0.5, x + 1, x.tanh(), x.sum().tanh(), x[0] * 0.5, n * 0, n + 1, m.astype("int32")
    k, l, f, g, q, h, o, c, items = 1, int(n), 1.5, float(x[0]), False, 1, None, None, [x]

    def counted(by=1):
        nonlocal k
        if s > 0:
            k = (k + by) % 9
        return k

"""
FOOTER = """\
    items.append(u * v + x)
    total = concat(items, 0).sum()
    rest = x * h if o is None else o + x * h
    return total, u, v, w, s, t, i, j, e, k, l, f, q, rest, 0 if c is None else c * 2
"""


class Writer:
    """Writes one program.

    Args:
        exceptions: whether it may raise, assert, and read what may have no value.
    """

    def __init__(self, rng: random.Random, exceptions: bool = True):
        self.rng, self.exceptions = rng, exceptions
        self.counters = 0
        self.loops: list[str] = []

    def program(self, depth: int = 2, statements: int = 5) -> str:
        """The text of a module with a function `program(x, n, m)`."""
        body: list[str] = []
        for _ in range(statements):
            body += self.statement(depth, 1)
        return HEADER + "\n".join(body) + "\n" + FOOTER

    def pick(self, *texts: str) -> str:
        return self.rng.choice(texts)

    # ---- expressions ----
    def vector(self, depth: int = 2) -> str:
        """A float32 vector."""
        if depth == 0 or self.rng.random() < 0.2:
            return self.rng.choice(VECTORS)
        one = lambda: self.vector(depth - 1)  # noqa: E731
        return self.rng.choice(
            (
                lambda: f"({one()} {self.pick('+', '-', '*')} {one()})",
                lambda: f"({one()} {self.pick('+', '-', '*')} {self.any_number(depth - 1)})",
                lambda: f"({self.number(depth - 1)} - {one()})",
                lambda: f"({one()} / {self.pick('2', '(abs(f) + 1)', '(s * s + 1)', '(i * i + 1)')})",
                lambda: f"{one()}.tanh()",
                lambda: f"({one()} if {self.condition(1)} else {one()})",
                lambda: f"({one()} * {self.scalar(depth - 1)})",
                lambda: f"({one()} + {self.pick(*INTS, 'e', 'e.sum()', 'x.shape[0]', 'len(x)')})",
                lambda: f"paddle.where({one()} > {self.scalar(0)}, {one()}, {one()})",
                lambda: f"halved({one()}, {self.pick('1.0', 's', 'f', 'k')})[0]",
                lambda: f"scaled({one()}, {self.pick('2', 'f', 's')}, {self.pick('shift=1', 'shift=t', 'more=f', 'more=k, other=t')})",
                lambda: f"(lambda a: a * {self.scalar(0)} if {self.condition(1)} else a)({one()})",
                lambda: f"items[{self.pick('0', '-1')}]",
                lambda: f"max({one()}, {one()}, key=lambda a: a.sum())",
                lambda: f"concat([{one()}[1:], {one()}[:1]])",
                lambda: f"({one()} * ({one()} > 0))",
                lambda: f"({one()} ** 2)",
                lambda: f"abs({one()})",
                lambda: f"{one()}[::-1]",
            )
        )()

    def scalar(self, depth: int = 1) -> str:
        """A 0-d float32 tensor."""
        if depth <= 0 or self.rng.random() < 0.2:
            return self.rng.choice((*SCALARS, "x[0]", "u[-1]", f"{self.rng.choice(VECTORS)}.sum()"))
        one = lambda: self.scalar(depth - 1)  # noqa: E731
        return self.rng.choice(
            (
                lambda: f"{self.vector(depth - 1)}.{self.pick('sum', 'mean', 'max', 'min')}()",
                lambda: f"{self.rng.choice(VECTORS)}[{self.index()}]",
                lambda: f"({one()} {self.pick('+', '-', '*')} {self.any_number(depth - 1)})",
                lambda: f"({one()} {self.pick('+', '-', '*')} {one()})",
                lambda: f"({one()} if {self.condition(1)} else {one()})",
                lambda: f"{self.pick('max', 'min')}({one()}, {one()})",
                lambda: f"{self.pick('max', 'min')}({self.rng.choice(VECTORS)})",
                lambda: f"sum({self.rng.choice(VECTORS)})",
                lambda: f"({one()} or {one()})",
                lambda: f"({one()} and {one()})",
                lambda: f"({one()} // {self.pick('2', '0.5', '-3')})",
                lambda: f"({one()} % {self.pick('2', '0.5', '-3')})",
                lambda: f"first_above({self.vector(0)}, {self.pick('0', 'f', 't')}, s)[0]",
                lambda: f"sum([a * b for a, b in zip(({one()}, {one()}), (k, 2.0))])",
            )
        )()

    def index(self) -> str:
        """A place in a vector, mostly one that it has."""
        good = ("0", "-1", "int(i) % len(x)", "k % x.shape[0]", "i % len(x)", "(l + 1) % len(x)", "-1 - k % len(x)")
        return self.pick(*good, "i", "k") if self.exceptions and self.rng.random() < 0.15 else self.pick(*good)

    def integer(self, depth: int = 1) -> str:
        """A 0-d int64 tensor."""
        if depth <= 0 or self.rng.random() < 0.3:
            return self.rng.choice((*INTS, "n"))
        one = lambda: self.integer(depth - 1)  # noqa: E731
        return self.rng.choice(
            (
                lambda: f"({one()} {self.pick('+', '-', '*')} {self.pick('1', '2', 'k', 'n', 'j')}) % {self.pick('5', '-4', '7')}",
                lambda: f"({one()} // {self.pick('2', '-2', '3')})",
                lambda: f"({one()} if {self.condition(1)} else {one()})",
                lambda: f"({one()} {self.pick('&', '|', '^')} {self.pick('3', 'k', 'n')})",
                lambda: f"-{one()}",
                lambda: "m.max() % 5",
                lambda: "e.sum() % 7",
                lambda: f"m[{self.index()}]",
                lambda: f"({self.vector(1)} > 0).sum()",
                lambda: f"max({one()}, {one()})",
                lambda: f"{self.vector(0)}.argmax()",
            )
        )()

    def number(self, depth: int = 1) -> str:
        """A Python int."""
        if depth <= 0 or self.rng.random() < 0.3:
            return self.rng.choice((*NUMBERS, "2", "3", "0"))
        one = lambda: self.number(depth - 1)  # noqa: E731
        return self.rng.choice(
            (
                lambda: f"int({self.integer(1)})",
                lambda: f"int({self.scalar(1)}.tanh() * 3)",
                lambda: f"({one()} {self.pick('+', '-', '*')} {one()}) % {self.pick('5', '7', '-6')}",
                lambda: f"({one()} // {self.pick('2', '-3')})",
                lambda: f"({one()} if {self.condition(1)} else {one()})",
                lambda: f"abs({one()})",
                lambda: f"{self.pick('max', 'min')}({one()}, {one()})",
                lambda: f"round({self.floating(1)} % 8)",
                lambda: f"math.{self.pick('floor', 'ceil')}({self.floating(1)} % 9)",
                lambda: f"({one()} {self.pick('&', '|', '^')} {one()}) % 8",
                lambda: f"len({self.vector(0)})",
                lambda: f"({one()} {self.pick('and', 'or')} {one()})",
                lambda: "counted()",
                lambda: f"counted(by={one()})",
                lambda: f"divmod({one()}, {self.pick('3', '-4')})[{self.pick('0', '1')}]",
                lambda: f"first_above({self.vector(0)}, 0.5)[1]",
                lambda: f"halved({self.vector(0)}, {self.pick('0.5', 'f * f + 0.1')})[1]",
                lambda: f"({self.scalar(0)} > 0).item() + {one()}" if self.rng.random() < 0.3 else f"{self.integer(0)}.item()",
                lambda: f"sum([{one()}, {one()}]) % 6",
                lambda: f"bool({self.scalar(0)} > 0) * {one()}",
            )
        )()

    def floating(self, depth: int = 1) -> str:
        """A Python float."""
        if depth <= 0 or self.rng.random() < 0.3:
            return self.rng.choice((*FLOATS, "0.5", "1.0"))
        one = lambda: self.floating(depth - 1)  # noqa: E731
        return self.rng.choice(
            (
                lambda: f"float({self.scalar(1)}.tanh())",
                lambda: f"{self.scalar(1)}.tanh().item()",
                lambda: f"math.{self.pick('tanh', 'sin', 'atan')}({one()})",
                lambda: f"({one()} * {self.pick('0.5', 'f')}) % {self.pick('2', '1.5', '-3')}",
                lambda: f"({self.number(1)} / {self.pick('2', '3.0', '(k * k + 1)')})",
                lambda: f"({one()} + {self.number(1)}) / 4",
                lambda: f"({one()} if {self.condition(1)} else {one()})",
                lambda: f"round({one()}, 2)",
                lambda: f"{self.pick('max', 'min')}({one()}, {one()})",
                lambda: f"abs({one()})",
                lambda: f"({one()} // {self.pick('0.5', '-2')})",
                lambda: f"math.sqrt(abs({one()}))",
            )
        )()

    def any_number(self, depth: int) -> str:
        return self.rng.choice((self.number, self.floating, self.floating, lambda d: "h"))(depth)

    def condition(self, depth: int = 2) -> str:
        if depth <= 0:
            return self.rng.choice(
                (
                    lambda: f"{self.scalar(1)} {self.compare()} {self.pick('0', '0.5', 'f', 's')}",
                    lambda: f"{self.integer(1)} {self.compare()} {self.pick('1', 'k', 'n', 'j')}",
                    lambda: f"{self.number(1)} {self.compare()} {self.pick('1', 'l', 'n')}",
                    lambda: f"{self.floating(1)} {self.compare()} {self.pick('0', 'g', 's')}",
                    lambda: self.pick("q", "i", "n > 1", "l", "(x > 0).all()", "(u < v).any()", "any(x > 0.5)"),
                    lambda: self.pick("o is None", "o is not None", "c is None"),
                    lambda: f"isinstance({self.pick('k', 'f', 's')}, {self.pick('int', 'float')})",
                    lambda: f"{self.number(0)} {self.pick('in', 'not in')} (1, l, 3)",
                    lambda: self.pick("h > 1", "x.shape[0] > 1", "len(items) > 2", "k == l", "e.sum() > 3"),
                )
            )()
        one = lambda: self.condition(depth - 1)  # noqa: E731
        return self.rng.choice(
            (
                one,
                one,
                lambda: f"not {self.condition(0)}",
                lambda: f"(({one()}) {self.pick('and', 'or')} ({one()}))",
                lambda: f"({self.pick('-1', 's', 'l')} {self.compare()} {self.scalar(0)} {self.compare()} {self.pick('f', 't', '1')})",
                lambda: f"(0 <= {self.number(1)} < {self.pick('3', 'n', 'j')} != 2)",
                lambda: f"(({self.condition(0)}) if ({one()}) else ({self.condition(0)}))",
            )
        )()

    def compare(self) -> str:
        return self.pick("<", "<=", ">", ">=", "==", "!=")

    # ---- statements ----
    def block(self, depth: int, indent: int) -> list[str]:
        lines: list[str] = []
        for _ in range(self.rng.randint(1, 3)):
            lines += self.statement(depth, indent)
        return lines

    def statement(self, depth: int, indent: int) -> list[str]:
        pad = "    " * indent
        nested = depth > 0 and self.rng.random() < 0.5
        if nested:
            return self.rng.choice(
                (self.if_, self.if_, self.if_, self.for_, self.for_, self.while_, self.leave_if, self.try_)
            )(depth - 1, indent)
        if self.loops and self.rng.random() < 0.12:
            return self.leave_if(0, indent)
        return [pad + line for line in self.simple().split("\n")]

    def simple(self) -> str:
        """A statement without a block of its own."""
        r = self.rng
        return r.choice(
            (
                lambda: f"{r.choice(VECTORS)} = ({self.vector()}).tanh()",
                lambda: f"{r.choice(VECTORS)} = ({self.vector()}).tanh()",
                lambda: f"{r.choice(SCALARS)} = ({self.scalar(2)}).tanh()",
                lambda: f"{r.choice(INTS)} = ({self.integer(2)}) % 6",
                lambda: f"{r.choice(NUMBERS)} = ({self.number(2)}) % 7",
                lambda: f"{r.choice(FLOATS)} = ({self.floating(2)}) % 3.0",
                lambda: f"q = {self.pick('not q', 'bool(' + self.condition(1) + ')', 'True', 'False')}",
                lambda: self.pick("h = 2", "h = 0.5", "h = h * 0.5", "h = h + 1", "h = s", "h = -h", "h = abs(h)", "h = 1"),
                lambda: self.pick("o = None", f"o = {self.vector(1)}", f"o = {self.vector(0)} if {self.condition(1)} else None"),
                lambda: self.pick("c = None", f"c = {self.number(1)} % 5", "c = 3", "c = 3 if c is None else c + 1"),
                lambda: f"{r.choice(('u', 'v', 'w'))} {self.pick('+=', '-=', '*=')} {self.vector(1)}.tanh()",
                lambda: f"{r.choice(('k', 'l'))} = ({r.choice(('k', 'l'))} + 1) % 6",
                lambda: f"{r.choice(('u', 'v', 'w'))} = {r.choice(('u', 'v', 'w'))} * 1\nu[{self.index()}] = {self.scalar(1)}.tanh()",
                lambda: f"{r.choice(('u', 'v', 'w'))}[{self.index()}] = {self.pick('0.5', 'f', 's', 'k')}",
                lambda: f"{r.choice(('u', 'v', 'w'))}[{self.pick('1:', ':1', '::2', ':l')}] {self.pick('*=', '=')} 0.5",
                lambda: f"{r.choice(('u', 'v', 'w'))}.scale_(0.5)",
                lambda: f"e[{self.index()}] = {self.pick('1', 'k', 'i')}",
                lambda: "e = (e * 2 + 1) % 5",
                lambda: f"items.append({self.vector(1)})",
                lambda: f"items[{self.pick('0', '-1')}] = {self.vector(1)}",
                lambda: "u, v = v, u",
                lambda: "(s, *_), w = (t, k, s), u * 1",
                lambda: f"print(f\"{{{self.number(1)}}} {{{self.floating(1)}:.3f}} {{{self.scalar(0)}.item():8.2f}} {{q}}\")",
                lambda: f"print({self.pick('k', 'f', 'q', 'n', 'e', 'len(items)', 'x.shape[0]')}, {self.number(0)}, sep='|')",
                lambda: f"print('%d %5.2f' % ({self.number(1)}, {self.floating(1)}), end=';')",
                lambda: f"s = s + (y := {self.scalar(1)}.tanh()) * y",
                lambda: f"p = {self.number(1)}" if self.exceptions else "pass",
                lambda: f"assert {self.condition(0)}, f\"failed: {{k}} {{{self.scalar(0)}.item():.2f}}\"" if self.exceptions else "pass",
                lambda: "with paddle.no_grad():\n    s = s + t",
                lambda: f"w = w.clone().{self.pick('detach()', 'clip(-1.0, 1.0)')}",
            )
        )()

    def if_(self, depth: int, indent: int) -> list[str]:
        pad = "    " * indent
        lines = [f"{pad}if {self.condition()}:", *self.block(depth, indent + 1)]
        while self.rng.random() < 0.25:
            lines += [f"{pad}elif {self.condition()}:", *self.block(depth, indent + 1)]
        if self.rng.random() < 0.5:
            lines += [f"{pad}else:", *self.block(depth, indent + 1)]
        return lines

    def fresh(self) -> str:
        self.counters += 1
        return f"c{self.counters}"

    def for_(self, depth: int, indent: int) -> list[str]:
        pad, c = "    " * indent, self.fresh()
        head, tail = self.rng.choice(
            (
                (f"for {c} in range({self.pick('n', 'n + 1', '2', 'k % 4', 'len(x)', 'x.shape[0]')}):", f"j = (j + {c}) % 5"),
                (f"for {c} in range({self.pick('n', '3', 'l')}, {self.pick('-1', '0', '1')}, -1):", f"k = (k + {c}) % 7"),
                (f"for {c} in range(0, {self.pick('n', '4', 'l')}, {self.pick('2', 'j % 2 + 1')}):", f"k = (k - {c}) % 7"),
                (f"for {c} in {self.rng.choice(VECTORS)}:", f"s = (s + {c}).tanh()"),
                (f"for {c} in reversed({self.rng.choice(VECTORS)}):", f"s = (s - {c}).tanh()"),
                (f"for {c}, {c}v in enumerate({self.rng.choice(VECTORS)}):", f"t = (t * {c} + {c}v).tanh()"),
                (f"for {c}, {c}v in zip(x, e):", f"t = ({c} * {c}v + t).tanh()"),
                (f"for {c} in (u, v):", f"w = (w + {c}).tanh()"),
                (f"for {c} in items[:2]:", f"w = (w * {c}).tanh()"),
                (f"for {c} in (1, 2):", f"k = (k * {c} + l) % 9"),
            )
        )
        return self.loop([pad + head, f"{pad}    {tail}"], depth, indent)

    def while_(self, depth: int, indent: int) -> list[str]:
        pad, c = "    " * indent, self.fresh()
        start, step = self.pick("0", "l * 0", "n * 0"), f"{pad}    {c} = {c} + 1"
        if self.rng.random() < 0.3:
            return self.loop([f"{pad}{c} = {start}", f"{pad}while ({c} := {c} + 1) < 4 and ({self.condition(1)}):"], depth, indent)
        return self.loop([f"{pad}{c} = {start}", f"{pad}while {c} < 3 and ({self.condition(1)}):", step], depth, indent)

    def loop(self, head: list[str], depth: int, indent: int) -> list[str]:
        self.loops.append("")
        lines = [*head, *self.block(depth, indent + 1)]
        self.loops.pop()
        if self.rng.random() < 0.15:
            lines += ["    " * indent + "else:", *self.block(0, indent + 1)]
        return lines

    def leave_if(self, depth: int, indent: int) -> list[str]:
        pad = "    " * indent
        ways = []
        if self.loops:
            ways += ["break", "continue", "break", "continue"]
        if self.exceptions:
            ways += [
                f"raise ValueError(f\"no: {{{self.number(0)}}} {{{self.scalar(0)}.item():.1f}}\")",
                "raise IndexError('none')",
                "k = k + p",
            ]
        ways.append(f"return {self.scalar(1)}, {self.vector(1)}, v, w, s, t, {self.integer(1)}, j, e, {self.number(1)}, l, f, q, x, 1")
        before = self.block(0, indent + 1) if self.rng.random() < 0.3 else []
        return [f"{pad}if {self.condition()}:", *before, f"{pad}    {self.rng.choice(ways)}"]

    def try_(self, depth: int, indent: int) -> list[str]:
        pad = "    " * indent
        if self.rng.random() < 0.5:
            return [f"{pad}try:", *self.block(0, indent + 1), f"{pad}finally:", *self.block(0, indent + 1)]
        return [f"{pad}with paddle.no_grad():", *self.block(depth, indent + 1)]
