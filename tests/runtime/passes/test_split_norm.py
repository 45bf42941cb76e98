"""split_norm: which normalizations become elementwise ops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dy2st_runtime import reference
from dy2st_runtime.executor.executable import Executable
from dy2st_runtime.ir import Operator, clone_program, verify
from dy2st_runtime.ops.batch_norm import BatchNorm
from dy2st_runtime.passes.pipeline import optimize
from dy2st_runtime.passes.split_norm import split_norm

from hand_built import Made  # isort: skip


def normalized(**attrs: Any) -> tuple[Made, tuple]:
    m = Made()
    x = m.data("x", [-1, 3, 4, 5])
    return m, m.b.batch_norm(x, *(m.data(name, [3]) for name in ("scale", "bias", "mean", "variance")), **attrs)


def feeds() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    found = {name: rng.random(3).astype("f") + 0.5 for name in ("scale", "bias", "mean", "variance")}
    return {"x": rng.standard_normal((2, 3, 4, 5)).astype("f"), **found}


def left(m: Made, *keep: str) -> list[Operator]:
    """The normalizations after the pass."""
    split_norm(m.program, frozenset(keep))
    verify(m.program)
    return [op for op in m.program.global_block().ops if op.type == "batch_norm"]


@pytest.mark.parametrize("attrs", [{"is_test": True}, {"use_global_stats": True, "epsilon": 0.1}])
def test_the_value_stays_to_the_last_bit(attrs: dict[str, Any]) -> None:
    m, (y, *_) = normalized(**attrs)
    before = reference.run_program(clone_program(m.program), feeds(), {})[y.name]
    assert left(m, y.name) == []
    np.testing.assert_array_equal(reference.run_program(m.program, feeds(), {})[y.name], before)
    m.compare([y], feeds())


def test_channels_last() -> None:
    m = Made()
    x = m.data("x", [2, 4, 5, 3])
    y, *_ = m.b.batch_norm(
        x, *(m.data(name, [3]) for name in ("scale", "bias", "mean", "variance")), is_test=True, data_layout="NHWC"
    )
    assert left(m, y.name) == []
    m.compare([y], {**feeds(), "x": np.random.default_rng(1).standard_normal((2, 4, 5, 3)).astype("f")})


@pytest.mark.parametrize("attrs", [{}, {"is_test": True, "trainable_statistics": True}])
def test_statistics_of_the_batch_are_an_op_of_their_own(attrs: dict[str, Any]) -> None:
    m, outs = normalized(**attrs)
    names = [v.name for v in outs]
    before = reference.run_program(clone_program(m.program), feeds(), {})
    assert left(m, *names) == []
    assert m.program.global_block().ops[0].type == "batch_norm_statistics"
    after = reference.run_program(m.program, feeds(), {})
    for name in names:
        np.testing.assert_allclose(after[name], before[name], rtol=1e-6)
    m.compare(list(outs), feeds())


def test_statistics_alone() -> None:
    m, outs = normalized()
    assert left(m, outs[3].name) == []
    assert [op.type for op in m.program.global_block().ops] == ["batch_norm_statistics"]
    m.compare([outs[3]], feeds())


def test_activation_and_residual_sum_behind_statistics_of_the_batch_are_one_kernel() -> None:
    m, (y, *_) = normalized()
    out = m.b.relu(m.b.add(y, m.program.global_block().var("x")))
    program, _, _ = optimize(clone_program(m.program), m.feeds, [out.name])
    assert [op.type for op in program.global_block().ops] == ["batch_norm_statistics", "elementwise_mul", "fused_elementwise"]
    m.compare([out], feeds())


@pytest.mark.parametrize("shape", [[-1, 3], [-1, 3, 7], [-1, 3, 1, 1], [2, 3, 0, 4], [0, 3, 2, 2]])
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_statistics_of_planes_are_brought_together(shape: list[int], offset: float) -> None:
    m = Made()
    x = m.data("x", shape)
    outs = m.b.batch_norm(x, *(m.data(name, [3]) for name in ("scale", "bias", "mean", "variance")))
    assert left(m, *(v.name for v in outs)) == []
    rng = np.random.default_rng(0)
    value = (rng.standard_normal([5 if d == -1 else d for d in shape]) + offset).astype("f")
    exe = Executable(m.program, m.feeds, [v.name for v in outs[3:]])
    mean, inverse = exe.run([value, *(np.ones(3, "f") for _ in range(4))])
    if value.size == 0:
        np.testing.assert_array_equal(mean, np.full(3, np.nan))
        return
    exact = value.astype("float64")
    axes = tuple(a for a in range(len(shape)) if a != 1)
    np.testing.assert_allclose(mean, exact.mean(axes), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(inverse, 1 / np.sqrt(exact.var(axes) + 1e-5), rtol=1e-3 if offset else 1e-5)


def test_one_whose_sizes_may_not_fit_stays() -> None:
    m = Made()
    x = m.data("x", [-1, -1, 4])
    y, *_ = m.b.batch_norm(x, *(m.data(name, [3]) for name in ("scale", "bias", "mean", "variance")))
    assert len(left(m, y.name)) == 1


@pytest.mark.parametrize("other", range(1, 5))
def test_an_op_of_which_more_is_used_stays(other: int) -> None:
    m, outs = normalized(is_test=True)
    assert len(left(m, outs[0].name, outs[other].name)) == 1
    m, outs = normalized(is_test=True)
    z = m.b.relu(outs[other])
    assert len(left(m, outs[0].name, z.name)) == 1


def test_float16_stays() -> None:
    m = Made()
    x = m.data("x", [2, 3], "float16")
    y, *_ = m.b.batch_norm(x, *(m.data(name, [3]) for name in ("scale", "bias", "mean", "variance")), is_test=True)
    assert len(left(m, y.name)) == 1


def test_statistics_that_a_program_puts_back_are_not_written() -> None:
    """Paddle's programs name Mean for MeanOut, in evaluation too."""
    m = Made()
    x = m.data("x", [2, 3])
    block = m.program.global_block()
    parameters = [block.create_var(name, "float32", [3], persistable=True) for name in ("scale", "bias", "mean", "variance")]
    same_names = {"MeanOut": ["mean"], "VarianceOut": ["variance"]}
    y = m.b.apply(BatchNorm, (x, *parameters), BatchNorm.complete_attrs({"is_test": True}), same_names)[0]
    program, updates, _ = optimize(m.program, ["x"], [y.name])
    assert updates == {}
    assert "batch_norm" not in [op.type for op in program.global_block().ops]
