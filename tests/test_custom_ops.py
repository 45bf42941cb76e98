"""Ops of the user's own: eagerly, statically, in loops and branches, with gradients, in files, with errors that say what is wrong."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from dy2st_runtime import Predictor, config
from dy2st_runtime.executor import engines
from numba import njit, prange

import dy2st as paddle
from dy2st.errors import AttributeValueError, CustomOpError, DTypeError, FormatError, GradientError, ShapeError
from dy2st.static import InputSpec
from dy2st.testing import check_op

DEFINITIONS = '''
import numpy as np

@custom_op(infer=lambda x, scale: (x.shape, x.dtype))
def running_max(x, scale=1.0):
    out = np.empty_like(x)
    largest = -np.inf
    for i in range(len(x)):
        largest = max(largest, scale * x[i])
        out[i] = largest
    return out

@custom_op(infer=lambda x, out, dout, scale: (x.shape, x.dtype))
def running_max_grad(x, out, dout, scale=1.0):
    dx = np.zeros_like(x)
    at = 0
    for i in range(len(x)):
        if i > 0 and out[i] > out[i - 1]:
            at = i
        dx[at] += scale * dout[i]
    return dx
'''
scope: dict[str, Any] = {"custom_op": paddle.custom_op}
exec(DEFINITIONS, scope)
running_max, running_max_grad = scope["running_max"], scope["running_max_grad"]


@running_max.gradient
def running_max_rule(x, out, dout, scale):
    return running_max_grad(x, out, dout, scale=scale)


def maxima(x, n):
    """It runs natively in a loop, on one side of a branch."""
    k = paddle.zeros([], "int64")
    while k < n:
        x = running_max(x, scale=2.0) if k % 2 == 0 else x - 1
        k += 1
    return x


# ---- results and gradients ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["llvm", "numba"])
def test_in_a_loop_with_a_gradient_as_eagerly(engine: str) -> None:
    found = []
    with config.ENGINE.override(engine):
        for f in (maxima, paddle.jit.to_static(maxima)):
            for n in (0, 1, 4):
                x = paddle.to_tensor([1.0, 3.0, 2.0, 5.0], stop_gradient=False)
                y = f(x, paddle.to_tensor(n))
                (y * paddle.to_tensor([1.0, 10.0, 100.0, 1000.0])).sum().backward()
                found.append((y.numpy(), x.grad.numpy()))
    np.testing.assert_array_equal(found[:3], found[3:])
    np.testing.assert_array_equal(found[1], [[2, 6, 6, 10], [2, 220, 0, 2000]])


def test_between_feed_and_fetch_no_python_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    static = paddle.jit.to_static(maxima)
    x, n = paddle.to_tensor([1.0, 3.0]), paddle.to_tensor(5)
    want = static(x, n).numpy()

    def refuse(*arguments: Any) -> Any:
        raise AssertionError("the kernel was called from Python")

    monkeypatch.setattr(running_max._definition, "run", refuse)
    np.testing.assert_array_equal(static(x, n).numpy(), want)


def test_check_op_finds_it_right() -> None:
    check_op(running_max, np.array([1.0, 3.0, 2.0], "float32"), scale=0.5)
    check_op(running_max, np.array([1.0, 3.0, 2.0]))


def test_check_op_finds_a_wrong_gradient_and_a_result_that_changes() -> None:
    @paddle.custom_op(elementwise=True)
    def cube(x):
        return x * x * x

    with pytest.raises(GradientError, match="cube has no gradient"):
        check_op(cube, np.array([1.0]))
    check_op(cube, np.array([1.0]), gradient=False)
    cube.gradient(lambda x, out, dout: dout * 2 * x * x)
    with pytest.raises(AssertionError, match=r"gradient of input 0 along a direction is .*, finite differences give"):
        check_op(cube, np.array([1.0, -2.0]))
    cube.gradient(lambda x, out, dout: dout * 3 * x * x)
    check_op(cube, np.array([1.0, -2.0]))
    calls = []

    def changes(x):
        calls.append(None)
        return x + len(calls)

    with pytest.raises(AssertionError, match="result 0 differs in a static function from what it is eagerly"):
        check_op(changes, np.array([1.0]), gradient=False)


def test_a_gradient_composed_of_the_api_can_be_taken_twice() -> None:
    @paddle.custom_op(elementwise=True)
    def sine(x):
        return np.sin(x)

    sine.gradient(lambda x, out, dout: dout * paddle.cos(x))
    x = paddle.to_tensor([0.5, 1.0], stop_gradient=False)
    (dx,) = paddle.grad(sine(x).sum(), [x], create_graph=True)
    dx.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), -np.sin(x.numpy()), rtol=1e-6)


def test_elementwise_kernels_broadcast_and_keep_the_dtype() -> None:
    @paddle.custom_op(elementwise=True)
    def above(x, y, slope=0.5, inside=True):
        return x if x > y and inside else slope * x

    x, y = np.array([[1.0, -2.0], [3.0, 0.0]], "float32"), np.array([2.0, -3.0], "float32")
    want = np.where(x > y, x, 0.25 * x)
    for f in (above, paddle.jit.to_static(lambda x, y, slope: above(x, y, slope=slope))):
        got = f(paddle.to_tensor(x), paddle.to_tensor(y), slope=0.25)
        assert got.dtype == "float32"
        np.testing.assert_array_equal(got.numpy(), want)
    check_op(above, x, y, gradient=False, inside=False)
    check_op(above, x[0, 0], y[0], gradient=False)


def test_several_results_and_sizes_that_depend_on_values() -> None:
    @paddle.custom_op(infer=lambda x: [((-1,), x.dtype), ((), "int64"), ((x.shape[0] + 1,), "bool")], outputs=3)
    def positive(x):
        kept = x[x > 0]
        return kept, len(kept), np.zeros(len(x) + 1, np.bool_)

    static = paddle.jit.to_static(lambda x: (positive(x)[0] * 2, *positive(x)[1:]))
    for values in ([1.0, -2.0, 3.0], [-1.0], []):
        kept, count, flags = static(paddle.to_tensor(np.array(values, "float32")))
        assert kept.numpy().tolist() == [2 * v for v in values if v > 0]
        assert int(count) == len(kept)
        assert flags.shape == [len(values) + 1]
        assert flags.dtype == "bool"


@pytest.mark.parametrize("dtype", ["bool", "int8", "int32", "float32"])
def test_a_number_of_a_kernel_has_the_dtype_that_infer_says(dtype: str) -> None:
    op = defined(lambda x: [((), x.dtype), (x.shape, x.dtype)], lambda x: (x[0], x.copy()), outputs=2)
    x = paddle.to_tensor([1, 0, 1]).astype(dtype)
    for f in (op, paddle.jit.to_static(lambda x: op(x))):
        assert [out.dtype for out in f(x)] == [dtype, dtype]


def test_it_is_pickled_and_copied_by_its_name() -> None:
    assert pickle.loads(pickle.dumps(running_max)) is running_max
    assert copy.deepcopy([running_max])[0] is running_max
    assert copy.copy(running_max) is running_max
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(defined(SAME, lambda x: x * 2))


def test_what_numba_has_jitted_is_a_kernel_too() -> None:
    op = paddle.custom_op(infer=lambda x: (x.shape, x.dtype), name="jitted_twice")(njit(lambda x: x + x))
    np.testing.assert_array_equal(op(paddle.to_tensor([1, 2])).numpy(), [2, 4])
    with pytest.raises(CustomOpError, match=r"cannot be njit\(parallel=True\)"):
        paddle.custom_op(infer=lambda x: (x.shape, x.dtype), name="in_parallel")(njit(parallel=True)(_sum_rows))(paddle.ones([2]))


def _sum_rows(x):
    out = np.zeros_like(x)
    for i in prange(len(x)):
        out[i] = x[i]
    return out


def test_a_tensor_that_is_no_plain_memory() -> None:
    x = paddle.to_tensor(np.arange(6.0).reshape(2, 3)).transpose([1, 0])
    op = paddle.custom_op(infer=lambda x: (x.shape, x.dtype), name="doubled_rows")(lambda x: x * 2)
    np.testing.assert_array_equal(op(x).numpy(), 2 * x.numpy())


def test_several_threads_at_once() -> None:
    static, failed = paddle.jit.to_static(maxima), []

    def work(value: float) -> None:
        try:
            for _ in range(30):
                got = static(paddle.full([50], value), paddle.to_tensor(1))
                assert (got.numpy() == 2 * value).all()
        except BaseException as error:
            failed.append(error)

    running = [threading.Thread(target=work, args=(float(i),)) for i in range(4)]
    for t in running:
        t.start()
    for t in running:
        t.join()
    assert not failed


# ---- files --------------------------------------------------------------------------------------------------------


def test_a_file_holds_its_name_only(tmp_path: Path) -> None:
    path = str(tmp_path / "model")
    paddle.jit.save(paddle.jit.to_static(maxima), path, [InputSpec([None], "float32", "x"), InputSpec([], "int64", "n")])
    x, n = np.array([1.0, 3.0, 2.0], "float32"), np.array(3)
    want = maxima(paddle.to_tensor(x), paddle.to_tensor(n)).numpy()
    np.testing.assert_array_equal(paddle.jit.load(path)(paddle.to_tensor(x), paddle.to_tensor(n)).numpy(), want)
    np.testing.assert_array_equal(Predictor(path).run([x, n])[0], want)

    def process(*lines: str) -> subprocess.CompletedProcess:
        code = "\n".join(["import sys, numpy as np", *lines, "from dy2st_runtime import Predictor",
                          "print(Predictor(sys.argv[1]).run([np.array([1, 3, 2], 'float32'), np.array(3)])[0].tolist())",
                          "assert 'dy2st' not in sys.modules"])  # fmt: skip
        return subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)

    without = process()
    assert "FormatError" in without.stderr
    assert "an op that is not supported: 'running_max'" in without.stderr
    assert "hint: a file has only the name of a custom op: run its definition (custom_op) before loading" in without.stderr
    with_definition = process("from dy2st_runtime import custom_op", DEFINITIONS)
    assert with_definition.stdout.strip() == str(want.tolist()), with_definition.stderr


def test_the_command_line_imports_what_defines_it(tmp_path: Path) -> None:
    paddle.jit.save(paddle.jit.to_static(maxima), str(tmp_path / "model"), [InputSpec([None], "float32", "x"), InputSpec([], "int64", "n")])
    (tmp_path / "ops_of_mine.py").write_text("import numpy as np\nfrom dy2st_runtime import custom_op\n" + DEFINITIONS)

    def command(*arguments: str) -> subprocess.CompletedProcess:
        line = [sys.executable, "-m", "dy2st_runtime", *arguments]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(paddle.__file__).parent.parent / "runtime"), *sys.path])}
        return subprocess.run(line, capture_output=True, text=True, cwd=tmp_path, env=env)

    for name in ("run", "show", "info"):
        assert "an op that is not supported: 'running_max'" in command(name, "model").stderr
        assert command(name, "model", "--import", "ops_of_mine").returncode == 0
    assert command("run", "model", "--import", "no_such_ops").stderr.splitlines() == [
        "error: [D2S003] --import no_such_ops: No module named 'no_such_ops'"]  # fmt: skip


def test_a_file_with_another_attribute_or_slot_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model"
    op = paddle.custom_op(infer=lambda x, rate: (x.shape, x.dtype), name="with_rate")(eval("lambda x, rate=2.0: x * rate"))
    paddle.jit.save(paddle.jit.to_static(lambda x: op(x)), str(path), [InputSpec([None], "float32", "x")])
    paddle.custom_op(infer=lambda x: (x.shape, x.dtype), name="with_rate")(lambda x: x)
    with pytest.raises(FormatError, match="with_rate"):
        Predictor(str(path))


# ---- definitions --------------------------------------------------------------------------------------------------


def test_a_later_definition_takes_the_place() -> None:
    @paddle.jit.to_static
    def call(x):
        return again(x)

    global again
    x = paddle.to_tensor([3.0])
    for factor in (1, 5):
        again = paddle.custom_op(infer=lambda x: (x.shape, x.dtype), name="defined_again")(eval(f"lambda x: x * {factor}"))
        assert float(again(x)) == 3.0 * factor
        assert float(call(x)) == 3.0 * factor


again: Any = None


@pytest.mark.parametrize(("make", "match"), [
    (lambda: paddle.custom_op(lambda x: x), "needs a rule for its results"),
    (lambda: paddle.custom_op(elementwise=True, name="relu")(lambda x: x), "there is an op 'relu' already"),
    (lambda: paddle.custom_op(elementwise=True)(max), "takes a function, or what numba.njit makes of one"),
    (lambda: paddle.custom_op(elementwise=True)(lambda *x: x), r"must name its parameters, it has \*x"),
    (lambda: paddle.custom_op(elementwise=True)(lambda x, mode="a": x), "the default of mode must be an int, a float or a bool, got 'a'"),
    (lambda: paddle.custom_op(elementwise=True)(lambda rate=1.0: rate), "the kernel has no tensor"),
    (lambda: paddle.custom_op(elementwise=True, name=3)(lambda x: x), "the name of an op is a text, got 3"),
    (lambda: paddle.custom_op(elementwise=True, outputs=2)(lambda x: x), "outputs must be 1 for an elementwise op, got 2"),
])  # fmt: skip
def test_definitions_that_make_no_sense(make: Any, match: str) -> None:
    with pytest.raises(AttributeValueError, match=match):
        make()


def defined(infer: Any, kernel: Any, **options: Any) -> Any:
    return paddle.custom_op(infer=infer, name="of_a_test", **options)(kernel)


def _raises(x):
    if x[0] < 0:
        raise ValueError("negative")
    return x * 2


def _writes(x):
    x[0] = 1
    return x


SAME = lambda x: (x.shape, x.dtype)  # noqa: E731
WRONG = [
    (lambda x: (x.shape[0] + 1, x.dtype), lambda x: x * 2, AttributeValueError, r"infer must give a pair \(shape, dtype\)"),
    (lambda x: ((x.shape[0] + 1,), x.dtype), lambda x: x * 2, ShapeError, r"of_a_test gave shape \[2\], its infer says \[3\]"),
    (lambda x: (x.shape, "float64"), lambda x: x * 2, CustomOpError, r"it gives array\(float32, 1d, C\), and infer says float64\[:\]"),
    (lambda x: (("n",), x.dtype), lambda x: x * 2, AttributeValueError, "of_a_test: infer gives the size 'n'"),
    (lambda x: ((2.0,), x.dtype), lambda x: x * 2, AttributeValueError, r"of_a_test: infer gives the size 2.0(?s:.*)x.shape\[0\] // 2"),
    (lambda x: ((-2,), x.dtype), lambda x: x * 2, AttributeValueError, "of_a_test: infer gives the size -2"),
    (SAME, lambda x: x.sum(), CustomOpError, r"it gives float32, and infer says float32\[:\]"),
    (SAME, lambda x: (x * 2, x * 3), CustomOpError, "and infer says"),
    (SAME, _writes, CustomOpError, "Cannot modify readonly array"),
    (SAME, lambda x: x.no_such_method(), CustomOpError, r"of_a_test does not compile for float32\[:\]: .*no_such_method"),
    (SAME, _raises, ValueError, "^negative"),
]


@pytest.mark.parametrize("static", [False, True], ids=["eager", "static"])
@pytest.mark.parametrize(("infer", "kernel", "error", "match"), WRONG, ids=range(len(WRONG)))
def test_errors_are_those_of_eager_mode(static: bool, infer: Any, kernel: Any, error: Any, match: str) -> None:
    op = defined(infer, kernel)
    f = paddle.jit.to_static(lambda x: op(x)) if static else op
    with pytest.raises(error, match=f"(?s){match}") as caught:
        f(paddle.to_tensor([-1.0, 1.0]))
    if error is not ValueError:
        assert caught.value.location.file == __file__


@pytest.mark.parametrize("size", [lambda n: max(n, 1), lambda n: 3 if n > 3 else n])
def test_what_cannot_be_done_with_a_size_that_only_the_run_knows(size: Any) -> None:
    op = defined(lambda x: ((size(x.shape[0]),), x.dtype), lambda x: x * 2)
    with pytest.raises(AttributeValueError, match=r"of_a_test: infer fails where only the run knows a size(?s:.*)but not compared"):
        paddle.jit.to_static(lambda x: op(x))(paddle.ones([4]))


def test_numba_that_is_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    op = defined(SAME, lambda x: x * 2)
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    for f in (op, paddle.jit.to_static(lambda x: op(x))):
        with pytest.raises(CustomOpError, match="of_a_test: Numba does not compile its kernel, as NUMBA_DISABLE_JIT is set"):
            f(paddle.ones([2]))


def test_numba_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    op = defined(SAME, lambda x: x * 3)
    monkeypatch.setattr(engines, "is_there", lambda: False)
    for f in (op, paddle.jit.to_static(lambda x: op(x))):
        with pytest.raises(CustomOpError, match=r"of_a_test: Numba compiles .* not installed(?s:.*)hint: pip install numba"):
            f(paddle.ones([2]))


def test_errors_of_calls_and_gradients() -> None:
    op = defined(SAME, lambda x: x * 2)
    with pytest.raises(TypeError, match=r"of_a_test takes 1 tensors \(x\), got 2; attributes are given by keyword"):
        op(paddle.ones([1]), 2.0)
    with pytest.raises(AttributeValueError, match="of_a_test has no attribute 'rate'"):
        op(paddle.ones([1]), rate=2.0)
    with pytest.raises(DTypeError, match="x is float16, which custom ops do not have"):
        op(paddle.ones([1], "float16"))
    x = paddle.to_tensor([1.0], stop_gradient=False)
    for f in (op, paddle.jit.to_static(lambda x: op(x))):
        with pytest.raises(GradientError, match="the custom op of_a_test has no gradient"):
            f(x).sum().backward()
    op.gradient(lambda x, out, dout: (dout, dout))
    for f in (op, paddle.jit.to_static(lambda x: op(x))):
        with pytest.raises(GradientError, match="gives 2 gradients for 1 tensors"):
            f(x).sum().backward()
    op.gradient(lambda x, out, dout: dout.sum())
    for f in (op, paddle.jit.to_static(lambda x: op(x))):
        with pytest.raises((ShapeError, GradientError), match="gradient"):
            f(x).sum().backward()
