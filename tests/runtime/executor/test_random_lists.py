"""Random programs over a few lists and tensors that take over each other's values, are changed, and are handed on by branches and loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dy2st_runtime import reference
from dy2st_runtime.executor.executable import Executable
from dy2st_runtime.ir import IRBuilder, Program, Variable, verify
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from test_changed_in_place import listed, loop, same, written  # isort: skip

LISTS, TENSORS = 3, 2  # the state of a program: so many of each, and a total

place, vector = st.integers(0, LISTS - 1), st.integers(0, TENSORS - 1)
simple = st.one_of(
    st.tuples(st.sampled_from(["append", "replace", "take", "extend", "put before"]), place, place),
    st.tuples(st.sampled_from(["read", "measure", "pop"]), place),
    st.tuples(st.sampled_from(["write", "show", "take over", "write itself"]), vector, vector),
)
statements = st.lists(
    st.recursive(
        simple,
        lambda inner: st.one_of(
            st.tuples(st.just("if"), st.integers(0, 3), st.lists(inner, max_size=4), st.lists(inner, max_size=4)),
            st.tuples(st.just("for"), st.integers(0, 3), st.lists(inner, max_size=4)),
        ),
        max_leaves=12,
    ),
    min_size=1,
    max_size=6,
)


class Maker:
    """Writes statements as ops; `state` has the values of the moment: lists, tensors, the total and how many statements have run."""

    def __init__(self, b: IRBuilder, x: Variable):
        self.b, self.x = b, x
        zero, none = self.constant(0, "float32"), self.constant(0, "int64")
        self.state = [*(listed(b, *[b.op("scale", X=x, scale=float(i + k)) for k in range(2)]) for i in range(LISTS)),
                      *(b.op("scale", X=x, scale=10.0 * i) for i in range(TENSORS)), zero, none]  # fmt: skip

    def constant(self, value: float, dtype: str) -> Variable:
        return self.b.op("fill_constant", shape=[], dtype=dtype, value=float(value))

    def fresh(self) -> Variable:
        """A tensor with a value of its own."""
        return self.b.add(self.x, self.b.op("cast", X=self.state[-1], in_dtype="int64", out_dtype="float32"))

    def total(self, x: Variable) -> None:
        self.state[-2] = self.b.add(self.b.op("scale", X=self.state[-2], scale=0.5), x)

    def length(self, array: Variable) -> Variable:
        return self.b.op("reshape2", X=self.b.op("lod_array_length", X=array), shape=[])

    def run(self, program: list[Any]) -> None:
        for statement in program:
            self.state[-1] = self.b.op("scale", X=self.state[-1], bias=1.0)
            getattr(self, "_" + statement[0].replace(" ", "_"))(*statement[1:])

    def _append(self, i: int, j: int) -> None:
        self.state[i] = self.b.op("array_append", Array=self.state[j], X=self.fresh())

    def _replace(self, i: int, j: int) -> None:
        at = self.b.op("scale", X=self.length(self.state[j]), bias=-1.0)
        self.state[i] = self.b.op("array_set", Array=self.state[j], X=self.fresh(), I=at)

    def _take(self, i: int, j: int) -> None:
        """One list becomes the other, or they change places."""
        self.state[i], self.state[j] = self.state[j], (self.state[i] if i % 2 else self.state[j])

    def _extend(self, i: int, j: int) -> None:
        self.state[i] = self.b.op("array_extend", Array=self.state[j], Other=listed(self.b, self.fresh()))

    def _put_before(self, i: int, j: int) -> None:
        self.state[i] = self.b.op("array_extend", Array=listed(self.b, self.fresh()), Other=self.state[j])

    def _read(self, i: int) -> None:
        entry = self.b.op("read_from_array", X=self.state[i], I=self.constant(-1, "int64"))
        self.total(self.b.op("reduce_sum", X=entry, dim=[], reduce_all=True))

    def _measure(self, i: int) -> None:
        self.total(self.b.op("cast", X=self.length(self.state[i]), in_dtype="int64", out_dtype="float32"))

    def _pop(self, i: int) -> None:
        many = self.b.less_than(self.constant(1, "int64"), self.length(self.state[i]))

        def popped() -> None:
            self.state[i], value = self.b.op("array_pop", Array=self.state[i])
            self.total(self.b.op("reduce_sum", X=value, dim=[], reduce_all=True))

        self._branch(many, popped, lambda: None)

    def _write(self, i: int, j: int) -> None:
        self.state[LISTS + i] = written(self.b, self.state[LISTS + j], self.constant(0, "int64"), self.state[-2])

    def _write_itself(self, i: int, j: int) -> None:
        old = self.state[LISTS + j]
        turned = self.b.op("flip", X=old, axis=[0])
        self.state[LISTS + i] = self.b.op("set_value", Input=old, ValueTensor=turned, axes=[0], starts=[0], ends=[2**31 - 1])

    def _take_over(self, i: int, j: int) -> None:
        self.state[LISTS + i] = self.state[LISTS + j]

    def _show(self, i: int, j: int) -> None:
        view = self.b.op("reshape2", X=self.state[LISTS + i], shape=[1, -1])
        self._write(j, i)
        self.total(self.b.op("reduce_sum", X=view, dim=[], reduce_all=True))

    def _if(self, limit: int, then: list[Any], orelse: list[Any]) -> None:
        few = self.b.less_than(self.constant(limit, "int64"), self.b.op("elementwise_mod", X=self.state[-1], Y=self.constant(5, "int64")))
        self._branch(few, lambda: self.run(then), lambda: self.run(orelse))

    def _branch(self, condition: Variable, then: Any, orelse: Any) -> None:
        before, blocks = [*self.state], [self.b.sub_block(), self.b.sub_block()]
        for block, part in zip(blocks, (then, orelse), strict=True):
            self.state = [*before]
            with self.b.inside(block):
                part()
            block.results = [v.name for v in self.state]
        self.state = [*self.b.op("cond", Cond=condition, true_block=blocks[0], false_block=blocks[1])]

    def _for(self, count: int, program: list[Any]) -> None:
        def body(b: IRBuilder, i: Variable, values: list[Variable]) -> list[Variable]:
            self.state = [*values]
            self.run(program)
            return self.state

        self.state = loop(self.b, self.constant(count, "int64"), self.state, body)


def agree(program: list[Any]) -> None:
    p = Program()
    b = IRBuilder(p.global_block())
    x = b.block.create_var("x", "float32", (-1,), is_data=True)
    maker = Maker(b, x)
    start = [*maker.state]
    maker.run(program)
    names = [v.name for v in dict.fromkeys([*maker.state, *start[:: len(program)]])]  # some of what was there before, too
    verify(p)
    executable = Executable(p, ["x"], names)
    for size in (3, 1):
        feeds = {"x": np.linspace(1, 2, size, dtype=np.float32)}
        env = reference.run_program(p, feeds, {})
        for got, name in zip(executable.run([*feeds.values()]), names, strict=True):
            same(got, env[name])


@settings(max_examples=60, deadline=None)
@given(statements)
def test_native_code_gives_what_the_reference_gives(program: list[Any]) -> None:
    agree(program)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(6))  # parts, so that each ends within a test's time limit
def test_native_code_gives_it_for_many_more(part: int) -> None:
    @seed(part)
    @settings(max_examples=500, deadline=None)
    @given(statements)
    def same_for_each(program: list[Any]) -> None:
        agree(program)

    same_for_each()
