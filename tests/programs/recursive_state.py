"""Recursion that changes what is outside of it: variables, attributes, lists, tensors in place."""

import dy2st as paddle

LEFT, RIGHT = [1, 3, -1, -1, -1], [2, 4, -1, -1, -1]


class Counter:
    def __init__(self, start):
        self.calls, self.total, self.last = 0, start, None

    def down(self, t, k):
        self.calls += 1
        self.total = self.total + t
        self.last = t
        return t if k <= 0 else self.down(t * 0.5, k - 1)


def in_order(x, n):
    left, right = paddle.to_tensor(LEFT), paddle.to_tensor(RIGHT)
    found = []

    def visit(i):
        if i >= 0:
            visit(left[i])
            found.append(x * i)
            visit(right[i])

    visit(n % 5)
    return found, len(found)


def nonlocals(x, n):
    total, depth, worst = x * 0, 0, None

    def visit(t, k):
        nonlocal total, depth, worst
        total = total + t
        depth = max(depth, n - k)
        if worst is None or t.sum() < worst:
            worst = t.sum()
        if k <= 0:
            return t
        return visit(t * 0.5, k - 1) + visit(t - 1, k - 2)

    return visit(x, n), total, depth, worst


def exchanged(x, n):
    a, b = x, x * 2

    def visit(k):
        nonlocal a, b
        if k > 0:
            a, b = b, a + 1
            visit(k - 1)

    visit(n)
    return a, b


def attributes(x, n):
    counter = Counter(x * 0)
    y = counter.down(x, n)
    return y, counter.calls, counter.total, counter.last


def attribute_set_first(x, n):
    counter = Counter(0)

    def visit(k):
        counter.value = x * k
        if k > 0:
            visit(k - 1)

    visit(n)
    return counter.value


def key_of_some_runs(x, n):
    d = {"a": x}

    def visit(k):
        if k > 0:
            d["b"] = x * k
            visit(k - 1)

    visit(n)
    return d.get("b", x), len(d)


def list_as_argument(x, n):
    def visit(k, out):
        if k <= 0:
            return k
        out.append(x * k)
        return visit(k - 1, out)

    found = [x]
    visit(n, found)
    return found


def dict_as_argument(x, n):
    def visit(k, d):
        if k > 0:
            d["s"] = d["s"] + x
            visit(k - 1, d)

    d = {"s": x}
    visit(n, d)
    return d["s"]


def stack_of_operands(x, n):
    operands = [x, x * 2, x * 3]

    def reduce(k):
        if k > 0 and len(operands) > 1:
            b = operands.pop()
            a = operands.pop()
            operands.append(a + b * 0.5)
            reduce(k - 1)

    reduce(n)
    return operands[-1], len(operands)


def records(x, n):
    rows = []

    def visit(k, t):
        if k <= 0:
            return t
        rows.append({"k": k, "t": t})
        return visit(k - 1, t * 0.5)

    return visit(n, x), [row["t"] * row["k"] for row in rows]


def list_of_the_result(x, n):
    def visit(k):
        items = [x]
        if k > 0:
            items = visit(k - 1)
            items.append(x * k)
        return items

    return visit(n)


def entries_set(x, n):
    items = [x, x * 2, x * 3]

    def visit(k):
        if k > 0:
            items[k % 3] = items[0] + items[1]
            visit(k - 1)

    visit(n)
    return items


def in_place(x, n):
    counts, total = paddle.zeros([5]), x * 0

    def visit(k):
        if k <= 0:
            return x
        counts[k % 5] += 1.0
        total.add_(x * k)
        return visit(k - 1) + visit(k - 2)

    return visit(n), counts, total


def results_modified(x, n):
    total = x * 3

    def visit(t, k):
        if k <= 0:
            return t
        found = visit(t * 2, k - 1)
        found.add_(x)
        return found

    def through(t, k):
        if k <= 0:
            return t + 0
        inner = t * 2
        total.add_(x)
        return through(total, k - 1) + inner

    def exchanged(a, b, k):
        if k <= 0:
            return a, b
        return exchanged(b, a, k - 1)

    first, _ = exchanged(x + 1, x * 2, n)
    first.add_(x)
    return visit(x + 1, n), through(x, n), total, first


def without_gradients(x, n):
    total = paddle.zeros([1])

    def visit(k, t):
        with paddle.no_grad():
            total.add_(t.sum())
        return t if k <= 0 else visit(k - 1, t * 0.5)

    return visit(n, x), total


def under_other_names(x, n):
    total = x * 0
    same, both = total, [total, x]

    def visit(k):
        if k > 0:
            total.add_(both[0] + 1)
            visit(k - 1)

    visit(n)
    return same * 1, both[0] * 1


def by_two_functions(x, n):
    found = []

    def up(k):
        if k > 0:
            found.append(x * k)
            down(k - 1)

    def down(k):
        if k > 0:
            found.append(-x * k)
            up(k - 1)

    up(n)
    return found


def in_a_loop(x, n):
    found = []

    def visit(k):
        if k > 0:
            found.append(x * k)
            visit(k - 1)

    for i in range(n):
        visit(i)
        if len(found) > 4:
            break
    return found, len(found)


def called_twice(x, n):
    count = 0

    def visit(k):
        nonlocal count
        count += 1
        if k > 0:
            visit(k - 1)

    visit(n)
    visit(n + 1)
    return x * count, count


def flag(x, n):
    found = False

    def visit(k, t):
        nonlocal found
        if t.sum() > 4:
            found = True
        if k > 0 and not found:
            visit(k - 1, t + 1)

    visit(n, x)
    return x * 2 if found else x


def none_or_not(x, n):
    best = None
    if x.sum() > 0:
        best = x

    def visit(k):
        nonlocal best
        if k > 0:
            return 0
        best = None if visit(k + 1) == 0 else x

    visit(n % 2)
    return x * 2 if best is None else best


def containers_of_each_call(x, n):
    def visit(k):
        if k <= 0:
            return [1, 2], ({"a": 3}, x)
        return visit(k - 1)

    (one, (d, _)), (other, (e, _)) = visit(n), visit(n)
    one.append(4)
    d["a"] = 5
    return one, other, d["a"], e["a"]


def text(x, n):
    last = "none"

    def visit(k, mode, t):
        nonlocal last
        last = "even" if k % 2 == 0 else "odd"
        if k <= 0:
            return t * 2 if mode == "up" else t - 1
        return visit(k - 1, "up" if t.sum() > 1 else "down", t * 0.7)

    y = visit(n, "up", x)
    return y if last == "even" else y + 1


def raises(x, n):
    count = 0

    def visit(k):
        nonlocal count
        count += 1
        if k > 2:
            raise ValueError("too deep")
        if k > 0:
            visit(k - 1)

    visit(n)
    return x * count


def number_of_two_classes_or_a_tensor(x, n):
    def go(k, x, d):
        if d <= 0:
            return x * k
        if x.sum() > 2:
            k = 3
        elif x.sum() > 1:
            k = 2.5
        else:
            k = x[1]
        return go(k, x * 2, d - 1)

    return go(x[0], x, n)


def list_of_tensors_and_numbers_in_an_argument(x, n):
    box = {"items": [x[0]], "last": x[1]}

    def go(box, x, d):
        if d <= 0:
            return x * len(box["items"])
        box["last"] = x.sum()
        if x.sum() > 2:
            box["items"].append(3)
        return go(box, x * 2, d - 1)

    return go(box, x, n) * box["last"], len(box["items"])


P, N = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.5]
RUNS = [(P, 3), (N, 2), (P, 0), (P, 1)]

CASES = [
    (function, RUNS, 1)
    for function in (
        in_order, nonlocals, exchanged, attributes, attribute_set_first, key_of_some_runs, list_as_argument, dict_as_argument,
        stack_of_operands, records, list_of_the_result, entries_set, in_place, results_modified, without_gradients, under_other_names,
        by_two_functions, in_a_loop, called_twice, flag, none_or_not,
        containers_of_each_call, text, raises, number_of_two_classes_or_a_tensor, list_of_tensors_and_numbers_in_an_argument,
    )
]  # fmt: skip
