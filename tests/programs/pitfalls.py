"""What dygraph-to-static conversions often get wrong, construct by construct."""

import dataclasses

import dy2st as paddle
from dy2st import nn


def branch_with_several_outputs(x):
    if x.sum() > 0:
        a, b, c = x * 2, x.sum(), x[0]
    else:
        a, b, c = x * 3, x.mean(), x[1] * 2
    return a * b + c


def item_assignment_in_a_branch(x):
    y = x * 1
    if x.sum() > 0:
        y[0] = x[1] * 2
    else:
        y[1] = x[2] * x[0]
    return y * x


def variable_after_a_break(x, n):
    i = -1
    for i in range(n):
        if x[i] < 0 or x[i] > 1.5:
            break
    for j in range(5):
        if x[0] * j > 1:
            break
    return x * i, j


def value_of_and(x):
    y = x.sum() and x.max()
    z = x[:1] and x * 2
    return y, z


def guarded_index(x, n):
    i = 0
    while i < n and x[i] > 0:
        i += 1
    return x * i


class Stack(nn.Layer):
    def __init__(self):
        super().__init__()
        self.layers = nn.LayerList([nn.Linear(3, 3) for _ in range(3)])
        for i, layer in enumerate(self.layers):
            layer.weight.set_value(paddle.eye(3) * (i + 1))
        self.layers[1].register_forward_pre_hook(lambda layer, inputs: inputs[0] * 2 if inputs[0].sum() > 0 else inputs[0])
        self.layers[2].register_forward_post_hook(lambda layer, inputs, out: out + 1 if out.sum() > 0 else out - 1)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
            if x.sum() > 20:
                break
        return x


STACK = Stack()


def break_over_layers_with_hooks(x):
    return STACK(x.reshape([1, 3]))


def contained_in_a_tuple(x):
    return x if x.sum() in (6.0, 5.0) else -x, x[0] not in [1.0, 2.0]


class Vector:
    def __init__(self, v):
        self.v = v

    def __add__(self, other):
        return Vector(self.v + other.v if self.v.sum() > 0 else self.v - other.v)

    def __getitem__(self, i):
        return self.v[i]

    def __len__(self):
        return 3

    def __eq__(self, other):
        return (self.v == other.v).all()
    __hash__ = None


def overloaded_operators(x):
    a = Vector(x) + Vector(x * 2)
    return a[0] * len(a), a.v if a == Vector(x * 3) else -a.v


class Counter(nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", paddle.zeros([1]))
        self.hits = 0
        self.last = paddle.zeros([3])

    def hit(self, x):
        self.hits = self.hits + 1
        self.last = x

    def forward(self, x, n):
        self.seen.set_value(paddle.zeros([1]))
        self.hits = 0
        self.last = x
        for i in range(n):
            if x[i] > 0:
                self.seen += 1
                self.hit(x * i)
        return self.seen * x, self.hits


COUNTER = Counter()


def buffers_in_branches_and_loops(x, n):
    y, hits = COUNTER(x, n)
    return y, hits, COUNTER.seen * 1


def dict_methods(x, n):
    d = {"a": x, "b": x * 2}
    for _ in range(n):
        d.update(a=d["a"] + 1)
        if x.sum() > 0:
            d["b"] = d.pop("b") * 2
    return d.get("a"), d.setdefault("b", x), list(d.keys()), sum(v.sum() for v in d.values())


@dataclasses.dataclass
class State:
    h: object
    steps: int = 0

    def step(self, x):
        return State(self.h * 2 + x, self.steps + 1)


def dataclass_in_a_loop(x, n):
    s = State(x)
    while s.steps < n and s.h.sum() < 100:
        s = s.step(x)
    return s


TOTAL = 0


def global_in_a_loop(x, n):
    global TOTAL
    TOTAL = x * 0
    for i in range(n):
        if x[i] > 0:
            TOTAL = TOTAL + x[i]
    return TOTAL * 2


def read_under_the_same_condition(x):
    c = x.sum() > 0
    if c:
        y = x * 2
    z = x + 1
    if c:
        z = z + y
    return z


class Private(nn.Layer):
    def __init__(self):
        super().__init__()
        self.__scale = 2.0

    def __double(self, x):
        return x * self.__scale if x.sum() > 0 else x

    def forward(self, x):
        return self.__double(x)


PRIVATE = Private()


def private_names(x):
    return PRIVATE(x)


def starred_entry(*xs):
    return xs[0] if xs[0].sum() > 0 else xs[-1] * 2


def dynamic_zip(x, n):
    s = x[0] * 0
    for i, v in zip(range(n), x, strict=False):
        s = s + v * i
    return s


def reversed_range(x, n):
    s = x * 0
    for i in reversed(range(n)):
        s = s * 2 + x * i
    return s


def list_of_dynamic_length(x, n):
    return [x * i for i in range(n)]


def is_a_tensor(x, n):
    return isinstance(x, paddle.Tensor), isinstance(x.sum() > 0, paddle.Tensor), isinstance(int(n), paddle.Tensor), x


def one_tensor_twice(x):
    y = x * 2 if x.sum() > 0 else x * 3
    return y, y


def no_gradient_from_a_constant(x, n):
    h = paddle.zeros([3])
    for i in range(n):
        h = h * 0.5 + x * x[i]
    return h


def flag_of_an_inner_loop(x, n):
    s = x * 0
    for _ in range(n):
        for j in range(n):
            if x[j] > 1.5:
                break
            s = s + j + 1
        s = s + 10
    return s


def returns_in_nested_branches(x, n):
    for i in range(n):
        if x[i] > 0:
            if x[i] > 1.5:
                return x * i
            elif i > 1:
                return x
        else:
            return -x
    return x * 7


def text_none_or_number(x):
    name, rate = None, 1
    if x.sum() > 0:
        name, rate = "large", 0.5
    return x * rate if name is None else x * rate + 1


def sums_across_each_other(x):
    a = x.abs()
    b = a.cumsum(0)
    c = paddle.tanh(x.cumsum(0))
    d = c.cumsum(0)
    return a + d, c + b


def gradient_stopped_after_a_use(x):
    y = x * 2
    before = y * x
    y.stop_gradient = True
    stopped = y * x
    y.stop_gradient = False
    return before + stopped * 2 + y * x * 3


def gradient_from_what_had_none(x):
    with paddle.no_grad():
        y = x * 2
    y.stop_gradient = False
    return y * x


def gradient_stopped_in_a_loop(x):
    out = x * 0
    for row in x:
        y = row * 2
        y.stop_gradient = True
        out = out + y * x
    return out


class Moved:
    def go(self, x):
        return x + 1


class MovedFurther(Moved):
    def go(self, x, super=lambda: 7):
        return x * super()

    def run(self, x):
        def mine(y):
            def super():
                return 3 if y.sum() > 0 else 4

            return y * super()

        def pythons(self):
            return super().go(x)

        return self.go(x) + mine(x) + pythons(self) + super().go(x)


def variables_called_super(x):
    return MovedFurther().run(x)


P, N = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.5]
RUNS = [(P, 3), (N, 2), (P, 0), (P, 1)]

CASES = [
    (variables_called_super, [(P,), (N,)], 1),
    (sums_across_each_other, [([1.0, -2.0, 3.0],)], 1),
    (branch_with_several_outputs, [(P,), (N,)], 1),
    (item_assignment_in_a_branch, [(P,), (N,)], 1),
    (variable_after_a_break, RUNS, 1),
    (value_of_and, [(P,), (N,)], 1),
    (guarded_index, RUNS, 1),
    (break_over_layers_with_hooks, [(P,), (N,)], 1),
    (contained_in_a_tuple, [(P,), (N,)], 1),
    (overloaded_operators, [(P,), (N,)], 1),
    (buffers_in_branches_and_loops, RUNS, 1),
    (dict_methods, RUNS, 1),
    (dataclass_in_a_loop, RUNS, 1),
    (global_in_a_loop, RUNS, 1),
    (read_under_the_same_condition, [(P,), (N,)], 1),
    (private_names, [(P,), (N,)], 1),
    (starred_entry, [(P, N, P), (N, N, P)], 1),
    (dynamic_zip, RUNS, 1),
    (reversed_range, RUNS, 1),
    (list_of_dynamic_length, RUNS, 1),
    (is_a_tensor, RUNS, 1),
    (one_tensor_twice, [(P,), (N,)], 1),
    (no_gradient_from_a_constant, RUNS, 1),
    (flag_of_an_inner_loop, RUNS, 1),
    (returns_in_nested_branches, RUNS, 1),
    (text_none_or_number, [(P,), (N,)], 1),
    (gradient_stopped_after_a_use, [(P,), (N,)], 1),
    (gradient_from_what_had_none, [(P,), (N,)], 1),
    (gradient_stopped_in_a_loop, [(P,), (N,)], 1),
]
