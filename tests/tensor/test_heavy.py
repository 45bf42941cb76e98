"""Heavy ops of eager mode by compiled kernels: what the reference gives, the same errors, and only where it pays."""

import subprocess
import sys
from unittest import mock

import numpy as np
import pytest
from dy2st_runtime import config
from dy2st_runtime.executor import single
from dy2st_runtime.executor.single import run_op
from dy2st_runtime.ops import registry

import dy2st as paddle
from dy2st import nn
from dy2st.errors import AttributeValueError, ShapeError
from dy2st.tensor import heavy

rng = np.random.default_rng(3)
STATE = np.array([11, 40], np.int64)


def numbers(*shape):
    return rng.standard_normal(shape).astype("float32")


CASES = {
    "gaussian_random": [((STATE, None, []), {"shape": [300, 500]}), ((STATE, np.array([300, 2]), []), {"shape": []}),
                        ((STATE, None, [np.array(70), np.array(2)]), {"shape": [-1, -1], "seed": 4, "dtype": "float64"})],
    "uniform_random": [((STATE, None, []), {"shape": [300, 500], "min": 2.0, "max": 5.0})],
    "truncated_gaussian_random": [((STATE, None, []), {"shape": [300, 500]})],
    "randint": [((STATE, None, []), {"shape": [300, 500], "low": -3, "high": 90})],
    "bernoulli": [((rng.random((300, 500), np.float32), STATE), {})],
    "dropout": [((numbers(300, 500), STATE), {"dropout_prob": 0.3})],
    "erf": [((numbers(300, 500),), {}), ((numbers(70).astype("float64"),), {})],
    "gelu": [((numbers(300, 500),), {"approximate": approximate}) for approximate in (False, True)],
    "matmul_v2": [((numbers(3, 40, 50), numbers(50, 60)), {}), ((numbers(50, 40), numbers(60, 50)), {"trans_x": True, "trans_y": True})],
    "lstm_gates": [((numbers(20, 120), numbers(20, 120), numbers(20, 30)), {})],
    "lstm_sequence": [((numbers(5, 8, 80), numbers(80, 20), numbers(8, 20), numbers(8, 20)), {})],
    "lstm_sequence_grad": [((numbers(5, 8, 80), 0.1 * numbers(80, 20), *[numbers(8, 20)] * 2, numbers(6, 8, 20), numbers(6, 8, 20),
                             rng.random((5, 8, 80), np.float32), a, b), {})
                           for a, b in ((numbers(6, 8, 20), None), (None, numbers(6, 8, 20)))],
    "gru_gates": [((numbers(20, 90), numbers(20, 90), numbers(20, 30)), {})],
    "lstm_gates_grad": [((*[numbers(20, 120)] * 2, numbers(20, 30), rng.random((20, 120), np.float32), a, b), {})
                        for a, b in ((numbers(20, 30), numbers(20, 30)), (None, numbers(20, 30)), (numbers(20, 30), None))],
    "gru_gates_grad": [((*[numbers(20, 90)] * 2, numbers(20, 30), rng.random((20, 90), np.float32), numbers(20, 30)), {})],
    "warpctc": [((numbers(9, 4, 6), rng.integers(1, 6, (4, 3)), np.array([9, 12, 4, 1]), np.array([3, 2, 3, 0])), {})],
    "conv2d": [((numbers(2, 6, 20, 18), numbers(8, 3, 3, 3)), {"groups": 2, "paddings": [1, 2], "strides": [2, 1]})],
    "depthwise_conv2d": [((numbers(2, 6, 20, 18), numbers(6, 1, 3, 3)), {"groups": 6})],
    "conv2d_grad_input": [((numbers(8, 6, 3, 3), numbers(2, 8, 18, 16), numbers(2, 6, 20, 18)), {})],
    "conv2d_grad_filter": [((numbers(2, 6, 20, 18), numbers(2, 8, 18, 16), numbers(8, 6, 3, 3)), {})],
    "conv2d_transpose": [((numbers(2, 6, 20, 18), numbers(6, 8, 3, 3)), {"strides": [2, 2]})],
}  # fmt: skip
IN_TWO_WAYS = [(name, i) for name, cases in CASES.items() for i in range(len(cases))]


@pytest.mark.parametrize(("name", "i"), IN_TWO_WAYS)
def test_kernels_give_what_the_reference_gives(name, i):
    op = registry.get(name)
    ins, given = CASES[name][i]
    ins, attrs = ins + (None,) * (len(op.input_slots) - len(ins)), op.complete_attrs(given)
    assert op.kernel_from
    for native, wanted in zip(run_op(op, ins, attrs), op.run_reference(ins, attrs), strict=True):
        assert (native is None) == (wanted is None)
        if wanted is not None:
            assert (native.dtype, native.shape) == (wanted.dtype, wanted.shape)
            np.testing.assert_allclose(native, wanted, rtol=2e-5, atol=2e-5)


def test_every_op_that_says_so_is_tested():
    marked = {name for name, op in registry._table.items() if op.kernel_from}
    assert marked - CASES.keys() <= {"fused_conv2d", "depthwise_conv2d_transpose"}


def test_one_program_serves_all_sizes():
    op = registry.get("gelu")
    before = single._compiled.cache_info().misses
    for shape in ((3, 4), (50, 60), (1, 1)):
        run_op(op, (numbers(*shape),), op.complete_attrs({"approximate": True}))
    assert single._compiled.cache_info().misses <= before + 1


@pytest.fixture
def ran(monkeypatch):
    """The ops that ran by kernels."""
    found = []

    def noting(op, ins, attrs):
        found.append(op.type)
        return run_op(op, ins, attrs)

    monkeypatch.setattr(single, "run_op", noting)
    monkeypatch.setattr(heavy, "runs_native", lambda: True)
    return found


def test_eager_mode_runs_large_ones_with_their_gradients_by_kernels(ran):
    conv, image = nn.Conv2D(8, 16, 3), paddle.randn([4, 8, 24, 24])
    image.stop_gradient = False
    with config.NO_JIT.override(True):
        conv(image).sum().backward()
        wanted = [image.grad.numpy(), conv.weight.grad.numpy()]
    assert not ran
    image.clear_grad(), conv.clear_gradients()
    conv(image).sum().backward()
    assert set(ran) == {"conv2d", "conv2d_grad_input", "conv2d_grad_filter"}
    for got, want in zip([image.grad, conv.weight.grad], wanted, strict=True):
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-4, atol=1e-4)
    paddle.nn.functional.gelu(paddle.ones([10]))
    assert "gelu" not in ran


def test_products_are_no_reason_to_load_a_compiler_but_use_one_that_is_there(ran, monkeypatch):
    x, y = paddle.to_tensor(numbers(128, 128)), paddle.to_tensor(numbers(128, 128))
    native = x.matmul(y)
    assert ran == ["matmul_v2"]
    ran.clear()
    small, whole = x[:8, :8].matmul(y[:8]), x.astype("int64").matmul(y.astype("int64"))
    monkeypatch.setattr(heavy, "runs_native", lambda: False)
    np.testing.assert_allclose(native.numpy(), x.matmul(y).numpy(), rtol=1e-4, atol=1e-4)
    assert (small.shape, whole.dtype, ran) == ([8, 128], "int64", [])


def test_operands_that_do_not_fit_are_the_error_of_eager_mode_for_kernels_too(ran):
    with pytest.raises(ShapeError, match="the inner sizes differ") as caught:
        paddle.ones([256, 128]).matmul(paddle.ones([64, 256]))
    assert caught.value.location.file == __file__
    assert not ran


def test_the_optimizer_of_a_model_loads_a_compiler_that_of_a_toy_does_not():
    code = """
import sys, dy2st
from dy2st import nn
layer = nn.Linear({0}, {0})
step = dy2st.optimizer.SGD(0.1, parameters=layer.parameters())
layer(dy2st.ones([1, {0}])).sum().backward()
step.step()
print('llvmlite' in sys.modules)"""
    shown = [subprocess.run([sys.executable, "-c", code.format(n)], check=True, capture_output=True, text=True).stdout.strip()
             for n in (100, 300)]  # fmt: skip
    assert shown == ["False", "True"]


def test_the_state_of_the_generator_goes_on(ran):
    paddle.seed(5)
    drawn = [paddle.randn([300, 200]), paddle.randn([2])]
    assert ran == ["gaussian_random"]
    paddle.seed(5)
    with config.NO_JIT.override(True):
        again = [paddle.randn([300, 200]), paddle.randn([2])]
    for a, b in zip(drawn, again, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-6)


def test_errors_are_those_of_eager_mode_and_come_before_anything_is_compiled(ran):
    with pytest.raises(ShapeError, match="64 against 3") as caught:
        nn.Conv2D(3, 8, 3)(paddle.ones([4, 64, 20, 20]))
    assert caught.value.location.file == __file__
    assert "conv2d" not in ran


def test_what_is_wrong_with_a_draw_is_said_as_before(ran):
    with pytest.raises(AttributeValueError, match="negative size -2") as caught:
        paddle.rand([-2, 1000000])
    assert caught.value.operands == "State int64[2]"
    assert not ran


def test_a_small_script_loads_no_compiler_a_large_draw_does():
    code = "import sys, dy2st; dy2st.randn([{0}]); print('llvmlite' in sys.modules)"
    shown = [subprocess.run([sys.executable, "-c", code.format(n)], check=True, capture_output=True, text=True).stdout.strip()
             for n in (100000, 1000000)]  # fmt: skip
    assert shown == ["False", "True"]


def test_large_buffers_are_not_kept():
    x, erf = numbers(64, 64), registry.get("erf")
    attrs = erf.complete_attrs({})
    (first,) = run_op(erf, (x,), attrs)
    executable, _ = single._compiled("erf", ((x.dtype, 2),), ())
    assert len(executable._frames) == 1
    with mock.patch.object(executable, "most_kept", x.nbytes - 1):
        (second,) = run_op(erf, (x,), attrs)
    assert not executable._frames
    np.testing.assert_array_equal(first, second)
