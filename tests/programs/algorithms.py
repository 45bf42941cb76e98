"""Textbook algorithms, as people write them: backtracking, parsers, graphs, state that is kept in objects, numerical methods."""

import functools
from collections import deque
from contextlib import contextmanager

import dy2st as paddle


def queens(n):
    cols, d1, d2 = (paddle.zeros([8], "int64"), paddle.zeros([16], "int64"), paddle.zeros([16], "int64"))
    count = 0

    def place(r):
        nonlocal count
        if r == n:
            count += 1
            return
        for c in range(n):
            if cols[c] == 0 and d1[r + c] == 0 and (d2[r - c + n] == 0):
                cols[c] = 1
                d1[r + c] = 1
                d2[r - c + n] = 1
                place(r + 1)
                cols[c] = 0
                d1[r + c] = 0
                d2[r - c + n] = 0

    place(n * 0)
    return count, cols.sum()


def permutations(n):
    used = [False] * 4
    order = []
    total = 0

    def go():
        nonlocal total
        if len(order) == n:
            s = 0
            for i, v in enumerate(order):
                s += (i + 1) * v
            total += s * s
            return
        for i in range(4):
            if i < n and (not used[i]):
                used[i] = True
                order.append(i)
                go()
                order.pop()
                used[i] = False

    go()
    return total, len(order), used


def depth_first(adj, s):
    seen = paddle.zeros([4], "int64")
    order = []

    def go(u):
        if seen[u] > 0:
            return
        seen[u] = 1
        for v in range(4):
            if adj[u, v] > 0:
                go(v)
        order.append(u)

    go(s)
    return seen, len(order), order[0] * 1


def flood_fill(grid, r, c):
    g = grid * 1
    area = 0

    def fill(i, j):
        nonlocal area
        if i < 0 or i >= 3 or j < 0 or (j >= 3) or (g[i, j] != 1):
            return
        g[i, j] = 2
        area += 1
        fill(i + 1, j)
        fill(i - 1, j)
        fill(i, j + 1)
        fill(i, j - 1)

    fill(r, c)
    return g, area


def prefix_parser(tokens):

    class Parser:
        def __init__(self):
            self.pos = 0
            self.depth = 0
            self.max_depth = 0

        def next(self):
            t = tokens[self.pos]
            self.pos += 1
            return t

        def expr(self):
            self.depth += 1
            self.max_depth = max(self.max_depth, self.depth)
            t = self.next()
            if t == 0:
                r = self.expr() + self.expr()
            elif t == 1:
                r = self.expr() * self.expr()
            else:
                r = t
            self.depth -= 1
            return r

    p = Parser()
    return p.expr(), p.pos, p.depth, p.max_depth


def accumulator_by_default(x, n):

    def visit(k, acc=None, depth=0):
        acc = x * 0 if acc is None else acc
        if k <= 0:
            return (acc, depth)
        return visit(k - 1, acc + x * k, depth + 1)

    return visit(n)


def in_a_list_of_functions(x, n):
    steps = []
    count = 0

    def double(k, v):
        nonlocal count
        count += 1
        return steps[1](k - 1, v * 2) if k > 0 else v

    def add(k, v):
        return steps[0](k - 1, v + 1) if k > 0 else v

    steps.extend([double, add])
    return steps[0](n, x), count


def depth_counted_by_finally(x, n):
    depth = 0
    deepest = 0

    def visit(k):
        nonlocal depth, deepest
        depth += 1
        try:
            deepest = max(deepest, depth)
            if k <= 0:
                return x * depth
            return visit(k - 1) * 2
        finally:
            depth -= 1

    return visit(n), depth, deepest


def restored_by_a_context_manager(x, n):
    state = {"scale": 1.0, "entered": 0}

    @contextmanager
    def scaled(f):
        old = state["scale"]
        state["scale"] = old * f
        state["entered"] += 1
        yield
        state["scale"] = old

    def visit(k):
        if k <= 0:
            return x * state["scale"]
        with scaled(0.5):
            return visit(k - 1) + state["scale"]

    return visit(n), state


def returned_from_a_loop_in_recursion(x, n):

    def first(k):
        for i in range(3):
            if x[i] * k > 2:
                return x[i] * i
            if k > i:
                r = first(k - 1)
                if r > 3:
                    return r + i
        return x.sum() * 0

    return first(n)


def undone_and_redone(x, n):

    class Editor:
        def __init__(self):
            self.value, self.undos, self.redos = (x, [], [])

        def do(self, v):
            self.undos.append(self.value)
            self.value = v
            self.redos.clear()

        def undo(self):
            if not self.undos:
                return False
            self.redos.append(self.value)
            self.value = self.undos.pop()
            return True

        def redo(self):
            if not self.redos:
                return False
            self.undos.append(self.value)
            self.value = self.redos.pop()
            return True

    e = Editor()
    for i in range(4):
        if x.sum() > i:
            e.do(e.value + i)
        elif e.undo():
            e.value = e.value * 2
    k = n
    while k > 0 and e.undo():
        k -= 1
    ok = e.redo()
    return e.value, len(e.undos), len(e.redos), ok


def insertion_sort(x):
    a = list(x)
    shifts = 0
    for i in range(1, len(a)):
        key = a[i]
        j = i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
            shifts += 1
        a[j + 1] = key
    return paddle.stack(a), shifts


def counted_by_a_decorator(x, n):

    def counted(f):

        @functools.wraps(f)
        def wrapper(*args):
            wrapper.calls += 1
            return f(*args)

        wrapper.calls = 0
        return wrapper

    @counted
    def fib(k):
        return k if k < 2 else fib(k - 1) + fib(k - 2)

    return fib(n), fib.calls


def gray_code(x, n):
    bits = [0, 0, 0, 0]
    seq = x.sum() * 0

    def gen(k):
        nonlocal seq
        if k == 0:
            seq = seq * 2 + bits[0] + 2 * bits[1] + 4 * bits[2]
            return
        gen(k - 1)
        bits[k - 1] = 1 - bits[k - 1]
        gen(k - 1)

    gen(n)
    return seq, bits


def bisection(x, n):
    lo, hi = (x[0] * 0 - 5, x[0] * 0 + 5)
    def f(v):
        return v**3 - x[0] * 2
    steps = 0
    while hi - lo > 0.001:
        mid = (lo + hi) / 2
        if f(lo) * f(mid) <= 0:
            hi = mid
        else:
            lo = mid
        steps += 1
    return lo, steps


def viterbi(x):
    T = paddle.to_tensor([[0.1, -0.4], [0.2, 0.3]])
    score, back = (x[0], [])
    for t in range(1, 3):
        bp, new = ([], [])
        for j in range(2):
            a, b = (score[0] + T[0, j], score[1] + T[1, j])
            if a > b:
                new.append(a + x[t, j])
                bp.append(0)
            else:
                new.append(b + x[t, j])
                bp.append(1)
        score = paddle.stack(new)
        back.append(bp)
    last = 0 if score[0] > score[1] else 1
    path = [last]
    for bp in reversed(back):
        last = bp[last]
        path.append(last)
    return score, path[::-1]


def steps_until_it_halts(x, n):

    class Cell:
        def __init__(self):
            self.h, self.calls = (x * 0, 0)

        def __call__(self, v):
            self.calls += 1
            self.h = paddle.tanh(self.h * 0.5 + v)
            return (self.h, paddle.nn.functional.sigmoid(self.h.sum()))

    cell = Cell()
    halt = 0.0
    out = x * 0
    while halt < 0.99 and cell.calls < 5:
        h, p = cell(x)
        w = p if halt + p < 0.99 else 1 - halt
        out = out + w * h
        halt = halt + w
    return out, cell.calls, cell.h


def events(x, n):
    q, log, t = (deque([(0, "start")]), [], 0)
    handlers = {}

    def on(name):

        def deco(f):
            handlers[name] = f
            return f

        return deco

    @on("start")
    def start(t):
        for i in range(3):
            if x[i] > 1:
                q.append((t + i, "tick"))
        return 1

    @on("tick")
    def tick(t):
        if t > 1:
            q.append((t + 1, "end"))
        return 10

    @on("end")
    def end(t):
        return 100

    steps = 0
    while q and steps < 8:
        t, name = q.popleft()
        for k, h in handlers.items():
            if k == name:
                log.append(h(t))
        steps += 1
    return sum(log), t, steps


P, N = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.5]
RUNS = [(P, 3), (N, 2), (P, 0), (P, 1)]
GRAPH = [[0, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 1, 0]]
GRID = [[1, 1, 0], [0, 1, 0], [1, 0, 1]]

CASES = [
    (queens, [(4,), (3,), (1,), (5,)], 1),
    (permutations, [(3,), (2,), (1,)], 1),
    (depth_first, [(GRAPH, 0), (GRAPH, 3), (GRAPH, 2)], 1),
    (flood_fill, [(GRID, 0, 0), (GRID, 2, 0), (GRID, 0, 2), ([[1, 1, 1], [1, 1, 1], [1, 1, 1]], 1, 1)], 1),
    (prefix_parser, [([0, 2, 1, 3, 4, 0, 0],), ([1, 0, 2, 2, 3, 0, 0],), ([5, 0, 0, 0, 0, 0, 0],)], 1),
    (insertion_sort, [([3.0, 1.0, 2.0, 5.0, 4.0],), ([1.0, 2.0, 3.0, 4.0, 5.0],)], 1),
    (viterbi, [([[1.0, 2.0], [0.5, 0.1], [2.0, 3.0]],), ([[3.0, -2.0], [0.5, 1.1], [2.0, -3.0]],)], 1),
    *((function, RUNS, 1) for function in (
        accumulator_by_default, in_a_list_of_functions, depth_counted_by_finally,
        restored_by_a_context_manager, returned_from_a_loop_in_recursion, undone_and_redone, counted_by_a_decorator,
        gray_code, bisection, steps_until_it_halts, events,
    )),
]  # fmt: skip
