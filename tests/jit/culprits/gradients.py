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


def gradient_read(x):
    return x if TRAINED.weight.grad is None else TRAINED.weight.grad  # error: the gradient of a tensor cannot be read in a static function


def gradient_cleared_in_a_branch(x):
    if x.sum() > 0:
        TRAINED.weight.clear_grad()  # error: the gradient of a tensor can only be cleared in a static function, and not under a condition
    return x * TRAINED.weight


def gradient_set(x):
    TRAINED.weight.grad = x  # error: the gradient of a tensor can only be cleared in a static function, and not under a condition
    return x * TRAINED.weight


def gradient_that_may_be_absent(x):
    y = (x * TRAINED.weight).sum() if x.sum() > 0 else (x * TRAINED.other).sum()
    y.backward()
    return x if TRAINED.weight.grad is None else TRAINED.weight.grad  # error: only the run knows whether there is a gradient


def backward_in_a_branch(x):
    y = (x * TRAINED.weight).sum()
    if y > 0:
        y.backward()  # error: backward() cannot be called in a branch or a loop that depends on a tensor
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


def step_in_a_branch(x):
    (x * TRAINED.weight).sum().backward()
    if x.sum() > 0:
        TRAINED.optimizer.step()  # error: the step of an optimizer under a condition on tensors
    return x


def step_of_what_is_modified(x):
    with paddle.no_grad():
        TRAINED.weight.scale_(0.5)
    (x * TRAINED.weight).sum().backward()
    TRAINED.optimizer.step()  # error: an optimizer updates a parameter that the static function has modified before
    return x


def step_that_asks_for_all_gradients(x):
    y = (x * TRAINED.weight).sum() if x.sum() > 0 else (x * TRAINED.other).sum()
    y.backward()
    TRAINED.adamax.step()  # error: only the run knows whether there is a gradient, and this optimizer does more than nothing without one
    return x * 2
