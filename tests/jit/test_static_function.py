"""Static functions as objects: traces and their reasons, decorators, gradients across calls, threads, dumps."""

import dataclasses
import gc
import inspect
import threading

import numpy as np
import pytest
from dy2st_runtime import config

import dy2st
from dy2st import jit
from dy2st.errors import Dy2stError, FeedError, FetchError, GradientError, ModeError, StagedValueError
from dy2st.jit import InputSpec
from dy2st.tensor import Tensor
from dy2st.tensor.autograd import grad, no_grad


def tensor(*values, **flags):
    return Tensor(np.array(values, np.float32), **flags)


def double(x, k=2):
    if x.sum() > 0:
        return x * k
    return x


def test_sizes_retrace_once():
    f = jit.to_static(double)
    for shape in [(4, 3), (5, 3), (1, 3)]:
        f(Tensor(np.ones(shape, np.float32)))
    assert len(f.concrete_programs) == 1
    f(Tensor(np.ones((4, 7), np.float32)))
    f(Tensor(np.ones((2, 9), np.float32)))
    assert [c.shapes for c in f.concrete_programs] == [[(-1, 3)], [(-1, -1)]]
    assert "trace 2: argument 'x' has shape [4, 7], traced was [?, 3]" in f.explain()


def test_python_values_dtypes_and_gradients_retrace():
    f = jit.to_static(double)
    f(tensor(1.0))
    f(tensor(1.0), 2)
    f(tensor(1.0), k=2)
    assert len(f.concrete_programs) == 1
    f(tensor(1.0), 3)
    assert "argument 'k' was 2, is 3" in f.explain()
    f(Tensor([1]), 3)
    assert "argument 'x' was a float32 tensor" in f.explain()
    f(tensor(1.0, stop_gradient=False), 3)
    with no_grad():
        f(tensor(1.0, stop_gradient=False), 3)
    assert len(f.concrete_programs) == 5


def test_explain_says_what_was_staged():
    def mixed(x, n):
        if n > 1:
            x = x * 2
        for _ in range(n):
            x = x + 1
        while x.sum() < 10:
            x = x * 2
        return x

    f = jit.to_static(mixed)
    f(tensor(1.0), 2)
    text = f.explain()
    first = mixed.__code__.co_firstlineno
    assert f":{first + 1}: if decided while tracing: True   | if n > 1:" in text
    assert f":{first + 3}: for unrolled while tracing: it runs over a Python range" in text
    assert f":{first + 5}: while staged: its condition depends on a tensor" in text


def test_decorator_forms_and_attributes():
    @jit.declarative
    def plain(x):
        "Doubles."
        return x * 2

    @jit.to_static(input_spec=[InputSpec([None, 2], "float32", "image")])
    def with_spec(x):
        return x * 2

    assert plain.__name__ == "plain"
    assert plain.__doc__ == "Doubles."
    np.testing.assert_array_equal(plain(tensor(1.0)).numpy(), [2.0])
    assert "def plain(x):" in plain.code
    assert any(line.count("return x * 2") == 2 for line in plain.side_by_side().splitlines())
    assert [v.name for v in with_spec.concrete_program.inputs] == ["image"]
    assert "scale" in str(with_spec.main_program)
    with pytest.raises(FeedError, match="its InputSpec says"):
        with_spec(tensor(1.0))
    np.testing.assert_array_equal(with_spec(Tensor([[1.0, 2.0]])).numpy(), [[2.0, 4.0]])
    assert len(with_spec.concrete_programs) == 1


def test_static_and_class_methods_and_not_to_static():
    calls = []

    @jit.not_to_static
    def plain(x):
        calls.append(1)
        return x * 3

    class Holder:
        @staticmethod
        @jit.to_static
        def double(x):
            return x * 2 if x.sum() > 0 else x

        @jit.to_static
        def method(self, x):
            return self.double(x) + plain(x)

    np.testing.assert_array_equal(Holder().method(tensor(1.0)).numpy(), [5.0])
    assert calls == [1]


def test_enable_to_static():
    f = jit.to_static(double)
    jit.enable_to_static(False)
    try:
        np.testing.assert_array_equal(f(tensor(1.0)).numpy(), [2.0])
        assert f.concrete_programs == []
    finally:
        jit.enable_to_static(True)


@dataclasses.dataclass
class State:
    h: Tensor
    names: list


def test_nested_arguments_and_results():
    @jit.to_static
    def step(state, extra):
        h = state.h * 2 if state.h.sum() > 0 else state.h
        return State(h, [extra["k"], (h, None)]), {"n": 3, "same": h}

    state, rest = step(State(tensor(1.0), ["a"]), {"k": tensor(5.0)})
    np.testing.assert_array_equal(state.h.numpy(), [2.0])
    np.testing.assert_array_equal(state.names[0].numpy(), [5.0])
    assert state.names[1][1] is None
    assert rest["n"] == 3
    assert rest["same"] is state.h


def test_static_and_eager_mix_on_the_tape():
    f = jit.to_static(double)
    x = tensor(1.0, 2.0, stop_gradient=False)
    y = f(f(x * 3) + x)
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [14.0, 14.0])


def test_unused_results_and_parameters_have_no_gradient():
    w, v = tensor(2.0, stop_gradient=False), tensor(3.0, stop_gradient=False)

    @jit.to_static
    def f(x):
        if x.sum() > 0:
            y = x * w
        else:
            y = x * v
        return y, x * v

    y, _ = f(tensor(1.0))
    y.backward()
    assert v.grad is None
    np.testing.assert_array_equal(w.grad.numpy(), [1.0])


def test_backward_twice():
    f = jit.to_static(double)
    x = tensor(1.0, stop_gradient=False)
    y = f(x)
    y.backward(retain_graph=True)
    y.backward()
    np.testing.assert_array_equal(x.grad.numpy(), [4.0])
    with pytest.raises(GradientError, match="freed"):
        y.backward()


def test_create_graph_is_a_clear_error():
    x = tensor(1.0, stop_gradient=False)
    y = jit.to_static(double)(x)
    with pytest.raises(GradientError, match="static function 'double' cannot be differentiated again"):
        grad(y, x, create_graph=True)


def test_numpy_arguments_become_tensors():
    out = jit.to_static(double)(np.array([1.0, 2.0], np.float32))
    np.testing.assert_array_equal(out.numpy(), [2.0, 4.0])


def test_threads_share_a_static_function():
    f = jit.to_static(double)
    results, errors = {}, []

    def work(i):
        try:
            for _ in range(5):
                results[i] = f(tensor(float(i + 1))).numpy()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert errors == []
    assert {i: float(v[0]) for i, v in results.items()} == {i: 2.0 * (i + 1) for i in range(4)}
    assert len(f.concrete_programs) == 1


def test_print_at_each_call_in_order(capsys):
    @jit.to_static
    def f(x, n):
        for i in range(n):
            print("step", i, x)
        print("done")
        return x

    f(tensor(1.0), Tensor(2))
    first = capsys.readouterr().out
    assert first.startswith("step 0 Tensor(shape=[1], dtype=float32")
    assert "step 1 Tensor" in first
    assert first.endswith("done\n")
    f(tensor(1.0), Tensor(0))
    assert capsys.readouterr().out == "done\n"


def test_texts_with_values(capsys):
    @jit.to_static
    def f(x):
        print(f"first {x[0]:.2f}, {len(x)} in all")
        return x

    f(tensor(1.25, 2.0))
    f(tensor(3.0))
    assert capsys.readouterr().out == "first 1.25, 2 in all\nfirst 3.00, 1 in all\n"


def test_a_text_cannot_be_returned():
    with pytest.raises(StagedValueError, match="a text with the values of tensors"):
        jit.to_static(lambda x: f"{x}")(tensor(1.0))


def test_dumps(capsys):
    with config.DUMP.override(frozenset({"code", "program"})):
        jit.to_static(lambda x: x * 2)(tensor(1.0))
    err = capsys.readouterr().err
    assert "def " in err
    assert "data x: float32[1]" in err


def test_set_code_level(capsys):
    jit.set_code_level(1)
    try:
        jit.to_static(lambda x: x * 5)(tensor(1.0))
    finally:
        jit.set_code_level(0)
    assert "x * 5" in capsys.readouterr().err
    assert config.DUMP.get() == frozenset()


def test_calls_of_static_functions_are_inlined():
    inner = jit.to_static(double)

    @jit.to_static
    def outer(x):
        return inner(inner(x)) + 1

    np.testing.assert_array_equal(outer(tensor(1.0)).numpy(), [5.0])
    assert inner.concrete_programs == []


def test_default_dtype_is_part_of_the_key():
    @jit.to_static
    def f(x):
        return dy2st.zeros([1]) + 1, x

    assert f(tensor(1.0))[0].dtype == "float32"
    dy2st.set_default_dtype("float64")
    try:
        assert f(tensor(1.0))[0].dtype == "float64"
    finally:
        dy2st.set_default_dtype("float32")


def recursion(x, depth):
    if depth == 0:
        return x
    y = recursion(x * 2, depth - 1)
    if y.sum() > 10:
        return y - 1
    return y + 1


def test_recursion_with_a_python_depth():
    for start in (1.0, 0.25, -1.0):
        x = tensor(start)
        np.testing.assert_allclose(jit.to_static(recursion)(x, 3).numpy(), recursion(x, 3).numpy())


def test_python_loops_are_unrolled():
    @jit.to_static
    def f(x, k):
        for i in range(k):
            x = x * (i + 1)
        return x

    np.testing.assert_array_equal(f(tensor(1.0), 4).numpy(), [24.0])
    assert "while_loop" not in str(f.main_program)


def grows_what_it_runs_over(x):
    items = [x]
    if x.sum() > 0:
        for item in items:
            items.append(item + 1)
    return x


def test_a_loop_without_end_on_a_path_not_taken():
    x = tensor(-1.0)
    assert grows_what_it_runs_over(x) is x
    with config.TRACE_LIMIT.override(100), pytest.raises(StagedValueError, match="more than 100 operations") as caught:
        jit.to_static(grows_what_it_runs_over)(x)
    assert caught.value.location.line == grows_what_it_runs_over.__code__.co_firstlineno + 4


class Plain:
    pass


def holder(x):
    found = Plain()
    found.value = x * 2
    found.itself = found
    return found


def test_an_object_made_in_the_call_is_a_result():
    @jit.to_static
    def f(x):
        found = Plain()
        found.value = x * 2 if x.sum() > 0 else x
        return found

    first, second = f(tensor(1.0)), f(tensor(-3.0))
    assert type(first) is Plain
    assert first is not second
    assert (first.value.item(), second.value.item()) == (2.0, -3.0)


def closes_over(x):
    y = x * 2
    return lambda: y


def generates(x):
    yield x * 2


async def waits(x):
    return x * 2


@pytest.mark.parametrize("function", [holder, closes_over, generates, waits], ids=lambda f: f.__name__)
def test_results_that_keep_tensors_of_the_trace_are_errors(function):
    with pytest.raises(Dy2stError, match=r"cannot be (the result|converted)"):
        jit.to_static(function)(tensor(1.0))


def test_a_first_call_looks_for_garbage_once():
    @jit.to_static
    def f(x):
        for i in range(60):
            x = (x * i).tanh() if x.sum() > i else x - i
        return x

    searches = []
    gc.collect()  # else what earlier tests left lets Python search before the call has got to where it says not to
    gc.callbacks.append(lambda phase, info: searches.append(info) if phase == "start" else None)
    try:
        f(tensor(1.0))
    finally:
        gc.callbacks.pop()
    assert len(searches) <= 1
    assert gc.isenabled()


def test_the_signature_is_that_of_the_function():
    class Own(dy2st.nn.Layer):
        def forward(self, x, mask=None):
            return x

    net = Own()
    jit.to_static(net)
    assert str(inspect.signature(net.forward)) == "(x, mask=None)"


class TestNamesOfPaddlePaddle:
    def test_the_cache_of_programs(self):
        f = jit.to_static(lambda x, y=2: (x * y, x + 1))
        cache = f.program_cache
        assert (len(cache), cache.concrete_programs(), f.get_traced_count()) == (0, [], 0)
        with pytest.raises(FetchError, match="no program yet"):
            cache.last()
        f(Tensor([1.0]))
        f(Tensor([1.0]), 3)
        assert len(cache) == f.get_traced_count() == 2
        assert cache.concrete_programs() == f.concrete_programs
        concrete, partial = cache.last()[1]
        assert concrete is f.concrete_program
        assert partial.program is concrete.main_program is f.main_program
        assert [t.tolist() for t in partial([Tensor([4.0]), 3])] == [[12], [5]]
        assert [v.name for v in f.inputs] == ["x"]
        assert [tuple(v.shape) for v in f.outputs] == [(1,), (1,)]

    def test_programs_for_specs(self):
        f = jit.to_static(lambda a, b, *, c=1: a + b + c)
        first, partial = f.get_concrete_program(InputSpec([None, 10]), b=InputSpec([10]))
        assert [v.shape for v in first.inputs] == [(-1, 10), (10,)]
        assert partial([Tensor(np.ones((2, 10), "float32")), Tensor(np.ones(10, "float32"))]).tolist() == [[3.0] * 10] * 2
        assert f.get_concrete_program(InputSpec([None, 10]), InputSpec([10]))[0] is first
        second, _ = f.get_concrete_program(InputSpec([10]), InputSpec([10]), c=3)
        assert second is not first
        assert len(f.program_cache) == 2
        with pytest.raises(TypeError, match="missing a required argument: 'b'"):
            f.get_concrete_program(InputSpec([10]))

    def test_rollback(self):
        class Net(dy2st.nn.Layer):
            def forward(self, x):
                calls.append(1)
                return x + 1

        class Decorated(Net):
            forward = jit.to_static(Net.forward)

        for net in (jit.to_static(Net()), Decorated()):
            calls: list = []
            static = net.forward
            assert static.class_instance is net
            for count, call in enumerate((lambda: None, static.rollback, lambda: None)):
                call()
                calls.clear()
                assert net(Tensor([1.0])).tolist() == [2]
                assert net(Tensor([1.0])).tolist() == [2]
                assert isinstance(net.forward, jit.StaticFunction) is (count == 0)
            assert len(calls) == 2  # eager
            assert net.forward == static.dygraph_function
        f = jit.to_static(Net.forward)
        assert f.rollback() is f.dygraph_function is Net.forward
        assert f.class_instance is None

    def test_modes(self):
        f = jit.to_static(lambda x: x * 2)
        f.eval()
        x = Tensor([1.0], stop_gradient=False)
        f(x).backward()
        f.train()
        f(x).backward()
        assert x.grad.tolist() == [4]
        net = jit.to_static(dy2st.nn.Linear(1, 1))
        net.forward.train()
        with pytest.raises(ModeError, match=r"use layer\.eval"):
            net.forward.eval()
        net.eval()
        net.forward.eval()
        with pytest.raises(ModeError, match=r"use layer\.train"):
            net.forward.train()
