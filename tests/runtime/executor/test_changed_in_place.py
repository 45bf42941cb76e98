"""Values that an op changes in place because the old value is not needed any more: lists that grow, tensors written to, in loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from dy2st_runtime import reference
from dy2st_runtime.executor.executable import Executable
from dy2st_runtime.ir import IRBuilder, Program, Variable, verify

Body = Callable[[IRBuilder, Variable, list[Variable]], list[Variable]]


def loop(b: IRBuilder, count: Variable, inits: Sequence[Variable], body: Body) -> list[Variable]:
    """`for i in range(count): values = body(i, values)`."""
    zero = b.op("fill_constant", shape=[], dtype="int64", value=0.0)
    start = [zero, *inits]
    test, inner = b.sub_block(), b.sub_block()
    for block in (test, inner):
        for v in start:
            block.params.append(block.create_var(None, v.dtype, v.shape, stem="p", kind=v.kind).name)
    with b.inside(test):
        test.results = [b.op("less_than", X=test.var(test.params[0]), Y=count).name]
    with b.inside(inner):
        i, *values = [inner.var(name) for name in inner.params]
        following = body(b, i, values)
        inner.results = [b.op("scale", X=i, bias=1.0).name, *(v.name for v in following)]
    return b.op("while_loop", X=start, cond_block=test, body_block=inner)[0][1:]


def listed(b: IRBuilder, *values: Variable) -> Variable:
    array = b.op("create_array", dtype="float32", shape=[-1])
    for v in values:
        array = b.op("array_append", Array=array, X=v)
    return array


def number(b: IRBuilder, i: Variable) -> Variable:
    return b.op("cast", X=i, in_dtype="int64", out_dtype="float32")


def written(b: IRBuilder, x: Variable, i: Variable, value: Variable) -> Variable:
    bounds = {"axes": [0], "starts": [-1], "ends": [-1], "decrease_axes": [0]}
    return b.op("set_value", Input=x, ValueTensor=value, StartsTensorList=[i], EndsTensorList=[i], **bounds)


def growing_list(b: IRBuilder, n: Variable, x: Variable) -> list[Variable]:
    return loop(b, n, [listed(b)], lambda b, i, v: [b.op("array_append", Array=v[0], X=b.mul(x, number(b, i)))])


def growing_list_read_before_and_after(b: IRBuilder, n: Variable, x: Variable) -> list[Variable]:
    def body(b: IRBuilder, i: Variable, v: list[Variable]) -> list[Variable]:
        last = b.op("read_from_array", X=v[0], I=i)
        longer = b.op("array_append", Array=v[0], X=b.add(last, x))
        return [longer, b.add(v[1], b.op("read_from_array", X=longer, I=i))]

    first = listed(b, x)
    array, total = loop(b, n, [first, x], body)
    return [first, array, total]  # the list from before the loop has not changed


def old_list_needed_after_the_append(b: IRBuilder, n: Variable, x: Variable) -> list[Variable]:
    def body(b: IRBuilder, i: Variable, v: list[Variable]) -> list[Variable]:
        longer = b.op("array_append", Array=v[0], X=x)
        before = b.op("lod_array_length", X=v[0])
        return [longer, b.add(v[1], number(b, before))]

    return loop(b, n, [listed(b, x), x], body)


def two_lists_that_change_places(b: IRBuilder, n: Variable, x: Variable) -> list[Variable]:
    return loop(b, n, [listed(b, x), listed(b)], lambda b, i, v: [v[1], b.op("array_append", Array=v[0], X=x)])


def old_list_kept_in_another_variable(b: IRBuilder, n: Variable, x: Variable) -> list[Variable]:
    return loop(b, n, [listed(b), listed(b)], lambda b, i, v: [b.op("array_append", Array=v[0], X=x), v[0]])


def list_appended_to_twice(b: IRBuilder, n: Variable, x: Variable) -> list[Variable]:
    def body(b: IRBuilder, i: Variable, v: list[Variable]) -> list[Variable]:
        return [b.op("array_append", Array=b.op("array_append", Array=v[0], X=x), X=b.mul(x, x))]

    return loop(b, n, [listed(b, x)], body)


def two_results_of_one_list(b: IRBuilder, n: Variable, x: Variable) -> list[Variable]:
    def body(b: IRBuilder, i: Variable, v: list[Variable]) -> list[Variable]:
        return [b.op("array_append", Array=v[0], X=x), b.op("array_append", Array=v[0], X=b.mul(x, x))]

    return loop(b, n, [listed(b), listed(b)], body)


def written_rows(b: IRBuilder, n: Variable, x: Variable) -> list[Variable]:
    (out,) = loop(b, n, [x], lambda b, i, v: [written(b, v[0], i, number(b, i))])
    return [out, x, b.op("reshape2", X=out, shape=[-1, 1])]


def written_and_seen_through_a_view(b: IRBuilder, n: Variable, x: Variable) -> list[Variable]:
    def body(b: IRBuilder, i: Variable, v: list[Variable]) -> list[Variable]:
        view = b.op("reshape2", X=v[0], shape=[1, -1])
        new = written(b, v[0], i, number(b, i))
        return [new, b.add(v[1], b.op("reshape2", X=view, shape=[-1]))]  # of the old value

    return loop(b, n, [x, b.op("scale", X=x, scale=0.0)], body)


def written_from_its_own_parts(b: IRBuilder, n: Variable, x: Variable) -> list[Variable]:
    def body(b: IRBuilder, i: Variable, v: list[Variable]) -> list[Variable]:
        turned = b.op("flip", X=v[0], axis=[0])
        new = b.op("set_value", Input=v[0], ValueTensor=turned, axes=[0], starts=[0], ends=[2**31 - 1])
        return [written(b, new, i, number(b, i))]

    return loop(b, n, [x], body)


def nested(b: IRBuilder, n: Variable, x: Variable) -> list[Variable]:
    def outer(b: IRBuilder, i: Variable, v: list[Variable]) -> list[Variable]:
        inner = loop(b, n, [v[0]], lambda b, j, w: [b.op("array_append", Array=w[0], X=b.mul(x, number(b, j)))])
        return [b.op("array_append", Array=inner[0], X=x), inner[0]]

    return loop(b, n, [listed(b), listed(b)], outer)


def scattered(b: IRBuilder, n: Variable, x: Variable) -> list[Variable]:
    def body(b: IRBuilder, i: Variable, v: list[Variable]) -> list[Variable]:
        at = b.op("reshape2", X=i, shape=[1])
        more = b.op("scatter", X=v[0], Ids=at, Updates=b.op("reshape2", X=number(b, i), shape=[1]))
        return [b.op("index_put", x=more, indices=[at], value=b.op("reshape2", X=number(b, i), shape=[1]), accumulate=True)]

    return loop(b, n, [b.op("scale", X=x, scale=2.0)], body)


def list_of_a_branch_needed_after_the_append(b: IRBuilder, n: Variable, x: Variable) -> list[Variable]:
    """What a branch gives owns no memory: it is one of two other lists."""
    one, two = listed(b, x), listed(b, x, x)
    blocks = [b.sub_block(), b.sub_block()]
    for block, array in zip(blocks, (one, two), strict=True):
        block.results = [array.name]
    few = b.op("less_than", X=n, Y=b.op("fill_constant", shape=[], dtype="int64", value=2.0))
    (chosen,) = b.op("cond", Cond=few, true_block=blocks[0], false_block=blocks[1])
    return [b.op("array_append", Array=chosen, X=b.mul(x, x)), chosen, one, two]


def few(b: IRBuilder, i: Variable) -> Variable:
    return b.less_than(i, b.op("fill_constant", shape=[], dtype="int64", value=2.0))


def chosen(b: IRBuilder, condition: Variable, then: Callable[[], Variable], orelse: Callable[[], Variable]) -> Variable:
    blocks = [b.sub_block(), b.sub_block()]
    for block, part in zip(blocks, (then, orelse), strict=True):
        with b.inside(block):
            block.results = [part().name]
    return b.op("cond", Cond=condition, true_block=blocks[0], false_block=blocks[1])[0]


def list_that_grows_on_one_path(b: IRBuilder, n: Variable, x: Variable) -> list[Variable]:
    def body(b: IRBuilder, i: Variable, v: list[Variable]) -> list[Variable]:
        return [chosen(b, few(b, i), lambda: b.op("array_append", Array=v[0], X=x), lambda: v[0])]

    return loop(b, n, [listed(b, x)], body)


def list_that_grows_and_shrinks(b: IRBuilder, n: Variable, x: Variable) -> list[Variable]:
    def body(b: IRBuilder, i: Variable, v: list[Variable]) -> list[Variable]:
        return [chosen(b, few(b, i), lambda: b.op("array_append", Array=v[0], X=x), lambda: b.op("array_pop", Array=v[0])[0])]

    return loop(b, n, [listed(b, *[x] * 9)], body)


def list_of_a_loop_in_a_loop(b: IRBuilder, n: Variable, x: Variable) -> list[Variable]:
    def body(b: IRBuilder, i: Variable, v: list[Variable]) -> list[Variable]:
        return loop(b, i, v, lambda b, j, w: [b.op("array_append", Array=w[0], X=b.mul(x, number(b, j)))])

    return loop(b, n, [listed(b)], body)


def rows_written_on_one_path(b: IRBuilder, n: Variable, x: Variable) -> list[Variable]:
    def body(b: IRBuilder, i: Variable, v: list[Variable]) -> list[Variable]:
        return [chosen(b, few(b, i), lambda: written(b, v[0], i, number(b, i)), lambda: v[0])]

    return loop(b, n, [x], body)


def one_list_is_another_on_one_path(b: IRBuilder, n: Variable, x: Variable) -> list[Variable]:
    """It shows memory that the next iteration writes to."""

    def body(b: IRBuilder, i: Variable, v: list[Variable]) -> list[Variable]:
        longer = b.op("array_append", Array=v[1], X=b.mul(x, number(b, i)))
        return [chosen(b, few(b, i), lambda: longer, lambda: v[0]), longer]

    return loop(b, n, [listed(b, x), listed(b, x, x)], body)


def rows_are_others_on_one_path(b: IRBuilder, n: Variable, x: Variable) -> list[Variable]:
    def body(b: IRBuilder, i: Variable, v: list[Variable]) -> list[Variable]:
        new = written(b, v[1], i, number(b, i))
        return [chosen(b, few(b, i), lambda: new, lambda: written(b, v[0], i, number(b, i))), new]

    return loop(b, n, [x, b.op("scale", X=x, scale=2.0)], body)


def popped_list_is_another_on_one_path(b: IRBuilder, n: Variable, x: Variable) -> list[Variable]:
    """What a list without its last entry shows is its own."""

    def body(b: IRBuilder, i: Variable, v: list[Variable]) -> list[Variable]:
        rest, _ = b.op("array_pop", Array=chosen(b, few(b, i), lambda: v[1], lambda: v[0]))
        longer = b.op("array_append", Array=b.op("array_set", Array=v[1], X=b.mul(x, number(b, i)), I=zero), X=x)
        return [b.op("array_append", Array=rest, X=b.op("read_from_array", X=rest, I=zero)), longer]

    zero = b.op("fill_constant", shape=[], dtype="int64", value=0.0)
    return loop(b, n, [listed(b, x, x), listed(b, x, x)], body)


PROGRAMS = [growing_list, growing_list_read_before_and_after, old_list_needed_after_the_append, two_lists_that_change_places,
            old_list_kept_in_another_variable, list_appended_to_twice, two_results_of_one_list, written_rows,
            written_and_seen_through_a_view, written_from_its_own_parts, nested, scattered,
            list_of_a_branch_needed_after_the_append, list_that_grows_on_one_path, list_that_grows_and_shrinks,
            list_of_a_loop_in_a_loop, rows_written_on_one_path, one_list_is_another_on_one_path, rows_are_others_on_one_path,
            popped_list_is_another_on_one_path]  # fmt: skip


def built(program: Callable[..., list[Variable]]) -> tuple[Program, list[str]]:
    p = Program()
    b = IRBuilder(p.global_block())
    n = b.block.create_var("n", "int64", (), is_data=True)
    x = b.block.create_var("x", "float32", (-1,), is_data=True)
    outs = program(b, n, x)
    verify(p)
    return p, [v.name for v in outs]


def same(got: Any, want: Any) -> None:
    if isinstance(want, list):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            same(g, w)
    else:
        np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_loops_give_what_the_reference_gives(program: Callable[..., list[Variable]]) -> None:
    p, names = built(program)
    executable = Executable(p, ["n", "x"], names)
    for count, size in ((3, 5), (0, 4), (1, 2), (7, 9), (2, 3)):
        feeds = {"n": np.array(count), "x": np.linspace(1, 2, size, dtype=np.float32)}
        env = reference.run_program(p, feeds, {})
        given = feeds["x"].copy()
        for got, name in zip(executable.run(list(feeds.values())), names, strict=True):
            same(got, env[name])
        np.testing.assert_array_equal(feeds["x"], given)  # what was fed stays as it is


IN_PLACE = [growing_list, growing_list_read_before_and_after, written_rows, list_that_grows_on_one_path, list_that_grows_and_shrinks,
            list_of_a_loop_in_a_loop, rows_written_on_one_path]  # fmt: skip


@pytest.mark.parametrize("program", IN_PLACE, ids=lambda f: f.__name__)
def test_a_loop_changes_its_variable_in_place(program: Callable[..., list[Variable]]) -> None:
    """Otherwise each iteration copies the whole value, and a loop costs the square of its trip count. One variable holds it throughout."""
    p, names = built(program)
    executable = Executable(p, ["n", "x"], names)
    plan = executable.plan
    steps = [step for step in plan.kernels if step.takes]
    assert steps
    assert all(plan.descriptor(out) == plan.descriptor(source) for step in steps for out, source in step.takes.items())
    (op,) = [op for op in executable.program.global_block().ops if op.type == "while_loop"]
    body = op.attrs["body_block"]
    changed = {body.params[op.output("Out").index(name)] for name in names if name in op.output("Out")}
    carried = [(p, r) for p, r in zip(body.params, body.results, strict=True) if p in changed]
    assert any(plan.descriptor(p) == plan.descriptor(r) for p, r in carried)
