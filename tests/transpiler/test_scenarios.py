"""Whole functions: the transformed one does what the original does, on plain Python values."""

import pytest
import scenarios_flow as flow
import scenarios_scopes as scopes
import scenarios_values as values
from equivalence import assert_same, recursive_runtime
from pyruntime import PyRuntime

from dy2st.transpiler import convert

CASES = [
    (flow.if_else, [(1,), (-1,)]),
    (flow.elif_chain, [(11,), (6,), (5,), (0,)]),
    (flow.one_branch, [(True,), (False,)]),
    (flow.one_branch_guarded, [(True,), (False,)]),
    (flow.deleted, [(True,), (False,)]),
    (flow.deleted_twice, [(True,), (False,)]),
    (flow.swap, [(1, 2), (2, 1)]),
    (flow.nested_branches, [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]),
    (flow.dead_old_value, [(a, b) for a in (0, 1) for b in (0, 1)]),
    (flow.while_break_else, [(0,), (2,), (9,)]),
    (flow.for_else_return, [([],), ([1],), ([1, -1],), ([1, 101, -1],)]),
    (flow.break_in_else_of_inner, [([5, 4, 1, 7],), ([],)]),
    (flow.continue_in_else_of_inner, [([5, 4, 1, 7, 9],)]),
    (flow.return_in_nested_loops, [(0,), (3,), (9,)]),
    (flow.while_true, [(9,), (0,)]),
    (flow.loop_variable_after, [([1, 2],), ([],)]),
    (flow.loop_variable_reassigned, [(3,), (0,)]),
    (flow.targets, [([(1, 2, 3), (4,)],), ([1],)]),
    (flow.no_test_after_break, [([1, 1],), ([1, 0],)]),
    (flow.carried_over, [([3, 4, 4, 1],), ([1, 4],), ([4],), ([5, 9],)]),
    (flow.used_before_set_in_loop, [([1, 3, 4],), ([3],), ([],)]),
    (flow.range_once, [(3,)]),
    (flow.everything, [([3, None, 8, 9, 2, 1, 5], 100), ([3, None, 8], 4), ([9, 30, 30, 30, 5], -9)]),
    (flow.deep, [(0, 0, 0), (4, 5, 40), (4, 5, 6), (2, 9, 3)]),
    (flow.many_returns, [(i,) for i in (0, 1, 2, 3, 4, 5, 11, 16)]),
    (flow.no_value, [([],), ([0, 0],), ([0, 1, 2],), ([0],)]),
    (flow.falls_off, [(0,), (1,)]),
    (flow.both_return, [(0,), (1,)]),
    (flow.raises_or_returns, [(-1,), (0,), (1,), (3,)]),
    (values.order, [(1, 2, 3), (0, 2, 0), (3, 2, 1), (1, 1, 1)]),
    (values.walrus, [([],), ([1],), ([1, 2, 3],)]),
    (values.unreachable, [([],), ([1, 5],)]),
    (values.walrus_in_test, [([],), ([1, 5],)]),
    (values.walrus_augmented, [(0,), (7,)]),
    (values.walrus_order, [(1,)]),
    (values.asserts, [(0,), (1,), (2,)]),
    (values.comprehensions, [([1, 2, 3, 7, -1],), ([],)]),
    (values.strings, [(0,), (12,)]),
    (values.calls, [(1, 2), (5, 1, 3), ()]),
    (values.lists, [(0,), (4,), (7,), (20,)]),
    (values.items, [(0,), (3,), (5,), (9,)]),
    (values.item_order, [(0,), (2,)]),
    (values.not_a_list, [(0,), (2,), (9,)]),
    (values.attributes, [(values.Box(1), 0), (values.Box(1), 4)]),
    (values.try_return, [(i,) for i in (0, 1, 2, 3, 5, "a")]),
    (values.try_nested, [(0,), (1,), (2,), (6,), (None,), ("a",)]),
    (values.assigned_in_try, [(0,), (1,), (2,)]),
    (values.handler_name, [(0,), (1,), (2,)]),
    (values.with_return, [(0,), (2,), (5,), (9,)]),
    (values.with_swallow, [(0,), (1,), (2,), (3,)]),
    (values.match, [([["go", "a"], ["go", "home"], 1],), ([{"x": 1, "y": 2}, {"x": 0, "y": 2}, 3.5, "s", 7, 1],)]),
    (scopes.uses_nonlocal, [(0,), (3,), (9,)]),
    (scopes.late_binding, [(0,), (3,)]),
    (scopes.closure_over_unset, [(0,), (1,)]),
    (scopes.inner_functions, [(1,), (6,)]),
    (scopes.inner_class, [(0,), (3,)]),
    (scopes.inner_generator, [(0,), (9,)]),
    (scopes.annotated, [(0,), (4,)]),
    (scopes.imports, [(0,), (2,)]),
    (scopes.unicode_names, [(0,), (2,)]),
    (scopes.augmented, [(0,), (2,)]),
    (values.targets_with_a_name_twice, [([(1, 2, (3, 4)), (5, 6, (7, 8))],), ([],)]),
    (scopes.rebound_while_it_is_changed, [(0,), (1,), (3,)]),
]


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_same(function, arguments):
    assert_same(function, *arguments)


@pytest.mark.parametrize("function", [f for f, _ in CASES], ids=[f.__name__ for f, _ in CASES])
def test_text_is_the_same_each_time(function):
    from dy2st.transpiler import conversion

    first = convert(function, PyRuntime()).code
    conversion._cache.clear()
    assert convert(function, PyRuntime()).code == first


def test_global_is_written():
    converted = convert(scopes.uses_global, PyRuntime()).fn
    scopes.COUNT = 0
    expected = scopes.uses_global(4), scopes.COUNT
    scopes.COUNT = 0
    assert (converted(4), scopes.COUNT) == expected


def test_calls_are_converted():
    runtime = recursive_runtime()
    assert convert(everything_called, runtime).fn(6) == everything_called(6)
    assert len(runtime.states) > 5


def everything_called(n):
    return flow.if_else(-n), flow.for_else_return([n]), scopes.uses_nonlocal(n), values.Box(n).value, scopes.inner_functions(n)[0]
