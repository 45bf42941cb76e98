"""attention: what becomes one op with a softmax, what does not, and that the native kernels agree with NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np
import pytest
from dy2st_runtime import reference
from dy2st_runtime.backward import append_backward
from dy2st_runtime.executor.executable import Executable
from dy2st_runtime.ir import Operator, Variable, clone_program, verify
from dy2st_runtime.lowering import attention as kernels
from dy2st_runtime.lowering.lower import lower
from dy2st_runtime.passes import attention as passes
from dy2st_runtime.passes.attention import attention
from dy2st_runtime.passes.pipeline import optimize

from dividing import alike_for_threads  # isort: skip
from hand_built import Made, same  # isort: skip

rng = np.random.default_rng(3)
FIRST = rng.bit_generator.state


@pytest.fixture(autouse=True)
def _the_same_numbers_in_any_order_of_tests() -> None:
    rng.bit_generator.state = FIRST


@pytest.fixture
def large() -> Iterator[None]:
    """All scores count as many."""
    with mock.patch.object(passes, "LARGE", 0):
        yield


@pytest.fixture
def small_blocks() -> Iterator[None]:
    """A matrix has many blocks of rows, and a strand many tasks."""
    with mock.patch.multiple(kernels, ELEMENTS=1, FEWEST_ROWS=3, SHARED_ROWS=2, TASKS=8, STRANDS=3, PARTS=4):
        yield


def groups(m: Made, *keep: Variable) -> list[list[str]]:
    """The types of the ops of each `fused_attention`."""
    verify(m.program)
    after = clone_program(m.program)
    attention(after, frozenset(v.name for v in keep))
    verify(after)
    found: list[Operator] = [op for block in after.blocks for op in block.ops if op.type == "fused_attention"]
    return [[inner.type for inner in op.attrs["sub_block"].ops] for op in found]


def fed(m: Made, size: int = 5) -> dict[str, np.ndarray]:
    block = m.program.global_block()
    return {name: (rng.random([size if d == -1 else d for d in block.var(name).shape]) * 2 - 1).astype(block.var(name).dtype)
            for name in m.feeds}  # fmt: skip


def run(m: Made, *outs: Variable, size: int = 5) -> list[Any]:
    """Natively and by NumPy, with every open size `size`."""
    return m.compare(outs, fed(m, size))


class Heads(Made):
    """Queries, keys and values [2, 3, M, 4], [2, 3, N, 4] and [2, 3, N, 6], and what is made of them."""

    def __init__(self, rows: int = 7, columns: int = 9, dtype: str = "float32", batch: tuple[int, ...] = (2, 3)) -> None:
        super().__init__()
        self.q = self.data("q", [*batch, rows, 4], dtype)
        self.k = self.data("k", [*batch, columns, 4], dtype)
        self.v = self.data("v", [*batch, columns, 6], dtype)

    def scores(self) -> Variable:
        return self.b.matmul_v2(self.q, self.k, trans_y=True)

    def attended(self, scores: Variable) -> Variable:
        return self.b.matmul_v2(self.b.softmax(scores, axis=-1), self.v)

    def gradients(self, out: Variable) -> list[Variable]:
        """Of the sum of squares, in queries, keys and values."""
        return [v for v in append_backward(self.program, [self.b.mul(out, out)], [self.q, self.k, self.v]) if v is not None]


FORWARD = ["matmul_v2", "softmax", "matmul_v2"]
BACKWARD = ["matmul_v2", "softmax", "matmul_v2", "matmul_v2", "softmax_grad", "matmul_v2", "matmul_v2"]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("rows", "columns"), [(7, 9), (1, 1), (1, 5), (5, 1), (0, 3), (3, 0), (70, 300), (-1, -1)])
def test_a_product_a_softmax_and_a_product(rows: int, columns: int, dtype: str) -> None:
    m = Heads(rows, columns, dtype)
    out = m.attended(m.scores())
    assert groups(m, out) == [FORWARD]
    for size in (5, 1, 0) if rows == -1 else (5,):
        run(m, out, size=size)


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize(("rows", "columns"), [(7, 9), (1, 1), (1, 5), (5, 1), (0, 3), (3, 0), (70, 300)])
def test_with_its_gradient(rows: int, columns: int) -> None:
    m = Heads(rows, columns)
    out = m.attended(m.b.scaled(m.scores(), 0.5))
    found = m.gradients(out)
    forward, backward = [[*ops[:1], "scale", *ops[1:]] for ops in (FORWARD, BACKWARD)]
    assert groups(m, out, *found) == [forward, [*backward[:6], "scale", *backward[6:]]]
    run(m, out, *found)


@pytest.mark.usefixtures("large", "small_blocks")
@pytest.mark.parametrize("batch", [(), (1,), (2, 3), (5,)])
def test_blocks_and_parts(batch: tuple[int, ...]) -> None:
    m = Heads(23, 17, batch=batch)
    out = m.attended(m.b.add(m.scores(), m.data("mask", [23, 17])))
    found = m.gradients(out)
    assert len(groups(m, out, *found)) == 2
    exe, feeds = Executable(clone_program(m.program), m.feeds, [v.name for v in (out, *found)]), fed(m)
    m.compare([out, *found], feeds, exe)
    for i in range(4):
        alike_for_threads(lambda i=i: exe.run([feeds[name] for name in m.feeds])[i])  # type: ignore[misc]


@pytest.mark.parametrize(("rows", "columns"), [(0, 3), (3, 0), (0, 0)])
def test_nothing_is_shared_by_threads(rows: int, columns: int) -> None:
    m = Heads(rows, columns)
    out = m.attended(m.scores())
    exe, feeds = Executable(clone_program(m.program), m.feeds, [out.name]), fed(m)
    m.compare([out], feeds, exe)
    alike_for_threads(lambda: exe.run([feeds[name] for name in m.feeds])[0])


@pytest.mark.usefixtures("large")
def test_the_gradient_is_that_of_finite_differences() -> None:
    m = Heads(5, 6, "float64")
    out = m.attended(m.b.op("tanh", X=m.b.scaled(m.scores(), 0.3)))
    total = m.b.op("reduce_sum", X=m.b.mul(out, out), reduce_all=True)
    found = m.gradients(out)
    assert len(groups(m, total, *found)) == 2
    exe, feeds = Executable(clone_program(m.program), m.feeds, [v.name for v in (total, *found)]), fed(m)
    value = lambda: exe.run([feeds[name] for name in m.feeds])  # noqa: E731
    _, *gradients = value()
    for name, gradient in zip("qkv", gradients, strict=True):
        for at in [(0, 0, 0, 0), (1, 2, 4, 3), (0, 1, 2, 1)]:
            ends = []
            for step in (1e-5, -2e-5):
                feeds[name][at] += step
                ends.append(float(np.sum(value()[0])))
            feeds[name][at] += 1e-5
            np.testing.assert_allclose((ends[0] - ends[1]) / 2e-5, gradient[at], rtol=1e-6, atol=1e-8)


def test_keys_and_values_in_other_layouts() -> None:
    m = Heads()
    turned, values = m.data("kt", [2, 3, 4, 9]), m.data("vt", [2, 3, 6, 9])
    out = m.b.matmul_v2(m.b.softmax(m.b.matmul_v2(m.q, turned), axis=3), values, trans_y=True)
    assert groups(m, out) == [FORWARD]
    run(m, out)
    m = Heads(batch=(6,))
    out = m.b.op("bmm", X=m.b.softmax(m.b.op("bmm", X=m.q, Y=m.data("kt", [6, 4, 9])), axis=-1), Y=m.v)
    assert groups(m, out) == [["bmm", "softmax", "bmm"]]
    run(m, out)


@pytest.mark.usefixtures("large")
def test_the_gradient_in_keys_in_other_layouts() -> None:
    m = Heads()
    m.k, m.v = m.data("kt", [2, 3, 4, 9]), m.data("vt", [2, 3, 6, 9])
    out = m.b.matmul_v2(m.b.softmax(m.b.matmul_v2(m.q, m.k), axis=-1), m.v, trans_y=True)
    found = m.gradients(out)
    assert groups(m, out, *found) == [FORWARD, BACKWARD]
    run(m, out, *found)


MASKS = [[], [1], [9], [7, 9], [7, 1], [1, 1, 1, 9], [2, 1, 1, 9], [2, 1, 7, 9], [2, 3, 7, 9], [1, 3, 1, 1], [-1, -1, 7, 9], [-1, 1, 1, 9]]


@pytest.mark.parametrize("open_batch", [False, True])
@pytest.mark.parametrize("mask", MASKS)
def test_masks_that_broadcast(mask: list[int], open_batch: bool) -> None:
    m = Heads(batch=(-1, -1) if open_batch else (2, 3))
    out = m.attended(m.b.add(m.scores(), m.data("mask", mask)))
    assert groups(m, out) == [["matmul_v2", "elementwise_add", *FORWARD[1:]]]
    exe = Executable(clone_program(m.program), m.feeds, [out.name])
    for mask_sizes, batch in [((2, 3), (2, 3)), ((1, 1), (2, 3)), ((2, 3), (1, 1))]:
        feeds: dict[str, np.ndarray] = {}
        for name in m.feeds:
            shape = m.program.global_block().var(name).shape
            sizes = mask_sizes if name == "mask" else batch if open_batch else (2, 3)
            feeds[name] = (rng.random([sizes[i] if d == -1 else d for i, d in enumerate(shape)]) * 4 - 2).astype("f")
        m.compare([out], feeds, exe)


def test_more_values_than_scores() -> None:
    """Batches of open sizes: the same scores for all values."""
    m = Made()
    q, k, v = (m.data(name, [-1, 5, 4]) for name in "qkv")
    out = m.b.matmul_v2(m.b.softmax(m.b.scaled(m.b.matmul_v2(q, k, trans_y=True), 2.0), axis=-1), v)
    assert groups(m, out) == [["matmul_v2", "scale", *FORWARD[1:]]]
    exe = Executable(clone_program(m.program), m.feeds, [out.name])
    for sizes in [(1, 1, 3), (3, 1, 1), (1, 3, 3), (1, 1, 1), (0, 1, 1)]:
        m.compare([out], {name: rng.random((size, 5, 4)).astype("f") for name, size in zip("qkv", sizes, strict=True)}, exe)


def test_what_is_not_finite() -> None:
    m = Heads()
    out = m.attended(m.b.add(m.scores(), m.data("mask", [7, 9])))
    feeds = fed(m)
    feeds["mask"][:3] = [[-np.inf] * 9, [np.inf, *[0] * 8], [np.nan, *[0] * 8]]
    feeds["mask"][3, 1:] = -np.inf
    feeds["v"][0, 0, 2] = np.inf
    feeds["v"][1] *= 1e38
    got = Executable(clone_program(m.program), m.feeds, [out.name]).run([feeds[name] for name in m.feeds])
    want = reference.run_program(m.program, feeds, {})[out.name]
    np.testing.assert_allclose(got[0], want, rtol=1e-5)
    assert np.isnan(want[0, 1, :3]).all()
    assert np.isfinite(want[1, :, 3:]).all()


def test_scores_that_others_read_stay() -> None:
    m = Heads()
    scores = m.scores()
    out = m.attended(scores)
    assert groups(m, out, scores) == []
    m = Heads()
    weights = m.b.softmax(m.scores(), axis=-1)
    out, other = m.b.matmul_v2(weights, m.v), m.b.abs(weights)
    assert groups(m, out, other) == []
    m = Heads()
    scores = m.scores()
    out = m.attended(m.b.mul(scores, m.b.sigmoid(scores)))
    assert groups(m, out) == []
    m = Heads()
    out = m.b.matmul_v2(m.b.softmax(m.scores(), axis=2), m.v)
    assert groups(m, out) == []
    m = Heads()
    mask = m.data("mask", [7, 9])
    out = m.attended(m.b.add(m.scores(), mask))
    found = append_backward(m.program, [out], [m.q, mask])
    assert groups(m, out, *(v for v in found if v is not None)) == []


def test_few_scores_stay_for_their_gradient() -> None:
    m = Heads()
    out = m.attended(m.scores())
    assert groups(m, out, *m.gradients(out)) == []
    m = Heads(1024, 512)
    out = m.attended(m.scores())
    assert groups(m, out, *m.gradients(out)) == [FORWARD, BACKWARD]
    m = Heads(-1, 4096)
    out = m.attended(m.scores())
    assert groups(m, out, *m.gradients(out)) == []


@pytest.mark.usefixtures("large")
def test_only_some_gradients() -> None:
    m = Heads()
    out = m.attended(m.scores())
    (found,) = append_backward(m.program, [out], [m.v])
    assert found is not None
    assert groups(m, out, found) == [FORWARD, ["matmul_v2", "softmax", "matmul_v2"]]
    run(m, out, found)


def test_nothing_moves_across_an_effect() -> None:
    m = Heads()
    scores = m.scores()
    m.b.op("assert", Cond=m.data("sure", [1], "bool"))
    out = m.attended(scores)
    assert groups(m, out) == []


def test_other_targets_run_the_ops() -> None:
    m = Heads()
    out = m.attended(m.scores())
    program, _, shapes = optimize(clone_program(m.program), m.feeds, [out.name])
    kinds = lambda routines: [step.kernel.label for step in lower(program, shapes, routines=routines).steps]  # type: ignore[attr-defined] # noqa: E731
    assert kinds(True) == ["matmul_v2+softmax+matmul_v2"]
    assert kinds(False) == FORWARD


def test_no_tensor_has_all_scores() -> None:
    m = Heads(1500, 1500, batch=(8,))
    out = m.attended(m.scores())
    exe = Executable(clone_program(m.program), m.feeds, [out.name])
    feeds = fed(m)
    got = exe.run([feeds[name] for name in m.feeds])[0]
    assert exe.take_frame().allocated < 8 * 1500 * 1500 * 4 // 4
    same(got[0, :3], reference.run_program(m.program, feeds, {})[out.name][0, :3])
