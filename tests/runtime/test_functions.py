"""Functions of a Program: printing, rules, the interpreter and native code, gradients, files, pruning, the limit of depth."""

from __future__ import annotations

import numpy as np
import pytest
from dy2st_runtime import config, reference
from dy2st_runtime.backward import append_backward
from dy2st_runtime.errors import GradientError, RecursionLimitError, ShapeError, VerifyError
from dy2st_runtime.executor.executable import Executable
from dy2st_runtime.formats import program_from_bytes, program_to_bytes
from dy2st_runtime.ir import IRBuilder, Program, clone_program, verify
from dy2st_runtime.ir.prune import prune
from dy2st_runtime.ops.registry import TensorType
from recursive_programs import HERE, chain, chain_by_hand, chain_with_gradients, fibonacci

X, W = np.array([1.0, -2.0], np.float32), np.array([0.5, 1.25], np.float32)


def feeds(n: int) -> dict[str, np.ndarray]:
    return {"x": X, "n": np.array(n)}


def test_a_function_is_printed_after_the_global_block() -> None:
    program, _ = chain()
    assert str(program) == (
        "program {\n"
        "  data x: float32[2]\n"
        "  data n: int64[]\n"
        "  state w: float32[2]\n"
        "  call.Out_1: float32[2] = call(X=[x, n], function=chain)\n"
        "  chain(y: float32[2], k: int64[]) -> float32[2]:\n"
        "    fill_constant.Out_0: int64[] = fill_constant(dtype='int64', value=1)\n"
        "    less_than.Out_0: bool[] = less_than(X=k, Y=fill_constant.Out_0)\n"
        "    cond.Out_0: float32[2] = cond(Cond=less_than.Out_0)\n"
        "      true_block:\n"
        "        yield y\n"
        "      false_block:\n"
        "        elementwise_mul.Out_0: float32[2] = elementwise_mul(X=y, Y=w)\n"
        "        scale.Out_0: int64[] = scale(X=k, bias=-1)\n"
        "        call.Out_0: float32[2] = call(X=[elementwise_mul.Out_0, scale.Out_0], function=chain)\n"
        "        elementwise_add.Out_0: float32[2] = elementwise_add(X=call.Out_0, Y=y)\n"
        "        yield elementwise_add.Out_0\n"
        "    yield cond.Out_0\n"
        "}\n"
    )


def test_native_code_does_what_the_interpreter_does() -> None:
    program, number, times_w = fibonacci()
    verify(program)
    names = [number.name, times_w.name]
    with config.CHECKS.override(True):
        executable = Executable(program, ["n"], names)
    state = {"w": np.array([1.0, 2.0, 3.0], np.float32)}
    for n in (0, 1, 2, 9):
        want = reference.run_program(program, {"n": np.array(n)}, state)
        for name, value in zip(names, executable.run([np.array(n)], state), strict=True):
            np.testing.assert_array_equal(value, want[name])


@pytest.mark.parametrize("n", [0, 1, 7])
def test_gradients(n: int) -> None:
    program, names = chain_with_gradients()
    verify(program)
    with config.CHECKS.override(True):
        executable = Executable(program, ["x", "n"], names)
    interpreted = reference.run_program(program, feeds(n), {"w": W})
    native = executable.run(list(feeds(n).values()), {"w": W})
    for name, value, want in zip(names, native, chain_by_hand(X, n, W), strict=True):
        if n == 0 and name.startswith("w@"):  # no path that was taken uses it
            assert value is None
            continue
        np.testing.assert_allclose(value, want, rtol=1e-5)
        np.testing.assert_allclose(interpreted[name], want, rtol=1e-5)


def test_the_work_is_linear_in_the_number_of_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    program, _ = chain_with_gradients()
    counted = {}
    run_op = reference.run_op
    for n in (4, 8, 16):
        count = []
        monkeypatch.setattr(reference, "run_op", lambda op, env, count=count: (count.append(op.type), run_op(op, env)))
        reference.run_program(program, feeds(n), {"w": W})
        counted[n] = count
    assert len(counted[16]) - len(counted[8]) == 2 * (len(counted[8]) - len(counted[4])) > 0
    assert [counted[n].count("call") for n in (4, 8, 16)] == [10, 18, 34]  # forward and backward, each call once


def test_a_deep_recursion_keeps_its_memory_for_the_next_one() -> None:
    program, names = chain_with_gradients()
    executable = Executable(program, ["x", "n"], names)
    executable.run(list(feeds(3000).values()), {"w": W})
    allocated = executable._frames[0].allocated
    for n in (3000, 10, 2000, 3000):
        executable.run(list(feeds(n).values()), {"w": W})
    # a buffer that a slot had not needed so far may still be made
    assert allocated <= executable._frames[0].allocated < 1.01 * allocated < 3000 * 1500


@pytest.mark.parametrize("native", [True, False])
def test_beyond_the_limit_is_an_error_at_the_call(native: bool) -> None:
    program, names = chain_with_gradients()
    executable = Executable(program, ["x", "n"], names)

    def run(n: int) -> None:
        if native:
            executable.run(list(feeds(n).values()), {"w": W})
        else:
            reference.run_program(program, feeds(n), {"w": W})

    with config.RECURSION_LIMIT.override(20):
        run(19)
        with pytest.raises(RecursionLimitError, match="more than 20 times") as caught:
            run(20)
        run(19)
    assert isinstance(caught.value, RecursionError)
    assert caught.value.location == HERE


def test_the_interpreter_is_bounded_by_python() -> None:
    program, _ = chain()
    with pytest.raises(RecursionError):
        reference.run_program(program, feeds(5000), {"w": W})


def test_second_derivatives_are_an_error() -> None:
    program, _ = chain_with_gradients()
    block = program.global_block()
    with pytest.raises(GradientError, match="gradient of a gradient through a recursive function") as caught:
        append_backward(program, [block.var("x@GRAD")], [block.var("w")])
    assert caught.value.location == HERE


def test_a_gradient_that_is_declared_with_open_sizes() -> None:
    program, out = chain()
    block = program.global_block()
    seed = block.create_var("seed", "float32", [-1], is_data=True)
    (dx,) = append_backward(program, [out], [block.var("x")], [seed])
    assert dx is not None
    verify(program)
    found = reference.run_program(program, {**feeds(3), "seed": np.array([2.0, 1.0], np.float32)}, {"w": W})
    np.testing.assert_allclose(found[dx.name], chain_by_hand(X, 3, W)[1] * [2, 1], rtol=1e-6)


def test_two_gradients_of_one_call() -> None:
    program, out = chain()
    block = program.global_block()
    b = IRBuilder(block)
    targets = [b.scaled(out, 1.0), b.scaled(out, 3.0)]
    names = [g.name for t in targets for g in append_backward(program, [t], [block.var("x")]) if g is not None]
    verify(program)
    first, second = Executable(program, ["x", "n"], names).run(list(feeds(6).values()), {"w": W})
    np.testing.assert_allclose(second, 3 * first, rtol=1e-6)
    want = reference.run_program(program, feeds(6), {"w": W})
    np.testing.assert_allclose(first, want[names[0]], rtol=1e-6)
    np.testing.assert_allclose(second, want[names[1]], rtol=1e-6)


def test_pruning_drops_the_gradient_and_its_tapes() -> None:
    program, names = chain_with_gradients()
    pruned = prune(program, ["x", "n"], names[:1])
    verify(pruned)
    assert list(pruned.functions) == ["chain_forward"]
    assert "tape" not in str(pruned)
    assert reference.run_program(pruned, feeds(3), {"w": W})[names[0]] == pytest.approx(chain_by_hand(X, 3, W)[0])
    only_gradient = prune(program, ["x", "n"], names[1:2])
    verify(only_gradient)
    assert reference.run_program(only_gradient, feeds(3), {"w": W})[names[1]] == pytest.approx(chain_by_hand(X, 3, W)[1])


def test_files_hold_functions() -> None:
    program, names = chain_with_gradients()
    back = program_from_bytes(program_to_bytes(program, ["x", "n"], names))
    assert list(back.program.functions) == list(program.functions)
    want = reference.run_program(program, feeds(5), {"w": W})
    found = reference.run_program(back.program, feeds(5), {"w": W})
    for ours, theirs in zip(names, back.fetch_names, strict=True):
        np.testing.assert_array_equal(found[theirs], want[ours])


def test_a_copy_has_functions_of_its_own() -> None:
    program, out = chain()
    copy = clone_program(program)
    verify(copy)
    assert str(copy) == str(program)
    assert copy.functions["chain"] is not program.functions["chain"]
    copy.functions["chain"].block.ops.clear()
    verify(program)
    assert reference.run_program(program, feeds(2), {"w": W})[out.name] == pytest.approx(chain_by_hand(X, 2, W)[0])


def test_a_call_must_fit_its_function() -> None:
    program, _ = chain()
    f, b = program.functions["chain"], IRBuilder(program.global_block(), HERE)
    x, n = (program.global_block().var(name) for name in ("x", "n"))
    with pytest.raises(ShapeError, match="takes 2 values, got 1"):
        b.call([x], function=f)
    with pytest.raises(ShapeError, match=r"argument 'y' of 'chain' is declared float32\[2\], got float32\[3\]"):
        b.call([b.constant(0.0, "float32", [3]), n], function=f)


def test_rules_of_functions() -> None:
    program, _ = chain()
    f = program.functions["chain"]
    f.result_types = [TensorType("float32", (3,))]
    with pytest.raises(VerifyError, match=r"'chain' yields float32\[3\] by declaration, but 'cond.Out_0' is float32\[2\]"):
        verify(program, types=False)
    program, _ = chain()
    program.functions["chain"].block.results = ["x"]
    with pytest.raises(VerifyError, match="'x'"):
        verify(program)  # data is no name that functions see
    program, _ = chain()
    other = Program().add_function("other")
    program.global_block().ops[-1].attrs["function"] = other
    with pytest.raises(VerifyError, match="must be a function of the program"):
        verify(program)
