"""epilogue: what becomes a part of a convolution, what does not, and that the native kernels agree with NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dy2st_runtime.backward import append_backward
from dy2st_runtime.errors import GradientError, ShapeError
from dy2st_runtime.executor import planning
from dy2st_runtime.executor.executable import Executable
from dy2st_runtime.ir import Operator, Variable, clone_program, verify
from dy2st_runtime.lowering.lower import lower
from dy2st_runtime.passes.epilogue import epilogue
from dy2st_runtime.passes.fuse import fuse
from dy2st_runtime.passes.split_norm import split_norm

from dividing import alike_for_threads  # isort: skip
from hand_built import Made  # isort: skip

rng = np.random.default_rng(3)


def groups(m: Made, *keep: Variable) -> list[list[str]]:
    """The types of the ops of each fused convolution, after the passes that end in it."""
    verify(m.program)
    after, names = clone_program(m.program), frozenset(v.name for v in keep)
    for one in (split_norm, fuse, epilogue):
        one(after, names)
        verify(after)
    found: list[Operator] = [op for block in after.blocks for op in block.ops if op.type == "fused_conv2d"]
    return [[inner.type for inner in op.attrs["sub_block"].ops] for op in found]


def convolved(m: Made, size: int = 1, *, channels: int = 4, **attrs: Any) -> tuple[Variable, Variable]:
    x = m.data("x", [-1, channels, 6, 6])
    return x, m.b.conv2d(x, m.data("f", [channels, channels, size, size]), **attrs)


def norm(m: Made, x: Variable, name: str = "", **attrs: Any) -> Variable:
    last = attrs.get("data_layout") == "NHWC"
    parameters = [m.data(name + part, [x.shape[-1 if last else 1]], x.dtype) for part in ("scale", "bias", "mean", "variance")]
    return m.b.batch_norm(x, *parameters, **{"is_test": True, **attrs})[0]


def run(m: Made, *outs: Variable, batch: int = 2) -> list[Any]:
    """Natively and by NumPy, with every open size `batch`."""
    block = m.program.global_block()
    feeds = {name: rng.random([batch if d == -1 else d for d in block.var(name).shape]).astype(block.var(name).dtype) for name in m.feeds}
    return m.compare(outs, feeds)


def test_normalization_residual_and_activation_become_a_part() -> None:
    m = Made()
    x, y = convolved(m)
    out = m.b.relu(m.b.add(norm(m, y), x))
    assert groups(m, out) == [["conv2d", "elementwise_sub", "elementwise_mul", "elementwise_add", "elementwise_add", "relu"]]
    run(m, out)


def test_one_op_alone() -> None:
    m = Made()
    _, y = convolved(m)
    out = m.b.op("elementwise_add", X=y, Y=m.data("b", [4]), axis=1)
    assert groups(m, out) == [["conv2d", "elementwise_add"]]
    run(m, out)


def test_of_two_convolutions_the_later_takes_the_sum() -> None:
    m = Made()
    x, y = convolved(m)
    out = m.b.relu(m.b.add(norm(m, y, "a"), norm(m, m.b.conv2d(x, m.data("g", [4, 4, 1, 1])), "b")))
    assert [len(ops) for ops in groups(m, out)] == [9]
    run(m, out)


def test_several_results_and_other_dtypes() -> None:
    m = Made()
    _, y = convolved(m)
    half = m.b.scaled(y, 0.5)
    outs = [m.b.relu(half), m.b.op("greater_than", X=half, Y=m.b.constant(2.0, "float32")), half]
    assert [len(ops) for ops in groups(m, *outs)] == [4]
    run(m, *outs)


def test_no_result_of_the_dtype_of_the_convolution() -> None:
    m = Made()
    _, y = convolved(m)
    out = m.b.op("greater_than", X=y, Y=m.b.constant(2.0, "float32"))
    assert groups(m, out) == [["conv2d", "greater_than"]]
    run(m, out)


def test_a_value_that_is_read_twice_or_kept_stays() -> None:
    m = Made()
    _, y = convolved(m)
    out = m.b.relu(y)
    assert groups(m, out, y) == []
    total = m.b.op("reduce_sum", X=y)
    assert groups(m, out, total) == []
    run(m, out, total)


def test_statistics_of_the_batch_are_no_part() -> None:
    m = Made()
    _, y = convolved(m)
    out = m.b.relu(norm(m, y, is_test=False))
    assert groups(m, out) == []


@pytest.mark.parametrize("shape", [[6], [6, 1], [4, 1, 6], [-1, 1, 1, 1], [-1, 4, 6, 6]])
def test_operands_of_other_shapes_stay_outside(shape: list[int]) -> None:
    """Along rows, columns or the batch; or of a batch that might be another."""
    m = Made()
    _, y = convolved(m)
    out = m.b.add(y, m.data("other", shape))
    assert groups(m, out) == []
    run(m, out)


@pytest.mark.parametrize("shape", [[], [1], [4, 1, 1], [1, 4, 1, 1], [1, 1, 1, 1]])
def test_operands_with_one_element_or_one_for_each_channel(shape: list[int]) -> None:
    m = Made()
    _, y = convolved(m)
    out = m.b.add(y, m.data("other", shape))
    assert groups(m, out) == [["conv2d", "elementwise_add"]]
    run(m, out)


def test_an_operand_that_meets_the_axes_in_two_ways_is_in_no_group() -> None:
    """With as many channels as columns: per channel here, per column there."""
    m = Made()
    x = m.data("x", [2, 6, 6, 6])
    y = m.b.conv2d(x, m.data("f", [6, 6, 1, 1]))
    b = m.data("b", [6])
    out = m.b.add(m.b.op("elementwise_add", X=y, Y=b, axis=1), b)
    assert groups(m, out) == [["conv2d", "elementwise_add"]]
    run(m, out)


def test_nothing_moves_across_what_can_fail() -> None:
    m = Made()
    _, y = convolved(m)
    m.b.op("assert", Cond=m.data("c", [], "bool"))
    out = m.b.relu(y)
    assert groups(m, out) == []


def test_a_value_of_an_outer_block_is_left_to_it() -> None:
    m = Made()
    _, y = convolved(m)
    (out,) = m.cond(m.data("c", [], "bool"), lambda: [m.b.relu(y)], lambda: [m.b.scaled(y, 2.0)])
    assert groups(m, out) == []


def test_in_a_branch() -> None:
    m = Made()
    x, f = m.data("x", [2, 4, 6, 6]), m.data("f", [4, 4, 1, 1])
    (out,) = m.cond(m.data("c", [], "bool"), lambda: [m.b.relu(m.b.conv2d(x, f))], lambda: [m.b.scaled(x, 2.0)])
    assert groups(m, out) == [["conv2d", "relu"]]
    for c in (True, False):
        values = {"x": rng.random((2, 4, 6, 6)).astype("f"), "f": rng.random((4, 4, 1, 1)).astype("f") - 0.5, "c": np.array(c)}
        m.compare([out], values)


def test_an_input_that_may_be_absent() -> None:
    m = Made()
    _, y = convolved(m)
    out = m.b.add(y, m.data("b", [4, 1, 1]))
    m.program.absent_feeds.add("b")
    assert groups(m, out) == []


def test_the_passes_run_again_change_nothing() -> None:
    m = Made()
    x, y = convolved(m)
    out = m.b.relu(m.b.add(norm(m, y), x))
    keep = frozenset([out.name])
    for one in (split_norm, fuse, epilogue):
        assert one(m.program, keep)
    for one in (split_norm, fuse, epilogue):
        assert not one(m.program, keep)
    run(m, out)


def test_gradients_come_before_the_passes() -> None:
    m = Made()
    _, y = convolved(m)
    loss = m.b.op("reduce_sum", X=m.b.relu(y))
    epilogue(m.program, frozenset([loss.name]))
    with pytest.raises(GradientError, match="before the passes run"):
        append_backward(m.program, [loss], [m.program.global_block().var("f")])


KINDS: list[tuple[dict[str, Any], tuple[int, ...], tuple[int, ...]]] = [
    ({}, (2, 20, 9, 11), (37, 20, 1, 1)),
    ({}, (1, 300, 7, 7), (50, 300, 1, 1)),  # several passes over the reduction, one pixel behind the vectors
    ({}, (3, 70, 1, 1), (12, 70, 1, 1)),
    ({}, (2, 16, 40, 40), (300, 16, 1, 1)),  # spans of several panels, several blocks of rows
    ({"paddings": [1, 1]}, (2, 3, 19, 23), (40, 3, 3, 3)),
    ({"paddings": [1, 1]}, (3, 40, 7, 7), (24, 40, 3, 3)),  # packed columns
    ({"strides": [2, 2], "paddings": [3, 3]}, (2, 3, 33, 30), (17, 3, 7, 7)),
    ({"strides": [1, 2], "paddings": [2, 0, 1, 3], "dilations": [2, 1]}, (2, 4, 12, 9), (6, 4, 2, 3)),
    ({"groups": 3, "paddings": [1, 0]}, (2, 6, 8, 9), (9, 2, 3, 2)),
    ({"groups": 6, "paddings": [1, 1]}, (2, 6, 9, 18), (6, 1, 3, 3)),  # straight from the image
    ({"groups": 4, "paddings": [2, 2], "strides": [2, 2]}, (1, 4, 30, 31), (8, 1, 5, 5)),
    ({"groups": 10, "paddings": [1, 1], "dilations": [2, 2]}, (2, 10, 9, 11), (20, 1, 3, 3)),  # by frames
    ({"data_format": "NHWC"}, (2, 6, 7, 5), (9, 5, 1, 1)),
    ({"data_format": "NHWC", "groups": 5, "padding_algorithm": "SAME"}, (2, 6, 7, 5), (5, 1, 3, 3)),
]


def chain(
    attrs: dict[str, Any], image: tuple[int, ...], weights: tuple[int, ...], dtype: str, open_dims: bool
) -> tuple[Made, Variable, dict[str, np.ndarray]]:
    """A convolution, normalization, a residual that has its shape by construction, and hard_swish."""
    m = Made()
    x = m.data("x", [-1, image[1], -1, -1] if open_dims else image, dtype)
    f = m.data("f", weights, dtype)
    other = m.b.conv2d(x, m.data("g", weights, dtype), **attrs)
    y = m.b.conv2d(x, f, **attrs)
    out = m.b.hard_swish(m.b.add(norm(m, y, data_layout=attrs.get("data_format", "NCHW")), m.b.tanh(other)))
    values = {"x": rng.standard_normal(image).astype(dtype),
              **{name: rng.standard_normal(weights).astype(dtype) / np.prod(weights[1:]) for name in ("f", "g")},
              **{name: rng.random(weights[0]).astype(dtype) for name in ("scale", "bias", "mean", "variance")}}  # fmt: skip
    return m, out, {name: np.asarray(v, dtype) for name, v in values.items()}


@pytest.mark.parametrize("kind", range(len(KINDS)))
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_windows_groups_and_layouts(kind: int, dtype: str) -> None:
    attrs, image, weights = KINDS[kind]
    m, out, values = chain(attrs, image, weights, dtype, False)
    assert [len(ops) for ops in groups(m, out)] == [7]
    m.compare([out], values)


@pytest.mark.parametrize("kind", range(8))
def test_open_dims(kind: int) -> None:
    attrs, image, weights = KINDS[kind]
    m, out, values = chain(attrs, image, weights, "float32", True)
    assert groups(m, out)
    exe = Executable(clone_program(m.program), m.feeds, [out.name])
    m.compare([out], values, exe)
    values["x"] = rng.standard_normal((image[0] + 1, image[1], image[2] + 9, image[3] + 3)).astype("f")
    m.compare([out], values, exe)
    values["x"] = values["x"][:0]
    m.compare([out], values, exe)


@pytest.mark.parametrize("kind", [0, 1, 3, 4, 6, 8, 9, 11])
def test_threads_share_the_work(kind: int) -> None:
    attrs, image, weights = KINDS[kind]
    m, out, values = chain(attrs, image, weights, "float32", False)
    exe = Executable(clone_program(m.program), m.feeds, [out.name])
    alike_for_threads(lambda: m.compare([out], values, exe)[0])


@pytest.mark.parametrize(("attrs", "weights"), [({}, (4, 3, 1, 1)), ({"groups": 3, "paddings": [1, 1]}, (3, 1, 3, 3))])
def test_what_does_not_fit_is_the_error_of_the_convolution(attrs: dict[str, Any], weights: tuple[int, ...]) -> None:
    m = Made()
    x, f = m.data("x", [-1, -1, -1, -1]), m.data("f", weights)
    out = m.b.relu(m.b.conv2d(x, f, **attrs))
    assert len(groups(m, out)) == 1
    exe = Executable(clone_program(m.program), m.feeds, [out.name])
    values = {"x": rng.random((1, 5, 6, 6)).astype("f"), "f": rng.random(weights).astype("f")}
    with pytest.raises(ShapeError, match="conv2d: the channels of the image are not those of the filter"):
        exe.run([values[name] for name in m.feeds])


def test_targets_without_routines_finish_in_a_kernel_of_their_own(monkeypatch: Any) -> None:
    monkeypatch.setattr(planning, "lower", lambda *args, **options: lower(*args, **{**options, "routines": False}))
    attrs, image, weights = KINDS[4]
    m, out, values = chain(attrs, image, weights, "float32", False)
    exe = Executable(clone_program(m.program), m.feeds, [out.name])
    assert not any("call_conv" in source for source in exe.sources)
    m.compare([out], values, exe)


def test_float16() -> None:
    m = Made()
    x = m.data("x", [2, 4, 6, 6], "float16")
    y = m.b.relu(m.b.conv2d(x, m.data("f", [5, 4, 3, 3], "float16")))
    assert groups(m, y) == [["conv2d", "relu"]]
    values = {"x": rng.standard_normal((2, 4, 6, 6)).astype("float16"), "f": rng.standard_normal((5, 4, 3, 3)).astype("float16")}
    m.compare([y], values)
