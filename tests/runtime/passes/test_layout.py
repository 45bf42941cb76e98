"""layout: which ops compute with channels first, how many transposes are left, and that values stay as they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from dy2st_runtime import reference
from dy2st_runtime.backward import append_backward
from dy2st_runtime.errors import ShapeError
from dy2st_runtime.executor.executable import Executable
from dy2st_runtime.ir import Operator, Program, Variable, clone_program, verify
from dy2st_runtime.ir.segments import computed_again
from dy2st_runtime.ops.control import ABSENT
from dy2st_runtime.passes.cse import cse
from dy2st_runtime.passes.dce import dce
from dy2st_runtime.passes.layout import IMAGES, layout
from dy2st_runtime.passes.simplify import simplify
from dy2st_runtime.passes.ssa import ssa
from hypothesis import given, settings
from hypothesis import strategies as st

from hand_built import Made  # isort: skip

LAST = {"data_format": "NHWC"}


def after_program(m: Made, keep: Sequence[str]) -> Program:
    """The Program after the pass, and those that leave of its transposes what is needed."""
    program = clone_program(m.program)
    for one in (ssa, layout, simplify, cse, simplify, dce):
        one(program, frozenset(keep))
        verify(program)
    return program


def after(m: Made, *keep: Variable) -> list[Operator]:
    """All its ops."""
    return [op for block in after_program(m, [v.name for v in keep]).blocks for op in block.ops]


def types(m: Made, *keep: Variable) -> list[str]:
    return [op.type for op in after(m, *keep)]


def feeds(m: Made, size: int = 2) -> dict[str, np.ndarray]:
    """Random values for all data, of this size where it is open."""
    rng, block = np.random.default_rng(0), m.program.global_block()
    found = {}
    for name in m.feeds:
        v = block.var(name)
        found[name] = (rng.random([size if d == -1 else d for d in v.shape]) + 0.5).astype(v.dtype)
    return found


def check(m: Made, *outs: Variable, size: int = 2) -> None:
    """The values before and after the pass, by NumPy, and natively."""
    given, names = feeds(m, size), [v.name for v in outs]
    program = clone_program(m.program)
    before = reference.run_program(clone_program(program), given, {})
    assert layout(program, frozenset(names))
    verify(program)
    env = reference.run_program(program, given, {})
    got = Executable(clone_program(m.program), m.feeds, names).run([given[name] for name in m.feeds])
    for name, native in zip(names, got, strict=True):
        np.testing.assert_allclose(env[name], before[name], rtol=2e-5, atol=1e-5)
        np.testing.assert_allclose(native, before[name], rtol=2e-5, atol=1e-5)


def image(m: Made, name: str = "x", channels: int = 4, size: int = 6) -> Variable:
    return m.data(name, [-1, size, size, channels])


def convolved(m: Made, x: Variable, filters: int = 4, size: int = 3, **attrs: Any) -> Variable:
    f = m.data(f"f{len(m.feeds)}", [filters, x.shape[3], size, size])
    return m.b.conv2d(x, f, **{"paddings": [size // 2] * 2, **LAST, **attrs})


def norm(m: Made, x: Variable, **attrs: Any) -> Variable:
    given = [m.data(f"{part}{len(m.feeds)}", [x.shape[3]]) for part in ("scale", "bias", "mean", "variance")]
    return m.b.batch_norm(x, *given, data_layout="NHWC", **attrs)[0]


def test_a_chain_has_one_transpose_at_each_end() -> None:
    m = Made()
    x = image(m)
    bias = m.data("bias", [4])
    y = m.b.relu(norm(m, m.b.add(convolved(m, x), bias)))
    y = m.b.op("pool2d", X=convolved(m, y, 8), ksize=[2, 2], strides=[2, 2], **LAST)
    assert types(m, y) == [
        "transpose2", "conv2d", "unsqueeze2", "elementwise_add", "batch_norm", "relu", "conv2d", "pool2d", "transpose2",
    ]  # fmt: skip
    check(m, y)


def test_channels_first_is_left_alone() -> None:
    m = Made()
    y = m.b.conv2d(m.data("x", [-1, 4, 6, 6]), m.data("f", [4, 4, 3, 3]))
    assert not layout(m.program, frozenset({y.name}))


CASES: dict[str, Callable[[Made, Variable], Variable]] = {
    "conv2d": lambda m, x: m.b.conv2d(x, m.data("f", [6, 2, 3, 2]), groups=2, strides=[2, 1], **LAST),
    "depthwise_conv2d": lambda m, x: m.b.depthwise_conv2d(x, m.data("f", [8, 1, 3, 3]), groups=4, paddings=[0, 1, 2, 3], **LAST),
    "conv2d_transpose": lambda m, x: m.b.conv2d_transpose(x, m.data("f", [4, 3, 3, 3]), strides=[2, 2], output_padding=[1, 0], **LAST),
    "depthwise_conv2d_transpose": lambda m, x: m.b.depthwise_conv2d_transpose(x, m.data("f", [4, 1, 3, 3]), groups=4, **LAST),
    "conv2d_grad_input": lambda m, x: m.b.conv2d_grad_input(m.data("f", [4, 3, 3, 3]), x, m.data("like", [-1, 8, 8, 3]), **LAST),
    "conv2d_grad_filter": lambda m, x: m.b.conv2d_grad_filter(m.data("y", [-1, 8, 8, 3]), x, m.data("f", [4, 3, 3, 3]), **LAST),
    "pool2d": lambda m, x: m.b.op("pool2d", X=x, ksize=[3, 2], pooling_type="avg", paddings=[1, 0], exclusive=True, **LAST),
    "pool2d_grad": lambda m, x: pool_grad(m, x),
    "max_pool2d_pick": lambda m, x: m.b.op("max_pool2d_pick", X=x, Y=image(m, "y"), ksize=[2, 2], **LAST),
    "pad2d": lambda m, x: m.b.op("pad2d", X=x, paddings=[1, 2, 0, 3], pad_value=0.5, **LAST),
    "batch_norm": lambda m, x: norm(m, x),
    "batch_norm_grad": lambda m, x: m.b.batch_norm_grad(
        image(m, "y"), *(m.data(n, [4]) for n in ("scale", "mean", "inverse")), x, data_layout="NHWC"
    )[0],
    "group_norm": lambda m, x: m.b.group_norm(x, m.data("scale", [4]), m.data("bias", [4]), groups=2, data_layout="NHWC")[0],
    "group_norm_grad": lambda m, x: group_norm_grad(m, x),
}


def pool_grad(m: Made, x: Variable) -> Variable:
    how = {"ksize": [2, 2], "strides": [2, 2], **LAST}
    y = image(m, "y", size=12)
    return m.b.pool2d_grad(y, m.b.op("pool2d", X=y, **how), x, **how)


def group_norm_grad(m: Made, x: Variable) -> Variable:
    y = image(m, "y")
    scale, bias = m.data("scale", [4]), m.data("bias", [4])
    _, mean, variance = m.b.group_norm(y, scale, bias, groups=2, data_layout="NHWC")
    return m.b.group_norm_grad(y, scale, bias, mean, variance, x, groups=2, data_layout="NHWC")[0]


def test_the_cases_are_all_ops_on_images() -> None:
    assert set(CASES) == set(IMAGES)


@pytest.mark.parametrize("name", CASES)
def test_an_op_on_images(name: str) -> None:
    m = Made()
    y = CASES[name](m, image(m))
    found = [op for op in after(m, y) if op.type == name]
    assert [op.attrs[IMAGES[name].attr] for op in found] == ["NCHW"] * len(found)
    assert found
    check(m, y)


def test_images_are_put_together_with_channels_first() -> None:
    m = Made()
    x = image(m)
    a, c = convolved(m, x), convolved(m, x, 8)
    y = m.b.op("concat", X=[m.b.relu(a), c, a], axis=-1)
    assert types(m, y) == ["transpose2", "conv2d", "conv2d", "relu", "concat", "transpose2"]
    check(m, y)
    assert next(op for op in after(m, y) if op.type == "concat").attrs["axis"] == 1


def test_a_residual_sum_with_an_input() -> None:
    m = Made()
    x = image(m)
    y = m.b.add(convolved(m, x), x)  # x is there with channels first already
    assert types(m, y).count("transpose2") == 2
    check(m, y)


def test_what_is_excited_by_its_mean() -> None:
    m = Made()
    y = convolved(m, image(m))
    weights = m.b.op("reduce_mean", X=y, dim=[1, 2], keep_dim=True)
    out = convolved(m, m.b.mul(y, m.b.sigmoid(convolved(m, weights, size=1))))
    assert types(m, out).count("transpose2") == 2
    check(m, out)


@pytest.mark.parametrize(
    ("dim", "follows"), [([1, 2], True), ([-1], True), ([3, 1], True), ([0, 3], True), ([1], False), ([0, 2], False), ([0, 1, 2, 3], True)]
)
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("op", ["reduce_sum", "reduce_max"])
def test_reductions(op: str, dim: list[int], follows: bool, keep: bool) -> None:
    """Those whose result has other axes in another order are computed of the image as it was."""
    m = Made()
    y = m.b.op(op, X=convolved(m, image(m)), dim=dim, keep_dim=keep)
    found = types(m, y)
    assert (found[found.index(op) - 1] == "conv2d") == (follows or keep)
    check(m, y)


def test_a_mean_over_all() -> None:
    m = Made()
    y = m.b.op("mean", X=convolved(m, image(m)))
    assert types(m, y) == ["transpose2", "conv2d", "mean"]
    check(m, y)


OPERANDS: dict[str, tuple[list[int], int]] = {
    "channels": ([4], -1),
    "channels named": ([4], 3),
    "rows": ([6], 1),
    "columns": ([6], 2),
    "one": ([1], -1),
    "a scalar": ([], -1),
    "ones": ([1, 1], -1),
    "an image of one pixel": ([1, 1, 1, 4], -1),
    "an image of one channel": ([1, 6, 6, 1], -1),
}


@pytest.mark.parametrize("name", OPERANDS)
def test_operands_that_are_broadcast(name: str) -> None:
    m = Made()
    shape, axis = OPERANDS[name]
    y = m.b.op("elementwise_mul", X=convolved(m, image(m, size=6)), Y=m.data("other", shape), axis=axis)
    assert next(op for op in reversed(after(m, y)) if op.type != "transpose2").type == "elementwise_mul"
    check(m, y)


def test_a_vector_on_the_left() -> None:
    m = Made()
    y = m.b.sub(m.data("scale", [4]), convolved(m, image(m)))
    assert types(m, y)[-2:] == ["elementwise_sub", "transpose2"]
    check(m, y)


def test_a_matrix_is_met_as_it_was() -> None:
    m = Made()
    y = m.b.add(convolved(m, image(m)), m.data("other", [6, 4]))
    assert types(m, y)[-2:] == ["transpose2", "elementwise_add"]
    check(m, y)


def test_three_operands_one_of_them_a_vector() -> None:
    m = Made()
    y = convolved(m, image(m))
    out = m.b.op("where", Condition=m.b.op("greater_than", X=y, Y=m.data("limit", [4])), X=y, Y=m.data("other", [4]))
    assert types(m, out).count("transpose2") == 2
    check(m, out)


def test_images_of_another_origin_only_where_they_are_wanted() -> None:
    m = Made()
    out = m.b.mul(convolved(m, m.data("x", [2, 6, 6, 4])), m.data("mask", [2, 6, 6, 4]))
    assert types(m, out)[-2:] == ["transpose2", "elementwise_mul"]
    wanted = convolved(m, m.b.relu(out))
    assert types(m, wanted)[-4:] == ["elementwise_mul", "relu", "conv2d", "transpose2"]
    assert types(m, wanted).count("transpose2") == 3
    check(m, wanted)


def test_sizes_that_may_not_fit_are_named_as_they_were_written() -> None:
    m = Made()
    x, y = m.data("x", [-1, -1, 6, 4]), m.data("y", [-1, -1, 6, 4])
    out = m.b.add(convolved(m, x), convolved(m, y))
    exe = Executable(m.program, m.feeds, [out.name])
    given = {**feeds(m), "x": np.ones((1, 3, 6, 4), "f"), "y": np.ones((1, 5, 6, 4), "f")}
    with pytest.raises(ShapeError, match=r"\[1, 3, 6, 4\].*\[1, 5, 6, 4\]"):
        exe.run([given[name] for name in m.feeds])
    m.compare([out], {**given, "y": given["x"]})


def test_a_branch_reads_what_is_outside_and_gives_what_it_did() -> None:
    m = Made()
    y = convolved(m, image(m))
    (out,) = m.cond(m.data("c", [], "bool"), lambda: [m.b.relu(y)], lambda: [convolved(m, m.b.tanh(y))])
    found = after(m, out)
    assert [op.type for op in found if op.type != "cond"] == [
        "transpose2", "conv2d", "relu", "transpose2", "tanh", "conv2d", "transpose2",
    ]  # fmt: skip
    check(m, out)


def test_the_state_of_a_loop_stays_as_it_is() -> None:
    m = Made()
    x, i, n = image(m), m.data("i", [], "int64"), m.data("n", [], "int64")
    f = m.data("f", [4, 4, 3, 3])
    (_, out), _ = m.loop(
        lambda i, _: m.b.less_than(i, n),
        lambda i, h: [m.b.add(i, m.b.constant(1, "int64")), m.b.tanh(m.b.conv2d(h, f, paddings=[1, 1], **LAST))],
        [i, x],
    )
    assert types(m, out).count("transpose2") == 2  # both in the body
    given = {**feeds(m), "i": np.array(0), "n": np.array(3)}
    m.compare([out], given)


def test_what_is_computed_again_is_transposed_again() -> None:
    """Else the first part would leave the transpose for the second, which is there to leave nothing."""
    m = Made()
    x = image(m)
    outs = []
    for _ in range(2):
        with computed_again(m.program.global_block()):
            outs.append(m.b.relu(convolved(m, x)))
    assert types(m, *outs).count("transpose2") == 4


def test_fetches_keep_their_names() -> None:
    m = Made()
    y = convolved(m, image(m))
    z = m.b.relu(y)
    check(m, y, z)


def test_the_gradient_of_a_chain() -> None:
    m = Made()
    x = image(m)
    x.stop_gradient = False
    f, bias = m.data("f", [4, 4, 3, 3]), m.data("bias", [4])
    for v in (f, bias):
        v.stop_gradient = False
    y = m.b.op("pool2d", X=m.b.relu(m.b.add(m.b.conv2d(x, f, **LAST), bias)), ksize=[2, 2], strides=[2, 2], **LAST)
    found = append_backward(m.program, [y], [x, f, bias], [m.data("dy", list(y.shape))])
    grads = [v for v in found if v is not None]
    assert len(grads) == 3
    # x, dy, and the gradient of x
    assert types(m, *grads).count("transpose2") == 3
    check(m, *grads)


def test_the_gradient_of_a_residual_mean() -> None:
    """What sums up gradients, and spreads that of a mean, follows."""
    m = Made()
    x, f = m.data("x", [2, 6, 6, 4]), m.data("f", [4, 4, 3, 3])
    f.stop_gradient = False
    y = m.b.conv2d(x, f, paddings=[1, 1], **LAST)
    y = m.b.add(m.b.relu(m.b.conv2d(y, f, paddings=[1, 1], **LAST)), y)
    mean = m.b.op("reduce_mean", X=y, dim=[1, 2])
    (grad,) = append_backward(m.program, [mean], [f], [m.data("dy", [2, 4])])
    assert grad is not None
    found = after(m, grad)
    assert "sum" in (op.type for op in found)
    assert [op.type for op in found].count("transpose2") == 2  # of x, and of the mean's gradient, which has one pixel
    check(m, grad)


def test_gradients_that_are_absent() -> None:
    m = Made()
    x, f = m.data("x", [2, 6, 6, 4]), m.data("f", [4, 4, 3, 3])
    f.stop_gradient = False
    y = m.b.conv2d(x, f, paddings=[1, 1], **LAST)
    outs = [m.b.relu(y), m.b.conv2d(y, f, **LAST)]
    seeds = [m.data(f"dy{i}", list(out.shape)) for i, out in enumerate(outs)]
    (grad,) = append_backward(m.program, outs, [f], seeds)
    assert grad is not None
    names = [v.name for v in seeds]
    given = feeds(m)
    for absent in names:
        exe = Executable(clone_program(m.program), m.feeds, [grad.name], absent_feeds=names)
        (got,) = exe.run([ABSENT if name == absent else given[name] for name in m.feeds])
        zeros = {**given, absent: np.zeros_like(given[absent])}
        np.testing.assert_allclose(got, reference.run_program(clone_program(m.program), zeros, {})[grad.name], rtol=1e-4)


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_random_chains(data: st.DataObject) -> None:
    m = Made()
    values = [image(m, "x"), image(m, "y")]
    for _ in range(data.draw(st.integers(1, 8))):
        x, y = (data.draw(st.sampled_from(values)) for _ in range(2))
        step = data.draw(st.sampled_from(STEPS))
        values.append(step(m, x, y))
    outs = [v for v in values[2:] if data.draw(st.booleans())] or values[-1:]
    given, names = feeds(m), [v.name for v in outs]
    before = reference.run_program(clone_program(m.program), given, {})
    program = clone_program(m.program)
    layout(program, frozenset(names))
    verify(program)
    env = reference.run_program(program, given, {})
    for name in names:
        np.testing.assert_allclose(env[name], before[name], rtol=1e-4, atol=1e-5)
    env = reference.run_program(after_program(m, names), given, {})
    for name in names:
        np.testing.assert_allclose(env[name], before[name], rtol=1e-4, atol=1e-5)


STEPS: list[Callable[[Made, Variable, Variable], Variable]] = [
    lambda m, x, y: convolved(m, x),
    lambda m, x, y: norm(m, x, is_test=True),
    lambda m, x, y: m.b.op("pool2d", X=x, ksize=[3, 3], paddings=[1, 1], pooling_type="avg", **LAST),
    lambda m, x, y: m.b.add(x, y),
    lambda m, x, y: m.b.op("sum", X=[x, y, x]),
    lambda m, x, y: m.b.op("expand_as_v2", X=m.b.op("reduce_sum", X=x, dim=[1, 2], keep_dim=True), Y=y),
    lambda m, x, y: m.b.add(x, m.b.op("fill_any_like", X=y, value=0.5)),
    lambda m, x, y: m.b.op("elementwise_mul", X=x, Y=m.data(f"v{len(m.feeds)}", [4]), axis=3),
    lambda m, x, y: m.b.tanh(x),
    lambda m, x, y: m.b.mul(x, m.b.op("reduce_mean", X=y, dim=[1, 2], keep_dim=True)),
    lambda m, x, y: m.b.add(x, m.b.op("reduce_max", X=y, dim=[0, 1, 2])),
    lambda m, x, y: m.b.op("transpose2", X=m.b.op("transpose2", X=x, axis=[0, 3, 1, 2]), axis=[0, 2, 3, 1]),
    lambda m, x, y: m.b.op("slice", Input=m.b.op("concat", X=[x, y], axis=3), axes=[3], starts=[2], ends=[6]),
]
