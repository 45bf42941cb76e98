"""What code does that runs as it is: draw, read, write, log, catch. Each call does it, in converted generators; elsewhere it is refused."""

import io
import itertools
import logging
import os
import random
import sys
import threading
import time
import uuid
import warnings
from random import random as draw

import numpy as np
import pytest

import dy2st as paddle
from dy2st import jit
from dy2st.errors import Dy2stError, StagedValueError

RNG, EVENT, LOG = np.random.default_rng(0), threading.Event(), logging.getLogger("test_as_it_is")
OUTSIDE, COUNTER = iter(range(100)), itertools.count()


class Drawing:
    def __init__(self):
        self.random = random.Random(1)

    def draw(self):
        return self.random.random()


DRAWING = Drawing()


def logs():
    LOG.warning("told")
    return 1.0


def logs_to_root():
    logging.error("told")
    return 1.0


def warns():
    warnings.warn("told", stacklevel=1)
    return 1.0


def draws():
    return random.random()


def draws_by_another_name():
    return draw()


def draws_of_a_generator():
    return RNG.random()


def draws_of_numpy():
    return np.random.rand()


def draws_of_an_object():
    return DRAWING.draw()


def draws_in_an_expression():
    return sum(random.random() for _ in range(2))


def asks_the_time():
    return time.perf_counter()


def asks_for_a_name():
    return uuid.uuid4().int % 7


def asks_the_environment():
    return float(os.getenv("DY2ST_TEST_AS_IT_IS", "0"))


def reads_a_file():
    with open(__file__) as file:
        return float(len(file.read()))


def sets_an_event():
    EVENT.set()
    return 1.0


def takes_an_item():
    return next(OUTSIDE)


def counts():
    for n in COUNTER:
        return n


def writes():
    sys.stdout.write("told\n")
    return 1.0


REFUSED = [
    logs, logs_to_root, warns, draws, draws_by_another_name, draws_of_a_generator, draws_of_numpy, draws_of_an_object,
    draws_in_an_expression, asks_the_time, asks_for_a_name, asks_the_environment, reads_a_file, sets_an_event, takes_an_item, counts,
    writes,
]  # fmt: skip
REASONS = "would be done once|would be the same at each call|is there before the call"


@pytest.mark.parametrize("function", REFUSED, ids=lambda f: f.__name__)
def test_what_each_call_would_do_is_refused(function):
    as_it_is = jit.not_to_static(lambda: function())

    @jit.not_to_static
    def items():
        yield 1.0
        yield function()

    with pytest.raises(StagedValueError, match=REASONS):
        jit.to_static(lambda x: x * as_it_is())(paddle.ones([2]))
    with pytest.raises(StagedValueError, match=REASONS):
        jit.to_static(lambda x: x * sum(items()))(paddle.ones([2]))


def makes_a_text():
    file = io.StringIO()
    file.write("told")
    return float(len(file.getvalue()))


def draws_the_same():
    return random.Random(3).random()


def catches_its_own():
    try:
        return {}["a"]
    except KeyError:
        return 3.0


@pytest.mark.parametrize("function", [makes_a_text, draws_the_same, catches_its_own], ids=lambda f: f.__name__)
def test_what_is_the_same_at_each_call_is_left_alone(function):
    as_it_is = jit.not_to_static(lambda: function())
    assert jit.to_static(lambda x: x * as_it_is())(paddle.ones([1])).item() == pytest.approx(function())


def of_functions_that_generators_call(function):
    def items():
        yield 1.0
        yield function()

    return lambda x: x * sum(items())


def test_a_generator_logs_warns_and_reads_at_each_call(monkeypatch, caplog):
    for function in (logs, logs_to_root):
        static = jit.to_static(of_functions_that_generators_call(function))
        for _ in range(3):
            caplog.clear()
            static(paddle.ones([1]))
            assert [r.getMessage() for r in caplog.records] == ["told"]
    static = jit.to_static(of_functions_that_generators_call(warns))
    for _ in range(3):
        with pytest.warns(UserWarning, match="told"):
            static(paddle.ones([1]))
    static = jit.to_static(of_functions_that_generators_call(asks_the_environment))
    for n in ("1", "2", "1"):
        monkeypatch.setenv("DY2ST_TEST_AS_IT_IS", n)
        assert static(paddle.ones([1])).item() == float(n) + 1


@pytest.mark.parametrize("function", [asks_the_time, sets_an_event, counts], ids=lambda f: f.__name__)
def test_a_generator_that_does_what_is_done_once_is_refused(function):
    with pytest.raises(StagedValueError, match=r"would be|there before the call"):
        jit.to_static(of_functions_that_generators_call(function))(paddle.ones([2]))
    assert not EVENT.is_set()


@jit.not_to_static
def catches(x):
    try:
        return float(x.sum())
    except Exception:
        return 0.0


@jit.not_to_static
def decides(x):
    try:
        return 1.0 if x.sum() > 0 else 2.0
    except TypeError:
        return 0.0


@jit.not_to_static
def yields_what_it_catches(x):
    try:
        yield float(x.sum())
    except Exception:
        yield 0.0


@jit.not_to_static
def raises_for_what_it_catches(x):
    try:
        return float(x.sum())
    except TypeError:
        raise KeyError from None


def catches_what_that_raises(x):
    try:
        return raises_for_what_it_catches(x)
    except KeyError:
        return 0.0


@jit.not_to_static
def ends_with_what_it_catches(x):
    yield 1.0
    try:
        return float(x.sum())
    except TypeError:
        return 0.0


def ends(x):
    yield (yield from ends_with_what_it_catches(x))


def catches_at_the_end(x):
    return sum(ends(x))


def a_generator_catches(x):
    try:
        n = float(x.numpy().sum())
    except Exception:
        n = 0.0
    yield n


def a_generator_catches_all(x):
    try:
        if x.sum() > 0:
            yield 1.0
        yield 2.0
    except:  # noqa: E722
        yield 0.0


def a_generator_catches_what_the_run_raises(x):
    try:
        y = x[int(x.sum())]
    except IndexError:
        y = x[0]
    yield y


@pytest.mark.parametrize(
    "function",
    [
        catches, decides, yields_what_it_catches, catches_what_that_raises, catches_at_the_end, a_generator_catches,
        a_generator_catches_all, a_generator_catches_what_the_run_raises,
    ],
    ids=lambda f: getattr(f, "__name__", ""),
)
def test_no_handler_catches_an_error_of_tracing(function):
    def f(x):
        found = function(x)
        return (found if isinstance(found, float) else next(found)) + x

    with pytest.raises(Dy2stError, match=r"only known when|a handler in a generator function"):
        jit.to_static(f)(paddle.ones([3]))


def closing(x, log):
    try:
        yield x
        yield 1 / 0
    except ZeroDivisionError:
        yield x * 2
    finally:
        log.append(len(log))


def test_a_generator_over_a_generator_expression():
    def each(xs):
        for v in xs:
            yield v + 1

    def f(x):
        return sum(each(v * 2 for v in x)), sum(each(v for v in [x, x * 2] if True))

    x = paddle.to_tensor([1.0, 2.0, 3.0])
    wanted, found = f(x), jit.to_static(f)(x)
    assert [t.tolist() for t in found] == [t.tolist() for t in wanted]


def test_handlers_of_generators_catch_what_python_raises():
    def f(x):
        log = []
        found = sum(closing(x, log))
        return found, len(log)

    y, n = jit.to_static(f)(paddle.ones([2]))
    assert y.tolist() == [3.0, 3.0]
    assert n == 1


def test_a_generator_that_runs_as_it_is_is_one_of_python():
    @jit.not_to_static
    def told(x):
        try:
            v = yield 1.0
            while v is not None:
                v = yield v * 2.0
        except ValueError:
            yield 7.0
        return 3.0

    def f(x):
        items = told(0)
        found = [next(items), items.send(4.0), items.throw(ValueError())]
        items.close()
        return x * sum(found)

    assert jit.to_static(f)(paddle.ones([1])).item() == 16.0


def test_generators_of_the_system_are_nowhere():
    system = random.SystemRandom()

    @jit.not_to_static
    def as_it_is():
        return 2.0 if system is None else 3.0

    assert jit.to_static(lambda x: x * as_it_is())(paddle.ones([1])).item() == 3.0
