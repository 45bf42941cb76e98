"""Whole functions for `test_scenarios.py`: branches, loops, returns."""

# ruff: noqa: B007, F821, F841

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
