"""Gradients through lists of tensors: whole programs against finite differences, first and second order, and native code against the
reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dy2st_runtime import reference
from dy2st_runtime.backward import append_backward
from dy2st_runtime.executor.executable import Executable
from dy2st_runtime.ir import IRBuilder, Program, Variable, verify

X = np.random.default_rng(3).standard_normal((2, 3))
Y = np.random.default_rng(4).standard_normal((2, 3))


def listed(b: IRBuilder, *values: Variable) -> Variable:
    array = b.op("create_array", dtype="float64", shape=[-1, -1])
    for v in values:
        array = b.op("array_append", Array=array, X=v)
    return array


def stacked(b: IRBuilder, array: Variable, axis: int = 0) -> Variable:
    return b.op("tensor_array_to_tensor", X=array, axis=axis, use_stack=True)


def index(b: IRBuilder, value: int) -> Variable:
    return b.op("fill_constant", shape=[], dtype="int64", value=float(value))


def read(b: IRBuilder, array: Variable, i: int) -> Variable:
    return b.op("read_from_array", X=array, I=index(b, i))


def written(b: IRBuilder, x: Variable, y: Variable, i: int) -> Variable:
    return stacked(b, b.op("write_to_array", X=b.mul(x, y), I=index(b, i), Array=listed(b, x, b.mul(y, y))))


def two_reads(b: IRBuilder, x: Variable, y: Variable) -> Variable:
    array = listed(b, x, y, b.mul(x, y))
    return b.add(read(b, array, 1), b.mul(read(b, array, -1), x))


def popped(b: IRBuilder, x: Variable, y: Variable, which: int) -> Variable:
    array, value = b.op("array_pop", Array=listed(b, x, b.mul(x, x), b.mul(x, y)))
    return value if which else stacked(b, array)


def both_of_pop(b: IRBuilder, x: Variable, y: Variable) -> Variable:
    array, value = b.op("array_pop", Array=listed(b, x, b.mul(x, y)))
    return b.mul(read(b, array, 0), value)


def taken_apart(b: IRBuilder, x: Variable, y: Variable, axis: int) -> Variable:
    return stacked(b, b.op("tensor_to_array", X=b.mul(b.mul(x, y), x), axis=axis))


def set_entry(b: IRBuilder, x: Variable, y: Variable) -> Variable:
    return stacked(b, b.op("array_set", Array=listed(b, b.mul(y, y), y), X=b.mul(x, y), I=index(b, -2)))


def extended(b: IRBuilder, x: Variable, y: Variable) -> Variable:
    more = listed(b, b.mul(x, y), b.mul(x, x))
    return stacked(b, b.op("array_extend", Array=b.op("array_extend", Array=listed(b, y), Other=more), Other=more))


def joined(b: IRBuilder, x: Variable, y: Variable, axis: int) -> Variable:
    pieces = listed(b, b.mul(x, y), b.op("concat", X=[x, b.mul(y, y)], axis=axis))
    return b.op("tensor_array_to_tensor", X=pieces, axis=axis)


def inserted(b: IRBuilder, x: Variable, y: Variable, i: int) -> Variable:
    array = b.op("array_insert", Array=listed(b, x, b.mul(x, y)), X=b.mul(y, y), I=index(b, i))
    return stacked(b, array)


def removed(b: IRBuilder, x: Variable, y: Variable, i: int, which: int) -> Variable:
    array, value = b.op("array_remove", Array=listed(b, x, b.mul(x, x), b.mul(x, y)), I=index(b, i))
    return (stacked(b, array), value, b.mul(read(b, array, 0), value))[which]


def taken(b: IRBuilder, x: Variable, y: Variable) -> Variable:
    bounds = {"Start": index(b, 2), "End": index(b, -2), "Step": index(b, -1)}  # 2, 1, 0, -1: the last twice
    array = b.op("array_take", X=listed(b, x, b.mul(x, x), b.mul(x, y)), Index=b.op("range", **bounds))
    return b.mul(stacked(b, array), b.op("sin", X=stacked(b, array)))


PROGRAMS: dict[str, Callable[..., Variable]] = {
    "append and stack": lambda b, x, y: stacked(b, listed(b, x, b.mul(x, y), x), 1),
    "one entry read": lambda b, x, y: read(b, listed(b, x, b.mul(b.mul(x, x), y)), -1),
    "two entries read": two_reads,
    "write replaces": lambda b, x, y: written(b, x, y, 1),
    "write from the end": lambda b, x, y: written(b, x, y, -2),
    "write appends": lambda b, x, y: written(b, x, y, 2),
    "write begins": lambda b, x, y: stacked(b, b.op("write_to_array", X=b.mul(x, y), I=index(b, 0))),
    "set": set_entry,
    "extended": extended,
    "pop, the rest": lambda b, x, y: popped(b, x, y, 0),
    "pop, the value": lambda b, x, y: popped(b, x, y, 1),
    "pop, both": both_of_pop,
    "insert": lambda b, x, y: inserted(b, x, y, 1),
    "insert, from the end": lambda b, x, y: inserted(b, x, y, -1),
    "remove, the rest": lambda b, x, y: removed(b, x, y, 1, 0),
    "remove, the value": lambda b, x, y: removed(b, x, y, 0, 1),
    "remove, both": lambda b, x, y: removed(b, x, y, -2, 2),
    "take": taken,
    "taken apart along rows": lambda b, x, y: taken_apart(b, x, y, 0),
    "taken apart along columns": lambda b, x, y: taken_apart(b, x, y, -1),
    "concatenated rows": lambda b, x, y: joined(b, x, y, 0),
    "concatenated columns": lambda b, x, y: joined(b, x, y, 1),
}


class Built:
    """A scalar function of the program's result and its gradient; a scalar function of the gradient and its gradient."""

    def __init__(self, program: Callable[..., Variable]):
        self.program = Program()
        b = IRBuilder(self.program.global_block())
        self.wrt = [b.block.create_var(name, "float64", (-1, -1), is_data=True) for name in "xy"]
        self.value = self._projected(b, program(b, *self.wrt), 0)
        self.first = [g for g in append_backward(self.program, [self.value], self.wrt) if g is not None]
        parts = [self._projected(b, g, 1 + i) for i, g in enumerate(self.first)]
        self.slope = b.op("sum", X=parts)
        self.second = append_backward(self.program, [self.slope], self.wrt)
        verify(self.program)

    @staticmethod
    def _projected(b: IRBuilder, value: Variable, phase: int) -> Variable:
        """A scalar that depends on every element, each in its own way."""
        return b.op("reduce_sum", X=b.op("sin", X=b.op("scale", X=value, bias=float(phase + 1))), reduce_all=True)

    def run(self, x: np.ndarray, y: np.ndarray) -> dict[str, Any]:
        return reference.run_program(self.program, {"x": x, "y": y}, {})


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_gradients_of_programs_with_lists(program: Callable[..., Variable]) -> None:
    built = Built(program)
    env = built.run(X, Y)
    for output, gradients in ((built.value, built.first), (built.slope, built.second)):
        assert len(gradients) == 2
        for i, gradient in enumerate(gradients):
            assert gradient is not None
            direction = np.random.default_rng(i).standard_normal(X.shape)
            ends = []
            for step in (1e-6, -1e-6):
                moved = [X.copy(), Y.copy()]
                moved[i] += step * direction
                ends.append(float(built.run(*moved)[output.name]))
            slope = float((env[gradient.name] * direction).sum())
            np.testing.assert_allclose(slope, (ends[0] - ends[1]) / 2e-6, rtol=1e-5, atol=1e-6)
    wanted = [g.name for g in [*built.first, *built.second]]
    results = Executable(built.program, ["x", "y"], wanted).run([X, Y])
    for name, result in zip(wanted, results, strict=True):
        np.testing.assert_allclose(result, env[name], rtol=1e-9, atol=1e-12)


def test_the_gradient_of_an_empty_tensor_taken_apart_has_its_shape() -> None:
    program = Program()
    b = IRBuilder(program.global_block())
    x = b.block.create_var("x", "float64", (-1, 3), is_data=True)
    entries = b.op("tensor_to_array", X=x)
    out = b.op("tensor_to_array_grad", **{"X": x, "Out@GRAD": entries})
    empty = np.zeros((0, 3))
    assert reference.run_program(program, {"x": empty}, {})[out.name].shape == (0, 3)
    assert Executable(program, ["x"], [out.name]).run([empty])[0].shape == (0, 3)


@pytest.mark.parametrize(
    ("op", "error", "message"),
    [("array_pop", IndexError, "empty list"), ("tensor_array_to_tensor", ValueError, "concat needs at least one tensor")],
)
def test_an_empty_list_has_no_last_entry_and_no_stack(op: str, error: type[Exception], message: str) -> None:
    program = Program()
    b = IRBuilder(program.global_block())
    outs = b.op(op, **{"Array" if op == "array_pop" else "X": listed(b)})
    out = outs[0] if isinstance(outs, tuple) else outs
    with pytest.raises(error, match=message):
        reference.run_program(program, {}, {})
    with pytest.raises(error, match=message):
        Executable(program, [], [out.name]).run([])
