import numpy as np
import pytest
from dy2st_runtime.ir import Program, verify
from dy2st_runtime.reference import run_program

import dy2st as paddle
from dy2st import Tensor, nn, unique_name
from dy2st.errors import ModeError, ShapeError, StagedValueError
from dy2st.static.recorder import ProgramRecorder
from dy2st.tensor import dispatch
from dy2st.tensor.inplace import rebind


@pytest.fixture(autouse=True)
def fresh():
    """These tests begin in dynamic mode."""
    with dispatch.eager(), unique_name.guard():
        yield


class Building:
    """A program under construction, with one fed variable x of shape [?, 3]."""

    def __init__(self):
        self.program = Program()
        v = self.program.global_block().create_var("x", "float32", (-1, 3), is_data=True, stop_gradient=True)
        self.recorder = ProgramRecorder(self.program.global_block)
        self.x = Tensor.wrap(v)

    def __enter__(self):
        self._recording = dispatch.recording(self.recorder)
        self._recording.__enter__()
        return self

    def __exit__(self, *error):
        self._recording.__exit__(*error)
        if error == (None, None, None):
            verify(self.program)

    def run(self, *outs, x=((1.0, 2.0, 3.0),), **state):
        values = run_program(self.program, {"x": np.array(x, "float32")}, state)
        return [values[t._value.name] for t in outs]


def test_the_program_as_text():
    with unique_name.guard(), Building() as b:
        paddle.tanh(b.x * 2 + paddle.to_tensor([1.0, 2.0, 3.0])).sum()
    assert (
        str(b.program)
        == """program {
  data x: float32[?, 3]
  scale_0.tmp_0: float32[?, 3] = scale(X=x, scale=2)
  assign_value_0: float32[3] = assign_value(shape=[3], fp32_values=[1.0, 2.0, 3.0])
  elementwise_add_0.tmp_0: float32[?, 3] = elementwise_add(X=scale_0.tmp_0, Y=assign_value_0)
  tanh_0.tmp_0: float32[?, 3] = tanh(X=elementwise_add_0.tmp_0)
  reduce_sum_0.tmp_0: float32[] = reduce_sum(X=tanh_0.tmp_0, dim=[], reduce_all=True)
}
""".replace("assign_value_0", b.program.global_block().ops[1].output_names[0])
    )


def test_the_values_are_those_of_eager():
    def function(x):
        y = paddle.concat([x, x[:, ::-1] * 0.5], axis=1)
        z = paddle.where(y > 1, y, -y)
        return z.reshape([-1, 2]).softmax(0) if hasattr(z, "softmax") else nn.functional.softmax(z.reshape([-1, 2]), 0)

    with Building() as b:
        out = function(b.x)
    data = [[1.0, 2.0, 3.0], [-1.0, 0.5, 4.0]]
    np.testing.assert_array_equal(b.run(out, x=data)[0], function(Tensor(data)).numpy())


@pytest.mark.parametrize("value", [0, 3, -(1 << 62) - 1, (1 << 53) + 1, 0.1, float("inf"), True])
def test_constants_are_exact(value):
    with Building() as b:
        t = paddle.to_tensor(value)
        u = paddle.to_tensor([value, value])
    found, twice = b.run(t, u)
    assert found.item() == paddle.to_tensor(value).numpy().item()
    assert found.dtype == paddle.to_tensor(value).numpy().dtype
    assert twice.tolist() == [found.item()] * 2


def test_shapes_and_attributes():
    with Building() as b:
        assert b.x.shape == [-1, 3]
        assert (b.x.ndim, b.x.dtype, b.x.name, b.x.is_symbolic) == (2, "float32", "x", True)
        assert isinstance(b.x, Tensor)
        assert b.x.block is b.program.global_block()
        assert repr(b.x) == "Tensor(shape=[-1, 3], dtype=float32, name=x, stop_gradient=True, symbolic)"


@pytest.mark.parametrize("use", ["bool(x)", "int(x)", "float(x)", "x.numpy()", "x.item()", "x.tolist()", "np.sin(x)", "len(x)",
                                 "range(x)[0]", "[r for r in x]"])  # fmt: skip
def test_python_cannot_have_the_value(use):
    with Building() as b, pytest.raises(StagedValueError) as caught:
        eval(compile(use, __file__, "eval"), {"x": b.x, "np": np})
    text = str(caught.value)
    assert "only known when the program runs" in text
    assert "test_recorder.py:1" in text
    assert "hint: " in text


def test_no_value_outside_of_the_program_either():
    with Building() as b:
        y = b.x * 2
    with pytest.raises(StagedValueError):
        y.numpy()
    with pytest.raises(StagedValueError, match="Executor"):
        y + 1


def test_locations_are_the_users_lines():
    with Building() as b:
        paddle.exp(b.x)
        nn.functional.relu(b.x)
    first, second = (op.location for op in b.program.global_block().ops)
    assert first.file == second.file == __file__
    assert (first.text.strip(), second.line) == ("paddle.exp(b.x)", first.line + 1)
    assert first.function == "test_locations_are_the_users_lines"


def test_a_wrong_shape_is_an_error_at_the_line():
    with Building() as b, pytest.raises(ShapeError) as caught:
        b.x + paddle.ones([4])
    assert "b.x + paddle.ones([4])" in str(caught.value)


class TestGradients:
    def test_what_needs_one(self):
        with Building() as b:
            w = Tensor.wrap(b.program.global_block().create_var("w", "float32", (3,), persistable=True))
            assert (b.x * 2).stop_gradient
            assert not (b.x * w).stop_gradient
            assert (b.x > w).stop_gradient
            assert (b.x * w).detach().stop_gradient
            with paddle.no_grad():
                assert (b.x * w).stop_gradient
            y = b.x * w
            y.stop_gradient = True
            assert y._value.stop_gradient
            assert (y * 2).stop_gradient

    def test_backward_is_an_error(self):
        with Building() as b:
            with pytest.raises(StagedValueError, match="append_backward"):
                b.x.backward()
            with pytest.raises(StagedValueError, match="gradients"):
                paddle.grad(b.x, b.x)


class TestState:
    def test_parameters_are_captured_once(self):
        layer = nn.Linear(3, 2)
        with Building() as b:
            layer(layer(b.x)[:, :1] * paddle.ones([1, 3]))
        assert list(b.recorder.captured.values()) == [layer.weight, layer.bias]
        v = b.program.global_block().var(layer.weight.name)
        assert (v.persistable, v.is_parameter, v.stop_gradient, v.shape) == (True, True, False, (3, 2))
        assert not layer.weight.is_symbolic

    def test_updates_of_state(self):
        steps = paddle.zeros([1])
        steps.persistable, steps.name = True, "steps"
        with Building() as b:
            steps.set_value(paddle.full([1], 5.0))
            paddle.increment(steps)
        state = {"steps": np.zeros(1, "float32")}
        run_program(b.program, {"x": np.zeros((1, 3), "float32")}, state)
        assert state["steps"].tolist() == [6]
        assert steps.tolist() == [0]

    def test_in_place_slots_update_state(self):
        bn = nn.BatchNorm1D(3, momentum=0.5)
        with Building() as b:
            bn(b.x)
        op = b.program.global_block().ops[-1]
        assert op.output("MeanOut") == op.input("Mean") == [bn._mean.name]

    def test_random_draws_advance_the_generator(self):
        with Building() as b:
            first, second = paddle.rand([2]), paddle.rand([2])
        state = {"@RNG@": np.array([7, 0])}
        a, c = (v.tolist() for v in b.run(first, second, **state))
        paddle.seed(7)
        assert [a, c] == [paddle.rand([2]).tolist(), paddle.rand([2]).tolist()]

    def test_other_tensors_take_the_new_value(self):
        with Building() as b:
            y = b.x * 1.0
            alias = y
            y[0, 1] = 9.0
            y.add_(paddle.ones([3]))
        assert alias is y
        assert b.run(alias)[0].tolist() == [[2, 10, 4]]

    def test_a_state_keeps_its_type(self):
        steps = paddle.zeros([1])
        steps.persistable = True
        with Building(), pytest.raises(ShapeError, match="cannot become"):
            rebind(steps, paddle.zeros([2]))


class TestModes:
    def test_recorders_nest(self):
        assert paddle.in_dynamic_mode()
        with Building() as outer:
            assert not paddle.in_dynamic_mode()
            with dispatch.eager():
                assert paddle.ones([1]).tolist() == [1]
            with Building() as inner:
                paddle.ones([1])
            assert len(inner.program.global_block().ops) == 1
        assert outer.program.global_block().ops == []
        assert paddle.in_dynamic_mode()

    def test_programs_do_not_mix(self):
        with Building() as a:
            y = a.x * 2
        with Building(), pytest.raises(ModeError, match="another program"):
            y * 2

    def test_threads_have_their_own(self):
        import threading

        found = []
        with Building():
            thread = threading.Thread(target=lambda: found.append(paddle.in_dynamic_mode()))
            thread.start()
            thread.join()
        assert found == [True]


def test_indices_known_at_run_time():
    with Building() as b:
        n = paddle.shape(b.x)[0]
        last = b.x[n - 1]
        part = b.x[: n - 1, 1:]
        column = b.x[:, n]
    data = np.arange(6.0).reshape(2, 3)
    found = b.run(last, part, column, x=data)
    for value, expected in zip(found, (data[1], data[:1, 1:], data[:, 2]), strict=True):
        np.testing.assert_array_equal(value, expected)
    with pytest.raises(IndexError, match="3"):
        b.run(column, x=np.zeros((3, 3)))


def test_shapes_known_at_run_time():
    with Building() as b:
        n = paddle.shape(b.x)[0]
        outs = [
            b.x.reshape([n * 3]),
            paddle.zeros([n, 2]),
            paddle.expand(paddle.ones([1, 1]), [n, 4]),
            paddle.arange(n),
        ]
    shapes = [v.shape for v in b.run(*outs, x=np.zeros((5, 3)))]
    assert shapes == [(15,), (5, 2), (5, 4), (5,)]


class TestWhatPythonWouldDoLater:
    def test_hooks(self):
        with Building() as b, pytest.raises(StagedValueError, match="hook"):
            b.x.register_hook(print)

    def test_pylayers(self):
        class Double(paddle.autograd.PyLayer):
            @staticmethod
            def forward(ctx, x):
                return x * 2

        w = Tensor([1.0], stop_gradient=False)
        with Building() as b:
            assert Double.apply(b.x).shape == [-1, 3]
            with pytest.raises(StagedValueError, match=r"Double\.backward is Python code"):
                Double.apply(w)
