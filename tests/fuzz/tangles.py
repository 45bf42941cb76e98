"""Tangles: small programs in which one tensor has many names, by branches, loops, calls, recursion, containers and handlers, and changes
in place, or lets gradients through no more, under one of them while others are read.

The grammar writes all of the language, and so little of this at once. What goes on here is little else. Half of the programs are refused,
as only the run knows who sees the change; the others have to see it where eager mode does.
"""

from __future__ import annotations

import random
import re

from .filling import Filler, indented

HEADER = """\
import dy2st as paddle
from dy2st import nn
from tests.fuzz.world import Box, Pair, Stop


def first(u, v, k):
    if k > 1:
        return u
    return v


def swapped(u, v, k):
    return (v, u) if k > 1 else (u, v)


def changed(u, v, k):
    u.add_(k)
    if v[0] > 3:
        return u
    v.add_(k)
    return v


@paddle.no_grad()
def quiet(u, v):
    return u * v


def given(u, v):
    yield u
    yield v
    yield u


"""
CALLS = [([1.0, -2.0], 3, [1], [[0.5]]), ([0.5, 2.0], 0, [1], [[0.5]]), ([-1.5, 3.0], 1, [1], [[0.5]]), ([2.0, 1.0], 2, [1], [[0.5]])]
"""Tensors of one length, as what one call keeps the next one finds."""
KINDS = (
    "object", "list", "dict", "rows", "pair", "closure", "generator", "views", "flags", "recursion", "function", "loop",
    "try", "swap", "none",
)  # fmt: skip
START = {
    "object": ["box = Box(<g|h|x * 5>)", "other = <box|Box(h)|Box(x - 1)>"],
    "list": ["items = [<g|h|x * 7>, <g|h|x * 6>]", "same = items"],
    "dict": ["table = {'p': <g|h|x * 8>}"],
    "rows": ["rows = [[<g|h>, x * 4], [<g|h>]]"],
    "pair": ["pair = Pair(<g|h>, <g|h|x * 3>)"],
    "closure": ["last = [<g|h>]", "def kept(): return last[-1]", "def keep(u): last[0] = u"],
}
# what an expression may be, by what the program has; <v> is a name, <c> a condition, <e> another expression
EXPRESSIONS = {
    "": ["<v>"] * 5 + ["<v> * 2", "<v> + <v>", "(<v> if <c> else <v>)", "(<v> if <c> else <v>)"],
    "object": ["box.value", "other.value"],
    "list": ["items[0]", "items[-1]", "items[k % 2]", "max(items, key=lambda u: u.sum())"],
    "dict": ["table['p']", "table.get('q', <v>)"],
    "rows": ["rows[0][0]", "rows[-1][-1]", "rows[k % 2][0]"],
    "pair": ["pair[0]", "pair[k % 2]"],
    "closure": ["kept()", "(lambda u=<v>: u)()"],
    "generator": ["next(given(<v>, <v>))", "list(given(<v>, <v>))[<0|1>]", "list(given(<v>, <v>))[k % 2]"],
    "flags": ["quiet(<v>, <v>)", "<v>.detach()", "<v> * <v>"],
    "views": ["<v>.detach()", "<v>.reshape([-1])", "<v>[:]", "<v>.clone()", "<v>.astype('float32')", "nn.Identity()(<v>)",
              "paddle.assign(<v>)"],
    "function": ["first(<v>, <v>, k)", "swapped(<v>, <v>, k)[<0|1>]", "next(u for u in [<v>, <v>] if u is not None)",
                 "changed(<v>, <v>, one)"],
}
IN_PLACE = ["<v>.add_(one)"] * 4 + ["<v>[0] = 9.0", "<v> += 1", "<v>.clip_(-0.5, 2.5)", "<v>[-1] = <v>[0]"]
STATEMENTS = {
    "": ["<n> = <e>", "<n> = <e>", *IN_PLACE],
    "object": ["box.value = <e>", "other.value = <e>", "box.value.add_(one)"],
    "list": ["items.append(<e>)", "items[0] = <e>", "items[0].add_(one)", "items[-1][0] = 5.0", "items.insert(0, <e>)"],
    "dict": ["table['p'] = <e>", "table['q'] = <e>", "table['p'].add_(one)", "table.setdefault('q', <e>)"],
    "rows": ["rows[0].append(<e>)", "rows[<0|1>][0] = <e>", "rows[0][0].add_(one)", "rows[<0|1>] = [<v>, <v>]", "rows[0] = rows[1]"],
    "closure": ["keep(<e>)", "kept().add_(one)"],
    "function": ["changed(<v>, <v>, one)"],
    "generator": ["for u in given(<v>, <v>): u.add_(one)"],
    "flags": ["<v>.stop_gradient = True", "<v>.stop_gradient = False"],
    "loop": ["for u in [<v>, <v>]: u.add_(one)"],
}
# those that give a variable of the function another value
ASSIGNED = {
    "": ["<s> = <e>"],
    "object": ["box, other = other, box", "box = Box(<e>)", "box = other"],
    "list": ["same = items", "items = list(items)", "items = same", "items = items[::-1]", "same.append(one * 3)",
             "items = sorted(items, key=sum)"],
    "swap": ["<s>, <s> = <s>, <s>"],
    "rows": ["rows = rows[::-1]", "rows = [list(r) for r in rows]", "rows = rows + [[<e>]]"],
    "pair": ["pair = Pair(pair[1], <e>)", "pair = pair if <c> else Pair(<v>, <v>)", "pair = pair._replace(left=<e>)"],
    "loop": ["for u in [<v>, <v>]:\n    if <c>: <s> = u", "i = k * 1\nwhile i > 0:\n    <s> = <e>\n    i = i - 1"],
    "generator": ["for u in given(<v>, <v>):\n    if <c>: <s> = u", "<s> = next(given(<v>, <v>))"],
}
CONDITIONS = ["k > <0|1|2|3>", "k == <0|1|2|3>", "<v>[0] > <-1|1|3|6>", "<v>.sum() > <-1|1|4>"]
SHOWN = {
    "object": ["box.value", "other.value"], "list": ["items[0]", "items[-1]"], "dict": ["table['p']"], "closure": ["kept()"],
    "rows": ["rows[0][0]", "rows[-1][-1]"], "pair": ["pair[0]", "pair[1]"],
}  # fmt: skip


class Tangler(Filler):
    """Writes one program."""

    def __init__(self, rng: random.Random):
        super().__init__(rng)
        self.kinds = ["", *(kind for kind in KINDS if rng.random() < 0.4)]

    def condition(self) -> str:
        return self.rng.choice(CONDITIONS)

    def expression(self) -> str:
        return self.of_kind(EXPRESSIONS)

    def program(self) -> str:
        r = self.rng
        names = ["g", "h"]
        held = [self.filled(line, names) for kind in self.kinds for line in START.get(kind, ())]
        start, lines = ["g = x + 1", f"h = {r.choice(('g', 'x * 3'))}"], ["one = x * 0 + 1", "k = n"]
        # what the containers hold is there in the next call; the gradients of one call end with it
        kept = r.random() < 0.3 and "flags" not in self.kinds
        if kept:
            functions = [line for line in held if line.startswith("def")]
            around = ["x = paddle.to_tensor([1.0, 2.0])", *start, *(line for line in held if line not in functions)]
            assigned = ", ".join(line.split(" ")[0] for line in around[1:])
            lines = [f"nonlocal {assigned}", "x = x.detach()", *lines, *functions]
        else:
            lines += [*start, *held]
        if "recursion" in self.kinds:
            lines += self.recursion()
        lines += self.block(names, 0, r.randint(2, 5))
        if "recursion" in self.kinds:
            lines.append(self.filled("r = visit(<v>, <v>, n)", names))
            lines += [*self.block([*names, "r"], 0, r.randint(0, 2)), "h = r"]
        shown = [*r.sample(names, 2), *(x for kind in self.kinds for x in SHOWN.get(kind, ()))]
        r.shuffle(shown)
        lines.append(f"return {', '.join(f'{x} * 1' for x in shown[:4])}, {'len(items)' if 'list' in self.kinds else 'k'}")
        lines = ["def program(x, n, m, a):", *indented(lines)]
        if kept:
            lines = ["def surroundings():", *indented([*around, *lines, "return program"]), "", "", "program = surroundings()"]
        return HEADER + "\n".join(lines) + "\n"

    def recursion(self) -> list[str]:
        """A function inside that calls itself, under a condition on a tensor, once or twice."""
        r, names = self.rng, ["a", "b", "g", "h"]
        end = [self.filled(r.choice(IN_PLACE[:6]), ["a"])] * (r.random() < 0.3)
        end.append(self.filled("return <a|b|g|h|a * 2>", names))
        body = self.block(names, 1, r.randint(0, 2), inner=True)
        for i in range(r.choice((1, 1, 1, 2))):
            body.append(self.filled(f"r{i} = visit(<e>, <e>, k - 1)", names))
            names.append(f"r{i}")
            body += self.block(names, 1, r.randint(0, 2), inner=True)
        body.append(self.filled("return <e>", names))
        return ["def visit(a, b, k):", *indented(["if k <= 0:", *indented(end), *body])]

    def block(self, names: list[str], depth: int, size: int, inner: bool = False) -> list[str]:
        """Some statements; `names` gets those that they make.

        Args:
            inner: whether it is in the function inside, which does not assign variables of the one around.
        """
        return [line for _ in range(size) for line in self.statement(names, depth, inner)]

    def statement(self, names: list[str], depth: int, inner: bool) -> list[str]:
        r, chance = self.rng, self.rng.random()
        if depth < 2 and chance < 0.16:
            sides = [self.block(list(names), depth + 1, r.randint(1, 2), inner) for _ in range(r.choice((1, 2)))]
            lines = [self.filled("if <c>:", names), *indented(sides[0])]
            return [*lines, "else:", *indented(sides[1])] if len(sides) > 1 else lines
        if depth < 2 and chance < 0.24 and "loop" in self.kinds:
            body = self.block(list(names), depth + 1, r.randint(1, 3), inner)
            if r.random() < 0.25:
                body.append(self.filled("if <c>: <break|continue>", names))
            return [self.filled("for _ in range(<k|1|2|3>):", names), *indented(body)]
        if depth < 2 and chance < 0.32 and "try" in self.kinds:
            body = self.block(list(names), depth + 1, r.randint(1, 2), inner)
            body += [self.filled("if <c>: raise Stop(<v>)", names), *self.block(list(names), depth + 1, 1, inner)]
            handler = "error.args[0].add_(one)" if inner or r.random() < 0.5 else "<s> = error.args[0]"
            return ["try:", *indented(body), "except Stop as error:", *indented([self.filled(handler, names)])]
        if chance < 0.36 and "none" in self.kinds:
            name = self.fresh()
            lines = [f"{name} = None", self.filled(f"if <c>: {name} = <v>", names)]
            if r.random() < 0.5:
                return [*lines, f"if {name} is not None: {name}.add_(one)"]
            lines.append(self.filled(f"if {name} is None: {name} = <v>", names))
            names.append(name)
            return lines
        table = STATEMENTS if inner or r.random() < 0.7 else ASSIGNED
        template = self.of_kind(table)
        lines = self.filled(template, names).split("\n")
        line = lines[0]
        if inner and re.match("[gh] ", line):
            line = self.filled("<g|h>.add_(one)", names)  # else it would be a variable of its own
        if template.startswith("<n>"):
            names.append(line.split(" ")[0])
        return [line, *lines[1:]]


def tangle(seed: int) -> str:
    """The program of a seed."""
    return Tangler(random.Random(f"tangle {seed}")).program()
