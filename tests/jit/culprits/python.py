"""Statements and objects of Python: managers, caches, exits, defaults."""

import contextlib
import decimal
import fractions
import functools
import logging
import queue
import sys

import numpy as np

import dy2st as paddle
from dy2st.tensor.tensor import Parameter

from .things import reported, section

LOGGER = logging.getLogger("tests.culprits")


def lists_in_order(x, n):
    a = []
    for i in range(n):
        a.append(i)
    return x if a < [1] else -x  # error: '<' of lists of dynamic length is not supported


def tuples_that_are_given_compared(x, n):
    def larger(a, b):
        return a if a > b else b  # error: bool() needs the value of a tensor (bool[]) that is only known

    return larger((x[0], 1), (x[1], 2))


def special_method_that_is_no_operator(x, n):
    return int(n).__str__()  # error: what int.__str__() gives of a value that only the run knows is not known while tracing


def fraction_beside_a_number(x, n):
    if x.sum() > 0:
        x = x * 2
    return x if fractions.Fraction(1, 2) == int(n) else -x  # error: an operand of a number that only the run knows is a Fraction


def tuple_repeated(x, n):
    return len((x, x) * int(n))  # error: a tuple is repeated as often as only the run knows


def suppressed_by_a_manager(x):
    with contextlib.suppress(ValueError):
        if x.sum() > 0:
            raise ValueError("positive")  # error: that ValueError is raised here, which only the run knows, would be seen by the suppress()
        x = x * 2
    return x


class Swallows:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        return kind is IndexError


def index_in_a_manager(x, n):
    with Swallows():
        x = x + x[n]  # error: that IndexError is raised here, which only the run knows, would be seen by the Swallows() of a with
    return x


def loop_of_a_generator_function(x, n):
    def doubled(xs):
        for v in xs:  # error: a list of dynamic length has a length that is only known at run time; Python runs the loops of a generator
            yield v * 2

    found = []
    for i in range(n):
        found.append(x * i)
    return sum(doubled(found))


EXPERTS = paddle.nn.LayerList()


def index_of_a_layer_in_a_manager(x, n):
    with Swallows():
        x = EXPERTS[n](x)  # error: that IndexError is raised here, which only the run knows, would be seen by the Swallows() of a with
    return x


def caught_by_a_generator(x):
    @contextlib.contextmanager
    def logged(log):
        try:
            yield
        except ValueError:
            log.append("failed")

    with logged([]):
        if x.sum() > 0:
            raise ValueError("positive")  # error: that ValueError is raised here, which only the run knows, would be seen by the logged()
    return x


def caught_in_a_stack_of_managers(x):
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.suppress(AssertionError))
        assert x.sum() < 0  # error: that AssertionError is raised here, which only the run knows, would be seen by the ExitStack()
    return x


class Told:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        self.tell(error is None)

    def tell(self, well):
        print("left", well)


def raised_in_a_manager_that_prints(x):
    with Told():
        if x.sum() > 0:
            raise ValueError("positive")  # error: that ValueError is raised here, which only the run knows, would be seen by the Told()
    return x


def asserted_in_a_section(x):
    with section("all"), section("inner"):
        assert x.sum() > 0, "negative"  # error: that AssertionError is raised here, which only the run knows, would be seen by the
    return x


def index_in_a_section(x, n):
    with section("all"):
        x = x + x[n]  # error: that IndexError is raised here, which only the run knows, would be seen by the section() of a with
    return x


def raised_below_a_callback_that_logs(x):
    with contextlib.ExitStack() as stack:
        stack.callback(LOGGER.info, "undone")
        for v in x:
            if v > 5:
                raise ValueError("large")  # error: that ValueError is raised here, which only the run knows, would be seen by the
        stack.pop_all()
    return x


def raised_in_a_manager_that_says_what_failed(x):
    with reported():
        if x.sum() > 0:
            raise ValueError("positive")  # error: that ValueError is raised here, which only the run knows, would be seen by the reported()
    return x


def error_of_tracing_in_a_manager(x):
    with contextlib.suppress(TypeError):
        x = np.sin(x)  # error: np.sin() needs the value of a tensor
    return x


def gradients_switched_off_on_one_path(x):
    if x.sum() > 0:  # error: the recording of gradients is switched under a condition on tensors
        paddle.set_grad_enabled(False)
    y = x * 2
    paddle.set_grad_enabled(True)
    return y


def gradients_switched_off_in_a_loop(x, n):
    for _ in x[:n]:  # error: the recording of gradients is switched under a condition on tensors
        paddle.set_grad_enabled(False)
    y = x * 2
    paddle.set_grad_enabled(True)
    return y


def range_sliced(x, n):
    return x * sum(range(int(n))[1:])  # error: a range() with an end that only the run knows, cannot be used so


def bits_of_a_number(x, n):
    return x * int(n).bit_length()  # error: a number that only the run knows has no attribute 'bit_length' here


def manager_of_a_path(x):
    manager = contextlib.nullcontext() if x.sum() > 0 else paddle.no_grad()
    with manager:  # error: a value is one of several objects (
        return x * 2


@functools.cache
def _table(n):
    return n if isinstance(n, paddle.Tensor) else paddle.rand([n])


def tensor_in_a_cache(x):
    return x * _table(x * 2)  # error: _table(), which has a cache, is given a tensor that is another object at each call


def number_in_a_cache(x, n):
    return x * _table(int(n))  # error: hash() (a lookup in a dict or set) needs the value of a tensor


def cache_that_draws_on_one_path(x):
    return x * _table(2) if x.sum() > 0 else x  # error: _table(), which has a cache, draws random numbers under a condition on tensors


def id_of_one_of_two(x):
    y = x if x.sum() > 0 else x * 2
    return x if id(y) == id(x) else -x  # error: whether the two are one object depends on a condition on tensors


def id_of_one_of_two_looked_up(x):
    y = x if x.sum() > 0 else x * 2
    return x if id(y) in {id(x)} else -x  # error: the id() of what is one of several objects, as only the run knows, cannot be looked up


def id_beside_a_number(x):
    return x if id(x) == 5 else -x  # error: the id() of a tensor is another one while tracing


LAST = {}


def id_kept(x):
    LAST["x"] = id(x)
    return x * 2  # error: the id() of a tensor is another one while tracing: it cannot be a result, or be kept


def stop_gradient_on_one_path(x):
    y = x * paddle.to_tensor([2.0, 3.0], stop_gradient=False)
    if x.sum() > 0:
        y.stop_gradient = True  # error: whether gradients stop at a tensor (stop_gradient) would depend on a condition on tensors
    return y


def frozen_on_one_path(x):
    weights = [paddle.to_tensor([2.0, 3.0], stop_gradient=False)]
    if x.sum() > 0:
        for p in weights:
            p.stop_gradient = True  # error: whether gradients stop at a tensor (stop_gradient) would depend on a condition
    return x * weights[0]


def sent_to_a_generator_on_one_path(x):
    def totals():
        total = 0
        while True:
            total += yield total

    running = totals()
    next(running)
    if x.sum() > 0:
        running.send(5)  # error: a generator is advanced in a branch or a loop that depends on a tensor
    return x * running.send(1)


def exit_on_one_path(x):
    if x.sum() > 100:
        sys.exit(3)  # error: SystemExit is raised under a condition on tensors, and is no Exception
    return x * 2


def exit_in_a_loop(x):
    for v in x[x > 100]:
        raise SystemExit(v)  # error: SystemExit is raised under a condition on tensors, and is no Exception
    return x * 2


def exit_as_an_operand(x):
    x.sum() > 0 or sys.exit("no")  # error: SystemExit is raised under a condition on tensors, and is no Exception
    return x * 2


def queue_filled_on_one_path(x):
    waiting = queue.Queue()
    waiting.put(x)
    if x.sum() > 0:  # error: 'the contents of a deque' is tuple of 2 on the path where the condition is true and tuple of 1
        waiting.put(x * 2)
    return x * waiting.qsize()


def callback_on_one_path(x):
    with contextlib.ExitStack() as stack:
        if x.sum() > 0:  # error: 'the contents of a deque' is tuple of 1 on the path where the condition is true and tuple of 0
            stack.callback(abs, 2)
        return x * 2


class Noted:
    @staticmethod
    def by_default(v, seen=[]):  # noqa: B006
        seen.append(v)
        return len(seen[-2:])


def default_argument_that_grows_on_one_path(x):
    Noted.by_default(1)
    if x.sum() > 0:  # error: a list, which is a default argument, changes its length or its keys in a loop or branch
        Noted.by_default(2)
    return x * Noted.by_default(3)


def ranks_that_differ_in_a_try(x):
    y = x[0]
    try:
        if x.sum() > 0:  # error: 'y' has 1 dims on one path and 0 on the other
            y = x
        z = y.sum()
    except Exception:
        z = x.sum() * 0
    return z


def number_of_two_kinds_in_a_try(x, n):
    try:
        k = 2.5 if x.sum() > 0 else 1
        y = n * k  # error: 'the value of the expression' is a Python float on one path and a Python int on the other
    except TypeError:
        y = n * 0
    return y


def entries_of_two_dtypes_in_a_try(x, n):
    rows = [x]
    try:
        for i in range(n):  # error: an element of 'rows' has dtype float32 on one path and int64 on the other
            rows.append(n + i)
    except (TypeError, ValueError):
        rows = [x * 0]
    return rows[0] * 1


HELD_PARTIAL = {}


def partial_with_a_tensor_kept(x):
    HELD_PARTIAL["f"] = functools.partial(max, x * 2)
    return x  # error: a partial with tensors in it cannot be the result of a static function, or be kept by it


def stop_gradient_of_an_argument(x):
    x.stop_gradient = not x.stop_gradient
    x.stop_gradient = not x.stop_gradient  # error: stop_gradient of an argument is set, which the caller's tensor would not know
    return x * 2


def pooled_to_a_size_of_the_run(x, n):
    return paddle.nn.functional.adaptive_avg_pool2d(x.reshape([1, 1, 1, 2]), [1, int(n)])  # error: output_size is a number that is only


def window_of_the_run(x, n):
    return paddle.nn.functional.max_pool2d(x.reshape([1, 1, 1, 2]), [1, int(n)])  # error: kernel_size is a number that is only known


def reflected_by_a_tensor(x, n):
    return paddle.nn.functional.pad(x.reshape([1, 1, 2]), [int(n), 0], mode="reflect")  # error: pad: only the run knows how much


class Doubled(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, dy):
        return dy * 2


FACTOR = Parameter([1.0, 3.0])


def gradient_by_python_code(x):
    return Doubled.apply(x * FACTOR)  # error: Doubled.backward is Python code


def stop_gradient_of_some_iterations(x):
    y, w = paddle.zeros([2]), paddle.to_tensor([2.0, 3.0], stop_gradient=False)
    for v in x:
        y = y + v * w
    return (1, y) if y.stop_gradient else (2, y)  # error: whether a gradient flows to the tensor (stop_gradient) depends on the path or the


def stop_gradient_of_one_path(x):
    y = x * 2 if x.sum() > 0 else x * paddle.to_tensor([2.0, 3.0], stop_gradient=False)
    return y * 1 if y.stop_gradient else y  # error: whether a gradient flows to the tensor (stop_gradient) depends on the path


def gradient_let_through_behind_a_loop(x):
    h = paddle.zeros([2])
    for row in x:
        h = h + row * FACTOR
        h.stop_gradient = True
    h.stop_gradient = False  # error: gradients stop at the tensor since a branch, a loop or a list
    return (h * FACTOR).sum()


def gradient_let_through_behind_a_branch(x):
    h = paddle.ones([2])
    if x.sum() > 0:
        h = x * FACTOR
        h.stop_gradient = True
    h.stop_gradient = False  # error: gradients stop at the tensor since a branch, a loop or a list
    return (h * FACTOR).sum()


def gradient_let_through_of_an_entry(x):
    rows = []
    for row in x:
        y = row * FACTOR
        y.stop_gradient = True
        rows.append(y)
    last = rows[-1]
    last.stop_gradient = False  # error: gradients stop at the tensor since a branch, a loop or a list
    return (last * FACTOR).sum()


def array_of_a_list_that_grows(x):
    rows = []
    for row in x:
        rows.append([row.sum(), row.max()])
    return paddle.to_tensor(np.array(rows))  # error: an array of NumPy cannot be made of a list whose length only the run knows


def result_of_a_new_leaf(x):
    y = paddle.zeros([2])
    y.stop_gradient = False  # error: a result, or what the call changes, depends on a tensor that the function gives stop_gradient=False
    return (y * x).sum()


OUTSIDE = paddle.to_tensor([1.0, 2.0])


def stop_gradient_of_a_tensor_outside_by_turns(x):
    OUTSIDE.stop_gradient = not OUTSIDE.stop_gradient  # error: stop_gradient of a tensor outside is read, and is another one after the call
    return x * 2


def result_of_an_argument_with_gradients(x):
    x.stop_gradient = False  # error: a result, or what the call changes, depends on a tensor that the function gives stop_gradient=False
    return x * 2


def new_leaf_returned(x):
    return x, paddle.to_tensor([1.0, 2.0], stop_gradient=False)  # error: a result, or what the call changes, depends on a tensor


class AttrDict(dict):
    def __getattr__(self, name):
        return self[name]


def attribute_dicts_of_two_paths(x):
    d = AttrDict(n=x)
    if x.sum() > 0:  # error: 'd' is AttrDict of 1 ('n': a tensor float32[2]) on the path where the condition is true
        d = AttrDict(n=x * 2)
    return d.n


def fraction_of_a_number(x):
    return x * float(fractions.Fraction(int(x[0]), 2))  # error: fractions.Fraction() needs numbers of Python, and is given what


def decimal_of_a_number(x):
    return x * float(decimal.Decimal(int(x[0])))  # error: decimal.Decimal() needs numbers of Python, and is given what is only known when


def zeros_of_numpy(x):
    return x + np.zeros(int(x[0]) + 1).shape[0]  # error: numpy.zeros() needs numbers of Python, and is given what is only known when


def attribute_of_a_number_with_a_default(x):
    return x * getattr(int(x[0]), "real", 3)  # error: a number that only the run knows has no attribute 'real' here


def function_of_the_last_iteration(x, n):
    for v in x[:n]:  # error: what the loop leaves in 'grow' does not settle: each iteration makes another function

        def grow(y, by=v):
            return y + by

        x = grow(x)
    return grow(x)


def functions_of_all_iterations(x, n):
    made = []
    for v in x[:n]:  # error: what the loop leaves in 'made' does not settle: each iteration makes another function
        made.append(lambda v=v: v * 2)
    return [f() for f in made]


def exception_of_an_iteration(x, n):
    last = None
    for v in x[:n]:  # error: what the loop leaves in 'last' does not settle: each iteration makes another exception
        try:
            if v < 0:
                raise ValueError("negative")
        except ValueError as error:
            last = error
    if last is not None:
        raise last
    return x


def exception_with_a_cause_on_one_path(x):
    error = ValueError("chosen")
    if x[0] > 5:
        raise error from KeyError("cause")  # error: an exception is raised from another one on one path, and from none
    raise error


def numbers_and_a_text_in_a_list(x):
    log = [1, 5]
    if x[0] > 0:
        log.append("c")  # error: all entries of 'log' must be of one structure, as only the run knows its length or order: one
    return len(log)


def appended_where_it_may_be_none(x):
    found = x[0] if x[0] > 0 else None
    rows = []
    if x[1] > 0:
        rows.append(found)  # error: all entries of 'rows' must be of one structure, as only the run knows its length or order: one may be
    return len(rows)


def handler_of_what_is_not_there(x):
    y = x
    try:
        if x.sum() > 0:
            raise ValueError("positive")
    except paddle.there_is_no_such_name:  # error: what a handler names is not there (AttributeError: module 'dy2st' has no attribute
        y = x * 2
    return y


def condition_in_the_body_of_a_class(x):
    class Made:
        k = 2 if x.sum() > 0 else 3  # error: bool() needs the value of a tensor (bool[]) that is only known when the program runs

    return x * Made.k


class Place:
    def __init__(self, n):
        self.n = n

    def __index__(self):
        return int(self.n)


def place_that_python_asks_for(x, n):
    return x, bin(Place(n))  # error: __index__() of an object gives a number that only the run knows, where Python asks for it
