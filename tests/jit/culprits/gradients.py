"""Gradients and optimizers."""

import dy2st as paddle
from dy2st.optimizer import SGD, Adamax
from dy2st.tensor.tensor import Parameter


class Trained:
    def __init__(self):
        self.weight, self.other = Parameter([1.0, 2.0]), Parameter([1.0, 2.0])
        self.optimizer = SGD(0.1, [self.weight, self.other])
        self.adamax = Adamax(0.1, parameters=[self.weight, self.other])


TRAINED = Trained()


def gradient_of_an_argument_read(x):
    return x if x.grad is None else x.grad  # error: the gradient of an argument cannot be read in a static function


def gradient_set(x):
    TRAINED.weight.grad = x  # error: the gradient of a tensor can only be cleared in a static function
    return x * TRAINED.weight


def gradient_that_may_be_absent_changed(x):
    y = (x * TRAINED.weight).sum() if x.sum() > 0 else (x * TRAINED.other).sum()
    y.backward()
    if TRAINED.weight.grad is not None:
        TRAINED.weight.grad.scale_(0.5)  # error: a gradient that only some runs have is modified in place
    TRAINED.optimizer.step()
    return x


def backward_in_a_loop_of_what_is_before_it(x):
    y = (x * TRAINED.weight).sum()
    while x.sum() > 0:
        y.backward()  # error: backward() in a loop of what is computed before the loop: the first iteration frees the graph
        x = x - 1
    return x * 2


def backward_into_an_earlier_iteration(x):
    h = x * 2
    while h.sum() > 0:
        h = h - TRAINED.weight
        h.sum().backward(retain_graph=True)  # error: backward() in a loop that depends on a tensor: the gradient flows on into an earlier
    return x * 2


def backward_by_a_parameter_before_its_step_in_a_loop(x):
    y = (x * TRAINED.weight**2).sum()
    while x.sum() > 0:
        (y + (x * TRAINED.weight).sum()).backward(retain_graph=True)  # error: backward() in a loop that modifies a leaf: the gradient
        TRAINED.optimizer.step()
        x = x - 4
    return x.detach()


def grad_into_an_earlier_iteration(x):
    h = x * 2
    while h.sum() > 0:
        h = h - TRAINED.weight
        x = x + paddle.grad(h.sum(), [TRAINED.weight], retain_graph=True)[0]  # error: grad() in a loop that depends on a tensor: the
    return x


def grad_by_what_may_be_another_tensor(x):
    h = TRAINED.other if x.sum() > 0 else TRAINED.weight
    return paddle.grad((h * TRAINED.weight).sum(), [h])[0]  # error: only the run knows whether what grad() differentiates by is one


def backward_once_more_in_some_runs(x):
    y = (x * TRAINED.weight).sum()
    if y > 0:
        y.backward()
    y.backward()  # error: the graph was freed by an earlier backward() in some runs
    return x * 2


def backward_once_more(x):
    y = (x * TRAINED.weight).sum()
    y.backward()
    y.backward()  # error: the graph was freed by an earlier backward()
    return x * 2


def backward_to_be_differentiated(x):
    paddle.autograd.backward([(x * TRAINED.weight).sum()], create_graph=True)  # error: backward(create_graph=True) in a static function
    return x * 2


def backward_by_a_parameter_before_its_step(x):
    y = x * TRAINED.weight**2  # error: the gradient needs the value that
    (x * TRAINED.other).sum().backward()
    (x * TRAINED.weight).sum().backward()
    TRAINED.optimizer.step()
    y.sum().backward()
    return x > 1


def grad_by_a_parameter_before_its_step(x):
    y = x * TRAINED.weight**2  # error: the gradient needs the value that
    (x * TRAINED.weight).sum().backward()
    TRAINED.optimizer.step()
    return paddle.grad(y.sum(), [TRAINED.weight])[0]


def step_in_recursion(x, n):
    if n > 0:
        TRAINED.optimizer.step()  # error: the step of an optimizer in a function that calls itself
        return step_in_recursion(x * 2, n - 1)
    return x


def gradient_modified_behind_a_branch_that_clears_it(x):
    (x * TRAINED.weight).sum().backward()
    gradient = TRAINED.weight.grad
    if x.sum() > 0:
        TRAINED.weight.clear_grad()
    gradient.scale_(2.0)  # error: a gradient that only some runs have is modified in place
    return x


def gradient_that_may_be_absent_set(x):
    y = (x * TRAINED.weight).sum()
    if y > 0:
        y = y + (TRAINED.other * TRAINED.other).sum()
    y.backward()
    TRAINED.other.grad.set_value(TRAINED.other.grad * 0.5)  # error: a gradient that only some runs have is modified in place
    TRAINED.optimizer.step()
    return x


def step_that_asks_for_all_gradients(x):
    y = (x * TRAINED.weight).sum() if x.sum() > 0 else (x * TRAINED.other).sum()
    y.backward()
    TRAINED.adamax.step()  # error: only the run knows whether there is a gradient, and this optimizer does more than nothing without one
    return x * 2


def gradients_stopped_at_one_of_two(x, n):
    first, second = x * TRAINED.weight, x * TRAINED.other
    chosen = first if n > 1 else second
    chosen.stop_gradient = True  # error: what is modified in place here is on one path the same object as a tensor or list that is used
    return first * 1


def gradients_stopped_at_an_entry_perhaps(x, n):
    first = x * TRAINED.weight
    parts = [first]
    if n > 1:
        parts[0] = x * 2
    first.stop_gradient = True  # error: what is modified in place here is on one path the same object as a tensor or list that is used
    return parts[0] * 1


def gradients_stopped_behind_recursion(x, n):
    def visit(t, k):
        return t if k <= 0 else visit(t * 2, k - 1)

    first = x * TRAINED.weight
    found = visit(first, n)
    first.stop_gradient = True  # error: what is modified in place here is on one path the same object as a tensor or list that is used
    return found * 1
