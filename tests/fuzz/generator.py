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
from tests.fuzz.world import Box, Counted, Net, Pair, Record, Stop, checked, collected, combined, evens, first_above, found, grown
from tests.fuzz.world import guarded, halved, halves, running, scaled
from dy2st import concat, stack


"""
TYPES = [
    "vec", "sca", "int", "num", "flt", "bool", "kind", "optv", "optn", "opts", "vecs", "scas", "nums", "mat", "ivec", "mask", "free",
    "box", "table", "groups", "rows", "holder", "holders", "tables",
]  # fmt: skip
RESULTS = ["vec", "sca", "num", "flt", "int", "optv", "opts", "mat", "scas", "table"]
SMALL_CONDITIONS = ["<sca0> <cmp> <0|<flt0>|<sca0>>", "<int0> <cmp> <1|<num0>>", "<num0> <cmp> <num0>", "<bool0>"]
COMPARE = ["<", "<=", ">", ">=", "==", "!="]
_BLOCKS = ("block", "body", "function", "procedure")
# what the functions of blocks return
_RETURNED = {"function": ["vec"], "procedure": []}


class NotPossible(Exception):
    """A template needs a variable that there is none of."""


class Generator:
    """Writes one program: a function `program(x, n, m, a)`, or a class `program` whose `forward` is a method of `world.Net`.

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
        self.made = rng.choice(("Record",) * 6 + ("Box",))
        self.returned: list[str] = []
        self.scope: dict[str, str] = {}
        self.frozen: set[str] = set()
        # Each program uses some of the language only: what is used is then used more often together.
        features = [f for f in grammar.STATEMENTS if f not in ("plain", "branches")]
        self.templates = [grammar.STATEMENTS["plain"], grammar.STATEMENTS["branches"]]
        self.templates += [grammar.STATEMENTS[f] for f in rng.sample(features, rng.randint(1, 4))]
        self.templates += [grammar.METHODS] * 2 * self.method + [grammar.RAISING] * self.raising
        self.expressions = {t: rng.sample(found, min(len(found), max(4, len(found) * 2 // 5))) for t, found in self._all().items()}
        self.expressions["cond"] = rng.sample(grammar.CONDITIONS, 12) + grammar.OF_SELF["cond"] * self.method
        # the outside: places by where they are
        self.outside: dict[str, list[str]] = {"global": [], "nonlocal": [], "held": []}
        self.types: dict[str, str] = {}
        if rng.random() < 0.5:
            for t in rng.sample([*grammar.OUTSIDE], rng.randint(1, 3)):
                where = rng.choice(("global", "held") if self.method else ("global", "nonlocal", "held"))
                name = {"global": "KEPT", "nonlocal": "kept", "held": "held"}[where] + "_" + t
                self.outside[where].append(name)
                self.types[name] = t

    def _all(self) -> dict[str, list[str]]:
        found = {t: list(e) for t, e in grammar.EXPRESSIONS.items()}
        if self.method:
            for t in found:
                found[t] += grammar.OF_SELF.get(t, [])
        return found

    # ---- the program ----
    def program(self) -> str:
        """The text of the module."""
        functions = [line for _ in range(self.rng.choice((0, 0, 1, 1, 2))) for line in self.helper()]
        functions += self.main()
        start = HEADER + "".join(f"{name} = {grammar.OUTSIDE[self.types[name]]}\n" for name in self.outside["global"])
        if self.method:
            return start + "\n".join(["class program(Net):", *indented(functions)]) + "\n"
        if around := [f"{name} = {grammar.OUTSIDE[self.types[name]]}" for name in self.outside["nonlocal"]]:
            lines = ["def surroundings():", *indented([*around, *functions, "return program"]), "", "", "program = surroundings()"]
            return start + "\n".join(lines) + "\n"
        return start + "\n".join(functions) + "\n"

    def main(self) -> list[str]:
        """The function that is called."""
        r = self.rng
        lines = self.enter(self.outside["held"])
        for t in ("vec", *r.choices(TYPES, k=r.randint(1, 4))):
            value, name = self.initial(t), self.fresh(t)
            lines.append(f"    {name} = {value}")
            self.scope[name] = t
        if r.random() < 0.3:
            self.scope |= {"x": "vec", "n": "int", "m": "ivec", "a": "mat"}
        self.returned = [r.choice(RESULTS) for _ in range(r.randint(1, 3))]
        while self.left > 0:
            lines += self.statement(1, self.depth)
        if self.leaving:
            results = [self.latest(t) for t in self.returned]
        else:
            # a number of changing kind is a tensor as a result, and an object cannot be one
            shown = {"kind": "x * {0}", "box": "{0}.value, {0}.count", "holder": "{0}.value, {0}.count", "holders": "len({0})"}
            results = [shown.get(t, "{0}").format(name) for name, t in self.scope.items()
                       if name.isidentifier() and t not in ("fn", "act")]  # fmt: skip
            r.shuffle(results)
            results = results[: r.randint(1, 8)] or ["x"]
        named = ["self"] * self.method + ["x", "n", "m", "a", *self.outside["held"]]
        return [f"def {'forward' if self.method else 'program'}({', '.join(named)}):", *lines, f"    return {', '.join(results)}"]

    def helper(self) -> list[str]:
        """A function beside the program, or a method, which expressions call from now on; it may call itself."""
        r = self.rng
        saved = self.scope, self.left, self.leaving
        name, result = self.fresh("helper"), r.choice(RESULTS)
        more = {f"{t}_{self.fresh()}": t for t in r.sample([*grammar.PARAMETERS], r.randint(0, 2))}
        defaults = {p: grammar.PARAMETERS[t] for p, t in more.items()}
        ordered = sorted(more, key=lambda p: bool(defaults[p]))
        recursive = r.random() < 0.25
        self.scope, self.left, self.leaving, self.returned = dict(more), r.randint(1, 4), r.random() < 0.6, [result]
        head = ["self"] * self.method + ["x", "n", "m", "a"] + ["depth"] * recursive
        head += [f"{p}={defaults[p]}" if defaults[p] else p for p in ordered]
        given = [f"{p}=<{more[p]}0>" if defaults[p] else f"<{more[p]}0>" for p in ordered if not defaults[p] or r.random() < 0.5]

        def call(*depth: str) -> str:
            return f"{'self.' * self.method}{name}({', '.join(['<vec>', '<int0>', '<ivec0>', '<mat0>', *depth, *given])})"

        known = self.expressions[result], self.templates
        lines = self.enter([], start=False)
        if recursive:
            lines += ["    if depth <= 0:", f"        return {self.expression(result, 1)}"]
            inner = call("depth - 1")
            self._know(result, inner)
            # what is put back behind the call is seen by that call only
            back = [f"<@o> = <${t}:p>\n<:p> = <{t}>\n<={result}> = {inner}\n<:p> = <@o>" for t in ("vec", "sca", "num")]
            self.templates = [*self.templates, back]
        while self.left > 0:
            lines += self.statement(1, self.depth)
        lines.append(f"    return {self.latest(result) if r.random() < 0.5 else self.expression(result, 1)}")
        self.scope, self.left, self.leaving = saved
        self.expressions[result], self.templates = known
        self._know(result, call(*["<int0> % 3"] * recursive))
        return [f"def {name}({', '.join(head)}):", *lines, "", ""]

    def _know(self, result: str, call: str) -> None:
        """Statements and expressions may be this call from now on."""
        self.expressions[result] = [*self.expressions[result], call, call, call]
        self.templates = [*self.templates, [f"<={result}> = {call}"]]

    def enter(self, held: list[str], start: bool = True) -> list[str]:
        """The first lines of a function; the outside is in its scope."""
        lines = [f"    {kind} {', '.join(names)}" for kind in ("global", "nonlocal") if (names := self.outside[kind])]
        lines.append("    s0 = x.mean()")
        places = {name: self.types[name] for kind in ("global", "nonlocal") for name in self.outside[kind]}
        places |= {name: self.types[name] for name in held}
        if self.method:
            places |= {name: t for t, names in grammar.ATTRIBUTES.items() for name in names}
        for name, t in places.items():
            if start and t in grammar.STARTS:
                lines.append("    " + self.fill(grammar.STARTS[t].format(name), 0))
        self.scope |= places
        return lines

    def initial(self, t: str) -> str:
        return self.leaf(t, variables=False) if self.rng.random() < 0.5 else self.expression(t, 1)

    def latest(self, t: str) -> str:
        known = [name for name, of in self.scope.items() if of == t]
        return known[-1] if known else self.expression(t, 1)

    def places(self, t: str) -> list[str]:
        """All places of a type: variables, and what is in them."""
        found, left = [], [*self.scope.items()]
        while left:
            name, of = left.pop(0)
            if of == t:
                found.append(name)
            left += [(part.format(name), inner) for inner, parts in grammar.PARTS.get(of, {}).items() for part in parts]
        return found

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
        known = self.places(t) if variables else []
        if known and self.rng.random() < 0.75:
            return self.rng.choice(known)
        return self.fill(self.rng.choice(grammar.LEAVES[t]), 0)

    def place(self, t: str, assigned: bool = True) -> str:
        """A place that there is, and that may be assigned here."""
        known = [name for name in self.places(t) if not (assigned and name in self.frozen)]
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
        if hole == "made":
            return self.made
        if hole == "cmp":
            return self.rng.choice(COMPARE)
        if hole.startswith("index"):
            return self.index(hole.partition(" of ")[2] or "x")
        if hole[0] in "$!":
            t, _, name = hole[1:].partition(":")
            place = self.place(t, assigned=hole[0] == "$")
            if name:
                local[name] = place
            return place
        if hole.startswith(":"):
            return local[hole[1:]]
        if hole.startswith("="):
            return self.target(hole[1:], new)
        if hole.startswith("@"):
            name, _, t = hole[1:].partition(":")
            if name not in local:
                local[name] = self.fresh(t)
                if t and t not in ("fn", "act"):  # a function does not know itself, or it would not end
                    self.scope[local[name]] = t
            return local[name]
        if hole.startswith("^"):
            if hole not in local:
                known = [n for n, of in self.scope.items() if of == hole[1:] and n in self.frozen and n[:4] != "held"]
                if not known:
                    raise NotPossible
                local[hole] = self.rng.choice(known)
            return local[hole]
        return self.leaf(hole[:-1]) if hole.endswith("0") else self.expression(hole, parts)

    def target(self, t: str, new: dict[str, str] | None) -> str:
        if self.rng.random() < 0.7:
            try:
                return self.place(t)
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
            if depth <= 0 and re.search(r"^ *<(block|body|function|procedure)>$", template, re.M):
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
            self.frozen = self.frozen | {name for name in self.scope if name.isidentifier()} - {"v"}
            if "(v" in template:
                self.scope["v"] = "vec"
        around: list[tuple[int, dict[str, str]]] = [(0, self.scope)]
        for line in template.split("\n"):
            inner = len(line) - len(line.lstrip())
            # what a branch assigns is not known in another one
            while inner < around[-1][0]:
                self.scope = around.pop()[1]
            if inner > around[-1][0]:
                around.append((inner, dict(self.scope)))
            pad = "    " * indent + line[:inner]
            kind = line.strip()[1:-1] if line.strip() in [f"<{b}>" for b in _BLOCKS] else ""
            if kind:
                scope = dict(self.scope)
                lines += self.block(kind, indent + inner // 4, depth - 1)
                self.scope = scope
                continue
            new: dict[str, str] = {}
            if line.startswith("del <$"):
                names = [n for n, t in self.scope.items() if t == "num" and n.startswith("num_") and n not in self.frozen]
                if not names or not self.raising:
                    raise NotPossible
                name = self.rng.choice(names)
                del self.scope[name], before[name]
                lines.append(f"{pad}del {name}")
                continue
            text = self.fill(line.strip(), parts, new, local)
            if text.startswith("nonlocal "):
                lines += self.declared(text.split(" ", 1)[1].split(", "), pad)
            else:
                lines.append(pad + text)
            self.scope |= new
            if inner == 0 and not line.endswith(":"):
                before |= new
        self.frozen = frozen
        if function:
            before[local["f"]] = "fn" if "<@f:fn>" in template else "act"
        self.scope = before
        return lines

    def declared(self, names: list[str], pad: str) -> list[str]:
        """The statements for variables of the outside that a function assigns."""
        self.frozen = self.frozen - {*names}
        outer = [name for name in names if name.startswith("KEPT")]
        inner = [name for name in names if name not in outer]
        return [f"{pad}{kind} {', '.join(found)}" for kind, found in (("global", outer), ("nonlocal", inner)) if found]

    def block(self, kind: str, indent: int, depth: int) -> list[str]:
        saved = self.loops, self.leaving, self.returned
        self.loops = self.loops + 1 if kind == "body" else 0 if kind in _RETURNED else self.loops
        if kind in _RETURNED:
            self.leaving, self.returned = self.rng.random() < 0.5, _RETURNED[kind]
        lines: list[str] = []
        for _ in range(self.rng.choice((1, 1, 2, 2, 3)) if self.left > 0 else 1):
            lines += self.statement(indent, depth if self.left > 0 else 0)
        self.loops, self.leaving, self.returned = saved
        return lines

    def leave(self, indent: int) -> list[str]:
        pad = "    " * indent
        ways = [("return " + ", ".join(self.expression(t, 1) for t in self.returned)).rstrip()]
        if self.loops:
            ways += grammar.LEAVING
        return [f"{pad}if {self.expression('cond', self.parts)}:", f"{pad}    {self.rng.choice(ways)}"]


def indented(lines: list[str]) -> list[str]:
    """The lines of a block."""
    return [f"    {line}" if line else "" for line in lines]


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
