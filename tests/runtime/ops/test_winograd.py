"""Convolution by transforms (`executor.winograd`) against the NumPy reference: where it pays, and the same numbers as plain sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dividing import alike_for_threads
from dy2st_runtime import config
from dy2st_runtime.executor import conv_plans
from dy2st_runtime.executor.executable import Executable
from dy2st_runtime.loopir import conv_plan
from hand_built import Made
from op_cases import Case, build
from test_conv_routines import before_a_forbidden_page
from test_scalars import compiled as natively

rng = np.random.default_rng(7)
SAME = {"paddings": [1, 1]}
# attributes, then (batch, channels, height, width, filters)
PAYING: list[tuple[dict[str, Any], tuple[int, ...]]] = [
    (SAME, (1, 64, 28, 28, 64)),
    (SAME, (1, 30, 27, 31, 45)),  # the last tiles have one row and one column; nothing fills a vector or a register tile
    ({}, (2, 70, 23, 20, 130)),  # several blocks of filters, and channels in two parts
    ({"paddings": [3, 0, 0, 2]}, (1, 64, 30, 33, 64)),
    (SAME, (17, 48, 12, 12, 48)),  # several images are put together, and one is left
    ({"groups": 3, "paddings": [1, 1]}, (2, 72, 24, 24, 96)),
    ({"padding_algorithm": "SAME"}, (1, 48, 4, 100, 64)),
    (SAME, (1, 20, 70, 70, 260)),
    (SAME, (1, 32, 28, 28, 128)),  # blocks of as many filters as there may be, which no tiles of six rows fill
    (SAME, (1, 96, 18, 18, 64)),  # parts of which some have two tiles behind the last whole vector
    (SAME, (1, 256, 13, 13, 256)),  # one tile there, of a single pixel
    (SAME, (17, 48, 10, 10, 48)),  # two tiles there, of the second of two images
]  # fmt: skip
PLAIN: list[tuple[dict[str, Any], tuple[int, ...]]] = [
    (SAME, (1, 3, 40, 40, 24)),  # few channels
    (SAME, (1, 24, 40, 40, 1)),  # few filters
    (SAME, (1, 200, 3, 3, 200)),  # tiles that fill no vector
    (SAME, (1, 600, 2, 2, 600)),  # large filters for few pixels
    (SAME, (0, 64, 28, 28, 64)),
    ({}, (1, 1, 3, 3, 1)),
]


def operands(sizes: tuple[int, ...], attrs: dict[str, Any], dtype: str = "float32") -> dict[str, np.ndarray]:
    batch, channels, height, width, filters = sizes
    return {"Input": rng.standard_normal((batch, channels, height, width)).astype(dtype),
            "Filter": rng.standard_normal((filters, channels // attrs.get("groups", 1), 3, 3)).astype(dtype)}  # fmt: skip


def compiled(inputs: dict[str, np.ndarray], attrs: dict[str, Any]) -> Executable:
    """With open sizes of the images, as in a model."""
    built = build(Case("conv2d", inputs, attrs, known=("Filter",)), True)
    return Executable(built.program, list(built.feeds), built.outputs)


def reference(inputs: dict[str, np.ndarray], attrs: dict[str, Any]) -> np.ndarray:
    return Case("conv2d", inputs, attrs).run()[0]


def together(executable: Executable) -> int:
    """How many images a task of the last run had by transforms; 0: it was done by plain sums."""
    (frame,) = executable._frames
    plan = next(d for d, name in enumerate(executable.plan.names) if "#t1" in name)
    return int(frame.value(plan)[conv_plan.WINOGRAD])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("row", range(len(PAYING)))
def test_it_is_exact_to_a_few_roundings(row: int, dtype: str) -> None:
    """Measured against sums in float64: the results of 3x3xC products, each off by some 1e-7 of the largest."""
    attrs, sizes = PAYING[row]
    inputs = operands(sizes, attrs, dtype)
    executable = compiled(inputs, attrs)
    (got,) = executable.run(list(inputs.values()))
    assert together(executable) >= 1
    want = reference({name: v.astype(np.float64) for name, v in inputs.items()}, attrs)
    assert np.abs(got - want).max() < 12 * np.finfo(dtype).eps * np.abs(want).max()
    assert got.shape == want.shape


def test_small_images_are_put_together() -> None:
    attrs, sizes = PAYING[4]
    inputs = operands(sizes, attrs)
    executable = compiled(inputs, attrs)
    executable.run(list(inputs.values()))
    assert together(executable) > 1
    assert sizes[0] % together(executable) != 0


def test_few_tiles_behind_the_last_whole_vector_are_left_to_plain_sums() -> None:
    """Else a vector with one tile would cost as much as one with all, and 49 tiles would be cut into two spans, for each of which the
    filters are transformed."""
    run = natively(conv_plans.few_left)
    assert [run(count, 16) for count in (1, 16, 17, 49, 51, 52, 63)] == [0, 0, 1, 1, 3, 0, 0]
    assert [run(count, 8) for count in (9, 10, 17)] == [1, 0, 1]
    assert all(run(count, lanes) <= conv_plans.LEFT for count in range(200) for lanes in (2, 4, 8, 16))
    plan = np.zeros(conv_plan.HEADER + conv_plan.PHASE_WORDS + 3 * 9, np.int64)
    natively(conv_plans.plan_winograd)(plan.ctypes.data, 4, 1, 1, 256, 256, 14, 14, 14, 14, 3, 3, 1, 1, 1, 1, 1, 1, 0)
    assert plan[conv_plan.WINOGRAD] == plan[conv_plan.SPANS] == 1


@pytest.mark.parametrize("row", range(len(PLAIN)))
def test_plain_sums_where_it_does_not_pay(row: int) -> None:
    attrs, sizes = PLAIN[row]
    inputs = operands(sizes, attrs)
    executable = compiled(inputs, attrs)
    (got,) = executable.run(list(inputs.values()))
    assert together(executable) == 0
    np.testing.assert_allclose(got, reference(inputs, attrs), rtol=1e-4, atol=1e-3)


def test_one_kernel_for_both() -> None:
    executable: Executable | None = None
    for sizes, pays in [((1, 32, 30, 30, 32), True), ((1, 32, 4, 4, 32), False), ((2, 32, 17, 40, 32), True)]:
        inputs = operands(sizes, SAME)
        executable = executable or compiled(inputs, SAME)
        (got,) = executable.run(list(inputs.values()))
        assert (together(executable) > 0) == pays
        np.testing.assert_allclose(got, reference(inputs, SAME), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("row", range(len(PAYING)))
def test_no_vector_reaches_beyond_a_tensor(row: int) -> None:
    attrs, sizes = PAYING[row]
    inputs = {name: before_a_forbidden_page(v) for name, v in operands(sizes, attrs).items()}
    np.testing.assert_allclose(compiled(inputs, attrs).run(list(inputs.values()))[0], reference(inputs, attrs), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("row", [1, 4, 9, 11])
def test_what_is_not_finite_reaches_the_windows_that_hold_it_only(row: int, value: float) -> None:
    attrs, sizes = PAYING[row]
    inputs = operands(sizes, attrs)
    inputs["Input"][-1, 2, 5, 6] = value
    inputs["Input"][-1, 3, -1, -1] = value
    executable = compiled(inputs, attrs)
    (got,), want = executable.run(list(inputs.values())), reference(inputs, attrs)
    assert together(executable) >= 1
    np.testing.assert_array_equal(np.isfinite(got), np.isfinite(want))
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-3)


def test_numbers_whose_sums_are_too_large_for_the_transform() -> None:
    """The sum of two pixels exceeds float32, but no result does."""
    attrs, sizes = PAYING[0]
    inputs = operands(sizes, attrs)
    inputs["Input"][0, :, 10] = 3e38
    inputs["Input"][0, :, 12] = -3e38
    inputs["Filter"] *= 1e-5
    (got,), want = compiled(inputs, attrs).run(list(inputs.values())), reference(inputs, attrs)
    assert np.isfinite(want).all()
    np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e31)


@pytest.mark.parametrize("row", [0, 2, 4, 5, 9, 11])
def test_threads_share_the_tasks_and_give_the_same_to_the_last_bit(row: int) -> None:
    attrs, sizes = PAYING[row]
    inputs = operands(sizes, attrs)
    executable = compiled(inputs, attrs)
    alike_for_threads(lambda: executable.run(list(inputs.values()))[0])


@pytest.mark.parametrize("row", [1, 3, 4, 5, 9, 10])
def test_what_follows_is_done_to_each_part(row: int) -> None:
    """A bias, a residual sum and an activation are in its kernel, of whole images and of parts of one."""
    attrs, sizes = PAYING[row]
    inputs = operands(sizes, attrs)
    m = Made()
    x, f = m.data("x", [-1, *inputs["Input"].shape[1:]]), m.data("f", inputs["Filter"].shape)
    y = m.b.conv2d(x, f, **attrs)
    out = m.b.relu(m.b.add(m.b.op("elementwise_add", X=y, Y=m.data("b", [sizes[4]]), axis=1), m.data("r", [-1, *y.shape[1:]])))
    want = reference(inputs, attrs)
    bias, more = rng.standard_normal(sizes[4]).astype("f"), rng.standard_normal(want.shape).astype("f")
    executable = Executable(m.program, m.feeds, [out.name])
    (got,) = executable.run([inputs["Input"], inputs["Filter"], bias, more])
    assert together(executable) >= 1
    assert [op.type for block in executable.program.blocks for op in block.ops][:1] == ["fused_conv2d"]
    np.testing.assert_allclose(got, np.maximum(want + bias[:, None, None] + more, 0), rtol=1e-4, atol=1e-3)


def test_the_switch() -> None:
    attrs, sizes = PAYING[0]
    inputs = operands(sizes, attrs)
    with config.WINOGRAD.override(False):
        executable = compiled(inputs, attrs)
    (got,) = executable.run(list(inputs.values()))
    assert not any("winograd" in source for source in executable.sources)
    np.testing.assert_allclose(got, reference(inputs, attrs), rtol=1e-4, atol=1e-3)


def test_gradients_are_those_of_the_sums() -> None:
    """The backward of a convolution asks for nothing of how it was computed."""
    attrs, sizes = PAYING[0]
    inputs = operands(sizes, attrs)
    dy = rng.standard_normal(reference(inputs, attrs).shape).astype("f")
    grads = {"Filter": inputs["Filter"], "Output@GRAD": dy, "Input": inputs["Input"]}
    built = build(Case("conv2d_grad_input", grads, attrs, known=("Filter",)), True)
    (got,) = Executable(built.program, list(built.feeds), built.outputs).run(list(grads.values()))
    np.testing.assert_allclose(got, Case("conv2d_grad_input", grads, attrs).run()[0], rtol=1e-4, atol=1e-3)
