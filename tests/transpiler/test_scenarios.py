"""Whole functions: the transformed one does what the original does, on plain Python values.

PYTEST_DONT_REWRITE: the functions here contain asserts whose messages are compared.
"""

# ruff: noqa: B006, B007, B018, B023, B905, F821, F841, SIM201

import contextlib

import pytest
from equivalence import assert_same, recursive_runtime
from pyruntime import PyRuntime

from dy2st.transpiler import convert

# --- branches -----------------------------------------------------------------------------------


def if_else(x):
    if x > 0:
        y = x
    else:
        y = -x
    return y


def elif_chain(x):
    if x > 10:
        s = "big"
    elif x > 5:
        s = "mid"
    elif x == 5:
        return "five"
    else:
        s = "small"
    return s + "!"


def one_branch(c):
    if c:
        y = 1
    return y


def one_branch_guarded(c):
    if c:
        y = 1
    if c:
        y += 1
        return y
    return 0


def deleted(c):
    x = 1
    if c:
        del x
    return x


def deleted_twice(c):
    x = 1
    if c:
        del x
    del x
    return c


def swap(a, b):
    if a > b:
        a, b = b, a
    return a, b


def nested_branches(a, b, c):
    r = 0
    if a:
        r = 1
        if b:
            r = 2
            if c:
                t = r * 10
            else:
                t = r * 100
            r = t + 1
        print(r)
    return r


def dead_old_value(a, b):
    x = 0
    if a:
        x = 1
        if b:
            x = 2
        else:
            x = 3
        print(x)
    if b:
        x = 5
    else:
        x = 6
    return x


# --- loops --------------------------------------------------------------------------------------


def while_break_else(n):
    while n > 0:
        n -= 1
        if n == 3:
            print("break")
            break
    else:
        print("else")
        n = 100
    return n


def for_else_return(xs):
    for x in xs:
        if x < 0:
            return "negative"
        if x > 100:
            break
    else:
        return "all"
    return "big"


def break_in_else_of_inner(xs):
    out = []
    for x in xs:
        for y in range(x):
            if y == 2:
                break
        else:
            break
        out.append(x)
    return out


def continue_in_else_of_inner(xs):
    out = []
    for x in xs:
        while x > 3:
            x -= 1
            if x == 5:
                break
        else:
            continue
        out.append(x)
    return out


def return_in_nested_loops(n):
    for i in range(n):
        for j in range(i):
            while True:
                if i * j > 10:
                    return i, j
                if j % 2:
                    break
                j += 1
    print("end")


def while_true(n):
    while True:
        x = n
        n -= 1
        if n < 3:
            break
    return x


def loop_variable_after(xs):
    for v in xs:
        pass
    return v


def loop_variable_reassigned(n):
    out = []
    for i in range(n):
        out.append(i)
        i = i * 2
        out.append(i)
    return out, n and i


def targets(pairs):
    total = 0
    for i, (a, *b) in enumerate(pairs):
        total += i * a + sum(b)
    return total


def no_test_after_break(xs):
    i = 0
    while xs[i] > 0:
        i += 1
        if i == len(xs):
            break
    return i


def carried_over(xs):
    for x in xs:
        if x > 2:
            t = x
        if x > 3:
            print(t)


def used_before_set_in_loop(xs):
    for x in xs:
        if x > 2:
            print(t)
        t = x


def range_once(n):
    for i in range(n):
        n += 1
        print(i, n)


def everything(xs, limit):
    total, seen = 0, []
    for i, x in enumerate(xs):
        if x is None:
            continue
        while x > 0:
            x -= 2
            if x == limit:
                return total, seen, "limit"
            if x % 3 == 0:
                continue
            if total > 50:
                break
            total += x
        else:
            seen.append(i)
            if i == 4:
                break
            continue
        seen.append(-i)
    return total, seen


def deep(a, b, c):
    for i in range(a):
        if i % 2:
            for j in range(b):
                if j == 3:
                    break
                while c > 0:
                    c -= 1
                    if c % 5 == 0:
                        continue
                    if c % 7 == 0:
                        return i, j, c
                    print(i, j, c)
        else:
            continue
        print("row", i)
    return "end"


# --- return ---------------------------------------------------------------------------------------


def many_returns(x):
    if x == 1:
        return "one"
    if x == 2:
        return
    if x == 3:
        pass
    elif x == 4:
        return "four"
    y = x * 2
    if y > 20:
        if y > 30:
            return y
        y += 1
    print(y)
    return -y


def no_value(xs):
    for x in xs:
        if x:
            print(x)
            return
        print("no")
    if len(xs) == 2:
        return
    print("end")


def falls_off(c):
    if c:
        return 1


def both_return(c):
    if c:
        return 1
    else:
        return 2
    print("never")


def raises_or_returns(x):
    if x < 0:
        raise ValueError(f"negative: {x}")
    elif x == 0:
        return 0
    return 1 / (x - 1)


# --- expressions ------------------------------------------------------------------------------------


def f_(name, value):
    print(name)
    return value


def order(a, b, c):
    x = (f_("a", a) and f_("b", b)) or f_("c", c)
    y = f_("a", a) if f_("c", c) else f_("b", b)
    z = f_("1", a) < f_("2", b) <= f_("3", c) != f_("4", a)
    w = not f_("n", a)
    u = f_("i", a) in f_("l", [a, b]), c not in (a, b)
    return x, y, z, w, u


def walrus(xs):
    if xs and (n := len(xs)) > 2:
        return n
    while (n := len(xs)) < 4 and (m := n + 1) < 9:
        xs.append(m)
    r = (k := n) if n > 3 else (k := -n)
    q = 0 < (p := n) < 10
    return r, k, q, p, [y for x in xs if (y := x * 2) > 2], y


def unreachable(xs):
    out = []
    for x in xs:
        out.append(x)
    if xs:
        out.append(0)
        while True:
            if len(out) > 5:
                return out
            out.append(1)
        if x:
            out.append(2)
    return out


def walrus_in_test(xs):
    if n := len(xs):
        m = [v + n for v in xs if v > n]
    else:
        m = n
    for i in (k := range(n)):
        k = m
    return m


def walrus_augmented(b):
    a = b
    b -= (b := 1) if b else 0
    a += 1 and (b := b + 1)
    return a, b


def walrus_order(a):
    return f_("x", a) + (f_("y", 1) and (b := f_("z", 2))) + f_("w", b)


def asserts(x):
    assert x > 0, f"not positive: {f_('message', x)}"
    assert x > 1
    return x


def comprehensions(xs):
    a = [x if x > 1 else -x for x in xs if x > 0 and x < 5]
    b = {k: v for k, v in zip(xs, a) if not k == 2}
    c = sum(x * y for x in xs for y in a if 0 < y < 3)
    return a, b, c, {*xs}


def strings(x):
    d = {"k": x}
    return f"{x!r:>5} {d['k'] if x else 'none'} {x and 1} {{}}"


def calls(*args, **kwargs):
    return dict(zip("ab", args, strict=False), **kwargs), max(*args, key=lambda v: -v if v > 2 else v)


# --- containers -----------------------------------------------------------------------------------------


def lists(n):
    a, b = [], [1, 2, 3, 4, 5, 6, 7, 8]
    for i in range(n):
        a.append(i)
        if i % 2:
            a.extend([i, i])
            a.insert(0, -i)
            x = a.pop()
            y = b.pop(0)
            b.pop()
            print(x, y)
        elif i == 4:
            a.clear()
    return a, b


def items(n):
    a, d = [0] * 5, {}
    for i in range(n):
        a[i] = i
        a[f_("key", i)] += f_("value", 10)
        d["k", i] = a[i]
        if i == 2:
            del a[0], d["k", 0]
            a[1:2] = [7, 8]
            i, a[i] = 1, 50
            a[0] = a[1] = f_("both", 3)
    return a, d


def item_order(n):
    a = {}
    for i in range(n):
        a[f_("key", i)] = f_("value", i)
        (a["x"], a["y"], *a["z"]) = f_("tuple", (1, 2, 3, 4))
    for a["t"] in range(n):
        pass
    return a


def not_a_list(n):
    s, d = set(range(5)), {"a": 1, "b": 2}
    for i in range(n):
        s.pop()
        d.pop("a", None)
        v = d.pop("zz", i)
    if n:
        s.clear()
    return s, d, n and v


class Box:
    def __init__(self, value):
        self.value = value
        self.items = []

    @property
    def fixed(self):
        print("fixed read")
        return self.items

    def __eq__(self, other):
        return vars(self) == vars(other)


def attributes(box, n):
    for i in range(n):
        box.value += i
        box.items.append(i)
        box.fixed.append(-i)
        box.fixed[0] = 9
        box.fixed[-1] += f_("v", 1)
        x = box.items.pop()
        if i == 1:
            box.extra = x
            box.items[0].__class__
    return box.value


# --- try, with, match -----------------------------------------------------------------------------------------


def try_return(x):
    for i in range(3):
        try:
            if x == i:
                return 10 // i
            if x == 5:
                break
            print("body", i)
        except ZeroDivisionError as e:
            print("caught", e)
            if x == 0:
                continue
        else:
            print("else")
        finally:
            print("finally")
    return "end"


def try_nested(x):
    r = []
    try:
        try:
            if x:
                r.append(1)
                y = 1 // (x - 1)
                r.append(y)
        finally:
            r.append("f")
        if x > 5:
            return r
        r.append("after")
    except (ZeroDivisionError, TypeError):
        if x == 1:
            return "zero", r
        raise
    return r


def assigned_in_try(x):
    y = 0
    try:
        y = 1
        if x:
            y = 2
            z = 1 // (x - 1)
            y = z
    except ZeroDivisionError:
        return "caught", y
    return y


def handler_name(x):
    try:
        if x:
            raise ValueError(x)
    except ValueError as e:
        if x > 1:
            return str(e)
        print(e)
    try:
        return e
    except NameError:
        return "gone"


class Manager:
    def __init__(self, swallow=False):
        self.swallow = swallow

    def __enter__(self):
        print("enter")
        return self

    def __exit__(self, *exc):
        print("exit", exc[0])
        return self.swallow


def with_return(x):
    for i in range(4):
        with Manager() as m, contextlib.suppress(KeyError):
            if i == x:
                return i, m.swallow
            if i == 1:
                continue
            if x == 5:
                break
            print(i)
    return "end"


def with_swallow(x):
    with Manager(True):
        if x:
            y = 1 // (x - 1)
        z = 1
        if x == 3:
            z = 2
    return z


def match(command):
    for c in command:
        match c:
            case ["go", *rest] if rest and len(rest) < 3:
                if rest[0] == "home":
                    return "home"
                r = rest
            case {"x": x, **others}:
                if x:
                    continue
                r = others
            case int() | float() as n:
                r = -n if n > 0 else n
                if r == -7:
                    break
            case _:
                r = None
        print(r)
    return "end"


# --- scopes ---------------------------------------------------------------------------------------------------------

COUNT = 0


def uses_global(n):
    for i in range(n):
        if i > 1:
            global COUNT
            COUNT = COUNT + i
    return COUNT


def uses_nonlocal(n):
    total = 0

    def add(i):
        nonlocal total
        if i % 2:
            total += i
        return total

    for i in range(n):
        if i > 1:
            add(i)
        if total > 6:
            return total, "early"
    return total


def late_binding(n):
    fs = []
    for i in range(n):
        j = i * 2
        fs.append(lambda: (i, j))
    return [f() for f in fs]


def closure_over_unset(c):
    def g():
        return x

    if c:
        x = 1
    try:
        return g()
    except NameError:
        return "no x"


def inner_functions(n):
    def fib(k):
        if k < 2:
            return k
        return fib(k - 1) + fib(k - 2)

    def default(a, b=n if n > 2 else -n, *, c=[]):
        while a > 0:
            a -= 1
            c.append(a)
            if len(c) > 5:
                return c
        return a, b, c

    return fib(n), default(n), default(n, c=[1])


def inner_class(n):
    class A:
        limit = n if n > 1 else 1

        def go(self, k):
            for i in range(k):
                if i == self.limit:
                    return i
            return super().__repr__ is not None

        if n:
            flag = True

    return A().go(5), A().go(0), A.limit


def inner_generator(n):
    def gen():
        for i in range(n):
            if i % 2 and i > 0:
                yield i

    out = []
    for v in gen():
        if v > 4:
            break
        out.append(v)
    return out


def annotated(n: int) -> int:
    total: int = 0
    for i in range(n):
        if i > 1:
            total: float = total + i
            step: int
            step = 1
            total += step
    return total


def imports(n):
    if n > 1:
        import math as m
        from os import path

        r = m.floor(2.5), path.sep
    else:
        r = None
    return r


def unicode_names(größe):
    if größe > 1:
        ψ = "größer 🎉"
    else:
        ψ = 'quote " and \\ backslash\n'
    return ψ


def augmented(n):
    a = b = [0]
    if n:
        a += [n]
    for _i in range(n):
        a *= 2
    return a, b, a is b


CASES = [
    (if_else, [(1,), (-1,)]),
    (elif_chain, [(11,), (6,), (5,), (0,)]),
    (one_branch, [(True,), (False,)]),
    (one_branch_guarded, [(True,), (False,)]),
    (deleted, [(True,), (False,)]),
    (deleted_twice, [(True,), (False,)]),
    (swap, [(1, 2), (2, 1)]),
    (nested_branches, [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]),
    (dead_old_value, [(a, b) for a in (0, 1) for b in (0, 1)]),
    (while_break_else, [(0,), (2,), (9,)]),
    (for_else_return, [([],), ([1],), ([1, -1],), ([1, 101, -1],)]),
    (break_in_else_of_inner, [([5, 4, 1, 7],), ([],)]),
    (continue_in_else_of_inner, [([5, 4, 1, 7, 9],)]),
    (return_in_nested_loops, [(0,), (3,), (9,)]),
    (while_true, [(9,), (0,)]),
    (loop_variable_after, [([1, 2],), ([],)]),
    (loop_variable_reassigned, [(3,), (0,)]),
    (targets, [([(1, 2, 3), (4,)],), ([1],)]),
    (no_test_after_break, [([1, 1],), ([1, 0],)]),
    (carried_over, [([3, 4, 4, 1],), ([1, 4],), ([4],), ([5, 9],)]),
    (used_before_set_in_loop, [([1, 3, 4],), ([3],), ([],)]),
    (range_once, [(3,)]),
    (everything, [([3, None, 8, 9, 2, 1, 5], 100), ([3, None, 8], 4), ([9, 30, 30, 30, 5], -9)]),
    (deep, [(0, 0, 0), (4, 5, 40), (4, 5, 6), (2, 9, 3)]),
    (many_returns, [(i,) for i in (0, 1, 2, 3, 4, 5, 11, 16)]),
    (no_value, [([],), ([0, 0],), ([0, 1, 2],), ([0],)]),
    (falls_off, [(0,), (1,)]),
    (both_return, [(0,), (1,)]),
    (raises_or_returns, [(-1,), (0,), (1,), (3,)]),
    (order, [(1, 2, 3), (0, 2, 0), (3, 2, 1), (1, 1, 1)]),
    (walrus, [([],), ([1],), ([1, 2, 3],)]),
    (unreachable, [([],), ([1, 5],)]),
    (walrus_in_test, [([],), ([1, 5],)]),
    (walrus_augmented, [(0,), (7,)]),
    (walrus_order, [(1,)]),
    (asserts, [(0,), (1,), (2,)]),
    (comprehensions, [([1, 2, 3, 7, -1],), ([],)]),
    (strings, [(0,), (12,)]),
    (calls, [(1, 2), (5, 1, 3), ()]),
    (lists, [(0,), (4,), (7,), (20,)]),
    (items, [(0,), (3,), (5,), (9,)]),
    (item_order, [(0,), (2,)]),
    (not_a_list, [(0,), (2,), (9,)]),
    (attributes, [(Box(1), 0), (Box(1), 4)]),
    (try_return, [(i,) for i in (0, 1, 2, 3, 5, "a")]),
    (try_nested, [(0,), (1,), (2,), (6,), (None,), ("a",)]),
    (assigned_in_try, [(0,), (1,), (2,)]),
    (handler_name, [(0,), (1,), (2,)]),
    (with_return, [(0,), (2,), (5,), (9,)]),
    (with_swallow, [(0,), (1,), (2,), (3,)]),
    (match, [([["go", "a"], ["go", "home"], 1],), ([{"x": 1, "y": 2}, {"x": 0, "y": 2}, 3.5, "s", 7, 1],)]),
    (uses_nonlocal, [(0,), (3,), (9,)]),
    (late_binding, [(0,), (3,)]),
    (closure_over_unset, [(0,), (1,)]),
    (inner_functions, [(1,), (6,)]),
    (inner_class, [(0,), (3,)]),
    (inner_generator, [(0,), (9,)]),
    (annotated, [(0,), (4,)]),
    (imports, [(0,), (2,)]),
    (unicode_names, [(0,), (2,)]),
    (augmented, [(0,), (2,)]),
]


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_same(function, arguments):
    assert_same(function, *arguments)


@pytest.mark.parametrize("function", [f for f, _ in CASES], ids=[f.__name__ for f, _ in CASES])
def test_text_is_the_same_each_time(function):
    from dy2st.transpiler import conversion

    first = convert(function, PyRuntime()).code
    conversion._cache.clear()
    assert convert(function, PyRuntime()).code == first


def test_global_is_written():
    global COUNT
    converted = convert(uses_global, PyRuntime()).fn
    COUNT = 0
    expected = uses_global(4), COUNT
    COUNT = 0
    assert (converted(4), COUNT) == expected


def test_calls_are_converted():
    runtime = recursive_runtime()
    assert convert(everything_called, runtime).fn(6) == everything_called(6)
    assert len(runtime.states) > 5


def everything_called(n):
    return if_else(-n), for_else_return([n]), uses_nonlocal(n), Box(n).value, inner_functions(n)[0]
