"""`to_static(full_graph=False)`: a statement that cannot be staged runs eagerly, with a warning; all else is as in eager mode."""

import contextlib
import copy
import gc
import hashlib
import inspect
import io
import queue
import random
import types
import warnings

import culprits
import eager_objects
import eager_statements
import numpy as np
import pytest
from culprits import gradients, one_of_several, outside
from dy2st_runtime import config
from test_corpus import CASES as CORPUS
from three_ways import compare, outcome

from dy2st import jit, nn, seed
from dy2st.errors import Dy2stError, EagerStatementWarning, FetchError, StagedValueError
from dy2st.jit.splits import Shared, Splits
from dy2st.jit.static_function import StaticFunction
from dy2st.jit.tracing import Trace
from dy2st.tensor import Tensor
from dy2st.transpiler import nodes, origin
from dy2st.transpiler.source import get_source
from dy2st.transpiler.splitting import split

FOR_EACH_SIZE = "is traced and compiled anew for each size of its tensors"


def observed(function, values):
    """The outcome of a call, what it prints, and the lines at which it warns."""
    random.seed(1)
    np.random.seed(1)
    with contextlib.redirect_stdout(io.StringIO()) as out, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = outcome(function, values)
    # a list of dynamic length that a piece leaves must be exact, so it may have a trace for each size
    told = [w for w in caught if w.category is not EagerStatementWarning and FOR_EACH_SIZE not in str(w.message)]
    assert told == [], [str(w.message) for w in told]
    return found, out.getvalue(), [w.lineno for w in caught if w.filename != "<dy2st>"]


def assert_same(expected, found, values):
    assert found[1] == expected[1]
    if isinstance(expected[0][0], type):
        assert issubclass(found[0][0], expected[0][0]), found
    else:
        compare(expected[0], found[0], values)


def marked(function):
    lines, first = inspect.getsourcelines(function)
    return [first + i for i, line in enumerate(lines) if "# eager" in line]


PROGRAMS = [*eager_statements.CASES, *eager_objects.CASES]


@pytest.mark.parametrize(("function", "calls"), PROGRAMS, ids=[c[0].__name__ for c in PROGRAMS])
def test_program(function, calls):
    static = jit.to_static(function, full_graph=False)
    lines = []
    for values in calls:
        expected = observed(function, values)
        found = observed(static, values)
        assert_same(expected, found, values)
        lines += found[2]
    helper = eager_objects.HELPERS.get(function)
    assert sorted(lines) == sorted([*marked(function), *(marked(helper) if helper else [])])  # each once


@pytest.mark.parametrize("function", culprits.FUNCTIONS, ids=lambda f: f.__name__)
def test_what_is_refused_as_a_whole_runs(function, monkeypatch):
    monkeypatch.setattr(one_of_several, "KEPT", copy.deepcopy(one_of_several.KEPT))  # what is run here changes it
    values = [[1.0, 2.0], 2][: len(inspect.signature(function).parameters)]
    static = jit.to_static(function, full_graph=False)
    for _ in range(2):
        found = []
        for called in (function, static):
            monkeypatch.setattr(outside, "POSITIONS", iter(range(100)))
            monkeypatch.setattr(gradients, "TRAINED", gradients.Trained())
            monkeypatch.setattr(outside, "SIMPLE_QUEUE", queue.SimpleQueue())
            monkeypatch.setattr(outside, "HASH", hashlib.md5())
            monkeypatch.delenv("CULPRIT_OF_TESTS", raising=False)
            found.append(observed(called, values))
        assert_same(*found, values)


def statements(function):
    return [origin.of(s) for s in nodes.walk_scope(get_source(function).tree.body) if isinstance(s, nodes.gast.stmt)]


def check_cut(function, calls, cut):
    """Runs a function that is cut at a statement, although it need not be."""
    splits = Splits(function, Shared(StaticFunction))
    mixed = splits._cut((cut,), False, False)
    for values in calls:
        assert_same(observed(function, values), observed(mixed, values), values)


SOME = CORPUS[::9]  # the slow test below cuts all programs, at each statement


@pytest.mark.parametrize(("function", "calls", "traces"), SOME, ids=[c[0].__name__ for c in SOME])
def test_a_program_cut_in_the_middle(function, calls, traces):
    with config.NO_JIT.override(True):
        places = statements(function)
        check_cut(function, calls[:2], places[len(places) // 2])


# in a loop over a deque that runs eagerly, as one that is cut does: where a piece of its body is traced that may change the deque, that is
# changed and put back, of which Python's iterator sees that it has been changed (docs/reference/language.md)
UNDER_ITERATORS = {
    "changed_behind_enumerate", "changed_behind_zip", "changed_behind_map", "changed_behind_a_generator",
    "changed_behind_enumerate_of_a_dynamic_one",
}  # fmt: skip


def is_in_a_loop(place):
    return place.text.startswith((" " * 8, "    for "))


@pytest.mark.slow
@pytest.mark.parametrize(("function", "calls", "traces"), CORPUS, ids=[c[0].__name__ for c in CORPUS])
def test_a_program_cut_at_each_statement(function, calls, traces):
    with config.NO_JIT.override(True):
        for place in statements(function):
            if function.__name__ not in UNDER_ITERATORS or not is_in_a_loop(place):
                check_cut(function, calls, place)


@pytest.mark.parametrize(("function", "calls", "traces"), SOME, ids=[c[0].__name__ for c in SOME])
def test_what_can_be_staged_is_staged_as_a_whole(function, calls, traces):
    with config.NO_JIT.override(True):
        static = jit.to_static(function, full_graph=False)
        observed(function, calls[0])  # what it leaves in globals is there before the first trace
        for values in calls:
            assert observed(static, values)[2] == []
        assert len(static.concrete_programs) == traces


def test_the_default_is_an_error():
    with pytest.raises(StagedValueError):
        jit.to_static(eager_statements.several)(Tensor([1.0]), Tensor(2))


def test_the_warning_names_the_statement_and_says_why():
    static = jit.to_static(eager_statements.text_of_a_tensor, full_graph=False)
    with pytest.warns(EagerStatementWarning) as caught:
        static(Tensor([1.0]), Tensor(2))
    line = marked(eager_statements.text_of_a_tensor)[1]
    text = str(caught[0].message)
    assert f"eager_statements.py:{line}: `return x * len(label) + 1" in text
    assert (caught[0].filename, caught[0].lineno) == (eager_statements.__file__, line)
    assert "because a text with the values of tensors in it is only known when the program runs [D2S101]" in text
    assert text in static.explain()


class Inner(nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3, bias_attr=False)
        self.bn = nn.BatchNorm1D(3)
        self.steps, self.largest = 0, []

    def forward(self, x):
        self.steps += 1
        y = self.bn(self.linear(x)) * 2
        self.largest.append(float(y.numpy().max()))  # eager
        if x.sum() > 14:
            y = y * 2
        return super().forward(y) if y is None else y + self.__hidden(y)

    def __hidden(self, y):
        return y * self.steps


class Outer(nn.Layer):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner
        self.blocks = nn.LayerList([nn.Linear(3, 3) for _ in range(3)])
        self.out = nn.Linear(3, 2)
        self.register_buffer("mean", Tensor([0.0, 0.0]))

    def forward(self, x):
        h = self.inner(x) + 1
        for i, block in enumerate(self.blocks):
            h = block(h) * (i + 1)
            if h.sum() > 1000:
                break
        y = self.out(h)
        self.mean = self.mean * 0.9 + y.mean(0) * 0.1
        return y


@pytest.mark.parametrize("wrap", [lambda layer: layer, lambda layer: nn.Sequential(layer, nn.ReLU()), jit.to_static])
def test_in_a_sublayer_with_gradients_and_state(wrap):
    seed(0)
    model = Outer(wrap(Inner()))
    reference = copy.deepcopy(model)
    static = jit.to_static(model, full_graph=False)
    lines = []
    for step in range(4):
        found = []
        for net in (reference, static):
            x = Tensor(np.random.RandomState(step).rand(8 + step, 3).astype("float32"), stop_gradient=False)
            jit.enable_to_static(net is static)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                y = net(x)
            jit.enable_to_static(True)
            lines += [w.lineno for w in caught]
            (y * y).mean().backward()
            found.append([y, x.grad, *(p.grad for p in net.parameters()), *net.buffers()])
            for p in net.parameters():
                p.clear_grad()
        for a, b in zip(*found, strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-4, atol=2e-4 + 1e-6 * np.abs(a.numpy()).max())
    inner, expected = (next(s for s in n.sublayers() if isinstance(s, Inner)) for n in (static, reference))
    assert inner.steps == expected.steps == 4
    np.testing.assert_allclose(inner.largest, expected.largest, rtol=1e-5)
    assert lines == marked(Inner.forward)


class Scaled(nn.Layer):
    def forward(self, x, n):
        y = x * 2 + n
        y = y * float(y.numpy()[0])  # eager
        return y + n


class Shifted(Scaled):
    def forward(self, x, n):
        y = super().forward(x, n) + 1
        return y * 2 if y.sum() > 3 else y


def test_what_super_calls_is_cut_itself():
    static, lines = jit.to_static(Shifted(), full_graph=False), []
    for values in (([1.0, 2.0], 2), ([-3.0, 1.0], 1), ([1.0, 2.0], 2)):
        expected, found = observed(Shifted(), values), observed(static, values)
        assert_same(expected, found, values)
        lines += found[2]
    assert lines == marked(Scaled.forward)


def test_objects_of_one_class_share_the_cut():
    class Counter:
        def __init__(self, n):
            self.n = n

        @jit.to_static(full_graph=False)
        def step(self, x):
            self.n += 1
            y = x * self.n + 1
            y = y + float(y.numpy()[0])
            return y * self.n + 1

    one, two = Counter(1), Counter(10)
    with pytest.warns(EagerStatementWarning) as caught:
        results = [c.step(Tensor([1.0])).tolist() for c in (one, two, one)]
    assert results == [[13.0], [265.0], [25.0]]
    assert len(caught) == 1


def test_a_callable_object_and_what_it_keeps():
    refuses = eager_statements.Refuses()

    @jit.to_static(full_graph=False)
    def f(x):
        return refuses(x + 1) * 2

    with pytest.warns(EagerStatementWarning):
        assert [f(Tensor([1.0])).tolist() for _ in range(3)] == [[10.0], [20.0], [30.0]]
    assert refuses.calls == [5.0, 5.0, 5.0]


def test_a_value_that_changes_is_fed_and_one_that_python_needs_makes_a_trace(monkeypatch):
    table = [1.0, 2.0, 3.0]

    @jit.to_static(full_graph=False)
    def f(x):
        for i in range(3):
            x = x + float(x.numpy()[0])
            x = x * i + table[i]
        scale = float(x.numpy()[0])
        return x * scale + scale

    def eager(x):
        for i in range(3):
            x = x + float(x.numpy()[0])
            x = x * i + table[i]
        scale = float(x.numpy()[0])
        return x * scale + scale

    traces = []
    run = Trace.run
    monkeypatch.setattr(Trace, "run", lambda self, name: (traces.append(name), run(self, name))[1])
    counts = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EagerStatementWarning)
        for k in range(20):
            assert f(Tensor([float(k)])).tolist() == eager(Tensor([float(k)])).tolist()
            counts.append(len(traces))
    assert counts[2] == counts[-1]


def test_an_argument_that_is_new_at_each_call_ends_in_eager_mode(monkeypatch):
    monkeypatch.setattr("dy2st.jit.splits.TRACES", 3)

    @jit.to_static(full_graph=False)
    def f(x):
        token = object()
        y = x + float(x.numpy()[0])
        return (y * 2 + 1, token) if token is not None else y

    with pytest.warns(EagerStatementWarning) as caught:
        results = [f(Tensor([1.0]))[0].tolist() for _ in range(6)]
    assert results == [[5.0]] * 6
    assert "is another object at each call" in str(caught[-1].message)


def test_a_class_that_is_new_at_each_call_and_gone_behind_it_ends_in_eager_mode(monkeypatch):
    monkeypatch.setattr("dy2st.jit.splits.TRACES", 3)

    @jit.to_static(full_graph=False)
    def f(x):
        class Count:
            n = 1

        y = x + float(x.numpy()[0])
        Count.n += 1
        return (y * Count.n + 1).sum()

    def called():
        result = f(Tensor([1.0])).item()
        gc.collect()
        return result

    with pytest.warns(EagerStatementWarning) as caught:
        results = [called() for _ in range(6)]
    assert results == [5.0] * 6
    assert "is another object at each call" in str(caught[-1].message)


def test_an_object_that_is_made_in_each_call_is_not_made_once():
    class Box:
        def __init__(self):
            self.n = 0

    @jit.to_static(full_graph=False)
    def f(x):
        box = Box()
        y = x * 2 + 1
        print(end=str(y.tolist())[:0])
        box.n += 1
        return y * box.n + 1, box.n

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EagerStatementWarning)
        assert [f(Tensor([1.0]))[1] for _ in range(3)] == [1, 1, 1]


def test_what_is_known_twice_is_one_object():
    kept = []

    def g(x):
        same = kept
        y = x * 2 + float(x.numpy()[0])
        same.append(y)
        kept.append(y * 2)
        return same[-1] + len(kept)

    static = jit.to_static(g, full_graph=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EagerStatementWarning)
        results = [static(Tensor([1.0])).tolist() for _ in range(2)]
    assert results == [[8.0], [10.0]]
    assert [t.tolist() for t in kept] == [[3.0], [6.0], [3.0], [6.0]]


def test_a_list_known_twice_is_an_error_in_a_full_graph():
    kept = []

    @jit.to_static
    def f(x, items):
        items.append(x)
        return x * len(kept)

    f(Tensor([1.0]), [])
    with pytest.raises(Dy2stError, match=r"a list among the arguments is also known to the static function '.*f' from outside") as found:
        f(Tensor([1.0]), kept)
    assert found.value.location.text.strip() == "f(Tensor([1.0]), kept)"
    assert kept == []


@pytest.mark.parametrize("append", [True, False])
def test_what_is_raised_behind_a_change_of_a_list_known_twice(append):
    """For the trace these are two lists, of which one is empty: it raised an IndexError."""
    kept = []

    def f(x, items):
        (kept if append else items).append(x)
        return (items if append else kept)[0] + 1

    with pytest.raises(Dy2stError, match="a list among the arguments is also known to the static function"):
        jit.to_static(f)(Tensor([1.0]), kept)
    assert kept == []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EagerStatementWarning)
        assert jit.to_static(f, full_graph=False)(Tensor([1.0]), kept).tolist() == [2.0]
    assert [t.tolist() for t in kept] == [[1.0]]


def test_a_tensor_known_twice_is_an_error_in_a_full_graph():
    kept = Tensor([1.0])

    @jit.to_static
    def f(x):
        x[0] = 5.0
        return x + kept

    assert f(Tensor([1.0])).tolist() == [6.0]
    with pytest.raises(Dy2stError, match="a Tensor among the arguments is also known"):
        f(kept)
    assert kept.tolist() == [1.0]


def test_generator_functions_and_functions_without_source():
    def produced(x):
        y = x * 2 + 1
        yield y * 3 + x
        y = y * 2 - 1
        yield y

    static = jit.to_static(produced, full_graph=False)
    with pytest.warns(EagerStatementWarning):
        assert [t.tolist() for t in static(Tensor([1.0]))] == [[10.0], [5.0]]
    namespace = {}
    exec("def hidden(x):\n    return x * 2 if x.sum() > 0 else x", namespace)
    with pytest.warns(EagerStatementWarning, match="'hidden', as a whole, runs eagerly"):
        assert jit.to_static(namespace["hidden"], full_graph=False)(Tensor([1.0])).tolist() == [2.0]


def test_an_error_of_eager_mode_warns_of_nothing():
    @jit.to_static(full_graph=False)
    def f(x):
        y = x * 2
        return y.reshape([7, 7]) + 1

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(ValueError, match="reshape") as caught:
                f(Tensor([1.0]))
    assert caught.value.location.text.strip() == "return y.reshape([7, 7]) + 1"


def test_copies_pickles_and_other_ways_to_make_it():
    plain = jit.to_static(eager_statements.several)
    static = jit.to_static(plain, full_graph=False)
    assert not static.full_graph
    assert plain.full_graph
    assert jit.to_static(static, full_graph=False) is static
    assert jit.to_static(static).full_graph
    assert not copy.deepcopy(static).full_graph


def test_the_pieces_stand_at_the_lines_of_the_user():
    function = eager_statements.several
    mixed = split(function, [p for p in statements(function) if "numpy()" in p.text])
    assert isinstance(mixed.code, types.CodeType)
    for piece in mixed.pieces:
        assert piece.function.__code__.co_filename == eager_statements.__file__
        assert piece.function.__name__ == "several"
    lines = [p.function.__code__.co_firstlineno - function.__code__.co_firstlineno for p in mixed.pieces]
    assert lines == [1, 3, 5]


@pytest.mark.filterwarnings("ignore::dy2st.errors.EagerStatementWarning")
def test_the_expression_of_a_lambda_runs_eagerly():
    scaled = lambda x: float(x.numpy().max()) * x  # noqa: E731
    for function in (scaled, lambda x: scaled(x + 1) * 2):
        assert jit.to_static(function, full_graph=False)(Tensor([1.0, 2.0])).tolist() == function(Tensor([1.0, 2.0])).tolist()


@pytest.mark.filterwarnings("ignore::dy2st.errors.EagerStatementWarning")
def test_a_function_in_pieces_has_no_program_to_save(tmp_path):
    def scaled(x):
        return float(x.numpy().max()) * x

    static = jit.to_static(scaled, full_graph=False)
    with pytest.raises(FetchError, match="not called yet"):
        jit.save(static, str(tmp_path / "model"))
    static(Tensor([1.0]))
    with pytest.raises(FetchError, match="full_graph=False: its statements may run eagerly"):
        jit.save(static, str(tmp_path / "model"))
    with pytest.raises(FetchError, match="a Program for each piece"):
        _ = static.main_program
