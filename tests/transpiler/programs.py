"""A generator of random terminating Python functions."""

import random
import textwrap

NAMES = ["a", "b", "c", "d"]


def program(rnd: random.Random, size: int = 3) -> str:
    """The text of a function `f(a, b, xs, box, obj)`."""
    return "def f(a, b, xs, box, obj):\n    fs = []\n" + _indent(_block(rnd, size, False)) + "\n"


def _indent(text: str) -> str:
    return textwrap.indent(text, "    ")


def _expression(rnd: random.Random, depth: int) -> str:
    def sub() -> str:
        return _expression(rnd, depth - 1)

    if depth == 0 or rnd.random() < 0.4:
        return rnd.choice([*NAMES, "0", "1", "2", "3", "len(xs)", "xs[0]", "box['n']"])
    return rnd.choice(
        [
            lambda: f"({sub()} {rnd.choice(['-', '^', '//', '%'])} {sub()})",
            lambda: f"(short({sub()}) + short({sub()}))",  # of lists too, which would double in each round of a loop
            lambda: f"({sub()} {rnd.choice(['and', 'or', '<', '==', '>=', '!='])} {sub()})",
            lambda: f"({sub()} < {sub()} <= {sub()})",
            lambda: f"({sub()} if {sub()} else {sub()})",
            lambda: f"(not {sub()})",
            lambda: f"show({rnd.choice('pqr')!r}, {sub()})",
            lambda: f"({sub()} in ({sub()}, {sub()}))",
            lambda: f"({rnd.choice(NAMES)} := {sub()})",
            lambda: f"[v + {sub()} for v in xs if v > {sub()}][-1]",
        ]
    )()


def _simple(rnd: random.Random, in_loop: bool) -> str:
    name, other, e = rnd.choice(NAMES), rnd.choice(NAMES), _expression(rnd, 2)
    small, tiny = _expression(rnd, 1), _expression(rnd, 1)
    kinds = [
        f"{name} = {e}",
        f"{name} = {e}",
        f"{name} {rnd.choice('-^')}= {e}",
        f"{name} += short({e})",
        f"{name}, {other} = {small}, {tiny}",
        f"print({e})",
        f"print({name})",
        f"xs.append({small})",
        f"xs[{small}] = {tiny}",
        f"xs[{small}] += {tiny}",
        f"{name} = xs.pop()",
        f"box['n'] = {small}",
        f"obj.h = {small}",
        f"print(obj.h, {small})",
        f"del {name}",
        f"assert {small}, {tiny}",
        f"fs.append(lambda: {small})",
        "print([f() for f in fs])",
        f"return {small}",
        "return",
        f"raise ValueError({small})",
    ]
    return rnd.choice(kinds + ["break", "continue"] * 4 * in_loop)


def _block(rnd: random.Random, depth: int, in_loop: bool) -> str:
    return "\n".join(_statement(rnd, depth, in_loop) for _ in range(rnd.randint(1, 4)))


def _statement(rnd: random.Random, depth: int, in_loop: bool) -> str:
    if depth == 0 or rnd.random() < 0.35:
        return _simple(rnd, in_loop)

    def inner(loop: bool = False) -> str:
        # Each round of a loop costs fuel.
        return _indent("tick()\n" * loop + _block(rnd, depth - 1, loop or in_loop))

    def optional(word: str) -> str:
        return f"\n{word}:\n{inner()}" if rnd.random() < 0.4 else ""

    def test() -> str:
        return _expression(rnd, 1)

    def loop() -> str:
        target = rnd.choice([*NAMES, *NAMES, "(a, *b)", "xs[0]"])
        return f"for {target} in {rnd.choice(['range(3)', 'list(xs)', 'range(tick(2))', 'zip(xs, xs)', '(1, 2)'])}"

    return rnd.choice(
        [
            lambda: f"if {test()}:\n{inner()}{optional('else')}",
            lambda: f"if {test()}:\n{inner()}\nelif {test()}:\n{inner()}{optional('else')}",
            lambda: f"if {test()}:\n{inner()}{optional('else')}",
            lambda: f"while {test()}:\n{inner(True)}{optional('else')}",
            lambda: f"{loop()}:\n{inner(True)}{optional('else')}",
            lambda: f"{loop()}:\n{inner(True)}{optional('else')}",
            lambda: f"try:\n{inner()}\nexcept (ArithmeticError, NameError) as {rnd.choice('ea')}:\n{inner()}{optional('else')}",
            lambda: f"try:\n{inner()}\nfinally:\n    print('finally')",
            lambda: f"with manager({rnd.random() < 0.5}):\n{inner()}",
            lambda: f"def g(a=1):\n{_indent(_block(rnd, depth - 1, False))}\nfs.append(g)",
        ]
    )()
