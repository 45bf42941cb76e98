"""cond, while_loop, case, switch_case: the same in dynamic mode, in the interpreter and compiled; gradients; errors."""

import numpy as np
import pytest
from dy2st_runtime import config

import dy2st
from dy2st import static
from dy2st.errors import DTypeError, ModeError, ShapeError


def everywhere(function, *arrays, exe=None):
    """The results of a function of tensors: eager, interpreted and compiled, which must agree."""
    with dy2st.tensor.dispatch.eager():
        eager = dy2st.framework.nest.flatten(function(*map(dy2st.to_tensor, arrays)))
        eager = [t.numpy() if isinstance(t, dy2st.Tensor) else np.asarray(t) for t in eager]
    program = static.Program()
    with static.program_guard(program):
        data = [static.data(f"x{i}", [None] * a.ndim, a.dtype) for i, a in enumerate(arrays)]
        outs = dy2st.framework.nest.flatten(function(*data))
    feed = {f"x{i}": a for i, a in enumerate(arrays)}
    for native in (False, True):
        with config.NO_JIT.override(not native):
            results = static.Executor().run(program, feed=feed, fetch_list=outs)
        for got, want in zip(results, eager, strict=True):
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got, want, rtol=1e-6)
    return eager


f32 = np.float32


@pytest.mark.parametrize("x", [-1.0, 2.0])
def test_cond(x):
    def function(t):
        return static.nn.cond(t > 0.0, lambda: (t * 2.0, {"a": [t + 1.0]}), lambda: (t, {"a": [t * t]}))

    assert everywhere(function, f32([x])) == ([2 * x, x + 1] if x > 0 else [x, x * x])


@pytest.mark.parametrize("x", [-1.0, 2.0])
def test_a_number_takes_the_dtype_of_the_other_branch(x):
    everywhere(lambda t: static.nn.cond(t.sum() > 0.0, lambda: t.sum(), lambda: dy2st.to_tensor(f32(7))), f32([x]))
    main = static.default_main_program()
    t = static.data("x", [1])
    out = static.nn.cond(t > 0.0, lambda: t.sum(), lambda: 7)
    assert out.dtype == "float32"
    assert static.Executor().run(main, feed={"x": f32([x])}, fetch_list=[out])[0] == (x if x > 0 else 7)


def test_branches_without_results():
    t = static.data("x", [1])
    assert static.nn.cond(t > 0.0, lambda: None, None) is None


@pytest.mark.parametrize("x", [-3.0, 0.5, 4.0])
def test_nested_cond(x):
    def function(t):
        inner = lambda: static.nn.cond(t > 1.0, lambda: t * 10.0, lambda: t * 5.0)  # noqa: E731
        return static.nn.cond(t > 0.0, inner, lambda: -t)

    everywhere(function, f32([x]))


@pytest.mark.parametrize("count", [0, 1, 5])
def test_while_loop(count):
    def function(n, x):
        return static.nn.while_loop(
            lambda i, s: i < n,
            lambda i, s: [i + 1, {"sum": s["sum"] + x, "last": s["sum"]}],
            [dy2st.zeros([], "int64"), {"sum": dy2st.zeros_like(x), "last": x}],
        )

    everywhere(function, np.int64(count), f32([1, 2]))


def test_a_loop_with_one_variable_may_return_it_alone():
    everywhere(lambda n: static.nn.while_loop(lambda i: i > 0, lambda i: i - 1, [n]), np.int64(3))


def test_a_value_that_grows_in_a_loop():
    """The first dim differs between iterations; it becomes open."""

    def function(n, x):
        return static.nn.while_loop(
            lambda i, y: i < n, lambda i, y: [i + 1, dy2st.concat([y, x])], [dy2st.zeros([], "int64"), x]
        )

    for count in (0, 2):
        assert everywhere(function, np.int64(count), f32([1, 2]))[1].shape == (2 * (count + 1),)


def test_swap():
    everywhere(lambda n, x: static.nn.while_loop(lambda n, a, b: n > 0, lambda n, a, b: [n - 1, b, a], [n, x, x * 2.0]),
               np.int64(3), f32([1]))  # fmt: skip


@pytest.mark.parametrize("x", [0.5, 1.5, 2.5])
def test_case(x):
    def function(t, default=None):
        pairs = [(t < 1.0, lambda: t * 2.0), (t < 2.0, lambda: t * 3.0)]
        return static.nn.case(pairs, default or (lambda: t * 4.0)), static.nn.case(pairs)

    everywhere(function, f32([x]))


@pytest.mark.parametrize("i", [0, 1, 2, 9])
def test_switch_case(i):
    def function(index):
        a, b = dy2st.to_tensor(f32(1)), dy2st.to_tensor(f32(2))
        return (
            static.nn.switch_case(index, [lambda: a, lambda: b]),
            static.nn.switch_case(index, {1: lambda: a, 2: lambda: b}, lambda: a + b),
            static.nn.switch_case(index, [(2, lambda: a), (0, lambda: b)]),
        )

    everywhere(function, np.int64(i))


@pytest.mark.parametrize("count", [0, 1, 3])
@pytest.mark.parametrize("x", [-0.5, 0.8])
def test_gradient_through_a_loop_with_a_branch(exe, count, x):
    """x -> 2 x or x * x, `count` times; and the derivative by hand."""
    t, n = static.data("x", [1]), static.data("n", [], "int64")
    t.stop_gradient = False
    step = lambda y: static.nn.cond(y > 0.0, lambda: y * 2.0, lambda: y * y)  # noqa: E731
    _, y = static.nn.while_loop(lambda i, y: i < n, lambda i, y: [i + 1, step(y)], [dy2st.zeros([], "int64"), t])
    (grad,) = static.gradients(y, t)
    value, derivative = x, 1.0
    for _ in range(count):
        value, derivative = (2 * value, 2 * derivative) if value > 0 else (value * value, 2 * value * derivative)
    out = exe.run(feed={"x": f32([x]), "n": np.int64(count)}, fetch_list=[y, grad])
    np.testing.assert_allclose(out, [[value], [derivative]], rtol=1e-6)


def test_parameters_inside_a_branch(exe):
    x = static.data("x", [None, 1])
    y = static.nn.cond(x.sum() > 0.0, lambda: static.nn.fc(x, 1, bias_attr=False), lambda: x)
    [(p, g)] = static.append_backward(y.mean())
    exe.run(static.default_startup_program())
    assert p.name == "fc_0.w_0"
    assert exe.run(feed={"x": f32([[2]])}, fetch_list=[g])[0] == 2.0
    assert exe.run(feed={"x": f32([[-2]])}, fetch_list=[g])[0] is None, "the path taken does not use the parameter"


# ---- errors ----
def line_of(raised):
    return raised.value.location.text.strip()


def test_cond_errors():
    x = static.data("x", [2])
    p = x.sum() > 0.0
    with pytest.raises(
        ShapeError, match=r"different structures: \(value, value\) .*test_control_flow.py:\d+\) and value"
    ):
        static.nn.cond(p, lambda: (x, x), lambda: x)
    with pytest.raises(ShapeError, match="different structures: None and value"):
        static.nn.cond(p, None, lambda: x)
    with pytest.raises(DTypeError, match=r"float32\[2\] on one path and int64\[2\]") as raised:
        static.nn.cond(p, lambda: x, lambda: x.astype("int64"))
    assert line_of(raised) == 'static.nn.cond(p, lambda: x, lambda: x.astype("int64"))'
    with pytest.raises(ShapeError, match="1 dims on one path and 0"):
        static.nn.cond(p, lambda: x, lambda: x.sum())
    with pytest.raises(ShapeError, match="truth value"):
        static.nn.cond(x > 0.0, lambda: x, lambda: x)
    with pytest.raises(DTypeError, match="must be bool") as raised:
        static.nn.cond(x.sum(), lambda: x, lambda: x)
    assert line_of(raised) == "static.nn.cond(x.sum(), lambda: x, lambda: x)"
    with pytest.raises(DTypeError, match="true_fn of cond must be callable"):
        static.nn.cond(p, x, x)
    with pytest.raises(DTypeError, match="got 'text' where a tensor"):
        static.nn.cond(p, lambda: "text", lambda: "text")


def test_while_loop_errors():
    x = static.data("x", [1])
    with pytest.raises(ShapeError, match="returns 2 values, it takes 1"):
        static.nn.while_loop(lambda y: y.sum() > 0.0, lambda y: [y, y], [x])
    with pytest.raises(ShapeError, match=r"returns \[\[value, value\]\], it takes \[\[value\]\]"):
        static.nn.while_loop(lambda y: y[0].sum() > 0.0, lambda y: [[y[0], y[0]]], [[x]])
    with pytest.raises(DTypeError, match=r"loop variable 0 has type float32\[1\] on one path and int64\[1\]"):
        static.nn.while_loop(lambda y: y.sum() > 0.0, lambda y: [y.astype("int64")], [x])
    with pytest.raises(ShapeError, match="at least one value"):
        static.nn.while_loop(lambda: x > 0.0, lambda: [], [])
    with pytest.raises(DTypeError, match="must be callable"):
        static.nn.while_loop(x, x, [x])


def test_case_errors():
    x = static.data("x", [1])
    for wrong in ([], [x], [(x > 0.0, x)]):
        with pytest.raises(DTypeError, match="case takes a list of"):
            static.nn.case(wrong)
    for wrong in ([], [x], [(0, lambda: x), (0, lambda: x)]):
        with pytest.raises(DTypeError, match="switch_case takes functions"):
            static.nn.switch_case(x, wrong)


def test_a_variable_of_a_program_in_dynamic_mode():
    x = static.data("x", [1])
    p = x > 0.0
    with dy2st.tensor.dispatch.eager(), pytest.raises(ModeError, match="used in dynamic mode"):
        static.nn.cond(p, lambda: x, lambda: x)
