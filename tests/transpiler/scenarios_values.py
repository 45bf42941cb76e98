"""Whole functions for `test_scenarios.py`: expressions, containers, `try`, `with`, `match`."""

# ruff: noqa: B007, B018, B905, F841, SIM201

import contextlib

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


def targets_with_a_name_twice(rows):
    return (
        [v for _, _, (v, _) in rows], sum(v for v, _, (_, _) in rows if v > 0), [a for a, a, _ in rows],
        [(a, b) for (a, b), _, a in [((r[0], r[1]), 0, r[1]) for r in rows]], {k: v for k, _, (_, v) in rows},
    )  # fmt: skip
