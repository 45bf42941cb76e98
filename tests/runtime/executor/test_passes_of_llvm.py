"""Which passes of LLVM a routine and a kernel take (`scalars.optimized`)."""

import re
from unittest import mock

import pytest
from dy2st_runtime.executor import llvm_engine, routines, scalars, tiles
from dy2st_runtime.executor.machine import machine


@pytest.mark.parametrize("name", [name for name in routines.functions() if not name.endswith("_float64")])
def test_all_room_on_the_stack_is_asked_for_at_the_start(name: str) -> None:
    """Otherwise it stays memory: routines take a single pass that makes registers of it."""
    module = scalars.module_of(routines.functions()[name], "k_test")
    for function in module.functions:
        late = [i for block in function.blocks[1:] for i in block.instructions if i.opname == "alloca"]
        assert not late, function.name


def flags(*body: str) -> dict[str, bool]:
    """How a kernel of these lines is optimized."""
    source = "\n    ".join(["def kernel(args, start, stop):", *body, "return 0"]) + "\n"
    with mock.patch.object(scalars, "optimized", wraps=scalars.optimized) as optimized:
        llvm_engine.object_file(source, "k_test")
    return optimized.call_args.kwargs


LOOP = ("for i in range(start, stop):", "    st_float32(args, i, ld_float32(args, i * s))")


def test_only_loops_that_can_have_vectors_take_the_vectorizer() -> None:
    assert not flags("st_int64(args, 0, 1)")["vectorized"]
    assert not flags("for i in range(start, stop):", "    call_reserve(args, i)")["vectorized"]
    assert flags("s = 1", *LOOP)["vectorized"]
    assert flags("while start < stop:", *(f"    {line}" for line in ("s = 1", *LOOP)), "    start += 1")["vectorized"]


def test_only_loops_that_go_on_with_a_variable_do_several_vectors_at_once() -> None:
    sums = ("m = float32(0.0)", "for i in range(start, stop):", "    m = sum_float32(m, ld_float32(args, i))", "st_float32(args, 0, m)")
    assert not flags("s = 1", *LOOP)["interleaved"]
    assert flags(*sums)["interleaved"]
    assert flags("s = 1", *LOOP, *sums)["interleaved"]
    assert not flags(*sums, "call_conv_images_float32(args, args, args, 0)")["interleaved"]


def vectors(over: str, *body: str) -> str:
    """What becomes of a loop of these lines over `range` or `independent`, on addresses that the arguments hold."""
    lines = ["def kernel(args, start, stop):", "a = ld_int64(args, 0)", "b = ld_int64(args, 1)", f"for i in {over}(start, stop):",
             *body, "return 0"]  # fmt: skip
    made = []
    plain = scalars.optimized
    with mock.patch.object(scalars, "optimized", lambda *args, **kwargs: made.append(plain(*args, **kwargs)) or made[-1]):
        llvm_engine.object_file("\n    ".join(lines) + "\n", "k_test")
    return str(made[0])


def test_independent_iterations_need_no_test_of_whether_memory_overlaps() -> None:
    copy = "    st_float32(b, i, ld_float32(a, i) + float32(1.0))"
    tested, untested = vectors("range", copy), vectors("independent", copy)
    assert "x float>" in tested
    assert "x float>" in untested
    assert tested.count("icmp") > untested.count("icmp")


def test_a_loop_that_holds_another_one_is_not_said_to_be_independent() -> None:
    assert "parallel_accesses" not in vectors("independent", "    for j in range(0, 4):", "        st_float32(b, j, ld_float32(a, i))")
    assert "parallel_accesses" in vectors("range", "    for j in independent(0, start):", "        st_float32(b, j, ld_float32(a, i))")


def test_a_stride_that_is_chosen_is_taken_out_of_the_loop() -> None:
    assert not flags("s = 1", *LOOP)["unswitched"]
    assert flags("s = (0 if (start == 1) else 1)", *LOOP)["unswitched"]


def test_a_stride_that_is_chosen_gives_a_loop_over_vectors() -> None:
    lines = ["def kernel(args, start, stop):", "p = ld_int64(args, 0)", "n = ld_int64(args, 1)", "s = (0 if (n == 1) else 1)",
             "for i in range(start, stop):", "    m = float32(0.0)", "    for j in range(0, n):",
             "        m = sum_float32(m, (ld_float32(args, j) * ld_float32(p, (j * s))))", "    st_float32(p, i, m)", "return 0"]
    source = "\n    ".join(lines) + "\n"
    made = []
    plain = scalars.optimized
    with mock.patch.object(scalars, "optimized", lambda *args, **kwargs: made.append(plain(*args, **kwargs)) or made[-1]):
        llvm_engine.object_file(source, "k_test")
    assert "gather" not in str(made[0])
    assert "x float>" in str(made[0])


@pytest.mark.skipif(tiles.VECTOR_BYTES != 64, reason="other machines have other registers")
@pytest.mark.parametrize("name", ["tiles_float32", "run_tiles_float32"])
def test_tiles_stay_in_registers(name: str) -> None:
    made = scalars.optimized(scalars.module_of(routines.functions()[name], "k_test"), machine())
    moves = re.findall(r"vmov\w+.*\(%rsp\).*", machine().emit_assembly(made))
    assert not [line for line in moves if "%zmm" in line]
