"""Generator functions: Python suspends and resumes them, and what they ask and call is converted."""

import contextlib
import math

import dy2st as paddle


def optional(x):
    k = None
    if x.sum() > 0:
        k = x * 2
    return k


def number(x):
    return int(x.sum())


def scaled(x, v):
    if v is None:
        return x * 3
    if v.sum() > 1:
        return v * 2
    return v


def asked(v):
    yield 1 if v is None else 4


def of_none(x):
    return next(asked(optional(x))), x


def delegating(x, v):
    yield from asked(v)
    yield x
    last = yield from answering(v)
    yield last


def answering(v):
    yield 0
    return 2 if v is None else 3


def delegated(x):
    return list(delegating(x, optional(x)))


class Items:
    def __init__(self, x, v):
        self.x, self.v = x, v

    def __iter__(self):
        yield self.x
        yield self.x * (1 if self.v is None else 4)


def of_an_iterable(x):
    total = x * 0
    for v in Items(x, optional(x)):
        total = total + v
    return total


def in_a_closure(x):
    k = optional(x)

    def inner():
        yield x * (1 if k is None else 4)

    return next(inner())


def later(box, x):
    yield x
    yield x * (1 if box[0] is None else 4)


def changed_by_the_loop(x):
    box, found = [None], x
    for i, v in enumerate(later(box, x)):
        if i == 0:
            box[0] = optional(x)
        found = found + v
    return found


def changed_between_items(x):
    box = [None]
    items = later(box, x)
    first = next(items)
    box[0] = optional(x)
    return first + next(items)


def told(x):
    v = yield 0
    while True:
        v = yield x * (1 if v is None else 4)


def sent(x):
    items = told(x)
    next(items)
    return items.send(optional(x)) + items.send(None)


@contextlib.contextmanager
def before_and_behind(box, out):
    out.append(1 if box[0] is None else 4)
    yield len(out)
    out.append(1 if box[0] is None else 4)


def of_a_manager(x):
    out, box = [], [None]
    with before_and_behind(box, out) as n:
        box[0] = optional(x)
    return out[0] * 10 + out[1] * n, x


def on_a_stack(x):
    out = []
    with contextlib.ExitStack() as stack:
        stack.enter_context(before_and_behind([optional(x)], out))
        stack.callback(out.append, 7)
    return out[0] * 10 + out[1] + out[2], x


def classes(x, values):
    for v in values:
        yield isinstance(v, (int, float)), isinstance(v, paddle.Tensor), type(v) is list
        yield x if isinstance(v, paddle.Tensor) and v.ndim else x * 2


def of_classes(x):
    return list(classes(x, [number(x), x, [x]]))


def calling(x, values):
    for v in values:
        yield scaled(x, v)


def of_functions_with_branches(x):
    total = x * 0
    for v in calling(x, [x, None, optional(x)]):
        total = total + v
    return total


def operands(x, a, b):
    y = (a and b) or x
    yield y
    yield (yield 3) or y
    z = (w := a + 1) and w * 2
    yield z
    yield [t for t in (a, b) if t], [w for t in (1, 2) if (w := t * 2)]
    yield 0 < (yield 1) < 9, b is not None, not a


def of_operands(x):
    items = operands(x, 2, None)
    found = [next(items), next(items), items.send(5), next(items), next(items), next(items), items.send(4)]
    return found


def matched(x, values):
    for v in values:
        match v:
            case None:
                yield x
            case {"k": k}:
                yield k * 2
            case [first, *rest]:
                yield first * len(rest)
            case int():
                yield x * 5
            case _:
                yield v * 3


def of_matches(x):
    return list(matched(x, [None, {"k": x}, [x, 1, 2], 3, number(x), x]))


def texts(x, n):
    yield f"n is {n}"
    yield "%d" % n  # noqa: UP031
    print("in a generator", n, x)


def of_texts(x):
    for t in texts(x, number(x)):
        print(t)
    return x


def items_of(xs, i):
    yield xs[i]
    yield xs[-1:]
    assert len(xs) > 1, xs
    yield {"a": xs[0]}.get("a"), math.sqrt(4)


def of_items(x, i):
    return list(items_of([x, x * 2, x * 3], i))


class Base:
    def __init__(self, x):
        self.x = x

    def parts(self):
        yield self.x
        yield self.x * 2


class Derived(Base):
    def parts(self):
        self.x = self.x + 1
        yield from super().parts()
        yield scaled(self.x, optional(self.x))


def of_methods(x):
    total = x * 0
    for part in Derived(x).parts():
        total = total + part
    return total


def tree(t):
    if isinstance(t, tuple):
        for part in t:
            yield from tree(part)
    else:
        yield t * 2


def recursive(x):
    total = x * 0
    for leaf in tree((x, (x * 2, (x * 3,)), optional(x) is None and x)):
        total = total + leaf
    return total


def cleaning(x, log):
    try:
        yield x
        yield x * 2
    except ValueError:
        yield x * 5
    finally:
        log.append("closed")


def thrown(x):
    log = []
    items = cleaning(x, log)
    first = next(items)
    second = items.throw(ValueError("told"))
    items.close()
    return first + second, log


def with_functions_inside(x, n):
    scale = 2.0

    def pick(v, more=1.0):
        if v.sum() > 0:
            return v * scale
        for i in range(n):
            if v.sum() < -4:
                return v - i
            v = v - more
        return v

    class Picking:
        def method(self, v):
            while v.sum() < 20:
                v = v + 5
            return v

    yield pick(x)
    scale = 3.0
    yield pick(x, 2.0)
    with paddle.no_grad():

        def counted(v):
            nonlocal scale
            if v.sum() > 0:
                scale = scale + 1
            return v * scale

        yield counted(x)
    yield Picking().method(x) * scale
    fs = []
    for i in range(3):

        def shifted(v, i=i):
            return v + i if v.sum() > 0 else v - i

        fs.append(shifted)
    yield from (f(x) for f in fs)


def of_functions_inside(x):
    return list(with_functions_inside(x, 3))


def lambda_that_yields(x):
    items = lambda: (yield 5.0) or (yield 6.0)  # noqa: E731
    return x * sum(items())


def looking_at_its_variables(x, n):
    yield sorted(locals())
    yield x * n


def with_its_variables(x):
    return list(looking_at_its_variables(x, 2))


P, N = [1.0, 2.0, 3.0], [-1.0, -2.0, 1.0]
CASES = [
    (of_none, [(P,), (N,)], 1),
    (delegated, [(P,), (N,)], 1),
    (of_an_iterable, [(P,), (N,)], 1),
    (in_a_closure, [(P,), (N,)], 1),
    (changed_by_the_loop, [(P,), (N,)], 1),
    (changed_between_items, [(P,), (N,)], 1),
    (sent, [(P,), (N,)], 1),
    (of_a_manager, [(P,), (N,)], 1),
    (on_a_stack, [(P,), (N,)], 1),
    (of_classes, [(P,), (N,)], 1),
    (of_functions_with_branches, [(P,), (N,)], 1),
    (of_operands, [(P,), (N,)], 1),
    (of_matches, [(P,), (N,)], 1),
    (of_texts, [(P,), (N,)], 1),
    (of_items, [(P, 1), (N, 2)], 1),
    (of_methods, [(P,), (N,)], 1),
    (recursive, [(P,), (N,)], 1),
    (thrown, [(P,), (N,)], 1),
    (of_functions_inside, [(P,), (N,)], 1),
    (lambda_that_yields, [(P,), (N,)], 1),
    (with_its_variables, [(P,), (N,)], 1),
]
