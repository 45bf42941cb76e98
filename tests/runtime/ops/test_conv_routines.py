"""Convolution by register tiles against the NumPy reference, over sizes that meet each way in which the routines cut their work."""

from __future__ import annotations

import ctypes
import gc
import mmap
from typing import Any

import numpy as np
import op_cases
import pytest
from dividing import alike_for_threads
from dy2st_runtime import threads
from dy2st_runtime.codegen import layout
from dy2st_runtime.executor import conv_direct, planning, scalars, tiles
from dy2st_runtime.executor import executable as executables
from dy2st_runtime.executor.compile import KernelCompiler
from dy2st_runtime.executor.executable import Executable
from dy2st_runtime.loopir import conv_plan
from dy2st_runtime.lowering.lower import lower
from llvmlite import ir
from op_cases import Case
from test_scalars import compiled as natively

# attributes, then (batch, channels, height, width, filters, kernel height, kernel width)
GRIDS: dict[str, tuple[dict[str, Any], list[tuple[int, ...]]]] = {
    "same": (
        {"paddings": [1, 1]},
        [
            (2, 3, 9, 11, 5, 3, 3),  # neither channels nor pixels fill a vector
            (1, 64, 14, 14, 65, 3, 3),  # several passes over the reduction, one row beyond the tiles
            (3, 40, 7, 7, 24, 3, 3),  # rows so short that the columns are packed, with a pixel left
            (1, 2, 7, 7, 300, 3, 3),  # more rows than a task holds
            (2, 70, 5, 60, 1, 3, 3),
            (2, 90, 13, 2, 24, 3, 3),  # a vector of pixels from more rows than are put together at once
            (1, 130, 9, 8, 20, 3, 3),  # packed in several passes
            (1, 3, 9, 43, 512, 3, 3),  # blocks of as many rows as there may be, which no tiles of six rows fill
            (0, 4, 5, 5, 6, 3, 3),
            (1, 1, 1, 1, 1, 3, 3),
        ],
    ),
    "around": (
        {"paddings": [3, 0, 1, 6], "dilations": [2, 3]},
        [(2, 40, 9, 7, 30, 3, 3), (1, 20, 4, 20, 17, 2, 4), (1, 64, 40, 5, 70, 3, 1)],
    ),
    "plain": (
        {},
        [
            (2, 5, 12, 12, 7, 5, 5),  # the image is its own frame; its gradient is spread
            (1, 37, 6, 5, 20, 1, 1),
            (2, 70, 3, 7, 9, 1, 1),  # the last pixels are summed one by one
            (1, 300, 7, 7, 11, 1, 1),
            (2, 130, 1, 1, 20, 1, 1),
            (2, 16, 40, 40, 8, 1, 1),
            (2, 65, 130, 130, 25, 1, 1),  # images that no cache holds
            (2, 170, 7, 7, 50, 1, 1),  # panels that narrow vectors copy, with a pixel left
            (1, 1100, 6, 8, 83, 1, 1),  # in several passes over the reduction
            (1, 180, 5, 7, 45, 1, 1),  # the last panel has no whole vectors
            (1, 13, 40, 48, 31, 1, 1),  # few terms: several panels at a time
            (2, 70, 16, 32, 23, 1, 1),
            (1, 3, 12, 32, 15, 3, 1),  # likewise with several taps
            (1, 2, 20, 21, 3, 17, 17),  # more taps than a pass over the reduction
            (1, 1, 3, 3, 2, 3, 3),
        ],
    ),
    "strided": ({"strides": [2, 2], "paddings": [1, 1]}, [(2, 3, 15, 14, 20, 3, 3), (1, 33, 8, 8, 9, 1, 1), (1, 4, 30, 31, 8, 7, 7)]),
    "rows of vectors": (
        {"strides": [2, 2], "paddings": [1, 1]},
        [
            (2, 3, 20, 64, 20, 3, 3),  # two vectors in a row
            (1, 3, 22, 224, 33, 3, 3),  # seven, in three panels; eleven rows, which are shared evenly
            (2, 5, 2, 96, 300, 3, 3),  # more filters than a task holds
            (1, 1100, 4, 64, 9, 3, 3),  # several passes over the reduction
            (1, 3, 20, 32, 20, 3, 3),  # one vector: counted along the frame
            (1, 3, 20, 65, 20, 3, 3),
        ],
    ),
    "whole rows without zeros": ({}, [(2, 3, 9, 34, 20, 3, 3), (1, 4, 38, 68, 17, 5, 5), (1, 2, 7, 112, 9, 7, 1)]),
    "far": ({"strides": [3, 4], "paddings": [4, 5, 2, 3], "dilations": [2, 1]}, [(2, 3, 8, 9, 4, 2, 3), (1, 5, 13, 6, 7, 3, 1)]),
    "down": ({"strides": [2, 1], "paddings": [1, 1]}, [(1, 70, 14, 16, 9, 3, 3), (2, 3, 16, 16, 20, 1, 1), (1, 8, 9, 32, 16, 3, 3)]),
    "groups": ({"groups": 3, "paddings": [1, 0]}, [(2, 6, 8, 9, 9, 3, 2), (1, 96, 7, 7, 60, 1, 1), (2, 270, 4, 5, 9, 2, 2)]),
}
DEPTHWISE = [
    ({"groups": 6, "paddings": [1, 1]}, (2, 6, 9, 11, 6, 3, 3)),
    ({"groups": 4, "paddings": [1, 1], "strides": [2, 2]}, (1, 4, 40, 41, 8, 3, 3)),
    ({"groups": 5, "dilations": [2, 2], "strides": [3, 1]}, (2, 5, 17, 12, 5, 3, 4)),
]
# filters whose windows have a routine of their own
DIRECT = [
    (
        {"groups": 3, "paddings": [1, 1]},
        [(2, 3, 9, 11, 3, 3, 3), (1, 3, 4, 40, 3, 3, 3), (2, 3, 3, 16, 3, 3, 3), (1, 3, 1, 1, 3, 3, 3), (0, 3, 5, 5, 3, 3, 3)],
    ),
    ({"groups": 4, "paddings": [1, 1], "strides": [2, 2]}, [(1, 4, 40, 71, 8, 3, 3), (2, 4, 5, 33, 8, 3, 3), (1, 4, 2, 1, 8, 3, 3)]),
    ({"groups": 2, "paddings": [0, 3, 4, 1]}, [(2, 2, 8, 20, 6, 5, 5), (1, 2, 5, 4, 6, 5, 5)]),
    ({"groups": 5, "padding_algorithm": "SAME", "strides": [2, 2]}, [(2, 5, 17, 12, 5, 5, 5), (1, 5, 7, 7, 5, 5, 5)]),
]  # fmt: skip
rng = np.random.default_rng(5)


def random(dtype: str, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(dtype)


def operands(sizes: tuple[int, ...], attrs: dict[str, Any], dtype: str) -> dict[str, dict[str, np.ndarray]]:
    """The inputs of the convolution and of both gradients."""
    batch, channels, height, width, filters, kh, kw = sizes
    x, f = random(dtype, batch, channels, height, width), random(dtype, filters, channels // attrs.get("groups", 1), kh, kw)
    dy = random(dtype, *Case("conv2d", {"Input": x, "Filter": f}, attrs).run()[0].shape)
    return {"conv2d": {"Input": x, "Filter": f}, "conv2d_grad_input": {"Filter": f, "Output@GRAD": dy, "Input": x},
            "conv2d_grad_filter": {"Input": x, "Output@GRAD": dy, "Filter": f}}  # fmt: skip


def compiled(op: str, inputs: dict[str, np.ndarray], attrs: dict[str, Any], open_dims: bool = True) -> Executable:
    built = op_cases.build(Case(op, inputs, attrs), open_dims)
    return Executable(built.program, list(built.feeds), built.outputs)


def before_a_forbidden_page(array: np.ndarray) -> np.ndarray:
    """A copy whose last element is the last before memory that must not be touched."""
    page = mmap.PAGESIZE
    pages = -(-array.nbytes // page)
    room = mmap.mmap(-1, (pages + 1) * page)
    bytes_ = np.frombuffer(room, np.uint8)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mprotect(ctypes.c_void_p(bytes_.ctypes.data + pages * page), ctypes.c_size_t(page), 0) != 0:
        pytest.skip("no mprotect here")
    copy = bytes_[pages * page - array.nbytes : pages * page].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def same(got: np.ndarray, want: np.ndarray, terms: int) -> None:
    """Equal but for the order of a sum of so many terms."""
    tolerance = 8 * np.finfo(want.dtype).eps * max(terms, 1)
    np.testing.assert_allclose(got, want, rtol=tolerance**0.5 * 1e-2, atol=tolerance)


@pytest.mark.parametrize("op", ["conv2d", "conv2d_grad_input", "conv2d_grad_filter"])
@pytest.mark.parametrize("grid", GRIDS)
def test_one_kernel_serves_every_size(op: str, grid: str) -> None:
    attrs, rows = GRIDS[grid]
    executable: Executable | None = None
    for sizes in rows:
        inputs = operands(sizes, attrs, "float32")[op]
        executable = executable or compiled(op, inputs, attrs)
        want = Case(op, inputs, attrs).run()[0]
        (got,) = executable.run(list(inputs.values()))
        same(got, want, sizes[0] * sizes[2] * sizes[3] if op.endswith("filter") else sizes[1] * sizes[4] * sizes[5])


@pytest.mark.parametrize("op", ["conv2d", "conv2d_grad_input", "conv2d_grad_filter"])
@pytest.mark.parametrize("row", range(len(DEPTHWISE)))
def test_a_filter_for_each_channel(op: str, row: int) -> None:
    attrs, sizes = DEPTHWISE[row]
    inputs = operands(sizes, attrs, "float32")[op]
    same(compiled(op, inputs, attrs, open_dims=False).run(list(inputs.values()))[0], Case(op, inputs, attrs).run()[0], 500)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("attrs", "rows"), DIRECT)
def test_filters_of_known_size_for_each_channel(attrs: dict[str, Any], rows: list[tuple[int, ...]], dtype: str) -> None:
    """Straight from the image, whatever its size, and without a look beyond it."""
    for sizes in rows:
        inputs = operands(sizes, attrs, dtype)["conv2d"]
        executable = compiled("conv2d", inputs, attrs, open_dims=False)
        assert all("call_conv_direct" in source for source in executable.sources)
        last = {name: before_a_forbidden_page(v) for name, v in inputs.items()}
        same(executable.run(list(last.values()))[0], Case("conv2d", inputs, attrs).run()[0], sizes[5] * sizes[6])


@pytest.mark.parametrize("kernel", conv_plan.DIRECT_KERNELS)
@pytest.mark.parametrize("stride", conv_plan.DIRECT_STRIDES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_plane_for_each_channel_is_written_and_nothing_else(kernel: int, stride: int, dtype: str) -> None:
    """Other threads write the planes beside it, which in memory are its neighbours."""
    direct, before = conv_direct.direct(kernel, stride, dtype), kernel // 2
    run = natively(direct)
    w = random(dtype, kernel, kernel)
    for height in (1, 2, 3, 4, 5, 7, 8, 9):
        for width in (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 15, 16, 17, 20, 33):
            x = random(dtype, height, width)
            want = Case("conv2d", {"Input": x[None, None], "Filter": w[None, None]},
                        {"strides": [stride, stride], "paddings": [before, before]}).run()[0][0, 0]  # fmt: skip
            out = np.full(want.size + 128, np.nan, dtype)
            run(x.ctypes.data, w.ctypes.data, out[64:].ctypes.data, 1, 1, height, width, *want.shape, before, before, 0)
            same(out[64:-64].reshape(want.shape), want, kernel * kernel)
            assert np.isnan(out[:64]).all()
            assert np.isnan(out[-64:]).all()


@pytest.mark.parametrize(("images", "channels", "filters"), [(3, 2, 2), (2, 2, 6)])
def test_each_plane_meets_the_filter_of_its_channel(images: int, channels: int, filters: int) -> None:
    run = natively(conv_direct.direct(3, 1, "float32"))
    x, w = random("float32", images, channels, 7, 7), random("float32", filters, 1, 3, 3)
    out = np.zeros((images, filters, 7, 7), np.float32)
    for plane in range(images * filters):
        run(x.ctypes.data, w.ctypes.data, out.ctypes.data, channels, filters, 7, 7, 7, 7, 1, 1, plane)
    same(out, Case("conv2d", {"Input": x, "Filter": w}, {"groups": channels, "paddings": [1, 1]}).run()[0], 9)


@pytest.mark.parametrize(("stride", "lines"), [(1, conv_direct.NARROW_ROWS + 2), (2, 2 * conv_direct.NARROW_ROWS + 1)])
def test_a_line_of_a_small_plane_is_read_once(stride: int, lines: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By one vector, from which those of all taps come, where there are registers for so many rows."""

    def loads(registers: int) -> int:
        monkeypatch.setattr(tiles, "REGISTERS", registers)
        module = scalars.module_of(conv_direct.direct(3, stride, "float32"), "direct")
        return sum(str(f).count(f'llvm.masked.load.v{tiles.lanes("float32")}f32') for f in module.functions if f.blocks)

    assert loads(32) == loads(16) + lines


def test_an_infinity_reaches_the_windows_of_its_channel_only() -> None:
    attrs, rows = DIRECT[0]
    inputs = operands(rows[0], attrs, "float32")["conv2d"]
    inputs["Input"][0, 1, 4, -1] = np.inf
    got = compiled("conv2d", inputs, attrs, open_dims=False).run(list(inputs.values()))[0]
    np.testing.assert_array_equal(np.isfinite(got), np.isfinite(Case("conv2d", inputs, attrs).run()[0]))


@pytest.mark.parametrize("op", ["conv2d", "conv2d_grad_input"])
def test_float64(op: str) -> None:
    attrs, rows = GRIDS["same"]
    executable: Executable | None = None
    for sizes in rows[:3]:
        inputs = operands(sizes, attrs, "float64")[op]
        executable = executable or compiled(op, inputs, attrs)
        np.testing.assert_allclose(executable.run(list(inputs.values()))[0], Case(op, inputs, attrs).run()[0], rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("op", ["conv2d", "conv2d_grad_input"])
def test_an_infinity_reaches_the_windows_that_hold_it_only(op: str) -> None:
    for grid in ("same", "plain"):
        attrs, rows = GRIDS[grid]
        inputs = operands(rows[0], attrs, "float32")[op]
        inputs["Input" if op == "conv2d" else "Output@GRAD"][0, 0, 0, -1] = np.inf
        got, want = compiled(op, inputs, attrs).run(list(inputs.values()))[0], Case(op, inputs, attrs).run()[0]
        np.testing.assert_array_equal(np.isfinite(got), np.isfinite(want))


@pytest.mark.parametrize("grid", ["plain", "same", "around", "strided", "rows of vectors", "whole rows without zeros"])
@pytest.mark.parametrize("op", ["conv2d", "conv2d_grad_input", "conv2d_grad_filter"])
def test_no_vector_reaches_beyond_a_tensor(op: str, grid: str) -> None:
    attrs, rows = GRIDS[grid]
    executable: Executable | None = None
    for sizes in rows[:5]:
        inputs = {name: before_a_forbidden_page(v) for name, v in operands(sizes, attrs, "float32")[op].items()}
        executable = executable or compiled(op, inputs, attrs)
        same(executable.run(list(inputs.values()))[0], Case(op, inputs, attrs).run()[0], 1000)


POINTWISE = [({}, (2, 20, 5, 6, 300, 1, 1)), ({}, (3, 260, 4, 5, 70, 1, 1)), ({"groups": 2}, (2, 10, 6, 5, 280, 1, 1))]


@pytest.mark.parametrize("op", ["conv2d", "conv2d_grad_input", "conv2d_grad_filter"])
@pytest.mark.parametrize("row", range(len(POINTWISE)))
def test_pointwise_filters_of_known_number(op: str, row: int) -> None:
    attrs, sizes = POINTWISE[row]
    inputs = operands(sizes, attrs, "float32")[op]
    same(compiled(op, inputs, attrs, open_dims=False).run(list(inputs.values()))[0], Case(op, inputs, attrs).run()[0], 300)


TASKS = [*(pytest.param("conv2d", attrs, rows[0], id=f"direct {i}") for i, (attrs, rows) in enumerate(DIRECT)),
         *(pytest.param(op, attrs, sizes, id=f"{op} {i}") for op in ("conv2d", "conv2d_grad_input")
           for i, (attrs, sizes) in enumerate([*((attrs, rows[0]) for attrs, rows in GRIDS.values()), *DEPTHWISE[:2]])),
         *(pytest.param("conv2d_grad_filter", attrs, sizes, id=f"conv2d_grad_filter {i}")
           for i, (attrs, sizes) in enumerate([(GRIDS["same"][0], GRIDS["same"][1][1]), (GRIDS["groups"][0], GRIDS["groups"][1][2]),
                                               *POINTWISE, DEPTHWISE[0]]))]  # fmt: skip


@pytest.mark.parametrize(("op", "attrs", "sizes"), TASKS)
def test_threads_share_the_tasks_and_give_the_same_to_the_last_bit(op: str, attrs: dict[str, Any], sizes: tuple[int, ...]) -> None:
    inputs = operands(sizes, attrs, "float32")[op]
    known = op == "conv2d_grad_filter" or (attrs, sizes) in [(a, rows[0]) for a, rows in DIRECT]
    executable = compiled(op, inputs, attrs, open_dims=not known)
    # all but the plan, which is one thread's work
    shared = [f"return {layout.DIVIDE}" in source for source in executable.sources]
    assert shared == ([True] * len(shared) if len(shared) == 1 or op.endswith("filter") else [False, True, True])

    def run() -> np.ndarray:
        begun = threads.pool()._memory[threads.ROUND]
        result = executable.run(list(inputs.values()))[0]
        assert threads.get_num_threads() == 1 or threads.pool()._memory[threads.ROUND] > begun
        return result

    same(alike_for_threads(run), Case(op, inputs, attrs).run()[0], 500)


def test_much_work_is_cut_into_tasks_for_many_threads() -> None:
    """Also one image with few pixels: there are tasks enough, of about the same work, whatever dominates."""
    for sizes in [(1, 512, 7, 7, 512, 3, 3), (1, 64, 56, 56, 64, 3, 3), (64, 1, 28, 28, 20, 5, 5), (1, 960, 7, 7, 160, 1, 1)]:
        inputs = operands(sizes, {}, "float32")["conv2d"]
        executable = compiled("conv2d", inputs, {})
        executable.run(list(inputs.values()))
        (frame,) = executable._frames
        plan = next(d for d, name in enumerate(executable.plan.names) if "#t1" in name)
        words = frame.value(plan)
        assert words[conv_plan.TASKS] >= 8
        work = 2 * np.prod(sizes) / (sizes[2] * sizes[3]) * np.prod(Case("conv2d", inputs, {}).run()[0].shape[2:]) / 10
        assert 0.8 * work <= words[conv_plan.TASKS] * words[conv_plan.TASK_WORK] <= 2.5 * work


@pytest.mark.parametrize(("sizes", "by_rows"), [((2, 24, 14, 14, 200, 1, 1), 1), ((2, 24, 30, 30, 200, 1, 1), 0),
                                               ((2, 200, 14, 14, 24, 1, 1), 0)])  # fmt: skip
def test_threads_have_different_rows_of_small_images(sizes: tuple[int, ...], by_rows: int) -> None:
    inputs = operands(sizes, {}, "float32")["conv2d"]
    executable = compiled("conv2d", inputs, {})
    same(alike_for_threads(lambda: executable.run(list(inputs.values()))[0]), Case("conv2d", inputs, {}).run()[0], 300)
    (frame,) = executable._frames
    words = frame.value(next(d for d, name in enumerate(executable.plan.names) if "#t1" in name))
    assert words[conv_plan.BY_ROWS] == by_rows


def test_columns_are_packed_from_the_images_where_strides_are_one() -> None:
    """Then there is no frame, and nothing to copy into it."""
    for grid, row, unframed in (("same", 2, 1), ("around", 0, 1), ("plain", 0, 0)):
        attrs, rows = GRIDS[grid]
        inputs = operands(rows[row], attrs, "float32")["conv2d"]
        executable = compiled("conv2d", inputs, attrs)
        executable.run(list(inputs.values()))
        (frame,) = executable._frames
        words = frame.value(next(d for d, name in enumerate(executable.plan.names) if "#t1" in name))
        assert words[conv_plan.UNFRAMED] == unframed
        assert not unframed or (words[conv_plan.PACKED], words[conv_plan.FRAME_TASKS], words[conv_plan.FRAME_ELEMENTS]) == (1, 0, 0)


@pytest.mark.parametrize(("grid", "row", "aligned"), [("rows of vectors", 0, 1), ("rows of vectors", 1, 1), ("rows of vectors", 4, 0),
                                                     ("rows of vectors", 5, 0), ("same", 0, 0), ("plain", 5, 0)])  # fmt: skip
def test_panels_end_where_rows_of_whole_vectors_do(grid: str, row: int, aligned: int) -> None:
    """They are written to their place, not to a buffer that is copied there."""
    if tiles.lanes("float32") != 16:
        pytest.skip("for vectors of sixteen")
    attrs, rows = GRIDS[grid]
    inputs = operands(rows[row], attrs, "float32")["conv2d"]
    executable = compiled("conv2d", inputs, attrs)
    executable.run(list(inputs.values()))
    (frame,) = executable._frames
    words = frame.value(next(d for d, name in enumerate(executable.plan.names) if "#t1" in name))
    assert words[conv_plan.ALIGNED] == aligned


def test_a_steady_state_allocates_nothing() -> None:
    attrs, rows = GRIDS["same"]
    inputs = operands(rows[1], attrs, "float32")["conv2d"]
    executable = compiled("conv2d", inputs, attrs)
    executable.run(list(inputs.values()))
    (frame,) = executable._frames
    before = frame.buffers.copy()
    executable.run(list(inputs.values()))
    np.testing.assert_array_equal(frame.buffers, before)


@pytest.mark.parametrize("op", ["conv2d", "conv2d_grad_input"])
@pytest.mark.parametrize(("attrs", "sizes"), [(GRIDS["same"][0], GRIDS["same"][1][0]), (GRIDS["far"][0], GRIDS["far"][1][0]), *DEPTHWISE])
def test_the_nests_of_targets_without_routines(op: str, attrs: dict[str, Any], sizes: tuple[int, ...], monkeypatch: Any) -> None:
    monkeypatch.setattr(planning, "lower", lambda *args, **options: lower(*args, **{**options, "routines": False}))
    inputs = operands(sizes, attrs, "float32")[op]
    executable = compiled(op, inputs, attrs, open_dims=False)
    assert not any("call_conv" in source for source in executable.sources)
    same(executable.run(list(inputs.values()))[0], Case(op, inputs, attrs).run()[0], 500)


def test_each_compiler_of_a_process_links_routines_of_its_own(monkeypatch: Any) -> None:
    attrs, rows = GRIDS["same"]
    inputs = operands(rows[0], attrs, "float32")["conv2d"]
    want = Case("conv2d", inputs, attrs).run()[0]
    first = executables.compiler()
    same(compiled("conv2d", inputs, attrs).run(list(inputs.values()))[0], want, 100)
    others = [KernelCompiler(first.cache)]
    monkeypatch.setattr(executables, "compiler", lambda: others[0])
    same(compiled("conv2d", inputs, attrs).run(list(inputs.values()))[0], want, 100)
    own = others[0]._routines
    assert own
    assert all(first._routines[name] != address for name, address in own.items())
    monkeypatch.undo()
    others.clear()
    gc.collect()
    # a kernel that the first compiler has not linked yet
    same(compiled("conv2d", inputs, attrs, open_dims=False).run(list(inputs.values()))[0], want, 100)
    other_attrs = {"paddings": [1, 1], "strides": [1, 2]}
    want = Case("conv2d", inputs, other_attrs).run()[0]
    same(compiled("conv2d", inputs, other_attrs).run(list(inputs.values()))[0], want, 100)


@pytest.mark.parametrize("kernel", conv_plan.DIRECT_KERNELS)
@pytest.mark.parametrize("stride", conv_plan.DIRECT_STRIDES)
def test_vectors_on_the_stack_lie_on_one_line_of_memory(kernel: int, stride: int) -> None:
    """Otherwise a depthwise convolution takes up to twice as long in some processes: where the stack begins is another place in each."""
    module = scalars.module_of(conv_direct.direct(kernel, stride, "float32"), "direct")
    assert all(i.align == 64 for f in module.functions for block in f.blocks for i in block.instructions
               if i.opname == "alloca" and isinstance(i.type.pointee, ir.ArrayType))  # fmt: skip
    text = str(module)
    assert "alloca [" in text
