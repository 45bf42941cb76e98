"""`stop_gradient` read: as eagerly where it is the same in all runs and iterations. Leaves that a function makes."""

import dy2st as paddle


def carried_without_gradient(x):
    y = x.detach()
    for _ in x:
        y = y * 2
    return (1, y) if y.stop_gradient else (2, y)


def carried_with_gradient(x):
    y = x
    while y.sum() < 20:
        y = y * 2 + 1
    return (1, y) if y.stop_gradient else (2, y)


def asked_in_a_loop(x):
    y, w = x.detach(), x * 0
    for v in x:
        y = y + v.detach()
        w = w + (1 if y.stop_gradient else 100)
    return w


def counted_by_the_run(x, n):
    y, last = paddle.zeros([3]), x
    for _ in range(n):
        y = y - x.detach()
        last = last * 2
    return y.stop_gradient, last.stop_gradient, y, last


def sum_asked_for_its_parts(x):
    total = paddle.zeros([3])
    for v in x:
        part = v.detach() * 2
        total = total + v * x if part.stop_gradient else total - v
    return total


def accumulators_in_each_other(x, n):
    total, kept = paddle.zeros([]), paddle.zeros([])
    for i in range(n):
        row = paddle.zeros([])
        for v in x:
            row = row + v * i
            kept = kept + v.detach()
        total = total + row
    return total, kept, kept.stop_gradient


def exchanged_in_a_loop(x):
    a, b = x.detach(), x * 2
    for _ in x:
        a, b = a + 1, b * a
    return a.stop_gradient, b.stop_gradient, a, b


def no_gradient_in_a_loop(x):
    y = paddle.zeros([3])
    for v in x:
        with paddle.no_grad():
            y = y + v
    return y.stop_gradient, y


def chosen_by_a_path(x):
    y = x.detach() if x.sum() > 0 else x.detach() * 2
    z = x if x.sum() > 0 else x * 3
    return y.stop_gradient, z.stop_gradient, y, z


def doubled(x):
    return x if x.sum() > 50 else doubled(x * 2 + 1)


def by_recursion(x):
    y, z = doubled(x.abs()), doubled(x.detach().abs())
    return y.stop_gradient, z.stop_gradient, y, z


def by_recursion_in_turn(x):
    y, z = (doubled(v) for v in (x.abs(), x.detach().abs()))
    return y.stop_gradient, z.stop_gradient, y, z


def leaf_of_an_argument(x):
    y = paddle.to_tensor(x, stop_gradient=False)
    z = paddle.to_tensor([x.sum(), 2.0], stop_gradient=False)
    return (y * 3 * x).sum() + z.sum()


def leaf_in_a_loop(x):
    total = x * 0
    for v in x:
        y = paddle.to_tensor(v, stop_gradient=False)
        total = total + y * x + v
    return total


def gradient_of_a_new_leaf(x):
    y = paddle.to_tensor(x, stop_gradient=False)
    (slope,) = paddle.grad((y * y * x).sum(), [y], create_graph=True)
    return ((slope - 1) * x).sum()


P, N = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.5]
RUNS = [(P, 3), (N, 2), (P, 1)]

CASES = [
    (carried_without_gradient, [(P,), (N,)], 1),
    (carried_with_gradient, [(P,), ([9.0, 9.0, 9.0],)], 1),
    (asked_in_a_loop, [(P,), (N,)], 1),
    (counted_by_the_run, [*RUNS, (P, 0)], 1),
    (sum_asked_for_its_parts, [(P,), (N,)], 1),
    (accumulators_in_each_other, RUNS, 1),
    (exchanged_in_a_loop, [(P,), (N,)], 1),
    (no_gradient_in_a_loop, [(P,), (N,)], 1),
    (chosen_by_a_path, [(P,), (N,)], 1),
    (by_recursion, [(P,), (N,)], 1),
    (by_recursion_in_turn, [(P,), (N,)], 1),
    (leaf_of_an_argument, [(P,), (N,)], 1),
    (leaf_in_a_loop, [(P,), (N,)], 1),
    (gradient_of_a_new_leaf, [(P,), (N,)], 1),
]
