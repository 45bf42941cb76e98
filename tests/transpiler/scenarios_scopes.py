"""Whole functions for `test_scenarios.py`: variables of other scopes, functions in functions."""

# ruff: noqa: B006, B023

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


TABLE = {"a": 0}


def rebound_while_it_is_changed(n):
    """A call that assigns the variable whose container is changed: the container of before is changed, or that of after."""
    global TABLE
    TABLE = {"a": n}
    kept, log = {"a": n}, [n]

    def other(k):
        nonlocal kept, log
        global TABLE
        kept, log, TABLE = {"a": k, "b": n}, [k], {"c": k}
        return k

    first = kept, log
    found = []
    kept["a"] = other(5)
    found.append(dict(kept))
    kept[other(6)] = 7
    found.append(dict(kept))
    kept["b"] += other(8)
    del kept["ab"[other(1)]]
    found.append(dict(kept))
    TABLE["x"] = other(9)
    TABLE[other(10)] = 1
    for i in range(n):
        log.append(other(i))
        x = log.pop(other(0))
        log.insert(0, other(i + x))
    return found, kept, log, TABLE, first
