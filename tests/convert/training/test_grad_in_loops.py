"""`grad()` in branches and loops that depend on tensors: inner solvers, inner steps of training, attacks by gradients. As eagerly."""

import linecache

import numpy as np
import pytest
from three_ways import arguments, check, compare, outcome

import dy2st as paddle
from dy2st import jit, nn
from dy2st.errors import EagerStatementWarning, GradientError, StagedValueError
from dy2st.tensor import Tensor
from dy2st.tensor.autograd import grad, no_grad


def leaf(x):
    """The value as a leaf that wants a gradient."""
    x = x.detach()
    x.stop_gradient = False
    return x


def descent(x, n):
    w, count = x, 0
    while (w * w).sum() > 0.1 and count < n:
        w = leaf(w)
        w = w - 0.25 * grad((w * w).sum(), [w])[0]
        count += 1
    return w.detach(), count


def descent_that_is_differentiated(x, y, n):
    """Through the steps, and the gradients in them; the target is outside of the loop."""
    w = x * 2
    for _ in range(n):
        w = w - 0.1 * grad(((w - y) ** 3 * y).sum(), [w], create_graph=True)[0]
    return w, (w * y).sum()


def descent_along_one_path(x, y, n):
    """A gradient that is a constant for what is behind: only the way by `w` counts."""
    w = x * 2
    for _ in range(n):
        w = w - 0.1 * grad((w**3 * y).sum(), [w], retain_graph=True)[0]
    return w


def two_at_once(x, y, n):
    w, b = leaf(x), leaf(y)
    loss = x.sum()
    for _ in range(n):
        loss = (w * w * b + x * w + y.tanh() * b).sum()
        dw, db = grad(loss, [w, b])
        w, b = leaf(w - 0.1 * dw), leaf(b - 0.1 * db)
    return w.detach(), b.detach(), loss.detach()


def attack(x, y, n):
    """Steps along the gradient by the input, near it; what is attacked is computed outside in part."""
    scale = y.exp()
    moved = x.detach()
    for _ in range(n):
        moved = leaf(moved)
        h = moved * scale if (moved * scale).sum() > 1 else (moved * moved).tanh() * y
        g = grad((h * h).mean(), moved)[0]
        moved = (moved + 0.1 * g.sign()).clip(-1.0, 1.0)
        moved = x + (moved - x).clip(-0.3, 0.3)
    return moved.detach(), scale


def by_what_is_outside(x, y, n):
    """The parts of the graph that lead to the arguments are outside of the loop."""
    h = x * x * y if x.sum() > 0 else x.tanh()
    for _ in range(2):
        h = h * y
    total = x.detach() * 0
    for i in range(n):
        gx, gy = grad((h * (i + 1.0)).sum(), [x, y], retain_graph=True, create_graph=True)
        total = total + gx.detach() - gy.detach()
    return total


def by_what_a_loop_outside_computes(x, y, n):
    h, count = x, 0
    while h.sum() < 9 and count < n:
        h = h * y + x
        count += 1
    total = x.detach()
    for _ in range(n):
        total = total + grad(h.sum(), [x], retain_graph=True)[0]
    return total


def in_a_branch(x, y):
    h = (x * x * y).sum()
    if h > 0:
        k = h * h
        g = grad(k * y.sum(), [y])[0].detach()
    else:
        g = grad(h, [x], create_graph=True)[0]
    return g * 2


def with_loops_inside(x, y, n):
    """What is differentiated is a loop itself, and one with a step inside."""
    for _ in range(n):
        x = leaf(x)
        h = x
        for _ in range(n):
            h = h * y if h.sum() < 4 else h - x * 0.5
        z = leaf(h)
        while (z * z).sum() > 2:
            z = leaf(z - 0.3 * grad((z * z).sum(), [z])[0])
        x = x - 0.1 * grad((h * z.detach()).sum(), [x])[0]
    return x.detach()


def in_a_branch_of_a_loop(x, y, n):
    for i in range(n):
        x = leaf(x)
        loss = (x * x * y).sum()
        if loss > 1:
            x = x - 0.05 * grad(loss, [x])[0]
        elif i > 1:
            continue
        else:
            x = x * 1.5
    return x.detach()


def in_the_test(x, n):
    x, count = leaf(x), 0
    while grad((x**3).sum(), [x])[0].norm() > 1 and count < n:
        x = leaf(x * 0.7)
        count += 1
    return x.detach()


def of_what_some_runs_do_not_use(x, y, n):
    for _ in range(n):
        x = leaf(x)
        h = (x * x).sum() if x.sum() > 1 else (y * y).sum()
        g = grad(h, [x], allow_unused=True)[0]
        x = x * 1.5 if g is None else x - 0.4 * g
    return x.detach()


def of_what_some_runs_do_not_use_without_a_look(x, y, n):
    for _ in range(n):
        x = leaf(x)
        h = (x * x).sum() if x.sum() > 1 else (y * y).sum()
        x = x - 0.4 * grad(h, [x])[0]
    return x.detach()


def entries_of_a_list(x, n):
    w, found = leaf(x), []
    for _ in range(n):
        w = leaf(w - 0.1 * grad((w**3).sum(), [w])[0])
        found.append(w.detach())
    return found[-1] if found else w.detach(), len(found)


def a_leaf_that_is_moved_in_place(x, n):
    w = leaf(x)
    for _ in range(n):
        g = grad((w**3).sum(), [w])[0]
        with no_grad():
            w.subtract_(0.1 * g)
    return w.detach()


def by_the_gradients_of_a_leaf(x, n):
    w = leaf(x)
    for _ in range(n):
        (w**3).sum().backward()
        with no_grad():
            w.subtract_(0.1 * w.grad)
        w.clear_grad()
    return w.detach()


def by_the_gradients_of_leaves_of_an_iteration(x, y, n):
    total = x.detach()
    for _ in range(n):
        w = leaf(total)
        loss = (w * w * y.detach()).sum()
        if loss > 0:
            loss.backward()
            total = w - 0.1 * w.grad
        else:
            total = w.detach() * 0.5
        total = total.detach()
    return total


def momentum_by_hand(x, n):
    """Gradients that are not cleared add up."""
    w = leaf(x)
    loss = (w * w).sum()
    loss.backward()
    while loss > 0.05 and n > 0:
        with no_grad():
            w.subtract_(0.02 * w.grad)
        loss = (w * w).sum()
        loss.backward()
        n = n - 1
    return w.detach(), w.grad * 1.0


def through_steps_of_two(x, y, n):
    w, b = x * 1, y * 1
    for _ in range(n):
        dw, db = grad(((w * b) ** 2 + w).sum(), [w, b], create_graph=True)
        w, b = w - 0.05 * dw, b - 0.05 * db
    return (w * b).sum(), w


def backward_to_the_argument(x, n):
    for i in range(n):
        ((x**2) * (i + 1.0)).sum().backward()
    return x.detach() * 2


def backward_in_some_iterations(x, y, n):
    w = leaf(x)
    for i in range(n):
        if (w * y.detach()).sum() > 0.5:
            (w**2).sum().backward()
        if w.grad is not None:
            with no_grad():
                w.subtract_(0.1 * w.grad)
        if i > 1:
            w.clear_grad()
    return w.detach()


def of_a_list(x, y, n):
    ws = [leaf(x), leaf(y)]
    for _ in range(n):
        gs = grad((ws[0] * ws[1] ** 2).sum(), ws)
        ws = [leaf(w - 0.1 * g) for w, g in zip(ws, gs, strict=True)]
    return ws[0].detach(), ws[1].detach()


def shifted(x, y, n):
    """What `v` is made of was never `w`."""
    w, v, r = x * 1, x * 1, x * 1
    for _ in range(n):
        y = y + grad((w * v).sum(), [w], retain_graph=True)[0].detach()
        w, v, r = r, w * y.detach(), x * 2
    return y


P, N, S = [0.5, 1.5, 2.0], [-0.5, -1.5, 0.2], [0.3, 0.1, -0.2]
CASES = [
    (descent, [(P, 9), (N, 1), (S, 9), (N, 0)]),
    (descent_that_is_differentiated, [(S, P, 2), (S, N, 0), (N, S, 3)]),
    (descent_along_one_path, [(S, P, 2), (S, N, 0), (N, S, 3)]),
    (two_at_once, [(P, S, 3), (N, P, 1), (P, N, 0)]),
    (attack, [(P, S, 3), (S, N, 2), (S, S, 0)]),
    (by_what_is_outside, [(P, S, 3), (N, P, 1), (S, N, 0)]),
    (by_what_a_loop_outside_computes, [(P, P, 3), (P, [1.0, 1.0, 1.0], 2), (N, S, 0)]),
    (in_a_branch, [(P, P), (P, N), (N, S)]),
    (with_loops_inside, [(P, S, 2), (N, P, 3), (P, P, 0)]),
    (in_a_branch_of_a_loop, [(P, P, 3), (S, P, 4), (N, S, 2)]),
    (in_the_test, [(P, 9), (N, 1), (S, 3)]),
    (of_what_some_runs_do_not_use, [(P, S, 3), (S, N, 4), (N, P, 1)]),
    (of_what_some_runs_do_not_use_without_a_look, [(P, S, 1), (S, N, 4)]),
    (entries_of_a_list, [(P, 3), (N, 1), (S, 0)]),
    (by_the_gradients_of_a_leaf, [(P, 3), (N, 1), (S, 0)]),
    (by_the_gradients_of_leaves_of_an_iteration, [(P, S, 3), (P, N, 2), (S, N, 0)]),
    (momentum_by_hand, [(P, 3), (N, 1), (S, 0)]),
    (through_steps_of_two, [(P, S, 3), (S, N, 1), (P, P, 0)]),
    (backward_to_the_argument, [(P, 3), (N, 0), (S, 1)]),
    (backward_in_some_iterations, [(P, S, 4), (S, N, 3), (P, P, 0)]),
    (of_a_list, [(P, S, 3), (N, N, 1), (S, S, 0)]),
    (shifted, [(P, N, 3), (P, S, 0)]),
    (a_leaf_that_is_moved_in_place, [(P, 3), (N, 1), (S, 0)]),
]  # fmt: skip


@pytest.mark.parametrize(("function", "calls"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_as_eagerly(function, calls):
    check(function, calls, 1)


class Solver(nn.Layer):
    """The way to a fixed point by gradients, in a layer that is trained by what it finds."""

    def __init__(self):
        super().__init__()
        paddle.seed(3)
        self.first, self.second = nn.Linear(2, 3), nn.Linear(3, 2)

    def forward(self, x):
        z, steps = leaf(x), 0
        while (z - x).abs().max() < 0.5 and steps < 6:
            z = leaf(z - 0.5 * grad((self.second(self.first(z).tanh()) ** 2).sum(), z)[0])
            steps += 1
        return self.second(self.first(z.detach()).tanh()), steps


def test_the_parameters_get_no_gradient_by_the_steps():
    eager, static = Solver(), jit.to_static(Solver())
    static.set_state_dict(eager.state_dict())
    for scale in (1.0, 0.2):
        x = Tensor(np.array([[1.0, -2.0], [0.5, 1.0]], np.float32) * scale)
        for net in (eager, static):
            net.clear_gradients()
        (a, n), (b, m) = eager(x), static(x)
        assert int(m) == n > 0
        np.testing.assert_allclose(b.numpy(), a.numpy(), rtol=2e-5)
        a.sum().backward()
        b.sum().backward()
        for p, q in zip(eager.parameters(), static.parameters(), strict=True):
            np.testing.assert_allclose(q.grad.numpy(), p.grad.numpy(), rtol=2e-5, atol=1e-6)


def carried(x, y, n):
    h = x * 2
    for _ in range(n):
        h = h * x
        y = y + grad(h.sum(), [x])[0].detach()
    return y


def carried_by_another_one(x, y, n):
    """What `v` is made of comes to `w` an iteration later."""
    w, v, r, s, t = x * 1, x * 1, x * 1, x * 1, x * 1
    for _ in range(n):
        y = y + grad((w * v).sum(), [w], retain_graph=True)[0].detach()
        w, v, r, s, t = r, s, t, t * y.detach(), x * 2
    return y


def carried_through_a_nested_loop(x, y, n):
    h = x * 2
    for _ in range(n):
        k = h * 1
        for _ in range(2 * n):
            y = y + grad((k * h).sum(), [h], retain_graph=True)[0].detach()
            k = k * y.detach()
        h = h + 1
    return y


def carried_of_what_is_chosen(x, y, n):
    """`k` is x itself in some iterations."""
    h = y * 2
    for i in range(n):
        k = x if i > 0 else leaf(y)
        y = y + grad((k * h).sum(), [k], retain_graph=True)[0].detach()
        h = x * y.detach()
    return y


@pytest.mark.parametrize("function", [carried, carried_by_another_one, carried_through_a_nested_loop, carried_of_what_is_chosen])
def test_a_gradient_that_flows_on_into_earlier_iterations_is_an_error(function):
    assert function(*arguments([P, N, 2])).shape == [3]
    with pytest.raises(StagedValueError, match="the gradient flows on into an earlier iteration") as caught:
        jit.to_static(function)(*arguments([P, N, 2]))
    assert ": y = y + grad(" in f"{caught.value.location.line}: {linecache.getline(__file__, caught.value.location.line).strip()}"


@pytest.mark.parametrize("function", [carried, carried_by_another_one, carried_through_a_nested_loop])
def test_a_statement_that_runs_eagerly_instead(function):
    """The loop does, and `grad()` in it, which sees what other parts of the function have computed."""
    static = jit.to_static(function, full_graph=False)
    with pytest.warns(EagerStatementWarning):
        found = outcome(static, (P, N, 2))
    compare(outcome(function, (P, N, 2)), found, "")


def begun_with_the_argument(x, y, n):
    """In the first iteration `w` is x itself."""
    w = x
    for _ in range(n):
        w = leaf(w - 0.1 * grad((w * x).sum(), [w])[0])
    return w.detach()


def modified_in_place_after_use(x, n):
    """`h` is computed from the leaf as it was before."""
    w = leaf(x)
    h = w * w
    for _ in range(n):
        g = grad((h * w).sum(), [w], retain_graph=True)[0]
        with no_grad():
            w.subtract_(0.1 * g)
    return w.detach()


@pytest.mark.parametrize(("function", "values"), [(begun_with_the_argument, (P, S, 2)), (modified_in_place_after_use, (P, 2))])
def test_what_is_one_tensor_or_another_is_an_error(function, values):
    function(*arguments(values))
    with pytest.raises(StagedValueError, match="one tensor or another one"):
        jit.to_static(function)(*arguments(values))


def through_a_recursion(x, n):
    def power(v, k):
        return v if k <= 0 else v * power(v, k - 1)

    for _ in range(n):
        x = leaf(x)
        x = x - 0.1 * grad(power(x, n).sum(), [x])[0]
    return x.detach()


def test_a_recursion_is_an_error():
    with pytest.raises(StagedValueError, match="together with a function that calls itself"):
        jit.to_static(through_a_recursion)(*arguments([P, 2]))


def of_what_is_no_more_differentiated(x, n):
    for _ in range(n):
        x = x.detach() - grad((x * x).sum(), [x])[0]
    return x


def test_what_needs_a_gradient_in_some_iterations_is_an_error():
    with pytest.raises(GradientError):
        of_what_is_no_more_differentiated(*arguments([P, 3]))
    with pytest.raises(StagedValueError, match="depends on the iteration"):
        jit.to_static(of_what_is_no_more_differentiated)(*arguments([P, 3]))
