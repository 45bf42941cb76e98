"""What the handler of a signal raises, Ctrl-C say: it ends a loop soon, and leaves a step done or not done."""

import contextlib
import copy
import dis
import functools
import itertools
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from alarms import Stop, alarm, stop
from dy2st_runtime.executor import executable

from dy2st import jit, nn, optimizer, static, zeros
from dy2st.convert.effects.cells import AppendCell, DictCell, ListCell, OrderCell
from dy2st.tensor import Tensor

PACKAGES = tuple(str(Path(module.__file__).parent) for module in (sys.modules["dy2st"], sys.modules["dy2st_runtime"]))


# Each of these loops takes a minute to its end, or more, which is what happens if nobody looks for signals.
@jit.to_static
def of_kernels(x, n):
    i = zeros([1])
    while i < n:
        i += 1
        x = (x @ x) / 64
    return x, i


@jit.to_static
def of_scalars(x, n):
    i = zeros([1], "int64")
    while i < n:
        i += 1
        x = x * 0.5 + 1
    return x, i


@jit.to_static
def of_scalars_in_another(x, n):
    i = zeros([1], "int64")
    while i < n:
        i += 1
        j = zeros([1], "int64")
        while j < 3:
            j += 1
            x = x * 0.5 + 1
    return x, i


def depth(x, n):
    return x if n < 1 else depth(x * 0.5 + 1, n - 1)


@jit.to_static
def of_calls(x, n):
    i = zeros([1], "int64")
    while i < n:
        i += 1
        x = depth(x, Tensor([900.0]))
    return x, i


LOOPS = [(of_kernels, Tensor(np.ones([64, 64], "float32")), Tensor([3.0]), Tensor([1e7])),
         (of_scalars, Tensor([1.0]), Tensor([3]), Tensor([20_000_000_000])),
         (of_scalars_in_another, Tensor([1.0]), Tensor([3]), Tensor([10_000_000_000])),
         (of_calls, Tensor([1.0]), Tensor([3]), Tensor([1_000_000]))]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("loop", "x", "few", "many"), LOOPS, ids=[loop[0].__name__ for loop in LOOPS])
def test_a_loop_ends(loop, x, few, many):
    loop(x, few)
    start = time.monotonic()
    with alarm(stop, 0.3), pytest.raises(Stop):
        loop(x, many)
    assert time.monotonic() - start < 10
    assert loop(x, few)[1].item() == 3


@pytest.mark.slow
def test_a_loop_goes_on_after_a_handler_that_raises_nothing():
    of_scalars(Tensor([1.0]), Tensor([3]))
    called = []
    with alarm(lambda *_: called.append(1), 0.15, 0.15):
        assert of_scalars(Tensor([1.0]), Tensor([500_000_000]))[1].item() == 500_000_000  # a second or more
    assert len(called) > 2


@pytest.mark.slow
def test_loops_of_other_threads_go_on():
    of_scalars(Tensor([1.0]), Tensor([3]))
    found = []
    thread = threading.Thread(target=lambda: found.append(of_scalars(Tensor([1.0]), Tensor([400_000_000]))[1].item()))
    thread.start()
    with alarm(stop, 0.3), pytest.raises(Stop):
        of_scalars(Tensor([1.0]), Tensor([4_000_000_000]))
    thread.join()
    assert found == [400_000_000]


@pytest.mark.slow
def test_a_step_before_a_loop_is_not_done():
    layer = nn.Linear(4, 4)
    sgd = optimizer.SGD(0.1, parameters=layer.parameters())

    @jit.to_static
    def step(x, n):
        layer(x).sum().backward()
        sgd.step()
        sgd.clear_grad()
        i = zeros([1], "int64")
        while i < n:
            i += 1
        return i

    step(x := Tensor(np.ones([2, 4], "float32")), Tensor([3]))
    before = layer.weight.numpy()
    with alarm(stop, 0.3), pytest.raises(Stop):
        step(x, Tensor([20_000_000_000]))
    np.testing.assert_array_equal(layer.weight.numpy(), before)


# ---- steps ----
AFTER = ("CALL", "RESUME", "JUMP_BACKWARD")


@functools.cache
def looks(code):
    """Behind which instructions of some code Python looks for signals: the offsets of those that come next. What is raised there belongs
    to the instruction before, so both must be in the same `with` and `try`."""
    table = dis._parse_exception_table(code)
    around = lambda offset: [(e.target, e.depth) for e in table if e.start <= offset < e.end]  # noqa: E731
    pairs = itertools.pairwise(i for i in dis.get_instructions(code) if i.opname != "CACHE")
    return {b.offset for a, b in pairs if a.opname.startswith(AFTER) and around(a.offset) == around(b.offset)}


class Interruption:
    """Raises `Stop` at one of the places in dy2st where Python looks for signals, as a handler would."""

    def __init__(self, at):
        self.left = at

    def _called(self, frame, event, argument):
        if not frame.f_code.co_filename.startswith(PACKAGES):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._traced

    def _traced(self, frame, event, argument):
        if event == "opcode" and frame.f_lasti in looks(frame.f_code):
            self.left -= 1
            if self.left == 0:
                raise Stop
        return self._traced

    def __enter__(self):
        self._before = sys.gettrace()
        sys.settrace(self._called)
        return self

    def __exit__(self, *_):
        sys.settrace(self._before)


def training():
    """A step that changes parameters, moments, a buffer, an attribute and a list; and what all of it is."""
    layer = nn.Linear(3, 3)
    layer.register_buffer("seen", zeros([1]))
    layer.count, layer.losses = 0, []
    adagrad = optimizer.Adagrad(0.1, parameters=layer.parameters())  # whose moments and weights go on changing
    x = Tensor(np.ones([2, 3], "float32"))

    @jit.to_static
    def step():
        layer.seen += 1
        layer.count += 1
        loss = layer(x).sum()
        loss.backward()
        adagrad.step()
        adagrad.clear_grad()
        layer.losses.append(loss)
        return loss

    def state():
        moments = [v.numpy().copy() for v in adagrad.state_dict().values()]
        return [layer.weight.numpy(), layer.bias.numpy(), *moments, layer.seen.numpy(), np.array([layer.count, len(layer.losses)]),
                np.array([loss.item() for loss in layer.losses])]  # fmt: skip

    return step, state


def eager_step():
    """The step of an optimizer that runs as one Program."""
    layer = nn.Linear(3, 3)
    adagrad = optimizer.Adagrad(0.1, parameters=layer.parameters())  # whose moments and weights go on changing
    for p in layer.parameters():
        p.grad = Tensor(np.ones(p.shape, "float32"))
    executable.compiler()  # so that steps are compiled

    def state():
        return [layer.weight.numpy(), layer.bias.numpy(), *(v.numpy().copy() for v in adagrad.state_dict().values())]

    return adagrad.step, state


def executor_step():
    """A run of a Program that trains."""
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [2, 3])
        loss = static.nn.fc(x, 3).sum()
        optimizer.Adagrad(0.1).minimize(loss)
    scope, run = static.Scope(), static.Executor()
    run.run(startup, scope=scope)
    feed = {"x": np.ones([2, 3], "float32")}
    names = [name for name in scope.local_var_names() if not name.startswith("learning_rate")]
    return (lambda: run.run(main, feed, [loss], scope=scope),
            lambda: [np.array(scope.find_var(name).get_tensor()) for name in names])  # fmt: skip


def equal(a, b):
    return len(a) == len(b) and all(x.shape == y.shape and np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def interrupted(step, state, stride):
    """Interrupts a step at one place after the other; how often it was not done then, and how often it was."""
    for _ in range(4):
        step()
    counts = {"old": 0, "new": 0}
    at = 1
    while True:
        before = state()
        with Interruption(at) as interruption:
            try:
                step()
            except Stop:
                interrupted = True
            else:
                interrupted = False
        after = state()
        if not interrupted and interruption.left > 0:
            return counts
        if equal(before, after):
            counts["old"] += 1
            step()  # goes on as if nothing had been
            assert not equal(state(), before)
        else:
            same = [i for i, (x, y) in enumerate(zip(before, after, strict=True)) if np.array_equal(x, y)]
            assert not same, f"half a step, left at {at}: {same} are old"
            counts["new"] += 1
        at += stride


NEEDS_TRACE = pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="traces instructions as Python 3.11 does it")
STEPS = [training, eager_step, executor_step]


@NEEDS_TRACE
@pytest.mark.timeout(60)
@pytest.mark.parametrize("made", STEPS)
def test_a_step_is_done_or_not(made):
    assert min(interrupted(*made(), stride=7).values()) > 0


@NEEDS_TRACE
@pytest.mark.slow
@pytest.mark.parametrize("made", STEPS)
def test_a_step_is_done_or_not_wherever_a_signal_comes(made):
    assert min(interrupted(*made(), stride=1).values()) > 0


@NEEDS_TRACE
@pytest.mark.parametrize("cell", [OrderCell, DictCell, ListCell, AppendCell])
def test_a_place_gets_its_value_however_often_it_is_interrupted(cell):
    target, value, wanted = {
        OrderCell: ({"a": 1, "b": 2}, ("b", "a"), [("b", 2), ("a", 1)]), DictCell: ({"a": 1}, {"b": 2}, [("b", 2)]),
        ListCell: ([1], [2, 3], [2, 3]), AppendCell: ([1], [2, 3], [1, 2, 3]),
    }[cell]  # fmt: skip
    for at in itertools.count(1):
        place = copy.copy(target)
        change = (cell(place, 1) if cell is AppendCell else cell(place)).change(value)
        with Interruption(at) as interruption, contextlib.suppress(Stop):
            change()
        change()
        assert [*(place.items() if isinstance(place, dict) else place)] == wanted
        if interruption.left > 0:
            return
