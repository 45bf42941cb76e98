"""What code that runs as it is would ask of values that only the run knows: refused, as nobody sees it. What asks nothing is left alone."""

import contextlib
import dataclasses
import functools

import numpy as np
import pytest

import dy2st as paddle
from dy2st import jit
from dy2st.errors import EagerStatementWarning, StagedValueError

HIDDEN = """
import dataclasses

def is_none(v): return 1 if v is None else 4
def is_true(v): return 1 if v is True else 4
def is_number(v): return 1 if isinstance(v, (int, float)) else 4
def is_list(v): return 1 if type(v) is list else 4
def matched(v):
    match v:
        case int(): return 1
    return 4
def first_is_none(values): return 1 if values[0] is None else 4
def attribute_is_none(box): return 1 if box.h is None else 4
def size_is_number(x): return 1 if isinstance(x.shape[0], int) else 4
def is_tensor(v): return 1 if paddle.is_tensor(v) else 4
def tried(v):
    try: return v.no_such_attribute
    except AttributeError: return 4
def tried_at_all(v):
    try: return len(v)
    except: return 4
def twice(v): return v * 2
def truth(v): return 1 if v else 4
def looked_up(v): return {None: 1}.get(v, 4)
class Box:
    def __init__(self, h): self.h = h
    def ask(self): return 1 if self.h is None else 4
    @property
    def asked(self): return 1 if self.h is None else 4
    def __len__(self): return 1 if self.h is None else 4
    @staticmethod
    def of(v): return 1 if v is None else 4
@dataclasses.dataclass(frozen=True)
class Pair:
    h: object
    more: list = dataclasses.field(default_factory=list)
"""
hidden: dict = {"__name__": "hidden", "paddle": paddle}
exec(HIDDEN, hidden)
Box, Pair = hidden["Box"], hidden["Pair"]


def asks(v):
    return 1 if v is None else 4


@jit.not_to_static
def left_alone(v):
    return 1 if v is None else 4


@jit.not_to_static
def asks_another(v):
    return asks(v)


@jit.not_to_static
def asks_what_it_gets(f, v):
    return f(v)


@jit.not_to_static
def generator(v):
    yield 1 if v is None else 4


@jit.not_to_static
def generators(v):
    yield from generator(v)


@jit.not_to_static
def later(box):
    yield 4
    yield 1 if box[0] is None else 4


@jit.not_to_static
def told():
    v = yield 0
    yield 1 if v is None else 4


@jit.not_to_static
def each(values):
    yield from values


async def asks_in_time(v):
    return 1 if v is None else 4


@contextlib.contextmanager
@jit.not_to_static
def before(v, out):
    out.append(1 if v is None else 4)
    yield


@contextlib.contextmanager
@jit.not_to_static
def behind(box, out):
    yield
    out.append(1 if box[0] is None else 4)


class Slots:
    __slots__ = ("h",)

    @jit.not_to_static
    def ask(self):
        return 1 if self.h is None else 4


class Items:
    def __init__(self, v):
        self.v = v

    @jit.not_to_static
    def __iter__(self):
        yield 1 if self.v is None else 4


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = paddle.nn.Linear(3, 3)
        self.h = None

    def ask(self):
        return 1 if self.h is None else 4

    @jit.not_to_static
    def asks_itself(self):
        return self.ask()

    @jit.not_to_static
    def rows(self, x):
        return float(self.fc(x.reshape([1, 3])).shape[0])


net = Net()


def optional(x):
    k = None
    if x.sum() > 0:
        k = x * 2
    return k


def one_of(x):
    k = asks
    if x.sum() > 0:
        k = left_alone
    return k


def number(x):
    return int(x.sum())


def flag(x):
    return bool(x.sum() > 0)


def growing(x):
    found = []
    for i in range(int(x.abs().sum())):
        found.append(i)
    return found


def in_slots(x):
    box = Slots()
    box.h = optional(x)
    return box.ask()


def in_a_layer(x):
    net.h = optional(x)
    found = net.asks_itself()
    net.h = None
    return found


def while_a_loop_runs(x):
    box, found = [None], 0
    for i, v in enumerate(later(box)):
        if i == 0:
            box[0] = optional(x)
        found = v
    return found


def between_items(x):
    box = [None]
    items = later(box)
    next(items)
    box[0] = optional(x)
    return next(items)


def sent(x):
    items = told()
    next(items)
    return items.send(optional(x))


def entered(x):
    out = []
    with before(optional(x), out):
        pass
    return out[0]


def left(x):
    out, box = [], [None]
    with behind(box, out):
        box[0] = optional(x)
    return out[0]


def on_a_stack(x):
    out = []
    with contextlib.ExitStack() as stack:
        stack.enter_context(before(optional(x), out))
    return out[0]


NONE, NUMBER, LIST = "a value that is None in some runs", "a number", "a list of dynamic length"
REFUSED = {
    "without source": (lambda x: hidden["is_none"](optional(x)), NONE),
    "by its name": (lambda x: hidden["is_none"](v=optional(x)), NONE),
    "mapped": (lambda x: sum(map(hidden["is_none"], [optional(x)])), NONE),
    "in a list": (lambda x: hidden["first_is_none"]([optional(x)]), NONE),
    "an attribute": (lambda x: hidden["attribute_is_none"](Box(optional(x))), NONE),
    "a method": (lambda x: Box(optional(x)).ask(), NONE),
    "a property": (lambda x: Box(optional(x)).asked, NONE),
    "a special method": (lambda x: len(Box(optional(x))), NONE),
    "a static method": (lambda x: Box.of(optional(x)), NONE),
    "one of several": (lambda x: hidden["is_none"](one_of(x)), "one of several objects"),
    "a number": (lambda x: hidden["is_number"](number(x)), NUMBER),
    "a number that is matched": (lambda x: hidden["matched"](number(x)), NUMBER),
    "a tensor": (lambda x: hidden["is_tensor"](optional(x)), NONE),
    "tried": (lambda x: hidden["tried"](optional(x)), NONE),
    "tried at all": (lambda x: hidden["tried_at_all"](one_of(x)), "one of several objects"),
    "a flag": (lambda x: hidden["is_true"](flag(x)), NUMBER),
    "a list": (lambda x: hidden["is_list"](growing(x)), LIST),
    "not to static": (lambda x: left_alone(optional(x)), NONE),
    "what that calls": (lambda x: asks_another(optional(x)), NONE),
    "what that is given": (lambda x: asks_what_it_gets(asks, optional(x)), NONE),
    "a partial": (lambda x: functools.partial(left_alone, optional(x))(), NONE),
    "slots": (in_slots, NONE),
    "a layer": (in_a_layer, NONE),
    "a generator": (lambda x: next(generator(optional(x))), NONE),
    "generators": (lambda x: sum(generators(optional(x))), NONE),
    "an iterable": (lambda x: sum(Items(optional(x))), NONE),
    "a loop": (while_a_loop_runs, NONE),
    "between items": (between_items, NONE),
    "sent": (sent, NONE),
    "a coroutine": (lambda x: asks_in_time(optional(x)).close(), NONE),
    "a manager": (entered, NONE),
    "the end of a manager": (left, NONE),
    "a stack of managers": (on_a_stack, NONE),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_only_the_run_can_answer_is_refused(name: str) -> None:
    program, what = REFUSED[name]
    for sign in (-1.0, 1.0):
        with pytest.raises(StagedValueError, match=f"runs as it is, and may ask .*: it can reach {what}"):
            jit.to_static(program)(paddle.to_tensor(np.full(3, sign, "float32")))


def test_the_reason_is_said() -> None:
    x = paddle.to_tensor(np.ones(3, "float32"))
    reasons = {"without source": "source of .* cannot be had", "not to static": "not_to_static"}
    for name, reason in reasons.items():
        with pytest.raises(StagedValueError, match=reason):
            jit.to_static(REFUSED[name][0])(x)


def test_the_size_of_a_tensor_of_any_size() -> None:
    f = jit.to_static(lambda x: hidden["size_is_number"](x))
    assert f(paddle.zeros([2])) == 1
    with pytest.warns(UserWarning, match="anew for each size .* it can reach the shape of a tensor of any size"):
        assert f(paddle.zeros([3])) == 1


def test_a_key_that_may_be_none() -> None:
    with pytest.raises(StagedValueError, match="looked up in a dict"):
        jit.to_static(lambda x: hidden["looked_up"](optional(x)))(paddle.ones([3]))


def pair_or_none(x):
    k = None
    if x.sum() > 0:
        k = (x, x)
    return k


def test_the_truth_of_what_may_be_none() -> None:
    with pytest.raises(StagedValueError, match="the truth of a value that is None in some runs"):
        jit.to_static(lambda x: hidden["truth"](pair_or_none(x)))(paddle.ones([3]))


def in_a_dataclass(x):
    pair = Pair(optional(x))
    return 1 if pair.h is None and pair.more == [] else 4


def passed_on(x):
    found = 0
    for k in each([optional(x), x]):
        found = found * 10 + (1 if k is None else 4)
    return found


def of_converted_operands(x):
    found = [1 if k is None else 4 for k in (optional(x), x)]
    return found[0] * 10 + found[1]


ALLOWED = {
    "arithmetic without source": lambda x: hidden["twice"](number(x)),
    "a question about a tensor": lambda x: hidden["is_none"](x),
    "a question about a number that Python knows": lambda x: hidden["is_number"](x.ndim),
    "a question of None about a number": lambda x: left_alone(number(x)),
    "a dataclass": in_a_dataclass,
    "a generator that passes on": passed_on,
    "a comprehension": of_converted_operands,
    "a layer": lambda x: net.rows(x),
}


@pytest.mark.parametrize("name", ALLOWED)
def test_what_asks_nothing_of_them_is_as_eagerly(name: str) -> None:
    program = ALLOWED[name]
    static = jit.to_static(program)
    for sign in (-1.0, 1.0, -1.0):
        x = paddle.to_tensor(np.full(3, sign, "float32"))
        assert float(static(x)) == float(program(x))


def put(out, v):
    out.append(1 if v is None else 4)


def called_by_a_stack(x):
    out = []
    with contextlib.ExitStack() as stack:
        stack.callback(put, out, optional(x))
        stack.callback(put, v=x, out=out)
    return out[0] * 10 + out[1]


def starred(x):
    import itertools

    return next(itertools.starmap(asks, [(optional(x),)]))


@pytest.mark.parametrize("program", [called_by_a_stack, starred])
def test_what_a_library_calls_is_converted(program) -> None:
    static = jit.to_static(program)
    for sign in (-1.0, 1.0, -1.0):
        x = paddle.to_tensor(np.full(3, sign, "float32"))
        assert float(static(x)) == float(program(x))


def test_one_statement_may_run_eagerly() -> None:
    def program(x):
        k = optional(x)
        found = left_alone(k)
        return x * found

    static = jit.to_static(program, full_graph=False)
    with pytest.warns(EagerStatementWarning, match="'left_alone' runs as it is"):
        static(paddle.ones([3]))
    for sign in (-1.0, 1.0, -1.0):
        x = paddle.to_tensor(np.full(3, sign, "float32"))
        np.testing.assert_array_equal(static(x).numpy(), program(x).numpy())


def test_a_layer_without_source_is_made() -> None:
    scope: dict = {"paddle": paddle}
    exec(
        "class Hidden(paddle.nn.Layer):\n"
        "    def __init__(self, k):\n"
        "        self_is_there = self is not None\n"
        "        super(Hidden, self).__init__()\n"
        "        self.k = k\n"
        "    def forward(self, x):\n"
        "        return x * self.k\n",
        scope,
    )
    f = jit.to_static(lambda x: scope["Hidden"](2.0)(x))
    assert float(f(paddle.ones([1]))) == 2.0


def test_a_namespace_of_exec_with_a_frozen_dataclass() -> None:
    assert "__builtins__" in hidden  # a dict that holds what is replaced while a trace runs
    f = jit.to_static(lambda x: hidden["twice"](x) * len(hidden))
    x = paddle.ones([3])
    assert float(f(x)[0]) == 2.0 * len(hidden)


def test_frozen_dataclasses_ask_about_themselves() -> None:
    @dataclasses.dataclass(frozen=True)
    class Sizes:
        n: object

    @jit.not_to_static
    def area(s):
        return s.n * s.n

    def program(x):
        return area(Sizes(number(x)))

    x = paddle.to_tensor(np.ones(3, "float32"))
    assert float(jit.to_static(program)(x)) == 9.0
