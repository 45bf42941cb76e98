"""Recursion that ends by a condition on tensors. Trees are arrays: the children of each node, -1 where there is none."""

import dataclasses

import dy2st
from dy2st import nn
from dy2st.tensor.manipulation import concat, stack


def doubles(x):
    if x.sum() > 10:
        return x
    return doubles(x * 2) + 1


def factorial(n):
    if n < 2:
        return n * 0 + 1
    return n * factorial(n - 1)


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)  # a number here, tensors in the other calls
    return ackermann(m - 1, ackermann(m, n - 1))


def unchanged(v, depth):
    return v if depth <= 0 else unchanged(v, depth - 1)


def with_what_a_path_chooses(x, n):
    name = "a" if n > 1 else "b"
    scale = (lambda v: v * 2) if n > 1 else (lambda v: v + n)
    chosen = unchanged(scale, n)(x)
    return chosen * 3 if unchanged(name, n) == "a" else chosen


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def sum_of_tree(left, right, values):
    left, right = left.astype("int64"), right.astype("int64")

    def visit(i):
        if left[i] < 0:
            return values[i]
        return visit(left[i]) * 2 + visit(right[i]).tanh()

    return visit(0)


def _visit(i, left, right, values, w):
    if left[i] < 0:
        return values[i] * w, values[i] + w
    h, c = _visit(left[i], left, right, values, w)
    other, last = _visit(right[i], left, right, values, w)
    if h.sum() > 0:
        return h * other + w, c
    return (h + other).tanh(), c * last


def several_results(left, right, values, w):
    return _visit(dy2st.to_tensor(0), left.astype("int64"), right.astype("int64"), values, w)


def _children(node, first, count, values, w):
    state = (values[node] * w).tanh()
    for k in range(count[node]):
        child = _children(first[node] + k, first, count, values, w)
        state = state + child * w if child.sum() > 0 else state * child
    return state


def inside_a_loop(first, count, values, w):
    return _children(dy2st.to_tensor(0), first.astype("int64"), count.astype("int64"), values, w)


def _list_of_children(node, first, count, values):
    if count[node] == 0:
        return values[node]
    states = []
    k = 0
    while k < count[node]:
        states.append(_list_of_children(first[node] + k, first, count, values))
        k += 1
    return stack(states).max(0) * values[node]


def local_list(first, count, values):
    return _list_of_children(dy2st.to_tensor(0), first.astype("int64"), count.astype("int64"), values)


def _even(n, x):
    if n == 0:
        return x
    return _odd(n - 1, x * 2)


def _odd(n, x):
    if n == 0:
        return -x
    return _even(n - 1, x + 1)


def mutual(n, x):
    return _even(n, x)


def _count(x, depth):
    if x.sum() > 100:
        return x, depth
    return _count(x * 2, depth + 1)


def number_that_counts(x):
    y, depth = _count(x, 0)
    return y, depth, depth * 0.5


def _climb(x, level, depth):
    if depth <= 0:
        return x * level
    x = _climb(x / 2, level, depth - 1)
    return x if x.sum() > 3 else _climb(x + 1, level + 1, depth - 1)


def numbers_that_recur(x):
    return _climb(x, 0, (x > 0).sum())


def _power(x, n, square):
    if n == 0:
        return x * 0 + 1
    half = _power(x, n // 2, square)
    half = half * half if square else half
    return half * x if n % 2 == 1 else half


def number_of_a_tensor(x, n):
    return _power(x, int(n), True)


def python_arguments(x, n, mode="up"):
    return _scaled(x, n, mode) + _scaled(x, n, "down")


def _scaled(x, n, mode):
    if n <= 0:
        return x
    return _scaled(x * 2 if mode == "up" else x / 2, n - 1, mode)


def decided_by_python(x, n=3):
    if n == 0:
        return x
    if x.sum() > 0:
        return decided_by_python(x - 1, n - 1)
    return decided_by_python(x + 1, n - 1) * 2


def decided_by_shapes(x):
    if x.shape[0] == 1:
        return x
    half = x.shape[0] // 2
    if x.sum() > 0:
        return concat([decided_by_shapes(x[:half]), decided_by_shapes(x[half:])])
    return concat([decided_by_shapes(x[half:]), decided_by_shapes(x[:half])])


def _partition(x):
    if len(x) < 2:
        return x
    rest = x[1:]
    small, large = rest[rest < x[0]], rest[rest >= x[0]]
    return concat([_partition(small), x[:1], _partition(large)])


def quicksort(x):
    return _partition(x[x > -1e9])


def _search(x, low, high, target):
    if low >= high:
        return low
    middle = (low + high) // 2
    if x[middle] < target:
        return _search(x, middle + 1, high, target)
    return _search(x, low, middle, target)


def binary_search(x, target):
    return _search(x, 0, len(x), target)


def in_a_branch(x, flag):
    y = x
    if flag > 0:
        y = doubles(x) * x
    return y + 1


def in_a_loop(x, n):
    total = x * 0
    for i in range(n):
        total = total + doubles(x + i) * x
    return total


def result_unused_on_a_path(left, right, values, w):
    left, right = left.astype("int64"), right.astype("int64")

    def visit(i):
        if left[i] < 0:
            return values[i] * w
        a, b = visit(left[i]), visit(right[i])
        return a if a.sum() > b.sum() else values[i]

    return visit(0)


def none_below(x, n):
    found = _first_negative(x, n)
    return x * 0 if found is None else found


def _first_negative(x, n):
    if n == 0:
        return None
    if x[n - 1] < 0:
        return x * n
    return _first_negative(x, n - 1)


def loop_inside(x, n):
    if n == 0:
        return x
    y = x
    while y.sum() < 10 * n:
        y = y * 2
    return loop_inside(y * 0.1 + x, n - 1) * 0.5 + y


def exit_from_a_loop(x, n):
    for i in range(n):
        if x[i] > 5:
            return x * i
        if x[i] < 0:
            return exit_from_a_loop(x + 3, n) - x
    return x


@dataclasses.dataclass
class State:
    h: object
    c: object


def _step(state, n):
    if n == 0:
        return state
    return _step(State(state.h * 0.5 + state.c, state.h), n - 1)


def dataclass_argument(x, n):
    state = _step(State(x, x * 2), n)
    return state.h, state.c


def dict_argument(x, n):
    def go(state, n):
        if n == 0:
            return state
        return go({"a": state["b"] * 2, "b": state["a"] + x}, n - 1)

    result = go({"a": x, "b": x * 3}, n)
    return result["a"] * result["b"]


class Encoder(nn.Layer):
    """A layer that calls itself, over a tree."""

    def __init__(self):
        super().__init__()
        self.w = self.create_parameter([2, 2], default_initializer=nn.initializer.Constant(0.3))
        self.scale = 1.5

    def forward(self, node, left, right, values):
        if left[node] < 0:
            return values[node] @ self.w
        return self.merge(self(left[node], left, right, values), self.encode(right[node], left, right, values))

    def encode(self, node, left, right, values):
        if left[node] < 0:
            return values[node] * self.scale
        return self.merge(self.encode(left[node], left, right, values), self(right[node], left, right, values)) * 0.5

    def merge(self, a, b):
        return (a @ self.w + b).tanh()


def sublayers(left, right, values):
    return Encoder()(dy2st.to_tensor(0), left.astype("int64"), right.astype("int64"), values)


def raises_inside(x, n):
    if n == 0:
        assert x.sum() < 20, "the sum is too large"
        return x
    return raises_inside(x * 2, n - 1)


def index_inside(x, i):
    if x[i] > 0:
        return x * i
    return index_inside(x, i + 1)


LEFT, RIGHT = [1.0, 3.0, -1.0, -1.0, 5.0, -1.0, -1.0], [2.0, 4.0, -1.0, -1.0, 6.0, -1.0, -1.0]
LEAF = [-1.0]
ROWS = [[0.5, -1.0], [2.0, 0.25], [-0.75, 1.5], [0.1, 0.2], [1.0, -2.0], [0.3, 0.7], [-0.4, 0.9]]
LOWER = [[v - 2 for v in row] for row in ROWS]
FIRST, COUNT = [1.0, 4.0, 0.0, 0.0, 0.0, 0.0], [3.0, 2.0, 0.0, 0.0, 0.0, 0.0]
W = [0.5, 1.5]

def doubled(rows, n):
    return (rows[-1], len(rows)) if n == 0 else doubled([*rows, *rows], n - 1)


def lists_that_double(x, n):
    return doubled([x, x * 2], n)


def without_gradients_inside(x, n):
    """Each call but the first is made where no gradients are recorded, and computes in some runs only."""
    total, count = x, 0

    def visit(k):
        nonlocal total, count
        for _ in range(count):
            total = total + x
        count = count + 1
        with dy2st.no_grad():
            if k > 1:
                visit(k - 2)

    visit(n)
    return total


def without_gradients_and_back(x, n):
    def visit(k, v):
        if k < 1:
            return v
        with dy2st.no_grad():
            w = visit(k - 1, v)
            if w.sum() > 4:
                w = w + x
            with dy2st.enable_grad():
                return visit(k - 2, w * x)

    return visit(n, x)


def limit_of_its_own(x, n):
    def visit(k, depth=0):
        if depth > 3:
            raise RecursionError(f"deeper than 3: {depth}")
        return x * depth if k <= 0 else visit(k - 1, depth + 1)

    return visit(n)


def in_a_try(x, n):
    """What the function itself raises is caught in it; a handler of all exceptions is not meant for a recursion that is too deep."""

    def visit(t, k):
        if k <= 0:
            return t
        try:
            if t.sum() > 9:
                raise ValueError("large")
            return visit(t * 1.5, k - 1)
        except Exception:
            return t - 1

    try:
        y = visit(x, n)
    except Exception as error:
        print("failed", error)
        raise
    finally:
        print("done")
    return y


def number_or_tensor_around(x, n):
    """The only path that ends gives what is computed of a value around, and the flag that says whether that is a number."""

    def visit(k):
        if k > 0:
            return [v + 1 for v in (found, k)][0]  # noqa: RUF015
        return visit(k + 1)

    found = n if n > 0 else 1
    return x * visit(n)


CASES = [
    (limit_of_its_own, [([1.0, 2.0], 2), ([1.0, 2.0], 3), ([1.0, 2.0], 5)], 1),
    (in_a_try, [([1.0, 2.0], 0), ([1.0, 2.0], 2), ([1.0, 2.0], 9)], 1),
    (lists_that_double, [([1.0, 2.0], 3), ([1.0, 2.0], 0)], 1),
    (doubles, [([1.0, 2.0],), ([20.0],), ([0.5, 0.0],)], 1),
    (factorial, [(5,), (1,)], 1),
    (ackermann, [(1, 2), (0, 3), (2, 1)], 1),
    (with_what_a_path_chooses, [([1.0, 2.0], 2), ([1.0, 2.0], 0)], 1),
    (fibonacci, [(9,), (0,)], 1),
    (sum_of_tree, [(LEFT, RIGHT, ROWS), (LEAF, LEAF, ROWS)], 1),
    (several_results, [(LEFT, RIGHT, ROWS, W), (LEFT, RIGHT, LOWER, W), (LEAF, LEAF, ROWS, W)], 1),
    (inside_a_loop, [(FIRST, COUNT, ROWS, W), (FIRST, COUNT, LOWER, W), ([0.0], [0.0], ROWS, W)], 1),
    (local_list, [(FIRST, COUNT, ROWS), ([0.0], [0.0], ROWS)], 1),
    (mutual, [(5, [1.0, 2.0]), (4, [1.0, 2.0]), (0, [1.0, 2.0])], 1),
    (number_that_counts, [([1.0, 2.0],), ([200.0, 2.0],)], 1),
    (numbers_that_recur, [([1.0, 2.0],), ([-1.0, -2.0],), ([9.0, 1.0],), ([1.0, 0.0],)], 1),
    (number_of_a_tensor, [([1.5, 2.0], 5), ([1.5, 2.0], 0)], 1),
    (python_arguments, [([1.0, 2.0], 3), ([1.0, 2.0], 0)], 1),
    (decided_by_python, [([1.0, 2.0],), ([-1.0, 0.5],)], 1),
    (decided_by_shapes, [([1.0, 2.0, -5.0, 1.0],)], 1),
    (quicksort, [([3.0, 1.0, 2.0, 5.0, -1.0],), ([1.0],), ([2.0, 2.0, 1.0],)], 1),
    (binary_search, [([1.0, 2.0, 5.0, 7.0], 3), ([1.0, 2.0, 5.0, 7.0], 9), ([1.0, 2.0, 5.0, 7.0], 0)], 1),
    (in_a_branch, [([1.0, 2.0], 1), ([1.0, 2.0], 0)], 1),
    (in_a_loop, [([1.0, 2.0], 3), ([1.0, 2.0], 0)], 1),
    (result_unused_on_a_path, [(LEFT, RIGHT, ROWS, W), (LEFT, RIGHT, LOWER, W), (LEAF, LEAF, ROWS, W)], 1),
    (none_below, [([1.0, -2.0, 3.0], 3), ([1.0, 2.0, 3.0], 3)], 1),
    (loop_inside, [([1.0, 2.0], 3), ([1.0, 2.0], 0)], 1),
    (exit_from_a_loop, [([1.0, -2.0, 3.0], 3), ([1.0, 2.0, 7.0], 3), ([1.0, 2.0, 3.0], 3)], 1),
    (dataclass_argument, [([1.0, 2.0], 3), ([1.0, 2.0], 0)], 1),
    (dict_argument, [([1.0, 2.0], 3), ([1.0, 2.0], 0)], 1),
    (sublayers, [(LEFT, RIGHT, ROWS), (LEAF, LEAF, ROWS)], 1),
    (without_gradients_inside, [([1.0, 2.0], 3), ([1.0, 2.0], 1), ([1.0, 2.0], 5)], 1),
    (without_gradients_and_back, [([1.0, 2.0], 3), ([1.0, 2.0], 0), ([1.0, 2.0], 1), ([1.0, -2.0], 2)], 1),
    (raises_inside, [([1.0, 2.0], 2), ([1.0, 2.0], 4)], 1),
    (index_inside, [([-1.0, 0.0, 3.0], 0), ([-1.0, 0.0, -3.0], 0)], 1),
    (number_or_tensor_around, [([1.0, 2.0], 3), ([1.0, 2.0], 0), ([1.0, 2.0], -2)], 1),
]
