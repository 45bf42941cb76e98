"""Random programs over tensors and Python numbers: static gives what eager gives, with gradients, for several inputs and one trace."""

import itertools
import linecache
import random

import pytest
from dy2st_runtime import config
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from three_ways import compare, outcome

from dy2st import jit

_numbers = itertools.count()
FLOATS, INTS = ("x", "u", "v"), ("i", "j")
INPUTS = [([1.0, -2.0], 3), ([0.5, 2.0], 0), ([-1.5, 0.25], 1)]


def expression(rng, depth=2):
    """A float32 vector; kept small by tanh."""
    kind = rng.randint(0, 6 if depth else 1)
    if kind == 0:
        return rng.choice(FLOATS)
    if kind == 1:
        return f"(x * {rng.choice(['0.5', 'w', '2', 'k'])})"
    a, b = expression(rng, depth - 1), expression(rng, depth - 1)
    if kind == 2:
        return f"({a} {rng.choice('+-*')} {b})"
    if kind == 3:
        return f"{a}.tanh()"
    if kind == 4:
        return f"({a} if {condition(rng)} else {b})"
    if kind == 5:
        return f"({a} * {rng.choice(INTS)})"
    return f"({a} + {b}.sum())"


def condition(rng, depth=1):
    kind = rng.randint(0, 5 if depth else 2)
    if kind == 0:
        return f"{rng.choice(FLOATS)}.sum() > {rng.choice(['0', '1.0', 'w'])}"
    if kind == 1:
        return f"{rng.choice(INTS)} {rng.choice(['<', '>=', '=='])} {rng.choice(['n', 'k', '1'])}"
    if kind == 2:
        return f"{rng.choice(FLOATS)}[0] < 0.75"
    if kind == 3:
        return f"not {condition(rng, 0)}"
    return f"({condition(rng, 0)}) {rng.choice(['and', 'or'])} ({condition(rng, 0)})"


def block(rng, depth, in_loop, indent):
    pad = "    " * indent
    lines = []
    for _ in range(rng.randint(1, 3)):
        kind = rng.randint(0, 9)
        if kind <= 2 or (kind >= 5 and depth == 0):
            lines.append(f"{pad}{rng.choice(('u', 'v', 'x'))} = ({expression(rng)}).tanh()")
        elif kind == 3:
            lines.append(
                f"{pad}{rng.choice(('i = i + 1', 'j = (j + i) % 3', 'k = k + 1', 'w = w * 0.5', 'w = w - k'))}"
            )
        elif kind == 4:
            lines.append(f"{pad}{rng.choice(('u[0] = v[1]', 'v.scale_(0.5)', 'out.append(u * 1)', 'u += v'))}")
        elif kind in (5, 6):
            lines.append(f"{pad}if {condition(rng)}:")
            lines += block(rng, depth - 1, in_loop, indent + 1)
            if rng.random() < 0.5:
                lines.append(f"{pad}else:")
                lines += block(rng, depth - 1, in_loop, indent + 1)
        elif kind == 7:
            counter = f"c{next(_numbers)}"
            lines.append(f"{pad}for {counter} in range({rng.choice(['n', 'n + 1', '2'])}):")
            lines += block(rng, depth - 1, True, indent + 1)
            lines.append(f"{pad}    i = i + {counter}")
        elif kind == 8:
            counter = f"c{next(_numbers)}"
            lines.append(f"{pad}{counter} = 0")
            lines.append(f"{pad}while {counter} < 3 and ({condition(rng)}):")
            lines.append(f"{pad}    {counter} = {counter} + 1")
            lines += block(rng, depth - 1, True, indent + 1)
        else:
            leave = rng.choice(("break", "continue", "return u, i, k") if in_loop else ("return v, j, k",))
            lines.append(f"{pad}if {condition(rng)}:")
            lines.append(f"{pad}    {leave}")
    return lines


def program(rng):
    head = ["def program(x, n):", "    u, v, i, j, k, w, out = x * 0.5, x + 1, n * 0, n + 1, 1, 1.5, [x]"]
    return "\n".join(
        [*head, *block(rng, 2, False, 1), "    out.append(u * v + x)", "    return concat(out, 0), i + j, k"]
    )


def compiled(source):
    from dy2st import concat

    name = f"<random program {next(_numbers)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace = {"concat": concat, "__name__": "random_program"}
    exec(compile(source, name, "exec"), namespace)
    return namespace["program"]


def check(source):
    function = compiled(source)
    static = jit.to_static(function)
    for values in INPUTS:
        compare(outcome(function, values), outcome(static, values), (source, values))
    assert len(static.concrete_programs) == 1, static.explain()


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_interpreted_is_eager(rng):
    with config.NO_JIT.override(True):
        check(program(rng))


@pytest.mark.parametrize("seed", range(4))
def test_native_is_eager(seed):
    check(program(random.Random(seed)))
