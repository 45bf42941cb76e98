"""Mixtures: small programs in which one name is a number of Python in some runs and a tensor, a truth, a text or None in others.

Python asks at each step what a value is: `round`, `divmod`, `[1] * v`, `v is True`, `a or b`, `f"{v}"` do one thing with a number and
another with a tensor. The grammar gives most names one kind for good. Of these programs a quarter is refused, and a seventh raises.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from .filling import Filler, indented

HEADER = """\
import dy2st as paddle
from tests.fuzz.world import Box, Stop


class Bad(Exception):
    pass


class Worse(Bad):
    def __init__(self, what, *rest):
        super().__init__(what)
        self.what, self.rest = what, rest


def half(v):
    if v > 2:
        return v // 2
    return v


def kind(v):
    if isinstance(v, paddle.Tensor):
        return 1
    if isinstance(v, bool):
        return 2
    if v is None:
        return 3
    return 4 if isinstance(v, str) else 5


"""
OFTEN = ("recursion", "loop", "list", "dict", "object", "kept", "truth", "function", "number", "class", "print")
SELDOM = ("text", "none", "division", "raise", "try")
NOT_KEPT = {"try", "raise", "division", "number", "none"}
"""What raises: a static call that fails leaves what is kept as it was before, an eager one does not."""
NUMBERS = (("0", "1", "2", "-1", "5"), ("0", "1", "2", "-1", "3", "True", "7", "0.5", "2.5"))
START = {
    "text": ["s = 'ab'"],
    "none": ["z = None"],
    "list": ["xs = [<v>, <v>]"],
    "dict": ["d = {'p': <v>, 1: <v>}"],
    "object": ["box = Box(<v>)"],
}
# <m> is a number of Python's
EXPRESSIONS = {
    "": ["<v>", "<m>", "<m>", "<v> + <m>", "<v> * <m>", "<v> + <v>", "<v> * <v>", "<v> - <v>", "k * 1", "x[1]", "x.sum()",
         "(<v> if <c> else <v>)", "(<v> if <c> else <m>)", "-<v>", "abs(<v>)", "max(<v>, <v>)", "min(<v>, <m>)"],
    "number": ["int(<v>)", "float(<v>)", "bool(<v>)", "round(<v>)", "<v> // <2|3|-2>", "<v> % <2|3|-2>", "divmod(<v>, 2)[<0|1>]",
               "<v> ** 2", "pow(<v>, 2)", "sum([<v>, <v>])", "+<v>"],
    "division": ["<v> / <v>", "<v> // <v>", "1 / <v>", "<v> % <v>", "<v> ** <v>"],
    "truth": ["<v> and <v>", "<v> or <v>", "not <v>", "<v> > <v>", "<v> == <v>", "<v> is True", "<v> != <v>", "<v> in (1, <v>)"],
    "none": ["None", "(None if <c> else <v>)"],
    "text": ["'a'", "'bc'", "str(<v>)", "f'{<v>}'", "f'({<v>} {<v>})'", "('a' if <c> else 'b')", "<v> + 'c'", "'%s' % <v>",
             "'{}|'.format(<v>)", "repr(<v>)"],
    "list": ["xs[0]", "xs[-1]", "sum(xs)", "len(xs)", "xs[k % 2]", "max(xs)", "xs.count(<v>)", "sorted(xs)[0]", "(<v> in xs)",
             "xs.pop()", "any(xs)"],
    "dict": ["d['p']", "d.get('q', <v>)", "d.get('q')", "len(d)", "sum(d.values())", "('q' in d)", "d.pop('q', <v>)",
             "list(d.values())[-1]", "d[1]"],
    "object": ["box.value", "getattr(box, 'more', 3)", "hasattr(box, 'more')"],
    "function": ["half(<v>)", "(lambda w=<v>: w + 1)()", "[w + 1 for w in (<v>, <v>)][0]", "next((w for w in (<v>, <v>) if w), <m>)"],
    "class": ["kind(<v>)", "type(<v>)(2)"],
    "kept": ["state['n']", "state['t']", "total", "len(log)"],
}  # fmt: skip
CONDITIONS = {
    "": ["k > <0|1|2>", "k == <0|1|2|3>", "x[0] > <0|1>", "k > <0|1|2>", "<v> > <m>", "<v> == <v>", "<v> < <v>", "<v>", "not <v>"],
    "none": ["<v> is None", "<v> is not None"],
    "text": ["<v> == 'a'", "isinstance(<v>, str)"],
    "truth": ["<v> and <v>", "<v> or k > 1", "<v> in (1, 2)", "0 < <v> <= <v>", "<v> is False"],
    "class": ["isinstance(<v>, (int, float))", "kind(<v>) == <1|2|3|4|5>", "type(<v>) is type(<v>)", "isinstance(<v>, bool)"],
}
STATEMENTS = {
    "": ["<n> = <e>", "<n> = <e>", "<s> = <e>", "<s> <+|-|*>= <v>", "<s> += <m>"],
    "list": ["xs.append(<e>)", "xs[0] = <e>", "xs.insert(0, <v>)", "xs.reverse()", "xs.sort()", "del xs[0]", "xs[k % 2] = <v>",
             "xs.extend([<v>, 1])", "xs[0] += <v>"],
    "dict": ["d['p'] = <e>", "d['q'] = <e>", "d.setdefault('q', <v>)", "d.update(r=<v>)", "d['p'] += <v>"],
    "object": ["box.value = <e>", "box.more = <e>", "box.value += <v>"],
    "kept": ["state['n'] = <v>", "state['t'] = <e>", "log.append(<v>)", "state['n'] += 1"],
    "raise": ["if <c>: raise Bad(<v>)"],
    "print": ["print(<v>, <v>)"],
}  # fmt: skip
LOOPS = (("for i in range(k):", ["i"]), ("for i in range(3):", ["i"]), ("for i, w in enumerate([<v>, <v>]):", ["i", "w"]))
RAISED = ("Bad(<v>, <m>)", "Bad('s', <v>)", "Worse(<v>, 1)", "Stop('t')", "ValueError('v')")
CAUGHT = ("Bad", "Exception", "(Bad, Stop, ValueError)", "ZeroDivisionError", "(TypeError, Bad)", "(Bad, KeyError, IndexError)")
OF_WHAT_IS_CAUGHT = ("error.args[0]", "len(error.args)", "error.args[-1]", "2", "type(error).__name__")


class Mixer(Filler):
    """Writes one program."""

    def __init__(self, rng: random.Random):
        super().__init__(rng)
        found = [k for k in OFTEN if rng.random() < 0.4] + [k for k in SELDOM if rng.random() < 0.12]
        self.kinds = ["", *(k for k in found if "kept" not in found or k not in NOT_KEPT)]
        self.numbers = rng.choice(NUMBERS)

    def condition(self) -> str:
        return self.of_kind(CONDITIONS)

    def expression(self) -> str:
        return self.of_kind(EXPRESSIONS)

    def filled(self, template: str, names: Sequence[str]) -> str:
        while "<m>" in template:
            template = template.replace("<m>", self.rng.choice(self.numbers), 1)
        return super().filled(template, names)

    def program(self) -> str:
        r, names = self.rng, ["k", "g", "h"]
        lines = ["k = n", self.filled("g = <k * 1|1|x[0]|2|k + 1>", names), self.filled("h = <3|not k|x.sum()|True|0>", names)]
        for kind in self.kinds:
            lines += [self.filled(line, names) for line in START.get(kind, ())]
            names += {"text": ["s"], "none": ["z"]}.get(kind, [])
        if "recursion" in self.kinds:
            lines += self.recursion()
        lines += self.block(names, 0, r.randint(2, 5))
        if "recursion" in self.kinds:
            lines.append(self.filled("r = visit(<v>, <v>, n)", names))
            lines += self.block([*names, "r"], 0, r.randint(0, 2))
            names.append("r")
        shown = [*r.sample(names, 2), *(x for kind, x in (("list", "xs"), ("dict", "d"), ("object", "box.value")) if kind in self.kinds)]
        lines.append(f"return {', '.join(shown)}")
        if "kept" not in self.kinds:
            return HEADER + "\n".join(["def program(x, n, m, a):", *indented(lines)]) + "\n"
        # the gradients of one call end with it
        lines = ["nonlocal total", "x = x.detach()", *lines[:-1], "total = total + 1", lines[-1]]
        around = ["state = {'n': 0, 't': None}", "total = 0", "log = []", "def program(x, n, m, a):", *indented(lines), "return program"]
        return HEADER + "\n".join(["def surroundings():", *indented(around), "", "", "program = surroundings()"]) + "\n"

    def recursion(self) -> list[str]:
        """A function inside that calls itself, under a condition on a tensor."""
        r, names = self.rng, ["a", "b", "k", "g"]
        body = self.block(names, 1, r.randint(0, 1), inner=True)
        body.append(self.filled("if k <= 0: return <e>", ["a", "b", "g"]))
        body += self.block(names, 1, r.randint(0, 2), inner=True)
        body.append(self.filled("w = visit(<e>, <e>, k - 1)", names))
        body += self.block([*names, "w"], 1, r.randint(0, 1), inner=True)
        body.append(self.filled("return <e>", [*names, "w"]))
        return ["def visit(a, b, k):", *indented(body)]

    def block(self, names: list[str], depth: int, size: int, inner: bool = False) -> list[str]:
        """Some statements; `names` gets those that they make.

        Args:
            inner: whether it is in the function inside, which does not assign variables of the one around.
        """
        return [line for _ in range(size) for line in self.statement(names, depth, inner)]

    def inside(self, names: Sequence[str], depth: int, most: int, inner: bool) -> list[str]:
        return indented(self.block(list(names), depth + 1, self.rng.randint(1, most), inner))

    def statement(self, names: list[str], depth: int, inner: bool) -> list[str]:
        r, chance = self.rng, self.rng.random()
        if depth < 2 and chance < 0.16:
            lines = [self.filled("if <c>:", names), *self.inside(names, depth, 2, inner)]
            if r.random() < 0.25:
                lines += [self.filled("elif <c>:", names), *self.inside(names, depth, 1, inner)]
            return [*lines, "else:", *self.inside(names, depth, 2, inner)] if r.random() < 0.4 else lines
        if depth < 2 and chance < 0.28 and "loop" in self.kinds:
            return self.loop(names, depth, inner)
        if depth < 2 and chance < 0.42 and "try" in self.kinds:
            return self.tried(names, depth, inner)
        template = self.of_kind(STATEMENTS)
        own = [v for v in names if v[0] in "vw"] if inner else [v for v in names if v != "k"]
        if "<s>" in template:
            if not own:
                return [f"{self.fresh()} = 0"]
            template = template.replace("<s>", r.choice(own))
        line = self.filled(template, names)
        if template.startswith("<n>"):
            names.append(line.split(" ")[0])
        return [line]

    def loop(self, names: Sequence[str], depth: int, inner: bool) -> list[str]:
        r = self.rng
        if r.random() < 0.25:
            left = f"j{self.fresh()}"
            body = self.inside([*names, left], depth, 2, inner)
            return [f"{left} = k * 1", f"while {left} > 0:", *body, f"    {left} = {left} - 1"]
        head, made = r.choice(LOOPS)
        lines = [self.filled(head, names), *self.inside([*names, *made], depth, 2, inner)]
        if r.random() < 0.35:
            lines.append(self.filled("    if <c>: <break|continue>", names))
        return [*lines, "else:", *self.inside(names, depth, 1, inner)] if r.random() < 0.2 else lines

    def tried(self, names: Sequence[str], depth: int, inner: bool) -> list[str]:
        r = self.rng
        lines = ["try:", *self.inside(names, depth, 2, inner)]
        if r.random() < 0.7:
            lines.append(self.filled(f"    if <c>: raise {r.choice(RAISED)}", names))
        own = [v for v in names if v != "k"]
        target = r.choice(own) if own and not inner else self.fresh()
        lines += [f"except {r.choice(CAUGHT)} as error:", f"    {target} = {r.choice(OF_WHAT_IS_CAUGHT)}"]
        if r.random() < 0.15:
            lines.append("    raise")
        for more in ("else:", "finally:"):
            if r.random() < 0.25:
                lines += [more, *self.inside(names, depth, 1, inner)]
        return lines


def mixture(seed: int) -> str:
    """The program of a seed."""
    return Mixer(random.Random(f"mixture {seed}")).program()
