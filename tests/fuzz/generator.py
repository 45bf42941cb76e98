"""Random programs from the grammar: typed, so that most run, and such that all terminate."""

from __future__ import annotations

import functools
import random
import re

from . import grammar

HEADER = """\
import contextlib
import functools
import math

import dy2st as paddle
import dy2st.nn.functional as F
from tests.fuzz.world import Box, Net, Pair, Record, checked, collected, evens, first_above, found, halved, scaled
from dy2st import concat, stack


"""
TYPES = ["vec", "sca", "int", "num", "flt", "bool", "kind", "optv", "optn", "vecs", "scas", "nums", "mat", "ivec", "mask", "free", "box"]
SMALL_CONDITIONS = ["<sca0> <cmp> <0|<flt0>|<sca0>>", "<int0> <cmp> <1|<num0>>", "<num0> <cmp> <num0>", "<bool0>"]
COMPARE = ["<", "<=", ">", ">=", "==", "!="]
_BLOCKS = ("block", "body", "function")


class NotPossible(Exception):
    """A template needs a variable that there is none of."""


class Generator:
    """Writes one program: a function `program(x, n, m, a)`, or `program(self, x, n, m, a)` for a method of `world.Net`.

    Args:
        rng: draws all.
        size: about how many statements.
    """

    def __init__(self, rng: random.Random, size: int = 8):
        self.rng, self.left = rng, rng.randint(2, size)
        self.counter = self.loops = 0
        self.method = rng.random() < 0.3
        self.raising = rng.random() < 0.3
        self.leaving = rng.random() < 0.4
        self.depth = rng.choice((1, 2, 2, 3))
        self.parts = rng.choice((1, 2, 2, 3))
        self.scope: dict[str, str] = {}
        self.frozen: set[str] = set()
        # Each program uses some of the language only: what is used is then used more often together.
        features = [f for f in grammar.STATEMENTS if f not in ("plain", "branches")]
        self.templates = [grammar.STATEMENTS["plain"], grammar.STATEMENTS["branches"]]
        self.templates += [grammar.STATEMENTS[f] for f in rng.sample(features, rng.randint(1, 4))]
        self.templates += [grammar.METHODS] * 2 * self.method + [grammar.RAISING] * self.raising
        self.expressions = {t: rng.sample(found, min(len(found), max(4, len(found) * 2 // 5))) for t, found in self._all().items()}
        self.expressions["cond"] = rng.sample(grammar.CONDITIONS, 12) + grammar.OF_SELF["cond"] * self.method

    def _all(self) -> dict[str, list[str]]:
        found = {t: list(e) for t, e in grammar.EXPRESSIONS.items()}
        if self.method:
            for t in found:
                found[t] += grammar.OF_SELF.get(t, [])
        return found

    # ---- the program ----
    def program(self) -> str:
        """The text of the module."""
        r = self.rng
        start = []
        for t in ("vec", *r.choices(TYPES, k=r.randint(1, 4))):
            value, name = self.initial(t), self.fresh(t)
            start.append(f"    {name} = {value}")
            self.scope[name] = t
        if self.method:
            self.scope |= {name: t for t, names in grammar.ATTRIBUTES.items() for name in names}
        self.signature = [r.choice(["vec", "sca", "num", "flt", "int", "optv", "mat", "scas"]) for _ in range(r.randint(1, 3))]
        lines: list[str] = []
        while self.left > 0:
            lines += self.statement(1, self.depth)
        if self.leaving:
            results = [self.latest(t) for t in self.signature]
        else:
            # a number of changing kind is a tensor as a result, and an object cannot be one
            shown = {"kind": "x * {0}", "box": "{0}.value, {0}.count"}
            results = [shown.get(t, "{0}").format(name) for name, t in self.scope.items() if "." not in name and t != "fn"]
            r.shuffle(results)
            results = results[: r.randint(1, 8)] or ["x"]
        head = f"def program({'self, ' * self.method}x, n, m, a):"
        return HEADER + "\n".join([head, "    s0 = x.mean()", *start, *lines, f"    return {', '.join(results)}"]) + "\n"

    def initial(self, t: str) -> str:
        return self.leaf(t, variables=False) if self.rng.random() < 0.5 else self.expression(t, 1)

    def latest(self, t: str) -> str:
        known = [name for name, of in self.scope.items() if of == t]
        return known[-1] if known else self.expression(t, 1)

    def fresh(self, t: str = "") -> str:
        self.counter += 1
        return f"{t or 'c'}_{self.counter}"

    # ---- expressions ----
    def expression(self, t: str, parts: int) -> str:
        """An expression of a type; `parts`: how deeply it is nested."""
        if t != "cond" and (parts <= 0 or self.rng.random() < 0.2):
            return self.leaf(t)
        ways = self.expressions[t] if parts > 0 or t != "cond" else SMALL_CONDITIONS
        for _ in range(4):
            try:
                return self.fill(self.rng.choice(ways), parts - 1)
            except NotPossible:
                continue
        return self.leaf(t)

    def leaf(self, t: str, variables: bool = True) -> str:
        known = [name for name, of in self.scope.items() if of == t] if variables else []
        if known and self.rng.random() < 0.75:
            return self.rng.choice(known)
        return self.fill(self.rng.choice(grammar.LEAVES[t]), 0)

    def variable(self, t: str) -> str:
        """A variable that there is, and that may be assigned here."""
        known = [name for name, of in self.scope.items() if of == t and name not in self.frozen]
        if not known:
            raise NotPossible
        return self.rng.choice(known)

    def index(self, of: str) -> str:
        if self.raising and self.rng.random() < 0.15:
            return self.rng.choice(("int(n)", "n", self.leaf("num")))
        k, i = self.leaf("num"), self.leaf("int")
        return self.rng.choice(("0", "-1", f"{k} % len({of})", f"{i} % {of}.shape[0]", f"int({i}) % len({of})", f"-1 - {k} % len({of})"))

    # ---- templates ----
    def fill(self, template: str, parts: int, new: dict[str, str] | None = None, local: dict[str, str] | None = None) -> str:
        """A template with its holes filled, from left to right; `new` gets the variables that it assigns, `local` its own names."""
        local = {} if local is None else local
        return "".join(text if not is_hole else self.hole(text, parts, new, local) for text, is_hole in pieces(template))

    def hole(self, hole: str, parts: int, new: dict[str, str] | None, local: dict[str, str]) -> str:
        if len(ways := alternatives(hole)) > 1:
            return self.fill(self.rng.choice(ways), parts, new, local)
        if hole == "cmp":
            return self.rng.choice(COMPARE)
        if hole.startswith("index"):
            return self.index(hole.partition(" of ")[2] or "x")
        if hole.startswith("$"):
            return self.variable(hole[1:])
        if hole.startswith("="):
            return self.target(hole[1:], new)
        if hole.startswith("@"):
            name, _, t = hole[1:].partition(":")
            if name not in local:
                local[name] = self.fresh(t)
                if t:
                    self.scope[local[name]] = t
            return local[name]
        if hole.startswith("^"):
            if hole not in local:
                known = [n for n, of in self.scope.items() if of == hole[1:] and "." not in n]
                if not known:
                    raise NotPossible
                local[hole] = self.rng.choice(known)
            return local[hole]
        return self.leaf(hole[:-1]) if hole.endswith("0") else self.expression(hole, parts)

    def target(self, t: str, new: dict[str, str] | None) -> str:
        if self.rng.random() < 0.7:
            try:
                return self.variable(t)
            except NotPossible:
                pass
        name = self.fresh(t)
        if new is not None:
            new[name] = t
        return name

    # ---- statements ----
    def statement(self, indent: int, depth: int) -> list[str]:
        self.left -= 1
        if self.leaving and self.rng.random() < 0.15:
            return self.leave(indent)
        for _ in range(6):
            template = self.rng.choice(self.rng.choice(self.templates))
            if depth <= 0 and re.search(r"^ *<(block|body|function)>$", template, re.M):
                continue
            saved = dict(self.scope)
            try:
                return self.expand(template, indent, depth)
            except NotPossible:
                self.scope = saved
        return self.expand(self.rng.choice(grammar.STATEMENTS["plain"]), indent, depth)

    def expand(self, template: str, indent: int, depth: int) -> list[str]:
        """The lines of a statement. What a block assigns for the first time is not known after it."""
        lines: list[str] = []
        local: dict[str, str] = {}
        before = dict(self.scope)
        function = template.startswith("def ")
        parts = self.rng.randint(0, self.parts) if "\n" in template else self.parts
        frozen = self.frozen
        if function:
            self.frozen = self.frozen | set(self.scope)
            self.scope["v"] = "vec"
        for line in template.split("\n"):
            inner = len(line) - len(line.lstrip())
            pad = "    " * indent + line[:inner]
            kind = line.strip()[1:-1] if line.strip() in [f"<{b}>" for b in _BLOCKS] else ""
            if kind:
                scope = dict(self.scope)
                lines += self.block(kind, indent + inner // 4, depth - 1)
                self.scope = scope
                continue
            new: dict[str, str] = {}
            if line.startswith("del <$"):
                names = [n for n, t in self.scope.items() if "." not in n and t == "num" and n not in self.frozen]
                if not names or not self.raising:
                    raise NotPossible
                name = self.rng.choice(names)
                del self.scope[name], before[name]
                lines.append(f"{pad}del {name}")
                continue
            lines.append(pad + self.fill(line.strip(), parts, new, local))
            self.scope |= new
            if inner == 0 and not line.endswith(":"):
                before |= new
        self.frozen = frozen
        if function:
            before[local["f"]] = "fn"
        self.scope = before
        return lines

    def block(self, kind: str, indent: int, depth: int) -> list[str]:
        loops, leaving = self.loops, self.leaving
        self.loops = loops + 1 if kind == "body" else 0 if kind == "function" else loops
        if kind == "function":
            self.leaving = False
        lines: list[str] = []
        for _ in range(self.rng.choice((1, 1, 2, 2, 3)) if self.left > 0 else 1):
            lines += self.statement(indent, depth if self.left > 0 else 0)
        self.loops, self.leaving = loops, leaving
        return lines

    def leave(self, indent: int) -> list[str]:
        pad = "    " * indent
        ways = ["return " + ", ".join(self.expression(t, 1) for t in self.signature)]
        if self.loops:
            ways += grammar.LEAVING
        return [f"{pad}if {self.expression('cond', self.parts)}:", f"{pad}    {self.rng.choice(ways)}"]


@functools.cache
def pieces(template: str) -> tuple[tuple[str, bool], ...]:
    """The texts of a template and what is in its holes, in order; True for holes."""
    found: list[tuple[str, bool]] = []
    depth, start = 0, 0
    for i, c in enumerate(template):
        if c == "<" and not re.match(r"=? |<|$", template[i + 1 :]):
            if depth == 0:
                found.append((template[start:i], False))
                start = i + 1
            depth += 1
        elif c == ">" and depth:
            depth -= 1
            if depth == 0:
                found.append((template[start:i], True))
                start = i + 1
    return (*found, (template[start:], False))


@functools.cache
def alternatives(hole: str) -> list[str]:
    """`a|b` in parts, without looking into holes in it."""
    found, depth = [""], 0
    for c in hole:
        depth += (c == "<") - (c == ">")
        if c == "|" and depth == 0:
            found.append("")
        else:
            found[-1] += c
    return found


def program(seed: int, size: int = 8) -> str:
    """The program with a number."""
    rng = random.Random(f"program {seed}")
    while True:
        text = Generator(rng, size).program()
        try:
            compile(text, "<program>", "exec")
        except SyntaxError:
            continue  # a walrus where Python allows none
        return text
